"""Makes a new problem's folder from a numpy or torch function with example arguments."""

import inspect
import json
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kernelmill.problems.errors import ProblemFormatError

UNWRITTEN = "#error This seed is not written yet"
"""First line of a generated seed; `problem check` reports it until it is gone."""

_SUPPORTED = ("float32", "float64", "int32", "int64")


def scaffold(name: str, function: Callable[..., Any], examples: Mapping[str, Any], into: Path) -> list[str]:
    """Write a problem's folder and return the paths of its files.

    Every distinct length among the examples' shapes becomes a var axis. Bound, floor and workloads get values that work
    and that `problem check` can judge; the C seed gets its signature and has to be written by a person.

    Args:
        name: name of the problem.
        function: takes the inputs as numpy arrays (or torch tensors) and returns one array or a tuple of arrays.
        examples: an example for each parameter, in order.
        into: the folder; must not exist.

    Raises:
        ProblemFormatError: the folder exists, a dtype is not supported, or the function does not run on the examples.
    """
    if into.exists():
        raise ProblemFormatError(str(into), "it exists already: choose another folder")
    arrays = {key: _as_numpy(value) for key, value in examples.items()}
    for key, array in arrays.items():
        if str(array.dtype) not in _SUPPORTED:
            raise ProblemFormatError(key, f"dtype {array.dtype} is not supported here: use {', '.join(_SUPPORTED)}")
    try:
        result = function(*examples.values())
    except Exception as error:
        raise ProblemFormatError(name, f"the function raises {type(error).__name__}: {error}") from error
    results = [_as_numpy(value) for value in (result if isinstance(result, tuple) else (result,))]
    outputs = {"out" if len(results) == 1 else f"out{number}": array for number, array in enumerate(results)}
    axes = _axes([*arrays.values(), *outputs.values()])
    files = {
        "definition.json": _definition(name, arrays, outputs, axes),
        "workloads.jsonl": _workloads(arrays, axes),
        "reference.py": _reference(function, arrays, outputs),
        "problem.toml": _settings(arrays, outputs, axes),
        "mutants.py": '"""Plausible mistakes: each function takes inputs and axes and returns wrong outputs."""\n',
        "baselines/baselines.toml": '[baselines.numpy]\nkind = "python"\nfiles = ["numpy.py"]\n',
        "baselines/numpy.py": _baseline(function, arrays, outputs, axes),
        "seeds/naive.toml": 'structure = "naive"\nfiles = ["naive.c"]\n',
        "seeds/naive.c": _seed(arrays, outputs, axes),
    }
    for path, text in files.items():
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        (into / path).write_text(text)
    return list(files)


def _as_numpy(value: Any) -> np.ndarray[Any, Any]:
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype == np.float64 and array.ndim == 0 else array


def _axes(arrays: list[np.ndarray[Any, Any]]) -> dict[int, str]:
    lengths = sorted({length for array in arrays for length in array.shape}, reverse=True)
    return {length: f"n{number}" for number, length in enumerate(lengths)}


def _tensor(array: np.ndarray[Any, Any], axes: Mapping[int, str]) -> dict[str, Any]:
    return {"shape": [axes[length] for length in array.shape] or None, "dtype": str(array.dtype)}


def _definition(name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], axes: Mapping[int, str]) -> str:
    content = {
        "name": name,
        "op_type": name,
        "axes": {axis: {"type": "var"} for axis in axes.values()},
        "inputs": {key: _tensor(array, axes) for key, array in inputs.items()},
        "outputs": {key: _tensor(array, axes) for key, array in outputs.items()},
    }
    return json.dumps(content, indent=2) + "\n"


def _workloads(inputs: Mapping[str, Any], axes: Mapping[int, str]) -> str:
    lines = []
    for label, factor in (
        ("small", 0.25),
        ("half", 0.5),
        ("odd", 0.37),
        ("example", 1.0),
        ("wide", 1.5),
        ("large", 2.0),
    ):
        lengths = {axis: max(1, round(length * factor)) for length, axis in axes.items()}
        made = {key: {"type": "random"} for key in inputs}
        lines.append(json.dumps({"axes": lengths, "inputs": made, "uuid": label}))
    return "\n".join(lines) + "\n"


def _reference(function: Callable[..., Any], inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> str:
    source = textwrap.dedent(inspect.getsource(function))
    names = ", ".join(inputs)
    returned = ", ".join(f"np.abs(value{number}) + scale" for number in range(len(outputs)))
    unpacked = ", ".join(f"value{number}" for number in range(len(outputs)))
    return (
        '"""The ground truth in float64, and the magnitude from which the error bound is made."""\n\n'
        "import numpy as np\n\n\n"
        f"{source}\n\n"
        f"def run({names}, *axes):\n"
        f"    return {function.__name__}({names})\n\n\n"
        f"def magnitude({names}, *axes):\n"
        '    """|result| plus the largest |result|: replace it by the sum of the absolute terms of the formula."""\n'
        f"    results = run({names}, *axes)\n"
        "    results = results if isinstance(results, tuple) else (results,)\n"
        f"    {unpacked + ',' if len(outputs) == 1 else unpacked} = results\n"
        f"    scale = max(float(np.max(np.abs(value))) for value in ({unpacked},))\n"
        f"    return {returned}\n"
    )


def _settings(inputs: Mapping[str, Any], outputs: Mapping[str, Any], axes: Mapping[int, str]) -> str:
    tensors = [*inputs.values(), *outputs.values()]
    terms = [" * ".join([str(array.dtype.itemsize), *(axes[length] for length in array.shape)]) for array in tensors]
    rows = (
        axes[outputs[next(iter(outputs))].shape[0]] if outputs[next(iter(outputs))].ndim else next(iter(axes.values()))
    )
    sizes = "\n".join(f"{axis} = [1, 2, 3, 7, 8, 17, 33, 64, 129]" for axis in axes.values())
    return (
        'problem_class = "custom"\n\n'
        "[bound]\n"
        "# Run `kernelmill problem check` and take the smallest constant at which honest implementations pass.\n"
        "constant = 8.0\n"
        f'reduction = "{max(axes.items())[1]}"\n'
        "absolute = 1e-37\n\n"
        "[floor]\n"
        f'bytes = "{" + ".join(terms)}"\n\n'
        "[sampling]\n"
        f'rows = "{rows}"\n\n'
        "[distributions]\n"
        "normal = 1.0\nuniform = 1.0\nspike = 1.0\ntail-spike = 1.0\nsparse = 1.0\nsorted = 1.0\nalternating = 1.0\n\n"
        "[sizes]\n"
        f"{sizes}\n"
    )


def _baseline(
    function: Callable[..., Any], inputs: Mapping[str, Any], outputs: Mapping[str, Any], axes: Mapping[int, str]
) -> str:
    source = textwrap.dedent(inspect.getsource(function))
    arguments = ", ".join([*inputs, *outputs, *axes.values()])
    targets = ", ".join(f"{name}[...]" for name in outputs)
    return (
        '"""What a user would write; replace it by the fastest numpy that you know, without temporaries."""\n\n'
        "import numpy as np\n\n\n"
        f"{source}\n\n"
        f"def run({arguments}):\n"
        f"    {targets} = {function.__name__}({', '.join(inputs)})\n"
    )


_C_TYPES = {"float32": "float", "float64": "double", "int32": "int32_t", "int64": "int64_t"}


def _seed(inputs: Mapping[str, Any], outputs: Mapping[str, Any], axes: Mapping[int, str]) -> str:
    parameters = [f"const {_C_TYPES[str(array.dtype)]} *{name}" for name, array in inputs.items()]
    parameters += [f"{_C_TYPES[str(array.dtype)]} *{name}" for name, array in outputs.items()]
    parameters += [f"int64_t {axis}" for axis in axes.values()]
    shapes = "".join(
        f" *   {name}[{' * '.join(axes[length] for length in array.shape) or '1'}]\n"
        for name, array in {**inputs, **outputs}.items()
    )
    return (
        f"{UNWRITTEN}: fill in the body, then remove this line.\n"
        "/* All arrays are row-major and do not overlap:\n"
        f"{shapes}"
        " * Mark loops for the search agent with a comment before them: km: independent, or km: reduction(+, sum). */\n"
        "#include <stdint.h>\n\n"
        f"void kernel({', '.join(parameters)}) {{\n"
        "}\n"
    )
