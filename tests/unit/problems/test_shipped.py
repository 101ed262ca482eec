"""The problems that ship: valid, sharp, and of the promised size."""

from pathlib import Path

import numpy as np
import pytest

from kernelmill.problems import Problem, check_folder, input_digest, load_problem, problem_from_files, render, validate

KERNELS = Path(__file__).parents[3] / "kernels"
NAMES = ["gemm", "rmsnorm", "rope", "softmax", "swiglu"]


@pytest.fixture(params=NAMES)
def problem(request: pytest.FixtureRequest) -> Problem:
    return load_problem(KERNELS / request.param)


def test_the_suite_is_complete() -> None:
    assert sorted(path.parent.name for path in KERNELS.glob("*/definition.json")) == NAMES


def test_a_folder_passes_its_own_check(problem: Problem) -> None:
    assert check_folder(KERNELS / problem.name) == []


def test_null_solutions_and_mutants_fail_twofold_and_honest_ones_pass(problem: Problem) -> None:
    report = validate(problem)
    assert report.valid, report.detail
    assert len(report.failed) >= 11
    assert min(report.failed.values()) >= 2.0
    assert report.passed
    assert max(report.passed.values()) <= 1.0


def test_rows_and_seeds_have_the_promised_size(problem: Problem) -> None:
    assert len(problem.timed_workloads) >= 6
    structures = {seed.structure for seed in problem.seeds.values()}
    assert structures == {"naive", "structured"}
    assert max(seed.configurations for seed in problem.seeds.values()) >= 10_000


def test_a_problem_survives_the_log(problem: Problem) -> None:
    again = problem_from_files(dict(problem.files))
    assert again.digest == problem.digest
    assert again.definition == problem.definition


def test_cases_follow_from_secret_subject_and_round_alone(problem: Problem) -> None:
    def digests(secret: bytes, subject: str, case_round: int) -> list[str]:
        return [input_digest(case.inputs(problem)) for case in problem.cases(secret, subject, case_round)]

    first = digests(b"s" * 32, "candidate", 1)
    assert first == digests(b"s" * 32, "candidate", 1)
    for other in (
        digests(b"t" * 32, "candidate", 1),
        digests(b"s" * 32, "other", 1),
        digests(b"s" * 32, "candidate", 2),
    ):
        # One element of an input without randomness can come out equal; nothing more may.
        assert len(set(first) & set(other)) <= 1


def test_every_round_has_every_distribution(problem: Problem) -> None:
    cases = problem.cases(b"s" * 32, "candidate", 0)
    assert {case.distribution for case in cases} == set(problem.settings.distributions)
    assert len({case.id for case in cases}) == len(cases)


def test_timed_rows_are_filled_afresh_and_checked(problem: Problem) -> None:
    row = problem.timed_row(problem.timed_workloads[0].uuid)
    inputs = {spec.name: np.empty(spec.shape, spec.dtype) for spec in row.inputs}
    row.fill(inputs, b"seed one 16 bytes")
    first = {name: array.copy() for name, array in inputs.items()}
    row.fill(inputs, b"seed two 16 bytes")
    changed = [name for name in inputs if inputs[name].ndim and not np.array_equal(inputs[name], first[name])]
    assert changed == [name for name in inputs if inputs[name].ndim]
    for spec in row.inputs:
        drawn = inputs[spec.name]
        if spec.name in {"x", "a", "b", "gate"} and drawn.size > 1000:
            assert abs(float(drawn.mean())) < 0.1 * float(drawn.std())
            assert np.abs(drawn).max() < 1.8 * drawn.std()
    axes = problem.workload(problem.timed_workloads[0].uuid).axes
    right = {
        name: np.ascontiguousarray(array, dtype=np.float32)
        for name, array in problem.reference(inputs, axes).outputs.items()
    }
    assert row.full_check(inputs, right) <= 1.0
    assert row.spot_check(inputs, right, b"seed of the check") <= 1.0
    wrong = {name: array * np.float32(1.001) for name, array in right.items()}
    assert row.spot_check(inputs, wrong, b"seed of the check") > 1.0
    poisoned = {name: array.copy() for name, array in right.items()}
    for array in poisoned.values():
        array.view(np.uint32)[...] = 0x7FC5A5A5
    assert np.isnan(row.spot_check(inputs, poisoned, b"seed of the check"))


def test_planted_rows_are_hard_and_checked(problem: Problem) -> None:
    for workload in problem.timed_workloads:
        row = problem.timed_row(workload.uuid)
        inputs = {spec.name: np.empty(spec.shape, spec.dtype) for spec in row.inputs}
        row.fill(inputs, b"seed one 16 bytes")
        easy = {name: array.copy() for name, array in inputs.items()}
        planted = row.plant(inputs, b"seed two 16 bytes")
        changed = [name for name in inputs if not np.array_equal(inputs[name], easy[name])]
        assert changed
        right = {
            name: np.ascontiguousarray(array, dtype=np.float32)
            for name, array in problem.reference(inputs, workload.axes).outputs.items()
        }
        assert row.planted_check(inputs, right, planted) <= 1.0
        stale = {
            name: np.ascontiguousarray(array, dtype=np.float32)
            for name, array in problem.reference(easy, workload.axes).outputs.items()
        }
        assert not row.planted_check(inputs, stale, planted) <= 1.0


def test_rendering_writes_exactly_the_given_tunables(problem: Problem) -> None:
    seed = next(seed for seed in problem.seeds.values() if seed.structure == "structured")
    assert render(seed, {}) == seed.files
    tunable = next(item for item in seed.tunables if len(item.values) > 1)
    value = next(item for item in tunable.values if item != tunable.default)
    text = b"".join(render(seed, {tunable.name: value}).values())
    assert f"#define {tunable.name} {value}".encode() in text
    with pytest.raises(ValueError, match="no tunable KM_NOTHING"):
        render(seed, {"KM_NOTHING": 1})
