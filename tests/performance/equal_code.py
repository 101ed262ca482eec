"""Equal code in different binaries challenges a champion: how often is noise crowned?

Each challenger is the champion's source with functions before and after it that nobody calls, so that its binary is
laid out differently; near-duplicate refusal is off. The planner treats them as ordinary candidates of a campaign.
"""

import argparse
import asyncio
import os
import random
from datetime import UTC, datetime

from figures import problem_of, run, running

from kernelmill.bus import Bus
from kernelmill.events import BuildOptions, CampaignClosing, CampaignOpened
from kernelmill.folds import CampaignFold
from kernelmill.identity import command_id
from kernelmill.problems import render
from kernelmill_console.domain.campaign_file import CampaignFile
from kernelmill_console.hand import HandCampaign, HandProgram
from kernelmill_console.opening import open_campaign

ROWS = ("smollm2-128", "odd-33")
CONFIGURATION = {"KM_WIDTH": 16, "KM_ACCUMULATORS": 4, "KM_UNROLL": 4}
AHEAD = 4


def shuffled(source: bytes, number: int) -> bytes:
    """Return the source with padding functions around it that change nothing but the layout."""
    chance = random.Random(number)  # noqa: S311 - a benchmark that can be repeated
    before, after = chance.randrange(1, 12), chance.randrange(1, 12)

    def padding(label: str, count: int) -> bytes:
        lines = [
            f"__attribute__((used, noinline)) static int km_{label}_{number}_{item}(int x) "
            f"{{ for (int i = 0; i < {chance.randrange(2, 90)}; i++) x = x * 31 + i; return x; }}"
            for item in range(count)
        ]
        return "\n".join(lines).encode() + b"\n"

    return padding("a", before) + source + b"\n" + padding("b", after)


async def main(challenges: int) -> None:
    os.environ["KERNELMILL_VERIFIER_REFUSE_NEAR_DUPLICATES"] = "false"
    problem = problem_of("rmsnorm")
    async with running() as bus:
        content = {
            "problem": "rmsnorm",
            "workloads": ROWS,
            "baselines": ("c-o3", "numpy"),
            "agents": [{"agent": "nobody", "share": 1.0}],
            "budget": {"evaluations": None, "minutes": 120},
            "goal": {"stall_verdicts": 0},
        }
        opened = await open_campaign(bus, CampaignFile.model_validate(content), problem)
        campaign = HandCampaign(bus, opened, problem, CampaignFold(opened.campaign))
        await campaign.until(lambda: campaign.fold.status == "running", 200)
        source = render(problem.seeds["structured"], CONFIGURATION)["structured.c"]
        build = BuildOptions(flags=("-O3", "-march=native"))
        for number in range(-20, 0):
            await campaign.judge(HandProgram({"k.c": shuffled(source, number)}, build))
            if campaign.fold.champion:
                break
        await campaign.until(lambda: campaign.fold.champion is not None, 300)
        first = campaign.fold.champion
        started: set[str] = set()
        done: set[str] = set()
        number = 0
        while len(done) < challenges:
            while len(started - done) < AHEAD:
                number += 1
                started.add(await campaign.propose(HandProgram({"k.c": shuffled(source, number)}, build)))
            waiting = frozenset(started - done)
            await campaign.until(lambda some=waiting: any(campaign.fold.effective(item) for item in some), 120)
            done |= {item for item in started if campaign.fold.effective(item)}
        await campaign.until(lambda: not campaign.fold.unsettled_confirmations, 300)
        await finish(bus, opened)
        reasons = {key: value for key, value in campaign.fold.verdicts.reasons.items() if value}
        crowned = len(campaign.fold.champions.history) - 1
        print(f"{len(done)} challenges of equal code reached a verdict: {reasons}")
        print(f"confirmations requested: {len(campaign.fold.confirmations)}; crowned over the champion: {crowned}")
        print(f"champion unchanged: {campaign.fold.champion == first}")
        if crowned == 0:
            print(f"with 95 % confidence the rate of false crowns is under {3 / len(done):.2%} per challenge")


async def finish(bus: Bus, opened: CampaignOpened) -> None:
    closing = CampaignClosing(
        event_id=command_id("CampaignClosing", opened.campaign),
        recorded_at=datetime.now(UTC),
        target=opened.target,
        campaign=opened.campaign,
        reason="stopped",
    )
    await bus.log.append(closing, expected=None)
    await asyncio.sleep(1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--challenges", type=int, default=300)
    run(main(parser.parse_args().challenges))
