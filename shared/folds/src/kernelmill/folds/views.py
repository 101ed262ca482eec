"""Read views of a campaign for people: leaderboard, best so far, lineage."""

import math
from dataclasses import dataclass
from typing import Literal

from kernelmill.events import EffectEstimate
from kernelmill.folds.campaign import CampaignFold
from kernelmill.folds.estimate import by_opponent

Standing = Literal["champion", "dethroned", "void", "refused", "accepted"]


@dataclass(frozen=True)
class LeaderboardRow:
    """One accepted candidate."""

    candidate: str
    standing: Standing
    """`champion` and `dethroned` hold a valid crown, `void` held one, `refused` failed its confirmation."""
    speedup: float
    """Headline speed-up of the verdict (geometric mean over rows, best baseline); selection biases it upwards."""
    confirmed: dict[str, EffectEstimate]
    """Confirmed geometric means by opponent; empty without a crown."""
    effects: dict[str, EffectEstimate]
    """The verdict's geometric means by opponent."""
    author: str
    origin: str
    techniques: tuple[str, ...]
    """As the sources show them, not as the author claims."""
    parents: tuple[str, ...]
    verdict: str
    """Id of the effective verdict."""


def leaderboard(fold: CampaignFold, limit: int | None = None) -> list[LeaderboardRow]:
    """Return the accepted candidates, the champion first, then by estimate."""
    champion = fold.champion
    ranked = sorted(fold.verdicts.accepted.items(), key=lambda item: (item[0] != champion, -item[1], item[0]))
    return [_row(fold, candidate, estimate) for candidate, estimate in ranked[:limit]]


def lineage(fold: CampaignFold, candidate: str) -> list[str]:
    """Return the candidate and its first parents up to the seed from which it comes."""
    line: list[str] = []
    current: str | None = candidate
    while current is not None and current not in line:
        line.append(current)
        state = fold.candidates.get(current)
        current = state.parents[0] if state and state.parents else None
    return line


def _standing(fold: CampaignFold, candidate: str) -> Standing:
    if candidate == fold.champion:
        return "champion"
    crowns = [crown for crown in fold.champions.crowns if crown.event.candidate == candidate]
    if crowns:
        return "dethroned" if any(fold.champions.valid(crown) for crown in crowns) else "void"
    confirmations = fold.confirmations_of.get(candidate, [])
    return "refused" if any(state.status == "refused" for state in confirmations) else "accepted"


def _row(fold: CampaignFold, candidate: str, estimate: float) -> LeaderboardRow:
    state = fold.candidates[candidate]
    verdict = state.verdict
    crowns = [crown for crown in fold.champions.history if crown.event.candidate == candidate]
    return LeaderboardRow(
        candidate=candidate,
        standing=_standing(fold, candidate),
        speedup=math.exp(estimate),
        confirmed=by_opponent(crowns[-1].event.effects) if crowns else {},
        effects=by_opponent(verdict.effects) if verdict else {},
        author=state.proposed.author if state.proposed else "",
        origin=state.proposed.origin if state.proposed else "",
        techniques=state.screened.traits.techniques if state.screened else (),
        parents=state.parents,
        verdict=verdict.event_id if verdict else "",
    )
