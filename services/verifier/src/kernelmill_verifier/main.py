"""Wiring of the verifier."""

import asyncio

from kernelmill.bus import Bus, ServicePlan, ServiceSettings, Worker, WorkFilter, run_service
from kernelmill.events import (
    BenchmarkMeasured,
    CampaignClosing,
    CampaignOpened,
    CampaignPolicyChanged,
    CandidateProposed,
    CandidateScreened,
    CompileFailed,
    CorrectnessMeasured,
    EvidenceDisputed,
    MeasurementFailed,
    VerdictReached,
)
from kernelmill.targets.port import load_target
from kernelmill_verifier.handlers import Checker, Judging, Openings
from kernelmill_verifier.settings import VerifierSettings

_JUDGED = (
    WorkFilter(CandidateScreened, "refused"),
    WorkFilter(CandidateScreened, "near-duplicate"),
    WorkFilter(CompileFailed),
    WorkFilter(CorrectnessMeasured, "failed"),
    WorkFilter(BenchmarkMeasured),
    WorkFilter(MeasurementFailed),
)
"""Events after which a verdict may be due."""


async def plan(bus: Bus, settings: ServiceSettings) -> ServicePlan:
    """Return the verifier for the targets that the settings name."""
    own = VerifierSettings()
    openings, judging = Openings(bus), Judging(bus)
    workers = [
        Worker("verifier-problems", (WorkFilter(CampaignOpened),), openings.open),
        Worker("verifier-judge", _JUDGED, judging.judge),
        Worker("verifier-judge-again", (WorkFilter(CampaignPolicyChanged),), judging.judge_again),
        Worker("verifier-judge-late", (WorkFilter(VerdictReached),), judging.judge_late),
        Worker("verifier-reveal", (WorkFilter(CampaignClosing),), openings.reveal),
    ]
    for name in settings.targets:
        target = await asyncio.to_thread(load_target, name)
        checker = Checker(bus, target, f"{settings.node}-{name}", own)
        work = WorkFilter(CandidateProposed, target=name)
        workers.append(Worker(f"verifier-check-{name}", (work,), checker.check, slots=settings.slots))
        disputes = WorkFilter(EvidenceDisputed, target=name)
        workers.append(Worker(f"verifier-dispute-{name}", (disputes,), checker.check_again))
    return ServicePlan(workers=tuple(workers))


def main() -> int:
    """Run the service."""
    return run_service("verifier", plan)
