"""Problems: what is computed, on which rows, how right it has to be, and what wrong looks like."""

from kernelmill.problems.baselines import BaselineSource
from kernelmill.problems.cases import Case, case_seed, input_digest
from kernelmill.problems.checking import FolderFinding, check_folder
from kernelmill.problems.comparing import Comparison, compare, error_bound, holds_poison, largest_difference
from kernelmill.problems.definition import Definition, Workload
from kernelmill.problems.errors import ExpressionError, ProblemError, ProblemFormatError, UnknownWorkloadError
from kernelmill.problems.expression import evaluate
from kernelmill.problems.folder import load_problem, problem_from_files, read_folder
from kernelmill.problems.problem import Floor, Problem, Reference
from kernelmill.problems.scaffolding import scaffold
from kernelmill.problems.seeds import Seed, Tunable, render
from kernelmill.problems.settings import Settings
from kernelmill.problems.shelf import ProblemShelf
from kernelmill.problems.tensor import TensorSpec
from kernelmill.problems.timed import ProblemRow
from kernelmill.problems.uniform import Uniform, numpy_uniform
from kernelmill.problems.validation import ValidationReport, validate

__all__ = [
    "BaselineSource",
    "Case",
    "Comparison",
    "Definition",
    "ExpressionError",
    "Floor",
    "FolderFinding",
    "Problem",
    "ProblemError",
    "ProblemFormatError",
    "ProblemRow",
    "ProblemShelf",
    "Reference",
    "Seed",
    "Settings",
    "TensorSpec",
    "Tunable",
    "Uniform",
    "UnknownWorkloadError",
    "ValidationReport",
    "Workload",
    "case_seed",
    "check_folder",
    "compare",
    "error_bound",
    "evaluate",
    "holds_poison",
    "input_digest",
    "largest_difference",
    "load_problem",
    "numpy_uniform",
    "problem_from_files",
    "read_folder",
    "render",
    "scaffold",
    "validate",
]
