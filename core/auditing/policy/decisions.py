"""Whether estimates are within their limits, tested over all of them together.

Each estimate is tested against "the value is exactly the limit", two-sided. From the estimate's own interval: with h
the half width on the limit's side and q the quantile of the interval's level, the standard error is h / q, and

    t = |value − limit| · q / h,        p = P(|T| > t),     T normal, or Student's where it has degrees of freedom.

Holm's correction (1979) runs over all limits with an estimate. What it rejects is a pass or a fail, by the side
the estimate is on. The interval at the level of a limit's step leaves out the limit exactly when the limit's test is
rejected, so a pass lies inside its limit with the whole of that interval. These intervals belong to
their tests; together they do not cover at the level. That the side is called as well costs nothing more where the
estimates are independent (Shaffer 1980, Finner 1999); those of one audit share people, and for them it is not proved.

Values without an interval's width are computed, not estimated: they are compared as they are and need no correction.
Repeats that agree are no computation: an interval of Student's that has no width is none.

An interval may end where the unit does (a share at 0 or 1, the size of a difference at 0), and then says nothing about
what would lie beyond. So it is widened, but never made narrower than it was measured: a limit inside it is not
rejected at any level.

From these decisions `judge` makes the verdict on every check and on the release.

Releasing less comes in steps, the most useful first: scores with one decimal, then labels alone. All steps that may be
tried are one family: each is judged at 1 − α / k for k steps, α one minus the policy's level (Bonferroni), so that the
chance that one of them passes wrongly is at most α.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import NormalDist

from ...base.caveats import Caveat
from ...base.errors import InputError
from ...base.serialize import Result
from ...base.settings import value_excerpt
from ...stats.estimates import Estimate, holm, level_text
from ...studies.registry import STUDIES
from ...studies.study import Basis, Measurement, Outcome
from ...studies.subject import OutputsPlan
from .limits import (
    CHECKS,
    VERDICT_TITLES,
    Limit,
    Policy,
    check_policy,
    check_title,
    cut_to_range,
    in_range,
    limit_text,
    range_text,
    value_text,
)
from .verdict import CheckVerdict, Status, Verdict, headline_and_detail, overall_status

_ROUNDING = 1e-12
"""Computed values no farther from their limit than this are at the limit: they differ by rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitTest:
    """An estimate with a finite value, and its limit; `freedom` as of `core.studies.study.Measurement`."""

    estimate: Estimate
    limit: float
    at_least: bool = False
    freedom: int | None = None

    @property
    def side(self) -> Status:
        """Verdict on a value that is certain to lie on its side of the limit."""
        over = self.estimate.value - self.limit
        if self.at_least:
            over = -over
        rounding = _ROUNDING if self.is_exact else 0.0
        if over <= rounding:
            return Status.PASS
        return Status.FAIL

    @property
    def is_exact(self) -> bool:
        """Whether the value has no interval because nothing is uncertain about it."""
        return (
            self.freedom is None and self.estimate.low == self.estimate.high == self.estimate.value
        )

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval at all."""
        estimate = self.estimate
        if self.freedom is not None and estimate.low == estimate.high:
            return False
        return not (math.isnan(estimate.low) or math.isnan(estimate.high))


def holm_decisions(claims: Mapping[str, LimitTest], *, level: float) -> dict[str, CheckVerdict]:
    """Return what is decided about each claim, by its name.

    `level`, in [0.5, 1), is one minus the chance of any wrong pass or fail, for values at their limit.
    """
    done = {
        name: CheckVerdict(check=name, verdict=claim.side, why="")
        for name, claim in claims.items()
        if claim.is_exact
    }
    family = [name for name in claims if name not in done]
    alpha = 1.0 - level
    raw = [_p_value(claims[name], alpha) for name in family]
    adjusted = holm(raw)
    rejected = sum(p < alpha for p in adjusted)
    for rank, index in enumerate(sorted(range(len(family)), key=lambda j: raw[j])):
        claim = claims[family[index]]
        decisive = adjusted[index] < alpha
        verdict = claim.side if decisive else Status.INCONCLUSIVE
        # the step that stopped the procedure is that of all that are left
        before = rank if decisive else rejected
        step = alpha / (len(family) - before)
        decided = None
        if claim.has_interval:
            decided = _decided(claim, min(step, 1.0 - claim.estimate.level), decisive)
        done[family[index]] = CheckVerdict(
            check=family[index],
            verdict=verdict,
            why="",
            decided=decided,
            p_value=raw[index],
            p_adjusted=adjusted[index],
        )
    return {name: done[name] for name in claims}


def _p_value(claim: LimitTest, alpha: float) -> float:
    """Return a claim's p-value, which does not reject a limit inside the measured interval at level 1 - alpha."""
    if not claim.has_interval:
        return 1.0
    p = p_value(claim.estimate, claim.limit, freedom=claim.freedom)
    measured_alpha = 1.0 - claim.estimate.level
    if not claim.estimate.low <= claim.limit <= claim.estimate.high:
        return p
    if measured_alpha >= alpha:
        return max(p, measured_alpha)
    return 1.0


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


def interval_at_level(estimate: Estimate, alpha: float, *, freedom: int | None = None) -> Estimate:
    """Return the estimate with its interval at level 1 - alpha, each side scaled by its own half width."""
    below, above = _half_widths(estimate)
    factor = _quantile(alpha, freedom) / _quantile(1.0 - estimate.level, freedom)
    value = estimate.value
    return replace(
        estimate, low=value - factor * below, high=value + factor * above, level=1.0 - alpha
    )


def _half_widths(estimate: Estimate) -> tuple[float, float]:
    """Return the half widths below and above; a side that has none borrows the other's.

    A value may lie at an end of its interval, or a little outside, where the interval comes from a bootstrap; that
    does not make the side certain.
    """
    below = estimate.value - estimate.low
    above = estimate.high - estimate.value
    if math.isnan(below) or math.isnan(above):
        return math.nan, math.nan
    below = max(0.0, below)
    above = max(0.0, above)
    return below or above, above or below


def _quantile(alpha: float, freedom: int | None) -> float:
    """Return what |T| exceeds with probability alpha."""
    if freedom is None:
        return -NormalDist().inv_cdf(alpha / 2)
    from scipy.special import stdtrit

    return -float(stdtrit(freedom, alpha / 2))


def _decided(claim: LimitTest, alpha: float, decisive: bool) -> Estimate:
    """Return the interval at the level of a step; rounding must not move it over the limit, or off it."""
    interval = interval_at_level(claim.estimate, alpha, freedom=claim.freedom)
    low = interval.low
    high = interval.high
    if decisive and claim.limit > interval.value:
        high = min(high, claim.limit)
    elif decisive:
        low = max(low, claim.limit)
    else:
        low = min(low, claim.limit)
        high = max(high, claim.limit)
    return replace(interval, low=low, high=high)


NO_LIMIT = "The policy sets no limit to it."


def judge(
    policy: Policy,
    measurements: Sequence[Measurement],
    *,
    attribute: str,
    failed_tests: Sequence[str] = (),
    caveats: tuple[Caveat, ...] = (),
    alternatives: Sequence[Alternative] = (),
) -> Verdict:
    """Return the verdict of a policy on an audit, with a row for every check of `core.auditing.policy.CHECKS`.

    There is one measurement a check at most. A check without one counts as not run where the policy sets a limit to it,
    and blocks where it is required; without a limit it is "not_asked" and never blocks. `attribute` is what the
    sensitive attribute is called. Where FairLeak's test of itself failed for an attack (`failed_tests`), no release
    passes: what would pass is inconclusive, as a detector that is known to be wrong has found nothing. The `caveats`
    go with the verdict as they are. Of `alternatives`, narrower releases, headline and detail say which would pass.

    InputError if the policy breaks a rule, or a measurement is the second of its check or holds a number that its check
    cannot take: both may come from a report that somebody wrote by hand.
    """
    check_policy(policy)
    verdict = _verdict(
        policy, measurements, attribute=attribute, failed_tests=failed_tests, level=policy.level
    )
    headline = verdict.headline
    detail = verdict.detail
    if verdict.overall != Status.PASS:
        candidates = judged_alternatives(
            policy, measurements, alternatives, attribute=attribute, failed_tests=failed_tests
        )
        headline = " ".join(filter(None, (headline, _passing_text(candidates))))
        detail = " ".join(filter(None, (detail, tries_text(candidates))))
    return replace(verdict, headline=headline, detail=detail, caveats=caveats)


def _verdict(
    policy: Policy,
    measurements: Sequence[Measurement],
    *,
    attribute: str,
    failed_tests: Sequence[str],
    level: float,
) -> Verdict:
    """Return the verdict of a policy's limits at a level."""
    by_check = _by_check(measurements)
    limits = {limit.check: (item, limit) for item, limit in enumerate(policy.limits, start=1)}
    claims = {
        name: claim
        for name, (_, limit) in limits.items()
        if (claim := _claim(limit, by_check.get(name)))
    }
    decisions = holm_decisions(claims, level=level)
    rows = [
        _limit_row(item, limit, by_check.get(name), decisions.get(name))
        for name, (item, limit) in limits.items()
    ]
    unlimited = [name for name in CHECKS if name not in limits]
    rows += [
        CheckVerdict(
            check=name, verdict=Status.NO_LIMIT, measurement=by_check.get(name), why=NO_LIMIT
        )
        for name in unlimited
    ]
    rows.sort(
        key=lambda row: list(Status).index(row.verdict)
    )  # stable: within a verdict the policy's order stays
    titled = tuple(_titled(row, attribute) for row in rows)
    headline, detail = headline_and_detail(titled, level=level, failed_tests=failed_tests)
    worst = overall_status(titled, failed_tests=failed_tests)
    return Verdict(overall=worst, headline=headline, detail=detail, rows=titled, policy=policy)


def _titled(row: CheckVerdict, attribute: str) -> CheckVerdict:
    """Return a row with what its check is."""
    check = CHECKS[row.check]
    return replace(
        row,
        title=check_title(row.check, attribute),
        definition=check.definition,
        unit=check.unit,
        at_least=check.at_least,
    )


def _by_check(measurements: Sequence[Measurement]) -> Mapping[str, Measurement]:
    by_check: dict[str, Measurement] = {}
    for measurement in measurements:
        name = measurement.check
        if name in by_check:
            raise InputError(f"A check must have one measurement at most, got two of {name}.")
        _check_measurement(measurement)
        by_check[name] = measurement
    return by_check


def _check_measurement(measurement: Measurement) -> None:
    name = measurement.check
    estimate = measurement.estimate
    freedom = measurement.freedom
    if freedom is not None and not freedom >= 1:
        raise InputError(f"freedom of {name} must be at least 1, got {value_excerpt(freedom)}.")
    if estimate is None or math.isnan(estimate.value):
        return
    if not in_range(float(estimate.value), name):
        raise InputError(
            f"The measured value of {name} must be one its unit can take, got {value_excerpt(estimate.value)}."
        )
    if estimate.low > estimate.high or math.isinf(estimate.low) or math.isinf(estimate.high):
        raise InputError(
            f"The interval of {name} must be finite and in order, got {estimate.low} to {estimate.high}."
        )


def _claim(limit: Limit, measurement: Measurement | None) -> LimitTest | None:
    """Return what is to be decided, or None where there is no number."""
    if measurement is None or measurement.outcome != Outcome.DONE or measurement.estimate is None:
        return None
    estimate = measurement.estimate
    at_least = CHECKS[limit.check].at_least
    if math.isnan(estimate.value):
        return None
    return LimitTest(
        estimate=estimate, limit=limit.value, at_least=at_least, freedom=measurement.freedom
    )


def _limit_row(
    item: int, limit: Limit, measurement: Measurement | None, decided: CheckVerdict | None
) -> CheckVerdict:
    decision = decided or CheckVerdict(check=limit.check, verdict=Status.NOT_RUN, why="")
    row = replace(decision, limit=limit, item=item, measurement=measurement)
    if row.decided is not None:
        row = replace(row, decided=cut_to_range(row.decided, limit))
    if decided is None:
        row = replace(row, why=_why_not_run(limit, measurement))
    else:
        row = replace(row, why=why(row))
    return replace(row, blocks=limit.required and row.verdict != Status.PASS and not row.excused)


def why(row: CheckVerdict) -> str:
    """Return the sentence beside a verdict that was reached on a number."""
    limit = row.limit
    measurement = row.measurement
    decided = row.decided
    assert limit is not None and measurement is not None
    limited = limit_text(limit.check, limit.value)
    does = "is within" if row.verdict == Status.PASS else "exceeds"
    if CHECKS[limit.check].at_least and does == "exceeds":
        does = "is below"
    if decided is not None:
        interval = f"{range_text(limit.check, decided, limit.value)} at {level_text(decided.level)} confidence"
        if decided.level != (measurement.estimate or decided).level:
            interval += " (adjusted for several limits)"
        if row.verdict != Status.INCONCLUSIVE:
            return f"The whole interval, {interval}, {does} the limit of {limited}."
        return f"The interval, {interval}, contains the limit of {limited}."
    if row.verdict == Status.INCONCLUSIVE or measurement.estimate is None:
        return f"There is no interval, so there is no verdict on the limit of {limited}."
    value = value_text(limit.check, measurement.estimate.value, limit=limit.value)
    if measurement.basis == Basis.NOT_RELEASED:
        return f"Not attacked, because nothing is released. {measurement.attacked}".strip()
    if measurement.basis == Basis.DECLARED:
        how = "Calculated from declared settings"
    else:
        how = "Without an interval"
    return f"{how}, {value} {does} the limit of {limited}."


def _why_not_run(limit: Limit, measurement: Measurement | None) -> str:
    if measurement is None:
        needs = ", ".join(CHECKS[limit.check].needs)
        return f"The audit has no measurement of it; it needs {needs}."
    return measurement.reason or {
        Outcome.FAILED: "The attack stopped with an error, and no reason was given.",
        Outcome.DONE: "There was nothing to measure.",
    }.get(measurement.outcome, "It was not run, and no reason was given.")


# What could be released instead ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative(Result):
    """A narrower release of the audited model, and what was measured of it.

    `measurements` are those of the checks that depend on what is released; where a first of them did not pass, the
    others were left out and stand as for the whole release. `tries` are the steps of its family.
    """

    outputs: OutputsPlan
    measurements: tuple[Measurement, ...]
    tries: int

    @property
    def title(self) -> str:
        """What is released: "labels alone", "scores with 1 decimal"."""
        if self.outputs.released == "labels":
            return "labels alone"
        return f"scores with {self.outputs.decimals} decimal{'s' * (self.outputs.decimals != 1)}"


JudgedAlternatives = Sequence[tuple[Alternative, Verdict]]
"""Narrower releases, each with its verdict."""


def judged_alternatives(
    policy: Policy,
    measurements: Sequence[Measurement],
    alternatives: Sequence[Alternative],
    *,
    attribute: str,
    failed_tests: Sequence[str] = (),
) -> JudgedAlternatives:
    """Return narrower releases with their verdicts, each at a level that allows for all that may be tried.

    `measurements` are those of the whole release; they stand where an alternative has none of a check.
    """
    candidates = []
    for alternative in alternatives:
        again = {measurement.check: measurement for measurement in alternative.measurements}
        replaced = [again.get(measurement.check, measurement) for measurement in measurements]
        verdict = _verdict(
            policy,
            replaced,
            attribute=attribute,
            failed_tests=failed_tests,
            level=1.0 - (1.0 - policy.level) / alternative.tries,
        )
        candidates.append((alternative, verdict))
    return tuple(candidates)


class Untried(StrEnum):
    """Why no narrower release was tried."""

    LABELS_ALONE = "labels_alone"
    """Nothing narrower is left."""

    OTHER_CHECKS = "other_checks"
    """What keeps the model from its release does not depend on what is released."""

    OTHER_POLICY = "other_policy"
    """The audit was run by another policy."""


def output_checks() -> frozenset[str]:
    """Return the checks that depend on what is released."""
    studies = [study for study in STUDIES.values() if study.reads_outputs]
    return frozenset(check.name for study in studies for check in study.declared)


def untried_reason(rows: Sequence[CheckVerdict], outputs: OutputsPlan) -> Untried:
    """Return why nothing narrower than these outputs was tried although they do not pass."""
    if outputs.released == "labels":
        return Untried.LABELS_ALONE
    if any(row.blocks and row.check in output_checks() for row in rows):
        return Untried.OTHER_POLICY
    return Untried.OTHER_CHECKS


def unchanged_rows(rows: Sequence[CheckVerdict]) -> tuple[CheckVerdict, ...]:
    """Return what keeps the model from its release, and stays as it is whatever is released."""
    return tuple(row for row in rows if row.blocks and row.check not in output_checks())


def passing_alternative(candidates: JudgedAlternatives) -> tuple[Alternative, Verdict] | None:
    """Return the first narrower release that the policy lets pass, with its verdict; None where it lets none."""
    passing = (
        (alternative, verdict)
        for alternative, verdict in candidates
        if verdict.overall == Status.PASS
    )
    return next(passing, None)


def _passing_text(candidates: JudgedAlternatives) -> str:
    """Return the first narrower release that passes, in a sentence; empty where none does."""
    passing = passing_alternative(candidates)
    if passing is None:
        return ""
    alternative, _ = passing
    return f"{alternative.title[:1].upper()}{alternative.title[1:]} would pass."


def tries_text(candidates: JudgedAlternatives) -> str:
    """Return what was tried instead, with the verdict of each, in a sentence; empty where nothing was tried."""
    if not candidates:
        return ""
    verdicts = [
        f"{alternative.title}: {VERDICT_TITLES[verdict.overall].lower()}"
        for alternative, verdict in candidates
    ]
    first, _ = candidates[0]
    return f"Tried instead, adjusted for {first.tries} steps: {'; '.join(verdicts)}."
