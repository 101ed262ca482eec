"""Follows the log, keeps every open campaign's situation, and appends what is decided."""

import asyncio
import json
import time
from contextlib import suppress
from datetime import UTC, datetime

import structlog

from kernelmill.bus import Bus, ConflictError, LogUnavailableError, NoAnswerError, Recorded
from kernelmill.events import CampaignOpened, EventBase, LessonAdvice
from kernelmill.folds import CampaignFold, WorldFold
from kernelmill_planner.domain import Memory, Situation, decide

_TICK_SECONDS = 0.25
_MEMORY_SECONDS = 20.0
_ASK_SECONDS = 0.5
_ADVICE = 12

_logger = structlog.get_logger(__name__)


class Planner:
    """One planner. Several are safe: each decision is a conditional append on the campaign's stream."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._world = WorldFold()
        self._situations: dict[str, Situation] = {}
        self._awaited: dict[str, int] = {}
        """Sequence of the last own append by campaign: nothing more is decided before it was folded."""
        self._asked: dict[str, float] = {}
        self._asking: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._caught_up = False

    async def run(self) -> None:
        """Follow the log and decide until cancelled."""
        end = await self._bus.log.last_sequence()
        following = asyncio.create_task(self._follow(end))
        try:
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_TICK_SECONDS):
                        await self._news.wait()
                self._news.clear()
                if following.done():
                    following.result()
                if self._caught_up:
                    await self._decide()
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    async def _follow(self, end: int) -> None:
        self._caught_up = end == 0
        async for record in self._bus.log.follow():
            self._apply(record)
            self._caught_up = self._caught_up or record.sequence >= end
            self._news.set()

    def _apply(self, record: Recorded) -> None:
        event = record.event
        self._world.apply(record.sequence, event)
        if isinstance(event, CampaignOpened) and event.campaign not in self._situations:
            self._situations[event.campaign] = Situation(CampaignFold(event.campaign, lean=True), self._world)
        situation = self._situations.get(str(getattr(event, "campaign", "")))
        if situation is not None and situation.fold.apply(record.sequence, event):
            situation.archive.apply(event, situation.fold)
            if situation.fold.status == "closed":
                del self._situations[situation.fold.campaign]

    async def _decide(self) -> None:
        for campaign, situation in list(self._situations.items()):
            self._refresh_memory(situation)
            if situation.fold.last_sequence < self._awaited.get(campaign, 0):
                continue
            event = decide(situation, datetime.now(UTC))
            if event is not None:
                await self._append(situation, event)

    async def _append(self, situation: Situation, event: EventBase) -> None:
        fold = situation.fold
        on_campaign = event.declaration.stream == "campaign"
        expected, seen = fold.stream_sequence, fold.last_sequence
        if not on_campaign:
            expected = fold.candidates[event.stream_id()].last_sequence
        try:
            sequence = await self._bus.log.append(event, expected=expected)
        except ConflictError:
            # Something came after what this decision had seen: it is folded first, then the decision is made again.
            self._awaited[fold.campaign] = seen + 1
            return
        except LogUnavailableError as error:
            _logger.warning("the log is not available", error=str(error))
            return
        self._awaited[fold.campaign] = sequence
        _logger.info("decided", kind=type(event).__name__, campaign=fold.campaign)

    def _refresh_memory(self, situation: Situation) -> None:
        campaign = situation.fold.campaign
        if situation.by_hand or time.monotonic() - self._asked.get(campaign, -_MEMORY_SECONDS) < _MEMORY_SECONDS:
            return
        self._asked[campaign] = time.monotonic()
        task = asyncio.create_task(self._ask(situation))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask(self, situation: Situation) -> None:
        """Ask the lessons; without an answer the campaign goes on without memory, and its plans say so."""
        objective = situation.objective
        question = {"problem": objective.problem, "target": objective.target, "limit": _ADVICE}
        try:
            reply = await self._bus.ask("lessons.advice", json.dumps(question).encode(), timeout=_ASK_SECONDS)
        except NoAnswerError:
            return
        answer = json.loads(reply)
        advice = tuple(LessonAdvice.model_validate(item) for item in answer["advice"])
        situation.memory = Memory(int(answer["position"]), advice)
