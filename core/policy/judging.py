"""From a policy and an audit's measurements to a verdict on every check and on the release."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.errors import InputError
from core.policy.checks import CHECKS, Check
from core.policy.decisions import Claim, Decision, decide
from core.policy.headline import headline_and_detail, overall
from core.policy.limits import Limit, Policy, check_policy, in_range
from core.policy.measurement import Basis, Measurement, Outcome
from core.policy.verdict import CheckVerdict, Status, Verdict
from core.policy.words import level_text, limit_text, range_text, value_text
from core.toml_files import told

_MOST_TIMES = 10
"""From how many times as many people on more of them are no advice."""


def judge(
    policy: Policy, measurements: Sequence[Measurement], *, attribute: str, failed_tests: Sequence[str] = ()
) -> Verdict:
    """Return the verdict of a policy on an audit.

    Parameters
    ----------
    measurements : sequence of Measurement
        One a check at most. A check without one counts as not run where the policy sets a limit to it, and blocks
        where it is required.
    attribute : str
        What the sensitive attribute is called.
    failed_tests : sequence of str
        Attacks for which FairLeak's test of itself failed. Where there is one, no release passes: what would pass is
        inconclusive, as a detector that is known to be wrong has found nothing.

    Returns
    -------
    Verdict
        A row for every check of `core.policy.CHECKS`; those without a limit are "not_asked" and never block.

    Raises
    ------
    InputError
        The policy breaks a rule; a measurement is of no known check, is the second of its check, or holds a number its
        check cannot take.
    """
    check_policy(policy)
    found = _by_check(measurements)
    limits = {limit.check: (item, limit) for item, limit in enumerate(policy.limits, start=1)}
    claims = {name: claim for name, (_, limit) in limits.items() if (claim := _claim(limit, found.get(name)))}
    decisions = decide(claims, level=policy.level)
    asked = [_asked(item, limit, found.get(name), decisions.get(name)) for name, (item, limit) in limits.items()]
    rows = [*asked, *(_not_asked(name, found.get(name)) for name in CHECKS if name not in limits)]
    rows.sort(key=lambda row: list(Status).index(row.verdict))  # stable: within a verdict the policy's order stays
    named = tuple(replace(row, title=_title(CHECKS[row.check], attribute)) for row in rows)
    headline, detail = headline_and_detail(named, level=policy.level, failed_tests=failed_tests)
    worst = overall(named, failed_tests=failed_tests)
    return Verdict(overall=worst, headline=headline, detail=detail, rows=named, policy=policy)


def _by_check(measurements: Sequence[Measurement]) -> Mapping[str, Measurement]:
    found: dict[str, Measurement] = {}
    for measurement in measurements:
        name = measurement.check
        if name not in CHECKS:
            raise InputError(f"check of a measurement must be one of {', '.join(CHECKS)}, got {told(name)}.")
        if name in found:
            raise InputError(f"A check must have one measurement at most, got two of {name}.")
        _check_measurement(measurement)
        found[name] = measurement
    return found


def _check_measurement(measurement: Measurement) -> None:
    name, estimate, freedom = measurement.check, measurement.estimate, measurement.freedom
    if measurement.outcome not in tuple(Outcome):
        raise InputError(f"outcome of {name} must be one of {', '.join(Outcome)}, got {told(measurement.outcome)}.")
    if measurement.basis not in tuple(Basis):
        raise InputError(f"basis of {name} must be one of {', '.join(Basis)}, got {told(measurement.basis)}.")
    if freedom is not None and not freedom >= 1:
        raise InputError(f"freedom of {name} must be at least 1, got {told(freedom)}.")
    if estimate is None or math.isnan(estimate.value):
        return
    if not in_range(float(estimate.value), name):
        raise InputError(f"The measured value of {name} must be one its unit can take, got {told(estimate.value)}.")
    if not 0.0 < estimate.level < 1.0:
        raise InputError(f"level of {name} must be in (0, 1), got {told(estimate.level)}.")
    if estimate.low > estimate.high or math.isinf(estimate.low) or math.isinf(estimate.high):
        raise InputError(f"The interval of {name} must be finite and in order, got {estimate.low} to {estimate.high}.")


def _claim(limit: Limit, measurement: Measurement | None) -> Claim | None:
    """Return what is to be decided, or None where there is no number."""
    if measurement is None or measurement.outcome != Outcome.DONE or measurement.estimate is None:
        return None
    if math.isnan(measurement.estimate.value):
        return None
    at_least = CHECKS[limit.check].at_least
    return Claim(
        estimate=measurement.estimate, limit=float(limit.value), at_least=at_least, freedom=measurement.freedom
    )


def _asked(item: int, limit: Limit, measurement: Measurement | None, decision: Decision | None) -> CheckVerdict:
    verdict = decision.verdict if decision else Status.NOT_RUN
    row = CheckVerdict(
        check=limit.check,
        verdict=verdict,
        limit=limit,
        item=item,
        measurement=measurement,
        decided=decision.decided if decision else None,
        p_value=decision.p_value if decision else math.nan,
        p_adjusted=decision.p_adjusted if decision else math.nan,
        why=_why(limit, measurement, decision) if decision and measurement else _why_not_run(limit, measurement),
        blocks=limit.required and verdict != Status.PASS,
    )
    return replace(row, blocks=False) if row.excused else row


def _not_asked(name: str, measurement: Measurement | None) -> CheckVerdict:
    return CheckVerdict(
        check=name,
        verdict=Status.NOT_ASKED,
        limit=None,
        item=0,
        measurement=measurement,
        decided=None,
        p_value=math.nan,
        p_adjusted=math.nan,
        why="The policy sets no limit to it.",
        blocks=False,
    )


def _why(limit: Limit, measurement: Measurement, decision: Decision) -> str:
    limited = limit_text(limit.check, limit.value)
    if decision.decided:
        interval = range_text(limit.check, decision.decided, limit.value)
        told_at = f"{interval} at {level_text(decision.decided.level)} confidence"
        return {
            Status.PASS: f"The whole interval, {told_at}, keeps to the limit of {limited}.",
            Status.FAIL: f"The whole interval, {told_at}, breaks the limit of {limited}.",
            Status.INCONCLUSIVE: f"The interval, {told_at}, holds the limit of {limited}. "
            + _settling(limit, measurement, decision),
        }[decision.verdict]
    if decision.verdict == Status.INCONCLUSIVE or measurement.estimate is None:
        return f"There is no interval, so it cannot be told whether the limit of {limited} is kept."
    value = value_text(limit.check, measurement.estimate.value, limit=limit.value)
    does = "keeps to" if decision.verdict == Status.PASS else "breaks"
    how = "Computed from what was declared" if measurement.basis == Basis.DECLARED else "Without an interval"
    return f"{how}, {value} {does} the limit of {limited}."


def _settling(limit: Limit, measurement: Measurement, decision: Decision) -> str:
    """Say how many more people would settle it: the interval then ends at the limit, n · (half width / distance)²."""
    found = decision.decided
    assert found is not None
    value, bound, unit = found.value, float(limit.value), "people" if measurement.freedom is None else "repeats"
    half, distance = (value - found.low if bound < value else found.high - value), abs(value - bound)
    if half > math.sqrt(_MOST_TIMES) * distance or distance == 0.0:
        return f"Not even {_MOST_TIMES} times as many {unit} would settle it: decide in writing."
    needed = math.ceil(found.n * (half / distance) ** 2)
    digits = max(0, len(str(needed)) - 2)
    needed = math.ceil(needed / 10**digits) * 10**digits
    beyond = (value > bound) != CHECKS[limit.check].at_least
    outcome = "likely as a fail, as the estimate is beyond the limit" if beyond else "likely as a pass"
    return f"About {needed:,} {unit} in place of {found.n:,} would settle it, {outcome}."


def _why_not_run(limit: Limit, measurement: Measurement | None) -> str:
    if measurement is None:
        needs = ", ".join(CHECKS[limit.check].needs)
        return f"The audit has no measurement of it; it needs {needs}."
    if measurement.reason:
        return measurement.reason
    if measurement.outcome == Outcome.FAILED:
        return "It was begun and broke, and no reason was given."
    if measurement.outcome == Outcome.DONE:
        return "There was nothing to measure."
    return "It was not run, and no reason was given."


def _title(check: Check, attribute: str) -> str:
    title = check.title.format(attribute=attribute)
    return title[:1].upper() + title[1:]
