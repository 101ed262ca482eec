"""What makes timings doubtful: reasons that lie in the machine or the measurement, not in the candidate."""

import statistics
from collections.abc import Iterable, Sequence

from kernelmill.events import Policy, RowEffect, Telemetry
from kernelmill.evidence.effects import candidate_ns
from kernelmill.evidence.statistics import signed_rank_p


def stolen(telemetry: Telemetry, policy: Policy) -> str:
    """Return what is wrong when the hypervisor took more of the bench core than the policy allows, else nothing."""
    if telemetry.steal_fraction <= policy.max_steal:
        return ""
    return (
        f"{telemetry.steal_fraction:.0%} of the bench core's time was stolen by the hypervisor, "
        f"the policy allows {policy.max_steal:.0%}; measure again on a quieter machine"
    )


def below_floor(rows: Iterable[RowEffect]) -> str:
    """Return the first row that is faster than the node's own best probe allows, in words, else nothing."""
    for row in rows:
        if row.pairs and candidate_ns(row) < row.floor_ns:
            return (
                f"row {row.workload}: {candidate_ns(row):.0f} ns per call is below the floor of {row.floor_ns:.0f} ns "
                "that the node's own best probe sets; neither a record nor yet a cheat"
            )
    return ""


def trimming_matters(rows: Sequence[RowEffect], policy: Policy) -> str:
    """Return where plain means say less for the candidate than trimmed ones, in words, else nothing."""
    for row in rows:
        gap = trimming_gap(row)
        if gap > policy.trim_row_gap:
            return (
                f"row {row.workload}: the plain mean log ratio of its duels is {gap:.3f} below the trimmed one, "
                f"more than {policy.trim_row_gap:g}; a few duels carry the result"
            )
    gaps = [pair.log_ratio - pair.mean_log_ratio for row in rows for pair in row.pairs]
    if not gaps or statistics.median(gaps) <= policy.trim_gap or signed_rank_p(gaps) > policy.trim_level:
        return ""
    return (
        f"over all rows the plain mean log ratios of the duels are {statistics.median(gaps):.3f} below the trimmed, "
        f"more than {policy.trim_gap:g}; a few duels carry the result"
    )


def trimming_gap(row: RowEffect) -> float:
    """Return the median over pairs of (trimmed - plain mean log ratio), 0 without pairs.

    Whoever shifts work between batches is slow in some duels of most pairs, so the median shows it. A disturbance of
    the machine meets either side in single pairs, and the median does not.
    """
    return statistics.median(pair.log_ratio - pair.mean_log_ratio for pair in row.pairs) if row.pairs else 0.0


def untrimmed(row: RowEffect) -> RowEffect:
    """Return the row as plain means score it: shifted as a whole, so that the pairs keep their spread."""
    gap = max(0.0, trimming_gap(row))
    pairs = tuple(pair.model_copy(update={"log_ratio": pair.log_ratio - gap}) for pair in row.pairs)
    return row.model_copy(update={"pairs": pairs})
