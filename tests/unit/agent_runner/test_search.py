"""The search agent: deterministic, never repeats, honours its brief."""

from pathlib import Path

import numpy as np
import pytest

from kernelmill.events import Direction
from kernelmill.problems import load_problem
from kernelmill_agent_runner.domain.agent import Brief, Known, Proposal
from kernelmill_agent_runner.domain.search import SearchAgent
from kernelmill_agent_runner.tpe import TpeSampler

PROBLEM = load_problem(Path(__file__).parents[3] / "kernels" / "rmsnorm")


def brief(operator: str = "seed", **changes: object) -> Brief:
    content: dict[str, object] = {
        "problem": PROBLEM,
        "target": "cpu",
        "direction": Direction.model_validate({"operator": operator}),
        "parents": (),
        "known": (),
        "taken": frozenset(),
        "advice": (),
        "techniques": frozenset(),
        "banned": frozenset(),
        "native": ("-mavx2",),
        "compilers": ("gcc",),
        "cap": 4,
    }
    return Brief(**(content | changes))  # type: ignore[arg-type]


def propose(given: Brief, seed: int = 1) -> list[Proposal]:
    return list(SearchAgent(TpeSampler()).propose(given, np.random.default_rng(seed)))


def known(proposals: list[Proposal]) -> tuple[Known, ...]:
    return tuple(
        Known(proposal.candidate, proposal.configuration, 0.1 * number, failed=False)
        for number, proposal in enumerate(proposals)
    )


def test_the_first_task_proposes_every_seed_as_it_stands() -> None:
    origins = [proposal.origin for proposal in propose(brief())]
    assert origins[:2] == ["naive/seed", "structured/seed"]


@pytest.mark.parametrize("operator", ["seed", "tune", "rewrite", "crossover", "explore"])
def test_proposals_follow_from_brief_and_chance_and_never_repeat(operator: str) -> None:
    first = propose(brief("explore"), seed=9)
    given = brief(operator, parents=known(first), known=known(first), taken=frozenset(item.candidate for item in first))
    once, again = propose(given), propose(given)
    assert [item.candidate for item in once] == [item.candidate for item in again]
    assert len({item.candidate for item in once}) == len(once) == 4
    assert not {item.candidate for item in once} & {item.candidate for item in first}
    for item in once:
        assert all(parent in {other.candidate for other in first} for parent in item.parents)
        assert item.hypothesis


def test_a_banned_technique_is_not_proposed() -> None:
    banned = frozenset({"prefetch"})
    for proposal in propose(brief("explore", banned=banned, cap=10)):
        assert not banned & set(proposal.techniques)


def test_an_ablation_stays_within_its_groups() -> None:
    given = brief("explore", techniques=frozenset({"flags", "naive-seed"}), cap=6)
    for proposal in propose(given):
        assert proposal.origin.startswith("naive/")
        assert proposal.files == dict(PROBLEM.seeds["naive"].files)
