"""The native fill: uniform, fresh, never past its end."""

from pathlib import Path

import numpy as np
import pytest

from kernelmill.targets.cpu.native_library import MeasureLibrary


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> MeasureLibrary:
    return MeasureLibrary(Path(tmp_path_factory.mktemp("native")))


@pytest.mark.parametrize("count", [1, 15, 16, 17, 1000])
def test_exactly_what_was_asked_for_is_filled(library: MeasureLibrary, count: int) -> None:
    around = np.full(count + 2, 9.0, np.float32)
    library.uniform(around[1:-1], 2.0, 7)
    assert around[0] == around[-1] == 9.0
    assert np.all(np.abs(around[1:-1]) <= 2.0)


def test_values_are_uniform_and_every_seed_gives_others(library: MeasureLibrary) -> None:
    drawn = np.empty(1 << 18, np.float32)
    library.uniform(drawn, 3.0, 1)
    counts, _ = np.histogram(drawn, bins=64, range=(-3.0, 3.0))
    expected = drawn.size / 64
    # Chi-squared with 63 degrees of freedom exceeds 130 once in 10^6.
    assert np.sum((counts - expected) ** 2 / expected) < 130
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.01
    assert abs(np.corrcoef(drawn[:-16], drawn[16:])[0, 1]) < 0.01
    other = np.empty_like(drawn)
    library.uniform(other, 3.0, 2)
    assert abs(np.corrcoef(drawn, other)[0, 1]) < 0.01
    library.uniform(other, 3.0, 1)
    assert np.array_equal(drawn, other)
