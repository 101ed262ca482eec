"""Opens a campaign: policy, problem and objective go onto the log, each once."""

import getpass
import secrets
from contextlib import suppress
from datetime import UTC, datetime

from kernelmill.bus import Bus, ConflictError
from kernelmill.events import CampaignOpened, Objective, Policy, PolicyAdopted, ProblemRegistered, policy_digest
from kernelmill.events.problem import ProblemFile
from kernelmill.evidence import default_policy
from kernelmill.identity import command_id, new_id
from kernelmill.problems import Problem
from kernelmill_console.domain.campaign_file import CampaignFile


async def adopt_policy(bus: Bus, policy: Policy) -> str:
    """Put the policy on the log unless it is there, and return its digest."""
    digest = policy_digest(policy)
    event = PolicyAdopted(
        event_id=command_id("PolicyAdopted", digest),
        recorded_at=datetime.now(UTC),
        policy_digest=digest,
        body=policy,
        adopted_by=getpass.getuser(),
        because="named by a campaign",
    )
    with suppress(ConflictError):
        await bus.log.append(event, expected=0)
    return digest


async def register_problem(bus: Bus, problem: Problem) -> None:
    """Put every byte of the problem's folder on the log unless it is there."""
    files = []
    for path, data in sorted(problem.files.items()):
        files.append(ProblemFile(path=path, blob=await bus.blobs.put(data, "problem")))
    event = ProblemRegistered(
        event_id=command_id("ProblemRegistered", problem.digest),
        recorded_at=datetime.now(UTC),
        problem_digest=problem.digest,
        name=problem.name,
        files=tuple(files),
    )
    with suppress(ConflictError):
        await bus.log.append(event, expected=0)


async def open_campaign(bus: Bus, file: CampaignFile, problem: Problem) -> CampaignOpened:
    """Open a campaign as the file says and return its first event."""
    digest = await adopt_policy(bus, file.policy or default_policy())
    await register_problem(bus, problem)
    seed = secrets.randbelow(2**31) if file.seed is None else file.seed
    objective = file.objective(problem, policy_digest=digest, seed=seed)
    return await open_objective(bus, objective, file.title or problem.name)


async def open_objective(bus: Bus, objective: Objective, title: str) -> CampaignOpened:
    """Append the CampaignOpened event of a fresh campaign and return it."""
    campaign = new_id(objective.problem)
    event = CampaignOpened(
        event_id=command_id("CampaignOpened", campaign),
        recorded_at=datetime.now(UTC),
        target=objective.target,
        campaign=campaign,
        objective=objective,
        title=title,
        opened_by=getpass.getuser(),
    )
    await bus.log.append(event, expected=0)
    return event
