"""Screening: limits, forbidden constructs, traits, and a fingerprint that sees through names and comments."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelmill.events import BuildOptions
from kernelmill.targets.cpu.screening import screen
from kernelmill.targets.port import Program, Screening

KERNEL = """
#include <math.h>
void kernel(const float *restrict x, float *restrict y, long n) {
    for (long i = 0; i < n; i++) y[i] = 2 * x[i];
}
"""


def screened(source: str, *flags: str, **more: object) -> Screening:
    fields: dict[str, object] = {
        "files": {"k.c": source.encode()},
        "entry": "kernel",
        "build": BuildOptions(flags=flags),
    }
    return screen(Program(**{**fields, **more}), finite_inputs=False)  # type: ignore[arg-type]  # fields by name


def test_honest_kernel_is_accepted() -> None:
    result = screened(KERNEL, "-O3")
    assert (result.accepted, result.reason) == (True, "")
    assert result.traits.techniques == ("restrict",)
    assert result.traits.loops == 1


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('#include "/etc/passwd"\n', "own files"),
        ("#include </etc/passwd>\n", "list of headers"),
        ('#include "../other.h"\n', "own files"),
        ("#include <sys/socket.h>\n", "list of headers"),
        ("#define H <math.h>\n#include H\n", "directly"),
        ("#include_next <math.h>\n", "include_next"),
        ('__asm__(".incbin \\"/etc/passwd\\"");\n', ".incbin"),
        ('void f(void) { __asm__ volatile("syscall"); }\n', "syscall"),
        ("__attribute__((constructor)) void f(void) {}\n", "constructor"),
        ('__attribute__((optimize("Ofast"))) void f(void) {}\n', "optimize"),
        ('#pragma GCC optimize ("Ofast")\n', "pragmas"),
        ('__attribute__((section(".init_array"))) void *p;\n', ".init_array"),
        ("void f(void) { fork(); }\n", "fork"),
        ("#define F clock_gettime\n", "clock_gettime"),
        ("void f(void) { _mm_setcsr(0x9fc0); }\n", "_mm_setcsr"),
        ("void *f(void) { return dlopen(0, 1); }\n", "dlopen"),
    ],
)
def test_forbidden_constructs_are_refused_with_their_place(source: str, words: str) -> None:
    result = screened(source + KERNEL)
    assert not result.accepted
    assert words in result.reason
    assert result.reason.startswith("k.c")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"files": {}}, "1 to 16 files"),
        ({"files": {f"f{i}.c": b"" for i in range(17)}}, "1 to 16 files"),
        ({"files": {"../k.c": b""}}, "path"),
        ({"files": {"k.s": b""}}, "names end in"),
        ({"files": {"k.c": b"\0"}}, "zero bytes"),
        ({"files": {"k.c": b"//" + b"x" * 300_000}}, "larger"),
        ({"entry": "main"}, "entry"),
        ({"entry": "a b"}, "entry"),
        ({"link": ("openblas",)}, "link"),
        ({"language": "python"}, "python"),
        ({"build": BuildOptions(flags=("-Ofast",))}, "fast-math"),
    ],
)
def test_limits(change: dict[str, object], words: str) -> None:
    result = screened(KERNEL, **change)
    assert not result.accepted
    assert words in result.reason


def test_own_headers_may_be_included() -> None:
    files = {"src/k.c": b'#include "part.h"\n#include "../top.h"\n' + KERNEL.encode(), "src/part.h": b"", "top.h": b""}
    assert screened("", files=files).accepted


def test_fingerprint_ignores_names_comments_and_spaces() -> None:
    renamed = KERNEL.replace("x", "source").replace("y", "target").replace("i", "i").replace(" = 0", "=0 /* zero */")
    assert screened(renamed).shape_fingerprint == screened(KERNEL).shape_fingerprint


def test_fingerprint_sees_structure_constants_and_intrinsics() -> None:
    variants = [
        KERNEL,
        KERNEL.replace("2 *", "3 *"),
        KERNEL.replace("i++", "i += 2"),
        KERNEL.replace("x[i]", "expf(x[i])"),
    ]
    assert len({screened(variant).shape_fingerprint for variant in variants}) == 4


def test_techniques_come_from_source_and_flags() -> None:
    source = """
#include <immintrin.h>
float kernel(const float *x, long n) {
    __m256 a = _mm256_setzero_ps(), b = a;
    for (long i = 0; i < n; i += 16) {
        _mm_prefetch(x + i + 64, _MM_HINT_T0);
        a = _mm256_fmadd_ps(_mm256_load_ps(x + i), _mm256_load_ps(x + i), a);
        b = _mm256_fmadd_ps(_mm256_load_ps(x + i + 8), _mm256_load_ps(x + i + 8), b);
    }
    return 0;
}
"""
    traits = screened(source, "-fassociative-math", "-funroll-loops").traits
    assert traits.max_live_accumulators == 2
    assert set(traits.techniques) == {
        "associative-math",
        "fused-multiply-add",
        "intrinsics",
        "multiple-accumulators",
        "prefetch",
        "unroll-loops",
    }
    assert traits.vector_types > 5


def test_deep_nesting_is_no_problem() -> None:
    assert screened("int f(void) { return " + "(" * 20_000 + "1" + ")" * 20_000 + "; }\n" + KERNEL).shape_fingerprint


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_screened_without_an_exception(data: bytes) -> None:
    result = screen(Program({"k.c": data}, "kernel", BuildOptions()), finite_inputs=False)
    assert result.traits.source_bytes == len(data)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "hostile",
    [
        "#pragma omp" + " " * 200_000 + "x\n",
        "#pragma omp " * 15_000 + "\n",
        "float " + "v" * 200_000 + ";\n",
        "void f(void) { for (;;) " + " = ".join(f"a{i}" for i in range(30_000)) + "; }\n",
        "int f(void) { return " + "(" * 100_000 + "1" + ")" * 100_000 + "; }\n",
    ],
    ids=["spaces", "pragmas", "one name", "assignments", "parentheses"],
)
def test_no_source_costs_more_than_its_length(hostile: str) -> None:
    assert screened(hostile + KERNEL).traits.source_bytes > 150_000


def test_reasons_hold_nothing_that_a_terminal_obeys() -> None:
    result = screened('#include "\x1b[2J\u202e.h"\n' + KERNEL)
    assert not result.accepted
    assert result.reason.isprintable()
    assert screened(KERNEL, "-O2\x1b]0;owned\x07\n").reason.isprintable()
