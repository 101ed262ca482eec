"""Runs the red team through the real services and prints what stopped each cheat."""

import argparse
import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from redteam.specimens import specimens
from redteam.trial import Ending, judge
from rich.console import Console
from rich.table import Table


def report(endings: list[Ending]) -> int:
    """Print the table and the figures that count, and return the exit code."""
    console = Console(markup=False, width=None if sys.stdout.isatty() else 200)
    table = Table(box=None, pad_edge=False)
    for heading in ("family", "specimen", "trick", "decision", "gate", "evidence", "s", "wrong"):
        table.add_column(heading, overflow="fold")
    for ending in endings:
        verdict = ending.verdict
        table.add_row(
            ending.specimen.family,
            ending.specimen.name,
            ending.specimen.trick,
            verdict.decision if verdict else "",
            ending.reason,
            verdict.detail[:160] if verdict else "",
            f"{ending.seconds:.1f}",
            ending.wrong,
        )
    console.print(table)
    cheats = [ending for ending in endings if ending.specimen.hostile]
    controls = [ending for ending in endings if not ending.specimen.hostile]
    accepted = [ending for ending in cheats if ending.verdict and ending.verdict.decision == "accepted"]
    rejected = [ending for ending in controls if ending.wrong]
    unended = [ending for ending in endings if ending.verdict is None]
    elsewhere = sum(bool(ending.wrong) for ending in cheats if ending not in accepted)
    console.print(f"accepted cheats: {len(accepted)} of {len(cheats)}")
    console.print(f"known gaps among the cheats: {sum(bool(ending.specimen.open) for ending in cheats)}")
    console.print(f"rejected controls: {len(rejected)} of {len(controls)}")
    console.print(f"without a verdict: {len(unended)}; stopped by another gate than expected: {elsewhere}")
    return 1 if any(ending.wrong for ending in endings) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a family or name")
    parser.add_argument("--screen", action="store_true", help="with the screen on, as in production")
    arguments = parser.parse_args()
    sys.exit(report(asyncio.run(judge(specimens(arguments.only), screen=arguments.screen))))
