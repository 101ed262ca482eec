"""What compilers say about this machine, read from their own words."""

from kernelmill.events import BuildOptions
from kernelmill.targets.cpu.toolchain import parse_clang_command, parse_gcc_target, resolve

GCC = """The following options are target specific:
  -m128bit-long-double        \t\t[enabled]
  -march=                     \t\tznver3
  -mavx512f                   \t\t[enabled]
  -mfma4                      \t\t[disabled]
  -mtune=                     \t\tznver3

  Known valid arguments for -march= option:
"""
CLANG = ' "/usr/bin/clang" "-cc1" "-target-cpu" "znver4" "-target-feature" "+avx2" "-target-feature" "-fma4" "-O0"\n'


def test_gcc_target_help() -> None:
    options = parse_gcc_target(GCC)
    assert options["-march="] == "znver3"
    assert options["-mavx512f"] == "enabled"
    assert options["-mfma4"] == "disabled"


def test_clang_command() -> None:
    assert parse_clang_command(CLANG) == ("znver4", frozenset({"+avx2", "-fma4"}))


def test_named_options_stay_as_they_are() -> None:
    build = BuildOptions(flags=("-O3", "-march=znver3", "-mtune=generic", "-mavx2"))
    assert resolve(build) == build


def test_native_becomes_names_once() -> None:
    resolved = resolve(BuildOptions(flags=("-O3", "-march=native", "-mtune=native", "-march=native")))
    assert resolved.flags[0] == "-O3"
    assert resolved.flags[1].startswith("-march=")
    assert len(set(resolved.flags)) == len(resolved.flags)
    assert not any("native" in flag for flag in resolved.flags)
