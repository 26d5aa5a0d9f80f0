"""A soft correction of everybody, ready to be moved a little for other samples of the same people.

With u_p the shift of a pattern's log-probabilities, the sum of its log-normalisers is taken as quadratic around
everybody's shift, with the slope and curvature of the sample. Then the dual is quadratic in the multipliers, and its
maximum over a box is one Newton step (`core.projection`): to 1e-6 nats what projecting the sample anew gives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.correction.claim import Shares
from core.correction.soft import soft_statistics
from core.projection import Constraints
from core.projection.ascent import newton_direction


@dataclass(frozen=True, kw_only=True, eq=False)
class Tilt:
    """What everybody's posterior was projected on, and the multipliers that came out.

    Attributes
    ----------
    multipliers : ndarray of shape (statistics,)
    parts : tuple of int or None
        Label of each row set the metric compares groups on; None for all records.
    tolerance : float or None
        What was said of the fairness; None for nothing.
    shares : sequence or None
        What was said of the groups' shares; None for nothing.
    true_shares : bool
        Say the sample's own shares instead.
    """

    constraints: Constraints
    multipliers: Floats
    parts: tuple[int | None, ...]
    tolerance: float | None
    shares: Shares | None = None
    true_shares: bool = False

    @cached_property
    def shift(self) -> Floats:
        """What each group's log-probability gains in each pattern, (patterns, K)."""
        return np.asarray(-(self.multipliers[:, None] * self.constraints.weights).T @ self.constraints.groups)

    @cached_property
    def _pairs(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        return np.triu_indices(self.constraints.groups.shape[1])

    def columns(self, logs: Floats, pattern: npt.NDArray[np.intp]) -> Floats:
        """Return what `moved` wants summed: log-normaliser, probabilities after, and products of two of them.

        `logs`, of shape (n, K), are logarithms of the posterior; `pattern` has the shape (n,).
        """
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
        weights, groups, bound, equality = soft_statistics(
            np.rint(true.sum(axis=1)).astype(np.int64),
            parts=self.parts,
            n_groups=k,
            tolerance=self.tolerance,
            group_shares=(true.sum(axis=0) / true.sum()).tolist() if self.true_shares else self.shares,
        )
        if bound.size != self.multipliers.size:
            return None
        norm, mean, products = sums[:, 0], sums[:, 1 : 1 + k], sums[:, 1 + k :]
        spread = np.zeros((len(true), k, k))
        g, h = self._pairs
        spread[:, g, h] = spread[:, h, g] = -products
        spread[:, range(k), range(k)] += mean
        scale = np.maximum(np.abs(weights).max(axis=1, initial=0.0), 1e-300)
        features = (weights / scale[:, None])[:, :, None] * groups[:, None, :]  # statistic, pattern, group
        flat, now, was = features.reshape(bound.size, -1), self.multipliers * scale, self.shift
        by = -(now @ flat).reshape(was.shape) - was
        slope = flat @ (mean + (spread @ by[:, :, None])[:, :, 0]).ravel() - bound / scale
        curvature = flat @ (spread @ features.transpose(1, 2, 0)).reshape(flat.shape[1], -1)
        by = by - (newton_direction(slope, curvature, now, equality) @ flat).reshape(was.shape)
        norms = norm.sum() + (mean * by).sum() + (by * (spread @ by[:, :, None])[:, :, 0]).sum() / 2
        loss = float(norms - (true * (was + by)).sum()) / float(true.sum())
        return (was + by, loss) if math.isfinite(loss) else None
