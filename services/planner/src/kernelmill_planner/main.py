"""Wiring of the planner."""

from kernelmill.bus import Bus, ServicePlan, ServiceSettings, run_service
from kernelmill_planner.handlers import Planner


async def plan(bus: Bus, settings: ServiceSettings) -> ServicePlan:  # noqa: ARG001 - the shape of every plan
    """Return the planner: one fold that decides."""

    async def run() -> None:
        await Planner(bus).run()

    return ServicePlan(tasks=(run,))


def main() -> int:
    """Run the service."""
    return run_service("planner", plan)
