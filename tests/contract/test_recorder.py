"""The recorder passes the published test cases of the library `eventsourcing`, on a server and in memory."""

from collections.abc import Iterator

import pytest
from eventsourcing.persistence import AggregateRecorder, NotSupportedError, ProcessRecorder, TrackingRecorder
from eventsourcing.tests import persistence as published
from eventsourcing.utils import Environment
from support.opaque import OpaqueCodec

from kernelmill.bus import connect
from kernelmill.bus.memory import MemoryLog
from kernelmill.bus.recorder import LogFactory, LogRecorder, LoopThread

MODULE = "kernelmill.bus.recorder"


@pytest.fixture
async def provisioned(nats_url: str) -> str:
    async with connect(nats_url, role="console"):
        return nats_url


def environment(url: str) -> Environment:
    return Environment(
        "Published",
        {
            "PERSISTENCE_MODULE": MODULE,
            "KERNELMILL_NATS_URL": url,
            "CODEC_TOPIC": "support.opaque:OpaqueCodec",
            "MAPPER_TOPIC": "eventsourcing.persistence:Mapper",
            "TRANSCODER_TOPIC": "eventsourcing.persistence:JSONTranscoder",
        },
    )


class TestRecorderOnAServer(published.ApplicationRecorderTestCase[LogRecorder]):
    @pytest.fixture(autouse=True)
    def factory(self, provisioned: str) -> Iterator[None]:
        self._factory = LogFactory(environment(provisioned))
        yield
        self._factory.close()
        assert self._factory.ended(10)

    def create_recorder(self) -> LogRecorder:
        return self._factory.application_recorder()

    def test_insert_subscribe(self) -> None:
        self.optional_test_insert_subscribe()


class TestRecorderInMemory(published.ApplicationRecorderTestCase[LogRecorder]):
    @pytest.fixture(autouse=True)
    def thread(self) -> Iterator[None]:
        self._thread = LoopThread("test-recorder")
        yield
        self._thread.close()
        assert self._thread.ended(10)

    def create_recorder(self) -> LogRecorder:
        return LogRecorder(self._thread, MemoryLog(), OpaqueCodec())

    def test_insert_subscribe(self) -> None:
        self.optional_test_insert_subscribe()


class TestFactory(published.InfrastructureFactoryTestCase[LogFactory]):
    """The log keeps events only: where the published cases make recorders of positions, ours are refused."""

    @pytest.fixture(autouse=True)
    def provided(self, provisioned: str) -> None:
        self.env = environment(provisioned)

    def expected_factory_class(self) -> type[LogFactory]:
        return LogFactory

    def expected_aggregate_recorder_class(self) -> type[AggregateRecorder]:
        return LogRecorder

    def expected_application_recorder_class(self) -> type[LogRecorder]:
        return LogRecorder

    def expected_tracking_recorder_class(self) -> type[TrackingRecorder]:
        raise NotImplementedError

    def tracking_recorder_subclass(self) -> type[TrackingRecorder]:
        raise NotImplementedError

    def expected_process_recorder_class(self) -> type[ProcessRecorder]:
        raise NotImplementedError

    def test_create_tracking_recorder(self) -> None:
        with pytest.raises(NotSupportedError, match="name the database of the view"):
            self.factory.tracking_recorder()

    def test_create_process_recorder(self) -> None:
        with pytest.raises(NotSupportedError):
            self.factory.process_recorder()

    def test_snapshots_are_refused(self) -> None:
        with pytest.raises(NotSupportedError, match="no snapshots"):
            self.factory.aggregate_recorder(purpose="snapshots")
