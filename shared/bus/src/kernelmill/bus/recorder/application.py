"""The library's application over the log."""

from typing import ClassVar

from eventsourcing.application import Application

from kernelmill.bus.recorder.mapper import LoggedEvent
from kernelmill.events import Event


class LogApplication(Application[str]):
    """Gives a `ProjectionRunner` the log to project, and other programs the library's ways to read and append.

    It makes no aggregates: state comes from folds over the events, as everywhere in the product.
    """

    name = "kernelmill"
    env: ClassVar[dict[str, str]] = {"PERSISTENCE_MODULE": "kernelmill.bus.recorder"}

    def append(self, *events: Event, after: int) -> list[int]:
        """Append events of one stream and return their sequences.

        Args:
            events: all or none of them are stored.
            after: the version of the stream's last event as the caller knows it, 0 for an empty stream.

        Raises:
            IntegrityError: the stream has moved on: load it and decide again.
        """
        logged = [LoggedEvent.of(event, version) for version, event in enumerate(events, after + 1)]
        return [recording.notification.id for recording in self.save(*logged)]

    def stream(self, originator_id: str) -> list[Event]:
        """Return the events of one stream, `<target>.<campaign>.<stream>.<id>`, in order."""
        return [logged.event for logged in self.events.get(originator_id) if isinstance(logged, LoggedEvent)]
