"""The evidence report of a champion as markdown. Only confirmed figures are called speed-ups."""

from collections.abc import Sequence
from dataclasses import dataclass

from kernelmill.events import BaselineTuned, CandidateProposed, ChampionCrowned, ConfirmationMeasured, EffectEstimate
from kernelmill.folds import by_opponent
from kernelmill_console.domain.activity import CampaignSummary
from kernelmill_console.domain.ids import opponent_name
from kernelmill_console.domain.story import Statement


@dataclass(frozen=True)
class ReportFacts:
    """Everything that a report is written from."""

    summary: CampaignSummary
    proposed: CandidateProposed
    crown: ChampionCrowned
    confirmation: ConfirmationMeasured
    baselines: Sequence[BaselineTuned]
    story: Sequence[Statement]
    lineage: Sequence[str]
    node_facts: dict[str, str]
    log_id: str


def render_report(facts: ReportFacts) -> str:
    """Return the report."""
    summary, proposed, crown = facts.summary, facts.proposed, facts.crown
    parts = [
        f"# {summary.problem} on {summary.target}: champion {crown.candidate[:12]}",
        _headline(facts),
        "![speed-up over evaluations](speedup.svg)",
        "## Confirmed speed-ups",
        (
            "Measured once, in fresh processes, on cases and inputs that the search never saw. A speed-up of 1.2 means "
            "that the opponent needs 1.2 times as long. Intervals are two-sided."
        ),
        _effects(crown.effects),
        "## What it was measured against",
        _baselines(facts.baselines),
        "## Correctness",
        _cases(facts.confirmation),
        "## What it is",
        _identity(proposed),
        "## How it came about",
        "\n".join(f"- {item.when:%H:%M:%S} {item.text} (`{item.event_id[:12]}`)" for item in facts.story),
        f"Lineage: {' ← '.join(item[:12] for item in facts.lineage)}",
        "## The campaign",
        _campaign(summary),
        "## The machine",
        _table(("fact", "value"), [(key, value) for key, value in sorted(facts.node_facts.items())]),
        "## What this does not show",
        _limits(facts),
    ]
    return "\n\n".join(parts) + "\n"


def _headline(facts: ReportFacts) -> str:
    best = [effect for effect in by_opponent(facts.crown.effects).values() if effect.opponent != facts.crown.opponent]
    lines = [
        f"**{effect.speedup.estimate:.3f}x** [{effect.speedup.low:.3f}, {effect.speedup.high:.3f}] over "
        f"{effect.opponent}, geometric mean over the timed rows."
        for effect in best
    ]
    if facts.crown.specialised:
        lines.append(
            "The champion is specialised: a shape fell behind, so the export guards its shapes and falls back."
        )
    return "\n\n".join(lines)


def _effects(effects: Sequence[EffectEstimate]) -> str:
    rows = [
        (
            effect.workload,
            opponent_name(effect.opponent),
            f"{effect.speedup.estimate:.3f}x",
            f"[{effect.speedup.low:.3f}, {effect.speedup.high:.3f}]",
            f"{effect.speedup.level:.1%}",
            "" if effect.p_value is None else f"{effect.p_value:.2e}",
        )
        for effect in effects
    ]
    return _table(("row", "opponent", "speed-up", "interval", "level", "p"), rows)


def _baselines(baselines: Sequence[BaselineTuned]) -> str:
    rows = [
        (
            item.workload,
            item.baseline,
            f"{item.nanoseconds / 1000:.2f} µs" if item.outcome == "tuned" else f"unsupported: {item.detail}",
            f"{item.build.compiler} {' '.join(item.build.flags)}" if item.build else "",
            str(len(item.tried)),
        )
        for item in sorted(baselines, key=lambda item: (item.workload, item.baseline))
    ]
    return _table(("row", "baseline", "time per call", "best settings", "settings tried"), rows)


def _cases(confirmation: ConfirmationMeasured) -> str:
    rows = [
        (
            case.distribution,
            " ".join(f"{key}={value}" for key, value in case.axes.items()),
            case.outcome,
            "" if case.worst_error is None else f"{case.worst_error:.3f}",
            case.input_digest[:12],
        )
        for case in confirmation.cases
    ]
    return _table(("distribution", "shape", "outcome", "worst error / bound", "inputs"), rows)


def _identity(proposed: CandidateProposed) -> str:
    rows = [
        ("candidate", proposed.candidate),
        ("problem", proposed.problem_digest),
        ("entry", proposed.entry),
        ("build", f"{proposed.build.compiler} -std={proposed.build.standard} {' '.join(proposed.build.flags)}"),
        ("origin", proposed.origin),
        ("author", proposed.author),
        ("hypothesis", proposed.hypothesis),
        *((f"tunable {key}", value) for key, value in sorted(proposed.configuration.items())),
    ]
    return _table(("", ""), rows)


def _campaign(summary: CampaignSummary) -> str:
    rows = [
        ("campaign", summary.campaign),
        ("ended because of", summary.reason),
        ("candidates proposed", str(summary.proposed)),
        ("did not compile", str(summary.compiled_not)),
        ("incorrect", str(summary.incorrect)),
        ("timed", str(summary.timed)),
        ("judged", str(summary.judged)),
        ("verdicts", ", ".join(f"{count} {reason}" for reason, count in summary.reasons.items())),
        ("confirmations", str(summary.confirmations)),
        ("infrastructure failures", str(summary.infrastructure_failures)),
        ("exclusive device seconds", f"{summary.device_seconds:.1f}"),
    ]
    return _table(("", ""), rows)


def _limits(facts: ReportFacts) -> str:
    sandboxing = facts.confirmation.sandboxing
    lines = [
        "- Timings hold for the machine above; another processor ranks kernels differently.",
        "- Figures are warm unless the campaign asked otherwise: inputs and outputs of a batch fit the caches.",
        f"- Processes were kept still by {sandboxing.freeze}; layers: {', '.join(sandboxing.layers) or 'none'}.",
        f"- The evidence is on log `{facts.log_id}`; `kernelmill audit {facts.summary.campaign}` recomputes it.",
    ]
    return "\n".join(lines)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(head), line(["---"] * len(head)), *(line(row) for row in rows)])
