"""One campaign: how soon, how many, how good; then its champion against what the campaign did not race."""

import argparse

from figures import (
    baseline_program,
    confirming_seconds,
    counts,
    geometric_speedup,
    moment,
    problem_of,
    run,
    run_campaign,
    running,
)

from kernelmill.bus import read_sources
from kernelmill.events import BuildOptions
from kernelmill.targets.port import Program, load_target, program_of


async def main(name: str, minutes: float, seed: int, raced: tuple[str, ...]) -> None:
    problem = problem_of(name)
    async with running() as bus:
        # torch takes seconds to load, so it is compared with the champion alone and not raced.
        raced = raced or tuple(key for key in problem.baselines if key != "torch")
        content = {
            "seed": seed,
            "baselines": raced,
            "budget": {"evaluations": 2000, "minutes": minutes},
            "goal": {"stall_verdicts": 0},
        }
        records = await run_campaign(bus, problem, content)
        crown = next((r.event for r in reversed(records) if r.event.kind == "ChampionCrowned"), None)
        proposed = next(
            (
                r.event
                for r in records
                if crown and r.event.kind == "CandidateProposed" and r.event.candidate == crown.candidate
            ),
            None,
        )
        sources = await read_sources(bus.blobs, proposed.files) if proposed else {}
    started, closing = moment(records, "CampaignStarted"), moment(records, "CampaignClosing")
    seconds, confirming = (closing - started).total_seconds(), confirming_seconds(records)
    seen = counts(records)
    verdicts, timed = seen["VerdictReached"], seen["BenchmarkMeasured"]
    print(f"{name}: opened to started {(started - moment(records, 'CampaignOpened')).total_seconds():.1f} s")
    print(f"first verdict {(moment(records, 'VerdictReached') - started).total_seconds():.1f} s after the start")
    print(
        f"{verdicts} verdicts ({timed} timed) in {seconds:.0f} s, {confirming:.0f} s of them confirming: "
        f"{60 * verdicts / seconds:.0f} verdicts/min ({60 * timed / seconds:.0f} timed); while not confirming "
        f"{60 * verdicts / (seconds - confirming):.0f} ({60 * timed / (seconds - confirming):.0f} timed)"
    )
    if crown is None or proposed is None:
        print("no champion: nothing was shown to be faster than the best baseline of each row")
        return
    for effect in crown.effects:
        print(
            f"confirmed {effect.workload} over {effect.opponent[:14]}: {effect.speedup.estimate:.3f} "
            f"[{effect.speedup.low:.3f}, {effect.speedup.high:.3f}]"
        )
    target = load_target("cpu")
    champion = program_of(proposed, sources)
    others = {
        key: baseline_program(target, problem, key) for key in ("c-o3", "openblas", "torch") if key in problem.baselines
    }
    for key, source in problem.baselines.items():
        if source.missing():
            others.pop(key, None)
    for key, seed_ in problem.seeds.items():
        for number, flags in enumerate(seed_.flag_sets):
            build = target.resolve(BuildOptions(flags=flags))
            others[f"seed {key}, flags {number}"] = Program(seed_.files, seed_.entry, build)
    for key, program in others.items():
        mean, rows = geometric_speedup(target, problem, champion, program)
        print(f"champion over {key}: {mean:.3f}  " + " ".join(f"{row}={value:.2f}" for row, value in rows.items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problem")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--baselines", nargs="*", default=(), help="what is raced; default all but torch")
    arguments = parser.parse_args()
    run(main(arguments.problem, arguments.minutes, arguments.seed, tuple(arguments.baselines)))
