"""Which process pair of a measurement comes next, as a pure function of what was measured so far."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kernelmill.events import PairScore, Policy, RowEffect
from kernelmill.evidence import hopeless_on_all_rows, race_decision


@dataclass(frozen=True)
class Duelists:
    """One row against one opponent."""

    workload: str
    opponent: str
    """Name of a baseline, or id of a champion."""


@dataclass(frozen=True)
class MeasurementPlan:
    """What a measurement consists of."""

    race: Duelists | None
    """The row that is raced against the reigning champion; None where there is none."""
    rows: tuple[Duelists, ...]
    """Every timed row against its best baseline; the first one may eliminate where nothing was raced."""


@dataclass
class Progress:
    """The pairs measured so far."""

    race: list[PairScore] = field(default_factory=list)
    rows: dict[Duelists, list[PairScore]] = field(default_factory=dict)


@dataclass(frozen=True)
class Finished:
    """Nothing more is measured."""

    eliminated: bool


@dataclass(frozen=True)
class TimePair:
    """Time another pair."""

    duelists: Duelists
    racing: bool


def next_step(plan: MeasurementPlan, progress: Progress, policy: Policy) -> TimePair | Finished:
    """Return the next pair, or that it is enough.

    First the race against the champion, until it decides. Then the rows against their best baselines: the first row
    alone while it may still eliminate, then all rows in turn, so that a drift of the machine meets all of them alike,
    until they are all measured or hopeless together.
    """
    if plan.race is not None:
        decision = race_decision(progress.race, policy)
        if decision == "continue":
            return TimePair(plan.race, racing=True)
        if decision == "drop":
            return Finished(eliminated=True)
    return _next_of_rows(plan, progress, policy)


def _next_of_rows(plan: MeasurementPlan, progress: Progress, policy: Policy) -> TimePair | Finished:
    waiting = [row for row in plan.rows if len(progress.rows.get(row, ())) < policy.baseline_pairs]
    if not waiting:
        return Finished(eliminated=False)
    if plan.race is None:
        first = plan.rows[0]
        if race_decision(progress.rows.get(first, []), policy) == "drop":
            return Finished(eliminated=True)
        if first in waiting:
            return TimePair(first, racing=False)
    if hopeless_on_all_rows([progress.rows.get(row, ()) for row in plan.rows], policy):
        return Finished(eliminated=True)
    return TimePair(min(waiting, key=lambda row: len(progress.rows.get(row, ()))), racing=False)


def race_row(candidate: str, rows: Iterable[tuple[str, float]], dispatch_ns: float, policy: Policy) -> str | None:
    """Return the row that a candidate is raced on: each candidate another one, dispatch-bound rows left out.

    Args:
        candidate: its id, of which the digits choose.
        rows: pairs of workload and the best baseline's nanoseconds per call.
        dispatch_ns: nanoseconds of an empty call.
        policy: says which share of dispatch is too much.
    """
    listed = sorted(rows)
    telling = [name for name, time in listed if dispatch_ns < policy.headline_dispatch_share * time]
    names = telling or [name for name, _ in listed]
    return names[int(candidate[:8], 16) % len(names)] if names else None


def row_effects(
    progress: Progress, floors: dict[str, float], plan: MeasurementPlan, *, eliminated: bool
) -> tuple[tuple[RowEffect, ...], tuple[RowEffect, ...]]:
    """Return what was measured as row effects: the race, and the rows against baselines."""
    race: tuple[RowEffect, ...] = ()
    if plan.race is not None and progress.race:
        race = (_effect(plan.race, progress.race, floors, stopped=eliminated and not progress.rows),)
    stopped = eliminated and bool(progress.rows)
    rows = tuple(_effect(row, pairs, floors, stopped=stopped) for row, pairs in progress.rows.items() if pairs)
    return race, rows


def _effect(row: Duelists, pairs: list[PairScore], floors: dict[str, float], *, stopped: bool) -> RowEffect:
    return RowEffect(
        workload=row.workload,
        opponent=row.opponent,
        pairs=tuple(pairs),
        floor_ns=floors.get(row.workload, 0.0),
        stopped_early=stopped,
    )
