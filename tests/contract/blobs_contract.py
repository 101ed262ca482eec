"""What every store of blobs and secrets promises."""

import os

import pytest

from kernelmill.bus import BlobMissingError, Bus, SecretMissingError
from kernelmill.events import BlobRef


class BlobsContract:
    """Subclasses provide the fixture `bus`."""

    @pytest.mark.parametrize("size", [0, 1, 1000, 512 * 1024, 512 * 1024 + 1, 1_300_000])
    async def test_what_is_put_comes_back(self, bus: Bus, size: int) -> None:
        data = os.urandom(size)
        ref = await bus.blobs.put(data, "source")
        assert ref.size == size
        assert await bus.blobs.put(data, "source") == ref
        assert await bus.blobs.get(ref) == data

    async def test_what_is_missing_says_so(self, bus: Bus) -> None:
        with pytest.raises(BlobMissingError, match="no blob aaaa"):
            await bus.blobs.get(BlobRef(digest="a" * 64, size=3, blob_class="source"))

    async def test_a_secret_is_created_once(self, bus: Bus) -> None:
        assert await bus.secrets.create("campaign-x-search", b"first") == b"first"
        assert await bus.secrets.create("campaign-x-search", b"second") == b"first"
        assert await bus.secrets.read("campaign-x-search") == b"first"
        with pytest.raises(SecretMissingError, match="no secret 'other'"):
            await bus.secrets.read("other")
