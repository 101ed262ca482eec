"""The doctor names what weakens evidence, and what to do about it."""

from typing import Any

from support.events import FINGERPRINT, SANDBOXING, START

from kernelmill.events import NodeCalibrated, NodeJoined
from kernelmill_console.domain.doctor import diagnose

FACTS = {"model": "EPYC", "cores": "8", "bench-cores": "7", "reserved": "true", "governor": "performance"}
ALL_LAYERS = ("landlock", "namespaces", "rlimits", "seccomp", "uid")


def joined(facts: dict[str, str], **sandboxing: Any) -> NodeJoined:
    return NodeJoined.model_validate(
        {
            "event_id": "j",
            "recorded_at": START,
            "target": "cpu",
            "node": "n-cpu",
            "fingerprint": {"digest": FINGERPRINT, "facts": facts},
            "capabilities": {},
            "sandboxing": SANDBOXING.model_copy(update={"layers": ALL_LAYERS, "freeze": "cgroup-v2"} | sandboxing),
        }
    )


def calibrated(outcome: str, sd: float) -> NodeCalibrated:
    return NodeCalibrated.model_validate(
        {
            "event_id": "c",
            "recorded_at": START,
            "target": "cpu",
            "node": "n-cpu",
            "outcome": outcome,
            "pair_sd": sd,
            "pair_bias": 0.001,
            "pairs": 10,
            "dispatch_ns": 60.0,
            "ceilings": {"read-write-1MiB": 2e10},
        }
    )


def levels(node: NodeJoined, calibration: NodeCalibrated | None) -> dict[str, str]:
    return {finding.about: finding.level for finding in diagnose(node, calibration)}


def test_a_good_machine_has_nothing_to_complain_about() -> None:
    facts = FACTS | {"compiler-gcc": "gcc 12", "compiler-clang": "clang 14"}
    assert set(levels(joined(facts), calibrated("good", 0.02)).values()) == {"good"}


def test_each_weakness_is_named() -> None:
    weak = joined(FACTS | {"reserved": "false", "governor": "powersave"}, layers=("rlimits",), freeze="self-stop")
    found = levels(weak, calibrated("failed", 0.3))
    assert {about for about, level in found.items() if level == "bad"} == {
        "gcc",
        "clang",
        "sandbox: landlock",
        "sandbox: namespaces",
        "sandbox: seccomp",
        "sandbox: uid",
        "noise",
    }
    assert {about for about, level in found.items() if level == "warning"} == {"cores", "clock", "freezing"}
    assert levels(weak, None)["noise"] == "bad"
    assert levels(weak, calibrated("good", 0.1))["noise"] == "warning"
