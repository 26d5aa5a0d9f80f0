"""How far chance moves the gain of one release, and so what one measured gain says of the expected one.

In the linear-Gaussian picture of `core.release.modes` a mode of weight w gains ½ w nats on average, with variance
½ w (2 − w) and third cumulant w² (3 − 2w) (half a chi-squared for w = 1; cumulants of a quadratic form). People are no
normal variables: the excess kurtosis of each adds to the variance. A gamma law, shifted, has all three cumulants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.estimates import Estimate
from core.release.modes import Modes
from core.results import Result

_NAT = 1.0 / math.log(2)
"""Bits in a nat."""

_HALVINGS = 60

_TAIL = (1.0 - 0.95) / 2
"""Share of the draws beyond a 95% interval, to either side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance(Result):
    """The gain in bits over draws of everybody's attribute from the attacker's posterior, and of the noise.

    Attributes
    ----------
    noise : bool
        Whether there is privacy noise; without it no release loses bits.
    """

    mean: float
    deviation: float
    skewness: float
    noise: bool

    def range(self) -> tuple[float, float]:
        """Return where 95% of the draws lie, as many beyond it to either side."""
        if not self.deviation > 0.0:
            return self.mean, self.mean
        low, high = self._quantile(_TAIL, self.mean), self._quantile(1.0 - _TAIL, self.mean)
        return low if self.noise else max(low, 0.0), high

    def expected(self, gain: float, n: int, *, most: float = math.inf) -> Estimate:
        """Return the expected gain with its interval, from the one gain that was measured about n people.

        Where the attribute is not as the posterior says, the mean moves. A higher mean is the systematic part of
        x = A (s − q), which adds 2 to the variance in nats² for each nat that it adds to the mean, and 6 to the third
        cumulant (noncentral chi-squared); for a lower one the law is only shifted. The interval holds the means that
        this gain does not contradict, 2.5% to either side, up to `most` bits: what there was to know.
        """
        if not self.deviation > 0.0:
            return Estimate(value=gain, low=gain, high=gain, n=n)
        low, high = self._mean_where(1.0 - _TAIL, gain), self._mean_where(_TAIL, gain)
        if not self.noise:
            low = max(low, min(0.0, gain))
        return Estimate(value=gain, low=min(low, gain), high=max(min(high, most), gain), n=n)

    def _mean_where(self, share: float, gain: float) -> float:
        """Return the mean for which this share of the draws stays below the gain."""
        shifted = self.mean + gain - self._quantile(share, self.mean)
        if shifted <= self.mean:
            return shifted
        low, high = self.mean, self.mean + 1.0
        while self._quantile(share, high) < gain:
            high += 2.0 * (high - low)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._quantile(share, middle) < gain else (low, middle)
        return (low + high) / 2

    def _quantile(self, share: float, mean: float) -> float:
        from scipy.special import gammaincinv, ndtri

        more = max(mean - self.mean, 0.0)
        variance = self.deviation**2 + 2 * _NAT * more
        skewness = (self.skewness * self.deviation**3 + 6 * _NAT**2 * more) / variance**1.5
        if skewness < 1e-3:
            return mean + math.sqrt(variance) * float(ndtri(share))
        shape = 4.0 / skewness**2
        return mean + math.sqrt(variance / shape) * (float(gammaincinv(shape, share)) - shape)


def formula_chance(modes: Modes) -> Chance:
    """Return the chance of the linear-Gaussian picture."""
    w = modes.weight
    variance = _NAT**2 * float((w * (2.0 - w)).sum()) / 2 + _kurtosis(modes)
    third = _NAT**3 * float((w**2 * (3.0 - 2.0 * w)).sum())
    skewness = third / variance**1.5 if variance > 0 else 0.0
    noise = modes.release.epsilon is not None
    return Chance(mean=modes.df_bits, deviation=math.sqrt(max(variance, 0.0)), skewness=skewness, noise=noise)


def distance_variance(modes: Modes) -> float:
    """Return the variance of `Modes.distance` over s ~ q, exactly."""
    return max(_NAT**2 * float((modes.weight**2).sum()) / 2 + _kurtosis(modes), 0.0)


def _kurtosis(modes: Modes) -> float:
    """Return what people being no normal variables adds: Σ_i (B_ii)² κ₄(q_i), B = Aᵀ(K + R)⁻¹A/(2 ln 2)."""
    spread = modes.posterior * (1.0 - modes.posterior)
    own = _NAT * modes.person / 2
    return float(np.sum(own**2 * spread * (1.0 - 6.0 * spread)))


def student(freedom: int) -> float:
    """Return the quantile of Student's law that leaves 2.5% above it."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + 0.95 / 2))
