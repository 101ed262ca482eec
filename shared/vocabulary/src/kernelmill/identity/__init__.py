"""Identities: canonical bytes, digests and ids. The same content has the same name on every machine."""

from kernelmill.identity.canonical import canonical_json, digest_bytes, digest_framed, digest_json
from kernelmill.identity.ids import CampaignId, CandidateId, Digest, EventId, NodeId, TaskId, Token, command_id, new_id

__all__ = [
    "CampaignId",
    "CandidateId",
    "Digest",
    "EventId",
    "NodeId",
    "TaskId",
    "Token",
    "canonical_json",
    "command_id",
    "digest_bytes",
    "digest_framed",
    "digest_json",
    "new_id",
]
