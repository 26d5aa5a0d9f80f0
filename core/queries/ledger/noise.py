r"""Sums over a secret group, released with exact discrete Laplace noise.

A question is a vector of scores, known to whoever asks; the secret is who is disadvantaged. Scores are rounded to the
public grid of `GRID` steps and centred on the middle of their range, so the sum over the disadvantaged is a whole
number of half steps, and one person who changes group changes it by at most the range (in half steps: `reach`).
Noise is a whole number, too, with P(x) proportional to exp(-|x| epsilon / reach) (Ghosh, Roughgarden and Sundararajan
2009), drawn by coin tosses on whole numbers from the operating system's entropy (Canonne, Kamath and Steinke 2020,
algorithms 1 and 2). Hence the release is epsilon-differentially private as it stands: there is no floating-point
Laplace sample whose gaps give the true sum away (Mironov 2012), and nothing to round afterwards.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.queries.checks import Floats
from core.queries.ledger.amounts import MILLION

GRID = 1 << 24
"""Steps of the public grid between score 0 and score 1."""

RandBelow = Callable[[int], int]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Noise:
    """The public law of one release's noise.

    Attributes
    ----------
    reach : int
        What one person can change, in units.
    epsilon : int
        In millionths.
    unit : float
        What one unit is worth.
    """

    reach: int
    epsilon: int
    unit: float

    @property
    def scale(self) -> float:
        """Return the scale b, in the sum's own terms: the noise's standard deviation is about b times √2."""
        return self.reach * MILLION / self.epsilon * self.unit

    def bound(self, level: float) -> float:
        """Return the smallest t with P(|noise| > t) at most 1 - `level`, exactly."""
        ratio = self.epsilon / (MILLION * self.reach)  # P(|X| > k) = 2 p^(k+1) / (1 + p) with p = exp(-ratio)
        k = (math.log(2 / (1 - level)) - math.log1p(math.exp(-ratio))) / ratio - 1
        return max(0, math.ceil(k)) * self.unit


def on_grid(scores: Floats) -> Ints:
    """Return scores in [0, 1] as whole steps of the public grid."""
    return np.rint(scores * GRID).astype(np.int64)


def centred(steps: Ints, people: npt.NDArray[np.bool_]) -> tuple[Ints, int]:
    """Return a question in half steps, centred on its range among `people` and 0 for the others; and its reach."""
    low, high = int(steps[people].min()), int(steps[people].max())
    return np.where(people, 2 * steps - (low + high), 0), high - low


def release(values: Ints, secret: npt.NDArray[np.bool_], noise: Noise, randbelow: RandBelow) -> int:
    """Return the sum of `values` over the secret group with its noise, in units.

    `noise.reach` must be at least the largest |value|, and must not depend on the secret.
    """
    return int(values[secret].sum()) + discrete_laplace(noise.reach * MILLION, noise.epsilon, randbelow)


def discrete_laplace(numerator: int, denominator: int, randbelow: RandBelow = secrets.randbelow) -> int:
    """Return a whole number x drawn with probability proportional to exp(-|x| denominator / numerator).

    Parameters
    ----------
    numerator, denominator : int, above 0
        The scale as a fraction.
    randbelow : callable
        Returns a whole number in [0, k); the operating system's entropy by default.
    """
    common = math.gcd(numerator, denominator)
    t, s = numerator // common, denominator // common
    while True:
        u = randbelow(t)
        if not _coin(u, t, randbelow):
            continue
        v = 0
        while _coin(1, 1, randbelow):
            v += 1
        size = (u + t * v) // s
        negative = randbelow(2)
        if size or not negative:  # zero must not count twice
            return -size if negative else size


def _coin(numerator: int, denominator: int, randbelow: RandBelow) -> bool:
    """Return True with probability exp(-numerator / denominator), the fraction in [0, 1] (Canonne et al., line 1-6)."""
    k = 1
    while randbelow(denominator * k) < numerator:
        k += 1
    return k % 2 == 1


def combined_bound(coefficients: Floats, noises: list[Noise], level: float) -> float:
    """Return t with P(|Σ c x| > t) at most 1 - `level` for independent noises x: exact for one, Chernoff for several.

    Notes
    -----
    With scales b the moment generating function of c x is at most 1 / (1 - λ² c² b²) for λ < 1/(c b): the discrete one
    is 1 / (1 - (cosh λ - 1)/(cosh(1/b) - 1)) in units, and cosh √u - 1 is convex in u. So
    t = min over λ of (ln(2/α) - Σ ln(1 - λ² c² b²)) / λ.
    """
    used = [(abs(float(c)), noise) for c, noise in zip(coefficients, noises, strict=True) if c]
    if not used:
        return 0.0
    if len(used) == 1:
        return used[0][0] * used[0][1].bound(level)
    b = np.array([c * noise.scale for c, noise in used])
    shares = np.linspace(0.0, 1.0, 514)[1:-1]  # of the largest λ; any of them gives a bound
    ratios = np.square(b / b.max())
    logs = np.log1p(-np.square(shares)[:, None] * ratios).sum(axis=1)
    return float(np.min((math.log(2 / (1 - level)) - logs) / shares) * b.max())
