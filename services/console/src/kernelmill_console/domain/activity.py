"""What is going on in a campaign, counted event by event, and its summary for people and programs."""

import math
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from kernelmill.events import (
    BaselineTuned,
    BenchmarkMeasured,
    CandidateProposed,
    CompileFailed,
    ConfirmationMeasured,
    ConfirmationRequested,
    CorrectnessMeasured,
    DuplicateSubmitted,
    Event,
    MeasurementFailed,
    VerdictReached,
)
from kernelmill.folds import CampaignFold, by_opponent
from kernelmill_console.domain.ids import SHORT
from kernelmill_console.domain.story import tell

_RECENT = 8
_TOLD = ("VerdictReached", "ConfirmationRequested", "ConfirmationMeasured", "ChampionCrowned", "CampaignClosing")


class OpponentFigure(BaseModel):
    """A speed-up against one opponent."""

    model_config = ConfigDict(frozen=True)

    opponent: str
    speedup: float
    low: float
    high: float


class CampaignSummary(BaseModel):
    """One campaign at one moment; what `--json` prints."""

    model_config = ConfigDict(frozen=True)

    campaign: str
    title: str
    problem: str
    target: str
    status: str
    reason: str
    opened_at: datetime | None
    elapsed_seconds: float
    proposed: int
    duplicates: int
    compiled_not: int
    incorrect: int
    timed: int
    judged: int
    decisions: dict[str, int]
    reasons: dict[str, int]
    infrastructure_failures: int
    confirmations: int
    champion: str | None
    confirmed: list[OpponentFigure]
    best_estimate: float | None
    evaluations_budget: int | None
    wall_budget_seconds: float | None
    device_seconds: float
    first_verdict_seconds: float | None


@dataclass
class Activity:
    """Counts of one campaign, and the last few things worth telling."""

    fold: CampaignFold
    counts: Counter[str] = field(default_factory=Counter)
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=_RECENT))
    baselines: dict[str, BaselineTuned] = field(default_factory=dict)
    told: int = 0
    """How many lines were told since the beginning; `recent` holds the last of them."""
    device_seconds: float = 0.0
    first_verdict: datetime | None = None
    verdict_times: list[datetime] = field(default_factory=list)
    timed_times: list[datetime] = field(default_factory=list)

    def apply(self, sequence: int, event: Event) -> bool:
        """Take the next event of the log and return whether it concerned the campaign."""
        if isinstance(event, BaselineTuned):
            objective = self.fold.objective
            if objective is not None and event.problem_digest == objective.problem_digest:
                self.baselines[event.baseline_key] = event
            return False
        if not self.fold.apply(sequence, event):
            return False
        self._count(event)
        if event.kind in _TOLD:
            candidate = getattr(event, "candidate", "")
            self.told += 1
            self.recent.append(f"{event.recorded_at:%H:%M:%S} {candidate[:SHORT]} {tell(event)}")
        return True

    def _count(self, event: Event) -> None:
        match event:
            case CandidateProposed():
                self.counts["proposed"] += 1
            case DuplicateSubmitted():
                self.counts["duplicates"] += 1
            case CompileFailed():
                self.counts["compiled_not"] += 1
            case CorrectnessMeasured() if event.outcome == "failed":
                self.counts["incorrect"] += 1
            case BenchmarkMeasured():
                self.counts["timed"] += 1
                self.device_seconds += event.device_seconds
                self.timed_times.append(event.recorded_at)
            case ConfirmationMeasured():
                self.device_seconds += event.device_seconds
            case ConfirmationRequested():
                self.counts["confirmations"] += 1
            case MeasurementFailed():
                self.counts["infrastructure"] += 1
            case VerdictReached():
                self.first_verdict = self.first_verdict or event.recorded_at
                self.verdict_times.append(event.recorded_at)
            case _:
                pass

    def summary(self, now: datetime) -> CampaignSummary:
        """Return the campaign as it stands; `now` counts only while it is open."""
        fold = self.fold
        opened, objective = fold.opened, fold.objective
        crown = fold.crown
        effects = crown.event.effects if crown else ()
        confirmed = [
            OpponentFigure(
                opponent=effect.opponent,
                speedup=effect.speedup.estimate,
                low=effect.speedup.low,
                high=effect.speedup.high,
            )
            for effect in by_opponent(effects).values()
        ]
        until = fold.last_at if fold.closed is not None and fold.last_at is not None else now
        first = None
        if self.first_verdict is not None and fold.started is not None:
            first = (self.first_verdict - fold.started.recorded_at).total_seconds()
        ending = fold.closed or fold.closing
        return CampaignSummary(
            campaign=fold.campaign,
            title=opened.title if opened else "",
            problem=objective.problem if objective else "",
            target=fold.target,
            status=fold.status,
            reason=ending.reason if ending else "",
            opened_at=opened.recorded_at if opened else None,
            elapsed_seconds=fold.elapsed(until),
            proposed=self.counts["proposed"],
            duplicates=self.counts["duplicates"],
            compiled_not=self.counts["compiled_not"],
            incorrect=self.counts["incorrect"],
            timed=self.counts["timed"],
            judged=fold.verdicts.judged,
            decisions={key: value for key, value in sorted(fold.verdicts.decisions.items()) if value},
            reasons={key: value for key, value in sorted(fold.verdicts.reasons.items()) if value},
            infrastructure_failures=self.counts["infrastructure"],
            confirmations=self.counts["confirmations"],
            champion=fold.champion,
            confirmed=confirmed,
            best_estimate=math.exp(max(fold.verdicts.accepted.values())) if fold.verdicts.accepted else None,
            evaluations_budget=fold.budget.budget.evaluations,
            wall_budget_seconds=fold.budget.budget.wall_seconds,
            device_seconds=self.device_seconds,
            first_verdict_seconds=first,
        )
