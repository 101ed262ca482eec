"""What a worker sees of the bus: deliveries, the ways in which handling one can end, and the plan of a service."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from kernelmill.events import Event, EventBase


@dataclass(frozen=True)
class WorkFilter:
    """Events of one kind, optionally with one facet and of one target, that a worker competes for."""

    kind: type[EventBase]
    facet: str | None = None
    target: str | None = None


@dataclass(frozen=True)
class Delivery:
    """One event handed to a worker; the same event can be delivered more than once."""

    sequence: int
    event: Event
    attempt: int
    """How often the bus has delivered it; for logs only, decisions count events."""


class RetryLaterError(Exception):
    """Raised by a handler: not yet; deliver again after `delay` seconds."""

    def __init__(self, delay: float, because: str) -> None:
        super().__init__(because)
        self.delay = delay


Handler = Callable[[Delivery], Awaitable[None]]
"""Returns: done, acknowledge. RetryLaterError: deliver later. Other exceptions: the machinery failed, deliver again."""

Answer = Callable[[bytes], Awaitable[bytes]]
"""Answers one request; it returns the payload of the reply."""


@dataclass(frozen=True)
class Worker:
    """Work that the instances of a role compete for on one durable consumer."""

    durable: str
    """Name of the consumer, for example `verifier-check-cpu`; instances with the same name share its work."""
    filters: tuple[WorkFilter, ...]
    """What is delivered; an event matches when any of them does."""
    handler: Handler
    """Handles one delivery; it can be called again with the same event."""
    slots: int = 1
    """How many deliveries this instance handles at once."""


@dataclass
class ServicePlan:
    """What a service does: the runtime starts all of it and ends all of it."""

    workers: tuple[Worker, ...] = ()
    """Durable work."""
    tasks: tuple[Callable[[], Awaitable[None]], ...] = ()
    """Long-running coroutines, for example folds that follow the log; cancelled at shutdown."""
    answers: Mapping[str, Answer] = field(default_factory=dict)
    """Requests that the service answers, by what is asked, for example `lessons.advice`."""
    stop: Callable[[], Awaitable[None]] | None = None
    """Called last, to release what the plan opened."""
