"""The budget as a fold: settled spending plus open reservations never exceed it, at any sequence."""

from dataclasses import dataclass, field
from typing import Literal

from kernelmill.events import Budget, Reservation, Spending

Dimension = Literal["evaluations", "device_seconds", "usd", "tokens"]
DIMENSIONS: tuple[Dimension, ...] = ("evaluations", "device_seconds", "usd", "tokens")
"""What can be reserved; wall time cannot, it passes by itself."""

_TOLERANCE = 1e-6
"""Sums of seconds and dollars are floating point."""


@dataclass(frozen=True)
class BudgetViolation:
    """A sequence after which more was settled and reserved than the budget holds."""

    sequence: int
    dimension: Dimension
    committed: float
    limit: float


def add_spending(left: Spending, right: Spending) -> Spending:
    """Return the sum of two amounts."""
    return Spending(
        evaluations=left.evaluations + right.evaluations,
        device_seconds=left.device_seconds + right.device_seconds,
        usd=left.usd + right.usd,
        tokens=left.tokens + right.tokens,
    )


def cap_spending(spent: Spending, reserved: Spending) -> Spending:
    """Return `spent`, at most `reserved` in each dimension."""
    return Spending(
        evaluations=min(spent.evaluations, reserved.evaluations),
        device_seconds=min(spent.device_seconds, reserved.device_seconds),
        usd=min(spent.usd, reserved.usd),
        tokens=min(spent.tokens, reserved.tokens),
    )


def _zero() -> dict[Dimension, float]:
    return dict.fromkeys(DIMENSIONS, 0.0)


@dataclass
class BudgetFold:
    """What a campaign may spend, has spent and has set aside."""

    budget: Budget = field(default_factory=Budget)
    """Limits, extended by steering."""
    open: dict[str, Spending] = field(default_factory=dict)
    """Open reservations by name."""
    violations: list[BudgetViolation] = field(default_factory=list)
    """Sequences at which the invariant did not hold; empty in a sound log."""
    unreserved_evaluations: int = 0
    """Candidates proposed outside any open reservation: by hand, or by an agent whose task was already settled."""
    _settled: dict[Dimension, float] = field(default_factory=_zero)
    _reserved: dict[Dimension, float] = field(default_factory=_zero)
    _seen: set[str] = field(default_factory=set)

    @property
    def settled(self) -> Spending:
        """Total of all settlements."""
        return _as_spending(self._settled)

    @property
    def reserved(self) -> Spending:
        """Total of the open reservations."""
        return _as_spending(self._reserved)

    def limit(self, dimension: Dimension) -> float | None:
        """Return the budget in one dimension, None where it is unlimited."""
        value = getattr(self.budget, dimension)
        return None if value is None else float(value)

    def available(self, dimension: Dimension) -> float | None:
        """Return what can still be reserved in one dimension, None where it is unlimited; never below 0."""
        limit = self.limit(dimension)
        if limit is None:
            return None
        outside = self.unreserved_evaluations if dimension == "evaluations" else 0
        return max(0.0, limit - self._settled[dimension] - self._reserved[dimension] - outside)

    def affords(self, amount: Spending) -> bool:
        """Return whether `amount` can be reserved."""
        for dimension in DIMENSIONS:
            available = self.available(dimension)
            if available is not None and getattr(amount, dimension) > available + _TOLERANCE:
                return False
        return True

    def extend(self, evaluations: int, wall_seconds: float) -> None:
        """Add to the limits; an unlimited dimension stays unlimited."""
        current = self.budget
        self.budget = current.model_copy(
            update={
                "evaluations": None if current.evaluations is None else current.evaluations + evaluations,
                "wall_seconds": None if current.wall_seconds is None else current.wall_seconds + wall_seconds,
            }
        )

    def reserve(self, sequence: int, reservation: Reservation) -> None:
        """Open a reservation. A name that was used before is not opened again."""
        if reservation.reservation in self._seen:
            return
        self._seen.add(reservation.reservation)
        self.open[reservation.reservation] = reservation.amount
        self._recount()
        self._check(sequence)

    def settle(self, sequence: int, reservation: str, spent: Spending) -> None:
        """Close a reservation at what it cost; more than was reserved is a violation, an unknown name is ignored."""
        amount = self.open.pop(reservation, None)
        if amount is None:
            return
        for dimension in DIMENSIONS:
            cost = float(getattr(spent, dimension))
            reserved = float(getattr(amount, dimension))
            if cost > reserved + _TOLERANCE:
                self.violations.append(BudgetViolation(sequence, dimension, cost, reserved))
            self._settled[dimension] += cost
        self._recount()
        self._check(sequence)

    def _recount(self) -> None:
        # Summed afresh over the few open reservations: running differences would drift.
        self._reserved = {
            dimension: sum(float(getattr(amount, dimension)) for amount in self.open.values())
            for dimension in DIMENSIONS
        }

    def _check(self, sequence: int) -> None:
        for dimension in DIMENSIONS:
            limit = self.limit(dimension)
            committed = self._settled[dimension] + self._reserved[dimension]
            if limit is not None and committed > limit + _TOLERANCE:
                self.violations.append(BudgetViolation(sequence, dimension, committed, limit))


def _as_spending(amounts: dict[Dimension, float]) -> Spending:
    return Spending(
        evaluations=round(amounts["evaluations"]),
        device_seconds=amounts["device_seconds"],
        usd=amounts["usd"],
        tokens=round(amounts["tokens"]),
    )
