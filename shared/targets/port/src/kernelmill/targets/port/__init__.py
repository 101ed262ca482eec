"""The port behind which every target stands: fingerprint, screen, compile, check, race."""

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
from kernelmill.targets.port.program import Call, Limits, Program, TensorSpec
from kernelmill.targets.port.registry import UnknownTargetError, load_target, target_names

__all__ = [
    "Artifact",
    "Call",
    "CallResult",
    "CandidateFault",
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
    "target_names",
]
