"""The pipeline against bare compile, check and timing of the same candidates on the same machine."""

import argparse
import secrets
import time

from figures import problem_of, run, run_campaign, running

from kernelmill.bus import read_sources
from kernelmill.evidence import default_policy
from kernelmill.targets.port import CheckRules, Limits, load_target, program_of, run_cases
from kernelmill_gpu_bench.device import Device
from kernelmill_gpu_bench.domain.plan import Duelists, MeasurementPlan
from kernelmill_gpu_bench.measuring import Field, measure


async def main(evaluations: int) -> None:
    problem = problem_of("rmsnorm")
    content = {
        "seed": 5,
        "budget": {"evaluations": evaluations, "minutes": 20},
        "workloads": ("smollm2-128", "odd-33"),
        "baselines": ("c-o3",),
        # Nothing is accepted, so nothing is confirmed: a candidate costs its check and its timing.
        "policy": {"accept_speedup": 100.0},
    }
    async with running() as bus:
        records = await run_campaign(bus, problem, content)
        proposals = [record.event for record in records if record.event.kind == "CandidateProposed"]
        programs = {
            event.candidate: program_of(event, await read_sources(bus.blobs, event.files)) for event in proposals
        }
    started = {r.event.candidate: r.event.recorded_at for r in records if r.event.kind == "CandidateProposed"}
    ended = {r.event.candidate: r.event.recorded_at for r in records if r.event.kind == "VerdictReached"}
    counted = list(ended)
    span = (max(ended[item] for item in counted) - min(started.values())).total_seconds()
    target = load_target("cpu")
    device, policy = Device(target), default_policy()
    secret = secrets.token_bytes(32)
    rows = tuple(Duelists(row, "c-o3") for row in content["workloads"])
    source = problem.baselines["c-o3"]
    opponents = dict.fromkeys(rows, device.baseline_program(source, source.sweep[0]))
    began = time.monotonic()
    for candidate in counted:
        program = programs[candidate]
        artifact = target.compile(program, layout_seed=secrets.token_bytes(16))
        run_cases(target, artifact, problem, problem.cases(secret, candidate, 0), Limits(), CheckRules())
        field = Field(problem, program, opponents, Limits(), 1.0, "warm-throughput", {})
        measure(device, field, MeasurementPlan(None, rows), policy)
    bare = time.monotonic() - began
    print(f"{len(counted)} candidates: pipeline {span:.1f} s, bare one after the other {bare:.1f} s")
    print(f"ratio {span / bare:.2f}; the pipeline checks and times at once, so below 1 is possible")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluations", type=int, default=40)
    run(main(parser.parse_args().evaluations))
