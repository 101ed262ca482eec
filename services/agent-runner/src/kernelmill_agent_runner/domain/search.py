"""The search agent: tunes declared choices, rewrites marked loops, crosses what won. It needs no model."""

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from kernelmill.events import Prediction, candidate_digest
from kernelmill_agent_runner.domain.agent import Brief, Known, Proposal
from kernelmill_agent_runner.domain.space import SEED, Genome, Space

GROUPS = frozenset({"tunables", "rewrites", "flags"})
NAIVE_ONLY = "naive-seed"
"""Technique that restricts a campaign to the naive seed, for ablations."""
FAILED = -2.0
"""What a failed candidate counts for in the model: far below any that works."""

_TRIES = 60
_NEIGHBOURS = 3


class Sampler(Protocol):
    """An ask/tell optimiser."""

    def ask(self, space: Space, told: Sequence[tuple[Genome, float]], seed: int) -> dict[str, str]:
        """Return a promising genome given what is known; the same arguments give the same genome."""
        ...


class SearchAgent:
    """The embedded default agent."""

    name = "search"
    version = "search-1"

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def propose(self, brief: Brief, generator: np.random.Generator) -> Iterator[Proposal]:
        """Yield proposals along the brief's direction; see `Agent.propose`."""
        spaces = self._spaces(brief)
        taken = set(brief.taken)
        made = 0
        for attempt in range(_TRIES):
            if made >= brief.cap:
                return
            step = self._step(brief, spaces, generator, attempt)
            if step is None:
                continue
            space, genome, parents, operator = step
            proposal = self._proposal(brief, space, genome, parents, operator)
            if proposal.candidate in taken or brief.banned.intersection(proposal.techniques):
                continue
            taken.add(proposal.candidate)
            made += 1
            yield proposal

    def _spaces(self, brief: Brief) -> dict[str, Space]:
        groups = (brief.techniques & GROUPS) or GROUPS
        return {
            name: Space(brief.problem, seed, brief.native, brief.compilers or ("gcc",), groups)
            for name, seed in brief.problem.seeds.items()
            if NAIVE_ONLY not in brief.techniques or seed.structure == "naive"
        }

    def _step(
        self, brief: Brief, spaces: dict[str, Space], generator: np.random.Generator, attempt: int
    ) -> tuple[Space, dict[str, str], tuple[Known, ...], str] | None:
        operator = brief.direction.operator
        parents = [parent for parent in brief.parents if parent.genome.get(SEED) in spaces]
        if operator == "seed" and attempt < len(spaces):
            space = list(spaces.values())[attempt]
            return space, space.defaults(), (), "seed"
        if operator == "explore" or not parents:
            space = self._roomiest(spaces, generator)
            return space, space.sample(generator), (), "explore"
        if operator == "crossover" and len(parents) > 1:
            left, right = (parents[int(index)] for index in generator.choice(len(parents), size=2, replace=False))
            space = spaces[left.genome[SEED]]
            child = space.cross(left.genome, right.genome, generator)
            return space, space.mutate(child, generator, GROUPS, 1), (left, right), "crossover"
        parent = parents[min(int(generator.geometric(0.5)) - 1, len(parents) - 1)]
        space = spaces[parent.genome[SEED]]
        if operator == "rewrite":
            return space, space.mutate(parent.genome, generator, frozenset({"rewrites"}), 2), (parent,), "rewrite"
        if generator.random() < 0.5:
            changes = int(generator.integers(1, 4))
            groups = frozenset({"tunables", "flags"})
            return space, space.mutate(parent.genome, generator, groups, changes), (parent,), "tune"
        told = [(item.genome, _worth(item)) for item in brief.known if space.valid(item.genome)]
        genome = self._sampler.ask(space, told, int(generator.integers(2**31)))
        return (space, genome, (parent,), "tune") if space.valid(genome) else None

    @staticmethod
    def _roomiest(spaces: dict[str, Space], generator: np.random.Generator) -> Space:
        """Return a space, the ones with more choices more often."""
        listed = list(spaces.values())
        weights = np.array([float(len(space.free)) + 1.0 for space in listed])
        return listed[int(generator.choice(len(listed), p=weights / weights.sum()))]

    def _proposal(
        self, brief: Brief, space: Space, genome: dict[str, str], parents: tuple[Known, ...], operator: str
    ) -> Proposal:
        rendered = space.render(genome)
        base = parents[0].genome if parents else space.defaults()
        changed = [
            f"{item.name} {base.get(item.name, item.default)} -> {genome[item.name]}"
            for item in space.dimensions
            if genome[item.name] != base.get(item.name, item.default)
        ]
        return Proposal(
            candidate=candidate_digest(
                brief.problem.digest, brief.target, rendered.files, rendered.entry, rendered.build
            ),
            files=rendered.files,
            entry=rendered.entry,
            build=rendered.build,
            parents=tuple(parent.candidate for parent in parents),
            configuration=genome,
            origin=f"{space.seed.name}/{operator}",
            techniques=rendered.techniques,
            hypothesis=f"{operator}: {', '.join(changed) or 'the seed as it stands'}"[:2000],
            prediction=_prediction(brief, space, genome, parents),
        )


def _worth(known: Known) -> float:
    if known.estimate is not None:
        return known.estimate
    return FAILED


def _prediction(brief: Brief, space: Space, genome: Genome, parents: tuple[Known, ...]) -> Prediction | None:
    """Predict from the nearest timed candidates of the same seed how much faster than its parent it will be."""
    if not parents or parents[0].estimate is None:
        return None
    names = [item.name for item in space.dimensions]
    timed = [item for item in brief.known if item.estimate is not None and item.genome.get(SEED) == space.seed.name]
    nearest = sorted(timed, key=lambda item: sum(item.genome.get(name) != genome[name] for name in names))[:_NEIGHBOURS]
    if not nearest:
        return None
    mean = math.fsum(item.estimate or 0.0 for item in nearest) / len(nearest)
    return Prediction(
        speedup=math.exp(min(5.0, max(-5.0, mean - parents[0].estimate))),
        why=f"mean of its {len(nearest)} nearest timed neighbours against its parent",
    )
