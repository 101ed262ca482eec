"""`kernelmill run`: one campaign from its file to its exported champion."""

import asyncio
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from kernelmill.bus import Bus, ConflictError, Recorded, StreamAddress
from kernelmill.events import CampaignOpened, CampaignPaused, CampaignResumed
from kernelmill.folds import CampaignFold, WorldFold
from kernelmill.identity import command_id
from kernelmill_console.domain.activity import Activity
from kernelmill_console.domain.campaign_file import CampaignFile
from kernelmill_console.domain.ids import SHORT, opponent_name
from kernelmill_console.errors import ConsoleError, SupervisorError
from kernelmill_console.export import export_champion
from kernelmill_console.live import LiveView
from kernelmill_console.opening import open_campaign
from kernelmill_console.output import ERRORS, PEOPLE, print_json
from kernelmill_console.problems import find_problem
from kernelmill_console.reach import reach_factory
from kernelmill_console.supervisor import Supervisor

_REFRESH_SECONDS = 0.25


@dataclass(frozen=True)
class RunRequest:
    """What the command line asked for."""

    what: str | None
    """A problem's name, a problem's folder, or a campaign.toml; None to resume."""
    data: Path
    out: Path | None
    target: str | None = None
    evaluations: int | None = None
    minutes: float | None = None
    seed: int | None = None
    as_json: bool = False
    resume: bool = False


def read_campaign_file(request: RunRequest) -> tuple[CampaignFile, Path]:
    """Return the campaign's description and the folder to which its paths are relative."""
    if request.what is None:
        raise ConsoleError("name a problem or a campaign.toml, or resume the last campaign with --resume")
    path = Path(request.what)
    if path.suffix == ".toml":
        try:
            text = path.read_text()
        except OSError as error:
            raise ConsoleError(f"{path} cannot be read: {error.strerror}") from error
        return CampaignFile.parse(text, str(path)), path.resolve().parent
    return CampaignFile(problem=request.what), Path.cwd()


async def run_campaign(request: RunRequest) -> int:
    """Run the campaign and export its champion; exit code 0 with a champion, 3 without one, 130 after a pause."""
    interrupted = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupted.set)
    problem = None
    if not request.resume:
        file, folder = read_campaign_file(request)
        file = file.with_limits(request.evaluations, request.minutes, request.seed, request.target)
        problem = find_problem(file.problem, folder)
    async with reach_factory(request.data) as (bus, supervisor):
        if problem is None:
            opened = await resume_campaign(bus)
        else:
            opened = await open_campaign(bus, file, problem)
        watch = Watch(bus, opened.campaign, supervisor)
        view = LiveView(PEOPLE if not request.as_json else Console(quiet=True), quiet=request.as_json)
        with view:
            finished = await watch.until_closed(view, interrupted)
        if not finished:
            await pause_campaign(bus, opened, "interrupted at the terminal")
            ERRORS.print(
                f"paused {opened.campaign}; go on with `kernelmill run --resume --data {request.data}`", soft_wrap=True
            )
            return 130
        return await conclude(bus, watch, opened, request)


async def conclude(bus: Bus, watch: "Watch", opened: CampaignOpened, request: RunRequest) -> int:
    """Export the champion and tell the result."""
    summary = watch.activity.summary(datetime.now(UTC))
    folder = None
    if summary.champion is not None:
        into = request.out or Path("champions") / opened.objective.problem
        records = await bus.log.read_campaign(opened.campaign)
        folder = await export_champion(bus, opened.campaign, records, watch.world, into)
    if request.as_json:
        print_json(summary.model_dump(mode="json") | {"exported": str(folder) if folder else None})
    elif folder is None:
        PEOPLE.print(
            f"closed ({summary.reason}): no candidate was confirmed to be faster than the best baselines",
            soft_wrap=True,
        )
    else:
        for figure in summary.confirmed:
            name = opponent_name(figure.opponent)
            PEOPLE.print(
                f"confirmed {figure.speedup:.3f}x [{figure.low:.3f}, {figure.high:.3f}] over {name}", soft_wrap=True
            )
        PEOPLE.print(f"champion {str(summary.champion)[:SHORT]} is in {folder}/ (start with REPORT.md)", soft_wrap=True)
    return 0 if folder is not None else 3


class Watch:
    """Follows the log and keeps the folds that the console shows."""

    def __init__(self, bus: Bus, campaign: str, supervisor: Supervisor | None = None) -> None:
        self._bus = bus
        self._supervisor = supervisor
        self.activity = Activity(CampaignFold(campaign))
        self.world = WorldFold()

    def apply(self, record: Recorded) -> None:
        """Take the next event."""
        self.world.apply(record.sequence, record.event)
        self.activity.apply(record.sequence, record.event)

    async def until_closed(self, view: LiveView, interrupted: asyncio.Event) -> bool:
        """Follow and show the campaign; return True when it has closed and False when somebody interrupted.

        Raises:
            SupervisorError: a service died again and again, so that the campaign cannot end by itself.
        """
        following = asyncio.create_task(self._follow())
        stopping = asyncio.create_task(interrupted.wait())
        try:
            while not following.done():
                await asyncio.wait({following, stopping}, timeout=_REFRESH_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                view.update(self.activity, self._trouble())
                if stopping.done():
                    return False
            following.result()
            view.update(self.activity)
            return True
        finally:
            for task in (following, stopping):
                task.cancel()
            await asyncio.gather(following, stopping, return_exceptions=True)

    async def _follow(self) -> None:
        async for record in self._bus.log.follow():
            self.apply(record)
            if self.activity.fold.closed is not None:
                return

    def _trouble(self) -> str:
        if self._supervisor is None:
            return ""
        failed = self._supervisor.failed()
        if failed:
            logs = self._supervisor.data / "logs"
            raise SupervisorError(f"{', '.join(failed)} died again and again: look into {logs}")
        restarts = {service.name: service.restarts for service in self._supervisor.services if service.restarts}
        return "restarted: " + ", ".join(f"{name} {count}x" for name, count in restarts.items()) if restarts else ""


async def newest_open_campaign(bus: Bus) -> CampaignFold:
    """Return the newest campaign that is not closed.

    Raises:
        ConsoleError: there is none.
    """
    folds: dict[str, CampaignFold] = {}
    async for record in bus.log.replay():
        if isinstance(record.event, CampaignOpened):
            folds[record.event.campaign] = CampaignFold(record.event.campaign, lean=True)
        fold = folds.get(str(getattr(record.event, "campaign", "")))
        if fold is not None:
            fold.apply(record.sequence, record.event)
    open_ones = [fold for fold in folds.values() if fold.status != "closed"]
    if not open_ones:
        raise ConsoleError("there is no unfinished campaign to resume: start one with `kernelmill run PROBLEM`")
    return open_ones[-1]


async def resume_campaign(bus: Bus) -> CampaignOpened:
    """Resume the newest unfinished campaign and return its first event."""
    fold = await newest_open_campaign(bus)
    opened = fold.opened
    if opened is None:
        raise ConsoleError(f"the first event of campaign {fold.campaign} is missing: run `kernelmill audit`")
    if fold.status == "paused":
        event = CampaignResumed(
            event_id=command_id("CampaignResumed", opened.campaign, str(fold.stream_sequence)),
            recorded_at=datetime.now(UTC),
            target=opened.target,
            campaign=opened.campaign,
        )
        await bus.log.append(event, expected=None)
    return opened


async def pause_campaign(bus: Bus, opened: CampaignOpened, because: str) -> None:
    """Pause a campaign; a second pause changes nothing."""
    records = await bus.log.read_stream(StreamAddress.of(opened))
    event = CampaignPaused(
        event_id=command_id("CampaignPaused", opened.campaign, str(time.time_ns())),
        recorded_at=datetime.now(UTC),
        target=opened.target,
        campaign=opened.campaign,
        because=because,
    )
    if any(record.event.kind in {"CampaignClosing", "CampaignClosed"} for record in records):
        return
    with suppress(ConflictError):
        await bus.log.append(event, expected=None)
