"""What one set of questions really costs between two neighbours: the exact privacy loss, in place of a bound.

The loss is the largest log-ratio of the two laws of what is released, whichever way round. Rounding to a grid
afterwards can only lower it.

Laplace of one scale b: shifted by Δ, log-ratios reach ±|Δ|/b in each coordinate, together Σ|Δ|/b.

Cauchy of place f, scale σ against f′, σ′: the density at x is σ/(π|x − f − iσ|²), the Poisson kernel of the upper half
plane, so the largest log-ratio is the hyperbolic distance of f + iσ and f′ + iσ′,

    arccosh(1 + ((f − f′)² + (σ − σ′)²)/(2σσ′)),

and coordinates, being independent, add up.

Laplace of two scales b, b′: the ratio has no bound, so δ is what counts. With G = Σ |x_j − f_j|/b, a Gamma(m) variable,
the loss is at most κ + (b/b′ − 1) G, κ = |Δ|₁/b′ + m ln(b′/b), so that with g₀ = (ε − κ)/(b/b′ − 1)

    δ(ε) ≤ E max(0, 1 − e^(ε − κ − (b/b′ − 1)G)) = Q − e^(ε − |Δ|₁/b′) Q′,

Q and Q′ the mass of Gamma(m) beyond g₀ and beyond g₀ b/b′ (below, for b < b′): the Gamma law absorbs (b/b′)^m. It is
exact for Δ = 0. The worse of the two directions counts.
"""

import math

import numpy as np

from core.studies.bias_queries.gaps import people
from core.studies.bias_queries.mechanisms import NoisySums, SmoothLaplace, centred_scores


def privacy_loss(mechanism, scores, sensitive, neighbour):
    """Return ε and δ between the attribute and a neighbour, or any other vector, when these questions are answered.

    ε is the largest log-ratio, infinite where it has no bound, and δ 0; of smooth Laplace noise ε is the mechanism's,
    and δ the mass beyond it, at most.
    """
    (h, a), (_, b) = people(scores, sensitive), people(scores, neighbour)
    if isinstance(mechanism, NoisySums):
        return _of_sums(mechanism, h, a, b)
    move = np.abs(mechanism.exact(h, a) - mechanism.exact(h, b))
    scales = [mechanism.scale(int(x.sum()), int(x.size - x.sum()), len(h)) for x in (a, b)]
    if mechanism.noise == "cauchy":
        return _cauchy(move, *scales), 0.0
    return _laplace(mechanism, move, *scales)


def _of_sums(mechanism, h, a, b):
    count_scale, sum_scale = mechanism.scales(h)
    moved = b.astype(np.float64) - a
    sums = float(np.abs(centred_scores(h) @ moved).sum())
    return _shift(abs(float(moved.sum())), count_scale) + _shift(sums, sum_scale), 0.0


def _shift(move, scale):
    """Return the loss of Laplace noise for a shift."""
    if scale > 0:
        return move / scale
    return math.inf if move > 1e-12 else 0.0


def _cauchy(move, scale, neighbour_scale):
    """Return the loss of Cauchy noise: the hyperbolic distances of the coordinates."""
    if min(scale, neighbour_scale) == 0:
        return math.inf if move.any() else 0.0
    return float(np.arccosh(1 + (move**2 + (scale - neighbour_scale) ** 2) / (2 * scale * neighbour_scale)).sum())


def _laplace(mechanism, move, scale, neighbour_scale):
    together = float(move.sum())
    if scale == neighbour_scale:
        return _shift(together, scale), 0.0
    if not isinstance(mechanism, SmoothLaplace) or min(scale, neighbour_scale) == 0:
        return math.inf, 0.0
    epsilon = mechanism.epsilon
    ways = [
        laplace_delta(together, *pair, m=move.size, epsilon=epsilon)
        for pair in ((scale, neighbour_scale), (neighbour_scale, scale))
    ]
    return epsilon, max(ways)


def laplace_delta(move, scale, neighbour_scale, *, m, epsilon):
    """Return an upper bound of δ(ε) of m coordinates of Laplace noise against the same moved (l1) and rescaled."""
    from scipy.special import gammainc, gammaincc

    ratio = scale / neighbour_scale
    left = epsilon - move / neighbour_scale  # of the budget, after the shift
    if abs(ratio - 1) < 1e-12:
        return max(0.0, -math.expm1(left))
    mass = gammaincc if ratio > 1 else gammainc
    edge = max(0.0, (left + m * math.log(ratio)) / (ratio - 1))
    beyond, neighbour_beyond = float(mass(m, edge)), float(mass(m, edge * ratio))
    return max(0.0, beyond - (math.exp(left + math.log(neighbour_beyond)) if neighbour_beyond else 0.0))
