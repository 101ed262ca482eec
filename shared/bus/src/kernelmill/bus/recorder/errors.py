"""Turns the bus's errors into those that users of the library expect."""

from collections.abc import Iterator
from contextlib import contextmanager

from eventsourcing.persistence import DataError, IntegrityError, OperationalError

from kernelmill.bus.errors import (
    CommandReusedError,
    ConflictError,
    HaltedError,
    LogUnavailableError,
    MalformedMessageError,
    NotProvisionedError,
    OversizedEventError,
)
from kernelmill.events import DecodeError


@contextmanager
def translated() -> Iterator[None]:
    """Raise the library's errors in place of ours; ours stays their cause.

    Raises:
        IntegrityError: the stream has moved on, or an id was used for another event.
        DataError: an event cannot be stored as it is, or one on the log cannot be understood.
        OperationalError: the log does not answer, or is not there.
    """
    try:
        yield
    except (ConflictError, CommandReusedError) as error:
        raise IntegrityError(str(error)) from error
    except (OversizedEventError, MalformedMessageError, HaltedError, DecodeError) as error:
        raise DataError(str(error)) from error
    except (LogUnavailableError, NotProvisionedError) as error:
        raise OperationalError(str(error)) from error
