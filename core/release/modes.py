"""The numbers of a release as independent modes: what each says, and what precision leaves open of it.

With the statistics' features A (one row a number, in people), the posterior q, K = A diag(q(1 − q)) Aᵀ their covariance
before the release, and R the diagonal matrix of what the precision leaves open (in people²: step²/12 when rounded, the
variance of the privacy noise; at least 1/(2πe), which makes ½ log₂(K/R) the entropy of a count), the modes are the
eigenvectors of R^(−½) K R^(−½).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.release.equations import equations, posterior_array
from core.release.expected import LATTICE, Rows, expected_rows
from core.release.numbers import Floats
from core.release.statistics import Published, Release


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Modes:
    """The modes of a release.

    Attributes
    ----------
    posterior : ndarray of shape (n,)
    values : ndarray of shape (modes,)
        Eigenvalues: variance before the release over what is left open of it.
    features : ndarray of shape (modes, cells)
        R^(−½) A, turned to the modes.
    """

    release: Release
    posterior: Floats
    values: Floats
    features: Floats

    @property
    def weight(self) -> Floats:
        """Share of each mode that is told, values / (values + 1)."""
        return self.values / (self.values + 1.0)

    @property
    def df_bits(self) -> float:
        """Return tr(K (K + R)⁻¹) / (2 ln 2)."""
        return float(self.weight.sum()) / (2 * math.log(2))

    @property
    def person(self) -> Floats:
        """Return a_iᵀ (K + R)⁻¹ a_i of each person, shape (n,)."""
        own = (self.features**2 / (self.values + 1.0)[:, None]).sum(axis=0)
        return np.asarray(own[self.release.cells.pattern])

    def distance(self, sensitive: npt.NDArray[np.uint8]) -> float:
        """Return xᵀ (K + R)⁻¹ x / (2 ln 2), x = A (s − q): the formula's own gain; its mean over s ~ q is `df_bits`."""
        cells = self.release.cells
        off = self.features @ (cells.members(sensitive) - cells.expected(self.posterior))
        return float((off**2 / (self.values + 1.0)).sum()) / (2 * math.log(2))


def modes_of(posterior: npt.ArrayLike, released: Release | Published) -> Modes:
    """Return the modes; of a `Published` one at its own numbers, else at the expected ones.

    Parameters
    ----------
    posterior : array-like of shape (n,), in [0, 1]
        P(s = 1) of each person before the release.
    released : Release or Published
    """
    release = released if isinstance(released, Release) else released.release
    q = posterior_array(posterior, release.n)
    rows = expected_rows(release, q) if isinstance(released, Release) else _published_rows(released, q)
    features = rows.features / np.sqrt(rows.variance)[:, None]
    values, vectors = np.linalg.eigh((features * release.cells.expected(q * (1.0 - q))) @ features.T)
    return Modes(release=release, posterior=q, values=np.maximum(values, 0.0), features=vectors.T @ features)


def _published_rows(published: Published, q: Floats) -> Rows:
    """Return the features of published numbers, with what each leaves open.

    Of w + 1 whole numbers the variance is ((w + 1)² − 1)/12. The two limits of a rounded rate follow each other and
    count as one number, between them; it leaves open as many people as they differ by in expectation.
    """
    told = equations(published, q)
    width = told.high - told.low
    single = np.isfinite(width)
    rounding = ((width[single] + 1.0) ** 2 - 1.0) / 12.0
    features = [told.features[single]]
    variance = [np.maximum(told.variance[single] + rounding, LATTICE)]
    if not single.all():
        pairs = told.features[~single].reshape(-1, 2, told.features.shape[1])
        apart = np.abs((pairs[:, 0] - pairs[:, 1]) @ published.release.cells.expected(q))
        features.append(pairs.mean(axis=1))
        variance.append(np.maximum(apart**2 / 12.0, LATTICE))
    return Rows(features=np.vstack(features), variance=np.concatenate(variance))
