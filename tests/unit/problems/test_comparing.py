"""Comparison with the reference: bounds, poison, non-finite values."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelmill.problems import Problem, compare, holds_poison, largest_difference, load_problem

KERNELS = Path(__file__).parents[3] / "kernels"
AXES = {"rows": 3, "columns": 40}


@pytest.fixture(scope="module")
def softmax() -> Problem:
    return load_problem(KERNELS / "softmax")


def outputs_of(problem: Problem, distribution: str = "masked") -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    inputs = problem.make_inputs(AXES, distribution, b"a seed of 16 byt")
    outputs = {"y": problem.reference(inputs, AXES).outputs["y"].astype(np.float32)}
    return inputs, outputs


def test_the_rounded_reference_passes_and_one_wrong_element_does_not(softmax: Problem) -> None:
    inputs, outputs = outputs_of(softmax)
    reference = softmax.reference(inputs, AXES)
    assert compare(softmax, AXES, reference, outputs).passed
    for place in np.argwhere(outputs["y"] > 1e-3)[:5]:
        wrong = {"y": outputs["y"].copy()}
        wrong["y"][tuple(place)] *= 1.01
        assert compare(softmax, AXES, reference, wrong).worst_error > 1.0


def test_a_stricter_scale_is_stricter(softmax: Problem) -> None:
    inputs, outputs = outputs_of(softmax, "normal")
    reference = softmax.reference(inputs, AXES)
    loose = compare(softmax, AXES, reference, outputs, 1.0).worst_error
    assert compare(softmax, AXES, reference, outputs, 0.5).worst_error == pytest.approx(2 * loose)


def test_poison_nan_and_infinity_are_told_apart(softmax: Problem) -> None:
    inputs, outputs = outputs_of(softmax)
    reference = softmax.reference(inputs, AXES)
    unfinished = outputs["y"].copy()
    unfinished.view(np.uint32)[1, 5] = 0x7FC00101
    found = compare(softmax, AXES, reference, {"y": unfinished})
    assert found.unfinished
    assert not found.passed
    for value in (np.nan, np.inf):
        broken = outputs["y"].copy()
        broken[0, 0] = value
        found = compare(softmax, AXES, reference, {"y": broken})
        assert found.non_finite
        assert not found.unfinished
        assert not found.passed
        assert found.worst_error == 1e9


@given(payload=st.integers(1, 2**22 - 1), sign=st.sampled_from([0, 0x80000000]))
def test_any_payload_is_poison_and_the_plain_nan_is_not(payload: int, sign: int) -> None:
    bits = np.array([0x7FC00000 | payload | sign], dtype=np.uint32)
    assert holds_poison(bits.view(np.float32))
    assert not holds_poison(np.array([np.nan, -np.nan, 0.0, np.inf], dtype=np.float32))


def test_runs_that_agree_to_the_bit_differ_by_nothing(softmax: Problem) -> None:
    inputs, outputs = outputs_of(softmax)
    reference = softmax.reference(inputs, AXES)
    assert largest_difference(softmax, AXES, reference, outputs, outputs) == 0.0
    other = {"y": np.nextafter(outputs["y"], np.float32(1.0))}
    assert 0.0 < largest_difference(softmax, AXES, reference, outputs, other) < 1.0
