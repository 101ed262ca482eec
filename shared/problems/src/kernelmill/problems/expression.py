"""Integer arithmetic over axes: parsed, never evaluated as Python."""

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache

from kernelmill.problems.errors import ExpressionError

_MAX_LENGTH = 500

_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}

_COMPARE: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}

_ARITIES: dict[str, int | None] = {"min": None, "max": None, "ceildiv": 2, "select": 3}
"""Functions with the number of their arguments; None is any number but zero."""


def evaluate(text: str, names: Mapping[str, int]) -> int:
    """Return the value of an expression of integers, axes, `+ - * // %`, comparisons, min, max, ceildiv and select.

    Raises:
        ExpressionError: it uses anything else, names an unknown axis, or divides by zero.
    """
    return _value(parse(text), names, text)


@lru_cache(maxsize=256)
def parse(text: str) -> ast.expr:
    """Return the parsed expression.

    Raises:
        ExpressionError: it is not an expression of the small language that `evaluate` knows.
    """
    if len(text) > _MAX_LENGTH:
        raise ExpressionError(f"an expression of {len(text)} characters is over the limit of {_MAX_LENGTH}")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"'{text}' is not an expression: {error}") from error


def _value(node: ast.expr, names: Mapping[str, int], text: str) -> int:
    try:
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return value
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -_value(operand, names, text)
            case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _BINARY:
                return _BINARY[type(operation)](_value(left, names, text), _value(right, names, text))
            case ast.Compare(left=left, ops=[comparison], comparators=[right]) if type(comparison) in _COMPARE:
                return int(_COMPARE[type(comparison)](_value(left, names, text), _value(right, names, text)))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _ARITIES:
                return _call(name, arguments, names, text)
            case ast.Name(id=name):
                raise ExpressionError(f"'{text}': unknown name '{name}'; known are {', '.join(sorted(names))}")
            case _:
                raise ExpressionError(f"'{text}': {ast.unparse(node)} is not allowed here")
    except ZeroDivisionError:
        raise ExpressionError(f"'{text}' divides by zero") from None


def _call(name: str, arguments: list[ast.expr], names: Mapping[str, int], text: str) -> int:
    arity = _ARITIES[name]
    if not arguments or (arity is not None and len(arguments) != arity):
        raise ExpressionError(f"'{text}': {name} takes {arity or 'at least one'} arguments")
    if name == "select":
        condition, yes, no = arguments
        # Only the chosen branch gets a value: the other may divide by zero.
        return _value(yes if _value(condition, names, text) else no, names, text)
    values = [_value(argument, names, text) for argument in arguments]
    if name == "ceildiv":
        return -(-values[0] // values[1])
    return min(values) if name == "min" else max(values)
