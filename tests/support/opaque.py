"""A codec for the library's published test cases, which store any topic and any bytes under random UUIDs."""

from base64 import b64decode, b64encode
from typing import ClassVar
from uuid import UUID

from eventsourcing.persistence import StoredEvent

from kernelmill.bus.log import StoredMessage, StreamAddress
from kernelmill.events import Declaration, EventBase
from kernelmill.identity import new_id
from support.events import START


class Opaque(EventBase):
    """A stored event as it is; its stream is named by its originator."""

    declaration: ClassVar[Declaration] = Declaration("log", "originator", frozenset({"console"}))

    originator: str
    version: int
    topic: str
    state: str


class OpaqueCodec:
    """Versions are what the writer says, as long as they grow: the published cases begin with 0 or 1."""

    def address(self, originator_id: UUID | str) -> StreamAddress:
        return StreamAddress("_", "_", "log", str(originator_id))

    def event(self, stored: StoredEvent) -> Opaque:
        return Opaque(
            event_id=new_id("opaque"),
            recorded_at=START,
            originator=str(stored.originator_id),
            version=stored.originator_version,
            topic=stored.topic,
            state=b64encode(stored.state).decode(),
        )

    def follows(self, version: int, last: int | None) -> bool:
        return last is None or version > last

    def read(self, message: StoredMessage, ordinal: int) -> StoredEvent:
        held = Opaque.model_validate_json(message.body)
        return StoredEvent(UUID(held.originator), held.version, held.topic, b64decode(held.state))
