"""A log that looks like finished campaigns: the kinds, their proportions and their sizes are those of real ones."""

import itertools
import random
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from support.events import BUILD, FINGERPRINT, POLICY, PROBLEM, QUIET, SANDBOXING, at, candidate_id, objective

from kernelmill.events import (
    BenchmarkMeasured,
    BlobRef,
    CampaignClosed,
    CampaignClosing,
    CampaignOpened,
    CandidateProposed,
    CandidateScreened,
    CaseOutcome,
    CompileFailed,
    CompileSucceeded,
    CorrectnessMeasured,
    EventBase,
    ReservationSettled,
    TaskClaimed,
    TaskFinished,
    TaskPlanned,
    VerdictReached,
    VerdictRetracted,
    WorkStarted,
    policy_digest,
)
from kernelmill.identity import command_id

_TASKS = 60
"""Tasks of a campaign, four candidates each."""
_CASES = 14
_TECHNIQUES = ("accumulators", "math-errno", "prefetch", "row-blocking", "streaming-stores", "unroll", "vectors")
_SHOWN = ("intrinsics", "loop-pragmas", "no-math-errno", "prefetch", "restrict", "vector-extensions")
_DISTRIBUTIONS = ("normal", "tiny", "constant", "sorted", "large", "one-hot", "denormal", "spike", "uniform")
_PROBLEMS = ("rmsnorm", "softmax", "swiglu", "rope", "gemm")
_ROWS = ("smollm2-128", "odd-33")


def history(seed: int = 1) -> Iterator[EventBase]:
    """Yield valid events for ever, one campaign after the other."""
    for number in itertools.count():
        yield from _Campaign(number, random.Random(f"{seed}-{number}")).events()  # noqa: S311 - can be repeated


class _Campaign:
    def __init__(self, number: int, chance: random.Random) -> None:
        self._chance = chance
        self._name = f"{_PROBLEMS[number % len(_PROBLEMS)]}-{command_id('campaign', str(number))}"
        self._seconds = number * 3600.0
        self._made = 0
        self._candidates: list[str] = []

    def events(self) -> Iterator[EventBase]:
        opened = {"objective": objective(problem=self._name.partition("-")[0]), "title": "test", "opened_by": "test"}
        yield self._event(CampaignOpened, opened)
        for slot in range(_TASKS):
            yield from self._task(slot)
        yield self._event(CampaignClosing, {"reason": "budget", "detail": "40 of 40 evaluations"})
        closed = {"champion": None, "merkle_root": PROBLEM, "events": 7, "candidates": len(self._candidates)}
        yield self._event(CampaignClosed, closed | {"reason": "budget", "verdicts": {"accepted": 3, "rejected": 90}})

    def _event(self, kind: type[EventBase], content: dict[str, Any]) -> EventBase:
        self._made += 1
        self._seconds += self._chance.uniform(0.01, 2.0)
        identity = {
            "event_id": command_id(self._name, str(self._made)),
            "recorded_at": self._now(),
            "target": "cpu",
            "campaign": self._name,
        }
        return kind.model_validate(identity | content)

    def _now(self) -> datetime:
        return at(self._seconds)

    def _task(self, slot: int) -> Iterator[EventBase]:
        task = command_id(self._name, "task", str(slot))
        reservation = f"task-{task}"
        parents = tuple(self._chance.sample(self._candidates, min(2, len(self._candidates))))
        spent = {"evaluations": 4, "device_seconds": 32.0, "usd": 0.0, "tokens": 0}
        plan = {
            "task": task,
            "slot": slot,
            "role": "generalist",
            "agent": "search",
            "island": slot % 3,
            "parents": parents,
            "direction": {"operator": "explore", "note": "little is known yet"},
            "candidate_cap": 4,
            "trial_cap": 0,
            "memory": {"position": slot, "lessons": ()},
            "reservation": {"reservation": reservation, "amount": spent},
            "deadline": at(self._seconds + 180.0),
        }
        yield self._event(TaskPlanned, plan)
        claim = {"task": task, "holder": "agent-runner-1", "attempt": 1, "lease_until": at(self._seconds + 60.0)}
        yield self._event(TaskClaimed, claim)
        made = [candidate_id(f"{task}-{number}") for number in range(4)]
        for candidate in made:
            yield self._proposal(candidate, task, parents)
        yield self._event(TaskFinished, {"task": task, "attempt": 1, "submitted": tuple(made), "spent": spent})
        for candidate in made:
            yield from self._fate(candidate)
        self._candidates.extend(made)
        yield self._event(ReservationSettled, {"reservation": reservation, "spent": spent})

    def _proposal(self, candidate: str, task: str, parents: tuple[str, ...]) -> EventBase:
        return self._event(
            CandidateProposed,
            {
                "candidate": candidate,
                "task": task,
                "attempt": 1,
                "parents": parents,
                "problem_digest": PROBLEM,
                "files": ({"path": "structured.c", "blob": _blob(candidate, "source", 6024)},),
                "entry": "kernel",
                "build": BUILD.model_copy(update={"flags": ("-O2", "-march=znver3", "-fno-math-errno")}),
                "configuration": {f"KM_{number}": str(self._chance.randrange(9)) for number in range(16)},
                "origin": "structured/explore",
                "hypothesis": "explore: " + ", ".join(f"KM_{name.upper()} 1 -> 4" for name in _TECHNIQUES),
                "techniques": self._some(_TECHNIQUES),
                "author": "search/search-1",
            },
        )

    def _fate(self, candidate: str) -> Iterator[EventBase]:
        yield self._start(candidate, "check")
        yield self._screening(candidate)
        if self._chance.random() < 0.05:
            diagnostics = f"k.c:{self._chance.randrange(99)}:5: error: 'x{self._chance.randrange(9)}' undeclared\n" * 3
            failure = {"stage": "compile", "diagnostics": diagnostics, "timed_out": False, "seconds": 0.1}
            yield self._event(CompileFailed, {"candidate": candidate} | failure)
            yield self._verdict(candidate, "rejected", "compile-failed", None)
            return
        built = {"artifact": _blob(candidate, "artifact", 15200), "toolchain": "gcc 12.2.0; -shared; harness 1"}
        resources = {"text_bytes": float(self._chance.randrange(9999)), "data_bytes": 1379.0}
        yield self._event(CompileSucceeded, {"candidate": candidate, "seconds": 0.25, "resources": resources} | built)
        right = self._chance.random() > 0.08
        yield self._checking(candidate, right=right)
        if not right:
            yield self._verdict(candidate, "rejected", "incorrect", None)
            return
        yield self._start(candidate, "measure")
        gain = self._chance.gauss(0.0, 0.3)
        yield self._timing(candidate, gain)
        decision, reason = ("accepted", "faster") if gain > 0.1 else ("rejected", "not-faster")
        verdict = self._verdict(candidate, decision, reason, gain)
        yield verdict
        if self._chance.random() < 0.01:
            doubt = {"candidate": candidate, "verdict": verdict.event_id, "because": "its node was quarantined"}
            yield self._event(VerdictRetracted, doubt)

    def _start(self, candidate: str, stage: str) -> EventBase:
        return self._event(WorkStarted, {"candidate": candidate, "stage": stage, "node": "n-cpu", "attempt": 1})

    def _screening(self, candidate: str) -> EventBase:
        traits = {"techniques": self._some(_SHOWN), "source_bytes": 6024, "loops": 18, "vector_types": 5}
        content = {"outcome": "passed", "reason": "", "traits": traits, "extractor": "kernelmill-cpu-screen/1 (t1)"}
        return self._event(
            CandidateScreened, {"candidate": candidate, "shape_fingerprint": f"t1:{candidate}"} | content
        )

    def _checking(self, candidate: str, *, right: bool) -> EventBase:
        cases = [self._case(number, passed=right or number > 0) for number in range(_CASES)]
        outcome = {"outcome": "device-passed" if right else "failed", "case_round": 0, "error_scale": 1.0}
        around = {"bitwise_repeatable": True, "sandboxing": SANDBOXING, "seconds": 0.2}
        return self._event(CorrectnessMeasured, {"candidate": candidate, "cases": cases} | outcome | around)

    def _case(self, number: int, *, passed: bool) -> CaseOutcome:
        error = self._chance.random() * 0.1
        return CaseOutcome(
            case=f"case-{number:02}",
            distribution=self._chance.choice(_DISTRIBUTIONS),
            axes={"hidden": self._chance.randrange(1, 2000), "rows": self._chance.randrange(1, 16)},
            outcome="passed" if passed else "wrong",
            worst_error=error if passed else 7.0,
            quantiles=tuple(error * share for share in (0.3, 0.6, 0.9, 0.95)),
            worst_block=error / 2.0,
            repeat_difference=0.0,
            input_digest=candidate_id(f"{error}"),
        )

    def _timing(self, candidate: str, gain: float) -> EventBase:
        rows = [
            {"workload": name, "opponent": "c-o3", "floor_ns": 10527.9, "pairs": [self._pair(gain) for _ in range(4)]}
            for name in _ROWS
        ]
        content = {
            "candidate": candidate,
            "node": "n-cpu",
            "fingerprint": FINGERPRINT,
            "race": (),
            "rows": rows,
            "calls_checked": 368,
            "worst_error": 0.05,
            "dispatch_ns": 222.2,
            "telemetry": QUIET,
            "sandboxing": SANDBOXING,
            "device_seconds": 1.4,
        }
        return self._event(BenchmarkMeasured, content)

    def _pair(self, gain: float) -> dict[str, float]:
        ratio, nanoseconds = gain + self._chance.gauss(0.0, 0.05), self._chance.uniform(2e4, 2e5)
        pair = {"log_ratio": ratio, "mean_log_ratio": ratio * 0.99, "duels": 19, "discarded": 1}
        return pair | {"candidate_ns": nanoseconds, "opponent_ns": nanoseconds * 1.1}

    def _verdict(self, candidate: str, decision: str, reason: str, gain: float | None) -> EventBase:
        effects = []
        if gain is not None:
            interval = {"estimate": 1.0 + gain, "low": 0.9 + gain, "high": 1.1 + gain, "level": 0.875}
            for workload, opponent in (
                ("geometric-mean", "best-baseline"),
                ("worst-row", "best-baseline"),
                *((name, "c-o3") for name in _ROWS),
            ):
                effects.append({"workload": workload, "opponent": opponent, "speedup": interval, "p_value": 0.0625})
        return self._event(
            VerdictReached,
            {
                "candidate": candidate,
                "decision": decision,
                "reason": reason,
                "detail": "geometric-mean: 1.997x [1.567, 2.438] at level 0.875 against best-baseline",
                "effects": effects,
                "policy_digest": policy_digest(POLICY),
                "judge": "judge-v1",
                "evidence": tuple(command_id(candidate, str(number)) for number in range(4)),
            },
        )

    def _some(self, of: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(self._chance.sample(of, self._chance.randint(2, len(of)))))


def _blob(digest: str, blob_class: str, size: int) -> BlobRef:
    return BlobRef.model_validate({"digest": digest, "size": size, "blob_class": blob_class})
