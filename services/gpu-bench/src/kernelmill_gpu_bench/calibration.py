"""Calibrates a node: identical code against itself has to come out equal. Everything here blocks."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelmill.events import BuildOptions
from kernelmill.problems import Uniform, numpy_uniform
from kernelmill.targets.port import Artifact, Limits, PairMeasured, PairPlan, Program, Target, TensorSpec

SOURCE = b"""#include <stdint.h>
void kernel(const float *restrict x, float *restrict y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * 2.0f;
}
"""
PAIRS = 10
WORST_BIAS = 0.03
"""Largest mean log ratio of identical code that is believed to be noise."""
WORST_SPREAD = 0.15
"""Largest spread of the log ratio between process pairs, as a standard deviation."""

_LENGTH = 1 << 15
_FLOAT = np.dtype(np.float32)
_CEILINGS = {"read-write-64KiB": 1 << 16, "read-write-1MiB": 1 << 20, "read-write-8MiB": 8 << 20}


@dataclass(frozen=True)
class DoublingRow:
    """A row whose kernel doubles its input; implements `TimedRow`."""

    inputs: tuple[TensorSpec, ...] = (TensorSpec("x", (_LENGTH,), _FLOAT),)
    outputs: tuple[TensorSpec, ...] = (TensorSpec("y", (_LENGTH,), _FLOAT),)
    axes: tuple[int, ...] = (_LENGTH,)

    def fill(self, into: Mapping[str, NDArray[Any]], seed: bytes, uniform: Uniform = numpy_uniform) -> None:
        """Write fresh uniform inputs."""
        uniform(into["x"], 1.0, int.from_bytes(seed[:8], "big"))

    def spot_check(self, inputs: Mapping[str, NDArray[Any]], outputs: Mapping[str, NDArray[Any]], seed: bytes) -> float:
        """Return 0 where a random part is right, 2 where it is not."""
        start = int.from_bytes(seed[:4], "big") % (_LENGTH - 64)
        part = slice(start, start + 64)
        return 0.0 if np.array_equal(outputs["y"][part], inputs["x"][part] * np.float32(2.0)) else 2.0

    def full_check(self, inputs: Mapping[str, NDArray[Any]], outputs: Mapping[str, NDArray[Any]]) -> float:
        """Return 0 where everything is right, 2 where it is not."""
        return 0.0 if np.array_equal(outputs["y"], inputs["x"] * np.float32(2.0)) else 2.0

    def plant(self, into: Mapping[str, NDArray[Any]], seed: bytes) -> tuple[int, ...]:  # noqa: ARG002
        """Plant nothing: no input is harder than another."""
        return ()

    def planted_check(
        self,
        inputs: Mapping[str, NDArray[Any]],
        outputs: Mapping[str, NDArray[Any]],
        rows: tuple[int, ...],  # noqa: ARG002
    ) -> float:
        """Return 0 where everything is right, 2 where it is not."""
        return self.full_check(inputs, outputs)


@dataclass(frozen=True)
class Calibration:
    """What a calibration found."""

    good: bool
    pair_sd: float
    pair_bias: float
    pairs: int
    dispatch_ns: float
    ceilings: dict[str, float]
    detail: str
    ratios: tuple[float, ...] = ()
    """Log ratios of the pairs."""


def _robust(ratios: list[float]) -> tuple[float, float]:
    """Return median and normal-consistent interquartile spread: a few processes in a thousand run slowly for life."""
    if len(ratios) < 2:
        return (ratios[0] if ratios else 0.0), 0.0
    low, middle, high = quantiles(ratios, n=4, method="inclusive")
    return middle, (high - low) / 1.349


def calibrate(target: Target, pairs: int = PAIRS) -> Calibration:
    """Time identical code against itself in fresh processes and layouts, and probe the node's ceilings."""
    program = Program({"doubling.c": SOURCE}, "kernel", target.resolve(BuildOptions(flags=("-O3", "-march=native"))))
    ratios: list[float] = []
    dispatch, trouble = 0.0, ""
    for _ in range(pairs):
        sides = [target.compile(program, layout_seed=secrets.token_bytes(16)) for _ in range(2)]
        artifacts = [side for side in sides if isinstance(side, Artifact)]
        if len(artifacts) < len(sides):
            trouble = "the calibration kernel does not compile"
            break
        plan = PairPlan(duels=20, seed=secrets.token_bytes(32))
        measured = target.time_pair(artifacts[0], artifacts[1], DoublingRow(), plan, Limits())
        if isinstance(measured, PairMeasured):
            ratios.append(measured.score.log_ratio)
            dispatch = measured.single_call_ns
        else:
            trouble = getattr(measured, "detail", "") or getattr(measured, "reason", "")
    bias, spread = _robust(ratios)
    enough = 2 * len(ratios) >= pairs
    good = enough and abs(bias) <= WORST_BIAS and spread <= WORST_SPREAD
    if enough and not good:
        trouble = f"identical code differs by {bias:+.1%} on average, {spread:.1%} between pairs"
    ceilings = {
        name: size / seconds for name, size in _CEILINGS.items() if (seconds := target.probe_floor(size, 0, 1)) > 0
    }
    words = "" if good else trouble
    return Calibration(good, spread, bias, len(ratios), dispatch, ceilings, words, tuple(ratios))
