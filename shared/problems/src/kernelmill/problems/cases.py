"""Correctness cases: derived from a secret, per candidate and round, so that a leak about one tells nothing more."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from kernelmill.identity import digest_framed
from kernelmill.problems.expression import evaluate
from kernelmill.problems.problem import Problem

GENERATED = 10
"""Cases on generated shapes; cases on the problem's own small rows and one larger row come on top."""

_ROW_CASES = 3
_TAIL_FAMILIES = frozenset({"tail-spike"})
"""Families that say something only about shapes that leave a rest after whole vectors."""
_VECTOR = 16


@dataclass(frozen=True)
class Case:
    """One correctness case. Its inputs follow from it alone."""

    id: str
    """Token, unique within the round."""
    distribution: str
    """Family of the input distribution."""
    axes: dict[str, int]
    """Lengths of the var axes."""
    seed: bytes
    """32 bytes from which the inputs are drawn."""
    scalars: dict[str, float] = field(default_factory=dict)
    """Scalar inputs that are fixed; others are drawn."""

    def inputs(self, problem: Problem) -> dict[str, NDArray[Any]]:
        """Return the case's inputs by name."""
        return problem.make_inputs(self.axes, self.distribution, self.seed, self.scalars)


def case_seed(secret: bytes, *context: str) -> bytes:
    """Return 32 bytes by HKDF-SHA256 (RFC 5869) of the secret, bound to the given context."""
    info = bytes.fromhex(digest_framed(part.encode() for part in ("kernelmill case", *context)))
    return HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=info).derive(secret)


def derive_cases(problem: Problem, secret: bytes, subject: str, case_round: int) -> tuple[Case, ...]:
    """Return the cases of one subject and round.

    Every distribution family of the problem appears on generated boundary and odd shapes; some of the problem's own
    rows are added.

    Args:
        problem: the problem.
        secret: the campaign's secret, any length of at least 16 bytes.
        subject: whose cases: the candidate's id.
        case_round: round of the cases.
    """
    chooser = np.random.Generator(
        np.random.SFC64(int.from_bytes(case_seed(secret, subject, str(case_round), "plan"), "big"))
    )
    families = list(problem.settings.distributions)
    order = [families[index] for index in chooser.permutation(len(families))]
    count = max(GENERATED, len(order))
    planned: list[tuple[str, dict[str, int], dict[str, float]]] = [
        (family, _generated_axes(problem, chooser, odd=family in _TAIL_FAMILIES), {})
        for family in (order[number % len(order)] for number in range(count))
    ]
    rows = [row for row in problem.workloads if _elements(problem, row.axes) <= problem.settings.case_elements]
    for index in chooser.permutation(len(rows))[:_ROW_CASES]:
        row = rows[int(index)]
        planned.append((str(chooser.choice(families)), dict(row.axes), problem.scalars(row)))
    return tuple(
        Case(
            id=f"case-{number:02d}",
            distribution=family,
            axes=axes,
            seed=case_seed(secret, subject, str(case_round), str(number)),
            scalars=scalars,
        )
        for number, (family, axes, scalars) in enumerate(planned)
    )


def input_digest(inputs: Mapping[str, NDArray[Any]]) -> str:
    """Return the sha256 over names, dtypes, shapes and bytes of a case's inputs."""
    state = hashlib.sha256()
    for name in sorted(inputs):
        array = np.ascontiguousarray(inputs[name])
        head = f"{name}:{array.dtype.str}:{array.shape}".encode()
        state.update(len(head).to_bytes(8, "big") + head)
        state.update(array.tobytes())
    return state.hexdigest()


def _generated_axes(problem: Problem, chooser: np.random.Generator, *, odd: bool) -> dict[str, int]:
    axes = {}
    for name in problem.var_axes:
        lengths = problem.settings.sizes[name]
        with_tail = tuple(length for length in lengths if length > _VECTOR and length % _VECTOR)
        length = int(chooser.choice(np.asarray(with_tail if odd and with_tail else lengths)))
        multiple = problem.settings.multiples.get(name, 1)
        axes[name] = -(-length // multiple) * multiple
    for name, expression in problem.settings.derived_axes.items():
        axes[name] = evaluate(expression, axes)
    return axes


def _elements(problem: Problem, axes: Mapping[str, int]) -> int:
    return sum(
        int(np.prod(spec.shape, dtype=np.int64)) for spec in (*problem.input_specs(axes), *problem.output_specs(axes))
    )
