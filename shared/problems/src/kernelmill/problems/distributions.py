"""Families of input distributions: ordinary ones, and those that break kernels that cut corners."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
Family = Callable[[np.random.Generator, tuple[int, ...], float], Array]


def _last(shape: tuple[int, ...]) -> int:
    return shape[-1] if shape else 1


def _normal(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    return generator.standard_normal(shape) * scale


def _uniform(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    return generator.uniform(-scale, scale, shape)


def _constant(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    return np.full(shape, generator.uniform(0.5, 1.5) * scale)


def _one_hot(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    values = np.zeros(shape)
    rows = values.reshape(-1, _last(shape))
    rows[np.arange(len(rows)), generator.integers(0, _last(shape), len(rows))] = scale * generator.uniform(0.5, 1.5)
    return values


def _sparse(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    return np.where(generator.random(shape) < 0.05, generator.standard_normal(shape) * scale, 0.0)


def _signed_zeros(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    signs = np.where(generator.random(shape) < 0.5, 1.0, -1.0)
    return np.where(generator.random(shape) < 0.5, signs * 0.0, signs * scale)


def _alternating(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    signs = 1.0 - 2.0 * (np.arange(_last(shape)) % 2)
    return np.broadcast_to(signs * scale * generator.uniform(0.5, 1.5), shape).copy()


def _sorted(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    return np.sort(generator.standard_normal(shape) * scale, axis=-1) if shape else np.asarray(scale)


def _spike(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    """Noise with one value per row that dominates it, at a hidden place: whoever skips that place is far off."""
    values = generator.standard_normal(shape)
    rows = values.reshape(-1, _last(shape))
    rows[np.arange(len(rows)), generator.integers(0, _last(shape), len(rows))] *= 100.0 * scale
    return values


def _tail_spike(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    """Noise whose last element of each row dominates it: whoever skips the tail is far off."""
    values = generator.standard_normal(shape)
    values[..., -1] = 100.0 * scale
    return values


def _denormal(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    return generator.uniform(-1e-39, 1e-39, shape) * scale


def _equal_maxima(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    """Rows in which many elements share the largest value."""
    values = generator.standard_normal(shape)
    return np.where(generator.random(shape) < 0.3, 5.0 * scale, values)


def _masked(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    """Scores with a part of each row masked by minus infinity; the first element of a row never is."""
    values = generator.standard_normal(shape) * scale
    mask = generator.random(shape) < 0.4
    mask[..., 0] = False
    return np.where(mask, -np.inf, values)


def _peaked(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    """Scores that span far more than exp can: nearly all weight on one element."""
    return generator.standard_normal(shape) * 30.0 * scale


def _offset(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    """Small differences on a large common value: whoever does not subtract it overflows or cancels."""
    return 1000.0 * scale + generator.standard_normal(shape)


FAMILIES: dict[str, Family] = {
    "normal": _normal,
    "uniform": _uniform,
    "constant": _constant,
    "one-hot": _one_hot,
    "sparse": _sparse,
    "large": _normal,
    "tiny": _normal,
    "signed-zeros": _signed_zeros,
    "alternating": _alternating,
    "sorted": _sorted,
    "spike": _spike,
    "tail-spike": _tail_spike,
    "denormal": _denormal,
    "equal-maxima": _equal_maxima,
    "masked": _masked,
    "peaked": _peaked,
    "offset": _offset,
}
"""By name; each returns float64 values of the shape, to be rounded to the input's dtype."""
