"""Answers from the past: the combination of released sums that equals a new one, with the least noise.

Every release is a known linear functional of the same unknown, the indicator of the disadvantaged, plus noise of a
known law. A new sum that is a linear combination of released ones needs no new look at the data; among the
combinations the one with the least variance is taken, so a question asked twice at a price counts twice. Whether one
exists is first decided without the scales of the noise, which may lie ten powers of ten apart and then hide it.
Whether there is one depends on questions and prices only, never on anybody's attribute.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.queries.checks import Floats

_SAME = 1e-6  # two scores this close count as the same
_TRIFLE = 1e-11
_LEAST = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Combination:
    """A functional as a combination of released ones.

    Attributes
    ----------
    coefficients : ndarray of shape (k,)
    constant : float
        What is left over as a multiple of the free direction.
    slack : float
        The most by which the combination's sum can differ from the new one: Σ |difference of the scores|.
    """

    coefficients: Floats
    constant: float
    slack: float


def combine(rows: Floats, scales: Floats, target: Floats, free: Floats | None) -> Combination | None:
    """Return the combination of rows with the least variance that equals the target, or None if there is none.

    Parameters
    ----------
    rows : ndarray of shape (k, n)
        The released functionals.
    scales : ndarray of shape (k,), above 0
        Scales of their noise.
    target : ndarray of shape (n,)
    free : ndarray of shape (n,) or None
        A direction, such as all ones, of which any multiple may be left over because a gap does not depend on it.
    """
    b = _without(target, free)
    if np.abs(b).max() <= _SAME:
        return _held(np.zeros(len(rows)), rows, target, free)
    if not len(rows):
        return None
    a = _without(rows, free)
    lengths = np.linalg.norm(a, axis=1)
    nothing = lengths <= 1e-12 * np.linalg.norm(rows, axis=1)  # the free direction itself, but for rounding
    a[nothing], lengths[nothing] = 0.0, 1.0
    found = _held(_solved(a / lengths[:, None], b) / lengths, rows, target, free)
    if found is None:
        return _single(a, scales, b, rows=rows, target=target, free=free)
    # With d = c scale the variance is |d|², and the solution of the least norm has the least variance.
    found = _better(found, _held(_solved(a / scales[:, None], b) / scales, rows, target, free), scales)
    return _better(_single(a, scales, b, rows=rows, target=target, free=free), found, scales)


def _solved(a: Floats, b: Floats) -> Floats:
    """Return the x of the least norm among those that bring x @ a nearest to b."""
    return np.asarray(np.linalg.lstsq(a.T, b, rcond=None)[0])


def _single(
    a: Floats, scales: Floats, b: Floats, *, rows: Floats, target: Floats, free: Floats | None
) -> Combination | None:
    """Return the best multiple of one row that equals the target; no scale of any other row can hide it."""
    multiples = a @ b / np.maximum(np.square(a).sum(axis=1), _LEAST)
    holds = np.abs(multiples[:, None] * a - b).max(axis=1) <= _SAME / 2
    if not holds.any():
        return None
    best = int(np.argmin(np.where(holds, np.abs(multiples * scales), np.inf)))
    coefficients = np.zeros(len(rows))
    coefficients[best] = multiples[best]
    return _held(coefficients, rows, target, free)


def _held(coefficients: Floats, rows: Floats, target: Floats, free: Floats | None) -> Combination | None:
    """Return a combination if it does equal the target; what changes no score by more than a trifle is left out."""
    reaches = np.abs(rows).max(axis=1, initial=0.0)
    kept = np.round(np.where(np.abs(coefficients) * reaches > _TRIFLE, coefficients, 0.0), 12).astype(np.float64)
    rest = target - kept @ rows
    constant = float(rest @ free / (free @ free)) if free is not None else 0.0
    difference = rest - constant * free if free is not None else rest
    if not np.abs(difference).max() <= _SAME:
        return None
    return Combination(coefficients=kept, constant=constant, slack=float(np.abs(difference).sum()))


def _better(one: Combination | None, other: Combination | None, scales: Floats) -> Combination | None:
    """Return the combination with less variance, the first where there is nothing in it."""
    if one is None or other is None:
        return one if other is None else other
    first, second = (float(np.linalg.norm(each.coefficients * scales)) for each in (one, other))
    return other if second < first * (1 - 1e-6) else one


def _without(vectors: Floats, free: Floats | None) -> Floats:
    """Return vectors without their part along a direction."""
    if free is None:
        return vectors.copy()
    along = vectors @ free / (free @ free)
    return np.asarray(vectors - np.multiply.outer(along, free))
