"""The quality-diversity archive: the best candidate of each cell of measured traits, spread over islands."""

from dataclasses import dataclass, field

from kernelmill.events import (
    CandidateProposed,
    CandidateScreened,
    ConfirmationRequested,
    EventBase,
    Traits,
    VerdictReached,
)
from kernelmill.folds import CampaignFold
from kernelmill.identity import digest_framed

ISLANDS = 3
MIGRATION = 4
"""Every so many tasks of an island start from the best of all islands."""

Cell = tuple[str, int, int]


def cell_of(origin: str, traits: Traits) -> Cell:
    """Return the cell of a candidate: its seed, how much it vectorises, how many accumulators it keeps."""
    return origin.partition("/")[0], min(traits.vector_types, 40) // 10, min(traits.max_live_accumulators, 8)


def island_of(cell: Cell) -> int:
    """Return the island that a cell lives on."""
    return int(digest_framed(str(part).encode() for part in cell)[:8], 16) % ISLANDS


@dataclass
class OperatorRecord:
    """What one operator has achieved."""

    tried: int = 0
    timed: int = 0
    improved: int = 0


@dataclass
class Archive:
    """Folded from a campaign's events, after the campaign's own fold took them."""

    elites: dict[Cell, str] = field(default_factory=dict)
    operators: dict[str, OperatorRecord] = field(default_factory=dict)
    best: float = float("-inf")
    requested_at: dict[int, int] = field(default_factory=dict)
    """Verdicts that were in when a confirmation was requested, by the request's sequence."""
    _cells: dict[str, Cell] = field(default_factory=dict)
    _origins: dict[str, str] = field(default_factory=dict)

    def apply(self, event: EventBase, fold: CampaignFold) -> None:
        """Take the next event."""
        match event:
            case CandidateProposed():
                self._origins[event.candidate] = event.origin
                self._record(event.candidate).tried += 1
            case CandidateScreened():
                self._cells[event.candidate] = cell_of(self._origins.get(event.candidate, ""), event.traits)
            case VerdictReached():
                self._judge(event.candidate, fold)
            case ConfirmationRequested():
                self.requested_at[fold.last_sequence] = fold.verdicts.judged
            case _:
                pass

    def judged_at(self, request: int) -> int:
        """Return how many candidates had been judged when the confirmation with that sequence was requested."""
        return self.requested_at.get(request, 0)

    def parents(self, island: int, slot: int, fold: CampaignFold, count: int) -> tuple[str, ...]:
        """Return candidates to start from, best first: elites of the island, at times of all islands."""
        everywhere = slot % MIGRATION == 0
        chosen = {
            candidate
            for cell, candidate in self.elites.items()
            if (everywhere or island_of(cell) == island) and candidate in fold.verdicts.estimates
        }
        if not chosen:
            chosen = {candidate for candidate in self.elites.values() if candidate in fold.verdicts.estimates}
        ranked = sorted(chosen, key=lambda candidate: (-fold.verdicts.estimates[candidate], candidate))
        pinned = [candidate for candidate in fold.pinned if candidate in fold.candidates]
        return tuple(dict.fromkeys([*pinned, *ranked]))[:count]

    def _judge(self, candidate: str, fold: CampaignFold) -> None:
        estimate = fold.verdicts.estimates.get(candidate)
        if estimate is None:
            return
        record = self._record(candidate)
        record.timed += 1
        if estimate > self.best:
            self.best = estimate
            record.improved += 1
        cell = self._cells.get(candidate)
        if cell is None:
            return
        known = self.elites.get(cell)
        if known is None or estimate > fold.verdicts.estimates.get(known, float("-inf")):
            self.elites[cell] = candidate

    def _record(self, candidate: str) -> OperatorRecord:
        operator = self._origins.get(candidate, "").partition("/")[2] or "free"
        return self.operators.setdefault(operator, OperatorRecord())
