"""Arithmetic over axes: a small language that is parsed, never evaluated."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelmill.problems import ExpressionError, evaluate

NAMES = {"rows": 7, "cols": 33, "zero": 0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("rows * cols + 1", 232),
        ("-rows // 2", -4),
        ("ceildiv(cols, 16)", 3),
        ("min(rows, cols, 3) + max(rows, 2)", 10),
        ("select(rows < cols, 4, 8)", 4),
        ("select(zero, rows // zero, 5)", 5),
        ("(rows % 4) == 3", 1),
    ],
)
def test_values(text: str, value: int) -> None:
    assert evaluate(text, NAMES) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rows / 2", "not allowed"),
        ("__import__('os')", "not allowed"),
        ("rows.real", "not allowed"),
        ("[rows][0]", "not allowed"),
        ("depth + 1", "unknown name 'depth'; known are cols, rows, zero"),
        ("rows // zero", "divides by zero"),
        ("ceildiv(1)", "takes 2 arguments"),
        ("min()", "takes at least one"),
        ("min(rows, *cols)", "not allowed"),
        ("rows +", "is not an expression"),
        ("2 ** 8", "not allowed"),
        ("True", "not allowed"),
        ("1.5", "not allowed"),
        ("(" * 200 + "1" + ")" * 200 + "+" + "1" * 200, "over the limit"),
    ],
)
def test_everything_else_is_refused_with_a_reason(text: str, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, NAMES)
    assert says in str(caught.value)


@given(st.integers(-1000, 1000), st.integers(1, 1000))
def test_ceildiv_rounds_up(left: int, right: int) -> None:
    value = evaluate("ceildiv(a, b)", {"a": left, "b": right})
    assert (value - 1) * right < left <= value * right


@given(st.text(max_size=60))
def test_no_text_escapes(text: str) -> None:
    with contextlib.suppress(ExpressionError):
        assert isinstance(evaluate(text, NAMES), int)
