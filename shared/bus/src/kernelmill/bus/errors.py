"""Errors of the bus; each says what is wrong, where, and what to do."""


class BusError(Exception):
    """The root of this package's errors."""


class ConflictError(BusError):
    """The stream has moved on since it was read: reload it and decide again."""


class OversizedEventError(BusError):
    """The event is over the log's message limit: put the large part into a blob."""


class LogUnavailableError(BusError):
    """The log did not acknowledge in time; the outcome is unknown, so retry with the same command id."""


class HaltedError(BusError):
    """A reader met an event that it must understand and cannot: upgrade the program or void the event."""

    def __init__(self, sequence: int, message: str) -> None:
        super().__init__(f"the log cannot be read past sequence {sequence}: {message}")
        self.sequence = sequence


class MalformedMessageError(BusError):
    """A message of the log has no readable subject, headers or body, or they contradict each other: void it."""


class CommandReusedError(BusError):
    """An event id was used for two different events: each command needs parts of its own in `command_id`."""


class ChainBrokenError(BusError):
    """A stream's messages do not hash to what their successors recorded: the log was altered after the fact."""

    def __init__(self, sequence: int, message: str) -> None:
        super().__init__(f"tampering at sequence {sequence}: {message}")
        self.sequence = sequence


class BlobMissingError(BusError):
    """No blob is stored under the digest."""


class BlobCorruptError(BusError):
    """The stored bytes do not have the digest under which they are stored."""


class SecretMissingError(BusError):
    """No secret is stored under the name: the campaign that needs it is void."""


class NoAnswerError(BusError):
    """Nobody answered a request before its deadline: is the service that answers it running?"""


class ServerStartError(BusError):
    """The embedded nats-server did not become ready: read its log, whose path the message names."""


class NotProvisionedError(BusError):
    """The server lacks a stream, bucket or consumer that this program needs: run the provision step."""


class LauncherError(BusError):
    """The command names a service or console that is not installed."""
