"""Rewrites of marked loops: they compile, they compute the same, they leave alone what they cannot read."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kernelmill.problems import compare, load_problem
from kernelmill_agent_runner.domain.rewrites import LoopRewrites, find_loops, rewrite_source
from kernelmill_agent_runner.domain.space import Space

KERNELS = Path(__file__).parents[3] / "kernels"
GROUPS = frozenset({"tunables", "rewrites", "flags"})


def built(source: bytes, folder: Path, *flags: str) -> ctypes.CDLL:
    path = folder / "k.c"
    path.write_bytes(source)
    library = folder / "k.so"
    subprocess.run(
        [
            "gcc",
            "-std=gnu11",
            "-O2",
            *flags,
            "-Wall",
            "-Werror=implicit",
            "-shared",
            "-fPIC",
            path,
            "-o",
            library,
            "-lm",
        ],
        check=True,
    )
    return ctypes.CDLL(str(library))


def test_marked_loops_are_found_with_their_parts() -> None:
    source = (KERNELS / "softmax/seeds/naive.c").read_bytes()
    loops = find_loops(source)
    assert [(loop.reduction, loop.variable, loop.arrays) for loop in loops] == [
        ("max", "largest", ("in",)),
        ("+", "sum", ("in",)),
        (None, "", ("out",)),
    ]
    assert all((loop.index, loop.bound) == ("i", "columns") for loop in loops)


@pytest.mark.parametrize(
    "loop",
    [
        "for (int64_t i = 0; i < n; i++) y[i] = x[i];",
        "/* km: independent */ for (int64_t i = n; i > 0; i--) y[i] = x[i];",
        "/* km: independent */ for (int64_t i = 0; i < n; i += 2) y[i] = x[i];",
        "/* km: mystery */ for (int64_t i = 0; i < n; i++) y[i] = x[i];",
        "/* km: independent */ while (n) n--;",
    ],
    ids=["unmarked", "downwards", "strided", "unknown mark", "no for"],
)
def test_other_loops_are_left_alone(loop: str) -> None:
    assert find_loops(f"void kernel(const float *x, float *y, long n) {{ {loop} }}".encode()) == []


@pytest.mark.parametrize("name", ["rmsnorm", "softmax", "swiglu", "rope", "gemm"])
@pytest.mark.parametrize(
    "rewrites",
    [
        LoopRewrites(lanes=8),
        LoopRewrites(lanes=32, unroll=2),
        LoopRewrites(unroll=4, prefetch=64),
        LoopRewrites(simd=True),
        LoopRewrites(lanes=16, simd=True, prefetch=256),
    ],
    ids=["lanes", "lanes and unroll", "unroll and prefetch", "simd", "all"],
)
def test_rewritten_seeds_compute_the_same(name: str, rewrites: LoopRewrites, tmp_path: Path) -> None:
    problem = load_problem(KERNELS / name)
    source = problem.seeds["naive"].files["naive.c"]
    loops = dict.fromkeys(range(len(find_loops(source))), rewrites)
    changed = rewrite_source(source, loops, vector_exp=b"expf(" in source)
    assert changed != source
    kernel = built(changed, tmp_path, "-fopenmp-simd").kernel
    kernel.restype = None
    for case in problem.cases(b"s" * 32, f"{name}{rewrites}", 0):
        inputs = case.inputs(problem)
        outputs = {spec.name: np.full(spec.shape, np.nan, spec.dtype) for spec in problem.output_specs(case.axes)}
        arrays = [*inputs.values(), *outputs.values()]
        kernel(
            *[ctypes.c_void_p(array.ctypes.data) for array in arrays],
            *[ctypes.c_int64(length) for length in problem.axis_values(case.axes)],
        )
        found = compare(problem, case.axes, problem.reference(inputs, case.axes), outputs)
        assert found.passed, (case.distribution, case.axes, found)


@pytest.mark.parametrize("name", ["rmsnorm", "softmax", "swiglu", "rope", "gemm"])
def test_spaces_are_wide_and_their_points_valid(name: str) -> None:
    problem = load_problem(KERNELS / name)
    generator = np.random.default_rng(3)
    for seed in problem.seeds.values():
        space = Space(problem, seed, ("-mavx2",), ("gcc",), GROUPS)
        assert np.prod([len(item.values) for item in space.free], dtype=np.float64) >= 10_000
        genome = space.sample(generator)
        other = space.mutate(genome, generator, GROUPS, 2)
        assert other != genome
        child = space.cross(genome, other, generator)
        for point in (space.defaults(), genome, other, child):
            assert space.valid(point)
            rendered = space.render(point)
            assert "-march=native" not in rendered.build.flags
            assert "-mavx2" in rendered.build.flags
        finite = any("-ffinite-math-only" in space.render(space.sample(generator)).build.flags for _ in range(20))
        assert finite == problem.settings.finite_inputs


def test_restricted_groups_stay_as_they_are() -> None:
    problem = load_problem(KERNELS / "rmsnorm")
    space = Space(problem, problem.seeds["structured"], (), ("gcc",), frozenset({"flags"}))
    generator = np.random.default_rng(3)
    for _ in range(20):
        genome = space.sample(generator)
        assert all(genome[name] == str(value) for name, value in problem.seeds["structured"].defaults.items())
