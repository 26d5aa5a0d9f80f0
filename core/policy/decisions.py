"""Whether estimates keep to their limits, decided over all of them together.

Each estimate is tested against "the value is exactly the limit", two-sided. From the estimate's own interval: with h
the half width on the limit's side and q the quantile of the interval's level, the standard error is h / q, and

    t = |value − limit| · q / h,        p = P(|T| > t),     T normal, or Student's where it has degrees of freedom.

Holm's correction (1979) runs over all limits with an estimate. What it rejects is called kept or broken by the side
the estimate is on. The interval at the level of a limit's step leaves out the limit exactly when the limit's test is
rejected, so what is called kept lies inside its limit with the whole of that interval. These intervals belong to
their tests; together they do not cover at the level. That the side is called as well costs nothing more where the
estimates are independent (Shaffer 1980, Finner 1999); those of one audit share people, and for them it is not proved.

Values without an interval's width are computed, not estimated: they are compared as they are and need no correction.
Repeats that agree are no computation: an interval of Student's that has no width is none.

An interval may end where the unit does (a share at 0 or 1, the size of a difference at 0), and then says nothing about
what would lie beyond. So it is widened, but never made narrower than it was measured: a limit inside it is not told
apart at any level.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

from core.estimates import Estimate
from core.multiplicity import holm
from core.policy.verdict import Status

_ALIKE = 1e-12
"""Computed values no farther from their limit than this are at the limit: they differ by rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An estimate, and the limit it is to keep to.

    Attributes
    ----------
    estimate : Estimate
        With a finite value.
    freedom : int or None
        See `core.policy.Measurement`.
    """

    estimate: Estimate
    limit: float
    at_least: bool = False
    freedom: int | None = None

    @property
    def kept(self) -> bool:
        """Whether the value is on the limit's allowed side."""
        over = (self.estimate.value - self.limit) * (-1.0 if self.at_least else 1.0)
        return over <= (_ALIKE if self.computed else 0.0)

    @property
    def computed(self) -> bool:
        """Whether the value has no interval because nothing is uncertain about it."""
        return self.freedom is None and self.estimate.low == self.estimate.high == self.estimate.value

    @property
    def bounded(self) -> bool:
        """Whether there is an interval at all."""
        found = self.estimate
        if self.freedom is not None and found.low == found.high:
            return False
        return not (math.isnan(found.low) or math.isnan(found.high))

    @property
    def within(self) -> bool:
        """Whether the limit is inside the interval as it was measured."""
        return self.estimate.low <= self.limit <= self.estimate.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What is decided about one claim; see `core.policy.CheckVerdict` for the fields."""

    verdict: Status
    decided: Estimate | None = None
    p_value: float = math.nan
    p_adjusted: float = math.nan


def decide(claims: Mapping[str, Claim], *, level: float) -> dict[str, Decision]:
    """Return the decision on each claim, by its name.

    Parameters
    ----------
    level : float in [0.5, 1)
        One minus the chance that any claim at its limit is called kept or broken.
    """
    done = {
        name: Decision(verdict=Status.PASS if claim.kept else Status.FAIL)
        for name, claim in claims.items()
        if claim.computed
    }
    family = [name for name in claims if name not in done]
    alpha = 1.0 - level
    raw = [_p_value(claims[name], alpha) for name in family]
    adjusted = holm(raw)
    rejected = sum(p < alpha for p in adjusted)
    for rank, place in enumerate(sorted(range(len(family)), key=lambda j: raw[j])):
        claim = claims[family[place]]
        told_apart = adjusted[place] < alpha
        verdict = Status.INCONCLUSIVE if not told_apart else Status.PASS if claim.kept else Status.FAIL
        before = rank if told_apart else rejected  # the step that stopped the procedure is that of all that are left
        step = alpha / (len(family) - before)
        done[family[place]] = Decision(
            verdict=verdict,
            decided=_decided(claim, min(step, 1.0 - claim.estimate.level), told_apart) if claim.bounded else None,
            p_value=raw[place],
            p_adjusted=adjusted[place],
        )
    return {name: done[name] for name in claims}


def _p_value(claim: Claim, alpha: float) -> float:
    """Return a claim's p-value, which does not tell a limit inside the measured interval apart at level 1 - alpha."""
    if not claim.bounded:
        return 1.0
    p, own = p_value(claim.estimate, claim.limit, freedom=claim.freedom), 1.0 - claim.estimate.level
    if not claim.within:
        return p
    return max(p, own) if own >= alpha else 1.0


def p_value(estimate: Estimate, limit: float, *, freedom: int | None = None) -> float:
    """Return the two-sided p-value of "the value is exactly the limit", from the estimate's interval.

    It is 1 where there is no interval: nothing then speaks for either side.
    """
    below, above = _half_widths(estimate)
    half = above if limit > estimate.value else below
    distance = abs(estimate.value - limit)
    if math.isnan(half) or distance == 0.0:
        return 1.0
    if half == 0.0:
        return 0.0
    t = distance / half * _quantile(1.0 - estimate.level, freedom)
    if freedom is None:
        return math.erfc(t / math.sqrt(2.0))
    from scipy.special import stdtr

    return min(1.0, 2.0 * float(stdtr(freedom, -t)))


def at_level(estimate: Estimate, level: float, *, freedom: int | None = None) -> Estimate:
    """Return the estimate with its interval at another level, each side scaled by its own half width."""
    return _scaled(estimate, 1.0 - level, freedom)


def _scaled(estimate: Estimate, alpha: float, freedom: int | None) -> Estimate:
    below, above = _half_widths(estimate)
    factor = _quantile(alpha, freedom) / _quantile(1.0 - estimate.level, freedom)
    value = estimate.value
    return Estimate(
        value=value, low=value - factor * below, high=value + factor * above, n=estimate.n, level=1.0 - alpha
    )


def _half_widths(estimate: Estimate) -> tuple[float, float]:
    """Return the half widths below and above; a side that has none borrows the other's.

    A value may lie at an end of its interval, or a little outside, where the interval comes from a bootstrap; that
    does not make the side certain.
    """
    below, above = estimate.value - estimate.low, estimate.high - estimate.value
    if math.isnan(below) or math.isnan(above):
        return math.nan, math.nan
    below, above = max(0.0, below), max(0.0, above)
    return below or above, above or below


def _quantile(alpha: float, freedom: int | None) -> float:
    """Return what |T| exceeds with probability alpha."""
    if freedom is None:
        return -NormalDist().inv_cdf(alpha / 2)
    from scipy.special import stdtrit

    return -float(stdtrit(freedom, alpha / 2))


def _decided(claim: Claim, alpha: float, told_apart: bool) -> Estimate:
    """Return the interval at the level of a step; rounding must not move it over the limit, or off it."""
    found = _scaled(claim.estimate, alpha, claim.freedom)
    low, high = found.low, found.high
    if told_apart and claim.limit > found.value:
        high = min(high, claim.limit)
    elif told_apart:
        low = max(low, claim.limit)
    else:
        low, high = min(low, claim.limit), max(high, claim.limit)
    return Estimate(value=found.value, low=low, high=high, n=found.n, level=found.level)
