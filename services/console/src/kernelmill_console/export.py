"""Exports a champion: source, evidence report, plot, and a module that builds and calls it."""

import json
import shutil
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from kernelmill.bus import Bus, Recorded
from kernelmill.events import CandidateProposed, ChampionCrowned, ConfirmationMeasured, VerdictReached
from kernelmill.folds import CampaignFold, WorldFold, headline, lineage
from kernelmill.problems import Problem, problem_from_files
from kernelmill_console.domain.activity import Activity
from kernelmill_console.domain.report import ReportFacts, render_report
from kernelmill_console.domain.story import candidate_story
from kernelmill_console.errors import ConsoleError


async def problem_of(bus: Bus, world: WorldFold, digest: str) -> Problem:
    """Return a registered problem from the blobs on the log."""
    registered = world.problems[digest].registered
    if registered is None:
        raise ConsoleError(f"problem {digest[:12]} is not registered on this log")
    return problem_from_files({file.path: await bus.blobs.get(file.blob) for file in registered.files})


async def export_champion(bus: Bus, campaign: str, records: list[Recorded], world: WorldFold, into: Path) -> Path:
    """Write the reigning champion of a campaign into a folder and return the folder.

    Args:
        bus: where sources are fetched from.
        campaign: the campaign.
        records: all its events in order.
        world: nodes, baselines and problems at the same position.
        into: the folder; replaced if it holds an earlier export, refused if it holds anything else.

    Raises:
        ConsoleError: the campaign has no champion, or the folder holds something else.
    """
    activity = Activity(CampaignFold(campaign))
    for record in records:
        activity.apply(record.sequence, record.event)
    fold = activity.fold
    crown = fold.crown
    if crown is None or fold.objective is None:
        raise ConsoleError(f"campaign {campaign} has no champion to export")
    _prepare(into)
    proposed = _proposal(records, crown.event.candidate)
    problem = await problem_of(bus, world, proposed.problem_digest)
    sources = {}
    for file in proposed.files:
        sources[file.path] = await bus.blobs.get(file.blob)
        (into / file.path).parent.mkdir(parents=True, exist_ok=True)
        (into / file.path).write_bytes(sources[file.path])
    (into / "kernel.json").write_text(json.dumps(describe(problem, proposed, crown.event), indent=2) + "\n")
    (into / "fallback.py").write_bytes(_fallback(problem))
    module = files("kernelmill_console.templates").joinpath("champion.py").read_text()
    (into / "champion.py").write_text(module)
    (into / "speedup.svg").write_bytes(_plot(fold, records))
    (into / "REPORT.md").write_text(
        render_report(_facts(activity, records, world, proposed, crown.event, bus.log.log_id))
    )
    return into


def describe(problem: Problem, proposed: CandidateProposed, crown: ChampionCrowned) -> dict[str, Any]:
    """Return the content of kernel.json."""
    definition = problem.definition
    constants = {name: axis.value for name, axis in definition.axes.items() if axis.type == "const"}
    workloads = [dict(workload.axes) for workload in problem.workloads]
    smallest = min(workloads, key=lambda axes: (sum(axes.values()), sorted(axes.items())))
    return {
        "problem": problem.name,
        "candidate": proposed.candidate,
        "entry": proposed.entry,
        "files": [file.path for file in proposed.files],
        "compiler": proposed.build.compiler,
        "standard": proposed.build.standard,
        "flags": list(proposed.build.flags),
        "link": ["-lmvec"],
        "inputs": [{"name": name, "axes": spec.shape, "dtype": spec.dtype} for name, spec in definition.inputs.items()],
        "outputs": [
            {"name": name, "axes": spec.shape, "dtype": spec.dtype} for name, spec in definition.outputs.items()
        ],
        "const_axes": constants,
        "var_axes": list(problem.var_axes),
        "example_axes": smallest,
        "alignment": problem.settings.alignment,
        "guard": workloads if crown.specialised else None,
        "confirmed": [effect.model_dump(mode="json") for effect in crown.effects],
    }


def _prepare(into: Path) -> None:
    if into.exists():
        if any(into.iterdir()) and not (into / "kernel.json").is_file():
            raise ConsoleError(
                f"{into} holds something else than an exported champion: choose another folder with --out"
            )
        shutil.rmtree(into)
    into.mkdir(parents=True)


def _proposal(records: list[Recorded], candidate: str) -> CandidateProposed:
    for record in records:
        if isinstance(record.event, CandidateProposed) and record.event.candidate == candidate:
            return record.event
    raise ConsoleError(
        f"the log holds no proposal of candidate {candidate[:12]}: it is not whole, run `kernelmill audit`"
    )


def _fallback(problem: Problem) -> bytes:
    baseline = problem.baselines.get("numpy")
    if baseline is None:
        raise ConsoleError(f"problem {problem.name} has no numpy baseline to fall back on: add baselines/numpy.py")
    return next(data for path, data in baseline.files.items() if path.endswith(".py"))


def _plot(fold: CampaignFold, records: list[Recorded]) -> bytes:
    from kernelmill_console.plot import Crown, Point, speedup_plot  # noqa: PLC0415 - slow to load, seldom needed

    order: dict[str, int] = {}
    points, crowns = [], []
    for record in records:
        event = record.event
        if isinstance(event, CandidateProposed):
            order.setdefault(event.candidate, len(order) + 1)
        elif isinstance(event, VerdictReached) and (best := headline(event.effects)):
            points.append(Point(order[event.candidate], best.speedup.estimate, event.decision == "accepted"))
        elif isinstance(event, ChampionCrowned):
            against = [effect for effect in event.effects if effect.opponent != event.opponent]
            if confirmed := headline(against):
                interval = confirmed.speedup
                crowns.append(Crown(len(order), interval.estimate, interval.low, interval.high))
    objective = fold.objective
    title = f"{objective.problem} on {objective.target}" if objective else fold.campaign
    return speedup_plot(points, crowns, title)


def _facts(  # noqa: PLR0913, PLR0917 - a report gathers what it is written from
    activity: Activity,
    records: list[Recorded],
    world: WorldFold,
    proposed: CandidateProposed,
    crown: ChampionCrowned,
    log_id: str,
) -> ReportFacts:
    fold = activity.fold
    confirmation = next(
        record.event
        for record in records
        if isinstance(record.event, ConfirmationMeasured) and record.event.event_id == crown.confirmation
    )
    node = world.nodes.get(confirmation.node)
    cited = set(fold.baselines)
    return ReportFacts(
        summary=activity.summary(datetime.now(UTC)),
        proposed=proposed,
        crown=crown,
        confirmation=confirmation,
        baselines=[item for item in world.baselines.values() if item.event_id in cited],
        story=candidate_story((record.event for record in records), crown.candidate),
        lineage=lineage(fold, crown.candidate),
        node_facts=node.joined.fingerprint.facts if node else {},
        log_id=log_id,
    )
