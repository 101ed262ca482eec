"""The command that shows what this machine offers and what weakens its evidence."""

import asyncio
import json
from pathlib import Path

from cyclopts import App
from pydantic import BaseModel

from kernelmill.bus import Bus
from kernelmill.events import NodeCalibrated, NodeJoined, NodeLeft
from kernelmill_console.commands.running import Json
from kernelmill_console.domain.doctor import diagnose
from kernelmill_console.errors import ConsoleError
from kernelmill_console.output import PEOPLE, print_rows
from kernelmill_console.reach import DEFAULT_DATA, reach_factory, run_to_end

_SECONDS = 120.0


class PointRow(BaseModel):
    """One row of `calibrate`."""

    node: str
    effect: float
    accepted: float
    confirmed: float


def register(app: App) -> None:
    """Add the command to the command line."""
    app.command(doctor)
    app.command(calibrate)


def doctor(*, data: Path = DEFAULT_DATA, as_json: Json = False) -> int:
    """Show sandbox, compilers, devices, clock and noise floor of every node; starts the factory for it if none runs.

    The exit code is 1 where something is missing without which candidates should not be run or figures not believed.
    """

    async def work() -> int:
        async with reach_factory(data) as (bus, _):
            joined, calibrated = await _calibrated_nodes(bus)
        findings = [item for node, event in joined.items() for item in diagnose(event, calibrated.get(node))]
        columns = [("node", "node"), ("about", "about"), ("level", ""), ("says", "what it says")]
        print_rows(findings, columns, as_json=as_json, empty="no node has joined")
        bad = sum(item.level == "bad" for item in findings)
        if not as_json:
            PEOPLE.print("this machine is fit to measure" if not bad else f"{bad} findings make its evidence worthless")
        return 1 if bad else 0

    return run_to_end(work)


def calibrate(*, pairs: int = 120, rows: int = 6, data: Path = DEFAULT_DATA, as_json: Json = False) -> int:
    """Measure how often this machine's decisions are right: identical code against itself, over many process pairs.

    Prints, for candidates of a known true speed-up, how many a verdict would accept and the first confirmation crown;
    at 1.00 these are the false ones. The result goes onto the log.

    Parameters
    ----------
    pairs
        Process pairs on each node; about eight a second.
    rows
        Rows over which a decision averages.
    data
        Data folder.
    as_json
        One JSON object a line.
    """

    async def work() -> int:
        async with reach_factory(data) as (bus, _):
            joined, _ = await _calibrated_nodes(bus)
            asked = json.dumps({"pairs": pairs, "rows": rows}).encode()
            answers = [await bus.ask(f"bench.calibrate.{node}", asked, timeout=_SECONDS + pairs) for node in joined]
        events = [NodeCalibrated.model_validate_json(answer) for answer in answers]
        points = [PointRow(node=event.node, **point.model_dump()) for event in events for point in event.curve]
        columns = [("node", "node"), ("effect", "true speed-up"), ("accepted", "accepted"), ("confirmed", "crowned")]
        print_rows(points, columns, as_json=as_json, empty="too few pairs for a curve: ask for 30 or more")
        for event in [] if as_json else events:
            PEOPLE.print(
                f"{event.node}: identical code differs by {event.pair_bias:+.2%}, pairs spread by {event.pair_sd:.2%} "
                f"({event.pairs} pairs): {event.outcome}",
                soft_wrap=True,
            )
        return 0 if all(event.outcome == "good" for event in events) else 1

    return run_to_end(work)


async def _calibrated_nodes(bus: Bus) -> tuple[dict[str, NodeJoined], dict[str, NodeCalibrated]]:
    """Return the live nodes with their latest calibration; waits until each has one since it joined."""
    joined: dict[str, NodeJoined] = {}
    calibrated: dict[str, NodeCalibrated] = {}
    end = await bus.log.last_sequence()
    try:
        async with asyncio.timeout(_SECONDS):
            async for record in bus.log.follow():
                match record.event:
                    case NodeJoined() as event:
                        joined[event.node] = event
                        calibrated.pop(event.node, None)
                    case NodeCalibrated() as event:
                        calibrated[event.node] = event
                    case NodeLeft() as event:
                        joined.pop(event.node, None)
                    case _:
                        pass
                if record.sequence >= end and joined and joined.keys() <= calibrated.keys():
                    break
    except TimeoutError:
        raise ConsoleError(
            f"no node was calibrated within {_SECONDS:.0f} s: look into logs/gpu-bench*.log of the data folder"
        ) from None
    return joined, calibrated
