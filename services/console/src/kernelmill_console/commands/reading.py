"""Commands that read: campaigns, leaderboard, explain, audit, lessons, follow, export."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cyclopts import App
from pydantic import BaseModel

from kernelmill.bus import Bus, Recorded
from kernelmill.events import CampaignOpened
from kernelmill.folds import CampaignFold, WorldFold, leaderboard
from kernelmill_console.audit import audit_log
from kernelmill_console.commands.running import Json
from kernelmill_console.domain.activity import Activity
from kernelmill_console.domain.ids import SHORT, opponent_name, resolve
from kernelmill_console.domain.story import candidate_story, tell
from kernelmill_console.errors import ConsoleError
from kernelmill_console.export import export_champion
from kernelmill_console.memory import list_lessons, rebuild_lessons
from kernelmill_console.output import PEOPLE, print_json, print_rows
from kernelmill_console.reach import DEFAULT_DATA, reach_factory, reach_log, run_to_end


class StandingRow(BaseModel):
    """One row of the leaderboard."""

    candidate: str
    standing: str
    estimate: float
    confirmed: str
    origin: str
    techniques: tuple[str, ...]
    author: str


def register(app: App) -> None:
    """Add the commands to the command line."""
    app.command(campaigns)
    app.command(show_leaderboard, name="leaderboard")
    app.command(explain)
    app.command(audit)
    app.command(lessons)
    app.command(follow)
    app.command(export)


def campaigns(*, data: Path = DEFAULT_DATA, as_json: Json = False) -> int:
    """List the campaigns of the log, the newest last."""

    async def work() -> int:
        async with reach_log(data) as bus:
            rows = [activity.summary(datetime.now(UTC)) for activity in (await _activities(bus)).values()]
        columns = [
            ("campaign", "campaign"),
            ("problem", "problem"),
            ("status", "status"),
            ("reason", "reason"),
            ("proposed", "proposed"),
            ("judged", "judged"),
            ("timed", "timed"),
            ("best_estimate", "best estimate"),
        ]
        print_rows(rows, columns, as_json=as_json, empty="no campaign yet: start one with `kernelmill run PROBLEM`")
        return 0

    return run_to_end(work)


def show_leaderboard(
    campaign: str | None = None, /, *, limit: int = 20, data: Path = DEFAULT_DATA, as_json: Json = False
) -> int:
    """List the accepted candidates of a campaign (default: the newest), the champion first.

    Estimates are biased upwards by selection; only the champion's confirmed figures are results.
    """

    async def work() -> int:
        async with reach_log(data) as bus:
            fold = _chosen(await _activities(bus), campaign).fold
        rows = [
            StandingRow(
                candidate=row.candidate if as_json else row.candidate[:SHORT],
                standing=row.standing,
                estimate=row.speedup,
                confirmed=", ".join(
                    f"{effect.speedup.estimate:.3f}x over {opponent_name(name)}"
                    for name, effect in row.confirmed.items()
                ),
                origin=row.origin,
                techniques=row.techniques,
                author=row.author,
            )
            for row in leaderboard(fold, limit)
        ]
        columns = [
            ("candidate", "candidate"),
            ("standing", "standing"),
            ("estimate", "estimate"),
            ("confirmed", "confirmed"),
            ("origin", "origin"),
            ("techniques", "techniques"),
        ]
        print_rows(rows, columns, as_json=as_json, empty="no candidate has been accepted")
        return 0

    return run_to_end(work)


def explain(candidate: str, /, *, data: Path = DEFAULT_DATA, as_json: Json = False) -> int:
    """Tell the story of a candidate; each statement names its event."""

    async def work() -> int:
        async with reach_log(data) as bus:
            records = [record async for record in bus.log.replay()]
        known = (str(getattr(record.event, "candidate", "")) for record in records)
        wanted = resolve(candidate, (item for item in known if item), "candidate")
        story = candidate_story((record.event for record in records), wanted)
        if as_json:
            for item in story:
                print_json({"when": item.when.isoformat(), "text": item.text, "event": item.event_id})
            return 0
        PEOPLE.print(f"candidate {wanted}")
        for item in story:
            PEOPLE.print(f"{item.when:%Y-%m-%d %H:%M:%S} {item.text}", highlight=False, markup=False)
            PEOPLE.print(f"    event {item.event_id}", style="dim", highlight=False)
        return 0

    return run_to_end(work)


def audit(campaign: str | None = None, /, *, data: Path = DEFAULT_DATA, as_json: Json = False) -> int:
    """Recompute what the log says: chains, verdicts, champions, budgets, commitments (exit code 1: it differs)."""

    async def work() -> int:
        async with reach_log(data) as bus:
            report = await audit_log(bus, campaign)
        if as_json:
            print_json(report)
        else:
            for line in report.lines():
                PEOPLE.print(line, highlight=False, markup=False)
        return 0 if report.sound else 1

    return run_to_end(work)


def lessons(action: str = "list", /, *, verify: bool = False, data: Path = DEFAULT_DATA, as_json: Json = False) -> int:
    """Show what the swarm has learned, or rebuild it from the log.

    Parameters
    ----------
    action
        `list`, or `rebuild`.
    verify
        With `rebuild`: prove that the rebuilt memory equals the live one byte for byte; exit code 1 if not.
    data
        Data folder.
    as_json
        Print JSON.
    """
    if action not in {"list", "rebuild"}:
        raise ConsoleError(f"lessons {action}: use `lessons list` or `lessons rebuild`")

    async def work() -> int:
        async with reach_factory(data, roles=("lessons",)) as (bus, _):
            if action == "rebuild":
                return await rebuild_lessons(bus, compare=verify, as_json=as_json)
            return await list_lessons(bus, as_json=as_json)

    return run_to_end(work)


def follow(*, after: int | None = None, data: Path = DEFAULT_DATA, as_json: Json = False) -> int:
    """Follow the log from a sequence on (default: from now on), one line or one JSON object an event, until Ctrl-C."""

    async def work() -> int:
        async with reach_log(data) as bus:
            start = await bus.log.last_sequence() if after is None else after
            async for record in bus.log.follow(after=start):
                _print_event(record, as_json=as_json)
        return 0

    return run_to_end(work)


def export(campaign: str | None = None, /, *, out: Path | None = None, data: Path = DEFAULT_DATA) -> int:
    """Export the champion of a campaign (default: the newest) again."""

    async def work() -> int:
        async with reach_log(data) as bus:
            activity = _chosen(await _activities(bus), campaign)
            world = WorldFold()
            async for record in bus.log.replay():
                world.apply(record.sequence, record.event)
            fold = activity.fold
            records = await bus.log.read_campaign(fold.campaign)
            problem = fold.objective.problem if fold.objective else fold.campaign
            folder = await export_champion(bus, fold.campaign, records, world, out or Path("champions") / problem)
        PEOPLE.print(f"exported to {folder}/")
        return 0

    return run_to_end(work)


async def _activities(bus: Bus) -> dict[str, Activity]:
    found: dict[str, Activity] = {}
    async for record in bus.log.replay():
        event = record.event
        if isinstance(event, CampaignOpened):
            found.setdefault(event.campaign, Activity(CampaignFold(event.campaign, lean=True)))
        activity = found.get(str(getattr(event, "campaign", "")))
        if activity is not None:
            activity.apply(record.sequence, event)
    return found


def _chosen(activities: dict[str, Activity], campaign: str | None) -> Activity:
    if not activities:
        raise ConsoleError("the log holds no campaign: start one with `kernelmill run PROBLEM`")
    if campaign is None:
        return list(activities.values())[-1]
    return activities[resolve(campaign, activities, "campaign")]


def _print_event(record: Recorded, *, as_json: bool) -> None:
    if as_json:
        body: dict[str, Any] = {"sequence": record.sequence, "event": record.event.model_dump(mode="json")}
        print_json(body)
        return
    where = str(getattr(record.event, "candidate", "") or getattr(record.event, "task", ""))[:SHORT]
    text = tell(record.event)
    tail = "" if text == record.event.kind else f"  {text}"
    PEOPLE.print(f"{record.sequence:>7} {record.event.kind:<22} {where:<12}{tail}", highlight=False, markup=False)
