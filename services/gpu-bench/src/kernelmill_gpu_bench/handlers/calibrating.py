"""Answers the question how far this node's decisions can be believed, with a calibration of many pairs."""

import json

from kernelmill_gpu_bench.handlers.workshop import Workshop

MOST_PAIRS = 1000


class Calibrating:
    """Calibrates on request."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def answer(self, payload: bytes) -> bytes:
        """Take `{"pairs": N, "rows": N}`, calibrate, and return the NodeCalibrated event as JSON."""
        asked = json.loads(payload)
        pairs, rows = min(int(asked["pairs"]), MOST_PAIRS), max(1, int(asked["rows"]))
        async with self._workshop.turns.urgent():
            event = await self._workshop.life.calibrate(pairs, rows)
        return event.model_dump_json().encode()
