"""Events of a problem: registered, validated, refuted."""

from typing import ClassVar, Literal

from kernelmill.events.base import Declaration, EventBase, NonNegative, Value, declare
from kernelmill.events.values import BlobRef
from kernelmill.identity import Digest, Token


class ProblemFile(Value):
    """One file of a problem's folder."""

    path: str
    """Path relative to the folder."""
    blob: BlobRef
    """The bytes."""


class ProblemEvent(EventBase):
    """The address of a problem's stream."""

    problem_digest: Digest
    """Digest over path and bytes of every file of the problem's folder."""


class ProblemRegistered(ProblemEvent):
    """A problem is known to the log with every byte of its folder."""

    declaration: ClassVar[Declaration] = declare("problem", "problem_digest", "console")
    kind: Literal["ProblemRegistered"] = "ProblemRegistered"

    name: Token
    """Name of the problem."""
    files: tuple[ProblemFile, ...]
    """Definition, workloads, reference, settings, baselines, seeds, in path order."""


class RefutedBy(Value):
    """A solution that should have failed and did not, or the other way round."""

    name: str
    """Name of the null solution, mutant or honest implementation."""
    worst_error: NonNegative
    """Its largest scaled error; a null solution has to exceed 2, an honest one has to stay below 1."""


class ProblemValidated(ProblemEvent):
    """Every null solution and every plausible mutant failed at least twofold; honest implementations passed."""

    declaration: ClassVar[Declaration] = declare("problem", "problem_digest", "verifier")
    kind: Literal["ProblemValidated"] = "ProblemValidated"

    failed: dict[str, float]
    """Null solutions and mutants with their largest scaled error, capped at 1e9."""
    passed: dict[str, float]
    """Honest implementations with theirs."""


class ProblemRefuted(ProblemEvent):
    """The problem cannot tell right from wrong; no campaign can rest on it."""

    declaration: ClassVar[Declaration] = declare("problem", "problem_digest", "verifier")
    kind: Literal["ProblemRefuted"] = "ProblemRefuted"

    by: tuple[RefutedBy, ...]
    """What refuted it."""
    detail: str
    """For people: what is wrong and what to change."""
