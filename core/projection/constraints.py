"""Linear statistics of group memberships, stored compactly: what a projection has to meet in expectation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.arrays import Floats, Mask
from core.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Constraints:
    """Statistics in compact form: records with the same features share a pattern.

    Statistic k says  Σ_i weights[k, pattern[i]] · Σ_g groups[k, g] · [s_i = g]  ≤ bound[k],  or = bound[k].

    Attributes
    ----------
    pattern : ndarray of shape (n,), int
        Pattern of each record, from 0 to patterns - 1.
    weights : ndarray of shape (rows, patterns)
        The part of the features that depends on the record.
    groups : ndarray of shape (rows, K)
        The part that depends on the group; a unit vector for a statistic about one group.
    bound : ndarray of shape (rows,)
    equality : ndarray of shape (rows,), bool
        Which rows hold with equality.
    width : ndarray of shape (rows,), optional
        A row that holds with equality up to a rounding: within bound ± width. 0 where left out.
    variance : ndarray of shape (rows,), optional
        A row that holds with equality up to noise of this variance. 0 where left out.
    """

    pattern: npt.NDArray[np.intp]
    weights: Floats
    groups: Floats
    bound: Floats
    equality: Mask
    width: Floats | None = None
    variance: Floats | None = None

    def __post_init__(self) -> None:
        rows, patterns = self.weights.shape
        if self.groups.ndim != 2 or not rows == len(self.groups) == self.bound.size == self.equality.size:
            raise InputError(
                f"Constraints need one weight row, group row, bound and equality a statistic, got {rows}, "
                f"{len(self.groups)}, {self.bound.size} and {self.equality.size}."
            )
        if self.pattern.size and not 0 <= int(self.pattern.min()) <= int(self.pattern.max()) < patterns:
            raise InputError(f"pattern must lie in 0 to {patterns - 1}, got {int(self.pattern.max())}.")
        for name in ("weights", "groups", "bound"):
            if not np.isfinite(getattr(self, name)).all():
                raise InputError(f"{name} must be finite.")
        for name in ("width", "variance"):
            given = getattr(self, name)
            if given is None:
                continue
            if given.shape != self.bound.shape or not np.isfinite(given).all() or given.min(initial=0.0) < 0:
                raise InputError(f"{name} must hold one finite number of at least 0 a statistic.")
            if given[~self.equality].any():
                raise InputError(f"A statistic with a {name} must be an equality.")
