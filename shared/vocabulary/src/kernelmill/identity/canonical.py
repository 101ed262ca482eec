"""Canonical JSON (RFC 8785) and length-framed sha256 digests."""

import hashlib
from collections.abc import Iterable
from typing import Any

import rfc8785


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 bytes of a JSON value: equal values give equal bytes.

    Raises:
        rfc8785.CanonicalizationError: for non-finite floats, integers beyond 2**53 and types that JSON lacks.
    """
    return rfc8785.dumps(value)


def digest_bytes(data: bytes) -> str:
    """Return the sha256 of `data` as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digest_json(value: Any) -> str:
    """Return the sha256 of the canonical JSON of `value`."""
    return digest_bytes(canonical_json(value))


def digest_framed(parts: Iterable[bytes]) -> str:
    """Return the sha256 over the parts, each preceded by its length as eight big-endian bytes.

    Framing keeps ("ab", "c") and ("a", "bc") apart.
    """
    state = hashlib.sha256()
    for part in parts:
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.hexdigest()
