"""What the benchmarks share: a factory on a temporary folder, campaigns, and timing of two programs on all rows."""

import asyncio
import math
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from support.factory import factory  # noqa: E402 - the path comes first

from kernelmill.bus import Bus, Recorded  # noqa: E402
from kernelmill.events import BuildOptions  # noqa: E402
from kernelmill.problems import Problem, load_problem  # noqa: E402
from kernelmill.targets.port import (  # noqa: E402
    Artifact,
    Limits,
    PairMeasured,
    PairPlan,
    Program,
    Target,
)
from kernelmill_console.domain.campaign_file import CampaignFile  # noqa: E402
from kernelmill_console.opening import open_campaign  # noqa: E402


def problem_of(name: str) -> Problem:
    return load_problem(ROOT / "kernels" / name)


@asynccontextmanager
async def running(counts: dict[str, int] | None = None) -> AsyncIterator[Bus]:
    """Yield the bus of a factory on a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="kernelmill-") as folder:
        async with factory(Path(folder), counts) as (bus, _):
            yield bus


async def run_campaign(bus: Bus, problem: Problem, content: dict[str, object]) -> list[Recorded]:
    """Run a campaign to its end and return its events."""
    file = CampaignFile.model_validate({"problem": problem.name} | content)
    opened = await open_campaign(bus, file, problem)
    records = []
    async for record in bus.log.follow():
        if getattr(record.event, "campaign", None) == opened.campaign:
            records.append(record)
            if record.event.kind == "CampaignClosed":
                break
    return records


def moment(records: list[Recorded], kind: str) -> datetime:
    return next(record.event.recorded_at for record in records if record.event.kind == kind)


def counts(records: list[Recorded]) -> Counter[str]:
    return Counter(record.event.kind for record in records)


def confirming_seconds(records: list[Recorded]) -> float:
    """Return the seconds during which the device was busy with confirmations."""
    asked = {
        record.event.confirmation: record.event.recorded_at
        for record in records
        if record.event.kind == "ConfirmationRequested"
    }
    return sum(
        (record.event.recorded_at - asked[record.event.confirmation]).total_seconds()
        for record in records
        if record.event.kind == "ConfirmationMeasured"
    )


def geometric_speedup(
    target: Target, problem: Problem, candidate: Program, opponent: Program, pairs: int = 6
) -> tuple[float, dict[str, float]]:
    """Return opponent time over candidate time: geometric mean over the timed rows, and by row."""
    rows: dict[str, float] = {}
    for workload in problem.timed_workloads:
        scores = []
        for _ in range(pairs):
            sides = [
                target.compile(side, layout_seed=None if side.language == "python" else secrets.token_bytes(16))
                for side in (candidate, opponent)
            ]
            left, right = sides
            if not isinstance(left, Artifact) or not isinstance(right, Artifact):
                raise SystemExit(f"a program does not build: {sides}")
            plan = PairPlan(duels=20, seed=secrets.token_bytes(32))
            measured = target.time_pair(left, right, problem.timed_row(workload.uuid), plan, Limits())
            if not isinstance(measured, PairMeasured):
                raise SystemExit(f"row {workload.uuid} could not be timed: {measured}")
            scores.append(measured.score.log_ratio)
        rows[workload.uuid] = math.exp(sorted(scores)[len(scores) // 2])
    return math.exp(math.fsum(math.log(value) for value in rows.values()) / len(rows)), rows


def baseline_program(target: Target, problem: Problem, name: str, flags: tuple[str, ...] = ()) -> Program:
    source = problem.baselines[name]
    build = target.resolve(BuildOptions(flags=flags or (source.sweep[0].flags if source.kind == "c" else ())))
    return Program(source.files, source.entry, build, source.kind, source.link)


def run(work: object) -> None:
    asyncio.run(work)  # type: ignore[arg-type]
