"""A confirmed Kernelmill champion as a function on numpy arrays.

    from champion import kernel
    out = kernel(*inputs)            # allocates the outputs
    kernel(*inputs, out=out)         # writes into yours

`kernel.json` beside this file says what it computes and how it was built, REPORT.md what was measured. The C sources
are compiled with the C compiler of this machine on first use. Where the kernel cannot serve (no compiler, a processor
without its instructions, a shape outside its guard), the numpy baseline of the problem answers, and
`kernel.why_fallback` says why. With torch installed, `torch_operator()` registers `kernelmill::<problem>` with a fake
kernel, so that torch.compile sees it.
"""

import ctypes
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent


class Kernel:
    """The champion: call it with the inputs in the order of the problem's definition."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder
        self.description: dict[str, Any] = json.loads((folder / "kernel.json").read_text())
        self.why_fallback = ""
        self._function: Any = None
        self._fallback = _load_module(folder / "fallback.py")
        self._built = False

    def __call__(self, *inputs: Any, out: Any = None) -> Any:
        """Compute the outputs.

        Args:
            inputs: numpy arrays (or scalars) with the definition's dtypes; strided or misaligned ones are copied.
            out: an array, or a tuple of arrays where the problem has several outputs; C-contiguous, of the right dtype.

        Returns:
            `out`, or fresh arrays: one array, or a tuple where the problem has several outputs.

        Raises:
            TypeError: a dtype differs from the definition.
            ValueError: shapes that do not fit together, or an `out` that cannot be written in place.
        """
        axes = self.axes_of([np.shape(value) for value in inputs])
        arrays = [self._input(spec, value) for spec, value in zip(self.description["inputs"], inputs, strict=True)]
        outputs = self._outputs(axes, out)
        function = self._callable(axes)
        lengths = [axes[name] for name in self.description["var_axes"]]
        if function is None:
            self._fallback.run(*arrays, *outputs, *lengths)
        else:
            targets = [array if self._aligned(array) else self._buffer(array.shape, array.dtype) for array in outputs]
            function(
                *[ctypes.c_void_p(array.ctypes.data) for array in (*arrays, *targets)],
                *[ctypes.c_int64(length) for length in lengths],
            )
            for target, array in zip(targets, outputs, strict=True):
                if target is not array:
                    array[...] = target
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def axes_of(self, shapes: list[Any]) -> dict[str, Any]:
        """Return the axes that the shapes of the inputs mean.

        Raises:
            ValueError: they do not fit the definition or each other.
        """
        specs = self.description["inputs"]
        if len(shapes) != len(specs):
            needed = ", ".join(spec["name"] for spec in specs)
            message = f"{len(shapes)} inputs were given, {len(specs)} are needed: {needed}"
            raise ValueError(message)
        axes: dict[str, Any] = dict(self.description["const_axes"])
        for spec, shape in zip(specs, shapes, strict=True):
            names = spec["axes"] or []
            if len(shape) != len(names):
                message = f"input {spec['name']} has {len(shape)} dimensions, {len(names)} are needed: {names}"
                raise ValueError(message)
            for name, length in zip(names, shape, strict=True):
                if axes.setdefault(name, length) != length:
                    message = f"input {spec['name']}: axis {name} is {length}, but {axes[name]} elsewhere"
                    raise ValueError(message)
        return axes

    def _input(self, spec: dict[str, Any], value: Any) -> Any:
        dtype = np.dtype(spec["dtype"])
        array = np.asarray(value, dtype=dtype) if np.ndim(value) == 0 else value
        if not isinstance(array, np.ndarray) or array.dtype != dtype:
            message = f"input {spec['name']} has dtype {getattr(array, 'dtype', type(value))}, {dtype} is needed"
            raise TypeError(message)
        if array.flags.c_contiguous and self._aligned(array):
            return array
        copy = self._buffer(array.shape, dtype)
        copy[...] = array
        return copy

    def _outputs(self, axes: dict[str, int], out: Any) -> list[Any]:
        specs = self.description["outputs"]
        shapes = [tuple(axes[name] for name in spec["axes"] or []) for spec in specs]
        if out is None:
            return [self._buffer(shape, np.dtype(spec["dtype"])) for spec, shape in zip(specs, shapes, strict=True)]
        outputs = [out] if isinstance(out, np.ndarray) else list(out)
        for spec, shape, array in zip(specs, shapes, outputs, strict=True):
            if array.shape != shape or array.dtype != np.dtype(spec["dtype"]) or not array.flags.c_contiguous:
                message = f"out {spec['name']} must be a C-contiguous {spec['dtype']} array of shape {shape}"
                raise ValueError(message)
        return outputs

    def _aligned(self, array: Any) -> bool:
        return bool(array.ctypes.data % self.description["alignment"] == 0)

    def _buffer(self, shape: tuple[int, ...], dtype: Any) -> Any:
        alignment = self.description["alignment"]
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        raw = np.empty(size + alignment, dtype=np.uint8)
        start = -raw.ctypes.data % alignment
        return raw[start : start + size].view(dtype).reshape(shape)

    def _callable(self, axes: dict[str, int]) -> Any:
        if not self._built:
            self._built = True
            self._function = self._build()
        if self._function is None:
            return None
        guard = self.description["guard"]
        if guard is not None and {name: axes[name] for name in self.description["var_axes"]} not in guard:
            self.why_fallback = f"the shape {axes} is outside the guard of this specialised champion"
            return None
        self.why_fallback = ""
        return self._function

    def _build(self) -> Any:
        library = self._library()
        try:
            if not library.exists():
                self._compile(library)
                self._self_test(library)
            return self._load(library)
        except (OSError, subprocess.SubprocessError) as error:
            library.unlink(missing_ok=True)
            detail = getattr(error, "stderr", None) or error
            self.why_fallback = f"the kernel cannot be built or run on this machine: {detail}"
            return None

    def _load(self, library: Path) -> Any:
        function = getattr(ctypes.CDLL(str(library)), self.description["entry"])
        function.restype = None
        return function

    def use(self, library: Path | None) -> None:
        """Take a library that is built already, or None to answer with the fallback only."""
        self._built = True
        self._function = None if library is None else self._load(library)

    def _library(self) -> Path:
        state = hashlib.sha256(json.dumps(self.description, sort_keys=True).encode())
        for path in sorted(self.description["files"]):
            state.update((self.folder / path).read_bytes())
        cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "kernelmill"
        cache.mkdir(parents=True, exist_ok=True)
        return cache / f"{self.description['problem']}-{state.hexdigest()[:24]}.so"

    def _compile(self, library: Path) -> None:
        description = self.description
        sources = [str(self.folder / path) for path in description["files"] if not path.endswith(".h")]
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            built = Path(folder) / "kernel.so"
            objects = []
            for number, source in enumerate(sources):
                objects.append(str(Path(folder) / f"{number}.o"))
                command = [description["compiler"], f"-std={description['standard']}", "-fPIC", *description["flags"]]
                _run([*command, "-c", source, "-o", objects[-1]])
            # The link step sees no fast-math flag: with one, loading the library would flush denormals process-wide.
            _run([description["compiler"], "-shared", *objects, "-o", str(built), *description["link"], "-lm"])
            built.replace(library)

    def _self_test(self, library: Path) -> None:
        """Call the kernel once in a process of its own: a missing instruction kills that process and not this one."""
        _run([sys.executable, __file__, str(self.folder), str(library)])


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)  # noqa: S603 - our own commands


def _load_module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"kernelmill_fallback_{path.parent.name}", path)
    if spec is None or spec.loader is None:
        message = f"{path} is missing: export the champion again"
        raise ImportError(message)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _test_call(folder: Path, library: Path) -> None:
    tested = Kernel(folder)
    description = tested.description
    axes = {**description["const_axes"], **description["example_axes"]}
    generator = np.random.default_rng(0)
    inputs = [
        generator.standard_normal([axes[name] for name in spec["axes"] or []]).astype(spec["dtype"])
        for spec in description["inputs"]
    ]
    tested.use(None)
    expected = tested(*inputs)
    tested.use(library)
    actual = tested(*inputs)
    pairs = zip(expected, actual, strict=True) if isinstance(expected, tuple) else [(expected, actual)]
    for left, right in pairs:
        scale = float(np.max(np.abs(left))) or 1.0
        if not np.allclose(left, right, rtol=1e-3, atol=1e-4 * scale):
            message = "the kernel's answer differs from the fallback's"
            raise SystemExit(message)


def torch_operator() -> Any:
    """Register the kernel as torch operator `kernelmill::<problem>` (with a fake kernel) and return it.

    Raises:
        ImportError: torch is not installed.
    """
    import torch  # noqa: PLC0415 - an optional peer, imported on demand

    description = kernel.description
    names = [spec["name"] for spec in description["inputs"]]
    outputs = description["outputs"]
    arguments = ", ".join(f"Tensor {name}" for name in names)
    returns = "Tensor" if len(outputs) == 1 else "(" + ", ".join("Tensor" for _ in outputs) + ")"
    name = f"kernelmill::{description['problem']}"

    def run(*tensors: Any) -> Any:
        result = kernel(*[tensor.contiguous().numpy() for tensor in tensors])
        if isinstance(result, tuple):
            return tuple(torch.from_numpy(array) for array in result)
        return torch.from_numpy(result)

    def fake(*tensors: Any) -> Any:
        axes = kernel.axes_of([tuple(tensor.shape) for tensor in tensors])
        made = [
            tensors[0].new_empty([axes[axis] for axis in spec["axes"] or []], dtype=getattr(torch, spec["dtype"]))
            for spec in outputs
        ]
        return made[0] if len(made) == 1 else tuple(made)

    torch.library.define(name, f"({arguments}) -> {returns}")
    torch.library.impl(name, "cpu")(run)
    torch.library.register_fake(name)(fake)
    return getattr(torch.ops.kernelmill, description["problem"])


kernel: Any = (
    Kernel() if (FOLDER / "kernel.json").exists() else None
)  # None only where Kernelmill itself imports the template

if __name__ == "__main__":
    _test_call(Path(sys.argv[1]), Path(sys.argv[2]))
