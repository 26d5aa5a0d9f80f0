"""Answers to bias queries: signed gaps between the groups, and what leaked of the attribute.

Everywhere in this package a person's attribute is 1 for the advantaged group and 0 for the disadvantaged one, and a
gap is the advantaged group's mean score minus the other's (Hamman et al. 2023, definitions 2.1 and 2.2).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.validation import binary_array, one_length

Floats = npt.NDArray[np.float64]


def score_matrix(scores: npt.ArrayLike, *, n: int | None = None) -> Floats:
    """Return scores in [0, 1] as a float array of shape (m, n), one row a question; a single row may be given flat."""
    try:
        h = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("scores must be numbers in [0, 1], one row a question.") from None
    if h.ndim == 1:
        h = h[np.newaxis]
    if h.ndim != 2 or not h.size:
        raise InputError(f"scores must have one row a question and one column a person, got shape {h.shape}.")
    if n is not None and h.shape[1] != n:
        raise InputError(f"scores must have one value for each of {n} people, got {h.shape[1]}.")
    low, high = float(h.min()), float(h.max())  # nan propagates into both
    if not (low >= 0.0 and high <= 1.0):
        wrong = h[~((h >= 0.0) & (h <= 1.0))][0]
        raise InputError(f"scores must be in [0, 1], got {wrong}.")
    return h


def answer_array(answers: npt.ArrayLike) -> Floats:
    """Return answers as a float array of shape (m,), all finite; a single one may be given as a number."""
    try:
        told = np.atleast_1d(np.asarray(answers, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError("answers must be numbers, one a question.") from None
    if told.ndim != 1:
        raise InputError(f"answers must be numbers, one a question, got shape {told.shape}.")
    if not np.isfinite(told).all():
        raise InputError(f"answers must be finite, got {told[~np.isfinite(told)][0]}.")
    return told


def attribute_array(sensitive: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Return the attribute as an array of 0 and 1 in which both occur."""
    a = binary_array(sensitive, name="sensitive")
    if not a.size or a.min() == a.max():
        there = f"all {a.size} are {a[0]}" if a.size else "there is nobody"
        raise InputError(f"A gap needs people of both groups (1 = advantaged, 0 = disadvantaged); {there}.")
    return a


def check_sizes(n_advantaged: int, n_disadvantaged: int, n: int | None = None) -> tuple[int, int]:
    """Return the group sizes as whole numbers, each at least 1, together n."""
    sizes = []
    for name, value in (("n_advantaged", n_advantaged), ("n_disadvantaged", n_disadvantaged)):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or value < 1:
            raise InputError(f"{name} must be a whole number of at least 1, got {value!r}.")
        sizes.append(int(value))
    if n is not None and sum(sizes) != n:
        raise InputError(f"n_advantaged and n_disadvantaged must sum to {n} people, got {sizes[0]} and {sizes[1]}.")
    return sizes[0], sizes[1]


def counted(probability: Floats, total: int) -> Floats:
    """Return probabilities (R, n) in (0, 1) with each repeat's odds shifted, so that they add up to `total`."""
    logits = (np.log(probability) - np.log1p(-probability)).T
    low, high = -logits.max(axis=0) - 40.0, -logits.min(axis=0) + 40.0
    shift = np.zeros(logits.shape[1])
    for _ in range(60):
        q = 0.5 * (1.0 + np.tanh(0.5 * (logits + shift)))
        excess = q.sum(axis=0) - total
        if np.abs(excess).max() < 1e-9 * total:
            break
        high, low = np.where(excess > 0, shift, high), np.where(excess > 0, low, shift)
        newton = shift - excess / np.maximum((q * (1 - q)).sum(axis=0), 1e-300)
        shift = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
    return np.asarray(q.T)


def statistical_parity_gap(scores: npt.ArrayLike, sensitive: npt.ArrayLike) -> Floats:
    """Return the statistical parity gap of each model, shape (m,), in [-1, 1] (Hamman et al. 2023, equation 1).

    Raises `InputError` if a score lies outside [0, 1], the lengths differ, or a group is empty.

    Parameters
    ----------
    scores : array-like of shape (m, n) or (n,), in [0, 1]
        Probability with which each of m models accepts each of n people; one row a question.
    sensitive : array-like of shape (n,), 0 or 1
        1 = advantaged.
    """
    a = attribute_array(sensitive)
    n_advantaged = int(a.sum())
    v = np.where(a == 1, 1.0 / n_advantaged, -1.0 / (a.size - n_advantaged))
    return np.asarray(score_matrix(scores, n=v.size) @ v)  # SP = H v (equation 4)


def equal_opportunity_gap(scores: npt.ArrayLike, sensitive: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
    """Return the equal opportunity gap of each model: the same among people with label 1 (equation 2).

    Raises `InputError` as `statistical_parity_gap`, and if a group has nobody with label 1.

    Parameters
    ----------
    scores : array-like of shape (m, n) or (n,), in [0, 1]
    sensitive, labels : array-like of shape (n,), 0 or 1
    """
    a, y = binary_array(sensitive, name="sensitive"), binary_array(labels, name="labels")
    one_length(sensitive=a, labels=y)
    h = score_matrix(scores, n=a.size)
    positive = y == 1
    return statistical_parity_gap(h[:, positive], a[positive])


def leakage(sensitive: npt.ArrayLike, recovered: npt.ArrayLike) -> float:
    """Return the leakage, in [0, 1]: the balanced accuracy of a recovered attribute (definition 5.1).

    A coin toss gets 0.5 of either group. Raises `InputError` if a group is empty, the lengths differ or a value is not
    0 or 1.
    """
    a, found = attribute_array(sensitive), binary_array(recovered, name="recovered")
    if found.size != a.size:
        raise InputError(f"recovered must have one value for each of {a.size} people, got {found.size}.")
    right = found == a
    return float(right[a == 1].mean() + right[a == 0].mean()) / 2
