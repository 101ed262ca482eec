"""An incremental Merkle tree: the root over all leaves so far, in memory logarithmic in their number."""

import hashlib


def _leaf(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


class MerkleFrontier:
    """The roots of the perfect subtrees of an append-only Merkle tree (RFC 6962, section 2.1).

    Appending costs O(1) hashes on average, the root O(log n). The root equals that of the recursive definition.
    """

    def __init__(self) -> None:
        self.count = 0
        """Leaves so far."""
        self._roots: list[bytes] = []

    def append(self, data: bytes) -> None:
        """Add one leaf."""
        root = _leaf(data)
        size = self.count
        while size & 1:
            root = _node(self._roots.pop(), root)
            size >>= 1
        self._roots.append(root)
        self.count += 1

    def root(self) -> str:
        """Return the root as 64 hexadecimal digits; the hash of nothing for an empty tree."""
        if not self._roots:
            return hashlib.sha256(b"").hexdigest()
        root = self._roots[-1]
        for left in reversed(self._roots[:-1]):
            root = _node(left, root)
        return root.hex()
