"""The power curve: few false decisions at equal code, more right ones the larger the effect and the less the noise."""

import itertools
import random

import pytest
from support.events import POLICY

from kernelmill_gpu_bench.domain.power import EFFECTS, LEAST_PAIRS, power_curve


def noise(sd: float, count: int = 120) -> list[float]:
    draw = random.Random(5)  # noqa: S311 - a test that can be repeated
    # One process of many is slow for life.
    return [draw.gauss(0.004, sd) + (0.5 if number == 7 else 0.0) for number in range(count)]


@pytest.mark.parametrize("rows", [1, 6])
def test_decisions_are_mostly_right(rows: int) -> None:
    curve = power_curve(noise(0.02), rows, POLICY, random.Random(1).randrange)  # noqa: S311
    assert [point.effect for point in curve] == list(EFFECTS)
    assert curve[0].accepted < 0.12
    assert curve[0].confirmed <= 0.002
    confirmed = [point.confirmed for point in curve]
    assert all(later > earlier - 0.05 for earlier, later in itertools.pairwise(confirmed))
    assert curve[-1].confirmed > 0.9


def test_noise_costs_power() -> None:
    quiet, loud = (power_curve(noise(sd), 6, POLICY, random.Random(1).randrange)[3] for sd in (0.02, 0.15))  # noqa: S311
    assert quiet.confirmed > loud.confirmed + 0.3


def test_a_few_pairs_give_no_curve() -> None:
    assert power_curve([0.0] * (LEAST_PAIRS - 1), 6, POLICY, random.Random(1).randrange) == ()  # noqa: S311
