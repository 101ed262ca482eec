"""Work that is shifted between duels earns nothing; a disturbed duel costs nothing."""

from collections.abc import Sequence
from typing import Any

import pytest
from support.events import FINGERPRINT, POLICY, QUIET, address, case, checked, compiled, measured, screened

from kernelmill.events import ConfirmationMeasured, PairScore, RowEffect
from kernelmill.evidence import confirm, recompute

STEPS = (-0.004, -0.003, -0.002, -0.001, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008)


def shifted(workload: str, gain: float, gaps: Sequence[float]) -> RowEffect:
    """A row whose pairs have the given gain, and plain means that are lower by the given gaps."""
    pairs = tuple(
        PairScore(
            log_ratio=gain + step,
            mean_log_ratio=gain + step - gap,
            duels=12,
            candidate_ns=900.0,
            opponent_ns=1000.0,
        )
        for step, gap in zip(STEPS, gaps, strict=False)
    )
    return RowEffect(workload=workload, opponent="c", pairs=pairs)


def verdict(*rows: RowEffect) -> tuple[str, str]:
    events: list[Any] = [screened("a"), compiled("a"), checked("a"), measured("a", 0.0, rows=rows)]
    body = recompute(events, POLICY)
    assert body is not None
    return body.decision, body.reason


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        ([0.0] * 4, ("accepted", "faster")),
        ([0.2] * 4, ("inconclusive", "infrastructure")),
        ([0.2, 0.2, 0.2, 0.0], ("inconclusive", "infrastructure")),
        ([0.4, 0.0, 0.0, 0.0], ("accepted", "faster")),
        ([-0.2] * 4, ("accepted", "faster")),
        ([0.03, 0.04, -0.05, 0.02], ("accepted", "faster")),
        ([0.07] * 4, ("accepted", "faster")),
        ([0.12] * 4, ("inconclusive", "infrastructure")),
    ],
    ids=[
        "quiet",
        "every pair",
        "most pairs",
        "one disturbed pair",
        "the opponent was disturbed",
        "noise",
        "gain enough",
        "a few duels of every pair",
    ],
)
def test_a_gain_has_to_be_there_when_every_duel_counts(gaps: list[float], expected: tuple[str, str]) -> None:
    assert verdict(shifted("small", 0.1, gaps), shifted("large", 0.1, gaps)) == expected


def test_no_gain_needs_no_doubt() -> None:
    assert verdict(shifted("small", -0.01, [0.2] * 4)) == ("rejected", "not-faster")


@pytest.mark.parametrize(("gap", "holds", "conclusive"), [(0.0, True, True), (0.2, False, False), (-0.2, True, True)])
def test_a_crown_needs_a_gain_in_plain_means_too(gap: float, holds: bool, conclusive: bool) -> None:  # noqa: FBT001
    rows = tuple(shifted(name, 0.1, [gap] * len(STEPS)) for name in ("small", "large"))
    content = address("a", "ConfirmationMeasured") | {
        "confirmation": "k1",
        "opponent": None,
        "node": "n-cpu",
        "fingerprint": FINGERPRINT,
        "cases": (case(),),
        "head_to_head": (),
        "rows": rows,
        "dispatch_ns": 5.0,
        "telemetry": QUIET,
        "sandboxing": measured("a", 0.0).sandboxing,
        "device_seconds": 1.0,
    }
    outcome = confirm(ConfirmationMeasured.model_validate(content), 0.001, POLICY)
    assert (outcome.holds, outcome.conclusive) == (holds, conclusive)
    assert outcome.detail
