"""campaign.toml: defaults for everything, and messages that name the field."""

from pathlib import Path

import pytest

from kernelmill.problems import load_problem
from kernelmill_console.domain.campaign_file import CampaignFile
from kernelmill_console.errors import CampaignFileError

PROBLEM = load_problem(Path(__file__).parents[3] / "kernels" / "rmsnorm")


def test_a_row_that_the_problem_lacks_is_named() -> None:
    file = CampaignFile(problem="rmsnorm", workloads=("huge",))
    with pytest.raises(CampaignFileError, match="no workload 'huge'; it has smollm2-8"):
        file.objective(PROBLEM, policy_digest="b" * 64, seed=7)


def test_a_problem_is_enough() -> None:
    file = CampaignFile.parse('problem = "rmsnorm"', "campaign.toml")
    objective = file.objective(PROBLEM, policy_digest="b" * 64, seed=7)
    assert objective.target == "cpu"
    assert objective.problem_digest == PROBLEM.digest
    assert objective.workloads == tuple(row.uuid for row in PROBLEM.timed_workloads)
    assert objective.baselines == tuple(PROBLEM.baselines)
    assert objective.budget.evaluations == 200
    assert objective.budget.wall_seconds == 180.0
    assert objective.agents[0].agent == "search"
    assert objective.seed == 7


def test_everything_can_be_said() -> None:
    text = """
        problem = "softmax"
        metric = "cold-throughput"
        baselines = ["numpy"]
        seed = 3
        agents = [{ agent = "search", share = 2.0 }]
        [constraints]
        error_scale = 0.5
        techniques = ["flags", "tunables"]
        [budget]
        evaluations = 50
        minutes = 1.5
        [goal]
        speedup = 1.3
        [policy]
        confirm_alpha = 0.01
    """
    file = CampaignFile.parse(text, "campaign.toml")
    assert file.constraints.techniques == ("flags", "tunables")
    assert file.policy is not None
    assert file.policy.confirm_alpha == 0.01


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("problem = ", "not valid TOML"),
        ("[budget]\nminutes = 1", "problem: Field required"),
        ('problem = "x"\n[budget]\nminuets = 3', "budget.minuets: Extra inputs are not permitted"),
        ('problem = "x"\n[constraints]\nerror_scale = 2.0', "constraints.error_scale"),
    ],
)
def test_a_mistake_is_named(text: str, says: str) -> None:
    with pytest.raises(CampaignFileError, match=r"my\.toml") as caught:
        CampaignFile.parse(text, "my.toml")
    assert says in str(caught.value)


def test_the_command_line_comes_before_the_file() -> None:
    file = CampaignFile(problem="x").with_limits(evaluations=5, minutes=None, seed=9, target="cuda-sm90")
    assert (file.budget.evaluations, file.budget.minutes, file.seed, file.target) == (5, 3.0, 9, "cuda-sm90")
