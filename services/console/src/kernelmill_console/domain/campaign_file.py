"""campaign.toml: what people write, every field with a default, and the objective that it means."""

import tomllib
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kernelmill.events import AgentShare, Budget, Constraints, Goal, Objective, Policy
from kernelmill.identity import Token
from kernelmill.problems import Problem
from kernelmill_console.errors import CampaignFileError


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class BudgetSection(_Section):
    """What the campaign may spend."""

    evaluations: int | None = Field(default=200, ge=1)
    """Candidates at most."""
    minutes: float | None = Field(default=3.0, gt=0)
    """Minutes from the start of the campaign on."""
    device_minutes: float | None = Field(default=None, gt=0)
    """Minutes of exclusive device time."""


class CampaignFile(_Section):
    """The content of a campaign.toml."""

    problem: str
    """Name of a shipped problem, or a path to a problem's folder, relative to the file."""
    title: str = ""
    """A name for people; default: the problem's name."""
    target: Token = "cpu"
    """What the champion is for."""
    metric: Literal["warm-throughput", "cold-throughput", "single-latency"] = "warm-throughput"
    """How a row is timed."""
    workloads: tuple[str, ...] = ()
    """Ids of the timed rows; default: all rows of the problem."""
    baselines: tuple[str, ...] = ()
    """Baselines to beat; default: all that the node supports."""
    seed: int | None = Field(default=None, ge=0)
    """Seed of the choices of planner and agents; default: drawn anew."""
    constraints: Constraints = Constraints()
    """Accuracy, determinism, memory, threads, allowed techniques."""
    budget: BudgetSection = BudgetSection()
    """What may be spent."""
    goal: Goal = Goal()
    """When to stop early."""
    agents: tuple[AgentShare, ...] = (AgentShare(agent="search", share=1.0),)
    """Who works, in what proportion."""
    policy: Policy | None = None
    """Thresholds of judging; default: the shipped policy."""

    @classmethod
    def parse(cls, text: str, source: str) -> Self:
        """Return the parsed file.

        Raises:
            CampaignFileError: it is not TOML, or a field is unknown or out of range; the message names each one.
        """
        try:
            return cls.model_validate(tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise CampaignFileError(f"{source}: not valid TOML: {error}") from error
        except ValidationError as error:
            lines = [f"  {'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()]
            raise CampaignFileError(f"{source}: these fields need another value:\n" + "\n".join(lines)) from error

    def with_limits(self, evaluations: int | None, minutes: float | None, seed: int | None, target: str | None) -> Self:
        """Return the file with what was given on the command line in place of what it says."""
        budget = self.budget.model_copy(
            update={
                key: value for key, value in (("evaluations", evaluations), ("minutes", minutes)) if value is not None
            }
        )
        update: dict[str, object] = {"budget": budget}
        if seed is not None:
            update["seed"] = seed
        if target is not None:
            update["target"] = target
        return self.model_copy(update=update)

    def objective(self, problem: Problem, *, policy_digest: str, seed: int) -> Objective:
        """Return the objective that the file means for a problem; rows and baselines that it leaves out are all named.

        Raises:
            CampaignFileError: it names a row or a baseline that the problem does not have.
        """
        rows = [row.uuid for row in problem.workloads]
        for kind, named, known in (("workload", self.workloads, rows), ("baseline", self.baselines, problem.baselines)):
            for name in named:
                if name not in known:
                    raise CampaignFileError(f"problem {problem.name} has no {kind} '{name}'; it has {', '.join(known)}")
        minutes, device = self.budget.minutes, self.budget.device_minutes
        return Objective(
            problem=problem.name,
            problem_digest=problem.digest,
            target=self.target,
            metric=self.metric,
            workloads=self.workloads or tuple(row.uuid for row in problem.timed_workloads),
            constraints=self.constraints,
            baselines=self.baselines or tuple(problem.baselines),
            policy_digest=policy_digest,
            budget=Budget(
                evaluations=self.budget.evaluations,
                wall_seconds=None if minutes is None else minutes * 60.0,
                device_seconds=None if device is None else device * 60.0,
            ),
            goal=self.goal,
            agents=self.agents,
            seed=seed,
        )
