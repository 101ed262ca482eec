"""Applies rewrites to marked loops: lanes with partial results, unrolling, simd directives, prefetching, vector expf.

A parser does no dependence analysis; the marks are promises of whoever wrote the seed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kernelmill_agent_runner.domain.rewrites.loops import MarkedLoop, find_loops, identifiers

VECTOR_EXP = b'__attribute__((simd("notinbranch"), const)) float expf(float);\n'
"""Lets the compiler take expf from the vector mathematics library without any fast-math flag."""


@dataclass(frozen=True)
class LoopRewrites:
    """What is done to one loop; the defaults do nothing."""

    lanes: int = 1
    """Partial results of a reduction, or iterations done side by side; 1: as it is."""
    unroll: int = 1
    """Factor of `#pragma GCC unroll`; 1: none."""
    simd: bool = False
    """Whether `#pragma omp simd` (with the reduction) is put before the loop; needs -fopenmp-simd."""
    prefetch: int = 0
    """Elements ahead that the arrays read at [i] are prefetched; 0: none."""


def rewrite_source(source: bytes, loops: Mapping[int, LoopRewrites], *, vector_exp: bool) -> bytes:
    """Return the source with the rewrites applied to its marked loops.

    Args:
        source: C source.
        loops: rewrites by the ordinal of the loop among `find_loops(source)`.
        vector_exp: declare expf with vector variants.
    """
    result = source
    found = find_loops(source)
    for ordinal in sorted(loops, reverse=True):
        loop, wanted = found[ordinal], loops[ordinal]
        result = result[: loop.start_byte] + _rewritten(loop, wanted).encode() + result[loop.end_byte :]
    return _declaring_vector_exp(result) if vector_exp else result


def _rewritten(loop: MarkedLoop, wanted: LoopRewrites) -> str:
    directives = []
    if wanted.unroll > 1:
        directives.append(f"#pragma GCC unroll {wanted.unroll}")
    if wanted.simd and loop.reduction is not None:
        directives.append(f"#pragma omp simd reduction({loop.reduction} : {loop.variable})")
    elif wanted.simd:
        directives.append("#pragma omp simd")
    # A compiler takes one loop directive of each kind; unroll and simd exclude each other before gcc 14.
    directive = directives[-1:] if wanted.simd else directives
    body = _prefetching(loop, wanted.prefetch) + loop.body
    if wanted.lanes > 1:
        return _in_lanes(loop, wanted, body)
    head = f"for ({loop.index_type} {loop.index} = {loop.start}; {loop.index} < {loop.bound}; {loop.index}++)"
    return "\n".join(["", *directive, f"{head} {{ {body} }}"])


def _prefetching(loop: MarkedLoop, ahead: int) -> str:
    if not ahead:
        return ""
    return "".join(f"__builtin_prefetch(&{array}[{loop.index} + {ahead}]); " for array in loop.arrays)


def _in_lanes(loop: MarkedLoop, wanted: LoopRewrites, body: str) -> str:
    """Run `lanes` iterations side by side in an inner loop of constant length, which compilers vectorise as it is."""
    lanes, index, kind = wanted.lanes, loop.index, loop.index_type
    lane = "km_lane"
    renamed = {index: f"({index} + {lane})"}
    before = after = ""
    if loop.reduction is not None:
        partial = f"km_{loop.variable}"
        renamed[loop.variable] = f"{partial}[{lane}]"
        start = "0" if loop.reduction == "+" else loop.variable
        before = (
            f"{loop.variable_type} {partial}[{lanes}]; "
            f"for (int {lane} = 0; {lane} < {lanes}; {lane}++) {partial}[{lane}] = {start}; "
        )
        combine = (
            f"{loop.variable} += {partial}[{lane}];"
            if loop.reduction == "+"
            else f"{loop.variable} = {partial}[{lane}] > {loop.variable} ? {partial}[{lane}] : {loop.variable};"
        )
        after = f"for (int {lane} = 0; {lane} < {lanes}; {lane}++) {combine} "
    unroll = f"\n#pragma GCC unroll {wanted.unroll}\n" if wanted.unroll > 1 else ""
    inner = f"for (int {lane} = 0; {lane} < {lanes}; {lane}++) {{ {_renamed(loop.body, renamed)} }}"
    prefetch = _prefetching(loop, wanted.prefetch)
    whole = f"for (; {index} + {lanes} <= {loop.bound}; {index} += {lanes}) {{ {prefetch}{inner} }} "
    rest = f"for (; {index} < {loop.bound}; {index}++) {{ {body} }} "
    return f"{{ {kind} {index} = {loop.start}; {before}{unroll}{whole}{after}{rest}}}"


def _renamed(text: str, names: Mapping[str, str]) -> str:
    data = text.encode()
    for start, end, name in reversed(identifiers(text)):
        if name in names:
            data = data[:start] + names[name].encode() + data[end:]
    return data.decode()


def _declaring_vector_exp(source: bytes) -> bytes:
    """Put the declaration after the last include: there the plain one from math.h is known already."""
    lines = source.splitlines(keepends=True)
    last = max((number for number, line in enumerate(lines) if line.startswith(b"#include")), default=-1)
    return b"".join([*lines[: last + 1], VECTOR_EXP, *lines[last + 1 :]])
