"""Wiring of the bench."""

import asyncio

from kernelmill.bus import Bus, ServicePlan, ServiceSettings, Worker, WorkFilter, run_service
from kernelmill.events import CampaignOpened, ConfirmationRequested, CorrectnessMeasured
from kernelmill.targets.port import load_target
from kernelmill_gpu_bench.device import Device
from kernelmill_gpu_bench.handlers import Calibrating, Confirming, Measuring, Tuning, Workshop
from kernelmill_gpu_bench.node import NodeLife


async def plan(bus: Bus, settings: ServiceSettings) -> ServicePlan:
    """Return the bench of the first target that the settings name; a bench owns one device."""
    name = settings.targets[0]
    target = await asyncio.to_thread(load_target, name)
    node = f"{settings.node}-{name}"
    life = NodeLife(bus, target, node)
    await life.join()
    workshop = Workshop(bus, Device(target), life)
    tuning, measuring, confirming = Tuning(workshop), Measuring(workshop), Confirming(workshop)
    return ServicePlan(
        workers=(
            Worker(f"bench-tune-{name}", (WorkFilter(CampaignOpened, target=name),), tuning.tune),
            Worker(
                f"bench-measure-{name}", (WorkFilter(CorrectnessMeasured, "device-passed", name),), measuring.measure
            ),
            Worker(f"bench-confirm-{node}", (WorkFilter(ConfirmationRequested, node, name),), confirming.confirm),
        ),
        tasks=(life.recover,),
        answers={f"bench.calibrate.{node}": Calibrating(workshop).answer},
        stop=life.leave,
    )


def main() -> int:
    """Run the service."""
    return run_service("gpu-bench", plan)
