"""Commands that run campaigns: run, pause, stop."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from kernelmill_console.reach import DEFAULT_DATA, run_to_end
from kernelmill_console.run import RunRequest, run_campaign

Json = Annotated[bool, Parameter(name="--json", negative=())]
"""The option that every listing has."""


def register(app: App) -> None:
    """Add the commands to the command line."""
    app.command(run)


def run(  # noqa: PLR0913 - one parameter for each option of the command line
    what: str | None = None,
    /,
    *,
    target: str | None = None,
    evaluations: int | None = None,
    minutes: float | None = None,
    seed: int | None = None,
    data: Path = DEFAULT_DATA,
    out: Path | None = None,
    as_json: Json = False,
    resume: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Run a campaign to its end and export the champion.

    Parameters
    ----------
    what
        A problem's name, a problem's folder, or a campaign.toml.
    target
        What the champion is for (default: cpu).
    evaluations
        Most candidates (default: 200).
    minutes
        Most minutes from the start of the campaign on (default: 3).
    seed
        Seed of the choices of planner and agents; hidden cases never depend on it.
    data
        Data folder: log, caches, service logs.
    out
        Where the champion goes (default: champions/PROBLEM).
    as_json
        Print one JSON object at the end instead of the live view.
    resume
        Go on with the newest unfinished campaign of the data folder.
    """
    request = RunRequest(
        what=what,
        data=data,
        out=out,
        target=target,
        evaluations=evaluations,
        minutes=minutes,
        seed=seed,
        as_json=as_json,
        resume=resume,
    )
    return run_to_end(lambda: run_campaign(request))
