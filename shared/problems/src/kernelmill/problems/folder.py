"""From a folder, or from files that a log holds, to a problem."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from kernelmill.problems.baselines import parse_baselines
from kernelmill.problems.definition import ConstAxis, Definition, Workload
from kernelmill.problems.errors import ProblemFormatError
from kernelmill.problems.expression import evaluate
from kernelmill.problems.problem import Problem
from kernelmill.problems.seeds import parse_seeds
from kernelmill.problems.settings import Settings
from kernelmill.problems.sources import load_functions

_SUFFIXES = frozenset({".json", ".jsonl", ".toml", ".py", ".c", ".h", ".cpp", ".cu", ".md"})


def read_folder(folder: Path) -> dict[str, bytes]:
    """Return the files of a problem's folder by their paths; caches and hidden files stay out.

    Raises:
        ProblemFormatError: there is no such folder.
    """
    if not folder.is_dir():
        raise ProblemFormatError(str(folder), "there is no such folder")
    files = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        hidden = any(part.startswith((".", "__")) for part in relative.parts)
        if path.is_file() and not hidden and path.suffix in _SUFFIXES:
            files[relative.as_posix()] = path.read_bytes()
    return files


def load_problem(folder: Path) -> Problem:
    """Return the problem in a folder.

    Raises:
        ProblemFormatError: a file is missing or wrong; the message names file, field and remedy.
    """
    return problem_from_files(read_folder(folder))


def problem_from_files(files: Mapping[str, bytes]) -> Problem:
    """Return the problem that the files of its folder make.

    Raises:
        ProblemFormatError: a file is missing or wrong.
    """
    definition = _definition(files)
    settings = _settings(files)
    problem = Problem(
        files=dict(files),
        definition=definition,
        workloads=_workloads(files, definition),
        settings=settings,
        baselines=parse_baselines(files),
        seeds=parse_seeds(files),
        functions=load_functions(files, "reference.py", "run", "magnitude"),
    )
    _check_names(problem)
    return problem


def _definition(files: Mapping[str, bytes]) -> Definition:
    path = "definition.json"
    if path not in files:
        raise ProblemFormatError(path, "the file is missing: it says what is computed, on which axes")
    try:
        definition = Definition.model_validate_json(files[path])
    except ValidationError as error:
        raise ProblemFormatError(path, _fields(error)) from error
    for kind, tensors in (("input", definition.inputs), ("output", definition.outputs)):
        for name, tensor in tensors.items():
            for axis in tensor.shape or ():
                if axis not in definition.axes:
                    raise ProblemFormatError(path, f"{kind} {name} has the axis '{axis}', which axes does not declare")
    if not definition.inputs or not definition.outputs:
        raise ProblemFormatError(path, "a problem has at least one input and one output")
    return definition


def _settings(files: Mapping[str, bytes]) -> Settings:
    path = "problem.toml"
    if path not in files:
        raise ProblemFormatError(path, "the file is missing: it holds bound, floor and distributions")
    try:
        settings = Settings.model_validate(tomllib.loads(files[path].decode()))
    except ValidationError as error:
        raise ProblemFormatError(path, _fields(error)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProblemFormatError(path, str(error)) from error
    settings.check(path)
    return settings


def _workloads(files: Mapping[str, bytes], definition: Definition) -> tuple[Workload, ...]:
    path = "workloads.jsonl"
    if path not in files:
        raise ProblemFormatError(path, "the file is missing: one JSON object a line with axes, inputs and uuid")
    var_axes = {name for name, axis in definition.axes.items() if not isinstance(axis, ConstAxis)}
    rows: list[Workload] = []
    for number, line in enumerate(files[path].decode().splitlines(), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            content = json.loads(line)
            row = Workload.model_validate(content.get("workload", content))
        except ValidationError as error:
            raise ProblemFormatError(where, _fields(error)) from error
        except (json.JSONDecodeError, AttributeError) as error:
            raise ProblemFormatError(where, f"not a JSON object: {error}") from error
        if set(row.axes) != var_axes or min(row.axes.values(), default=1) < 1:
            raise ProblemFormatError(where, f"axes have to give a positive length to each of {sorted(var_axes)}")
        if set(row.inputs) != set(definition.inputs):
            raise ProblemFormatError(where, f"inputs have to be exactly {sorted(definition.inputs)}")
        if any(row.uuid == other.uuid for other in rows):
            raise ProblemFormatError(where, f"uuid {row.uuid} is used twice")
        rows.append(row)
    if not rows:
        raise ProblemFormatError(path, "there is no row")
    return tuple(rows)


def _check_names(problem: Problem) -> None:
    path, settings = "problem.toml", problem.settings
    if set(settings.sizes) != set(problem.var_axes):
        raise ProblemFormatError(path, f"[sizes] has to list lengths for exactly {list(problem.var_axes)}")
    named: dict[str | None, str] = {settings.sampling.rows: "[sampling]", settings.sampling.columns: "[sampling]"}
    named.update(dict.fromkeys(settings.derived_axes, "derived_axes"))
    named.update(dict.fromkeys(settings.multiples, "[multiples]"))
    for axis, place in named.items():
        if axis is not None and axis not in problem.var_axes:
            raise ProblemFormatError(path, f"{place} names '{axis}', which is no var axis of the definition")
    ids = {row.uuid for row in problem.workloads}
    for row_id in settings.confirmation_only:
        if row_id not in ids:
            raise ProblemFormatError(path, f"confirmation_only names '{row_id}', which is no row of workloads.jsonl")
    for name in settings.inputs:
        if name not in problem.definition.inputs:
            raise ProblemFormatError(path, f"[inputs.{name}] is no input of the definition")
    _check_rows(problem)


def _check_rows(problem: Problem) -> None:
    for row in problem.workloads:
        for expression in problem.definition.constraints:
            if not evaluate(expression, problem.all_axes(row.axes)):
                raise ProblemFormatError("workloads.jsonl", f"row {row.uuid} does not meet '{expression}'")


def _fields(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, item['loc'])) or 'the file'}: {item['msg']}" for item in error.errors())
