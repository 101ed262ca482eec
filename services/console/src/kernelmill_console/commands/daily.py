"""Commands for daily work without a campaign of agents: bench, compare, check. The gates are the same."""

import json
import math
from pathlib import Path
from typing import Any

from cyclopts import App

from kernelmill.events import BuildOptions, EffectEstimate
from kernelmill.evidence import default_policy, head_to_head_effects
from kernelmill.folds import headline
from kernelmill_console.commands.running import Json
from kernelmill_console.domain.story import effect_text
from kernelmill_console.errors import ConsoleError
from kernelmill_console.hand import HandCampaign, HandProgram
from kernelmill_console.output import PEOPLE, print_json
from kernelmill_console.problems import find_problem
from kernelmill_console.reach import DEFAULT_DATA, reach_factory, run_to_end

_DEFAULT_FLAGS = ("-O3", "-march=native")
_MINUTES = 10.0


def register(app: App) -> None:
    """Add the commands to the command line."""
    app.command(bench)
    app.command(compare)
    app.command(check)


def bench(  # noqa: PLR0913 - one parameter for each option of the command line
    file: Path,
    /,
    *,
    problem: str,
    flags: tuple[str, ...] = _DEFAULT_FLAGS,
    compiler: str = "gcc",
    data: Path = DEFAULT_DATA,
    as_json: Json = False,
) -> int:
    """Check and time one C file against the baselines of a problem; exit code 0 if it was accepted, 1 if not.

    Parameters
    ----------
    file
        A C file that exports `kernel` as the problem's page says.
    problem
        Name or folder of the problem.
    flags
        Compiler flags from the target's allow-list.
    compiler
        gcc or clang.
    data
        Data folder.
    as_json
        Print JSON.
    """

    async def work() -> int:
        program = HandProgram.read(file, _build(compiler, flags))
        async with reach_factory(data) as (bus, _):
            campaign = await HandCampaign.open(bus, find_problem(problem, Path.cwd()), f"bench {file.name}", _MINUTES)
            candidate, verdict = await campaign.judge(program)
            await campaign.close()
        if as_json:
            print_json(verdict)
        else:
            PEOPLE.print(
                f"candidate {candidate[:12]}: {verdict.decision} ({verdict.reason}) {verdict.detail}", markup=False
            )
            _print_effects(verdict.effects)
        return 0 if verdict.decision == "accepted" else 1

    return run_to_end(work)


def compare(  # noqa: PLR0913 - one parameter for each option of the command line
    first: Path,
    second: Path,
    /,
    *,
    problem: str,
    flags: tuple[str, ...] = _DEFAULT_FLAGS,
    compiler: str = "gcc",
    data: Path = DEFAULT_DATA,
    as_json: Json = False,
) -> int:
    """Compare two C files head to head over process pairs: is FIRST faster than SECOND, by how much, how sure is that.

    Exit code 0 if the interval of the geometric mean leaves out 1, 1 if it is not decided, 2 if one of them is wrong.
    """

    async def work() -> int:
        build = _build(compiler, flags)
        programs = [HandProgram.read(path, build) for path in (first, second)]
        async with reach_factory(data) as (bus, _):
            found = find_problem(problem, Path.cwd())
            campaign = await HandCampaign.open(bus, found, f"compare {first.name} {second.name}", _MINUTES)
            judged = [await campaign.judge(program) for program in programs]
            for program, (candidate, verdict) in zip(programs, judged, strict=True):
                if not campaign.fold.candidates[candidate].benchmarks:
                    raise ConsoleError(f"{program.name} cannot be compared: {verdict.reason}: {verdict.detail}")
            if judged[0][0] == judged[1][0]:
                raise ConsoleError(f"{first} and {second} are the same program under the same flags")
            measured = await campaign.head_to_head(*judged[0], judged[1][0])
            await campaign.close()
        effects = head_to_head_effects(measured, default_policy())
        mean = headline(effects)
        if mean is None:
            raise ConsoleError("the comparison has no row that counts")
        decided = not mean.speedup.low <= 1.0 <= mean.speedup.high
        if as_json:
            print_json({"first": str(first), "second": str(second), "decided": decided, "effects": list(effects)})
        else:
            word = "not decided" if not decided else "faster" if mean.speedup.estimate > 1 else "slower"
            PEOPLE.print(f"{first.name} against {second.name}: {word}")
            _print_effects(effects)
        return 0 if decided else 1

    return run_to_end(work)


def check(champion: Path, /, *, fail_below: float = 0.97, data: Path = DEFAULT_DATA, as_json: Json = False) -> int:
    """Measure an exported champion again; exit code 1 if it lost ground against its baselines.

    It fails when it is no longer right, or when even the upper bound of its speed-up is below FAIL_BELOW times the
    speed-up that was confirmed at its export.

    Parameters
    ----------
    champion
        Folder of an exported champion.
    fail_below
        Share of the confirmed speed-up that has to remain.
    data
        Data folder.
    as_json
        Print JSON.
    """

    async def work() -> int:
        description = _description(champion)
        build = BuildOptions(
            compiler=description["compiler"], standard=description["standard"], flags=tuple(description["flags"])
        )
        files = {path: (champion / path).read_bytes() for path in description["files"]}
        program = HandProgram(files, build, description["entry"], champion.name)
        confirmed = headline(
            effect
            for effect in map(EffectEstimate.model_validate, description["confirmed"])
            if not _is_candidate(effect.opponent)
        )
        if confirmed is None:
            raise ConsoleError(f"{champion}/kernel.json holds no confirmed speed-up: export the champion again")
        async with reach_factory(data) as (bus, _):
            found = find_problem(description["problem"], Path.cwd())
            campaign = await HandCampaign.open(bus, found, f"check {champion.name}", _MINUTES)
            _, verdict = await campaign.judge(program)
            await campaign.close()
        now = headline(verdict.effects)
        bar = fail_below * confirmed.speedup.estimate
        holds = now is not None and not math.isnan(now.speedup.high) and now.speedup.high >= bar
        if as_json:
            print_json({"holds": holds, "confirmed": confirmed, "now": now, "bar": bar, "verdict": verdict})
        else:
            PEOPLE.print(f"confirmed {confirmed.speedup.estimate:.3f}x; {verdict.decision} ({verdict.reason}) now")
            _print_effects(verdict.effects)
            PEOPLE.print(f"{'holds' if holds else 'LOST GROUND'}: the bar is {bar:.3f}x")
        return 0 if holds else 1

    return run_to_end(work)


def _build(compiler: str, flags: tuple[str, ...]) -> BuildOptions:
    if compiler not in {"gcc", "clang"}:
        raise ConsoleError(f"compiler '{compiler}': use gcc or clang")
    return BuildOptions.model_validate({"compiler": compiler, "flags": flags})


def _description(champion: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads((champion / "kernel.json").read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise ConsoleError(f"{champion} is not an exported champion: {error}") from error
    return content


def _is_candidate(opponent: str) -> bool:
    return len(opponent) == 64


def _print_effects(effects: tuple[EffectEstimate, ...]) -> None:
    for effect in effects:
        PEOPLE.print(f"  {effect_text(effect)}", highlight=False, markup=False)
