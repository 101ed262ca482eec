"""Runs a measurement or a confirmation pair by pair, as the plan says. Everything here blocks."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelmill.events import CaseOutcome, PairScore, Policy, RowEffect
from kernelmill.problems import Case, Problem
from kernelmill.targets.port import CheckRules, Limits, Program, run_cases
from kernelmill_gpu_bench.device import Device, Session
from kernelmill_gpu_bench.domain.plan import (
    Duelists,
    Finished,
    MeasurementPlan,
    Progress,
    next_step,
    row_effects,
)
from kernelmill_gpu_bench.errors import MisbehaviourError
from kernelmill_gpu_bench.layouts import FreshLayouts, Layouts

_RACE_DUELS = 12
"""Processes differ by more than duels within a pair do, so a race spends its time on pairs."""
_CONFIRMATION_DUELS = 20


@dataclass(frozen=True)
class Field:
    """Who is measured against whom, and under which conditions."""

    problem: Problem
    candidate: Program
    opponents: Mapping[Duelists, Program]
    """Programs of all opponents of the plan."""
    limits: Limits
    error_scale: float
    metric: str
    floors: dict[str, float]


@dataclass
class Measured:
    """What came out."""

    session: Session
    race: tuple[RowEffect, ...] = ()
    rows: tuple[RowEffect, ...] = ()
    misbehaviour: str = ""
    cases: tuple[CaseOutcome, ...] = field(default_factory=tuple)


def measure(device: Device, field_: Field, plan: MeasurementPlan, policy: Policy) -> Measured:
    """Race the candidate and compare it with the baselines.

    Args:
        device: the device.
        field_: programs and conditions.
        plan: which rows, against whom.
        policy: says when it is enough.

    Raises:
        DeviceFaultError: the machinery failed.
    """
    progress, session = Progress(), Session()
    eliminated, misbehaviour = False, ""
    while True:
        step = next_step(plan, progress, policy)
        if isinstance(step, Finished):
            eliminated = step.eliminated
            break
        try:
            score = _pair(device, field_, step.duelists, session, device.pool, _RACE_DUELS)
        except MisbehaviourError as error:
            misbehaviour = str(error)
            break
        target = progress.race if step.racing else progress.rows.setdefault(step.duelists, [])
        target.append(score)
    race, rows = row_effects(progress, field_.floors, plan, eliminated=eliminated)
    return Measured(session, race, rows, misbehaviour)


def confirm(  # noqa: PLR0913, PLR0917 - a confirmation is made of all of these
    device: Device, field_: Field, plan: tuple[Duelists, ...], pairs: int, cases: tuple[Case, ...], rules: CheckRules
) -> Measured:
    """Run new cases, then a fixed number of process pairs for every row and opponent, rows in turn.

    Raises:
        DeviceFaultError: the machinery failed.
        OSError: the sandbox could not be set up.
    """
    session = Session()
    checked = run_cases(
        device.target, FreshLayouts(device.target).of(field_.candidate), field_.problem, cases, field_.limits, rules
    )
    if not checked.passed:
        return Measured(session, cases=checked.outcomes)
    progress = Progress()
    try:
        for _ in range(pairs):
            layouts = FreshLayouts(device.target)
            for duelists in plan:
                score = _pair(device, field_, duelists, session, layouts, _CONFIRMATION_DUELS)
                progress.rows.setdefault(duelists, []).append(score)
    except MisbehaviourError as error:
        return Measured(session, misbehaviour=str(error), cases=checked.outcomes)
    _, rows = row_effects(progress, field_.floors, MeasurementPlan(None, plan), eliminated=False)
    return Measured(session, rows=rows, cases=checked.outcomes)


def _pair(  # noqa: PLR0913, PLR0917 - a pair is made of all of these
    device: Device, field_: Field, duelists: Duelists, session: Session, layouts: Layouts, duels: int
) -> PairScore:
    return device.time_pair(
        (field_.candidate, field_.opponents[duelists]),
        field_.problem,
        duelists.workload,
        session,
        field_.limits,
        layouts=layouts,
        duels=duels,
        error_scale=field_.error_scale,
        metric=field_.metric,
    )
