"""From a folder, or from files that a log holds, to a problem."""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from kernelmill.problems.baselines import parse_baselines
from kernelmill.problems.consistency import check_consistency
from kernelmill.problems.declared import read_toml
from kernelmill.problems.definition import UNSUPPORTED, ConstAxis, Definition, Workload
from kernelmill.problems.errors import ProblemFormatError, fields_of
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
    check_consistency(problem)
    return problem


def _definition(files: Mapping[str, bytes]) -> Definition:
    path = "definition.json"
    if path not in files:
        raise ProblemFormatError(path, "the file is missing: it says what is computed, on which axes")
    try:
        definition = Definition.model_validate_json(files[path])
    except ValidationError as error:
        raise ProblemFormatError(path, fields_of(error)) from error
    for kind, tensors in (("input", definition.inputs), ("output", definition.outputs)):
        for name, tensor in tensors.items():
            if tensor.dtype in UNSUPPORTED:
                message = f"{kind} {name} is {tensor.dtype}, which no target here computes with yet: use float32"
                raise ProblemFormatError(path, message)
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
    settings = read_toml(Settings, files, path)
    settings.check(path)
    return settings


def _workloads(files: Mapping[str, bytes], definition: Definition) -> tuple[Workload, ...]:
    path = "workloads.jsonl"
    if path not in files:
        raise ProblemFormatError(path, "the file is missing: one JSON object a line with axes, inputs and uuid")
    try:
        lines = files[path].decode().splitlines()
    except UnicodeDecodeError as error:
        raise ProblemFormatError(path, f"it is not UTF-8: {error}") from error
    rows: dict[str, Workload] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            row = _workload(line, f"{path}:{number}", definition)
            if row.uuid in rows:
                raise ProblemFormatError(f"{path}:{number}", f"uuid {row.uuid} is used twice")
            rows[row.uuid] = row
    if not rows:
        raise ProblemFormatError(path, "there is no row")
    return tuple(rows.values())


def _workload(line: str, where: str, definition: Definition) -> Workload:
    try:
        content = json.loads(line)
        # The ecosystem's files hold traces, whose workload is one field.
        row = Workload.model_validate(content.get("workload", content))
    except ValidationError as error:
        raise ProblemFormatError(where, fields_of(error)) from error
    except (json.JSONDecodeError, AttributeError) as error:
        raise ProblemFormatError(where, f"not a JSON object: {error}") from error
    var_axes = {name for name, axis in definition.axes.items() if not isinstance(axis, ConstAxis)}
    if set(row.axes) != var_axes or min(row.axes.values(), default=1) < 1:
        raise ProblemFormatError(where, f"axes have to give a positive length to each of {sorted(var_axes)}")
    if set(row.inputs) != set(definition.inputs):
        raise ProblemFormatError(where, f"inputs have to be exactly {sorted(definition.inputs)}")
    stored = [name for name, made in row.inputs.items() if made.type == "safetensors"]
    if stored:
        message = f"inputs from safetensors files ({', '.join(stored)}) cannot be read yet: use random or scalar"
        raise ProblemFormatError(where, message)
    return row
