"""Traits: behaviour that sources and flags show, measured and never claimed."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice

from tree_sitter import Node

from kernelmill.events import Traits
from kernelmill.targets.cpu.screening.tokens import walk

_LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})
_VECTOR = re.compile(
    rb"__m(64|128|256|512)\w*|_mm\d*_\w+|__builtin_ia32_\w+|vector_size|__vector_size__|float32x\d\w*|\bv\w+q_f\d+"
)

_MOST_OPERANDS = 64
"""Nodes of a right side that are looked at: nobody accumulates through longer ones, and chains of them cost time."""

SOURCE_SIGNS = (
    ("intrinsics", re.compile(rb"\b_mm\d*_\w+|\b__builtin_ia32_")),
    ("vector-extensions", re.compile(rb"\b(__)?vector_size(__)?\b")),
    ("omp-simd", re.compile(rb"(?m)^[ \t]*#[ \t]*pragma[ \t]+omp[ \t][^\n]*\bsimd\b")),
    ("threads", re.compile(rb"#\s*pragma\s+omp\s+parallel")),
    ("prefetch", re.compile(rb"\b__builtin_prefetch\b|\b_mm_prefetch\b")),
    ("non-temporal-stores", re.compile(rb"\b_mm\d*_stream_\w+|\b__builtin_nontemporal_store\b")),
    ("restrict", re.compile(rb"\b(__)?restrict(__)?\b")),
    ("alignment-hints", re.compile(rb"\b__builtin_assume_aligned\b|\b(__)?assume_aligned(__)?\b")),
    ("loop-pragmas", re.compile(rb"#\s*pragma\s+GCC\s+(unroll|ivdep)|#\s*pragma\s+clang\s+loop")),
    ("fused-multiply-add", re.compile(rb"\bfmaf?\b|\b_mm\d*_f(n?m)(add|sub)_\w+|\b__builtin_fmaf?\b")),
    ("reciprocal-square-root", re.compile(rb"rsqrt")),
    ("branch-hints", re.compile(rb"\b__builtin_expect\b|\blikely\b")),
    ("bit-tricks", re.compile(rb"\b0x3f800000\b|\b0x5f3759df\b|<<\s*23\b", re.IGNORECASE)),
    ("assembly", re.compile(rb"\b(__)?asm(__)?\b")),
)
"""Technique and the sign of it in the source. Each is searched in one pass, however hostile the text."""

FLAG_SIGNS = (
    ("associative-math", "-fassociative-math"),
    ("reciprocal-math", "-freciprocal-math"),
    ("finite-math", "-ffinite-math-only"),
    ("no-signed-zeros", "-fno-signed-zeros"),
    ("no-trapping-math", "-fno-trapping-math"),
    ("no-math-errno", "-fno-math-errno"),
    ("unroll-loops", "-funroll-loops"),
    ("omp-simd", "-fopenmp-simd"),
    ("wide-vectors", "-mprefer-vector-width=512"),
    ("loop-interchange", "-floop-interchange"),
    ("prefetch-loops", "-fprefetch-loop-arrays"),
)
"""Technique and the flag that asks for it."""

_ACCUMULATING = frozenset({"+=", "-=", "*="})


def measure_traits(trees: Mapping[str, Node], files: Mapping[str, bytes], flags: Sequence[str]) -> Traits:
    """Return the traits of a program.

    Args:
        trees: File name to syntax tree.
        files: File name to bytes.
        flags: The build flags.
    """
    source = b"\n".join(files[name] for name in sorted(files))
    found = {technique for technique, sign in SOURCE_SIGNS if sign.search(source)}
    found |= {technique for technique, flag in FLAG_SIGNS if flag in flags}
    loops, accumulators = 0, 0
    for root in trees.values():
        for node in walk(root):
            if node.type in _LOOPS:
                loops += 1
                accumulators = max(accumulators, _accumulators(node))
    if accumulators > 1:
        found.add("multiple-accumulators")
    return Traits(
        techniques=tuple(sorted(found)),
        source_bytes=sum(len(data) for data in files.values()),
        loops=loops,
        vector_types=len(_VECTOR.findall(source)),
        max_live_accumulators=accumulators,
    )


def _accumulators(loop: Node) -> int:
    """Count the distinct places that an innermost loop accumulates into; loops around others count as none."""
    body = loop.child_by_field_name("body")
    if body is None:
        return 0
    places: set[bytes] = set()
    for node in walk(body):
        if node.type in _LOOPS:
            return 0
        if node.type != "assignment_expression":
            continue
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None or not left.text:
            continue
        sign = (operator.text or b"").decode()
        # `sum = fma(x, y, sum)` and intrinsics accumulate without a compound operator.
        again = sign == "=" and any(
            part.text == left.text for part in islice(walk(right), _MOST_OPERANDS) if part.type == left.type
        )
        if sign in _ACCUMULATING or again:
            places.add(left.text)
    return len(places)
