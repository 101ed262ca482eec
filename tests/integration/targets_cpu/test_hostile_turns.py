"""Hostile kernels while they are timed: work outside the turn, unfinished outputs, tampering, time-outs."""

import os
from collections.abc import Callable

import pytest
from contract.target_contract import DoublingRow

from kernelmill.targets.cpu import CpuTarget
from kernelmill.targets.port import Artifact, CandidateFault, InfrastructureFault, Limits, PairMeasured, PairPlan

Build = Callable[..., Artifact]
ROW = DoublingRow()
SIGNATURE = "void kernel(const float *x, float *y, long n)"
DOUBLE = "for (long i = 0; i < n; i++) y[i] = 2 * x[i];"
HONEST = f"{SIGNATURE} {{ {DOUBLE} }}\n"
THREADED = Limits(threads=2)


def plan() -> PairPlan:
    return PairPlan(duels=8, seed=os.urandom(16))


def timed(
    target: CpuTarget, candidate: Artifact, opponent: Artifact, limits: Limits | None = None
) -> PairMeasured | CandidateFault | InfrastructureFault:
    return target.time_pair(candidate, opponent, ROW, plan(), limits or Limits())


def test_threads_that_work_on_find_their_outputs_unfinished(target: CpuTarget, build: Build) -> None:
    source = f"""
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
static struct {{ const float *x; float *y; long n; }} job;
static sem_t ready;
static int started;
static void *later(void *p) {{
    for (;;) {{ sem_wait(&ready); for (volatile int i = 0; i < 20000; i++) {{}}
        const float *x = job.x; float *y = job.y; for (long i = 0; i < job.n; i++) y[i] = 2 * x[i]; }}
    return p;
}}
{SIGNATURE} {{
    pthread_t thread;
    if (!started) {{ started = 1; sem_init(&ready, 0, 0); pthread_create(&thread, 0, later, 0); }}
    job.x = x; job.y = y; job.n = n; sem_post(&ready);
}}
"""
    outcome = timed(target, build(source, "-O2", "-fopenmp"), build(HONEST), THREADED)
    assert isinstance(outcome, CandidateFault), outcome
    assert (outcome.side, outcome.reason) == ("candidate", "unfinished")


def test_a_busy_thread_stands_still_while_the_other_side_has_its_turn(target: CpuTarget, build: Build) -> None:
    source = f"""
#include <pthread.h>
static volatile unsigned long spins;
static int started;
static void *busy(void *p) {{ for (;;) spins++; return p; }}
{SIGNATURE} {{
    pthread_t thread;
    if (!started) {{ started = 1; pthread_create(&thread, 0, busy, 0); }}
    {DOUBLE}
}}
"""
    outcome = timed(target, build(source, "-O2"), build(HONEST), THREADED)
    if target.sandboxing().freeze == "self-stop":
        assert isinstance(outcome, PairMeasured | CandidateFault), outcome
        return
    # Frozen groups stand still as a whole, so the thread only disturbs its own side.
    assert isinstance(outcome, PairMeasured), outcome


def test_an_unfinished_slot_in_one_late_batch_is_found(target: CpuTarget, build: Build) -> None:
    late = "long m = ++calls == 10 ? n - 8 : n; for (long i = 0; i < m; i++) y[i] = 2 * x[i];"
    source = f"static int calls;\n{SIGNATURE} {{ {late} }}\n"
    outcome = timed(target, build(source), build(HONEST))
    assert isinstance(outcome, CandidateFault), outcome
    assert outcome.reason == "unfinished"
    assert "output y" in outcome.detail


def test_answers_of_the_call_before_are_wrong(target: CpuTarget, build: Build) -> None:
    source = f"""#include <string.h>
static float kept[4096];
static int filled;
{SIGNATURE} {{ if (!filled) {{ {DOUBLE} memcpy(kept, y, sizeof kept); filled = 1; }} memcpy(y, kept, sizeof kept); }}
"""
    outcome = timed(target, build(source), build(HONEST))
    assert isinstance(outcome, CandidateFault), outcome
    assert outcome.reason == "wrong"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("__builtin_ia32_ldmxcsr(0x9fc0);", "state-changed"),
        ("*(volatile float *)x = 1;", "input-changed"),
        ("*(volatile int *)8 = 1;", "crashed"),
        ("_exit(0);", "crashed"),
        ("for (int i = 3; i < 256; i++) close(i);", "crashed"),
    ],
)
def test_misbehaviour_in_a_late_call_has_a_name(target: CpuTarget, build: Build, body: str, reason: str) -> None:
    source = f"#include <unistd.h>\nstatic int calls;\n{SIGNATURE} {{ {DOUBLE} if (++calls == 10) {{ {body} }} }}\n"
    outcome = timed(target, build(source, "-O1", "-w"), build(HONEST))
    assert isinstance(outcome, CandidateFault), outcome
    assert (outcome.side, outcome.reason) == ("candidate", reason)


def test_an_endless_call_counts_because_the_opponent_passes_the_same_limit(target: CpuTarget, build: Build) -> None:
    source = f"static int calls;\n{SIGNATURE} {{ {DOUBLE} while (++calls > 40) {{}} }}\n"
    outcome = timed(target, build(source, "-O1"), build(HONEST), Limits(wall_seconds=0.3))
    assert isinstance(outcome, CandidateFault), outcome
    assert (outcome.side, outcome.reason) == ("candidate", "timed-out")


def test_what_is_right_only_on_easy_inputs_is_found_while_it_is_timed(target: CpuTarget, build: Build) -> None:
    # The contract's row plants an element of 100 among elements below 1.
    source = f"static int calls;\n{SIGNATURE} {{ {DOUBLE} if (++calls > 8) {{ CLAMP }} }}\n"
    clamp = "for (long i = 0; i < n; i++) y[i] = x[i] > 50 ? 0 : y[i];"
    outcome = timed(target, build(source.replace("CLAMP", clamp)), build(HONEST))
    assert isinstance(outcome, CandidateFault), outcome
    assert outcome.reason == "wrong"


@pytest.mark.parametrize("place", ["n", "n + 7", "-1"])
def test_writing_beyond_an_output_is_wrong_however_right_the_output(
    target: CpuTarget, build: Build, place: str
) -> None:
    source = f"static int calls;\n{SIGNATURE} {{ {DOUBLE} if (++calls > 60) y[{place}] = 0; }}\n"
    outcome = timed(target, build(source), build(HONEST))
    assert isinstance(outcome, CandidateFault), outcome
    assert (outcome.side, outcome.reason) == ("candidate", "wrong")
    assert "beyond" in outcome.detail


def test_sleeping_through_a_pair_is_the_sleepers_own_fault(target: CpuTarget, build: Build) -> None:
    source = f"#include <unistd.h>\nstatic int calls;\n{SIGNATURE} {{ {DOUBLE} if (++calls > 8) usleep(300000); }}\n"
    hurried = PairPlan(duels=8, seed=os.urandom(16), deadline_seconds=1.0)
    outcome = target.time_pair(build(source, "-O1"), build(HONEST), ROW, hurried, Limits())
    assert isinstance(outcome, CandidateFault), outcome
    assert (outcome.side, outcome.reason) == ("candidate", "timed-out")


def test_streaming_stores_need_no_fence_of_their_own(target: CpuTarget, build: Build) -> None:
    source = f"""#include <immintrin.h>
{SIGNATURE} {{
    for (long i = 0; i < n; i += 4) _mm_stream_ps(y + i, _mm_mul_ps(_mm_set1_ps(2), _mm_loadu_ps(x + i)));
}}
"""
    outcome = timed(target, build(source), build(HONEST))
    assert isinstance(outcome, PairMeasured | InfrastructureFault), outcome


def test_a_limit_that_nobody_passes_is_a_fault_of_the_machinery(target: CpuTarget, build: Build) -> None:
    slow = build(f"{SIGNATURE} {{ for (volatile long i = 0; i < 300000000; i++) {{}} {DOUBLE} }}\n", "-O1")
    outcome = timed(target, slow, slow, Limits(wall_seconds=0.05))
    assert isinstance(outcome, InfrastructureFault), outcome


def test_clearly_faster_code_scores_above_zero(target: CpuTarget, build: Build) -> None:
    slow = build(
        f'{SIGNATURE} {{ for (int k = 0; k < 4; k++) {{ __asm__ volatile("" ::: "memory"); {DOUBLE} }} }}\n', "-O2"
    )
    outcome = timed(target, build(HONEST, "-O2"), slow)
    if isinstance(outcome, InfrastructureFault):
        outcome = timed(target, build(HONEST, "-O2"), slow)
    assert isinstance(outcome, PairMeasured), outcome
    assert outcome.score.log_ratio > 0.2
    assert outcome.single_call_ns > 0


@pytest.mark.parametrize("metric", ["warm-throughput", "cold-throughput", "single-latency"])
def test_every_metric_is_timed(target: CpuTarget, build: Build, metric: str) -> None:
    artifact = build(HONEST)
    many = PairPlan(duels=4, seed=os.urandom(16), metric=metric)
    outcome = target.time_pair(artifact, artifact, ROW, many, Limits())
    if isinstance(outcome, InfrastructureFault):
        outcome = target.time_pair(artifact, artifact, ROW, many, Limits())
    assert isinstance(outcome, PairMeasured), outcome
