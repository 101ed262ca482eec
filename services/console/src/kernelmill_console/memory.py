"""Asks the lessons service what the swarm has learned."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict

from kernelmill.bus import Bus, NoAnswerError
from kernelmill_console.errors import ConsoleError
from kernelmill_console.output import PEOPLE, print_json, print_rows

_ASK_SECONDS = 30.0
_REBUILD_SECONDS = 600.0


class EffectRow(BaseModel):
    """What is known about one technique."""

    model_config = ConfigDict(extra="ignore")

    lesson: str
    problem: str
    target: str
    technique: str
    tried: int
    accepted: int
    rejected: int
    inconclusive: int
    median_gain: float | None


async def list_lessons(bus: Bus, *, as_json: bool) -> int:
    """Print the effects of techniques as the lessons service has folded them."""
    answer = await _ask(bus, "lessons.list", {}, _ASK_SECONDS)
    rows = [EffectRow.model_validate(item) for item in answer["effects"]]
    columns = [
        ("problem", "problem"),
        ("technique", "technique"),
        ("tried", "tried"),
        ("accepted", "accepted"),
        ("rejected", "rejected"),
        ("median_gain", "median gain (ln)"),
    ]
    print_rows(rows, columns, as_json=as_json, empty="nothing has been learned yet")
    if not as_json:
        stale = f" (stale: {answer['halted']})" if answer["halted"] else ""
        PEOPLE.print(f"folded up to sequence {answer['position']}{stale}")
    return 0


async def rebuild_lessons(bus: Bus, *, compare: bool, as_json: bool) -> int:
    """Have the memory rebuilt from the log; with `compare` the exit code is 1 unless it equals the live one."""
    answer = await _ask(bus, "lessons.rebuild", {"verify": compare}, _REBUILD_SECONDS)
    if as_json:
        print_json(answer)
    else:
        equal = "not compared" if answer["equal"] is None else "equal" if answer["equal"] else "DIFFERENT"
        PEOPLE.print(
            f"rebuilt from {answer['events']} events in {answer['seconds']:.2f} s; live and rebuilt: {equal} "
            f"({answer['digest'][:12]})"
        )
    return 1 if answer["equal"] is False else 0


async def _ask(bus: Bus, what: str, question: dict[str, Any], seconds: float) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = json.loads(await bus.ask(what, json.dumps(question).encode(), timeout=seconds))
    except NoAnswerError as error:
        raise ConsoleError(f"{error} See logs/lessons-1.log in the data folder.") from error
    return answer
