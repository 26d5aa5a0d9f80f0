"""What an attacker's inferences should look like: the target distribution p of phase II."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.validation import choice

TARGETS = ("uniform", "train_shares", "given")

_ROUNDED = 1e-6
"""How far from 1 shares may add up, as numbers typed with a few decimals do."""


def target_distribution(
    kind: str, shares: npt.ArrayLike, given: npt.ArrayLike | None = None
) -> npt.NDArray[np.float64]:
    """Return the target distribution over the m values of the private attribute.

    Parameters
    ----------
    kind : str
        "uniform"; "train_shares", the shares among the people everybody trains on, so that an attacker does no better
        than one who knows nothing about a person; or "given".
    shares : array-like of shape (m,), on the simplex
        Shares of the values among the training people.
    given : array-like of shape (m,), on the simplex, optional
        The distribution, for "given".

    Returns
    -------
    ndarray of shape (m,), float64

    Raises
    ------
    InputError
        If the kind is none of `TARGETS`, or shares are negative or do not add up to 1.
    """
    choice(kind, TARGETS, name="target")
    known = checked_shares(shares, name="shares")
    if kind == "uniform":
        return np.full(known.size, 1.0 / known.size)
    if kind == "train_shares":
        return known
    if given is None or not np.size(given):
        raise InputError(f"A given target must have one share a value, {known.size}, got none.")
    told = checked_shares(given, name="The given target")
    if told.size != known.size:
        raise InputError(f"The given target must have one share a value, {known.size}, got {told.size}.")
    return told


def checked_shares(shares: npt.ArrayLike, *, name: str) -> npt.NDArray[np.float64]:
    """Return shares as an array that adds up to 1, the rounding of its numbers taken out."""
    try:
        told = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a row of numbers, got {shares!r}.") from None
    if told.ndim != 1 or not told.size:
        raise InputError(f"{name} must be a row of one share a value, got shape {told.shape}.")
    wrong = told[~((told >= 0) & np.isfinite(told))]
    if wrong.size:
        raise InputError(f"{name} must hold shares of at least 0, got {wrong[0]:g}.")
    total = float(told.sum())
    if abs(total - 1.0) > _ROUNDED:
        raise InputError(f"{name} must add up to 1, got {total:.6g}.")
    return told / total
