"""Comparison with the reference: bounds, poison, non-finite values."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelmill.problems import Problem, compare, error_bound, holds_poison, largest_difference, load_problem

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


@given(
    place=st.integers(0, 119),
    value=st.floats(width=32, allow_nan=False),
    distribution=st.sampled_from(["normal", "masked", "peaked", "offset"]),
)
def test_no_single_wrong_element_hides(softmax: Problem, place: int, value: float, distribution: str) -> None:
    inputs, outputs = outputs_of(softmax, distribution)
    reference = softmax.reference(inputs, AXES)
    bound = error_bound(softmax, AXES, reference, "y", 1.0).reshape(-1)[place]
    wrong = {"y": outputs["y"].copy()}
    wrong["y"].reshape(-1)[place] = value
    far = not abs(float(np.float32(value)) - reference.outputs["y"].reshape(-1)[place]) <= bound
    assert compare(softmax, AXES, reference, wrong).passed != far


def test_what_is_slightly_wrong_everywhere_shows_in_its_block() -> None:
    swiglu = load_problem(KERNELS / "swiglu")
    axes = {"rows": 2, "ffn": 512}
    inputs = swiglu.make_inputs(axes, "normal", b"a seed of 16 byt")
    reference = swiglu.reference(inputs, axes)
    bound = error_bound(swiglu, axes, reference, "y", 1.0)
    # In float64, so that nothing is rounded: half the bound passes in one place, not in every place.
    everywhere = compare(swiglu, axes, reference, {"y": reference.outputs["y"] + 0.5 * bound})
    assert everywhere.worst_error == pytest.approx(0.5)
    assert everywhere.worst_block > 1.0
    assert not everywhere.passed
    once = reference.outputs["y"].copy()
    once[1, 7] += 0.5 * bound[1, 7]
    assert compare(swiglu, axes, reference, {"y": once}).passed


def test_integers_have_to_be_exact(softmax: Problem) -> None:
    definition = softmax.definition
    counts = dataclasses.replace(
        softmax,
        definition=definition.model_copy(
            update={"outputs": {"y": definition.outputs["y"].model_copy(update={"dtype": "int64"})}}
        ),
        functions={"run": lambda x, rows, columns: np.full(x.shape, 2**60 + 1), "magnitude": lambda x, *_: np.abs(x)},
    )
    inputs = counts.make_inputs(AXES, "normal", b"a seed of 16 byt")
    reference = counts.reference(inputs, AXES)
    right = np.full((3, 40), 2**60 + 1, dtype=np.int64)
    assert compare(counts, AXES, reference, {"y": right}).passed
    right[2, 39] -= 1
    assert compare(counts, AXES, reference, {"y": right}).worst_error == 1e9


def test_where_the_reference_is_not_finite_the_same_is_asked_for(softmax: Problem) -> None:
    inputs = {"x": np.full((3, 40), -np.inf, dtype=np.float32)}
    reference = softmax.reference(inputs, AXES)
    assert np.isnan(reference.outputs["y"]).all()
    assert compare(softmax, AXES, reference, {"y": np.full((3, 40), np.nan, dtype=np.float32)}).passed
    found = compare(softmax, AXES, reference, {"y": np.zeros((3, 40), dtype=np.float32)})
    assert found.non_finite
    assert not found.passed
