"""Equal code in different binaries challenges a champion: how often is noise crowned?

Each challenger is the champion's source with functions before and after it that nobody calls, so that its binary is
laid out differently; near-duplicate refusal is off. The planner treats them as ordinary candidates of a campaign, and
ends it as one.
"""

import argparse
import itertools
import os
import random

from figures import problem_of, run, running

from kernelmill.events import BuildOptions
from kernelmill.folds import CampaignFold
from kernelmill.problems import render
from kernelmill_console.domain.campaign_file import CampaignFile
from kernelmill_console.hand import HandCampaign, HandProgram
from kernelmill_console.opening import open_campaign

ROWS = ("smollm2-128", "odd-33")
CONFIGURATION = {"KM_WIDTH": 16, "KM_ACCUMULATORS": 4, "KM_UNROLL": 4}
FIRST = 20
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
    source = render(problem.seeds["structured"], CONFIGURATION)["structured.c"]
    build = BuildOptions(flags=("-O3", "-march=native"))
    programs = (HandProgram({"k.c": shuffled(source, number)}, build) for number in itertools.count(1))
    async with running() as bus:
        content = {
            "problem": "rmsnorm",
            "workloads": ROWS,
            "baselines": ("c-o3", "numpy"),
            "agents": [{"agent": "nobody", "share": 1.0}],
            "budget": {"evaluations": FIRST + challenges, "minutes": 120},
            "goal": {"stall_verdicts": 0},
        }
        opened = await open_campaign(bus, CampaignFile.model_validate(content), problem)
        campaign = HandCampaign(bus, opened, problem, CampaignFold(opened.campaign))
        fold = campaign.fold
        await campaign.until(lambda: fold.status == "running", 200)
        for program in itertools.islice(programs, FIRST):
            await campaign.judge(program)
            if fold.confirmations:
                break
        else:
            raise SystemExit(f"none of {FIRST} programs was worth a confirmation: {told(fold)}")
        await campaign.until(lambda: not fold.unsettled_confirmations, 300)
        if fold.champion is None:
            raise SystemExit(f"the first confirmation did not hold, there is no champion to challenge: {told(fold)}")
        first, waiting = fold.champion, FIRST + challenges - len(fold.candidates)
        challengers: list[str] = []
        for program in itertools.islice(programs, waiting):
            await campaign.until(lambda: len(fold.open_candidates) < AHEAD, 300)
            challengers.append(await campaign.propose(program))
        # The end of a campaign is a chance of noise, too: it confirms the most promising challengers.
        await campaign.until(lambda: fold.status == "closed", 900)
    timed = sum(bool(fold.candidates[challenger].benchmarks) for challenger in challengers)
    crowned = len(fold.champions.history) - 1
    print(f"{len(challengers)} challenges of equal code, {timed} of them timed; all verdicts: {told(fold)}")
    print(f"confirmations: {len(fold.confirmations) - 1}; crowned over the champion: {crowned}")
    print(f"champion unchanged: {fold.champion == first}")
    if crowned == 0:
        print(f"with 95 % confidence the rate of false crowns is under {3 / timed:.2%} per challenge that was timed")


def told(fold: CampaignFold) -> dict[str, int]:
    return {reason: count for reason, count in fold.verdicts.reasons.items() if count}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--challenges", type=int, default=300)
    run(main(parser.parse_args().challenges))
