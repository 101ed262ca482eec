"""A short history of candidates that were judged, and events that change what is remembered of them."""

from typing import Any

from kernelmill.events import CompileFailed, VerdictReached, VerdictRetracted, policy_digest
from kernelmill.evidence import recompute
from support.events import POLICY, address, checked, measured, opened, proposed, screened


def judged(name: str, ratio: float) -> VerdictReached:
    body = recompute([checked(name), measured(name, ratio)], POLICY)
    assert body is not None
    return VerdictReached.model_validate(
        address(name, "VerdictReached")
        | {
            "decision": body.decision,
            "reason": body.reason,
            "detail": body.detail,
            "effects": body.effects,
            "policy_digest": policy_digest(POLICY),
            "judge": "judge-v1",
            "evidence": body.evidence,
        }
    )


def retracted(name: str) -> VerdictRetracted:
    return VerdictRetracted.model_validate(
        address(name, "VerdictRetracted") | {"verdict": judged(name, 0.1).event_id, "because": "a mistake"}
    )


HISTORY: list[Any] = [
    opened(),
    proposed("a", techniques=("vectors",)),
    screened("a", techniques=("prefetch",)),
    judged("a", 0.1),
    proposed("b", parents=("a",), techniques=("vectors", "unroll")),
    judged("b", 0.2),
    proposed("c", parents=("a",), techniques=("vectors", "unroll")),
    CompileFailed.model_validate(
        address("c", "CompileFailed")
        | {"stage": "compile", "diagnostics": "k.c:12:5: error: 'x7' undeclared", "timed_out": False, "seconds": 0.1}
    ),
    proposed("d", parents=("c",)),
    judged("d", 0.3),
    proposed("e"),
    checked("e", passed=False),
]
