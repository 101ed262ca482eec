"""Every C baseline and every value of every seed's tunables computes what the problem says, through the real target."""

import random
from pathlib import Path

import pytest

from kernelmill.events import BuildOptions
from kernelmill.problems import Problem, Seed, load_problem, render
from kernelmill.targets.port import Artifact, CheckRules, Limits, Program, Target, load_target, run_cases

KERNELS = Path(__file__).parents[3] / "kernels"
NAMES = ["gemm", "rmsnorm", "rope", "softmax", "swiglu"]


@pytest.fixture(scope="module")
def target() -> Target:
    return load_target("cpu")


@pytest.fixture(scope="module", params=NAMES)
def problem(request: pytest.FixtureRequest) -> Problem:
    return load_problem(KERNELS / request.param)


def covering(seed: Seed, draw: random.Random) -> list[dict[str, int]]:
    """Return valid configurations in which every value of every tunable appears."""
    missing = {(tunable.name, value) for tunable in seed.tunables for value in tunable.values}
    found: list[dict[str, int]] = []
    tries = 0
    while missing and tries < 20_000:
        tries += 1
        configuration = {tunable.name: draw.choice(tunable.values) for tunable in seed.tunables}
        # Ask for as many missing values at once as the constraints allow.
        for name, value in sorted(missing):
            wished = configuration | {name: value}
            if seed.valid(wished):
                configuration = wished
        news = missing & set(configuration.items())
        if news and seed.valid(configuration):
            found.append(configuration)
            missing -= news
    assert not missing, f"no valid configuration has {sorted(missing)}"
    return found


def wrong_cases(target: Target, problem: Problem, program: Program) -> list[str]:
    artifact = target.compile(program)
    if not isinstance(artifact, Artifact):
        return [artifact.diagnostics]
    secret = b"sources compute what they should"
    checked = run_cases(target, artifact, problem, problem.cases(secret, "sources", 0), Limits(), CheckRules())
    assert checked.outcomes
    return [
        f"{item.outcome} on {item.distribution} {item.axes}: element {item.worst_error}, block {item.worst_block}"
        for item in checked.outcomes
        if item.outcome != "passed"
    ]


def test_every_value_of_every_tunable_is_right(target: Target, problem: Problem) -> None:
    draw = random.Random(problem.name)  # noqa: S311 - which combinations are tried is no secret
    wrong = []
    for seed in problem.seeds.values():
        for number, configuration in enumerate(covering(seed, draw) if seed.tunables else [{}]):
            build = target.resolve(BuildOptions(flags=seed.flag_sets[number % len(seed.flag_sets)]))
            program = Program(render(seed, configuration), seed.entry, build)
            assert target.screen(program, finite_inputs=problem.settings.finite_inputs).accepted
            wrong += [f"{seed.name} {configuration}: {text}" for text in wrong_cases(target, problem, program)]
    assert not wrong, "\n".join(wrong)


def test_c_baselines_are_right(target: Target, problem: Problem) -> None:
    compilers = target.capabilities()["compilers"]
    wrong = []
    for baseline in problem.baselines.values():
        builds = [build for build in baseline.sweep if build.compiler in compilers]
        # The last settings of a sweep are the most daring.
        for build in builds[:1] + builds[-1:] if baseline.kind == "c" else []:
            program = Program(baseline.files, baseline.entry, target.resolve(build), "c", baseline.link)
            wrong += [f"{baseline.name} {build.flags}: {text}" for text in wrong_cases(target, problem, program)]
    assert not wrong, "\n".join(wrong)
