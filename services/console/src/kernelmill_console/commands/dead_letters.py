"""The command that lists, explains and replays messages which a worker gave up."""

from datetime import datetime
from pathlib import Path

from cyclopts import App
from pydantic import BaseModel

from kernelmill.bus import Bus, DeadLetter, dead_letters, deliver_again
from kernelmill_console.commands.running import Json
from kernelmill_console.errors import ConsoleError
from kernelmill_console.output import PEOPLE, complain, print_rows
from kernelmill_console.reach import DEFAULT_DATA, reach_log, run_to_end


class LetterRow(BaseModel):
    """One row of `dead-letters`."""

    number: int
    at: datetime | None
    worker: str
    sequence: int
    end: str
    subject: str
    because: str


def register(app: App) -> None:
    """Add the command to the command line."""
    app.command(show_dead_letters, name="dead-letters")


def show_dead_letters(*, replay: int | None = None, data: Path = DEFAULT_DATA, as_json: Json = False) -> int:
    """List messages that a worker could not understand or the bus stopped delivering. The log still holds them.

    Parameters
    ----------
    replay
        Number of the one that its worker shall handle again, once the cause is gone.
    data
        Data folder.
    as_json
        One JSON object a line.
    """

    async def work() -> int:
        async with reach_log(data) as bus:
            found = await letters(bus)
            if replay is not None:
                return await _replay(bus, found, replay)
        rows = [LetterRow.model_validate(letter, from_attributes=True) for letter in found]
        columns = [(name, name) for name in LetterRow.model_fields if name != "at"]
        print_rows(rows, columns, as_json=as_json, empty="no dead letters: every message was handled")
        return 0

    return run_to_end(work)


async def letters(bus: Bus) -> list[DeadLetter]:
    """Return all dead letters."""
    return [letter async for letter in dead_letters(bus.client)] if bus.client is not None else []


async def _replay(bus: Bus, found: list[DeadLetter], number: int) -> int:
    letter = next((letter for letter in found if letter.number == number), None)
    if letter is None or bus.client is None:
        raise ConsoleError(f"there is no dead letter {number}: list them with `kernelmill dead-letters`")
    failed = await deliver_again(bus.client, letter)
    if failed:
        complain(f"{letter.worker} could not handle message {letter.sequence}: {failed}")
        return 1
    PEOPLE.print(f"{letter.worker} has handled message {letter.sequence}", soft_wrap=True)
    return 0
