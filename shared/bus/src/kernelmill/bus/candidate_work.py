"""What a worker says about its work on a candidate: begun, failed, given up. Saying it twice has one effect."""

from datetime import UTC, datetime

from kernelmill.bus.errors import ConflictError
from kernelmill.bus.log import Log
from kernelmill.bus.work import RetryLaterError
from kernelmill.events import CandidateAbandoned, CandidateEvent, MachineFault, MeasurementFailed, Stage, WorkStarted
from kernelmill.identity import command_id

_WORDS = 2000


class CandidateWork:
    """Appends to candidates' streams for one node.

    `expected` is always the last sequence that the caller has seen of the candidate's stream. Where somebody else has
    appended since, RetryLaterError is raised: the caller's delivery comes again and is decided anew.
    """

    def __init__(self, log: Log, node: str) -> None:
        self._log = log
        self._node = node

    async def begin(self, about: CandidateEvent, stage: Stage, attempt: int, expected: int, *, work: str = "") -> None:
        """Say that the work begins, before anything is spent on it.

        Args:
            about: any event of the candidate.
            stage: what is done.
            attempt: 1 for the first time.
            expected: see the class.
            work: which of several works of that stage, for example a confirmation's id.
        """
        started = WorkStarted(
            event_id=command_id(about.candidate, about.campaign, "WorkStarted", stage, work, str(attempt)),
            recorded_at=datetime.now(UTC),
            target=about.target,
            campaign=about.campaign,
            candidate=about.candidate,
            stage=stage,
            node=self._node,
            attempt=attempt,
            work=work,
        )
        await self.append(started, expected)

    async def fail(  # noqa: PLR0913 - a failure says all of this
        self, about: CandidateEvent, stage: Stage, fault: MachineFault, detail: str, expected: int, *, work: str = ""
    ) -> None:
        """Say that the machinery, not the candidate, failed the work."""
        await self.append(self.failure(about, stage, fault, detail, work=work), expected)

    def failure(
        self, about: CandidateEvent, stage: Stage, fault: MachineFault, detail: str, *, work: str = ""
    ) -> MeasurementFailed:
        """Return the event that `fail` appends."""
        return MeasurementFailed(
            event_id=command_id(about.candidate, about.campaign, "MeasurementFailed", stage, work),
            recorded_at=datetime.now(UTC),
            target=about.target,
            campaign=about.campaign,
            candidate=about.candidate,
            stage=stage,
            fault=fault,
            detail=detail[:_WORDS],
            node=self._node,
            work=work,
        )

    async def lost(self, about: CandidateEvent, stage: Stage, attempts: int, expected: int, *, work: str = "") -> None:
        """Say that the work was begun too often and never gave a result."""
        detail = f"{stage} was started {attempts} times and never gave a result"
        await self.fail(about, stage, "lost-worker", detail, expected, work=work)

    async def abandon(self, about: CandidateEvent, because: str, expected: int) -> None:
        """Give the candidate up before anything more is spent on it."""
        abandoned = CandidateAbandoned(
            event_id=command_id(about.candidate, about.campaign, "CandidateAbandoned"),
            recorded_at=datetime.now(UTC),
            target=about.target,
            campaign=about.campaign,
            candidate=about.candidate,
            because=because,
        )
        await self.append(abandoned, expected)

    async def append(self, event: CandidateEvent, expected: int) -> None:
        """Append any event of a candidate.

        Raises:
            RetryLaterError: the stream has grown since.
        """
        try:
            await self._log.append(event, expected=expected)
        except ConflictError as error:
            raise RetryLaterError(0.1, str(error)) from error
