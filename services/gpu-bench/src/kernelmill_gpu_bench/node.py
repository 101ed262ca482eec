"""The life of a node on the log: it joins, is calibrated, is perhaps quarantined, and leaves."""

import asyncio
import secrets
from datetime import UTC, datetime

import structlog

from kernelmill.bus import ABSENT, Bus, ConflictError, Recorded, StreamAddress
from kernelmill.events import NodeCalibrated, NodeEvent, NodeJoined, NodeLeft, NodeQuarantined, PowerPoint
from kernelmill.evidence import default_policy
from kernelmill.identity import command_id
from kernelmill.targets.port import Target
from kernelmill_gpu_bench.calibration import Calibration, calibrate
from kernelmill_gpu_bench.domain.power import power_curve

_TRIES = 3
_RECOVERY_SECONDS = 20.0

_logger = structlog.get_logger(__name__)


class NodeLife:
    """Announces one node."""

    def __init__(self, bus: Bus, target: Target, node: str) -> None:
        self._bus = bus
        self._target = target
        self.node = node
        self._address = StreamAddress(target.name, ABSENT, "node", node)
        self._calibration = ""
        self.quarantined = ""
        """Why nothing may be measured here; empty if it may."""

    async def join(self) -> None:
        """Say that the node is ready, and calibrate it; a failed calibration quarantines it."""
        records = await self._bus.log.read_stream(self._address)
        last = records[-1].sequence if records else 0
        fingerprint = await asyncio.to_thread(self._target.fingerprint)
        joined = NodeJoined(
            event_id=command_id("NodeJoined", self.node, str(last)),
            recorded_at=datetime.now(UTC),
            target=self._target.name,
            node=self.node,
            fingerprint=fingerprint,
            capabilities=await asyncio.to_thread(self._target.capabilities),
            sandboxing=await asyncio.to_thread(self._target.sandboxing),
        )
        await self._append(joined)
        for attempt in range(_TRIES):
            if await self._calibrate(f"{last}-{attempt}"):
                return
        await self._quarantine(joined, records)

    async def recover(self) -> None:
        """Calibrate a quarantined node again and again: the noise that failed it may have passed."""
        number = 0
        while True:
            await asyncio.sleep(_RECOVERY_SECONDS)
            if self.quarantined:
                number += 1
                last = await self._last()
                if await self._calibrate(f"{last}-again-{number}"):
                    _logger.info("the node is trusted again")

    async def calibrate(self, pairs: int, rows: int) -> NodeCalibrated:
        """Calibrate with many pairs on a person's request: how often would decisions be right here?

        The caller holds the device.
        """
        found = await asyncio.to_thread(calibrate, self._target, pairs)
        curve = await asyncio.to_thread(power_curve, found.ratios, rows, default_policy(), secrets.randbelow)
        return await self._announce(found, f"{await self._last()}-asked", curve)

    async def _calibrate(self, occasion: str) -> bool:
        """Calibrate once, put the result on the log, and return whether it is good."""
        found = await asyncio.to_thread(calibrate, self._target)
        await self._announce(found, occasion, ())
        return found.good

    async def _announce(self, found: Calibration, occasion: str, curve: tuple[PowerPoint, ...]) -> NodeCalibrated:
        self._calibration = command_id("NodeCalibrated", self.node, occasion)
        self.quarantined = "" if found.good else found.detail
        event = NodeCalibrated(
            event_id=self._calibration,
            recorded_at=datetime.now(UTC),
            target=self._target.name,
            node=self.node,
            outcome="good" if found.good else "failed",
            pair_sd=found.pair_sd,
            pair_bias=found.pair_bias,
            pairs=found.pairs,
            dispatch_ns=found.dispatch_ns,
            ceilings=found.ceilings,
            curve=curve,
        )
        await self._append(event)
        return event

    async def _quarantine(self, joined: NodeJoined, records: list[Recorded]) -> None:
        _logger.error("the node is quarantined; it is calibrated again from time to time", why=self.quarantined)
        good = [
            record.event.recorded_at
            for record in records
            if isinstance(record.event, NodeCalibrated) and record.event.outcome == "good"
        ]
        await self._append(
            NodeQuarantined(
                event_id=command_id("NodeQuarantined", self.node, self._calibration),
                recorded_at=datetime.now(UTC),
                target=self._target.name,
                node=self.node,
                suspect_since=good[-1] if good else joined.recorded_at,
                calibration=self._calibration,
                because=self.quarantined,
            )
        )

    async def leave(self) -> None:
        """Say that the bench has shut down in order."""
        last = await self._last()
        await self._append(
            NodeLeft(
                event_id=command_id("NodeLeft", self.node, str(last)),
                recorded_at=datetime.now(UTC),
                target=self._target.name,
                node=self.node,
                because="the bench was stopped",
            )
        )

    async def _last(self) -> int:
        records = await self._bus.log.read_stream(self._address)
        return records[-1].sequence if records else 0

    async def _append(self, event: NodeEvent) -> None:
        try:
            await self._bus.log.append(event, expected=None)
        except ConflictError:
            _logger.warning("another bench announces the same node", node=self.node)
