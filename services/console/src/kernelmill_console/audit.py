"""Reads a log from its first event and audits every campaign on it, or one."""

from collections.abc import Callable

from kernelmill.bus import Bus, Recorded, verify_chains
from kernelmill.events import Policy, PolicyAdopted
from kernelmill.folds import WorldFold
from kernelmill.problems import Problem, input_digest
from kernelmill_console.domain.audit import AuditReport, CampaignAudit, Disagreement, cases_to_regenerate
from kernelmill_console.domain.ids import resolve
from kernelmill_console.export import problem_of


async def audit_log(bus: Bus, campaign: str | None) -> AuditReport:
    """Return what an audit of the log found.

    Args:
        bus: the log, and the blobs from which problems are loaded to regenerate hidden cases.
        campaign: id of one campaign or its short form; None audits all.
    """
    report = AuditReport(log=bus.log.log_id)
    policies: dict[str, Policy] = {}
    world = WorldFold()
    records: dict[str, list[Recorded]] = {}
    async for record in bus.log.replay():
        report.events += 1
        world.apply(record.sequence, record.event)
        if isinstance(record.event, PolicyAdopted):
            policies[record.event.policy_digest] = record.event.body
        name = getattr(record.event, "campaign", None)
        if name is not None:
            records.setdefault(str(name), []).append(record)
    chosen = [resolve(campaign, records, "campaign")] if campaign else list(records)
    await _chains(bus, report)
    for name in chosen:
        audit = CampaignAudit(name, policies, report)
        for record in records[name]:
            audit.apply(record)
        objective = audit.fold.objective
        if objective is not None and audit.fold.revealed is not None:
            problem = await problem_of(bus, world, objective.problem_digest)
            cases_to_regenerate(audit, _regenerator(problem), records[name])
    return report


async def _chains(bus: Bus, report: AuditReport) -> None:
    found = await verify_chains(bus.log)
    report.chains = found.streams
    for broken in found.broken:
        report.disagreements.append(Disagreement(sequence=broken.sequence, event_id=broken.event_id, what=broken.what))


def _regenerator(problem: Problem) -> Callable[[bytes, str, int], dict[str, str]]:
    def regenerate(secret: bytes, candidate: str, case_round: int) -> dict[str, str]:
        return {
            case.id: input_digest(problem.make_inputs(case.axes, case.distribution, case.seed))
            for case in problem.cases(secret, candidate, case_round)
        }

    return regenerate
