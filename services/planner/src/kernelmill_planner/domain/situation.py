"""What a decision looks at: one campaign, the world around it, the swarm's memory."""

from dataclasses import dataclass, field

from kernelmill.events import LessonAdvice, MemoryUse, Objective, Policy
from kernelmill.folds import CampaignFold, WorldFold
from kernelmill.identity import command_id
from kernelmill_planner.domain.archive import Archive


@dataclass(frozen=True)
class Memory:
    """The lessons' latest answer; nothing where they did not answer."""

    position: int = 0
    advice: tuple[LessonAdvice, ...] = ()

    def use(self) -> MemoryUse:
        """Return what a plan records about its use of memory."""
        return MemoryUse(position=self.position, lessons=tuple(item.lesson for item in self.advice))


@dataclass
class Situation:
    """One campaign as its planner sees it."""

    fold: CampaignFold
    world: WorldFold
    archive: Archive = field(default_factory=Archive)
    memory: Memory = field(default_factory=Memory)

    @property
    def objective(self) -> Objective:
        """The campaign's objective.

        Raises:
            ValueError: the campaign has not been opened.
        """
        if self.fold.objective is None:
            raise ValueError(f"campaign {self.fold.campaign} has not been opened")
        return self.fold.objective

    @property
    def policy(self) -> Policy | None:
        """The policy that judges now, None while it is not on the log."""
        return self.world.policies.get(self.fold.policy_digest)

    @property
    def by_hand(self) -> bool:
        """Whether a person proposes and decides: no plans, no confirmations of the planner's own, no crowns."""
        return not self.objective.agents

    def identity(self, kind: str) -> str:
        """Return the id of the event that is appended next to the campaign's stream."""
        return command_id(self.fold.campaign, str(self.fold.stream_sequence), kind)
