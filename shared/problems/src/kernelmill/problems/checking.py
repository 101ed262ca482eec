"""Checks a user's own folder and says exactly what is wrong with it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kernelmill.problems.consistency import unchecked_constraints
from kernelmill.problems.errors import ExpressionError, ProblemFormatError
from kernelmill.problems.folder import load_problem
from kernelmill.problems.problem import Problem
from kernelmill.problems.scaffolding import UNWRITTEN
from kernelmill.problems.solutions import MUTANTS
from kernelmill.problems.validation import validate

_ROWS_WANTED = 6


@dataclass(frozen=True)
class FolderFinding:
    """One thing to mend, or to know."""

    severity: Literal["error", "warning"]
    where: str
    """File, with a line where one is known."""
    message: str
    """What is wrong and what to do."""


def check_folder(folder: Path) -> list[FolderFinding]:
    """Return everything that is wrong with a problem's folder; no error means that campaigns can rest on it."""
    try:
        problem = load_problem(folder)
    except ProblemFormatError as error:
        return [FolderFinding("error", error.path, error.message)]
    found = _expressions(problem)
    if found:
        return found
    found += _seeds(problem)
    if len(problem.workloads) < _ROWS_WANTED:
        message = (
            f"{len(problem.workloads)} rows are few: small, typical, large and odd ones make {_ROWS_WANTED} or more"
        )
        found.append(FolderFinding("warning", "workloads.jsonl", message))
    if "numpy" not in problem.baselines:
        message = "there is no baseline 'numpy': an exported champion has nothing to fall back on"
        found.append(FolderFinding("error", "baselines/baselines.toml", message))
    try:
        report = validate(problem)
    except ProblemFormatError as error:
        return [*found, FolderFinding("error", error.path, error.message)]
    if not report.valid:
        found.append(FolderFinding("error", "problem.toml", report.detail))
    for text in unchecked_constraints(problem):
        message = f"the constraint '{text}' is no expression over axes and is not checked"
        found.append(FolderFinding("warning", "definition.json", message))
    if MUTANTS not in problem.files:
        message = (
            "no plausible mutants: write the mistakes that look right (a term dropped, an epsilon omitted) as functions"
        )
        found.append(FolderFinding("warning", MUTANTS, message))
    return found


def _expressions(problem: Problem) -> list[FolderFinding]:
    found = []
    for row in problem.workloads:
        try:
            floor = problem.floor(row.axes)
            problem.reduction_length(row.axes)
        except ExpressionError as error:
            found.append(FolderFinding("error", "problem.toml", str(error)))
            break
        if floor.bytes < 1:
            message = f"[floor] bytes is {floor.bytes} for row {row.uuid}: every call moves its inputs and outputs"
            found.append(FolderFinding("error", "problem.toml", message))
            break
    return found


def _seeds(problem: Problem) -> list[FolderFinding]:
    if not problem.seeds:
        return [FolderFinding("error", "seeds/", "there is no seed: the search agent has nothing to start from")]
    return [
        FolderFinding(
            "error", f"seeds/{path}", "the kernel is not written yet: fill in its body and remove the #error line"
        )
        for seed in problem.seeds.values()
        for path, data in seed.files.items()
        if UNWRITTEN.encode() in data
    ]
