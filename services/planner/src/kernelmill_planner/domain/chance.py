"""Chance without a generator: numbers that follow from what they are for."""

from collections.abc import Sequence
from typing import TypeVar

from kernelmill.identity import digest_framed

T = TypeVar("T")


def uniform(*context: str) -> float:
    """Return a number in [0, 1) that follows from the context alone."""
    return int(digest_framed(part.encode() for part in context)[:13], 16) / 16.0**13


def weighted(options: Sequence[tuple[T, float]], *context: str) -> T:
    """Return one option with probability proportional to its weight; the context decides.

    Raises:
        ValueError: there is no option with a positive weight.
    """
    total = sum(weight for _, weight in options)
    if total <= 0:
        raise ValueError("no option has a positive weight")
    point = uniform(*context) * total
    for option, weight in options:
        point -= weight
        if point < 0:
            return option
    return options[-1][0]
