"""The effective verdicts of a campaign, indexed: counts, estimates, who is accepted, best so far."""

import math
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from kernelmill.events import ReasonCode, VerdictReached
from kernelmill.folds.candidate import CandidateState
from kernelmill.folds.estimate import headline, mean_race_log_ratio


@dataclass(frozen=True)
class ProgressPoint:
    """The best speed-up so far, at the moment it was reached."""

    sequence: int
    at: datetime
    verdicts: int
    """Candidates judged until then."""
    candidate: str
    speedup: float
    """Geometric mean over rows against the best baseline."""
    confirmed: bool
    """Whether it is a champion's confirmed figure or a verdict's, which selection biases upwards."""


@dataclass
class VerdictIndex:
    """Follows effective verdicts so that no reader has to scan the candidates."""

    judged: int = 0
    """Candidates that were judged at least once."""
    decisions: Counter[str] = field(default_factory=Counter)
    """Effective verdicts by decision."""
    reasons: Counter[ReasonCode] = field(default_factory=Counter)
    """Effective verdicts by reason."""
    accepted: dict[str, float] = field(default_factory=dict)
    """Candidates with an effective accepted verdict and their estimates (ln of the headline speed-up)."""
    estimates: dict[str, float] = field(default_factory=dict)
    """ln of the headline speed-up of every candidate that has one; from the race where no mean was measured."""
    progress: list[ProgressPoint] = field(default_factory=list)
    _current: dict[str, VerdictReached] = field(default_factory=dict)
    _best: float = -math.inf

    def refresh(self, sequence: int, state: CandidateState, at: datetime) -> None:
        """Take the candidate's effective verdict as it is now, whatever it was before."""
        candidate, verdict = state.candidate, state.verdict
        before = self._current.pop(candidate, None)
        if before is not None:
            self.decisions[before.decision] -= 1
            self.reasons[before.reason] -= 1
            self.accepted.pop(candidate, None)
        if verdict is None:
            self.estimates.pop(candidate, None)
            return
        self._current[candidate] = verdict
        self.decisions[verdict.decision] += 1
        self.reasons[verdict.reason] += 1
        estimate = self._estimate(state, verdict)
        if estimate is None:
            return
        self.estimates[candidate] = estimate
        if verdict.decision == "accepted":
            self.accepted[candidate] = estimate
            if estimate > self._best:
                self._best = estimate
                point = ProgressPoint(sequence, at, self.judged, candidate, math.exp(estimate), confirmed=False)
                self.progress.append(point)

    def _estimate(self, state: CandidateState, verdict: VerdictReached) -> float | None:
        best = headline(verdict.effects)
        if best is not None:
            return math.log(best.speedup.estimate) if best.speedup.estimate > 0 else None
        if verdict.decision == "inconclusive" or not state.benchmarks:
            return self.estimates.get(state.candidate)
        race = state.benchmarks[-1].race
        ratio = mean_race_log_ratio(race)
        opponent = self.estimates.get(race[0].opponent) if race else None
        return None if ratio is None or opponent is None else opponent + ratio
