"""Draws the confirmed and estimated speed-ups over the evaluations as an SVG."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Point:
    """One verdict on the way."""

    evaluation: int
    """Ordinal of the candidate."""
    speedup: float
    """Estimated geometric-mean speed-up over the best baseline of each row."""
    accepted: bool


@dataclass(frozen=True)
class Crown:
    """One confirmed champion on the way."""

    evaluation: int
    speedup: float
    low: float
    high: float


def speedup_plot(points: Sequence[Point], crowns: Sequence[Crown], title: str) -> bytes:
    """Return an SVG: verdicts as dots, confirmed champions as steps with their intervals."""
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for accepted, colour, label in ((False, "#b0b0b0", "judged, not faster"), (True, "#2c7fb8", "accepted (estimate)")):
        chosen = [point for point in points if point.accepted is accepted]
        axes.scatter(
            [point.evaluation for point in chosen],
            [point.speedup for point in chosen],
            s=14,
            color=colour,
            label=label,
        )
    if crowns:
        last = max([point.evaluation for point in points] + [crown.evaluation for crown in crowns])
        places = [crown.evaluation for crown in crowns] + [last]
        heights = [crown.speedup for crown in crowns] + [crowns[-1].speedup]
        axes.step(places, heights, where="post", color="#d95f0e", label="confirmed champion")
        axes.errorbar(
            [crown.evaluation for crown in crowns],
            [crown.speedup for crown in crowns],
            yerr=[
                [crown.speedup - crown.low for crown in crowns],
                [crown.high - crown.speedup for crown in crowns],
            ],
            fmt="o",
            color="#d95f0e",
            capsize=3,
        )
    axes.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
    axes.set_xlabel("evaluations")
    axes.set_ylabel("speed-up over the best baseline")
    axes.set_title(title)
    axes.legend(loc="best", fontsize="small")
    axes.grid(alpha=0.3)
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()
