"""BaVarIA, LiRA with a Bayesian variance, for few shadow models (Brännvall 2026, arXiv 2603.11799).

LiRA takes means and variances over a handful of shadows for the true ones. Here they are unknown, with the conjugate
prior, and are integrated over; what a person's φ is to be compared with is then a Student t distribution and no normal
one. Taken from the paper: this idea, and its name. Derived here, as the paper was read in part only: the formulas, and
that the prior is fitted to all people by marginal likelihood, for shadows with and without a person apart.

With n values of φ, their mean m and their sum of squares S around it, for one person and one kind of shadow:

    σ² ~ inverse gamma(α, β), μ | σ² ~ normal(μ0, σ²/κ), φ | μ, σ² ~ normal(μ, σ²)
    κ' = κ + n,  μ' = (κ μ0 + n m)/κ',  α' = α + n/2,  β' = β + S/2 + κ n (m - μ0)²/(2 κ')
    p(values) = Γ(α')/Γ(α) · β^α/β'^α' · √(κ/κ') · (2π)^(-n/2)                    (marginal likelihood)
    next φ ~ Student t with 2α' degrees of freedom, location μ', scale √(β' (κ' + 1)/(α' κ'))

μ0 is the mean of all people, and κ, α, β have the largest product of p(values) over all people. Nobody's membership is
used. The score is the log of the ratio of the two densities at the target's φ.

Measured with 16 shadows (docs/results): on Adult's tree TPR at 1 % FPR .089 (.081 to .096) against LiRA's .072 (.067 to
.078); on a forest of Adult and on the demo and COMPAS no difference beyond the intervals. That it is better than RMIA
with few shadows, as the paper finds on its data, is not so here: its AUC is lower in all six. Both assume a normal law,
which trees break. Boosting on the same shadows is nowhere weaker beyond the intervals, so that an audit, which corrects
for each attack it tries, leaves BaVarIA out.
"""

from __future__ import annotations

import math

import numpy as np

from ....base.validation import Floats, Ints, Mask
from ..attack import LEAST_DEVIATION, Attack, AttackOutput, Evidence, Shadows, logit

_DIGITS = 9
"""Decimals of a score, so that equal evidence ties."""

_BOUNDS = ((1e-4, 1e4), (0.05, 1e3), (LEAST_DEVIATION**2, 1e4))
"""Of κ, α and β/α: from next to no prior to one that nobody's shadows can move."""

_START = (0.1, 2.0)
"""κ and α from which the fit starts; β/α starts at the variance around own means."""

_TO_THE_END = {"ftol": 1e-15, "gtol": 1e-10}
"""The fit goes on until rounding stops it: its end must not depend on the order of a sum."""


def scores(evidence: Evidence) -> AttackOutput:
    """Judge people by the ratio of two predictive densities; scores alone, and no verdict."""
    from scipy.stats import t

    shadows = evidence.shadow_models
    rows = evidence.split.judged_rows
    phi = logit(evidence.label_probability)[rows]
    with_person, without = (predictive(shadows, used) for used in (shadows.inside, ~shadows.inside))
    score = t.logpdf(phi, *with_person) - t.logpdf(phi, *without)
    return np.round(score, _DIGITS), None


def predictive(shadows: Shadows, used: Mask) -> tuple[Floats, Floats, Floats]:
    """Return degrees of freedom, location and scale of each judged person's next φ, given their used shadows."""
    count, mean, squares = shadows.sums(used)
    centre = float((count * mean).sum() / max(count.sum(), 1))
    kappa, alpha, beta = fitted_prior(count, mean, squares, centre)
    strength = kappa + count
    shape = alpha + count / 2
    rate = _rate(kappa, beta, count, squares, (mean - centre) ** 2)
    location = (kappa * centre + count * mean) / strength
    return 2 * shape, location, np.sqrt(rate * (strength + 1) / (shape * strength))


def _rate(kappa: float, beta: float, count: Ints, squares: Floats, distance: Floats) -> Floats:
    """Return β' by the squared distance of the mean from μ0."""
    return beta + squares / 2 + kappa * count * distance / (2 * (kappa + count))


def fitted_prior(
    count: Ints, mean: Floats, squares: Floats, centre: float
) -> tuple[float, float, float]:
    """Return the κ, α and β, within `_BOUNDS`, under which what all people's shadows say is likeliest."""
    from scipy.optimize import minimize
    from scipy.special import gammaln

    distance = (mean - centre) ** 2
    around = squares.sum() / max(int(np.maximum(count - 1, 0).sum()), 1)

    def surprise(logs: Floats) -> float:
        """Return minus the mean log marginal likelihood, but for its constant."""
        kappa, alpha, variance = np.exp(logs)
        shape = alpha + count / 2
        rate = _rate(kappa, alpha * variance, count, squares, distance)
        log_likelihood = (
            gammaln(shape)
            - gammaln(alpha)
            + alpha * math.log(alpha * variance)
            - shape * np.log(rate)
        )
        return -float((log_likelihood + np.log(kappa / (kappa + count)) / 2).mean())

    bounds = np.log(_BOUNDS)
    start = np.clip(np.log([*_START, max(around, LEAST_DEVIATION**2)]), *bounds.T)
    fit = minimize(
        surprise, start, method="L-BFGS-B", jac="3-point", bounds=bounds, options=_TO_THE_END
    )
    # Rounded, so that an audit repeated on a machine that adds in another order starts from the same prior.
    kappa, alpha, variance = (float(f"{value:.5g}") for value in np.exp(fit.x))
    return kappa, alpha, alpha * variance


ATTACK = Attack(
    title="BaVarIA",
    phrase="BaVarIA",
    paper="Brännvall 2026",
    glossary="Compares the model with shadow models as LiRA does, allowing for how little a few of them tell.",
    needs=frozenset({"labels", "scores", "shadows"}),
    uses=frozenset(),
    turn=75,
    scores=scores,
)
