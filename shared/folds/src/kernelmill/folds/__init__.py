"""Pure state from events: campaigns, candidates, budgets, champions, and the world around them."""

from kernelmill.folds.budget import DIMENSIONS, BudgetFold, BudgetViolation, Dimension, add_spending, cap_spending
from kernelmill.folds.campaign import CampaignFold, CampaignStatus
from kernelmill.folds.candidate import CandidateState, Positioned, Progress, VerdictState, fold_candidate
from kernelmill.folds.champion import ChampionFold, Crown
from kernelmill.folds.confirmation import ConfirmationState, ConfirmationStatus
from kernelmill.folds.errors import EmptyStreamError, FoldError
from kernelmill.folds.estimate import by_opponent, headline, mean_race_log_ratio
from kernelmill.folds.following import CampaignViews
from kernelmill.folds.merkle import MerkleFrontier
from kernelmill.folds.task import TaskState, TaskStatus
from kernelmill.folds.verdicts import ProgressPoint, VerdictIndex
from kernelmill.folds.views import LeaderboardRow, Standing, leaderboard, lineage
from kernelmill.folds.world import NodeState, ProblemState, WorldFold

__all__ = [
    "DIMENSIONS",
    "BudgetFold",
    "BudgetViolation",
    "CampaignFold",
    "CampaignStatus",
    "CampaignViews",
    "CandidateState",
    "ChampionFold",
    "ConfirmationState",
    "ConfirmationStatus",
    "Crown",
    "Dimension",
    "EmptyStreamError",
    "FoldError",
    "LeaderboardRow",
    "MerkleFrontier",
    "NodeState",
    "Positioned",
    "ProblemState",
    "Progress",
    "ProgressPoint",
    "Standing",
    "TaskState",
    "TaskStatus",
    "VerdictIndex",
    "VerdictState",
    "WorldFold",
    "add_spending",
    "by_opponent",
    "cap_spending",
    "fold_candidate",
    "headline",
    "leaderboard",
    "lineage",
    "mean_race_log_ratio",
]
