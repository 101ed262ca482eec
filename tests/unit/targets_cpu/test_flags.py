"""The allow-list of flags: what passes, what is refused and with which words."""

import pytest

from kernelmill.targets.cpu.flags import EXACT, refuse_flag, refuse_flags

ALLOWED = [
    "-O3",
    "-march=znver3",
    "-mtune=generic",
    "-mavx512f",
    "-mno-avx512vl",
    "-fassociative-math",
    "-mprefer-vector-width=512",
    "--param=l1-cache-size=32",
    "-falign-loops=64",
    "-falign-functions=64:16",
    "-fopenmp-simd",
]
REFUSED = [
    "-I/etc",
    "-include",
    "-include/etc/passwd",
    "@flags",
    "-Wl,-rpath,/tmp",
    "-fplugin=evil.so",
    "-o",
    "-o/tmp/x",
    "-B/tmp",
    "-specs=evil",
    "-ffast-math",
    "-Ofast",
    "-funsafe-math-optimizations",
    "-L/tmp",
    "-lcrypt",
    "-wrapper",
    "-save-temps",
    "-fdump-tree-all",
    "-fprofile-use=/x",
    "-Dx=y",
    "-x",
    "-march=native;rm",
    "-march=../x",
    "-mavx2\n-o/x",
    "--param=l1-cache-size=/etc",
    "-fsanitize=address",
    "-flto",
    "-Xclang",
    "",
    "kernel.c",
    "/etc/passwd",
]


@pytest.mark.parametrize("flag", ALLOWED)
def test_allowed(flag: str) -> None:
    assert refuse_flag(flag, finite_inputs=False) == ""


@pytest.mark.parametrize("flag", REFUSED)
def test_refused_with_words(flag: str) -> None:
    assert "refused" in refuse_flag(flag, finite_inputs=True) or "allow-list" in refuse_flag(flag, finite_inputs=True)


def test_finite_math_depends_on_the_problem() -> None:
    assert refuse_flag("-ffinite-math-only", finite_inputs=True) == ""
    assert "infinities" in refuse_flag("-ffinite-math-only", finite_inputs=False)


def test_first_refusal_is_told() -> None:
    assert "-Ofast" in refuse_flags(["-O2", "-Ofast", "-I."], finite_inputs=True)
    assert refuse_flags(["-O2"], finite_inputs=False) == ""


def test_no_allowed_flag_takes_a_separate_argument() -> None:
    assert not EXACT & {"-I", "-o", "-include", "-x", "-Xclang", "-mllvm", "--param", "-T", "-B", "-L", "-u", "-z"}
