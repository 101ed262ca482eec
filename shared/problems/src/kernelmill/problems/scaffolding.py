"""Makes a new problem's folder from a numpy or torch function with example arguments."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelmill.problems.carrying import Carried, carried_source
from kernelmill.problems.errors import ProblemFormatError
from kernelmill.problems.templates import UNWRITTEN, baseline_text, reference_text, seed_text, settings_text
from kernelmill.problems.timed import take

__all__ = ["UNWRITTEN", "scaffold"]

_SUPPORTED = ("float32", "int32", "int64")
_ROWS = (("small", 0.25), ("half", 0.5), ("odd", 0.37), ("example", 1.0), ("wide", 1.5), ("large", 2.0))
_CLOSE = 1e-4

Arrays = dict[str, NDArray[Any]]
Axes = dict[int, str]


def scaffold(name: str, function: Callable[..., Any], examples: Mapping[str, Any], into: Path) -> list[str]:
    """Write a problem's folder and return the paths of its files.

    Every distinct length among the examples' shapes becomes a var axis, so give axes that are independent different
    lengths. Examples in float64 are taken as float32, which kernels compute in. Bound, floor and rows get values that
    work and that `problem check` can judge; the C seed gets its signature and has to be written by a person, and so has
    the numpy baseline of a torch function.

    Args:
        name: name of the problem.
        function: takes the inputs as numpy arrays (torch tensors, if it uses torch) and returns one array or several.
            It is copied with everything that it uses at the top level of its file.
        examples: an example for each parameter, in order.
        into: the folder; must not exist.

    Raises:
        ProblemFormatError: the folder exists, a dtype or name is not possible, the function cannot be copied, or it
            does not run on the examples.
    """
    if into.exists():
        raise ProblemFormatError(str(into), "it exists already: choose another folder")
    carried = carried_source(function)
    inputs = _arrays(examples)
    call = _caller(function, carried)
    outputs = _named(call(*inputs.values()))
    _check_dtypes(inputs | outputs)
    axes = _axes([*inputs.values(), *outputs.values()])
    taken = sorted(set(inputs) & {*outputs, *axes.values()})
    if taken:
        raise ProblemFormatError(name, f"the folder needs the name {taken[0]} itself: rename that parameter")
    rows = _independent_axis(call, inputs, outputs, axes)
    kind = "torch" if carried.uses_torch else "numpy"
    requires = 'requires = ["torch"]\n' if carried.uses_torch else ""
    files = {
        "definition.json": _definition(name, inputs, outputs, axes),
        "workloads.jsonl": _workloads(inputs, axes),
        "reference.py": reference_text(carried, list(inputs)),
        "problem.toml": settings_text([*inputs.values(), *outputs.values()], axes, rows),
        "mutants.py": '"""Plausible mistakes: each function takes inputs and axes and returns wrong outputs."""\n',
        "baselines/baselines.toml": f'[baselines.{kind}]\nkind = "python"\nfiles = ["{kind}.py"]\n{requires}',
        f"baselines/{kind}.py": baseline_text(carried, list(inputs), list(outputs), list(axes.values())),
        "seeds/naive.toml": 'structure = "naive"\nfiles = ["naive.c"]\n',
        "seeds/naive.c": seed_text(inputs, outputs, axes),
    }
    for path, text in files.items():
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        (into / path).write_text(text, encoding="utf-8")
    return list(files)


def _arrays(examples: Mapping[str, Any]) -> Arrays:
    arrays = {}
    for key, value in examples.items():
        array = np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
        arrays[key] = array.astype(np.float32) if array.dtype == np.float64 else array
    return arrays


def _caller(function: Callable[..., Any], carried: Carried) -> Callable[..., tuple[NDArray[Any], ...]]:
    def call(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        try:
            if carried.uses_torch:
                import torch  # noqa: PLC0415 - an extra, needed only for functions that use it

                result = function(*(torch.as_tensor(array) for array in arrays))
            else:
                result = function(*arrays)
            results = result if isinstance(result, tuple | list) else (result,)
            return tuple(np.asarray(item.detach() if hasattr(item, "detach") else item) for item in results)
        except Exception as error:
            raise ProblemFormatError(carried.name, f"the function raises {type(error).__name__}: {error}") from error

    return call


def _named(results: tuple[NDArray[Any], ...]) -> Arrays:
    return {"out" if len(results) == 1 else f"out{number}": array for number, array in enumerate(results)}


def _check_dtypes(arrays: Arrays) -> None:
    for key, array in arrays.items():
        if str(array.dtype) not in (*_SUPPORTED, "float64"):
            raise ProblemFormatError(key, f"dtype {array.dtype} is not supported here: use {', '.join(_SUPPORTED)}")


def _axes(arrays: list[NDArray[Any]]) -> Axes:
    lengths = sorted({length for array in arrays for length in array.shape}, reverse=True)
    return {length: f"n{number}" for number, length in enumerate(lengths)}


def _independent_axis(call: Callable[..., Any], inputs: Arrays, outputs: Arrays, axes: Axes) -> str | None:
    """Return an axis along which a part of the inputs gives that part of the outputs, so that checks can sample it."""
    for length, axis in axes.items():
        if any(length not in array.shape for array in outputs.values()):
            continue
        chosen = {axis: np.unique([0, length // 3, length - 1])}

        def part(array: NDArray[Any], chosen: Mapping[str, NDArray[np.int64]] = chosen) -> NDArray[Any]:
            return take(array, tuple(axes[item] for item in array.shape), chosen)

        try:
            found = call(*(part(array) for array in inputs.values()))
        except ProblemFormatError:
            continue
        wanted = [part(array) for array in outputs.values()]
        same = all(
            left.shape == right.shape and np.allclose(left, right, rtol=_CLOSE, atol=_CLOSE)
            for left, right in zip(found, wanted, strict=True)
        )
        if same:
            return axis
    return None


def _tensor(array: NDArray[Any], axes: Axes) -> dict[str, Any]:
    dtype = "float32" if array.dtype == np.float64 else str(array.dtype)
    return {"shape": [axes[length] for length in array.shape] or None, "dtype": dtype}


def _definition(name: str, inputs: Arrays, outputs: Arrays, axes: Axes) -> str:
    content = {
        "name": name,
        "op_type": name,
        "axes": {axis: {"type": "var"} for axis in axes.values()},
        "inputs": {key: _tensor(array, axes) for key, array in inputs.items()},
        "outputs": {key: _tensor(array, axes) for key, array in outputs.items()},
    }
    return json.dumps(content, indent=2) + "\n"


def _workloads(inputs: Arrays, axes: Axes) -> str:
    lines = []
    for label, factor in _ROWS:
        lengths = {axis: max(1, round(length * factor)) for length, axis in axes.items()}
        made = {key: {"type": "random"} for key in inputs}
        lines.append(json.dumps({"axes": lengths, "inputs": made, "uuid": label}))
    return "\n".join(lines) + "\n"
