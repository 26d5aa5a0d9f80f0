"""Privacy noise of a release: Laplace noise on group sizes and on counts.

The people fall into strata: by label where any statistic looks within a label, else all in one. For each stratum are
published, with independent Laplace noise, the number of people of group 1 and for each model how many of them it
accepts, Σ_i s_i h_i; every gap and rate follows from these. One person's attribute changes the size of one stratum by
1 and each of k counts by at most 1; so a scale of (1 + k)/ε keeps ε for the whole release (Dwork et al. 2006). Strata
cost nothing extra: each person is in one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.release.statistics import PARTS, Release


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisySums:
    """What the mechanism let out.

    Attributes
    ----------
    parts : tuple of str
        The strata.
    sizes : ndarray of shape (strata,)
        Noisy number of people of group 1.
    sums : ndarray of shape (strata, k)
        Noisy Σ s h.
    scale : float
        Of the Laplace noise; its variance is 2 scale².
    """

    parts: tuple[str, ...]
    sizes: npt.NDArray[np.float64]
    sums: npt.NDArray[np.float64]
    scale: float

    @property
    def variance(self) -> float:
        """Variance of the noise of each number."""
        return 2.0 * self.scale**2

    def size(self, part: str) -> float:
        """Return the noisy size of group 1 in a part, which may be all strata together."""
        return float(self.sizes[self._of(part)].sum())

    def counts(self, part: str) -> npt.NDArray[np.float64]:
        """Return the noisy number of people of group 1 each model accepts there, shape (k,)."""
        rows = self._of(part)
        return np.asarray(self.sums[rows].sum(axis=0))

    def _of(self, part: str) -> list[int]:
        return [i for i, name in enumerate(self.parts) if part in ("all", name)]


def strata(release: Release) -> tuple[str, ...]:
    """Return the strata of a release's noise."""
    if release.parts == ("all",):
        return ("all",)
    return tuple(p for p in PARTS.values() if p != "all" and ("all" in release.parts or p in release.parts))


def noise_scale(release: Release) -> float:
    """Return the scale of the Laplace noise."""
    return (1.0 + release.n_models) / (math.inf if release.epsilon is None else release.epsilon)


def noisy_sums(release: Release, sensitive: npt.NDArray[np.uint8], rng: np.random.Generator) -> NoisySums:
    """Draw the noise."""
    cells, parts, scale = release.cells, strata(release), noise_scale(release)
    inside = np.stack([cells.inside(part) for part in parts]) * cells.members(sensitive)
    sizes, sums = inside.sum(axis=1), inside @ cells.predictions.T.astype(np.float64)
    return NoisySums(
        parts=parts,
        sizes=sizes + rng.laplace(scale=scale, size=sizes.shape),
        sums=sums + rng.laplace(scale=scale, size=sums.shape),
        scale=scale,
    )
