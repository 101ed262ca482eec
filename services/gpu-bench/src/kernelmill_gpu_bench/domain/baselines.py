"""Choosing among tuned baselines: the best of each row is what counts."""

from collections.abc import Iterable

from kernelmill.events import BaselineTuned


def best_of_rows(tuned: Iterable[BaselineTuned]) -> dict[str, BaselineTuned]:
    """Return for each workload the baseline that beats their common reference most; rows without one are missing."""
    best: dict[str, BaselineTuned] = {}
    for item in tuned:
        known = best.get(item.workload)
        if item.outcome == "tuned" and (known is None or item.log_ratio > known.log_ratio):
            best[item.workload] = item
    return best


def unsupported_pairs(tuned: Iterable[BaselineTuned]) -> tuple[str, ...]:
    """Return `workload/baseline` of what the node cannot run; never a win for anybody."""
    return tuple(sorted(f"{item.workload}/{item.baseline}" for item in tuned if item.outcome == "unsupported"))
