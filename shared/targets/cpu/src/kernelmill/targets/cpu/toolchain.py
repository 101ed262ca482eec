"""The installed compilers, and what -march=native means on this machine."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

from kernelmill.events import BuildOptions
from kernelmill.targets.cpu.errors import CompilerMissingError, CpuTargetError

Compiler = Literal["gcc", "clang"]
COMPILERS: tuple[Compiler, ...] = ("gcc", "clang")
_QUERY_SECONDS = 30.0
_CPLUSPLUS = {"gcc": "g++", "clang": "clang++"}


@dataclass(frozen=True)
class Toolchain:
    """One installed compiler."""

    compiler: Compiler
    path: str
    """Driver for C."""
    cplusplus: str | None
    """Driver for C++; None where it is not installed."""
    version: str
    """First line of --version."""


@cache
def installed() -> dict[Compiler, Toolchain]:
    """Return the installed compilers by family."""
    found: dict[Compiler, Toolchain] = {}
    for compiler in COMPILERS:
        path = shutil.which(compiler)
        if path is not None:
            version = _ask(path, "--version").splitlines()[0]
            found[compiler] = Toolchain(compiler, path, shutil.which(_CPLUSPLUS[compiler]), version)
    return found


def toolchain_for(build: BuildOptions) -> tuple[Toolchain, str]:
    """Return the toolchain and the driver to call.

    Raises:
        CompilerMissingError: if it is not installed.
    """
    toolchain = installed().get(build.compiler)
    if toolchain is None:
        raise CompilerMissingError(f"{build.compiler} is not installed on this node; install it or choose another one")
    if "++" not in build.standard:
        return toolchain, toolchain.path
    if toolchain.cplusplus is None:
        raise CompilerMissingError(f"{_CPLUSPLUS[build.compiler]} is not installed on this node; install it or write C")
    return toolchain, toolchain.cplusplus


def _ask(path: str, *arguments: str) -> str:
    answer = subprocess.run(  # noqa: S603  # an installed compiler, asked about itself
        [path, *arguments],
        capture_output=True,
        text=True,
        timeout=_QUERY_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if answer.returncode:
        raise CpuTargetError(f"{path} {' '.join(arguments)} failed: {answer.stderr.strip()[:500]}")
    return answer.stdout + answer.stderr


def parse_gcc_target(text: str) -> dict[str, str]:
    """Return option to value (`enabled`, `disabled` or a name) from the output of `gcc -Q --help=target`."""
    options: dict[str, str] = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 2 and fields[0].startswith("-m"):
            options.setdefault(fields[0], fields[1].strip("[]"))
    return options


_FEATURE = re.compile(
    r"-m(mmx|sse.*|ssse3|avx.*|amx.*|fma4?|f16c|bmi2?|abm|lzcnt|popcnt|adx|v?aes|v?pclmul.*|gfni|sha.*|movbe|cx16|sahf|"
    r"prfchw|rdrnd|rdseed|rdpid|fsgsbase|fxsr|xsave.*|clflushopt|clwb|clzero|tbm|xop|pku|wbnoinvd|movdir.*)"
)


@cache
def native_flags(compiler: Compiler) -> tuple[str, ...]:
    """Return what `-march=native -mtune=native` means for a compiler here: a named base and the features that differ.

    Raises:
        CpuTargetError: if the compiler does not say.
    """
    toolchain = installed().get(compiler)
    if toolchain is None:
        raise CompilerMissingError(f"{compiler} is not installed on this node; install it or choose another one")
    if compiler == "clang":
        return _native_clang(toolchain.path)
    native = parse_gcc_target(_ask(toolchain.path, "-march=native", "-Q", "--help=target"))
    base, tune = native.get("-march="), native.get("-mtune=")
    if not base or not tune:
        raise CpuTargetError(f"{toolchain.version} does not say what -march=native means here; name features instead")
    named = parse_gcc_target(_ask(toolchain.path, f"-march={base}", "-Q", "--help=target"))
    differing = [
        option if value == "enabled" else "-mno-" + option.removeprefix("-m")
        for option, value in sorted(native.items())
        if _FEATURE.fullmatch(option) and value != named.get(option) and value in {"enabled", "disabled"}
    ]
    return (f"-march={base}", f"-mtune={tune}", *differing)


def parse_clang_command(text: str) -> tuple[str, frozenset[str]]:
    """Return (cpu, features such as `+avx2`) from the output of `clang -###`."""
    words = re.findall(r'"([^"]*)"', text)
    cpu, features = "", set()
    for name, value in pairwise(words):
        if name == "-target-cpu":
            cpu = value
        elif name == "-target-feature":
            features.add(value)
    return cpu, frozenset(features)


def _native_clang(path: str) -> tuple[str, ...]:
    def command(cpu: str) -> tuple[str, frozenset[str]]:
        return parse_clang_command(_ask(path, f"-march={cpu}", "-###", "-x", "c", "-c", "/dev/null"))

    cpu, features = command("native")
    if not cpu:
        raise CpuTargetError("clang does not say what -march=native means here; name features instead")
    _, implied = command(cpu)
    differing = [
        f"-m{'' if name[0] == '+' else 'no-'}{name[1:]}" for name in sorted(features - implied, key=lambda n: n[1:])
    ]
    return (
        f"-march={cpu}",
        f"-mtune={cpu}",
        *(flag for flag in differing if _FEATURE.fullmatch(flag.replace("-mno-", "-m"))),
    )


def resolve(build: BuildOptions) -> BuildOptions:
    """Return the options with `native` replaced by what it means here.

    Raises:
        CompilerMissingError: if `native` is used and the compiler is not installed.
    """
    flags: list[str] = []
    for flag in build.flags:
        if flag == "-march=native":
            flags += native_flags(build.compiler)
        elif flag == "-mtune=native":
            flags.append(next(name for name in native_flags(build.compiler) if name.startswith("-mtune=")))
        else:
            flags.append(flag)
    # `native` brings its own tuning; an explicit one that follows still wins, a repeated one is noise in the identity.
    return build.model_copy(update={"flags": tuple(dict.fromkeys(flags))})
