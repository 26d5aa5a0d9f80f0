"""The meter: what a release is worth in bits, before any true attribute is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.release.equations import equations
from core.release.expected import LATTICE, Rows, expected_rows
from core.release.projection import posterior_array
from core.release.published import Published
from core.release.statistics import Release
from core.results import Result

__all__ = ["Meter", "entropy_bits", "meter"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter(Result):
    """Bits of a release.

    With the statistics' features A (one row a number, in people), the posterior q, K = A diag(q(1 − q)) Aᵀ their
    covariance before the release, and R the diagonal matrix of what the precision leaves open (in people²: step²/12
    when rounded, the variance of the privacy noise; at least 1/(2πe), which makes ½ log₂(K/R) the entropy of a count):

    Attributes
    ----------
    df_bits : float
        tr(K (K + R)⁻¹) / (2 ln 2): the bits the attacker's log-loss is expected to fall by, in all; 0.72 for each
        independent number.
    joint_bits : float
        ½ log₂ det(I + R⁻¹ K): what the numbers say about the whole vector of memberships. Where it reaches
        `prior_bits`, the numbers as a rule determine everybody: of 6 to 10 people in 7 of 10 random releases.
    prior_bits : float
        Σ_i H(q_i): what there was to know.
    person_bits : float
        Σ_i min(−½ log₂(1 − ρ_i²), H(q_i)), where ρ_i² = q_i(1 − q_i) a_iᵀ (K + R)⁻¹ a_i is the squared correlation of
        person i with the numbers: what is told person by person.
    independent : int
        Independent numbers among those published (the rank of K).
    """

    df_bits: float
    joint_bits: float
    prior_bits: float
    person_bits: float
    independent: int

    @property
    def share(self) -> float:
        """joint_bits / prior_bits; from 1 on, as a rule, everybody is determined (nan: there was nothing to know)."""
        return self.joint_bits / self.prior_bits if self.prior_bits > 0 else math.nan


def meter(posterior: npt.ArrayLike, released: Release | Published) -> Meter:
    """Return the bits of a release; of a `Published` one at its own numbers, else at the expected ones.

    Parameters
    ----------
    posterior : array-like of shape (n,), in [0, 1]
        P(s = 1) of each person before the release.
    released : Release or Published

    Notes
    -----
    Linear-Gaussian: exact for the covariances, an approximation for the bits. No true attribute is used.
    """
    release = released if isinstance(released, Release) else released.release
    q = posterior_array(posterior, release.n)
    rows = expected_rows(release, q) if isinstance(released, Release) else _published_rows(released, q)
    cells, spread = release.cells, q * (1.0 - q)
    features, open_ = rows.features / np.sqrt(rows.variance)[:, None], np.ones(rows.variance.size)
    covariance = (features * cells.expected(spread)) @ features.T
    eigenvalues, vectors = np.linalg.eigh(covariance)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    entropy = entropy_bits(q)
    own = (((vectors.T @ features) ** 2) / (eigenvalues + open_)[:, None]).sum(axis=0)
    correlation = np.minimum(spread * own[cells.pattern], 1.0 - 1e-15)
    return Meter(
        df_bits=float((eigenvalues / (eigenvalues + 1.0)).sum()) / (2 * math.log(2)),
        joint_bits=float(np.log1p(eigenvalues).sum()) / (2 * math.log(2)),
        prior_bits=float(entropy.sum()),
        person_bits=float(np.minimum(-np.log1p(-correlation) / (2 * math.log(2)), entropy).sum()),
        independent=int((eigenvalues > 1e-9 * max(1.0, float(eigenvalues.max(initial=0.0)))).sum()),
    )


def entropy_bits(probability: Floats) -> Floats:
    """Return H(p) in bits."""
    p = np.clip(probability, 1e-300, 1.0)
    rest = np.clip(1.0 - probability, 1e-300, 1.0)
    return np.asarray(-(probability * np.log2(p) + (1.0 - probability) * np.log2(rest)))


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
