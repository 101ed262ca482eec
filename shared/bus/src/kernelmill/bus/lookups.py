"""Reads of the log that several services need: single facts by their address."""

from kernelmill.bus.errors import BusError
from kernelmill.bus.log import ABSENT, Blobs, Log, StreamAddress
from kernelmill.events import BaselineTuned, CandidateProposed, Policy, PolicyAdopted, ProblemRegistered, SourceFile


class NotOnLogError(BusError, LookupError):
    """A fact that another event cites is not on the log: the log is not whole, or its writer has not finished."""


async def adopted_policy(log: Log, digest: str) -> Policy:
    """Return a policy by its digest.

    Raises:
        NotOnLogError: it was never adopted.
    """
    for record in await log.read_stream(StreamAddress(ABSENT, ABSENT, "policy", digest)):
        if isinstance(record.event, PolicyAdopted):
            return record.event.body
    raise NotOnLogError(f"policy {digest[:12]} was never adopted")


async def registered_files(log: Log, blobs: Blobs, problem_digest: str) -> dict[str, bytes]:
    """Return the files of a registered problem by their paths.

    Raises:
        NotOnLogError: it was never registered.
    """
    for record in await log.read_stream(StreamAddress(ABSENT, ABSENT, "problem", problem_digest)):
        if isinstance(record.event, ProblemRegistered):
            return {file.path: await blobs.get(file.blob) for file in record.event.files}
    raise NotOnLogError(f"problem {problem_digest[:12]} was never registered")


async def proposed_candidate(log: Log, target: str, campaign: str, candidate: str) -> CandidateProposed:
    """Return the proposal of a candidate.

    Raises:
        NotOnLogError: it was never proposed in that campaign.
    """
    for record in await log.read_stream(StreamAddress(target, campaign, "candidate", candidate)):
        if isinstance(record.event, CandidateProposed):
            return record.event
    raise NotOnLogError(f"candidate {candidate[:12]} was never proposed in campaign {campaign}")


async def tuned_baseline(log: Log, target: str, key: str) -> BaselineTuned | None:
    """Return the latest tuning of a baseline by its key, None before the first."""
    found = None
    for record in await log.read_stream(StreamAddress(target, ABSENT, "baseline", key)):
        if isinstance(record.event, BaselineTuned):
            found = record.event
    return found


async def read_sources(blobs: Blobs, files: tuple[SourceFile, ...]) -> dict[str, bytes]:
    """Return the bytes of source files by their paths."""
    return {file.path: await blobs.get(file.blob) for file in files}
