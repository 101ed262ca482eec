"""Kills services and the server at random over running campaigns, then looks for what was lost or doubled."""

import argparse
import asyncio
import tempfile
from collections import Counter
from pathlib import Path

from figures import run
from support.factory import Assassin, begin, factory, until

from kernelmill.events import VerdictReached
from kernelmill_console.audit import audit_log


async def main(kills: int) -> None:
    done = 0
    number = 0
    while done < kills:
        number += 1
        with tempfile.TemporaryDirectory(prefix="kernelmill-") as folder:
            async with factory(Path(folder), {"verifier": 2, "planner": 2}) as (bus, supervisor):
                opened = await begin(bus, evaluations=40, minutes=3.0)
                assassin = Assassin(supervisor, seed=number)
                killing = asyncio.create_task(assassin.work(kills - done, (1.0, 4.0)))
                fold = await until(bus, opened.campaign, lambda fold: fold.closed is not None, 900)
                killing.cancel()
                await asyncio.gather(killing, return_exceptions=True)
                done += assassin.kills
                records = await bus.log.read_campaign(opened.campaign)
                judged = Counter(r.event.candidate for r in records if isinstance(r.event, VerdictReached))
                report = await audit_log(bus, None)
                print(
                    f"campaign {number}: {assassin.kills} kills, {len(records)} events, {fold.status}, "
                    f"candidates {len(fold.candidates)}, judged {len(judged)}, judged twice "
                    f"{sum(count > 1 for count in judged.values())}, budget violations {len(fold.budget.violations)}, "
                    f"champion {str(fold.champion)[:8]}, audit sound: {report.sound} {report.disagreements}",
                    flush=True,
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    run(main(parser.parse_args().kills))
