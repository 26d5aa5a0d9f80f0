"""What functions of core take: arrays by what they hold, the checks of arguments, and generators by name.

Each check returns its argument in the form the computation wants, or raises `InputError` with one sentence
that names the parameter, the rule and the value.

One seed makes many independent generators: each use of chance has a name, and its own child of the seed. Two uses never
share numbers because their names differ, and adding a third changes neither.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InputError

Floats = npt.NDArray[np.float64]

Ints = npt.NDArray[np.int64]
"""Counts, or numbers of rows."""

Codes = npt.NDArray[np.uint8]
"""Labels and predictions, 0 or 1; groups, 0 to K - 1."""

Mask = npt.NDArray[np.bool_]

MOST_DECIMALS = 15
"""Decimals of a number that are looked at: so many a 64-bit number keeps."""


def decimals_of(numbers: Floats) -> int:
    """Return the least number of decimals that write all numbers exactly, at most `MOST_DECIMALS`; nan counts not."""
    present = numbers[~np.isnan(numbers)]
    exact = (
        decimals
        for decimals in range(MOST_DECIMALS)
        if np.array_equal(np.round(present, decimals), present)
    )
    return next(exact, MOST_DECIMALS)


LEAST_EPSILON = 1e-6
"""Smallest privacy budget. Shared out among the counts of a tree of 4,000 columns it leaves each enough for noise that
whole numbers of 64 bits can hold, and nobody can read anything out of noise as large as this."""


def unit_interval(value: float, *, name: str) -> float:
    """Return `value` as a float if it lies in [0, 1]."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number in [0, 1], got {value!r}.") from None
    if not 0.0 <= number <= 1.0:  # also catches nan
        raise InputError(f"{name} must be in [0, 1], got {value!r}.")
    return number


def _is_real(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def privacy_budget(value: float) -> float:
    """Return `value` as a float if it is in [LEAST_EPSILON, inf]; infinity is no privacy."""
    if not (_is_real(value) and value >= LEAST_EPSILON):  # also catches nan
        raise InputError(f"epsilon must be at least {LEAST_EPSILON:g}, or infinite, got {value!r}.")
    return float(value)


def choice(value: str, options: Collection[str], *, name: str) -> str:
    """Return `value` if it is one of `options`."""
    if value not in options:
        raise InputError(f"{name} must be one of {', '.join(options)}, got {value!r}.")
    return value


def whole_number(
    value: int, *, name: str, least: int, most: int | None = None, also: str = ""
) -> int:
    """Return `value` as an int if it is a whole number in a range; `also` names what else would do."""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or value < least or (most is not None and value > most):
        if most is None:
            span = f"of at least {least}"
        else:
            span = f"from {least} to {most}"
        raise InputError(f"{name} must be a whole number {span}{also}, got {value!r}.")
    return int(value)


def seed_value(value: int, *, name: str = "seed") -> int:
    """Return `value` as an int if it is a whole number in the range scikit-learn accepts."""
    return whole_number(value, name=name, least=0, most=2**32 - 1)


def _one_dimensional(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got {array.ndim} dimensions.")
    return array


def binary_array(values: npt.ArrayLike, *, name: str) -> Codes:
    """Return `values` as a one-dimensional array of 0 and 1 (dtype uint8), copying only where it must."""
    array = _one_dimensional(values, name)
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name} must hold only 0 and 1, got values of type {array.dtype}.")
    if array.dtype == np.uint8 and (not array.size or array.max() <= 1):
        return array
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        raise InputError(f"{name} must hold only 0 and 1, got {array[wrong][0]}.")
    return array.astype(np.uint8)


def group_array(values: npt.ArrayLike, n_groups: int, *, name: str) -> Codes:
    """Return `values` as a one-dimensional array of group numbers, 0 to `n_groups` - 1 (dtype uint8)."""
    if n_groups == 2:
        return binary_array(values, name=name)
    array = _one_dimensional(values, name)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold group numbers, got values of type {array.dtype}.")
    wrong = ~((array >= 0) & (array < n_groups) & (array == np.floor(array)))
    if wrong.any():
        raise InputError(
            f"{name} must hold whole numbers from 0 to {n_groups - 1}, got {array[wrong][0]}."
        )
    return array.astype(np.uint8)


def positive_array(values: npt.ArrayLike, *, name: str) -> Floats:
    """Return `values` as a one-dimensional float array, all finite and above zero."""
    array = _one_dimensional(np.asarray(values, dtype=np.float64), name)
    if array.size:
        # nan propagates into both
        low = float(array.min())
        high = float(array.max())
        if not (low > 0.0 and math.isfinite(high)):
            wrong = array[~(np.isfinite(array) & (array > 0))][0]
            raise InputError(f"{name} must be finite and above 0, got {wrong}.")
    return array


def probabilities(values: npt.ArrayLike, n: int, *, name: str) -> Floats:
    """Return `values` as a float array of n probabilities."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (n,):
        raise InputError(
            f"{name} must have one probability for each of {n} people, got shape {array.shape}."
        )
    wrong = ~((array >= 0.0) & (array <= 1.0))  # nan too
    if wrong.any():
        raise InputError(f"{name} must be in [0, 1], got {array[wrong][0]}.")
    return array


def one_length(**arrays: Any) -> int:
    """Return the common length of the named arrays."""
    lengths = {name: len(array) for name, array in arrays.items() if array is not None}
    if len(set(lengths.values())) != 1:
        lengths_text = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"All arrays must have the same length: {lengths_text}.")
    return next(iter(lengths.values()))


def _child(seed: int, name: str) -> np.random.SeedSequence:
    digest = hashlib.sha256(name.encode()).digest()
    entropy = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.SeedSequence([seed_value(seed), *entropy])


def child_generator(seed: int, name: str) -> np.random.Generator:
    """Return the generator of this name under a seed; same seed and name, same numbers."""
    return np.random.default_rng(_child(seed, name))


def child_seed(seed: int, name: str) -> int:
    """Return the seed of this name under a seed, in [0, 2**32 - 1], for libraries that want a number."""
    return int(_child(seed, name).generate_state(1)[0])
