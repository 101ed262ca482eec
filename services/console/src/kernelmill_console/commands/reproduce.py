"""The command that measures a recorded candidate again, from the log alone."""

from pathlib import Path

from cyclopts import App
from pydantic import BaseModel

from kernelmill.bus import Bus, read_sources, registered_files
from kernelmill.events import CampaignOpened, CandidateProposed, EffectEstimate, Interval
from kernelmill.folds import CampaignFold
from kernelmill.problems import problem_from_files
from kernelmill_console.commands.running import Json
from kernelmill_console.domain.ids import SHORT, resolve
from kernelmill_console.errors import ConsoleError
from kernelmill_console.hand import HandCampaign, HandProgram
from kernelmill_console.output import PEOPLE, print_rows
from kernelmill_console.reach import DEFAULT_DATA, reach_factory, run_to_end

_MINUTES = 10.0


class ReproducedRow(BaseModel):
    """One row of `reproduce`: a figure then and now."""

    workload: str
    recorded: str
    now: str
    agrees: bool


def register(app: App) -> None:
    """Add the command to the command line."""
    app.command(reproduce)


def reproduce(candidate: str, /, *, data: Path = DEFAULT_DATA, as_json: Json = False) -> int:
    """Take a candidate's sources, build options and problem from the log, and put it through all gates again.

    The exit code is 0 where decision and figures agree (the intervals overlap), 1 where they do not. Baselines are
    tuned for this machine, so figures of another machine may honestly differ; the decision should not.

    Parameters
    ----------
    candidate
        Its id, or the beginning of it.
    data
        Data folder with the log.
    as_json
        One JSON object a row.
    """

    async def work() -> int:
        async with reach_factory(data) as (bus, _):
            proposed, fold = await _find(bus, candidate)
            verdict = fold.effective(proposed.candidate)
            if verdict is None:
                raise ConsoleError(f"candidate {proposed.candidate[:SHORT]} has no verdict that could be reproduced")
            problem = problem_from_files(await registered_files(bus.log, bus.blobs, proposed.problem_digest))
            program = HandProgram(
                await read_sources(bus.blobs, proposed.files),
                proposed.build,
                proposed.entry,
                f"again {proposed.candidate[:SHORT]}",
            )
            title = f"reproduce {proposed.candidate[:SHORT]}"
            campaign = await HandCampaign.open(bus, problem, title, _MINUTES)
            _, now = await campaign.judge(program)
            await campaign.close()
        rows = _rows(verdict.effects, now.effects)
        agrees = now.decision == verdict.decision and all(row.agrees for row in rows)
        columns = [("workload", "row"), ("recorded", "recorded"), ("now", "now"), ("agrees", "agrees")]
        print_rows(rows, columns, as_json=as_json, empty="neither measurement got as far as figures")
        if not as_json:
            PEOPLE.print(
                f"recorded: {verdict.decision} ({verdict.reason}); now: {now.decision} ({now.reason}) {now.detail}",
                markup=False,
                soft_wrap=True,
            )
        return 0 if agrees else 1

    return run_to_end(work)


async def _find(bus: Bus, wanted: str) -> tuple[CandidateProposed, CampaignFold]:
    """Return the newest campaign's proposal of a candidate, and that campaign."""
    folds: dict[str, CampaignFold] = {}
    async for record in bus.log.replay():
        event = record.event
        if isinstance(event, CampaignOpened):
            folds.setdefault(event.campaign, CampaignFold(event.campaign, lean=True))
        campaign = getattr(event, "campaign", None)
        if campaign in folds:
            folds[campaign].apply(record.sequence, event)
    owners = {candidate: fold for fold in folds.values() for candidate in fold.candidates if fold.effective(candidate)}
    chosen = resolve(wanted, owners, "judged candidate")
    fold = owners[chosen]
    proposed = fold.candidates[chosen].proposed
    if proposed is None:
        raise ConsoleError(f"candidate {chosen[:SHORT]} was judged, but its proposal is not on the log")
    return proposed, fold


def _rows(recorded: tuple[EffectEstimate, ...], now: tuple[EffectEstimate, ...]) -> list[ReproducedRow]:
    """Return one row for each workload that either measurement has a figure for, against whatever baseline was best."""
    before = {effect.workload: effect.speedup for effect in recorded if len(effect.opponent) != 64}
    after = {effect.workload: effect.speedup for effect in now}
    return [
        ReproducedRow(
            workload=workload,
            recorded=_words(before.get(workload)),
            now=_words(after.get(workload)),
            agrees=_overlap(before.get(workload), after.get(workload)),
        )
        for workload in dict.fromkeys([*before, *after])
    ]


def _words(interval: Interval | None) -> str:
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""


def _overlap(left: Interval | None, right: Interval | None) -> bool:
    """Whether both are there and their intervals overlap; a row that only one of them reached says nothing."""
    return left is None or right is None or (left.low <= right.high and right.low <= left.high)
