"""The ids that events and subjects carry: token-safe strings."""

from typing import Annotated

import uuid_utils
from pydantic import StringConstraints

from kernelmill.identity.canonical import digest_framed

Token = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,128}$")]
"""A string that is safe as one token of a subject and as a file name."""

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""A sha256 as lower-case hexadecimal digits."""

CampaignId = Token
TaskId = Token
NodeId = Token
EventId = Token
CandidateId = Digest
"""The digest of (problem digest, target, sources after LF normalisation, build options, launch plan)."""


def new_id(prefix: str) -> str:
    """Return a fresh id `<prefix>-<uuid7 hex>`; ids made later sort later."""
    return f"{prefix}-{uuid_utils.uuid7().hex}"


def command_id(*parts: str) -> str:
    """Return the deterministic id of a command: the same cause gives the same command at every delivery.

    Workers pass the id of the consumed event, the kind that they append and an ordinal; the planner passes the
    campaign, the expected sequence and the slot.
    """
    return digest_framed(part.encode() for part in parts)[:32]
