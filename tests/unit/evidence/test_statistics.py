"""Statistics against brute force, symmetry and simulation."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.events import POLICY, checked, compiled, measured, pair, row, screened

from kernelmill.evidence import (
    TooFewScoresError,
    across_rows,
    confirmation_level,
    confirmation_pairs,
    geometric_mean_interval,
    race_decision,
    recompute,
    signed_rank_p,
    trimmed_mean,
    walsh_interval,
)

SCORES = st.lists(st.floats(-1, 1, allow_nan=False).map(lambda value: round(value, 2)), min_size=1, max_size=9)


def brute_force(values: list[float]) -> float:
    """Exact one-sided p by trying every assignment of signs; zeros take ranks and have no sign (Pratt 1959)."""
    sizes = [abs(value) for value in values]
    ranks = [
        sum(other < size for other in sizes) + (sum(other == size for other in sizes) + 1) / 2
        for size in sizes
        if size != 0.0
    ]
    signed = [value for value in values if value != 0.0]
    observed = sum(rank for rank, value in zip(ranks, signed, strict=True) if value > 0)
    sums = [
        sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        for signs in itertools.product([0, 1], repeat=len(ranks))
    ]
    return sum(value >= observed - 1e-9 for value in sums) / len(sums)


@given(SCORES)
def test_the_signed_rank_test_is_exact(values: list[float]) -> None:
    assert signed_rank_p(values) == pytest.approx(brute_force(values))


@given(SCORES)
def test_order_does_not_matter(values: list[float]) -> None:
    assert signed_rank_p(sorted(values)) == pytest.approx(signed_rank_p(values))


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_intervals_hold_their_estimate_and_mirror(values: list[float]) -> None:
    interval = walsh_interval(values, 0.9)
    mirrored = walsh_interval([-value for value in values], 0.9)
    assert interval.low <= interval.estimate <= interval.high
    assert mirrored.low == pytest.approx(-interval.high)
    assert mirrored.high == pytest.approx(-interval.low)


def test_identical_code_is_called_faster_no_more_often_than_the_level_says() -> None:
    generator = np.random.default_rng(5)
    trials = generator.normal(0.0, 0.02, (4000, 26))
    false = sum(signed_rank_p(list(trial)) <= 0.01 for trial in trials)
    assert false / 4000 <= 0.01 + 3 * math.sqrt(0.01 * 0.99 / 4000)


def test_a_true_gain_of_three_percent_is_seen_by_a_confirmation() -> None:
    generator = np.random.default_rng(6)
    level = confirmation_level(0.001, 1)
    trials = generator.normal(0.03, 0.02, (500, 26))
    assert sum(signed_rank_p(list(trial)) <= level for trial in trials) / 500 > 0.95


@given(st.floats(0.0001, 0.5))
def test_the_levels_of_all_confirmations_together_stay_under_the_budget(alpha: float) -> None:
    assert sum(confirmation_level(alpha, k) for k in range(1, 2000)) <= alpha


def test_trimming_takes_a_quarter_off() -> None:
    assert trimmed_mean([0.0, 0.0, 0.0, 1000.0]) == 0.0
    with pytest.raises(TooFewScoresError):
        walsh_interval([0.1], 0.9)
    with pytest.raises(TooFewScoresError):
        geometric_mean_interval([[0.1, 0.2], []], 0.9)


def test_rows_are_averaged_pair_by_pair() -> None:
    assert across_rows([[0.0, 0.2], [0.4, 0.0]]) == pytest.approx((0.2, 0.1))


@settings(max_examples=50)
@given(st.integers(4, 8), st.floats(0.03, 0.28))
def test_a_race_drops_what_is_clearly_slower_and_keeps_what_is_clearly_faster(count: int, effect: float) -> None:
    steps = [0.001 * (number % 3) for number in range(count)]
    assert race_decision([pair(-effect - step) for step in steps], POLICY) == "drop"
    assert race_decision([pair(effect + step) for step in steps], POLICY) == "keep"


def test_an_undecided_race_keeps_who_is_ahead() -> None:
    wavering = [0.02, -0.03, 0.05, -0.01, 0.03, -0.04, 0.02, 0.01]
    assert race_decision([pair(ratio) for ratio in wavering], POLICY) == "keep"
    assert race_decision([pair(-ratio) for ratio in wavering], POLICY) == "drop"
    assert race_decision([pair(ratio) for ratio in wavering[:7]], POLICY) == "continue"


@given(st.floats(0.02, 0.28), st.floats(0.29, 3.0))
def test_two_pairs_end_a_race_only_where_it_is_hopeless(close: float, far: float) -> None:
    assert race_decision([pair(-close), pair(-far)], POLICY) == "continue"
    assert race_decision([pair(-far)], POLICY) == "continue"
    assert race_decision([pair(-far), pair(-far)], POLICY) == "drop"
    assert race_decision([pair(-far), pair(-far)], POLICY.model_copy(update={"race_hopeless": 0.0})) == "continue"


@given(st.integers(1, 12), st.integers(1, 40))
def test_a_confirmation_has_pairs_enough_for_its_level(rows: int, k: int) -> None:
    level = confirmation_level(POLICY.confirm_alpha, k)
    pairs = confirmation_pairs(rows, level, POLICY)
    assert signed_rank_p([1.0 + number for number in range(pairs)]) <= level
    assert signed_rank_p([-1000.0, *(1.0 + number for number in range(pairs - 1))]) <= level
    assert pairs >= (POLICY.confirm_pairs_several if rows >= 4 else POLICY.confirm_pairs)


@pytest.mark.parametrize(
    ("events", "decision", "reason"),
    [
        ([screened("a", "refused")], "rejected", "screened-out"),
        ([screened("a", "near-duplicate")], "rejected", "near-duplicate"),
        ([screened("a"), compiled("a"), checked("a", passed=False)], "rejected", "incorrect"),
        ([screened("a"), compiled("a"), checked("a"), measured("a", 0.1)], "accepted", "faster"),
        ([screened("a"), compiled("a"), checked("a"), measured("a", -0.1)], "rejected", "not-faster"),
        ([screened("a"), compiled("a"), checked("a"), measured("a", 0.1, misbehaviour="x")], "rejected", "misbehaved"),
        ([screened("a"), compiled("a"), checked("a"), measured("a", 0.1, rows=())], "inconclusive", "no-baseline"),
        (
            [screened("a"), compiled("a"), checked("a"), measured("a", 0.1, race=(row("small", (-0.2,) * 4, "b"),))],
            "rejected",
            "eliminated-in-race",
        ),
        (
            [
                screened("a"),
                compiled("a"),
                checked("a"),
                measured("a", 0.1, rows=(row("small", (-0.1, -0.1), stopped_early=True), row("big", (-0.1, -0.09)))),
            ],
            "rejected",
            "not-faster",
        ),
        (
            [screened("a"), compiled("a"), checked("a"), measured("a", 0.1, rows=(row("small", (0.1, 0.1)),))],
            "inconclusive",
            "too-few-pairs",
        ),
    ],
)
def test_the_judge_says_what_the_evidence_says(events: list[object], decision: str, reason: str) -> None:
    body = recompute(events, POLICY)  # type: ignore[arg-type]
    assert body is not None
    assert (body.decision, body.reason) == (decision, reason)
    assert body.evidence == tuple(event.event_id for event in events)  # type: ignore[attr-defined]
    assert recompute(events, POLICY) == body  # type: ignore[arg-type]


def test_incomplete_evidence_is_no_verdict() -> None:
    assert recompute([screened("a"), compiled("a"), checked("a")], POLICY) is None
