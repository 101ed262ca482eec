"""A whole factory of real processes on a fresh data folder, and ways to hurt it."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from kernelmill.bus import Bus, connect
from kernelmill.events import CampaignOpened
from kernelmill.folds import CampaignFold
from kernelmill_console.domain.campaign_file import BudgetSection, CampaignFile
from kernelmill_console.opening import open_campaign
from kernelmill_console.problems import find_problem
from kernelmill_console.supervisor import Supervisor

KERNELS = Path(__file__).parents[2] / "kernels"


@asynccontextmanager
async def factory(data: Path, counts: dict[str, int] | None = None) -> AsyncIterator[tuple[Bus, Supervisor]]:
    """Start nats-server and all services on a folder."""
    supervisor = Supervisor(data, counts or {})
    await supervisor.start()
    try:
        async with connect(supervisor.url, role="console") as bus:
            yield bus, supervisor
    finally:
        await supervisor.stop()


async def begin(
    bus: Bus, evaluations: int, minutes: float, problem: str = "rmsnorm", **fields: object
) -> CampaignOpened:
    """Open a campaign with a small budget on two short rows."""
    content = {
        "problem": problem,
        "workloads": ("smollm2-128", "odd-33"),
        "baselines": ("c-o3", "numpy"),
        "seed": 1,
        "budget": BudgetSection(evaluations=evaluations, minutes=minutes),
    }
    file = CampaignFile.model_validate(content | fields)
    return await open_campaign(bus, file, find_problem(str(KERNELS / problem), Path.cwd()))


async def until(bus: Bus, campaign: str, reached: Callable[[CampaignFold], bool], seconds: float) -> CampaignFold:
    """Follow the log until a campaign's fold fulfils a condition."""
    fold = CampaignFold(campaign)
    async with asyncio.timeout(seconds):
        async for record in bus.log.follow():
            fold.apply(record.sequence, record.event)
            if reached(fold):
                break
    return fold


class Assassin:
    """Kills services and the server with SIGKILL at random moments."""

    def __init__(self, supervisor: Supervisor, seed: int) -> None:
        self._supervisor = supervisor
        self._chance = random.Random(seed)  # noqa: S311 - a test that can be repeated
        self.kills = 0

    async def work(self, kills: int, pause: tuple[float, float]) -> None:
        """Kill so many times, with pauses in seconds between `pause`'s bounds."""
        while self.kills < kills:
            await asyncio.sleep(self._chance.uniform(*pause))
            pids = [
                service.process.pid
                for service in self._supervisor.services
                if service.process is not None and service.process.returncode is None
            ]
            server = self._supervisor.server_pid
            if server is not None:
                pids.append(server)
            with suppress(ProcessLookupError, IndexError):
                os.kill(self._chance.choice(pids), signal.SIGKILL)
                self.kills += 1
