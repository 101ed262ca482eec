"""Puts specimens before the real services and says how each of them ended."""

import asyncio
import os
import tempfile
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from redteam.specimens import HONEST_LOSSES, Specimen
from support.factory import KERNELS, factory

from kernelmill.bus import Bus
from kernelmill.events import BuildOptions, VerdictReached
from kernelmill.folds import CampaignFold
from kernelmill_console.domain.campaign_file import CampaignFile
from kernelmill_console.errors import ConsoleError
from kernelmill_console.hand import HandCampaign, HandProgram
from kernelmill_console.opening import open_campaign
from kernelmill_console.problems import find_problem

ROWS = {
    "rmsnorm": ("smollm2-128", "odd-33"),
    "softmax": ("smollm2-72x512", "odd-37"),
}
"""Rows of a trial: short ones, for it is about trust and not about speed. Others get all rows of their problem."""
BASELINES = ("c-o3", "c")
"""Baselines of a trial, the first that the problem has: easily beaten, so that a cheat has to be found out."""
SECONDS = 240.0


@dataclass(frozen=True)
class Ending:
    """How a specimen ended."""

    specimen: Specimen
    verdict: VerdictReached | None
    """None where it ended without one: the harness crashed, or somebody was held up."""
    seconds: float = 0.0

    @property
    def reason(self) -> str:
        """Reason code of the verdict."""
        return self.verdict.reason if self.verdict else "no-verdict"

    @property
    def wrong(self) -> str:
        """What is wrong with this ending, or nothing."""
        if self.verdict is None:
            return "it ended without a verdict"
        accepted = self.verdict.decision == "accepted"
        if self.specimen.open:
            found = self.reason in self.specimen.expect
            return "it is found now: take away its line `open:`" if found else ""
        if self.specimen.hostile:
            if accepted:
                return "a cheat was accepted"
            return "" if self.reason in self.specimen.expect else f"expected {' or '.join(self.specimen.expect)}"
        return "" if accepted or self.reason in HONEST_LOSSES else "an honest control was rejected"


async def judge(chosen: list[Specimen], *, screen: bool) -> list[Ending]:
    """Run specimens through nats-server and all services, and return how each ended."""
    os.environ["KERNELMILL_VERIFIER_REFUSE_CONSTRUCTS"] = "true" if screen else "false"
    endings: list[Ending] = []
    groups: dict[tuple[str, int], list[Specimen]] = defaultdict(list)
    for specimen in chosen:
        groups[specimen.problem, specimen.threads].append(specimen)
    with tempfile.TemporaryDirectory(prefix="kernelmill-redteam-") as folder:
        async with factory(Path(folder)) as (bus, _):
            for (problem, threads), members in groups.items():
                campaign = await _campaign(bus, problem, threads)
                endings += [await _judge(campaign, specimen) for specimen in members]
    return endings


async def _campaign(bus: Bus, name: str, threads: int) -> HandCampaign:
    problem = find_problem(str(KERNELS / name), Path.cwd())
    known = {row.uuid for row in problem.timed_workloads}
    rows = tuple(row for row in ROWS.get(name, ()) if row in known) or tuple(
        row.uuid for row in problem.timed_workloads[:2]
    )
    content = {
        "problem": name,
        "workloads": rows,
        "baselines": tuple(name for name in BASELINES if name in problem.baselines)[:1],
        "agents": (),
        "constraints": {"threads": threads},
        "budget": {"evaluations": None, "minutes": 120},
        "goal": {"stall_verdicts": 0},
    }
    opened = await open_campaign(bus, CampaignFile.model_validate(content), problem)
    campaign = HandCampaign(bus, opened, problem, CampaignFold(opened.campaign))
    await campaign.until(lambda: campaign.fold.status == "running", SECONDS)
    return campaign


async def _judge(campaign: HandCampaign, specimen: Specimen) -> Ending:
    build = BuildOptions(standard=specimen.standard, flags=specimen.flags)
    began = asyncio.get_running_loop().time()
    program = HandProgram({specimen.path.name: specimen.path.read_bytes()}, build, name=specimen.path.name)
    candidate = await campaign.propose(program)

    def ended() -> bool:
        return campaign.fold.effective(candidate) is not None or candidate not in campaign.fold.open_candidates

    with suppress(ConsoleError):  # nobody answered in time: an ending without a verdict, and a finding
        await campaign.until(lambda: candidate in campaign.fold.candidates, SECONDS)
        await campaign.until(ended, SECONDS)
    seconds = asyncio.get_running_loop().time() - began
    return Ending(specimen, campaign.fold.effective(candidate), seconds)
