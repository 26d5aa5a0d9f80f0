"""Verdicts of policies on invented measurements are as they were, and so are their words and what settles them."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from core.auditing.policy import (
    CHECKS,
    UNITS,
    Limit,
    Policy,
    Verdict,
    bullet,
    control_text,
    default_policy,
    estimate_text,
    is_placeholder,
    judge,
    limit_text,
    next_step,
    placeholders_text,
    policy_text,
    predictions_policy,
    read_policy,
    value_text,
)
from core.auditing.policy.limits import in_range, range_text
from core.auditing.policy.verdict import _number, _two_digits, bullet_on_scale, times_more_records
from core.stats.estimates import Estimate
from core.studies.study import Basis, Measurement
from tests import policy_samples
from tests.golden.numbers import NamedValues, compare_numbers, refused
from tests.golden.test_golden_audits import REPORTS

ESTIMATES = {
    "lopsided": (0.07, 0.06, 0.10),
    "to the end": (0.1, 0.02, 0.1),
    "outside": (0.1, 0.11, 0.14),
    "computed": (0.05, 0.05, 0.05),
    "rounded": (0.05 + 1e-13, 0.05 + 1e-13, 0.05 + 1e-13),
    "no interval": (0.05, math.nan, math.nan),
    "half an interval": (0.05, 0.01, math.nan),
    "below 0": (-0.04, -0.09, 0.02),
    "wide": (0.3, 0.05, 0.7),
}


def estimate_of(values: tuple[float, float, float], n: int = 400, level: float = 0.95) -> Estimate:
    value, low, high = values
    return Estimate(value=value, low=low, high=high, n=n, level=level)


UNIT_OF = {
    "points": "attribute_excess",
    "percent": "targeted_leakage",
    "gap": "unfairness",
    "ratio": "four_fifths",
    "bits": "attribute_bits",
    "columns": "attriguard_cost",
}


def in_sentences() -> NamedValues:
    """Values, intervals and limits in the units of their checks."""
    assert {unit: CHECKS[check].unit for unit, check in UNIT_OF.items()} == {unit: unit for unit in UNITS}
    for unit, check in UNIT_OF.items():
        for value in (-1.0, -0.0004, 0.0, 0.05, 0.0499996, 0.8, 1.0, 3.0, 1234.5, math.nan):
            estimate = estimate_of((value, value - 0.03, value + 0.011))
            beside = [value_text(check, value, limit=limit) for limit in (None, 0.05, 0.8, 3.0)]
            yield f"{unit} {value}", [beside, limit_text(check, value), in_range(value, check)]
            texts = [estimate_text(check, estimate, limit=limit) for limit in (None, 0.05, value + 0.0111)]
            yield f"{unit} {value}, estimate", [texts, range_text(check, estimate, 0.05), control_text(check, estimate)]
        for values in ESTIMATES.values():
            yield f"{unit} {values}", estimate_text(check, estimate_of(values))
    yield "in range", [in_range(value, "attriguard_cost") for value in (1e9, 1e9 - 1, -1e-9, True, "1", math.inf)]
    yield "no check", in_range(0.1, "nothing")
    yield "digits", [_two_digits(number) for number in (0.0, 0.5, 9.0, 99.0, 100.0, 101.5, 12345.0)]
    yield "numbers", [_number(value) for value in (0.0, 0.0004, 0.0005, -0.0005, 1.0, 2.0, -3.0, 12345.0, 0.1234)]
    for policy in (default_policy(), predictions_policy()):
        yield f"{policy.name}", [placeholders_text(policy), placeholders_text(policy, signed=True)]
        yield f"{policy.name}, limits", [limit_text(limit.check, limit.value) for limit in policy.limits]
        yield f"{policy.name}, read again", read_policy(policy_text(policy), name="x") == policy
    placeholder_policy = policy_samples.policy(attribute_excess=0.05, four_fifths=0.8)
    yield (
        "placeholders",
        [[is_placeholder(limit) for limit in placeholder_policy.limits], placeholders_text(placeholder_policy)],
    )
    starting = tuple(Limit(check=check, value=0.5, author="FairLeak") for check in list(CHECKS)[:3])
    for n in (1, 2, 3):
        policy_variant = Policy(name="P", version="1", limits=(*starting[:n], *placeholder_policy.limits))
        yield f"{n} placeholders", [placeholders_text(policy_variant), placeholders_text(policy_variant, signed=True)]


def sketched(required: str, optional: str = "") -> Verdict:
    """Return a verdict on checks that fail, are inconclusive, not run or passed, by their first letters."""
    kinds = dict(zip((name for name in CHECKS if not CHECKS[name].at_least), required + optional, strict=False))
    values = {"f": 0.9, "i": 0.5, "p": 0.1}
    measurements = [policy_samples.done(name, values[kind], 0.01) for name, kind in kinds.items() if kind in values]
    policy = policy_samples.policy(optional=tuple(kinds)[len(required) :], **dict.fromkeys(kinds, 0.5))
    return judge(policy, measurements, attribute="sex")


def in_verdicts() -> NamedValues:
    """Verdicts, their reasons, and what would settle them."""
    for seed in range(6):
        verdict = REPORTS[seed].audit.verdict
        yield f"{seed}", [verdict.overall, verdict.headline, verdict.detail]
        for row in verdict.rows:
            if row.limit is None and row.measurement is None:
                continue
            told_of = [row.verdict, row.why, row.blocks, row.excused, row.is_decisive, row.measured, row.basis]
            yield f"{seed} {row.check}", [*told_of, row.number, row.control, row.brief, row.item]
            yield f"{seed} {row.check}, settled by", [next_step(row), next_step(row, table=True)]
            yield f"{seed} {row.check}, at", bullet(row)
            if seed in (1, 3):
                yield f"{seed} {row.check}, lines", [[name, text] for name, text in row.lines]
    for kinds in ("f", "fff", "fiin", "iinp", "nnn", "f fipp", "f f", "f ff", "f ppp", "p", "p f"):
        verdict = sketched(*kinds.split())
        yield f"sketch {kinds}", [verdict.headline, verdict.detail]
    limits = {"unfairness": 0.1, "attribute_excess": 0.05, "targeted_leakage": 0.8, "membership_gap": 0.3}
    for n in range(1, 5):
        for level, optional in ((0.9, ()), (0.95, tuple(limits)[n - 1 : 4])):
            policy = policy_samples.policy(level=level, optional=optional[: n - 1], **dict([*limits.items()][:n]))
            measurements = [policy_samples.done(check, 0.01, 0.001) for check in limits]
            measurements[2] = policy_samples.done("targeted_leakage", 0.5, basis=Basis.DECLARED)
            for failed in ((), ("Loss", "Ties")):
                verdict = judge(policy, measurements, attribute="origin", failed_tests=failed)
                yield f"kept {n}, {level}, {failed}", [verdict.overall, verdict.headline, verdict.detail]
    for limit in (0.0, 0.06, 0.07, 0.0701, 0.09, 0.1):
        yield f"times {limit}", [times_more_records(estimate_of(values), limit) for values in ESTIMATES.values()]
        estimate = estimate_of((0.07, 0.0, 0.14))
        yield f"scale {limit}", bullet_on_scale(limit, estimate, middle=0.07, span=0.07)
    for values, freedom in (
        ((0.2, 0.3, 0.1), None),
        ((0.2, -math.inf, 0.3), None),
        ((1.2, 1, 2), None),
        ((0.1, 0, 0.2), 0),
    ):
        wrong = Measurement(check="unfairness", estimate=estimate_of(values), freedom=freedom)
        yield f"wrong {values}", refused(judge, policy_samples.policy(unfairness=0.1), [wrong], attribute="origin")
    measurement = policy_samples.done("unfairness", 0.1, 0.02)
    yield "two", refused(judge, policy_samples.policy(unfairness=0.1), [measurement, measurement], attribute="origin")


CASES: dict[str, Callable[[], NamedValues]] = {"words": in_sentences, "verdicts": in_verdicts}


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_policies(case: str) -> None:
    compare_numbers(f"policy_{case}", CASES[case]())
