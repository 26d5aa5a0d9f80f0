"""The posterior after the release: the closest distribution that agrees with the published numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.projection import Projection
from core.projection import project as project_on
from core.release.equations import equations, posterior_array
from core.release.statistics import Published

_ROUNDS = 6
"""Times gaps of groups of unknown size are linearised anew, at most."""

_STILL = 0.01
"""Change of the expected size, in its standard deviations, at which there is no need to."""

DISTANCE_MEDIAN = 0.05
"""How far the projection is from the exact posterior: |projected − exact| averaged over the people of a small random
release (6 to 12 people, 1 to 3 models, group sizes known; exact, rounded or with little noise), median over releases.

Without published sizes exact numbers are no farther, because they tell the sizes (`core.release.implied`); rounded ones
are, 0.1 in the median and up to 0.45. The more people share a number, the nearer the projection."""

DISTANCE_WORST = 0.25
"""The largest of these distances."""


def project(posterior: npt.ArrayLike, published: Published) -> Projection:
    """Return the information projection of a posterior on the published numbers.

    logit q'_i = logit q_i + Σ_k λ_k a_ki, one multiplier a statistic. Exact numbers are met in expectation, rounded
    ones within their interval, noisy ones at the price of their variance (normal, though the noise is Laplace's).

    Parameters
    ----------
    posterior : array-like of shape (n,), in [0, 1]
        P(s = 1) of each person before the release.

    Returns
    -------
    core.projection.Projection
        `probability` (n,), `status` ("converged", "not_converged", "infeasible"), `reason`, `value` (nats),
        `residuals` and `steps`. Where nothing meets the numbers, the posterior as it was.

    Notes
    -----
    Without noise, and with known group sizes, the log-loss of the truth falls by at least KL(q'‖q), and by exactly
    that where all numbers are exact.
    """
    q = posterior_array(posterior, published.release.n)
    told = equations(published, q)
    found = project_on(q, told.constraints())
    for _ in range(_ROUNDS if told.curved else 0):
        if found.status == "infeasible":
            break
        told = equations(published, found.probability)
        again = project_on(q, told.constraints())
        moved = abs(float(again.probability.sum() - found.probability.sum()))
        found = again
        if moved <= _STILL * float(np.sqrt((found.probability * (1.0 - found.probability)).sum())):
            break
    return found
