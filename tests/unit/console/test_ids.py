"""Short forms of ids."""

import pytest

from kernelmill_console.domain.ids import resolve
from kernelmill_console.errors import AmbiguousIdError


def test_a_prefix_or_an_ending_is_enough_if_it_fits_once() -> None:
    assert resolve("ab", ["abc", "xyz"], "candidate") == "abc"
    assert resolve("yz", ["abc", "xyz"], "candidate") == "xyz"
    assert resolve("ab", ["ab", "abc"], "candidate") == "ab"


def test_otherwise_it_says_what_fits() -> None:
    with pytest.raises(AmbiguousIdError, match="fits 2 candidates"):
        resolve("ab", ["abc", "abd"], "candidate")
    with pytest.raises(AmbiguousIdError, match="no candidate 'q'; the newest is abd"):
        resolve("q", ["abc", "abd"], "candidate")
