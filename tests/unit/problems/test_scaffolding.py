"""A new problem from a function: complete but for what only a person can write."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kernelmill.problems import ProblemFormatError, check_folder, load_problem, scaffold
from kernelmill.problems.carrying import carried_source

EPSILON = 1e-5


def shifted(values: np.ndarray) -> np.ndarray:
    return values + EPSILON


def normalise(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(shifted(x.var(axis=1, keepdims=True))) * w


def column_sums(x: np.ndarray) -> np.ndarray:
    return x.sum(axis=0)


def product_and_sums(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return a @ b, a.sum(axis=1)


def total(x: np.ndarray) -> np.ndarray:
    return np.sum(x)


def counted(i: np.ndarray) -> np.ndarray:
    return 2 * i + 1


def run(x: np.ndarray) -> np.ndarray:
    return x


def normals(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape)


def errors(folder: Path) -> list[tuple[str, str]]:
    return [(item.where, item.message) for item in check_folder(folder) if item.severity == "error"]


@pytest.mark.parametrize(
    ("function", "examples", "rows"),
    [
        (normalise, {"x": normals(24, 96), "w": normals(96)}, "n1"),
        (column_sums, {"x": normals(24, 96)}, "n0"),
        (product_and_sums, {"a": normals(10, 20), "b": normals(20, 30)}, "n2"),
        (total, {"x": normals(24, 96)}, None),
        (counted, {"i": np.arange(100, dtype=np.int32)}, "n0"),
    ],
)
def test_only_the_seed_is_left_to_write(
    tmp_path: Path, function: Callable[..., np.ndarray], examples: dict[str, np.ndarray], rows: str | None
) -> None:
    folder = tmp_path / "new"
    scaffold("new", function, examples, folder)
    found = errors(folder)
    assert [where for where, _ in found] == ["seeds/naive.c"], found
    assert "not written yet" in found[0][1]
    sampling = load_problem(folder).settings.sampling
    assert (sampling.rows if sampling else None) == rows
    with pytest.raises(ProblemFormatError, match="exists already"):
        scaffold("new", function, examples, folder)


def test_a_written_seed_completes_it(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    scaffold("new", column_sums, {"x": normals(24, 96)}, folder)
    seed = folder / "seeds" / "naive.c"
    assert "void kernel(const float *x, float *out, int64_t n0, int64_t n1)" in seed.read_text()
    seed.write_text("".join(seed.read_text().splitlines(keepends=True)[1:]))
    assert errors(folder) == []


def function_in(path: Path, source: str, name: str) -> Callable[..., np.ndarray]:
    path.write_text(source)
    namespace: dict[str, Callable[..., np.ndarray]] = {}
    exec(compile(source, str(path), "exec"), namespace)  # noqa: S102 - the test's own source
    return namespace[name]


def test_a_function_takes_along_what_it_uses_and_nothing_else(tmp_path: Path) -> None:
    source = """
from math import (
    pi,
    tau,
)
import json

SCALE, OTHER = 2.0, 3.0
TEXT = json.dumps(SCALE)


def unused(x):
    return x * OTHER


def inner(x):
    return x * pi


def outer(x):
    return inner(x) * SCALE
"""
    carried = carried_source(function_in(tmp_path / "mine.py", source, "outer"))
    assert carried.imports == ("from math import pi, tau",)
    assert carried.definitions.startswith("SCALE, OTHER = 2.0, 3.0")
    assert "def inner" in carried.definitions
    assert "unused" not in carried.definitions
    assert "TEXT" not in carried.definitions
    assert not carried.uses_torch


def test_a_torch_function_needs_a_numpy_fallback_from_a_person(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is an extra")
    source = "import torch.nn.functional as F\n\n\ndef activate(x):\n    return F.gelu(x)\n"
    folder = tmp_path / "new"
    scaffold("new", function_in(tmp_path / "mine.py", source, "activate"), {"x": normals(24, 96)}, folder)
    assert [where for where, _ in errors(folder)] == ["seeds/naive.c", "baselines/baselines.toml"]


@pytest.mark.parametrize(
    ("function", "examples", "says"),
    [
        (run, {"x": normals(3)}, "give your function another name"),
        (lambda x: x, {"x": normals(3)}, "top level"),
        (np.sort, {"x": normals(3)}, "source cannot be read|top level"),
        (normalise, {"x": normals(24, 96), "w": normals(95)}, "raises ValueError"),
        (column_sums, {"out": normals(24, 96)}, "rename that parameter"),
        (column_sums, {"x": np.ones((2, 3), dtype=np.complex64)}, "dtype complex64"),
    ],
)
def test_what_cannot_become_a_problem_is_refused(
    tmp_path: Path, function: Callable[..., np.ndarray], examples: dict[str, np.ndarray], says: str
) -> None:
    with pytest.raises(ProblemFormatError, match=says):
        scaffold("new", function, examples, tmp_path / "new")
    assert not (tmp_path / "new").exists()
