"""The bus in memory keeps the contracts."""

import pytest
from contract.blobs_contract import BlobsContract
from contract.log_contract import LogContract

from kernelmill.bus import BlobCorruptError, Bus
from kernelmill.bus.memory import MemoryBlobs, MemoryLog, MemorySecrets


@pytest.fixture
def bus() -> Bus:
    return Bus(MemoryLog(), MemoryBlobs(), MemorySecrets())


class TestMemoryLog(LogContract):
    @staticmethod
    async def publish_raw(bus: Bus, subject: str, headers: dict[str, str], body: bytes) -> None:
        assert isinstance(bus.log, MemoryLog)
        await bus.log.append_message(subject, headers, body)


class TestMemoryBlobs(BlobsContract):
    async def test_a_damaged_blob_is_not_handed_out(self, bus: Bus) -> None:
        ref = await bus.blobs.put(b"data", "source")
        assert isinstance(bus.blobs, MemoryBlobs)
        bus.blobs.stored[ref.digest] = b"Data"
        with pytest.raises(BlobCorruptError):
            await bus.blobs.get(ref)
