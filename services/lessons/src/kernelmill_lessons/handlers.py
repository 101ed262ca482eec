"""Follows the log into the memory, and answers questions about it."""

import asyncio
import hashlib
import json
import time
from typing import Any

import structlog

from kernelmill.bus import Bus, HaltedError
from kernelmill_lessons.domain.notes import FOLDED, Memory
from kernelmill_lessons.domain.summaries import advice, effects, export, failures, stated
from kernelmill_lessons.storage import Store

_SAVE_EVERY = 500
_SAVE_SECONDS = 0.5

_logger = structlog.get_logger(__name__)


class Lessons:
    """The live projection and its rebuild."""

    def __init__(self, bus: Bus, store: Store) -> None:
        self._bus = bus
        self._store = store
        self._memory = store.load(bus.log.log_id)
        self._halted = ""
        self._saved = self._memory.position

    async def follow(self) -> None:
        """Fold the log for ever; at an event that cannot be understood stop, say so, and keep answering."""
        saving = asyncio.create_task(self._save_regularly())
        try:
            async for record in self._bus.log.follow(after=self._memory.position):
                self._memory.apply(record.sequence, record.event)
                if self._memory.position - self._saved >= _SAVE_EVERY:
                    self._save()
        except HaltedError as error:
            self._halted = str(error)
            _logger.error("the memory is stale from here on", why=str(error))  # noqa: TRY400 - the message says all
            await asyncio.Event().wait()
        finally:
            saving.cancel()
            self._save()

    async def _save_regularly(self) -> None:
        while True:
            await asyncio.sleep(_SAVE_SECONDS)
            self._save()

    def _save(self) -> None:
        if self._memory.position > self._saved:
            self._store.save(self._bus.log.log_id, self._memory)
            self._saved = self._memory.position

    async def answer_advice(self, payload: bytes) -> bytes:
        """`lessons.advice`: {problem, target, limit} to {position, halted, advice}."""
        question = json.loads(payload)
        rows = advice(self._memory, question["problem"], question["target"], int(question.get("limit", 12)))
        return self._answer({"advice": rows})

    async def answer_list(self, payload: bytes) -> bytes:  # noqa: ARG002 - every answer gets its question
        """`lessons.list`: {} to {position, halted, effects, failures, stated}."""
        memory = self._memory
        return self._answer({"effects": effects(memory), "failures": failures(memory), "stated": stated(memory)})

    async def answer_rebuild(self, payload: bytes) -> bytes:
        """`lessons.rebuild`: {verify} to {events, seconds, digest, equal}.

        The memory is rebuilt beside the live one from the first event on. With `verify` the two are compared at the
        live position; then the rebuilt one takes the live one's place.
        """
        verify = bool(json.loads(payload).get("verify"))
        live, position = export(self._memory), self._memory.position
        began = time.monotonic()
        rebuilt = await rebuild(self._bus, position)
        seconds = time.monotonic() - began
        data = export(rebuilt)
        equal = data == live
        if verify and not equal:
            _logger.error("the live memory differs from the rebuilt one", position=position)
        if self._memory.position == position:
            self._store.replace(self._bus.log.log_id, rebuilt)
            self._memory = rebuilt
        return self._answer(
            {
                "events": position,
                "seconds": seconds,
                "digest": hashlib.sha256(data).hexdigest(),
                "equal": equal if verify else None,
            }
        )

    def _answer(self, content: dict[str, Any]) -> bytes:
        return json.dumps({"position": self._memory.position, "halted": self._halted} | content).encode()


async def rebuild(bus: Bus, until: int) -> Memory:
    """Return the memory folded from the first event up to a sequence that the live fold has reached.

    The live fold has understood every body up to there, or it would have halted before: here only those are read on
    which the memory depends. Kind, version and place of all others are checked again.
    """
    memory = Memory()
    async for record in bus.log.replay(until=until, kinds=FOLDED):
        memory.apply(record.sequence, record.event)
    memory.position = until
    return memory
