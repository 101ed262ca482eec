"""The log as a recorder of the library `eventsourcing`: read it with a Projection, or write our events through it.

Name this module as the library's PERSISTENCE_MODULE, or use `LogApplication`, which does. The library is synchronous:
from a program that runs a loop of its own, call it with `asyncio.to_thread`. Install the extra `recorder`.
"""

from kernelmill.bus.recorder.application import LogApplication
from kernelmill.bus.recorder.codec import Codec, WireCodec, address_of, originator_of
from kernelmill.bus.recorder.factory import LogFactory
from kernelmill.bus.recorder.mapper import LoggedEvent, WireMapper, WireTranscoder
from kernelmill.bus.recorder.recorder import LogRecorder
from kernelmill.bus.recorder.subscription import LogSubscription
from kernelmill.bus.recorder.thread import LoopThread

__all__ = [
    "Codec",
    "LogApplication",
    "LogFactory",
    "LogRecorder",
    "LogSubscription",
    "LoggedEvent",
    "LoopThread",
    "WireCodec",
    "WireMapper",
    "WireTranscoder",
    "address_of",
    "originator_of",
]
