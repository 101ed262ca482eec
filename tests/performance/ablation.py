"""What each group of choices brings: flags alone, with tunables, with rewrites; and all of it from the naive seed."""

import argparse

from figures import problem_of, run, run_campaign, running

STEPS = {
    "flags": ("flags",),
    "flags and tunables": ("flags", "tunables"),
    "flags, tunables and rewrites": ("flags", "tunables", "rewrites"),
    "naive seed: flags": ("naive-seed", "flags"),
    "naive seed: flags and rewrites": ("naive-seed", "flags", "rewrites"),
}


async def main(name: str, minutes: float) -> None:
    problem = problem_of(name)
    for label, techniques in STEPS.items():
        async with running() as bus:
            content = {
                "seed": 1,
                "budget": {"evaluations": 2000, "minutes": minutes},
                "constraints": {"techniques": techniques},
                "goal": {"stall_verdicts": 0},
            }
            records = await run_campaign(bus, problem, content)
        crown = next((r.event for r in reversed(records) if r.event.kind == "ChampionCrowned"), None)
        best = max(
            (
                effect.speedup.estimate
                for r in records
                if r.event.kind == "VerdictReached"
                for effect in r.event.effects
                if effect.workload == "geometric-mean"
            ),
            default=float("nan"),
        )
        confirmed = "no champion"
        if crown is not None:
            mean = next(e for e in crown.effects if e.workload == "geometric-mean" and e.opponent != crown.opponent)
            confirmed = f"{mean.speedup.estimate:.3f} [{mean.speedup.low:.3f}, {mean.speedup.high:.3f}]"
        verdicts = sum(r.event.kind == "VerdictReached" for r in records)
        print(f"{name}, {label}: confirmed {confirmed}; best estimate {best:.3f}; {verdicts} verdicts", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problem")
    parser.add_argument("--minutes", type=float, default=1.5)
    arguments = parser.parse_args()
    run(main(arguments.problem, arguments.minutes))
