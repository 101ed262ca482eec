"""Plans tasks: whom, from what, toward what, at what cost."""

from datetime import datetime, timedelta

from kernelmill.events import Direction, Reservation, Spending, TaskPlanned
from kernelmill.identity import command_id
from kernelmill_planner.domain.archive import ISLANDS
from kernelmill_planner.domain.chance import uniform, weighted
from kernelmill_planner.domain.situation import Situation

CANDIDATES = 4
"""Candidates of one task."""
BACKLOG = 8
"""Candidates that may be open or promised at once: enough to keep verifier and bench busy, few enough to stay fresh."""
DEADLINE = timedelta(minutes=3)
DEVICE_SECONDS = 8.0
"""Reserved for one candidate."""
PARENTS = 4
EXPLORING = 3
"""Slots after the seeds that explore, before there is much to tune from."""

_OPERATORS = ("tune", "rewrite", "crossover", "explore")
_PRIOR = {"tune": 3.0, "rewrite": 1.0, "crossover": 1.5, "explore": 0.7}


def plan(situation: Situation, now: datetime) -> TaskPlanned | None:
    """Return the next task, None while enough is open or nothing is left to spend."""
    fold, objective = situation.fold, situation.objective
    if situation.by_hand:
        return None
    promised = sum(max(0, state.plan.candidate_cap - len(state.candidates)) for state in fold.open_tasks.values())
    room = BACKLOG - len(fold.open_candidates) - promised
    if room < CANDIDATES:
        return None
    available = fold.budget.available("evaluations")
    cap = CANDIDATES if available is None else min(CANDIDATES, int(available))
    amount = Spending(evaluations=cap, device_seconds=DEVICE_SECONDS * cap)
    if cap < 1 or not fold.budget.affords(amount):
        return None
    slot = fold.plans
    task = command_id(fold.campaign, "task", str(slot))
    context = (fold.campaign, str(objective.seed), str(slot))
    agent = weighted([(share.agent, share.share) for share in objective.agents], *context, "agent")
    island = slot % ISLANDS
    direction = _direction(situation, slot, context)
    return TaskPlanned(
        event_id=situation.identity("TaskPlanned"),
        recorded_at=now,
        target=fold.target,
        campaign=fold.campaign,
        task=task,
        slot=slot,
        role="generalist",
        agent=agent,
        island=island,
        parents=situation.archive.parents(island, slot, fold, PARENTS),
        direction=direction,
        candidate_cap=cap,
        trial_cap=0,
        advice=situation.memory.advice,
        memory=situation.memory.use(),
        reservation=Reservation(reservation=f"task-{task}", amount=amount),
        deadline=now + DEADLINE,
    )


def _direction(situation: Situation, slot: int, context: tuple[str, ...]) -> Direction:
    fold = situation.fold
    if fold.directions:
        return fold.directions[0]
    if slot == 0:
        return Direction(operator="seed", note="the problem's seeds as they stand")
    if slot <= EXPLORING or not situation.archive.elites:
        return Direction(operator="explore", note="little is known yet")
    weights = []
    for operator in _OPERATORS:
        record = situation.archive.operators.get(operator)
        tried, improved = (record.tried, record.improved) if record else (0, 0)
        weights.append((operator, _PRIOR[operator] * (improved + 1.0) / (tried + 8.0)))
    chosen = weighted(weights, *context, "operator")
    technique = None
    if situation.memory.advice and uniform(*context, "memory") < 0.5:
        promising = [(item.technique, max(item.gain, 0.0) + 1e-3) for item in situation.memory.advice]
        technique = weighted(promising, *context, "technique")
    note = "chosen by what each operator has improved per evaluation"
    return Direction.model_validate({"operator": chosen, "technique": technique, "note": note})
