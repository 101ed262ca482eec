"""Compiling in the sandbox: what a hostile source cannot reach, what libraries and Python baselines do."""

import os
from collections.abc import Callable

import numpy as np
import pytest
from contract.target_contract import FLOAT, DoublingRow

from kernelmill.events import BuildOptions
from kernelmill.targets.cpu import CpuTarget
from kernelmill.targets.port import (
    Artifact,
    Call,
    CompileFailure,
    InfrastructureFault,
    Limits,
    PairMeasured,
    PairPlan,
    Program,
    TensorSpec,
)

Build = Callable[..., Artifact]
ROW = DoublingRow()
DOUBLE = "void kernel(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = 2 * x[i]; }\n"


def program(source: str, flags: tuple[str, ...] = ("-O2",), standard: str = "gnu11", **more: object) -> Program:
    build = BuildOptions.model_validate({"flags": flags, "standard": standard})
    return Program({"kernel.c": source.encode()}, "kernel", build, **more)  # type: ignore[arg-type]  # `link` only


@pytest.mark.parametrize("path", ["/etc/shadow", "/etc/passwd", "/proc/self/environ"])
def test_compilers_cannot_read_outside_files(target: CpuTarget, path: str) -> None:
    included = target.compile(program(f'#include "{path}"\n{DOUBLE}'))
    assert isinstance(included, CompileFailure)
    assert "root:" not in included.diagnostics
    embedded = target.compile(program(f'__asm__(".incbin \\"{path}\\"");\n{DOUBLE}'))
    assert isinstance(embedded, CompileFailure)


def test_diagnostics_hide_the_build_folder(target: CpuTarget) -> None:
    failure = target.compile(program("void kernel(void) { return 1 +; }\n"))
    assert isinstance(failure, CompileFailure)
    assert failure.stage == "compile"
    assert "kernel.c:1" in failure.diagnostics
    assert "/" not in failure.diagnostics.partition("kernel.c")[0]


def test_diagnostics_hold_nothing_that_a_terminal_obeys(target: CpuTarget) -> None:
    failure = target.compile(program('#error "\x1b[2J\x1b]0;owned\x07 [/bold]"\n'))
    assert isinstance(failure, CompileFailure)
    assert "\x1b" not in failure.diagnostics
    assert "[/bold]" in failure.diagnostics


def test_large_binaries_are_refused(target: CpuTarget) -> None:
    failure = target.compile(program(f'__asm__(".data\\n.fill 20000000, 1, 42\\n.text");\n{DOUBLE}'))
    assert isinstance(failure, CompileFailure)
    assert "larger than" in failure.diagnostics


def test_missing_symbols_fail_in_the_link_or_when_loaded(target: CpuTarget) -> None:
    missing = target.compile(program("int elsewhere(void);\nvoid other(void) { elsewhere(); }\n"))
    assert isinstance(missing, CompileFailure)
    assert "'kernel' is not exported" in missing.diagnostics


def test_floating_point_parts_never_reach_the_link(target: CpuTarget) -> None:
    parts = ("-O3", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-freciprocal-math")
    artifact = target.compile(program(DOUBLE, parts))
    assert isinstance(artifact, Artifact)
    with target.session(artifact, Limits()) as session:
        assert session.run(ROW.call()).outcome == "completed"


def test_cplusplus_with_several_files(target: CpuTarget) -> None:
    files = {
        "part/twice.hpp": b"#pragma once\ntemplate <class T> T twice(T v) { return v + v; }\n",
        "kernel.cpp": b'#include "part/twice.hpp"\nextern "C" void kernel(const float *x, float *y, long n)'
        b" { for (long i = 0; i < n; i++) y[i] = twice(x[i]); }\n",
    }
    artifact = target.compile(Program(files, "kernel", BuildOptions(standard="c++17", flags=("-O2",))))
    assert isinstance(artifact, Artifact), artifact
    with target.session(artifact, Limits()) as session:
        call = ROW.call()
        result = session.run(call)
        assert result.outputs is not None, result.detail
        assert ROW.full_check(call.inputs, result.outputs) <= 1.0


def test_vectorised_exponentials_come_from_libmvec(target: CpuTarget) -> None:
    source = """#include <math.h>
void kernel(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = expf(x[i]); }
"""
    flags = ("-O3", "-mavx2", "-fassociative-math", "-fno-math-errno", "-ffinite-math-only", "-fno-trapping-math")
    artifact = target.compile(program(source, (*flags, "-fno-signed-zeros", "-funroll-loops")))
    assert isinstance(artifact, Artifact)
    with target.session(artifact, Limits()) as session:
        call = ROW.call()
        result = session.run(call)
        assert result.outputs is not None, result.detail
        np.testing.assert_allclose(result.outputs["y"], np.exp(call.inputs["x"].astype(np.float64)), rtol=1e-5)


def test_openblas_is_linked_for_trusted_baselines(target: CpuTarget) -> None:
    source = """#include <cblas.h>
void kernel(const float *a, const float *b, float *c, long n) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0f, a, n, b, n, 0.0f, c, n);
}
"""
    artifact = target.compile(program(source, link=("openblas",)))
    assert isinstance(artifact, Artifact), artifact
    draw = np.random.default_rng(1)
    a, b = (draw.random((48, 48), dtype=np.float32) for _ in range(2))
    with target.session(artifact, Limits()) as session:
        result = session.run(Call({"a": a, "b": b}, (TensorSpec("c", (48, 48), FLOAT),), (48,)))
        assert result.outputs is not None, result.detail
        np.testing.assert_allclose(result.outputs["c"], a.astype(np.float64) @ b, rtol=1e-4)


def test_openmp_uses_the_threads_it_may(target: CpuTarget) -> None:
    source = """#include <omp.h>
void kernel(const float *x, float *y, long n) {
    #pragma omp parallel for
    for (long i = 0; i < n; i++) y[i] = 2 * x[i];
    y[0] = omp_get_max_threads();
}
"""
    artifact = target.compile(program(source, ("-O2", "-fopenmp")))
    assert isinstance(artifact, Artifact), artifact
    for threads in (1, 2):
        with target.session(artifact, Limits(threads=threads)) as session:
            result = session.run(ROW.call())
            assert result.outputs is not None, result.detail
            assert result.outputs["y"][0] == threads


def test_python_baseline_is_checked_and_timed(target: CpuTarget, build: Build) -> None:
    source = b"import numpy as np\n\ndef run(x, y, n):\n    np.multiply(x, np.float32(2), out=y)\n"
    baseline = target.compile(Program({"baseline.py": source}, "run", BuildOptions(), language="python"))
    assert isinstance(baseline, Artifact)
    with target.session(baseline, Limits()) as session:
        for _ in range(2):
            call = ROW.call()
            result = session.run(call)
            assert result.outputs is not None, result.detail
            assert ROW.full_check(call.inputs, result.outputs) <= 1.0
    plan = PairPlan(duels=4, seed=os.urandom(16))
    outcome = target.time_pair(build(DOUBLE), baseline, ROW, plan, Limits())
    if isinstance(outcome, InfrastructureFault):
        outcome = target.time_pair(build(DOUBLE), baseline, ROW, plan, Limits())
    assert isinstance(outcome, PairMeasured), outcome


def test_python_baseline_that_cannot_be_imported_says_why(target: CpuTarget) -> None:
    baseline = target.compile(Program({"b.py": b"import no_such_module\n"}, "run", BuildOptions(), language="python"))
    assert isinstance(baseline, Artifact)
    with target.session(baseline, Limits()) as session:
        result = session.run(ROW.call())
    assert result.outcome == "crashed"
    assert "no_such_module" in result.detail


def test_scalars_are_passed_by_pointer(target: CpuTarget) -> None:
    source = "void kernel(const float *x, const float *s, float *y, long n, long m) { y[0] = x[n] * *s + m; }\n"
    artifact = target.compile(program(source))
    assert isinstance(artifact, Artifact)
    inputs = {"x": np.arange(8, dtype=np.float32), "s": np.array(10, dtype=np.float32)}
    with target.session(artifact, Limits()) as session:
        result = session.run(Call(inputs, (TensorSpec("y", (1,), FLOAT),), (3, -4)))
    assert result.outputs is not None, result.detail
    assert result.outputs["y"][0] == 26.0
