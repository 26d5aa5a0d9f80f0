"""Soft correction: what a disclosed bound and group shares add to calibrated probabilities.

Group g's rate of positive predictions lies within t of the overall rate P/N of a row set exactly when

    (P/N - t) Σ s_g ≤ Σ ŷ s_g ≤ (P/N + t) Σ s_g,

which is linear in the indicators s_g, and true of an empty group. So the correction is the information projection
of the adversary's posterior on these bounds (`core.stats.projection`): it needs no guess, and where the bound is true
the log-loss of the truth falls by at least the divergence moved; where the bound is false nothing is guaranteed.

The bounds are multiplied by N, which makes N ŷ - P a whole number, and the tolerance is widened as in the hard
correction, so that a truth that meets the bound in fractions meets it in floats.

Other samples of the same people. With u_p the shift of a pattern's log-probabilities, the sum of its log-normalisers is
taken as quadratic around everybody's shift, with the slope and curvature of the sample. Then the dual is quadratic in
the multipliers, and its maximum over a box is one Newton step (`core.stats.projection`): to 1e-6 nats what projecting
the sample again gives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.validation import Floats, Ints, Mask, binary_array, one_length, unit_interval
from ...stats.fairness import row_sets
from ...stats.projection import Constraints, newton_direction, project
from .bootstrap import drawn_people
from .exact import WIDENING
from .problem import Shares, interval_of

_Row = tuple[Floats, Floats, float, bool]
"""Weights of the four patterns, weights of the groups, bound, equality."""


def soft_correct(
    probability: npt.ArrayLike,
    predictions: npt.ArrayLike,
    *,
    tolerance: float | None,
    metric: str = "statistical_parity",
    labels: npt.ArrayLike | None = None,
    group_shares: Shares | None = None,
) -> Floats:
    """Return the probabilities closest to the adversary's that agree with what was disclosed, in expectation.

    Probabilities of 0 and 1 stay. Where nothing can meet the bounds the probabilities come back as they were; if the
    truth meets them, its log-loss -Σ log q'(s) never exceeds the one before.

    Parameters
    ----------
    probability : array-like of shape (n,) or (n, K), in [0, 1]
        P(s = 1) of each record, or probabilities of K groups in rows that add up to 1.
    predictions : array-like of shape (n,), 0 or 1
        The audited model's predictions.
    tolerance : float in [0, 1] or None
        Disclosed bound on every group's distance from the overall rate; None for shares only.
    metric : str
        One of `core.stats.fairness.METRICS`.
    labels : array-like of shape (n,), 0 or 1, optional
        True labels; needed by all metrics but statistical parity.
    group_shares : sequence of length K, optional
        For each group (for two groups: group 0, then group 1) its share among the records, an interval
        (low, high), or None where nothing is known. A rounded share is true only as an interval.
    """
    posterior = np.asarray(probability, dtype=np.float64)
    if posterior.ndim not in (1, 2):
        raise InputError(f"probability must have shape (n,) or (n, K), got {posterior.shape}.")
    one_length(probability=posterior, predictions=np.asarray(predictions))
    if posterior.ndim == 1:
        n_groups = 2
    else:
        n_groups = posterior.shape[1]
    constraints = soft_constraints(
        predictions,
        n_groups=n_groups,
        tolerance=tolerance,
        metric=metric,
        labels=labels,
        group_shares=group_shares,
    )
    return project(posterior, constraints).probability


def soft_constraints(
    predictions: npt.ArrayLike,
    *,
    n_groups: int,
    tolerance: float | None,
    metric: str = "statistical_parity",
    labels: npt.ArrayLike | None = None,
    group_shares: Shares | None = None,
) -> Constraints:
    """Return the disclosed bounds as statistics; the arguments are those of `soft_correct`."""
    predicted = binary_array(predictions, name="predictions")
    if n_groups < 2:
        raise InputError(f"The soft correction needs at least 2 groups, got {n_groups}.")
    sets = row_sets(metric, labels, predicted.size)
    if sets[0][1] is None:
        label_codes = np.zeros_like(predicted)
    else:
        label_codes = binary_array(np.asarray(labels), name="labels")
    pattern = predicted + 2 * label_codes.astype(np.intp)
    weights, groups, bound, equality = soft_statistics(
        np.bincount(pattern, minlength=4),
        parts=[None if mask is None else int(part[-1]) for part, mask in sets],
        n_groups=n_groups,
        tolerance=tolerance,
        group_shares=group_shares,
    )
    return Constraints(
        pattern=pattern, weights=weights, groups=groups, bound=bound, equality=equality
    )


def soft_statistics(
    count: Ints,
    *,
    parts: Sequence[int | None],
    n_groups: int,
    tolerance: float | None,
    group_shares: Shares | None,
) -> tuple[Floats, Floats, Floats, Mask]:
    """Return weights, groups, bounds and equalities of `core.stats.projection.Constraints`.

    Records are counted by pattern, prediction + 2 · label; `parts` are the labels of the row sets the metric compares
    groups on, None for all records.
    """
    units = np.eye(n_groups)
    sizes = [int(size) for size in count]
    # Σ_i q'_i(g) = n share_g, then Σ ŷ s_g within (P/N ± t) Σ s_g for each row set.
    rows = _share_rows(group_shares, sum(sizes), units)
    if tolerance is not None:
        tolerance = unit_interval(tolerance, name="tolerance")
        for label in parts:
            if label is None:
                inside = sizes
            else:
                inside = sizes[2 * label : 2 * label + 2]
            rows += _fairness_rows(sum(inside), sum(inside[1::2]), label, tolerance, units)
    return (
        np.array([row[0] for row in rows], dtype=np.float64).reshape(-1, 4),
        np.array([row[1] for row in rows], dtype=np.float64).reshape(-1, n_groups),
        np.array([row[2] for row in rows], dtype=np.float64),
        np.array([row[3] for row in rows], dtype=np.bool_),
    )


def _fairness_rows(
    n: int, positives: int, label: int | None, tolerance: float, units: Floats
) -> list[_Row]:
    """Return the rows of one row set of n records, that with this label.

    Patterns are numbered prediction + 2 · label. A bound no probabilities can break is left out.
    """
    in_set = np.array([label in (None, pattern >> 1) for pattern in range(4)])
    # N ŷ - P on the row set's patterns, 0 elsewhere: summed over group g this is D_g.
    gap = in_set * (n * np.array([0.0, 1.0, 0.0, 1.0]) - positives)
    # t N a record: D_g <= t N m_g and -D_g <= t N m_g, with E[D_g] and E[m_g] under q'.
    slack = in_set * (tolerance * WIDENING * n)
    # Exact parity: E[D_g] = 0.
    if tolerance == 0.0:
        return [(gap, unit, 0.0, True) for unit in units if gap.any()]
    sides = [side for side in (gap - slack, -gap - slack) if side.max() > 0]
    return [(side, unit, 0.0, False) for side in sides for unit in units]


def _share_rows(shares: Shares | None, n: int, units: Floats) -> list[_Row]:
    """Return the rows that hold the groups' expected sizes at their known shares."""
    rows: list[_Row] = []
    for unit, (low, high) in zip(units, _intervals(shares, len(units)), strict=True):
        ones = np.ones(4)
        # Σ_i s_g(i) = n share as an equality; an interval as one inequality a side.
        if low == high:
            rows.append((ones, unit, _records(low, n), True))
            continue
        if low > 0.0:
            rows.append((-ones, unit, -_records(low, n), False))
        if high < 1.0:
            rows.append((ones, unit, _records(high, n), False))
    return rows


def _records(share: float, n: int) -> float:
    """Return n · share, without the rounding error of a share that is a fraction of n records."""
    count = round(share * n)
    if abs(share * n - count) <= 1e-12 * n:
        return float(count)
    return share * n


def _intervals(shares: Shares | None, k: int) -> list[tuple[float, float]]:
    """Return what is known of the K shares as intervals, (0, 1) where nothing is."""
    if shares is None:
        return [(0.0, 1.0)] * k
    if len(shares) != k:
        raise InputError(f"group_shares must have one entry a group ({k}), got {len(shares)}.")
    intervals = [
        (0.0, 1.0) if share is None else interval_of(share, name=f"group_shares of group {group}")
        for group, share in enumerate(shares)
    ]
    least = sum(low for low, _ in intervals)
    most = sum(high for _, high in intervals)
    if least > 1 + 1e-6 or most < 1 - 1e-6:
        raise InputError(
            f"group_shares must allow a sum of 1, got shares that sum to {least:.6g} to {most:.6g}."
        )
    if all(low == high for low, high in intervals):
        return [(low / least, high / least) for low, high in intervals]
    return intervals


@dataclass(frozen=True, kw_only=True, eq=False)
class Tilt:
    """What everybody's posterior was projected on, and the multipliers that came out.

    `parts` are the labels of the row sets the metric compares groups on, None for all records. The tolerance is None
    where nothing was said of fairness; where `shares` were said, each sample gets its own.
    """

    constraints: Constraints
    multipliers: Floats
    parts: tuple[int | None, ...]
    tolerance: float | None
    shares: bool

    @cached_property
    def shift(self) -> Floats:
        """What each group's log-probability gains in each pattern, (patterns, K)."""
        return -(self.multipliers[:, None] * self.constraints.weights).T @ self.constraints.groups

    @cached_property
    def _pairs(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        return np.triu_indices(self.constraints.groups.shape[1])

    def columns(self, logs: Floats, pattern: npt.NDArray[np.intp]) -> Floats:
        """Return what `moved` wants summed: log-normaliser, probabilities after, and products of two of them.

        `logs`, of shape (n, K), are logarithms of the posterior; `pattern` has the shape (n,).
        """
        # q'_i(g) = q_i(g) exp(u_p(g)) / Z_i, in logarithms; the first column is log Z_i.
        tilted = logs + self.shift[pattern]
        top = tilted.max(axis=1, keepdims=True)
        tilted = np.exp(tilted - top)
        total = tilted.sum(axis=1, keepdims=True)
        tilted /= total
        g, h = self._pairs
        return np.hstack([top + np.log(total), tilted, tilted[:, g] * tilted[:, h]])

    def moved(self, true: Floats, sums: Floats) -> tuple[Floats, float] | None:
        """Return a sample's shift (patterns, K), and by how much it changes the log-loss a person.

        None where a bound became one that nothing can break, or ceased to be one. `true`, of shape (patterns, K),
        counts people by pattern and true group; `sums` has the shape (patterns, columns).
        """
        k = true.shape[1]
        group_shares: Shares | None = None
        if self.shares:
            group_shares = (true.sum(axis=0) / true.sum()).tolist()
        weights, groups, bound, equality = soft_statistics(
            np.rint(true.sum(axis=1)).astype(np.int64),
            parts=self.parts,
            n_groups=k,
            tolerance=self.tolerance,
            group_shares=group_shares,
        )
        if bound.size != self.multipliers.size:
            return None
        # By pattern: Σ log Z_i, Σ q'_i(g), Σ q'_i(g) q'_i(h).
        norm = sums[:, 0]
        mean = sums[:, 1 : 1 + k]
        products = sums[:, 1 + k :]
        spread = np.zeros((len(true), k, k))
        g, h = self._pairs
        # Covariance of the group indicators, Σ diag(q'_i) - q'_i q'_iᵀ: the curvature of Σ log Z_i in u_p.
        spread[:, g, h] = spread[:, h, g] = -products
        spread[:, range(k), range(k)] += mean
        # Rows scaled to a largest feature of 1, as in the projection.
        scale = np.maximum(np.abs(weights).max(axis=1, initial=0.0), 1e-300)
        features = (weights / scale[:, None])[:, :, None] * groups[
            :, None, :
        ]  # statistic, pattern, group
        flat = features.reshape(bound.size, true.size)
        now = self.multipliers * scale
        was = self.shift
        # The sample's own weights (its N and P) shift u_p already at everybody's multipliers λ.
        by = -(now @ flat).reshape(was.shape) - was
        # Slope of the dual there: E[F_k] - b_k, with E to first order in the shift.
        slope = flat @ (mean + (spread @ by[:, :, None])[:, :, 0]).ravel() - bound / scale
        curvature = flat @ (spread @ features.transpose(1, 2, 0)).reshape(flat.shape[1], -1)
        # One Newton step in λ within the signs; u_p = -Σ_k λ_k f_k.
        by = by - (newton_direction(slope, curvature, now, equality) @ flat).reshape(was.shape)
        # Σ log Z_i to second order about everybody's shift.
        norms = norm.sum() + (mean * by).sum() + (by * (spread @ by[:, :, None])[:, :, 0]).sum() / 2
        # Change of the mean log-loss: (Σ log Z_i - Σ_i u(s_i)) / n at the truth.
        loss = float(norms - (true * (was + by)).sum()) / float(true.sum())
        if math.isfinite(loss):
            return (was + by, loss)
        return None


_DRAWS = 30
"""Draws of people in which each step is measured."""


def steps_in_draws(
    posterior: Floats,
    surprise: Floats,
    truth: npt.NDArray[np.intp],
    pattern: npt.NDArray[np.intp],
    tilts: Mapping[str, Tilt | None],
    *,
    seed: int = 0,
) -> dict[str, tuple[Floats, Floats, Floats]]:
    """Measure an attacker after each of several pieces of knowledge, a tilt each; None is the posterior itself.

    The posterior has the shape (n, K); `surprise` is each person's log-loss under it, `pattern` as in
    `core.stats.projection`. Each step has people of each group and of them those inferred correctly, of shape
    (`_DRAWS` + 1, K), and the mean log-loss in nats: everybody in the first row, then each of the resamples; nan where
    unknown.
    """
    k = posterior.shape[1]
    # People by pattern: a sample's sums are one product of weights and columns a pattern.
    order = np.argsort(pattern, kind="stable")
    with np.errstate(divide="ignore"):
        logs = np.log(posterior[order])
    truth = truth[order]
    pattern = pattern[order]
    spans = list(itertools.pairwise(np.searchsorted(pattern, np.arange(5)).tolist()))
    tables = {name: tilt.columns(logs, pattern) for name, tilt in tilts.items() if tilt is not None}
    table = np.hstack([np.eye(k)[truth], surprise[order][:, None], *tables.values()])
    ends = np.cumsum([k + 1, *(columns.shape[1] for columns in tables.values())]).tolist()
    column_slices = {
        name: slice(*span) for name, span in zip(tables, itertools.pairwise(ends), strict=True)
    }
    by_group = np.ascontiguousarray(logs.T)
    is_correct = by_group.argmax(axis=0) == truth
    size = np.empty((_DRAWS + 1, k))
    right = {name: np.full((_DRAWS + 1, k), np.nan) for name in tilts}
    loss = {name: np.full(_DRAWS + 1, np.nan) for name in tilts}
    for number, people in enumerate(drawn_people(truth.size, _DRAWS, seed)):
        weight = people.astype(np.float64)
        # (patterns, columns): people by true group, their surprise, and what each tilt wants summed.
        sums = np.stack([weight[a:b] @ table[a:b] for a, b in spans])
        true = sums[:, :k]
        loss_sums = sums[:, k]
        size[number] = true.sum(axis=0)
        for name, tilt in tilts.items():
            correct = is_correct
            change = 0.0
            if tilt is not None:
                moved = tilt.moved(true, sums[:, column_slices[name]])
                if moved is None:
                    continue
                shift, change = moved
                # A guess is the largest q_i(g) exp(u_p(g)); Z_i does not matter.
                guess = [
                    (by_group[:, a:b] + shift[p][:, None]).argmax(axis=0)
                    for p, (a, b) in enumerate(spans)
                ]
                correct = np.concatenate(guess) == truth
            # Log-loss before, of the sample, and what the tilt changes.
            loss[name][number] = loss_sums.sum() / truth.size + change
            right[name][number] = np.bincount(truth, weights=weight * correct, minlength=k)
    return {name: (size, right[name], loss[name]) for name in tilts}
