"""CampaignOpened: every baseline of every row is tuned, unless this node has tuned it before."""

from kernelmill.bus import Delivery
from kernelmill.events import CampaignOpened
from kernelmill_gpu_bench.handlers.workshop import Workshop


class Tuning:
    """Tunes baselines before a campaign starts."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def tune(self, delivery: Delivery) -> None:
        """Tune what is missing; the events say what was found."""
        event = delivery.event
        if not isinstance(event, CampaignOpened):
            return
        self._workshop.refuse_if_quarantined()
        async with self._workshop.turns.urgent():
            await self._workshop.tuned(event.target, event.objective)
