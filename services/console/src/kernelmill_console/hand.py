"""Campaigns by hand: a person's own programs go through the same gates, without agents, tasks or crowns."""

import asyncio
import getpass
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kernelmill.bus import Bus, ConflictError, Recorded
from kernelmill.events import (
    BuildOptions,
    CampaignClosing,
    CampaignOpened,
    CandidateProposed,
    ConfirmationMeasured,
    ConfirmationRequested,
    Reservation,
    SourceFile,
    Spending,
    VerdictReached,
    candidate_digest,
    normalise_line_ends,
)
from kernelmill.evidence import confirmation_pairs, default_policy
from kernelmill.folds import CampaignFold, WorldFold
from kernelmill.identity import command_id
from kernelmill.problems import Problem
from kernelmill_console.domain.campaign_file import BudgetSection, CampaignFile
from kernelmill_console.errors import ConsoleError
from kernelmill_console.opening import adopt_policy, open_objective, register_problem

_CONFIRM_SECONDS = 300.0
_COMPARE_LEVEL = 0.05


@dataclass(frozen=True)
class HandProgram:
    """A program of a person: sources and how they are built."""

    files: dict[str, bytes]
    build: BuildOptions
    entry: str = "kernel"
    name: str = ""

    @classmethod
    def read(cls, path: Path, build: BuildOptions) -> "HandProgram":
        """Read a C or C++ file.

        Raises:
            ConsoleError: it cannot be read.
        """
        try:
            data = normalise_line_ends(path.read_bytes())
        except OSError as error:
            raise ConsoleError(f"{path} cannot be read: {error.strerror}") from error
        return cls({path.name: data}, build, name=path.name)


@dataclass
class HandCampaign:
    """A campaign without agents. Open it, judge programs, compare them, close it."""

    bus: Bus
    opened: CampaignOpened
    problem: Problem
    fold: CampaignFold
    world: WorldFold = field(default_factory=WorldFold)
    _position: int = 0

    @classmethod
    async def open(cls, bus: Bus, problem: Problem, title: str, minutes: float) -> "HandCampaign":
        """Open a campaign by hand and wait until it is started: problem validated, baselines tuned.

        Raises:
            ConsoleError: the problem was refuted, or the campaign did not start in time.
        """
        policy = await adopt_policy(bus, default_policy())
        await register_problem(bus, problem)
        file = CampaignFile(problem=problem.name, agents=(), budget=BudgetSection(evaluations=None, minutes=minutes))
        objective = file.objective(problem, policy_digest=policy, seed=0)
        opened = await open_objective(bus, objective, title)
        campaign = cls(bus, opened, problem, CampaignFold(opened.campaign))
        await campaign.until(lambda: campaign.fold.status in {"running", "closing", "closed"}, minutes * 60.0)
        if campaign.fold.status != "running":
            ending = campaign.fold.closing
            raise ConsoleError(f"the campaign did not start: {ending.detail or ending.reason if ending else 'closed'}")
        return campaign

    async def until(self, reached: Callable[[], bool], seconds: float) -> None:
        """Follow the log until a condition on the folds holds.

        Raises:
            ConsoleError: it did not within the given seconds.
        """
        if reached():
            return
        try:
            async with asyncio.timeout(seconds):
                async for record in self.bus.log.follow(after=self._position):
                    self._apply(record)
                    if reached():
                        return
        except TimeoutError:
            raise ConsoleError(
                f"no answer from the services within {seconds:.0f} s: see `kernelmill status` and the service logs"
            ) from None

    async def judge(self, program: HandProgram, seconds: float = 120.0) -> tuple[str, VerdictReached]:
        """Propose a program and return its id and verdict."""
        candidate = await self.propose(program)
        await self.until(lambda: self.fold.effective(candidate) is not None, seconds)
        verdict = self.fold.effective(candidate)
        if verdict is None:
            raise ConsoleError(f"candidate {candidate[:12]} ended without a verdict")
        return candidate, verdict

    async def propose(self, program: HandProgram) -> str:
        """Put a program on the log as a candidate and return its id; the same content again is the same candidate."""
        build = self.resolve(program.build)
        digest = candidate_digest(self.problem.digest, self.opened.target, program.files, program.entry, build)
        files = tuple(
            [
                SourceFile(path=path, blob=await self.bus.blobs.put(normalise_line_ends(data), "source"))
                for path, data in sorted(program.files.items())
            ]
        )
        event = CandidateProposed(
            event_id=command_id("CandidateProposed", self.opened.campaign, digest),
            recorded_at=datetime.now(UTC),
            target=self.opened.target,
            campaign=self.opened.campaign,
            candidate=digest,
            task=None,
            attempt=1,
            parents=(),
            problem_digest=self.problem.digest,
            files=files,
            entry=program.entry,
            build=build,
            origin=program.name,
            author=getpass.getuser(),
        )
        try:
            await self.bus.log.append(event, expected=0)
        except ConflictError:
            return digest
        return digest

    def resolve(self, build: BuildOptions) -> BuildOptions:
        """Return the options with `-march=native` replaced by what it means on the campaign's node."""
        node = self.world.nodes.get(self.fold.node or "")
        native = node.joined.capabilities.get("native-flags", "").split() if node else []
        flags: list[str] = []
        for flag in build.flags:
            flags += native if flag == "-march=native" else [flag]
        return build.model_copy(update={"flags": tuple(flags)})

    async def head_to_head(self, candidate: str, verdict: VerdictReached, opponent: str) -> ConfirmationMeasured:
        """Measure one candidate against another over process pairs, with new cases, and return the measurement."""
        policy = default_policy()
        node = self.fold.node
        if node is None:
            raise ConsoleError("the campaign has not been started")
        confirmation = command_id("head-to-head", self.opened.campaign, candidate, opponent)
        now = datetime.now(UTC)
        event = ConfirmationRequested(
            event_id=command_id("ConfirmationRequested", confirmation),
            recorded_at=now,
            target=self.opened.target,
            campaign=self.opened.campaign,
            confirmation=confirmation,
            candidate=candidate,
            verdict=verdict.event_id,
            opponent=opponent,
            case_round=1,
            ordinal=1,
            pairs=confirmation_pairs(len(self.opened.objective.workloads), _COMPARE_LEVEL, policy),
            level=_COMPARE_LEVEL,
            node=node,
            reservation=Reservation(reservation=confirmation, amount=Spending(device_seconds=_CONFIRM_SECONDS)),
            deadline=now + timedelta(seconds=_CONFIRM_SECONDS),
        )
        await self.bus.log.append(event, expected=None)

        def decided() -> bool:
            state = self.fold.confirmations.get(confirmation)
            return state is not None and (
                state.measured is not None or state.failure is not None or not state.outstanding
            )

        await self.until(decided, _CONFIRM_SECONDS)
        state = self.fold.confirmations[confirmation]
        if state.measured is None:
            detail = state.failure.detail if state.failure else "it expired"
            raise ConsoleError(f"the comparison could not be measured: {detail}")
        return state.measured

    async def close(self) -> None:
        """Close the campaign and wait, for a while, until it is closed."""
        event = CampaignClosing(
            event_id=command_id("CampaignClosing", self.opened.campaign),
            recorded_at=datetime.now(UTC),
            target=self.opened.target,
            campaign=self.opened.campaign,
            reason="stopped",
            detail="a campaign by hand has its answer",
        )
        if self.fold.closing is None:
            await self.bus.log.append(event, expected=None)
        await self.until(lambda: self.fold.closed is not None, 30.0)

    def _apply(self, record: Recorded) -> None:
        self._position = record.sequence
        self.world.apply(record.sequence, record.event)
        self.fold.apply(record.sequence, record.event)
