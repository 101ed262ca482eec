"""Wiring of the agent-runner."""

from kernelmill.bus import Bus, ServicePlan, ServiceSettings, Worker, WorkFilter, run_service
from kernelmill.events import TaskPlanned
from kernelmill_agent_runner.domain.search import SearchAgent
from kernelmill_agent_runner.handlers import Runner
from kernelmill_agent_runner.tpe import TpeSampler


async def plan(bus: Bus, settings: ServiceSettings) -> ServicePlan:
    """Return the agent-runner with the embedded search agent."""
    runner = Runner(bus, SearchAgent(TpeSampler()), settings.instance)
    work = (WorkFilter(TaskPlanned, "search"),)
    return ServicePlan(workers=(Worker("runner-search", work, runner.run, slots=settings.slots),))


def main() -> int:
    """Run the service."""
    return run_service("agent-runner", plan)
