"""Texts of a new problem's files."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelmill.problems.carrying import Carried

UNWRITTEN = "#error This seed is not written yet"
"""First line of a generated seed; `problem check` reports it until it is gone."""

_TORCH_CALL = """def _called(*arrays):
    results = {name}(*(torch.as_tensor(np.asarray(array)) for array in arrays))
    return tuple(map(np.asarray, results)) if isinstance(results, tuple | list) else np.asarray(results)


"""

_MAGNITUDE = '''    """Replace it by the sum of the absolute terms of the formula.

    What stands here works for many formulas: |result|, plus |result| for absolute inputs, plus the largest |result|.
    """
    results, absolute = run({names}, *axes), run({absolute}, *axes)
    if not isinstance(results, tuple | list):
        results, absolute = (results,), (absolute,)
    scale = max(float(np.max(np.abs(result))) for result in results)
    return tuple(np.abs(one) + np.abs(other) + scale for one, other in zip(results, absolute, strict=True))
'''

_C_TYPES = {"float32": "float", "float64": "float", "int32": "int32_t", "int64": "int64_t"}


def reference_text(carried: Carried, inputs: list[str]) -> str:
    """Return reference.py: the function itself, and a magnitude that a person should make sharper."""
    names = ", ".join(inputs)
    absolute = ", ".join(f"np.abs({name})" for name in inputs)
    return (
        '"""The ground truth in float64, and the magnitude from which the error bound is made."""\n\n'
        f"{_head(carried)}"
        f"def run({names}, *axes):\n"
        f"    return {_call(carried, names)}\n\n\n"
        f"def magnitude({names}, *axes):\n"
        f"{_MAGNITUDE.format(names=names, absolute=absolute)}"
    )


def baseline_text(carried: Carried, inputs: list[str], outputs: list[str], axes: list[str]) -> str:
    """Return a Python baseline: the function itself, its results copied into the outputs."""
    targets = ", ".join(f"{name}[...]" for name in outputs)
    return (
        '"""What a user would write; replace it by the fastest that you know, without temporaries."""\n\n'
        f"{_head(carried)}"
        f"def run({', '.join([*inputs, *outputs, *axes])}):\n"
        f"    {targets} = {_call(carried, ', '.join(inputs))}\n"
    )


def settings_text(tensors: list[NDArray[Any]], axes: Mapping[int, str], rows: str | None) -> str:
    """Return problem.toml with values that work."""
    terms = [
        " * ".join([str(np.dtype(_narrow(array)).itemsize), *(axes[length] for length in array.shape)])
        for array in tensors
    ]
    sizes = "\n".join(f"{axis} = [1, 2, 3, 7, 8, 17, 33, 64, 129]" for axis in axes.values())
    sampling = f'[sampling]\nrows = "{rows}"\n\n' if rows else ""
    longest = axes[max(axes)] if axes else "1"
    return (
        'problem_class = "custom"\n\n'
        "[bound]\n"
        "# Run `kernelmill problem check` and take the smallest constant at which honest implementations pass.\n"
        "constant = 8.0\n"
        f'reduction = "{longest}"\n'
        "absolute = 1e-37\n\n"
        "[floor]\n"
        f'bytes = "{" + ".join(terms)}"\n\n'
        f"{sampling}"
        "[distributions]\n"
        "normal = 1.0\nuniform = 1.0\nspike = 1.0\ntail-spike = 1.0\nsparse = 1.0\nsorted = 1.0\nalternating = 1.0\n\n"
        "[sizes]\n"
        f"{sizes}\n"
    )


def seed_text(inputs: Mapping[str, Any], outputs: Mapping[str, Any], axes: Mapping[int, str]) -> str:
    """Return the C seed's signature; its body is a person's work."""
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


def _narrow(array: NDArray[Any]) -> str:
    return "float32" if array.dtype == np.float64 else str(array.dtype)


def _head(carried: Carried) -> str:
    wanted = {"import numpy as np", *(["import torch"] if carried.uses_torch else [])}
    imports = "\n".join(sorted(wanted | set(carried.imports)))
    called = _TORCH_CALL.format(name=carried.name) if carried.uses_torch else ""
    return f"{imports}\n\n\n{carried.definitions}\n\n\n{called}"


def _call(carried: Carried, names: str) -> str:
    return f"{'_called' if carried.uses_torch else carried.name}({names})"
