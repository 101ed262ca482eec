"""Random code placement: padding before a program's code, and a random order of its objects."""

import random
from collections.abc import Sequence

STEP = 64
"""Padding keeps the alignment of functions and loops."""
MOST_STEPS = 64
"""One page: the place within a page and within the sets of the first-level caches is what varies."""


def padding_source(seed: bytes, objects: Sequence[str]) -> tuple[bytes, list[str]]:
    """Return the text of `padding.s` and the order of the link, which names it.

    Args:
        seed: From which everything is drawn; the same seed gives the same layout.
        objects: Names of the program's own objects.
    """
    draw = random.Random(seed)  # noqa: S311  # a layout is no secret
    text, data, bss = (STEP * draw.randrange(1, MOST_STEPS + 1) for _ in range(3))
    order = list(objects)
    draw.shuffle(order)
    source = (
        f"    .text\n    .balign {STEP}\n    .skip {text}, 0x90\n"
        f"    .data\n    .balign {STEP}\n    .skip {data}, 1\n"
        f"    .bss\n    .balign {STEP}\n    .skip {bss}\n"
        '    .section .note.GNU-stack,"",%progbits\n'
    )
    return source.encode(), ["padding.s", *order]
