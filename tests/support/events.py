"""Short ways to make valid events."""

from datetime import UTC, datetime, timedelta
from typing import Any

from kernelmill.events import (
    BenchmarkMeasured,
    BlobRef,
    Budget,
    BuildOptions,
    CampaignOpened,
    CampaignPaused,
    CandidateProposed,
    CandidateScreened,
    CaseOutcome,
    CompileSucceeded,
    CorrectnessMeasured,
    Objective,
    PairScore,
    Policy,
    RowEffect,
    Sandboxing,
    SourceFile,
    Telemetry,
    Traits,
    policy_digest,
)
from kernelmill.identity import digest_bytes

START = datetime(2026, 12, 1, 6, 0, tzinfo=UTC)
POLICY = Policy()
PROBLEM = digest_bytes(b"problem")
FINGERPRINT = digest_bytes(b"fingerprint")
SANDBOXING = Sandboxing(freeze="cgroup-v2", layers=("uid",))
QUIET = Telemetry(load_1m=0.1, steal_fraction=0.0, migrations=0, frequency_mhz=3000.0)
BUILD = BuildOptions(flags=("-O3",))


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def candidate_id(name: str) -> str:
    return digest_bytes(name.encode())


def objective(**changes: Any) -> Objective:
    content: dict[str, Any] = {
        "problem": "rmsnorm",
        "problem_digest": PROBLEM,
        "target": "cpu",
        "workloads": ("small", "large"),
        "baselines": ("numpy", "c"),
        "policy_digest": policy_digest(POLICY),
        "budget": Budget(evaluations=40, wall_seconds=600.0),
        "seed": 1,
    }
    return Objective.model_validate(content | changes)


def opened(campaign: str = "c1", **changes: Any) -> CampaignOpened:
    return CampaignOpened(
        event_id=f"opened-{campaign}",
        recorded_at=START,
        target="cpu",
        campaign=campaign,
        objective=objective(**changes),
        title="test",
        opened_by="test",
    )


def paused(number: int, campaign: str = "c1", because: str = "") -> CampaignPaused:
    return CampaignPaused(
        event_id=f"paused-{campaign}-{number}",
        recorded_at=at(number),
        target="cpu",
        campaign=campaign,
        because=because or str(number),
    )


def address(name: str, kind: str, campaign: str = "c1", seconds: float = 0.0) -> dict[str, Any]:
    candidate = candidate_id(name)
    return {
        "event_id": f"{kind}-{campaign}-{candidate[:16]}",
        "recorded_at": at(seconds),
        "target": "cpu",
        "campaign": campaign,
        "candidate": candidate,
    }


def proposed(name: str, *, task: str | None = None, parents: tuple[str, ...] = (), **changes: Any) -> CandidateProposed:
    content = address(name, "CandidateProposed") | {
        "task": task,
        "attempt": 1,
        "parents": tuple(candidate_id(parent) for parent in parents),
        "problem_digest": PROBLEM,
        "files": (SourceFile(path="k.c", blob=BlobRef(digest=candidate_id(name), size=1, blob_class="source")),),
        "entry": "kernel",
        "build": BUILD,
        "origin": "structured/tune",
        "author": "search/search-1",
    }
    return CandidateProposed.model_validate(content | changes)


def screened(name: str, outcome: str = "passed", techniques: tuple[str, ...] = ()) -> CandidateScreened:
    return CandidateScreened.model_validate(
        address(name, "CandidateScreened")
        | {
            "outcome": outcome,
            "reason": "" if outcome == "passed" else "a reason",
            "traits": Traits(techniques=techniques, source_bytes=10, loops=1, vector_types=0),
            "shape_fingerprint": "v1-x",
            "extractor": "v1",
        }
    )


def compiled(name: str) -> CompileSucceeded:
    blob = BlobRef(digest=candidate_id(name), size=1, blob_class="artifact")
    return CompileSucceeded.model_validate(
        address(name, "CompileSucceeded") | {"artifact": blob, "toolchain": "gcc", "seconds": 0.1, "resources": {}}
    )


def case(outcome: str = "passed", error: float | None = 0.5) -> CaseOutcome:
    return CaseOutcome.model_validate(
        {
            "case": "case-00",
            "distribution": "normal",
            "axes": {"rows": 1},
            "outcome": outcome,
            "worst_error": error,
            "input_digest": PROBLEM,
        }
    )


def checked(name: str, *, passed: bool = True) -> CorrectnessMeasured:
    return CorrectnessMeasured.model_validate(
        address(name, "CorrectnessMeasured")
        | {
            "outcome": "device-passed" if passed else "failed",
            "case_round": 0,
            "error_scale": 1.0,
            "cases": (case() if passed else case("wrong", 7.0),),
            "bitwise_repeatable": True,
            "sandboxing": SANDBOXING,
            "seconds": 0.1,
        }
    )


def pair(log_ratio: float, opponent_ns: float = 1000.0) -> PairScore:
    return PairScore(
        log_ratio=log_ratio, mean_log_ratio=log_ratio, duels=20, candidate_ns=900.0, opponent_ns=opponent_ns
    )


def row(workload: str, ratios: tuple[float, ...], opponent: str = "c", *, stopped_early: bool = False) -> RowEffect:
    pairs = tuple(pair(ratio) for ratio in ratios)
    return RowEffect(workload=workload, opponent=opponent, pairs=pairs, stopped_early=stopped_early)


def measured(name: str, ratio: float, **changes: Any) -> BenchmarkMeasured:
    ratios = tuple(ratio + step for step in (-0.004, -0.001, 0.001, 0.004))
    content = address(name, "BenchmarkMeasured") | {
        "node": "n-cpu",
        "fingerprint": FINGERPRINT,
        "race": (),
        "rows": (row("small", ratios), row("large", ratios)),
        "calls_checked": 10,
        "worst_error": 0.5,
        "dispatch_ns": 5.0,
        "telemetry": QUIET,
        "sandboxing": SANDBOXING,
        "device_seconds": 1.0,
    }
    return BenchmarkMeasured.model_validate(content | changes)
