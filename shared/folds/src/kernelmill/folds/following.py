"""Campaigns kept up to date for readers that look at them now and then."""

from collections.abc import Awaitable, Callable, Sequence

from kernelmill.folds.campaign import CampaignFold
from kernelmill.folds.candidate import Positioned

ReadCampaign = Callable[[str, int], Awaitable[Sequence[Positioned]]]
"""Reads the events of a campaign above a sequence."""

_KEPT = 16


class CampaignViews:
    """Folds of the campaigns that were looked at last; looking again reads only what is new.

    Args:
        read: reads the events of a campaign above a sequence.
        lean: drop the evidence of judged candidates, to bound memory.
    """

    def __init__(self, read: ReadCampaign, *, lean: bool = True) -> None:
        self._read = read
        self._lean = lean
        self._folds: dict[str, CampaignFold] = {}

    async def look(self, campaign: str) -> CampaignFold:
        """Return the campaign as it is now."""
        fold = self._folds.pop(campaign, None) or CampaignFold(campaign, lean=self._lean)
        for record in await self._read(campaign, fold.last_sequence):
            fold.apply(record.sequence, record.event)
        self._folds[campaign] = fold
        while len(self._folds) > _KEPT:
            self._folds.pop(next(iter(self._folds)))
        return fold
