"""A user's folder: what is wrong with it is said exactly; a new one is made in a moment."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kernelmill.problems import ProblemFormatError, check_folder, load_problem, scaffold

KERNELS = Path(__file__).parents[3] / "kernels"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(KERNELS / "rmsnorm", tmp_path / "mine")
    return tmp_path / "mine"


def replacing(path: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / path).read_text()
        assert old in text
        (folder / path).write_text(text.replace(old, new))

    return change


def removing(path: str) -> Callable[[Path], None]:
    return lambda folder: (folder / path).unlink()


@pytest.mark.parametrize(
    ("change", "where", "says"),
    [
        (removing("definition.json"), "definition.json", "missing"),
        (removing("problem.toml"), "problem.toml", "missing"),
        (removing("reference.py"), "reference.py", "missing"),
        (removing("workloads.jsonl"), "workloads.jsonl", "missing"),
        (replacing("definition.json", '"float32"', '"float31"'), "definition.json", "dtype"),
        (replacing("definition.json", '["hidden"]', '["depth"]'), "definition.json", "'depth'"),
        (replacing("workloads.jsonl", '"rows": 33', '"rows": 0'), "workloads.jsonl:5", "positive length"),
        (replacing("workloads.jsonl", "odd-33", "smollm2-8"), "workloads.jsonl:5", "used twice"),
        (replacing("reference.py", "def run(", "def walk("), "reference.py", "function run"),
        (replacing("reference.py", "import numpy", "import numpie"), "reference.py", "numpie"),
        (replacing("problem.toml", "normal = 1.0", "gaussian = 1.0"), "problem.toml", "knows no 'gaussian'"),
        (replacing("problem.toml", '"llama3-512"', '"llama4"'), "problem.toml", "no row"),
        (
            replacing("problem.toml", '"4 * rows * hidden"', '"4 * rows * width"'),
            "problem.toml",
            "unknown name 'width'",
        ),
        (replacing("problem.toml", "constant = 4.0", "constant = 1e9"), "problem.toml", "reaches only"),
        (
            replacing("problem.toml", "constant = 4.0", "constant = 1e-6"),
            "problem.toml",
            "honest implementation 'numpy'",
        ),
        (replacing("seeds/structured.toml", "KM_WIDTH", "KM_BREADTH"), "seeds/structured.toml", "#define KM_BREADTH"),
        (
            replacing("seeds/structured.c", "#define KM_ROWS 1", "#define KM_ROWS 5"),
            "seeds/structured.toml",
            "KM_ROWS is 5",
        ),
        (removing("seeds/naive.c"), "seeds/naive.toml", "naive.c"),
        (replacing("baselines/baselines.toml", '"plain.c"', '"fast.c"'), "baselines/baselines.toml", "fast.c"),
        (
            replacing("mutants.py", "def layer_norm(x, weight, rows, hidden)", "def layer_norm(x)"),
            "mutants.py",
            "layer_norm",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    folder: Path, change: Callable[[Path], None], where: str, says: str
) -> None:
    change(folder)
    found = [item for item in check_folder(folder) if item.severity == "error"]
    assert found
    assert any(where in item.where and says in item.message for item in found), found


def normalise(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return (x - x.mean(axis=1, keepdims=True)) * w


def test_a_new_problem_is_made_from_a_function(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    examples = {
        "x": generator.standard_normal((24, 96)).astype(np.float32),
        "w": generator.standard_normal(96).astype(np.float32),
    }
    scaffold("centre", normalise, examples, tmp_path / "centre")
    problem = load_problem(tmp_path / "centre")
    assert problem.var_axes == ("n0", "n1")
    assert [spec.shape for spec in problem.input_specs({"n0": 96, "n1": 24})] == [(24, 96), (96,)]
    errors = [item for item in check_folder(tmp_path / "centre") if item.severity == "error"]
    assert [item.where for item in errors] == ["seeds/naive.c"]
    assert "not written yet" in errors[0].message
    with pytest.raises(ProblemFormatError, match="exists already"):
        scaffold("centre", normalise, examples, tmp_path / "centre")
