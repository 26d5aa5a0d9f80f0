"""The concave dual of a projection: its value, slope and curvature at given multipliers, and the tilt they stand for.

Rows are scaled to a largest feature of 1 and records sorted by pattern, so that everything about a pattern is one
slice; a million records with a few patterns cost a handful of passes. In logarithms throughout: probabilities of
1e-300 keep their digits, those of 0 and 1 stay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.projection.constraints import Constraints

_LARGE_PATTERNS = 128
"""Records a pattern, on average, from which on patterns are visited one by one, with sums that round well: numpy adds
up in pairs from 128 terms on. Smaller ones are added up all at once."""

_AIM = 1e-10
"""Residual at which a point is good enough, in records (a statistic's largest feature counts as one)."""

_SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Point:
    """The dual at one λ: its value, the expectations E[F_k], and the tilted probabilities (K, n) behind them."""

    multipliers: Floats
    value: float
    expected: Floats
    tilted: Floats


class Dual:
    """The dual of one projection; rows are scaled to a largest feature of 1, records sorted by pattern."""

    def __init__(self, given: Floats, constraints: Constraints) -> None:
        self.given, self.equality = given, constraints.equality
        largest = np.abs(constraints.weights).max(axis=1, initial=0.0) * np.abs(constraints.groups).max(axis=1)
        self.scale = np.where(largest > 0, largest, 1.0)
        self.weights = constraints.weights / self.scale[:, None]
        self.groups, self.bound = constraints.groups, constraints.bound / self.scale
        none = np.zeros_like(self.bound)
        self.width = none if constraints.width is None else constraints.width / self.scale
        self.variance = none if constraints.variance is None else constraints.variance / self.scale**2
        self.order = np.argsort(constraints.pattern, kind="stable")
        self.pattern = constraints.pattern[self.order]
        present, starts = np.unique(self.pattern, return_index=True)
        self.weights, self.pattern = self.weights[:, present], np.searchsorted(present, self.pattern)
        self.starts = np.append(starts, self.pattern.size)
        self.one_by_one = self.pattern.size >= _LARGE_PATTERNS * starts.size
        self.aim = max(_AIM, 1e-15 * len(given))

    @cached_property
    def log_given(self) -> Floats:
        """Log-probabilities (K, n), records sorted by pattern."""
        q = self.given[self.order]
        with np.errstate(divide="ignore"):
            if q.ndim == 1:
                return np.stack([np.log1p(-q), np.log(q)])
            return np.ascontiguousarray((np.log(q) - np.log(q.sum(axis=1, keepdims=True))).T)

    @cached_property
    def ceiling(self) -> float:
        """The largest divergence any distribution can have from the given one; a larger dual value is infeasible.

        No value is too large where a statistic may miss its bound at a price.
        """
        if self.variance.any():
            return math.inf
        logs = np.where(np.isfinite(self.log_given), self.log_given, 0.0)
        return -float(logs.min(axis=0).sum())

    def shift(self, multipliers: Floats) -> Floats:
        """Return what each group's log-probability gains in each pattern, (K, patterns)."""
        return np.asarray(-(self.groups.T @ (multipliers[:, None] * self.weights)))

    def at(self, multipliers: Floats) -> Point:
        """Evaluate the dual."""
        logs = self.shift(multipliers)[:, self.pattern]
        logs += self.log_given
        top = logs.max(axis=0)
        logs -= top
        tilted = np.exp(logs, out=logs)
        total = tilted.sum(axis=0)
        tilted /= total
        value = -float(top.sum() + np.log(total).sum()) - float(multipliers @ self.bound)
        value -= float(self.width @ np.abs(multipliers)) + float(self.variance @ multipliers**2) / 2
        value = value if multipliers.any() else 0.0
        expected = ((self.weights @ self._by_pattern(tilted).T) * self.groups).sum(axis=1)
        return Point(multipliers=multipliers, value=value, expected=expected, tilted=tilted)

    def _by_pattern(self, rows: Floats) -> Floats:
        """Add up each row's entries of each pattern: (r, n) to (r, patterns)."""
        if not self.one_by_one:
            return np.add.reduceat(rows, self.starts[:-1], axis=1)
        spans = zip(self.starts[:-1], self.starts[1:], strict=True)
        return np.stack([rows[:, a:b].sum(axis=1) for a, b in spans], axis=1) if rows.size else rows

    def curvature(self, point: Point) -> Floats:
        """Return minus the Hessian of D, the covariance of the statistics, (rows, rows).

        With m_gh = Σ_i q'_i(g) q'_i(h) over a pattern, the covariance is the sum over patterns and pairs g < h of
        m_gh v vᵀ, where v_k is by how much statistic k differs between g and h. No term cancels another, so nearly
        certain records keep their digits.
        """
        first, second = np.triu_indices(self.groups.shape[1], k=1)
        together = self._products(point.tilted, first, second)
        differs = self.groups[:, first] - self.groups[:, second]
        covariance = np.zeros((self.bound.size, self.bound.size))
        for start in range(0, together.shape[1], 4096):
            part = slice(start, start + 4096)
            v = (differs[:, :, None] * self.weights[:, None, part]).reshape(self.bound.size, -1)
            covariance += (v * together[:, part].ravel()) @ v.T
        return covariance

    def _products(self, tilted: Floats, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]) -> Floats:
        """Return m_gh of each pair and pattern, (pairs, patterns)."""
        if not self.one_by_one:
            return np.stack(
                [self._by_pattern(tilted[g : g + 1] * tilted[h])[0] for g, h in zip(first, second, strict=True)]
            )
        spans = zip(self.starts[:-1], self.starts[1:], strict=True)
        return np.stack([(tilted[:, a:b] @ tilted[:, a:b].T)[first, second] for a, b in spans], axis=1)

    def slope(self, point: Point) -> Floats:
        """Return the slope of the dual, but for the part of the widths, which has a kink at 0."""
        return point.expected - self.bound - self.variance * point.multipliers

    def misses(self, point: Point) -> Floats:
        """Return by how much each scaled statistic misses its bound; with a variance, the bound its price leaves."""
        over = self.slope(point)
        return np.where(self.equality, np.maximum(np.abs(over) - self.width, 0.0), np.maximum(over, 0.0))

    def residual(self, point: Point) -> float:
        """Return the largest violation of the optimality conditions, bounds and slackness alike."""
        over, at = self.slope(point), point.multipliers
        # A bound not reached is right where its multiplier is 0; both terms are 0 exactly when both are in order.
        beyond = at + over
        within = at - np.sign(beyond) * np.maximum(np.abs(beyond) - self.width, 0.0)
        loose = np.abs(np.where(self.equality, within, np.minimum(-over, at)))
        return float(loose.max(initial=0.0))

    def posterior(self, point: Point) -> Floats:
        """Return the tilted posterior in the given form; untouched records keep the given numbers to the bit."""
        result = self.given.copy()
        shift = self.shift(point.multipliers)
        moved = (np.ptp(shift, axis=0) > 0)[self.pattern] if shift.size else np.zeros(self.pattern.size, bool)
        rows = self.order[moved]
        values = point.tilted[:, moved]
        if result.ndim == 2:
            result[rows] = np.where(result[rows] > 0, np.maximum(values.T, _SMALLEST), 0.0)
        else:
            result[rows] = _one_number(result[rows], values[0], values[1])
        return result

    def least_miss(self) -> float:
        """Return how far, in records, even the best probabilities with the given certainties miss a bound (an LP).

        Records of one pattern with the same possible groups are interchangeable, so one mass a group stands for all.
        """
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        possible = self.log_given > -math.inf
        kinds = np.vstack([self.pattern, possible])
        cells, counts = np.unique(kinds, axis=1, return_counts=True)
        cell, group = np.nonzero(cells[1:].T)
        hard = self.variance == 0.0
        both = hard & self.equality
        features = self.weights[:, cells[0, cell]] * self.groups[:, group]
        signed = np.vstack([features[hard], -features[both]])
        limits = np.concatenate([(self.bound + self.width)[hard], (self.width - self.bound)[both]])
        totals = csr_array((np.ones(cell.size), (cell, np.arange(cell.size))), shape=(counts.size, cell.size + 1))
        found = linprog(
            np.append(np.zeros(cell.size), 1.0),
            A_ub=csr_array(np.hstack([signed, -np.ones((limits.size, 1))])),
            b_ub=limits,
            A_eq=totals,
            b_eq=counts,
            method="highs",
        )
        return float(found.fun) if found.success else math.nan


def _one_number(given: Floats, zero: Floats, one: Floats) -> Floats:
    """Return P(s = 1) of tilted records, in numbers whose rounding never costs a truth more than 1e-15 nats.

    Near 1 a float knows its complement badly, and the complement is what a truth of 0 is judged by; so it is rounded
    up, to the next float below 1 at least. Near 0 nothing underflows.
    """
    p = np.where(one > 0.5, 1.0 - zero, np.maximum(one, _SMALLEST))
    p = np.where((one > 0.5) & (1.0 - p < zero), np.nextafter(p, 0.0), p)
    p = np.where((one > 0.5) & (p == 1.0), np.nextafter(1.0, 0.0), p)
    return np.where((given == 0.0) | (given == 1.0), given, p)
