"""Screens a program: limits, flags, forbidden constructs, traits, fingerprint."""

import posixpath
import re

from kernelmill.events import Traits
from kernelmill.targets.cpu.flags import refuse_flags
from kernelmill.targets.cpu.screening.forbidden import first_forbidden
from kernelmill.targets.cpu.screening.tokens import FINGERPRINT_VERSION, parse, shape_fingerprint
from kernelmill.targets.cpu.screening.traits import measure_traits
from kernelmill.targets.cpu.words import one_line
from kernelmill.targets.port import Program, Screening

EXTRACTOR = f"kernelmill-cpu-screen/1 ({FINGERPRINT_VERSION})"
MOST_FILES = 16
MOST_BYTES = 256 << 10
MOST_FLAGS = 128
MOST_DEPTH = 4
SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".inc")
_NAME = re.compile(r"[A-Za-z_]\w{0,62}")
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,120}")


def _limits(program: Program) -> str:
    rules = (
        (
            not _NAME.fullmatch(program.entry) or program.entry == "main",
            f"the entry '{program.entry[:64]}' is no name of a C function that may be exported",
        ),
        (
            not 1 <= len(program.files) <= MOST_FILES,
            f"a candidate has 1 to {MOST_FILES} files, this one has {len(program.files)}",
        ),
        (
            sum(len(data) for data in program.files.values()) > MOST_BYTES,
            f"the sources are larger than {MOST_BYTES} bytes together; make them smaller",
        ),
        (len(program.build.flags) > MOST_FLAGS, f"there are more than {MOST_FLAGS} flags; leave some out"),
        (bool(program.link), "candidates may not link libraries; only trusted baselines may"),
    )
    broken = next((reason for breaks, reason in rules if breaks), "")
    return broken or next((why for name, data in program.files.items() if (why := _file_problem(name, data))), "")


def _file_problem(name: str, data: bytes) -> str:
    parts = name.split("/")
    if not _PATH.fullmatch(name) or not {"", ".", ".."}.isdisjoint(parts) or len(parts) > MOST_DEPTH:
        return f"the path '{name[:80]}' is refused; use a relative path of plain names"
    if not name.endswith(SUFFIXES):
        return f"the file '{name[:80]}' is refused; names end in {', '.join(SUFFIXES)}"
    if b"\0" in data:
        return f"the file '{name}' contains zero bytes; sources are text"
    return ""


def screen(program: Program, *, finite_inputs: bool) -> Screening:
    """Look at sources and flags only.

    Args:
        program: A candidate written in C or C++.
        finite_inputs: Whether the problem leaves results for non-finite inputs undefined.
    """
    if program.language != "c":
        empty = Traits(techniques=(), source_bytes=0, loops=0, vector_types=0)
        why = f"a candidate for the cpu target is written in C or C++, not '{program.language}'"
        return Screening(False, why, empty, f"{FINGERPRINT_VERSION}:", EXTRACTOR)
    reason = _limits(program)
    if reason:
        size = sum(len(data) for data in program.files.values())
        empty = Traits(techniques=(), source_bytes=size, loops=0, vector_types=0)
        return Screening(False, one_line(reason), empty, f"{FINGERPRINT_VERSION}:", EXTRACTOR)
    language = "c++" if "++" in program.build.standard else "c"
    trees = {name: parse(data, language) for name, data in program.files.items()}
    reason = refuse_flags(program.build.flags, finite_inputs=finite_inputs)
    structural = bool(reason)
    for name in sorted(trees):
        folder = posixpath.dirname(name)
        own = {posixpath.relpath(other, folder or ".") for other in program.files}
        reason = reason or first_forbidden(name, trees[name], own)
    return Screening(
        accepted=not reason,
        reason=one_line(reason),
        traits=measure_traits(trees, program.files, program.build.flags),
        shape_fingerprint=shape_fingerprint(trees),
        extractor=EXTRACTOR,
        construct=bool(reason) and not structural,
    )
