"""The live view of a campaign: in a terminal a panel that is drawn anew, elsewhere a line per news."""

from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from kernelmill_console.domain.activity import Activity, CampaignSummary
from kernelmill_console.domain.ids import SHORT, opponent_name

_STAGES = {
    "pending": "validating the problem and tuning the baselines",
    "running": "searching",
    "paused": "paused",
    "closing": "finishing what is in hand",
    "closed": "closed",
}


class LiveView:
    """Shows a campaign while it runs. Use it as a context manager."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._live = Live(console=console, refresh_per_second=4, transient=False) if console.is_terminal else None
        self._shown = 0
        self._status = ""

    def __enter__(self) -> Self:
        if self._live is not None and not self._quiet:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None and not self._quiet:
            self._live.stop()

    def update(self, activity: Activity, trouble: str = "") -> None:
        """Show the state as it is now; `trouble` is a line about the machinery."""
        if self._quiet:
            return
        summary = activity.summary(datetime.now(UTC))
        if self._live is not None:
            self._live.update(panel(summary, activity, trouble))
            return
        if summary.status != self._status:
            self._status = summary.status
            self._console.print(f"{summary.campaign}: {_STAGES[summary.status]}", highlight=False)
        lines = list(activity.recent)
        unseen = min(activity.told - self._shown, len(lines))
        for line in lines[len(lines) - unseen :]:
            self._console.print(line, highlight=False, soft_wrap=True)
        self._shown = activity.told


def panel(summary: CampaignSummary, activity: Activity, trouble: str) -> RenderableType:
    """Return the panel: what was proposed, what became of it, the best so far, the budget."""
    counts = Table.grid(padding=(0, 2))
    counts.add_row("proposed", f"{summary.proposed}", "judged", f"{summary.judged}", "timed", f"{summary.timed}")
    counts.add_row(
        "not compiled", f"{summary.compiled_not}", "incorrect", f"{summary.incorrect}", "confirmed", _crowns(activity)
    )
    reasons = "  ".join(f"{reason} {count}" for reason, count in summary.reasons.items())
    parts: list[RenderableType] = [counts, Text(reasons, style="dim"), _standing(summary, activity), _budget(summary)]
    parts += [Text(line, overflow="ellipsis", no_wrap=True, style="dim") for line in activity.recent]
    if trouble:
        parts.append(Text(trouble, style="bold red"))
    title = f"{summary.title or summary.problem} on {summary.target}: {_STAGES[summary.status]}"
    return Panel(Group(*parts), title=title, subtitle=summary.campaign)


def _crowns(activity: Activity) -> str:
    return str(len(activity.fold.champions.history))


def _standing(summary: CampaignSummary, activity: Activity) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    if summary.champion is None:
        best = summary.best_estimate
        table.add_row("best so far", "none" if best is None else f"{best:.3f}x (estimate, not confirmed)")
    for figure in summary.confirmed:
        interval = f"[{figure.low:.3f}, {figure.high:.3f}]"
        table.add_row(
            f"champion {str(summary.champion)[:SHORT]}",
            f"{figure.speedup:.3f}x {interval}",
            f"over {opponent_name(figure.opponent)}",
        )
    if activity.fold.started is None and activity.baselines:
        table.add_row("baselines tuned", str(len(activity.baselines)))
    return table


def _budget(summary: CampaignSummary) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    if summary.evaluations_budget:
        table.add_row(
            "evaluations",
            ProgressBar(total=summary.evaluations_budget, completed=summary.proposed, width=30),
            f"{summary.proposed}/{summary.evaluations_budget}",
        )
    if summary.wall_budget_seconds:
        table.add_row(
            "time",
            ProgressBar(total=summary.wall_budget_seconds, completed=summary.elapsed_seconds, width=30),
            f"{summary.elapsed_seconds:.0f}/{summary.wall_budget_seconds:.0f} s",
        )
    return table
