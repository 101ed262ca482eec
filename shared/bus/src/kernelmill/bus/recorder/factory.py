"""The library's way to a recorder: everything by name from an environment."""

import asyncio
from typing import Final

from eventsourcing.domain import TAggregateID
from eventsourcing.persistence import (
    InfrastructureFactory,
    Mapper,
    NotSupportedError,
    OperationalError,
    ProcessRecorder,
    TrackingRecorder,
    Transcoder,
)
from eventsourcing.utils import Environment, EnvType, resolve_topic

from kernelmill.bus.connection import close_client, open_client
from kernelmill.bus.jetstream import JetStreamLog
from kernelmill.bus.log import Log
from kernelmill.bus.recorder.codec import Codec, WireCodec
from kernelmill.bus.recorder.errors import translated
from kernelmill.bus.recorder.mapper import WireMapper, WireTranscoder
from kernelmill.bus.recorder.recorder import LogRecorder
from kernelmill.bus.recorder.thread import LoopThread
from kernelmill.bus.settings import ServiceSettings

_CONNECT_SECONDS: Final = 15.0
_CONNECTION: Final = ("nats_url", "nats_user", "nats_password_file", "nats_credentials")


class LogFactory(InfrastructureFactory[TrackingRecorder]):
    """Makes recorders on the server that `KERNELMILL_NATS_URL` names.

    The server is reached when the first recorder is made, with the variables that services take: KERNELMILL_NATS_URL,
    KERNELMILL_NATS_USER, KERNELMILL_NATS_PASSWORD_FILE, KERNELMILL_NATS_CREDENTIALS. It must have a log already.
    CODEC_TOPIC names another codec than the product's.
    """

    CODEC_TOPIC = "CODEC_TOPIC"

    def __init__(self, env: Environment | EnvType | None) -> None:
        super().__init__(env)
        self._thread: LoopThread | None = None
        self._log: Log | None = None

    def application_recorder(self) -> LogRecorder:
        """Return a recorder on the log.

        Raises:
            OperationalError: the server is not reached within 15 seconds, or has no log.
        """
        if self._thread is None or self._log is None:
            self._thread = LoopThread("kernelmill-recorder")
            try:
                with translated():
                    self._log = self._thread.call(self._opened(self._thread))
            except BaseException:
                self.close()
                raise
        return LogRecorder(self._thread, self._log, self._codec())

    def aggregate_recorder(self, purpose: str = "events") -> LogRecorder:
        """Return a recorder on the log, for events only.

        Raises:
            NotSupportedError: for snapshots, which are no facts and do not belong on the log.
        """
        if purpose != "events":
            raise NotSupportedError(f"the log keeps no {purpose}: keep them in a database of your own")
        return self.application_recorder()

    def tracking_recorder(
        self,
        tracking_recorder_class: type[TrackingRecorder] | None = None,  # noqa: ARG002 - the library's signature
    ) -> TrackingRecorder:
        """Raise NotSupportedError: a position is stored with the view that it belongs to."""
        raise NotSupportedError(
            "the log keeps no positions of readers: name the database of the view, for example"
            " <PROJECTION>_PERSISTENCE_MODULE=eventsourcing.sqlite"
        )

    def process_recorder(self) -> ProcessRecorder:
        """Raise NotSupportedError: see `tracking_recorder`."""
        raise NotSupportedError("the log keeps no positions of readers: append by an application, track beside a view")

    def transcoder(self) -> Transcoder:
        """Return canonical JSON unless TRANSCODER_TOPIC names another one."""
        return super().transcoder() if self.env.get(self.TRANSCODER_TOPIC) else WireTranscoder()

    def mapper(
        self, transcoder: Transcoder | None = None, mapper_class: type[Mapper[TAggregateID]] | None = None
    ) -> Mapper[TAggregateID]:
        """Return the mapper of our events unless a class or MAPPER_TOPIC names another one."""
        if mapper_class is None and not self.env.get(self.MAPPER_TOPIC):
            return super().mapper(transcoder, WireMapper)  # type: ignore[arg-type] # originators are str
        return super().mapper(transcoder, mapper_class)

    def close(self) -> None:
        """End connection and thread soon; does not wait for them."""
        if self._thread is not None:
            self._thread.close()

    def ended(self, seconds: float) -> bool:
        """Return whether connection and thread have ended, after waiting up to `seconds` for them."""
        return self._thread is None or self._thread.ended(seconds)

    def _codec(self) -> Codec:
        topic = self.env.get(self.CODEC_TOPIC)
        codec: Codec = resolve_topic(topic)() if topic else WireCodec()
        return codec

    async def _opened(self, thread: LoopThread) -> Log:
        given = {name: self.env.get(f"KERNELMILL_{name.upper()}") for name in _CONNECTION}
        settings = ServiceSettings.model_validate({name: value for name, value in given.items() if value})
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                client = await open_client(settings, "recorder")
        except TimeoutError:
            raise OperationalError(
                f"no server answers within {_CONNECT_SECONDS:g} s; is KERNELMILL_NATS_URL right?"
            ) from None
        thread.on_close(lambda: close_client(client))
        return await JetStreamLog.open(client, f"kernelmill/recorder/{settings.instance}")
