"""Exact discrete Laplace noise on sums, budget amounts, and the gap's interval.

A question is a vector of scores, known to the asker; the secret is who is disadvantaged. Scores are rounded to the
public grid of `GRID` steps and centred on the middle of their range, so the sum over the disadvantaged is a whole
number of half steps, and one person who changes group changes it by at most the range (in half steps: `reach`).
Noise is a whole number, too, with P(x) proportional to exp(-|x| epsilon / reach) (Ghosh, Roughgarden and Sundararajan
2009), drawn by fair bits on whole numbers from the operating system's entropy (Canonne, Kamath and Steinke 2020,
algorithms 1 and 2). Hence the release is epsilon-differentially private as it stands: there is no floating-point
Laplace sample whose gaps give the true sum away (Mironov 2012), and nothing to round afterwards. Amounts of budget are
whole millionths of epsilon, so that their sums are exact in Python, SQL and files.

With h the scores minus any constant, S = Σ h over the disadvantaged, T = Σ h over everybody and N0 disadvantaged among
n people, the gap is (T - S)/(n - N0) - S/N0; it does not depend on the constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from ..base.errors import InputError
from ..base.validation import Floats, Ints, Mask
from ..stats.estimates import Estimate

MILLION = 1_000_000
_MOST = 1_000

Amount = float | int | str | Decimal


def millionths(value: Amount, *, name: str) -> int:
    """Return an amount of epsilon, in [0.000001, 1000] with at most six decimals, in millionths."""
    try:
        exact = Decimal(str(value)) * MILLION
    except (ValueError, ArithmeticError):
        exact = Decimal("nan")
    if not exact.is_finite() or not 0 < exact <= _MOST * MILLION:
        raise InputError(f"{name} must be a number above 0 and at most {_MOST}, got {value!r}.")
    amount = int(exact)
    if exact != amount:
        raise InputError(f"{name} must have at most six decimals, got {value!r}.")
    return amount


def epsilon_of(amount: int) -> float:
    """Return millionths as an epsilon."""
    return amount / MILLION


def amount_text(amount: int) -> str:
    """Write millionths as an epsilon, exactly: "0.25", "10"."""
    return epsilon_amount(epsilon_of(amount))


def epsilon_amount(epsilon: float) -> str:
    """Epsilon as its exact amount: "0.25", "10"."""
    return f"{epsilon:.6f}".rstrip("0").rstrip(".")


GRID = 1 << 24
"""Steps of the public grid between score 0 and score 1."""

HALF_STEP = 0.5 / GRID
"""What a half step of it is worth, the unit of sums."""

RandBelow = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class NoisyNumber:
    """A sum or a count with noise, in units, and the law of its noise.

    `reach` is what one person can change in units, and where that is nothing there is no noise; `epsilon` is in
    millionths, `unit` a unit's worth. `units` are 0 as long as the number is not released.
    """

    reach: int
    epsilon: int
    unit: float
    units: int = 0

    @property
    def value(self) -> float:
        """Return the number in the sum's own terms."""
        return self.units * self.unit

    @property
    def deviation(self) -> float:
        """Return about the noise's standard deviation, in the sum's own terms: its scale times √2."""
        return math.sqrt(2) * self.reach * MILLION / self.epsilon * self.unit

    def bound(self, level: float) -> float:
        """Return the smallest t with P(|noise| > t) at most 1 - `level`, exactly."""
        if not self.reach:
            return 0.0
        ratio = self.epsilon / (
            MILLION * self.reach
        )  # P(|X| > k) = 2 p^(k+1) / (1 + p) with p = exp(-ratio)
        k = (math.log(2 / (1 - level)) - math.log1p(math.exp(-ratio))) / ratio - 1
        return max(0, math.ceil(k)) * self.unit


NOTHING = NoisyNumber(0, 1, 1.0)
"""What stands for a number that was not released."""


def on_grid(scores: Floats) -> Ints:
    """Return scores in [0, 1] as whole steps of the public grid."""
    return np.rint(scores * GRID).astype(np.int64)


def centred(steps: Ints, people: Mask) -> tuple[Ints, int]:
    """Return a question in half steps, centred on its range among `people` and 0 for the others; and its reach."""
    low = int(steps[people].min())
    high = int(steps[people].max())
    return np.where(people, 2 * steps - (low + high), 0), high - low


def release(values: Ints, secret: Mask, noise: NoisyNumber, randbelow: RandBelow) -> int:
    """Return the sum of `values` over the secret group with its noise, in units.

    `noise.reach` must be at least the largest |value|, and must not depend on the secret.
    """
    return int(values[secret].sum()) + discrete_laplace(
        noise.reach * MILLION, noise.epsilon, randbelow
    )


def discrete_laplace(numerator: int, denominator: int, randbelow: RandBelow) -> int:
    """Return a whole number x drawn with probability proportional to exp(-|x| denominator / numerator)."""
    common = math.gcd(numerator, denominator)
    t = numerator // common
    s = denominator // common
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
            if negative:
                return -size
            return size


def _coin(numerator: int, denominator: int, randbelow: RandBelow) -> bool:
    """Return True with probability exp(-numerator / denominator), the fraction in [0, 1] (Canonne et al., line 1-6)."""
    k = 1
    while randbelow(denominator * k) < numerator:
        k += 1
    return k % 2 == 1


LEVEL = 0.95
"""Coverage of the intervals; the sum's and the count's each use half of what is left."""


def gap_value(total: float, part: float, count: float, n: int) -> float:
    """Return the gap for S = `part`, T = `total` and N0 = `count`, which is brought into [1, n - 1]."""
    n0 = min(max(count, 1.0), n - 1.0)
    return (total - part) / (n - n0) - part / n0


def gap_interval(
    scores: Floats, *, part: float, reach: float, count: float, count_reach: float
) -> Estimate:
    """Return the gap with an interval that holds it with probability `LEVEL` at least.

    The scores (n,) are less the constant that belongs to `part`; `part` and `count` are the noisy S and N0, `reach` and
    `count_reach` their largest errors at (1 + `LEVEL`)/2. These are taken around the nearest S and N0 that the scores
    allow: around a noisy number far outside, they would leave a narrow interval that is a miss.
    """
    n = scores.size
    total = float(scores.sum())
    least = np.concatenate(
        [[0.0], np.cumsum(np.sort(scores))]
    )  # S cannot be less with so many disadvantaged
    count = min(max(count, 1.0), n - 1.0)
    first = max(math.ceil(count - count_reach), 1)
    last = min(math.floor(count + count_reach), n - 1)
    counts = np.arange(first, max(first, last) + 1)
    lowest = least[counts]
    highest = total - least[n - counts]
    nearest = np.clip(part, lowest, highest)
    low_part = np.maximum(nearest - reach, lowest)
    high_part = np.minimum(nearest + reach, highest)
    high = float(np.max((total - low_part) / (n - counts) - low_part / counts)) + 1 / GRID
    low = float(np.min((total - high_part) / (n - counts) - high_part / counts)) - 1 / GRID
    low = max(low, -1.0)
    high = min(high, 1.0)
    value = min(max(gap_value(total, part, count, n), low), high)
    return Estimate(value=value, low=low, high=high, n=n, level=LEVEL)


def standard_error(
    n: int, *, total: float, part: float, deviation: float, count: float, count_deviation: float
) -> float:
    """Return the gap's standard error to first order, from the standard deviations of the two noises; at most 1."""
    n0 = min(max(count, 1.0), n - 1.0)
    by_part = deviation * (1 / (n - n0) + 1 / n0)
    by_count = count_deviation * ((total - part) / (n - n0) ** 2 + part / n0**2)
    return min(1.0, math.hypot(by_part, by_count))
