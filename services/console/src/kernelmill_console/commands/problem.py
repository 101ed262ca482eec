"""Commands for problems: check a folder, make a new one, list what ships."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cyclopts import App
from pydantic import BaseModel

from kernelmill.problems import ProblemError, check_folder, load_problem, scaffold
from kernelmill_console.commands.running import Json
from kernelmill_console.errors import ConsoleError
from kernelmill_console.output import PEOPLE, print_json, print_rows
from kernelmill_console.problems import shipped_problems
from kernelmill_console.reach import run_to_end

app = App(name="problem", help="Check a problem's folder, make a new one, list what ships.")


class ProblemRow(BaseModel):
    """One shipped problem."""

    name: str
    rows: int
    seeds: tuple[str, ...]
    baselines: tuple[str, ...]
    configurations: int
    description: str


@app.command(name="list")
def list_problems(*, as_json: Json = False) -> int:
    """List the problems that ship."""
    rows = []
    for name, folder in sorted(shipped_problems().items()):
        problem = load_problem(folder)
        rows.append(
            ProblemRow(
                name=name,
                rows=len(problem.workloads),
                seeds=tuple(problem.seeds),
                baselines=tuple(problem.baselines),
                configurations=sum(seed.configurations for seed in problem.seeds.values()),
                description=problem.definition.description or "",
            )
        )
    columns = [(name, name) for name in ("name", "rows", "seeds", "baselines", "configurations", "description")]
    print_rows(rows, columns, as_json=as_json, empty="no problem was found; name a folder in KERNELMILL_KERNELS")
    return 0


@app.command
def check(folder: Path, /, *, as_json: Json = False) -> int:
    """Say exactly what is wrong with a problem's folder; exit code 1 if a campaign cannot rest on it."""
    found = check_folder(folder)
    errors = [item for item in found if item.severity == "error"]
    if as_json:
        print_json({"folder": str(folder), "ok": not errors, "findings": [vars(item) for item in found]})
        return 1 if errors else 0
    for item in found:
        style = "red" if item.severity == "error" else "yellow"
        PEOPLE.print(f"{item.severity}: {item.where}: {item.message}", style=style, highlight=False, markup=False)
    if not errors:
        PEOPLE.print(f"{folder}: campaigns can rest on it")
    return 1 if errors else 0


@app.command
def new(name: str, /, *, source: str, shape: tuple[str, ...], into: Path | None = None) -> int:
    """Make a problem's folder from a numpy or torch function.

    Parameters
    ----------
    name
        Name of the problem.
    source
        FILE.py:FUNCTION; its parameters become the inputs, its results the outputs.
    shape
        One for each parameter: NAME=LENGTHxLENGTH (float32), NAME=LENGTHxLENGTH:int32, NAME=scalar.
    into
        Folder to make (default: ./NAME).
    """

    async def work() -> int:
        function = _function(source)
        examples = dict(_example(text) for text in shape)
        folder = into or Path(name)
        try:
            files = scaffold(name, function, examples, folder)
        except ProblemError as error:
            raise ConsoleError(str(error)) from error
        for path in files:
            PEOPLE.print(f"{folder / path}")
        PEOPLE.print(f"write {folder}/seeds/naive.c, then run `kernelmill problem check {folder}`")
        return 0

    return run_to_end(work)


def _function(source: str) -> Callable[..., Any]:
    path, separator, name = source.rpartition(":")
    if not separator or not Path(path).is_file():
        raise ConsoleError(f"--source {source}: write FILE.py:FUNCTION with a file that exists")
    spec = importlib.util.spec_from_file_location("kernelmill_user_function", path)
    if spec is None or spec.loader is None:
        raise ConsoleError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ConsoleError(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise ConsoleError(f"{path} has no function '{name}'")
    return function  # type: ignore[no-any-return] # checked to be callable


def _example(text: str) -> tuple[str, Any]:
    name, separator, rest = text.partition("=")
    lengths, _, dtype = rest.partition(":")
    if not separator or not name.isidentifier():
        raise ConsoleError(f"--shape {text}: write NAME=128x512, NAME=128x512:int32 or NAME=scalar")
    try:
        shape = () if lengths == "scalar" else tuple(int(length) for length in lengths.split("x"))
        values = np.random.default_rng(0).standard_normal(shape)
        return name, np.asarray(values).astype(dtype or "float32")
    except (TypeError, ValueError) as error:
        raise ConsoleError(f"--shape {text}: {error}") from error
