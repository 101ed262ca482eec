"""One campaign as a fold of its campaign, task and candidate streams."""

import math
from collections import defaultdict
from datetime import datetime
from typing import Literal

from kernelmill.events import (
    CampaignClosed,
    CampaignClosing,
    CampaignOpened,
    CampaignPaused,
    CampaignPolicyChanged,
    CampaignReopened,
    CampaignResumed,
    CampaignStarted,
    CampaignSteered,
    CandidateEvent,
    CandidateProposed,
    CasesCommitted,
    CasesRevealed,
    ChampionCrowned,
    ConfirmationExpired,
    ConfirmationMeasured,
    ConfirmationRequested,
    CorrectnessMeasured,
    Direction,
    EventBase,
    MeasurementFailed,
    Objective,
    ReservationSettled,
    TaskEvent,
    TaskExpired,
    TaskPlanned,
    VerdictReached,
    VerdictReinstated,
    VerdictRetracted,
)
from kernelmill.folds.budget import BudgetFold
from kernelmill.folds.candidate import CandidateState
from kernelmill.folds.champion import ChampionFold, Crown
from kernelmill.folds.confirmation import ConfirmationState
from kernelmill.folds.estimate import headline
from kernelmill.folds.merkle import MerkleFrontier
from kernelmill.folds.task import TaskState
from kernelmill.folds.verdicts import ProgressPoint, VerdictIndex

CampaignStatus = Literal["pending", "running", "paused", "closing", "closed"]


class CampaignFold:
    """The state of a campaign after the events applied so far. No clock, no I/O: equal events give equal state.

    Every index is kept up to date event by event, so that reading it costs nothing however many candidates there are.

    Args:
        campaign: id of the campaign; events of others are ignored, so the whole log may be fed.
        lean: drop the evidence of judged candidates (verdicts, traits and sums stay) to bound memory.
    """

    def __init__(self, campaign: str, *, lean: bool = False) -> None:
        self.campaign = campaign
        self.lean = lean
        self.opened: CampaignOpened | None = None
        self.cases: CasesCommitted | None = None
        self.started: CampaignStarted | None = None
        self.closing: CampaignClosing | None = None
        self.revealed: CasesRevealed | None = None
        self.revealed_at = 0
        """Sequence of the reveal; correctness evidence after it is inadmissible. 0 before it."""
        self.closed: CampaignClosed | None = None
        self.policy_digest = ""
        """The policy that judges now; empty before the campaign is opened."""
        self.tasks: dict[str, TaskState] = {}
        self.candidates: dict[str, CandidateState] = {}
        self.confirmations: dict[str, ConfirmationState] = {}
        self.budget = BudgetFold()
        self.champions = ChampionFold()
        self.verdicts = VerdictIndex()
        self.children: defaultdict[str, list[str]] = defaultdict(list)
        """Lineage: candidates by each of their parents."""
        self.directions: list[Direction] = []
        """Directions that people asked for and no task has taken yet."""
        self.pinned: tuple[str, ...] = ()
        self.banned: frozenset[str] = frozenset()
        self.plans = 0
        """Tasks planned; the slot of the next one."""
        self.verdicts_since_crown = 0
        self.unadmitted: set[str] = set()
        """Ids of evidence that was measured after the reveal of the cases: inadmissible."""
        self.last_sequence = 0
        """Sequence of the newest event applied, of any of the campaign's streams."""
        self.stream_sequence = 0
        """Sequence of the newest event of the campaign's own stream: what an append to it has to expect."""
        self.last_at: datetime | None = None
        self.open_tasks: dict[str, TaskState] = {}
        """Tasks that have not ended."""
        self.unsettled_tasks: dict[str, TaskState] = {}
        """Tasks whose reservation is open."""
        self.open_candidates: dict[str, CandidateState] = {}
        """Candidates that are neither judged nor abandoned."""
        self.unsettled_confirmations: dict[str, ConfirmationState] = {}
        """Confirmations whose reservation is open or that are undecided."""
        self.confirmations_of: defaultdict[str, list[ConfirmationState]] = defaultdict(list)
        self._merkle = MerkleFrontier()
        self._paused_at: datetime | None = None
        self._paused_seconds = 0.0
        self._task_of_reservation: dict[str, str] = {}
        self._confirmation_of_reservation: dict[str, str] = {}

    # --- what readers ask -------------------------------------------------------------------------------------------

    @property
    def objective(self) -> Objective | None:
        """What the campaign wants; None before CampaignOpened."""
        return self.opened.objective if self.opened else None

    @property
    def target(self) -> str:
        """The target; `_` before CampaignOpened."""
        return self.opened.target if self.opened else "_"

    @property
    def status(self) -> CampaignStatus:
        """Where the campaign is in its life."""
        if self.closed is not None:
            return "closed"
        if self.closing is not None:
            return "closing"
        if self._paused_at is not None:
            return "paused"
        return "running" if self.started is not None else "pending"

    @property
    def crown(self) -> Crown | None:
        """The valid crown that reigns."""
        return self.champions.reigning

    @property
    def champion(self) -> str | None:
        """Id of the reigning champion."""
        crown = self.champions.reigning
        return crown.event.candidate if crown else None

    @property
    def baselines(self) -> tuple[str, ...]:
        """Ids of the BaselineTuned events on which the campaign rests; empty before CampaignStarted."""
        return self.started.baselines if self.started else ()

    @property
    def node(self) -> str | None:
        """The node whose fingerprint the campaign's figures share; None before CampaignStarted."""
        return self.started.node if self.started else None

    @property
    def outstanding_confirmation(self) -> ConfirmationState | None:
        """The confirmation that is undecided; the planner keeps at most one."""
        return next((state for state in self.unsettled_confirmations.values() if state.outstanding), None)

    @property
    def settled(self) -> bool:
        """Whether everything is terminal and settled: the condition for revealing the cases and closing."""
        return not (
            self.open_tasks
            or self.unsettled_tasks
            or self.open_candidates
            or self.unsettled_confirmations
            or self.budget.open
        )

    @property
    def merkle_root(self) -> str:
        """Merkle root (RFC 6962) over the ids of all events applied, in sequence order."""
        return self._merkle.root()

    @property
    def events(self) -> int:
        """How many events were applied."""
        return self._merkle.count

    def effective(self, candidate: str) -> VerdictReached | None:
        """Return the candidate's effective verdict under the campaign's policy; there is at most one."""
        state = self.candidates.get(candidate)
        return state.verdict_under(self.policy_digest) if state else None

    def elapsed(self, now: datetime) -> float:
        """Return the seconds from CampaignStarted to `now` without the pauses; 0 before the start."""
        if self.started is None:
            return 0.0
        until = self._paused_at or now
        return max(0.0, (until - self.started.recorded_at).total_seconds() - self._paused_seconds)

    # --- applying ---------------------------------------------------------------------------------------------------

    def apply(self, sequence: int, event: EventBase) -> bool:
        """Take the next event of the log and return whether it belonged to the campaign and was new.

        Sequences at or below the last one applied are ignored, so a re-delivered event changes nothing.
        """
        if getattr(event, "campaign", None) != self.campaign or sequence <= self.last_sequence:
            return False
        self.last_sequence, self.last_at = sequence, event.recorded_at
        self._merkle.append(event.event_id.encode())
        if isinstance(event, CandidateEvent):
            self._apply_to_candidate(sequence, event)
        elif isinstance(event, TaskEvent):
            self._apply_to_task(sequence, event.task, event)
        else:
            self.stream_sequence = sequence
            self._apply_to_campaign(sequence, event)
        return True

    def _apply_to_campaign(self, sequence: int, event: EventBase) -> None:  # noqa: C901 - one case for each kind
        match event:
            case TaskPlanned():
                self._plan(sequence, event)
            case TaskExpired():
                self._apply_to_task(sequence, event.task, event)
            case ReservationSettled():
                self._settle(sequence, event)
            case ConfirmationRequested():
                self._request(sequence, event)
            case ConfirmationExpired():
                if state := self.confirmations.get(event.confirmation):
                    state.expire(event)
            case ChampionCrowned():
                self._crown(sequence, event)
            case CampaignSteered():
                self._steer(event)
            case CampaignPolicyChanged():
                self.policy_digest = event.policy_digest
            case CasesRevealed():
                self.revealed, self.revealed_at = event, sequence
            case _:
                self._apply_to_life(event)

    def _apply_to_life(self, event: EventBase) -> None:
        match event:
            case CampaignOpened() if self.opened is None:
                self.opened, self.policy_digest = event, event.objective.policy_digest
                self.budget.budget = event.objective.budget
            case CasesCommitted():
                self.cases = event
            case CampaignStarted():
                self.started = event
            case CampaignPaused() if self._paused_at is None:
                self._paused_at = event.recorded_at
            case CampaignResumed() if self._paused_at is not None:
                if self.started is not None:
                    since = max(self._paused_at, self.started.recorded_at)
                    self._paused_seconds += max(0.0, (event.recorded_at - since).total_seconds())
                self._paused_at = None
            case CampaignClosing() if self.closing is None:
                self.closing = event
            case CampaignClosed():
                self.closed = event
            case CampaignReopened():
                self.cases = self.started = self.closing = self.revealed = self.closed = None
                self.verdicts_since_crown, self._paused_seconds, self.revealed_at = 0, 0.0, 0

    def _plan(self, sequence: int, event: TaskPlanned) -> None:
        if event.task in self.tasks:
            return
        state = TaskState(event, sequence)
        self.tasks[event.task] = self.open_tasks[event.task] = self.unsettled_tasks[event.task] = state
        self.plans = max(self.plans, event.slot + 1)
        self._task_of_reservation[event.reservation.reservation] = event.task
        self.budget.reserve(sequence, event.reservation)
        if event.direction in self.directions:
            self.directions.remove(event.direction)

    def _request(self, sequence: int, event: ConfirmationRequested) -> None:
        if event.confirmation in self.confirmations:
            return
        state = ConfirmationState(event, sequence)
        self.confirmations[event.confirmation] = self.unsettled_confirmations[event.confirmation] = state
        self.confirmations_of[event.candidate].append(state)
        self._confirmation_of_reservation[event.reservation.reservation] = event.confirmation
        self.budget.reserve(sequence, event.reservation)

    def _settle(self, sequence: int, event: ReservationSettled) -> None:
        self.budget.settle(sequence, event.reservation, event.spent)
        task = self.unsettled_tasks.pop(self._task_of_reservation.get(event.reservation, ""), None)
        if task is not None:
            task.settled = event.spent
        confirmation = self._confirmation_of_reservation.get(event.reservation, "")
        state = self.unsettled_confirmations.pop(confirmation, None)
        if state is not None:
            state.settle()

    def _crown(self, sequence: int, event: ChampionCrowned) -> None:
        self.champions.crown(sequence, event)
        self.verdicts_since_crown = 0
        for state in self.confirmations_of[event.candidate]:
            if state.measured is not None and state.measured.event_id == event.confirmation:
                state.status = "crowned"
        best = headline(event.effects)
        if best is not None:
            speedup, judged = best.speedup.estimate, self.verdicts.judged
            point = ProgressPoint(sequence, event.recorded_at, judged, event.candidate, speedup, confirmed=True)
            self.verdicts.progress.append(point)

    def _steer(self, event: CampaignSteered) -> None:
        self.directions.extend(event.directions)
        self.pinned = tuple(dict.fromkeys((*self.pinned, *event.pinned)))
        self.banned |= set(event.banned)
        self.budget.extend(event.extra_evaluations, event.extra_wall_seconds)

    def _apply_to_task(self, sequence: int, task: str, event: EventBase) -> None:
        state = self.tasks.get(task)
        if state is None:
            return
        state.apply(sequence, event)
        if state.terminal:
            self.open_tasks.pop(task, None)

    def _apply_to_candidate(  # noqa: C901, PLR0912 - one case for each kind
        self, sequence: int, event: CandidateEvent
    ) -> None:
        state = self.candidates.get(event.candidate)
        if state is None:
            state = self.candidates[event.candidate] = CandidateState(event.candidate)
        admitted = state.correctness
        state.apply(sequence, event)
        match event:
            case CandidateProposed():
                self._propose(event)
            case CorrectnessMeasured() if self.revealed is not None:
                self.unadmitted.add(event.event_id)
                state.correctness = admitted
            case ConfirmationMeasured():
                if self.revealed is not None:
                    self.unadmitted.add(event.event_id)
                    self.champions.inadmissible.add(event.event_id)
                elif confirmation := self.confirmations.get(event.confirmation):
                    confirmation.measure(event)
            case MeasurementFailed() if event.stage == "confirm":
                if confirmation := self.confirmations.get(event.work):
                    confirmation.fail(event)
            case VerdictReached():
                self._judge(sequence, state, event)
            case VerdictRetracted():
                self.champions.retracted.add(event.verdict)
                self.verdicts.refresh(sequence, state, event.recorded_at)
            case VerdictReinstated():
                self.champions.retracted.discard(event.verdict)
                self.verdicts.refresh(sequence, state, event.recorded_at)
        if state.terminal:
            self.open_candidates.pop(event.candidate, None)
            if self.lean:
                state.release_evidence()
        else:
            self.open_candidates[event.candidate] = state

    def _propose(self, event: CandidateProposed) -> None:
        for parent in event.parents:
            self.children[parent].append(event.candidate)
        task = self.tasks.get(event.task) if event.task is not None else None
        if task is None:
            self.budget.unreserved_evaluations += 1
            return
        task.candidates.append(event.candidate)
        paid = math.inf if task.settled is None else task.settled.evaluations
        if len(task.candidates) > min(paid, task.plan.reservation.amount.evaluations):
            self.budget.unreserved_evaluations += 1

    def _judge(self, sequence: int, state: CandidateState, event: VerdictReached) -> None:
        if self.unadmitted.intersection(event.evidence):
            state.verdicts[-1].void = True
        if len(state.verdicts) == 1:
            self.verdicts.judged += 1
            self.verdicts_since_crown += 1
        self.verdicts.refresh(sequence, state, event.recorded_at)
