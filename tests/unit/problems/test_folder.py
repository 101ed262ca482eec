"""A user's folder: what is wrong with it is said exactly; a new one is made in a moment."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelmill.problems import check_folder, load_problem

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
        (replacing("problem.toml", "constant = 10.0", "constant = 1e9"), "problem.toml", "reaches only"),
        (
            replacing("problem.toml", "constant = 10.0", "constant = 1e-6"),
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


@pytest.mark.parametrize(
    ("change", "where", "says"),
    [
        (replacing("definition.json", '"float32"', '"bfloat16"'), "definition.json", "use float32"),
        (replacing("reference.py", "return np.abs(run", "return -np.abs(run"), "reference.py", "negative"),
        (replacing("reference.py", "hidden))", "hidden))[:1]"), "reference.py", "magnitude returns y of shape (1,"),
        (replacing("reference.py", "* weight", "* wait"), "reference.py", "run raises NameError"),
        (replacing("baselines/numpy.py", "scale /= hidden", "scale /= width"), "baselines/numpy.py", "NameError"),
        (
            replacing("baselines/numpy.py", "import numpy", "raise SystemExit(3)\nimport numpy"),
            "baselines/numpy.py",
            "3",
        ),
        (replacing("problem.toml", "rows = [1,", "rows = [0, 1,"), "problem.toml", "sizes.rows.0"),
        (replacing("problem.toml", "alignment = 64", "alignment = 48"), "problem.toml", "alignment"),
        (replacing("problem.toml", 'bytes = "', 'bytes = "0 * '), "problem.toml", "bytes is 0"),
        (replacing("problem.toml", 'rows = "rows"', 'rows = "hidden"'), "problem.toml", "[sampling] does not hold"),
        (
            replacing("problem.toml", "[bound]", "derived_axes = { hidden = 'width' }\n[bound]"),
            "problem.toml",
            "'width'",
        ),
        (
            replacing("problem.toml", "[bound]", "derived_axes = { hidden = '2 * rows' }\n[bound]"),
            "workloads.jsonl",
            "derived_axes makes it 16",
        ),
        (
            replacing("definition.json", '"outputs"', '"constraints": ["rows < 512"], "outputs"'),
            "workloads.jsonl",
            "row llama3-512 does not meet",
        ),
        (
            replacing(
                "workloads.jsonl", '{"type": "random"}', '{"type": "safetensors", "path": "f", "tensor_key": "k"}'
            ),
            "workloads.jsonl:1",
            "cannot be read yet",
        ),
    ],
)
def test_what_would_mislead_a_campaign_is_refused(
    folder: Path, change: Callable[[Path], None], where: str, says: str
) -> None:
    change(folder)
    found = [item for item in check_folder(folder) if item.severity == "error"]
    assert any(where in item.where and says in item.message for item in found), found


def test_constraints_in_other_languages_are_named_and_not_checked(folder: Path) -> None:
    replacing("definition.json", '"outputs"', '"constraints": ["rows == len(index) - 1"], "outputs"')(folder)
    assert [(item.severity, item.where) for item in check_folder(folder)] == [("warning", "definition.json")]


def test_traces_of_the_ecosystem_are_read_as_rows(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "workloads.jsonl").read_text().splitlines()]
    traces = [{"definition": "rmsnorm", "workload": row, "solution": None, "evaluation": None} for row in rows]
    (folder / "workloads.jsonl").write_text("\n".join(map(json.dumps, traces)))
    assert [row.uuid for row in load_problem(folder).workloads] == [row["uuid"] for row in rows]
