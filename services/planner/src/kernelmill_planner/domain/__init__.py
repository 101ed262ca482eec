"""The planner's decisions: given the folds and the time, the next event of a campaign."""

from kernelmill_planner.domain.decide import decide
from kernelmill_planner.domain.situation import Memory, Situation

__all__ = ["Memory", "Situation", "decide"]
