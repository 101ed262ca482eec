"""The port behind which every target stands: fingerprint, screen, compile, check, race."""

from kernelmill.problems import TensorSpec
from kernelmill.targets.port.checking import REPEAT_SHARE, CheckedCases, CheckRules, run_cases
from kernelmill.targets.port.outcomes import (
    Artifact,
    CallResult,
    CandidateFault,
    CompileFailure,
    InfrastructureFault,
    PairMeasured,
    PairPlan,
    Screening,
)
from kernelmill.targets.port.port import Session, Target, TimedRow
from kernelmill.targets.port.program import Call, Limits, Program, program_of
from kernelmill.targets.port.registry import UnknownTargetError, load_target, target_names

__all__ = [
    "REPEAT_SHARE",
    "Artifact",
    "Call",
    "CallResult",
    "CandidateFault",
    "CheckRules",
    "CheckedCases",
    "CompileFailure",
    "InfrastructureFault",
    "Limits",
    "PairMeasured",
    "PairPlan",
    "Program",
    "Screening",
    "Session",
    "Target",
    "TensorSpec",
    "TimedRow",
    "UnknownTargetError",
    "load_target",
    "program_of",
    "run_cases",
    "target_names",
]
