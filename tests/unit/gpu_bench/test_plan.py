"""Which pair comes next: races first, rows in turn, enough is enough."""

from hypothesis import given
from hypothesis import strategies as st
from support.events import POLICY, candidate_id, pair

from kernelmill_gpu_bench.domain.plan import (
    Duelists,
    Finished,
    MeasurementPlan,
    Progress,
    TimePair,
    next_step,
    race_row,
    row_effects,
)

ROWS = tuple(Duelists(name, "c") for name in ("a", "b", "d"))
RACE = Duelists("b", candidate_id("champion"))


def run(plan: MeasurementPlan, race: float, row: float) -> tuple[Progress, Finished, list[TimePair]]:
    progress, steps = Progress(), []
    while True:
        step = next_step(plan, progress, POLICY)
        if isinstance(step, Finished):
            return progress, step, steps
        steps.append(step)
        pairs = progress.race if step.racing else progress.rows.setdefault(step.duelists, [])
        pairs.append(pair((race if step.racing else row) + 0.001 * (len(pairs) % 3)))


@given(race=st.floats(-0.3, 0.3), row=st.floats(-0.3, 0.3), racing=st.booleans())
def test_a_measurement_always_ends(race: float, row: float, racing: bool) -> None:  # noqa: FBT001 - drawn
    progress, finished, steps = run(MeasurementPlan(RACE if racing else None, ROWS), race, row)
    assert len(steps) <= POLICY.race_pairs_max + len(ROWS) * POLICY.baseline_pairs
    if not finished.eliminated:
        assert all(len(progress.rows[item]) == POLICY.baseline_pairs for item in ROWS)


def test_a_slower_candidate_costs_a_few_pairs() -> None:
    progress, finished, steps = run(MeasurementPlan(RACE, ROWS), -0.1, 0.0)
    assert finished.eliminated
    assert len(steps) == POLICY.race_pairs_min
    _, _, far_behind = run(MeasurementPlan(RACE, ROWS), -0.4, 0.0)
    assert len(far_behind) == 2
    race, rows = row_effects(progress, {"b": 12.0}, MeasurementPlan(RACE, ROWS), eliminated=True)
    assert (race[0].stopped_early, race[0].floor_ns, rows) == (True, 12.0, ())


def test_without_a_champion_the_first_row_eliminates() -> None:
    progress, finished, _ = run(MeasurementPlan(None, ROWS), 0.0, -0.1)
    assert finished.eliminated
    assert list(progress.rows) == [ROWS[0]]


def test_rows_are_measured_in_turn() -> None:
    _, _, steps = run(MeasurementPlan(RACE, ROWS), 0.2, 0.1)
    rows = [step.duelists for step in steps if not step.racing]
    assert rows[:6] == [*ROWS, *ROWS]


def test_rows_that_are_hopeless_together_end_after_two_rounds() -> None:
    progress, finished, _ = run(MeasurementPlan(RACE, ROWS), 0.2, -0.04)
    assert finished.eliminated
    assert [len(progress.rows[row]) for row in ROWS] == [2] * len(ROWS)
    race, rows = row_effects(progress, {}, MeasurementPlan(RACE, ROWS), eliminated=True)
    assert not race[0].stopped_early
    assert all(row.stopped_early for row in rows)
    _, finished, _ = run(MeasurementPlan(RACE, ROWS), 0.2, 0.02)
    assert not finished.eliminated


def test_candidates_race_on_different_rows_but_never_on_dispatch() -> None:
    rows = [("tiny", 20.0), ("a", 5000.0), ("b", 9000.0)]
    chosen = {race_row(candidate_id(str(number)), rows, 10.0, POLICY) for number in range(40)}
    assert chosen == {"a", "b"}
    assert race_row(candidate_id("x"), [("tiny", 20.0)], 10.0, POLICY) == "tiny"
    assert race_row(candidate_id("x"), [], 10.0, POLICY) is None
