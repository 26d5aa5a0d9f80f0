"""Hyper-parameters of the paper's random forest: the pinned ones, and which others are taken.

The class weights are not among them: they stay balanced, as in Ferry et al. (2023, IV-B4).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from core.errors import InputError

PINNED: dict[str, Any] = {
    "n_estimators": 100,
    "max_depth": 6,
    "min_samples_split": 10,
    "min_samples_leaf": 1,
    "max_features": "sqrt",
    "criterion": "gini",
}
"""Those of Ferry et al.'s published script on Adult; what it leaves out stands at scikit-learn's default."""

_WHOLE = {
    "n_estimators": (1, 3000),
    "max_depth": (1, 64),
    "min_samples_split": (2, 10_000),
    "min_samples_leaf": (1, 10_000),
}
_CHOICES: dict[str, tuple[str | None, ...]] = {
    "max_features": ("sqrt", "log2", None),
    "criterion": ("gini", "entropy"),
}


def forest_parameters(parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the forest's hyper-parameters: the given ones, and the pinned ones for the rest.

    Given may be any of `n_estimators` (1 to 3,000), `max_depth` (1 to 64, or None for no limit), `min_samples_split` (2
    to 10,000), `min_samples_leaf` (1 to 10,000), `max_features` ("sqrt", "log2" or None for all of them) and
    `criterion` ("gini" or "entropy"). Raises `InputError` if a name is unknown or a value out of range.
    """
    given = dict(parameters or {})
    unknown = [name for name in given if name not in PINNED]
    if unknown:
        raise InputError(f"A forest's parameters must be among {', '.join(PINNED)}, got {unknown[0]!r}.")
    return PINNED | {name: _checked(name, value) for name, value in given.items()}


def _checked(name: str, value: Any) -> Any:
    if name in _CHOICES:
        options = _CHOICES[name]
        if not (value is None or isinstance(value, str)) or value not in options:
            raise InputError(f"{name} must be one of {', '.join(map(str, options))}, got {value!r}.")
        return value
    if name == "max_depth" and value is None:
        return None
    low, high = _WHOLE[name]
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not low <= value <= high:
        also = " or None" if name == "max_depth" else ""
        raise InputError(f"{name} must be a whole number from {low} to {high}{also}, got {value!r}.")
    return int(value)
