"""The exported module: builds its C source, checks what it is given, falls back where it must."""

import importlib.util
import json
import shutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from kernelmill_console import templates

TEMPLATE = Path(templates.__file__).parent / "champion.py"

SOURCE = """
#include <stdint.h>
#include <math.h>
void kernel(const float *x, const float *w, float *y, int64_t rows, int64_t cols) {
    if (((uintptr_t)x | (uintptr_t)w | (uintptr_t)y) % 64) __builtin_trap();
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) y[r * cols + c] = x[r * cols + c] * w[c] + 0.0f;
}
"""
FALLBACK = "import numpy as np\ndef run(x, w, y, rows, cols):\n    np.multiply(x, w, out=y)\n"


def export(folder: Path, *, source: str = SOURCE, guard: list[dict[str, int]] | None = None) -> ModuleType:
    folder.mkdir()
    description = {
        "problem": "scale",
        "candidate": "c" * 64,
        "entry": "kernel",
        "files": ["kernel.c"],
        "compiler": "gcc",
        "standard": "gnu11",
        "flags": ["-O2"],
        "link": [],
        "inputs": [
            {"name": "x", "axes": ["rows", "cols"], "dtype": "float32"},
            {"name": "w", "axes": ["cols"], "dtype": "float32"},
        ],
        "outputs": [{"name": "y", "axes": ["rows", "cols"], "dtype": "float32"}],
        "const_axes": {},
        "var_axes": ["rows", "cols"],
        "example_axes": {"rows": 3, "cols": 5},
        "alignment": 64,
        "guard": guard,
    }
    (folder / "kernel.json").write_text(json.dumps(description))
    (folder / "kernel.c").write_text(source)
    (folder / "fallback.py").write_text(FALLBACK)
    shutil.copy(TEMPLATE, folder / "champion.py")
    spec = importlib.util.spec_from_file_location(f"champion_{folder.name}", folder / "champion.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def arrays(rows: int = 7, cols: int = 33) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(1)
    x = generator.standard_normal((rows, cols)).astype(np.float32)
    return x, generator.standard_normal(cols).astype(np.float32)


def test_it_builds_and_computes(tmp_path: Path) -> None:
    kernel = export(tmp_path / "a").kernel
    x, w = arrays()
    np.testing.assert_array_equal(kernel(x, w), x * w)
    assert kernel.why_fallback == ""


def test_strided_and_misaligned_arrays_are_copied(tmp_path: Path) -> None:
    kernel = export(tmp_path / "a").kernel
    x, w = arrays(8, 64)
    np.testing.assert_array_equal(kernel(x[::2, 1:], w[1:]), x[::2, 1:] * w[1:])
    out = np.empty(8 * 64 + 1, dtype=np.float32)[1:].reshape(8, 64)
    assert kernel(x, w, out=out) is out
    np.testing.assert_array_equal(out, x * w)
    assert kernel.why_fallback == ""


def test_wrong_arguments_are_refused_with_their_names(tmp_path: Path) -> None:
    kernel = export(tmp_path / "a").kernel
    x, w = arrays()
    with pytest.raises(TypeError, match="input x has dtype float64"):
        kernel(x.astype(np.float64), w)
    with pytest.raises(ValueError, match="axis cols is 32, but 33 elsewhere"):
        kernel(x, w[1:])
    with pytest.raises(ValueError, match="1 inputs were given, 2 are needed: x, w"):
        kernel(x)
    with pytest.raises(ValueError, match="out y must be a C-contiguous float32 array"):
        kernel(x, w, out=np.empty((7, 32), dtype=np.float32))


def test_a_shape_outside_the_guard_is_answered_by_the_fallback(tmp_path: Path) -> None:
    kernel = export(tmp_path / "a", guard=[{"rows": 7, "cols": 33}]).kernel
    x, w = arrays()
    kernel(x, w)
    assert kernel.why_fallback == ""
    np.testing.assert_array_equal(kernel(x[:, :5], w[:5]), x[:, :5] * w[:5])
    assert "outside the guard" in kernel.why_fallback


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (SOURCE.replace("void kernel", "this is not C"), "error"),
        (SOURCE.replace("+ 0.0f", "+ 1.0f"), "differs"),
        (SOURCE.replace("for (int64_t r", "__builtin_trap(); for (int64_t r"), "cannot be built or run"),
    ],
    ids=["not C", "wrong here", "illegal instruction"],
)
def test_a_kernel_that_cannot_serve_here_is_replaced(tmp_path: Path, source: str, why: str) -> None:
    kernel = export(tmp_path / "a", source=source).kernel
    x, w = arrays()
    np.testing.assert_array_equal(kernel(x, w), x * w)
    assert why in kernel.why_fallback
