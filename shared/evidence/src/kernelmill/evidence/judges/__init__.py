"""The judging functions by name. A judge that was ever named by a policy stays here unchanged."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kernelmill.events import Policy
from kernelmill.evidence.gathered import CandidateEvidence
from kernelmill.evidence.judges.judge_v1 import judge_v1
from kernelmill.evidence.verdict import VerdictBody

Judge = Callable[[CandidateEvidence, Policy], VerdictBody | None]

JUDGES: Mapping[str, Judge] = MappingProxyType({"judge-v1": judge_v1})

__all__ = ["JUDGES", "Judge"]
