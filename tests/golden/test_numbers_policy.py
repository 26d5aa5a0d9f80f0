"""Verdicts of policies on invented measurements are as they were: p-values, Holm's steps, words, what settles them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from core.estimates import Estimate, not_measured
from core.policy import (
    CHECKS,
    UNITS,
    CheckVerdict,
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
    placeholders_text,
    policy_text,
    predictions_policy,
    read_policy,
    redacted_of,
    value_text,
    what_would_settle,
)
from core.policy.decisions import Claim, _half_widths, _p_value, at_alpha, decide, p_value
from core.policy.limits import check_policy, in_range, range_text
from core.policy.verdict import _number, _two_digits, earlier_words, on_scale, times_needed
from core.study import Basis, Measurement, Outcome
from core.subject import SETS_UNKNOWN
from tests import policy_samples
from tests.golden.numbers import Named, compare_numbers, refused

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

LIMITS = (-0.09, 0.0, 0.02, 0.05, 0.06, 0.1, 0.1000001, 0.13)


def found(values: tuple[float, float, float], n: int = 400, level: float = 0.95) -> Estimate:
    value, low, high = values
    return Estimate(value=value, low=low, high=high, n=n, level=level)


def in_decisions() -> Named:
    """Claims one by one and together."""
    for name, values in ESTIMATES.items():
        estimate = found(values)
        ends = [at_alpha(estimate, alpha, freedom=freedom) for alpha in (0.05, 0.01) for freedom in (None, 3)]
        yield f"{name}, half widths", [*_half_widths(estimate), [[one.low, one.high, one.level] for one in ends]]
        for freedom in (None, 1, 4):
            claims = [Claim(estimate=estimate, limit=limit, freedom=freedom) for limit in LIMITS]
            yield f"{name}, {freedom}, p", [p_value(estimate, limit, freedom=freedom) for limit in LIMITS]
            yield (
                f"{name}, {freedom}, p of claims",
                [[_p_value(one, alpha) for one in claims] for alpha in (0.1, 0.05, 0.01)],
            )
            yield f"{name}, {freedom}", [[one.kept, one.computed, one.bounded, one.within] for one in claims]
        yield f"{name}, at least", [Claim(estimate=estimate, limit=limit, at_least=True).kept for limit in LIMITS]
    for limit in LIMITS:
        for freedom, level, own in (
            (None, 0.95, 0.95),
            (None, 0.9, 0.95),
            (4, 0.95, 0.95),
            (None, 0.99, 0.9),
            (2, 0.5, 0.95),
        ):
            claims = {
                name: Claim(estimate=found(values, level=own), limit=limit, at_least=name == "wide", freedom=freedom)
                for name, values in ESTIMATES.items()
            }
            rows = decide(claims, level=level).values()
            ends = [(row.decided.low, row.decided.high, row.decided.level) for row in rows if row.decided]
            yield f"together {limit}, {freedom}, {level}, {own}", [row.verdict for row in rows]
            yield f"together {limit}, {freedom}, {level}, {own}, p", [[row.p_value, row.p_adjusted] for row in rows]
            yield f"together {limit}, {freedom}, {level}, {own}, decided", np.array(ends)


UNIT_OF = {"points": "attribute_excess", "percent": "targeted_leakage", "gap": "unfairness", "ratio": "four_fifths"} | {
    "bits": "attribute_bits",
    "columns": "attriguard_cost",
}


def in_words() -> Named:
    """Values, intervals and limits in the units of their checks."""
    assert {unit: CHECKS[check].unit for unit, check in UNIT_OF.items()} == {unit: unit for unit in UNITS}
    for unit, check in UNIT_OF.items():
        for value in (-1.0, -0.0004, 0.0, 0.05, 0.0499996, 0.8, 1.0, 3.0, 1234.5, math.nan):
            estimate = found((value, value - 0.03, value + 0.011))
            beside = [value_text(check, value, limit=limit) for limit in (None, 0.05, 0.8, 3.0)]
            yield f"{unit} {value}", [beside, limit_text(check, value), refused(in_range, value, check)]
            words = [estimate_text(check, estimate, limit=limit) for limit in (None, 0.05, value + 0.0111)]
            yield f"{unit} {value}, estimate", [words, range_text(check, estimate, 0.05), control_text(check, estimate)]
        for values in ESTIMATES.values():
            yield f"{unit} {values}", estimate_text(check, found(values))
    yield "in range", [in_range(value, "attriguard_cost") for value in (1e9, 1e9 - 1, -1e-9, True, "1", math.inf)]
    yield "no check", in_range(0.1, "nothing")
    yield "digits", [_two_digits(number) for number in (0.0, 0.5, 9.0, 99.0, 100.0, 101.5, 12345.0)]
    yield "numbers", [_number(value) for value in (0.0, 0.0004, 0.0005, -0.0005, 1.0, 2.0, -3.0, 12345.0, 0.1234)]
    for policy in (default_policy(), predictions_policy()):
        yield f"{policy.name}", [placeholders_text(policy), placeholders_text(policy, signed=True)]
        yield f"{policy.name}, limits", [limit_text(one.check, one.value) for one in policy.limits]
        yield f"{policy.name}, read again", read_policy(policy_text(policy), name="x") == policy
    one = policy_samples.policy(attribute_excess=0.05, four_fifths=0.8)
    yield "placeholders", [[is_placeholder(limit) for limit in one.limits], placeholders_text(one)]
    starting = tuple(Limit(check=check, value=0.5, author="FairLeak") for check in list(CHECKS)[:3])
    for n in (1, 2, 3):
        own = Policy(name="P", version="1", limits=(*starting[:n], *one.limits))
        yield f"{n} placeholders", [placeholders_text(own), placeholders_text(own, signed=True)]
    yield "redacted", [bool(redacted_of(check).attacked) for check in CHECKS]
    for name, policy in {
        "none": policy_samples.policy(),
        "none required": policy_samples.policy(four_fifths=0.8, optional=("four_fifths",)),
        "twice": Policy(name="P", version="1", limits=(*one.limits, *one.limits[:1])),
        "out of range": policy_samples.policy(four_fifths=1.1),
    }.items():
        yield f"policy, {name}", refused(check_policy, policy)


def measurement(rng: np.random.Generator, check: str, limit: float, kind: str) -> Measurement | None:
    """Return a measurement of a kind, near a limit."""
    unit = UNITS[CHECKS[check].unit]
    value = float(
        np.clip(limit + rng.choice([-0.2, -0.05, -0.01, 0.0, 0.002, 0.03, 0.3]), unit.least, min(unit.most, 5.0))
    )
    if kind == "none":
        return None
    if kind in ("failed", "not_run"):
        reason = str(rng.choice(["", "Not here.", SETS_UNKNOWN]))
        return Measurement(check=check, outcome=Outcome(kind), reason=reason)
    below, above = (float(width) for width in rng.choice([0.0, 0.002, 0.01, 0.05, 0.2], 2))
    if kind in ("computed", "bare"):
        below = above = 0.0 if kind == "computed" else math.nan
    freedom = 4 if kind == "repeats" else None
    basis = Basis.DECLARED if kind == "computed" else Basis.COMBINED if kind == "repeats" else Basis.MEASURED
    control = rng.choice([None, found((0.5, 0.4, 0.62)), found((0.5, 0.5, 0.5)), not_measured()])
    return Measurement(
        check=check,
        estimate=found((value, value - below, value + above), n=int(rng.choice([0, 40, 1000]))),
        freedom=freedom,
        basis=basis,
        control=control,
        control_name=str(rng.choice(["", "chance"])),
        details={"people": float(rng.choice([0.0, 12.0, 1234.0])), "share": 0.25, "loss": -0.1234}
        if kind == "repeats"
        else None,
        assumptions=("One.", "Two."),
    )


KINDS = ("measured", "measured", "measured", "repeats", "computed", "bare", "failed", "not_run", "none", "withheld")


def judged(seed: int) -> Verdict:
    """Return the verdict of a policy of a few limits on measurements near these."""
    rng = np.random.default_rng(seed)
    checks = [str(name) for name in rng.choice(list(CHECKS)[:15], int(rng.integers(1, 8)), replace=False)]
    limits, made = [], []
    kinds = ["measured"] * len(checks) if seed % 3 == 0 else rng.choice(KINDS, len(checks))
    for place, (check, kind) in enumerate(zip(checks, kinds, strict=True)):
        value = float(rng.choice([0.0, 0.05, 0.5, 0.8]))
        limits.append(
            Limit(
                check=check,
                value=value,
                required=place == 0 or bool(rng.random() < 0.7),
                if_not_run=str(rng.choice(["blocks", "allowed"])),
                author=str(rng.choice(["", "A. Officer", "FairLeak"])),
                date=str(rng.choice(["", "2026-11-22"])),
                source=str(rng.choice(["", "Law, § 3", "A long source of many words, " * 3])),
            )
        )
        if (one := measurement(rng, check, value, kind)) is not None:
            made.append(one)
    policy = Policy(name="P", version="1", level=float(rng.choice([0.9, 0.95])), limits=tuple(limits))
    if seed % 4 == 3:
        made.append(
            Measurement(check=next(name for name in CHECKS if name not in checks), estimate=found((0.3, 0.1, 0.5)))
        )
    return judge(policy, made, attribute="origin", failed_tests=("Loss",) * (seed % 5 == 4))


def in_verdicts() -> Named:
    """Verdicts, their reasons, and what would settle them."""
    for seed in range(16):
        verdict = judged(seed)
        yield f"{seed}", [verdict.overall, verdict.headline, verdict.detail, earlier_words(verdict.detail)]
        for row in verdict.rows:
            if row.limit is None and row.measurement is None:
                continue
            told_of = [row.verdict, row.why, row.blocks, row.excused, row.counts, row.measured, row.withheld, row.basis]
            yield f"{seed} {row.check}", [*told_of, row.number, row.control, row.brief, row.item]
            yield f"{seed} {row.check}, settled by", [what_would_settle(row), what_would_settle(row, table=True)]
            yield f"{seed} {row.check}, at", bullet(row)
            if seed in (1, 3):
                yield f"{seed} {row.check}, lines", [[name, text] for name, text in row.lines]
    limits = {"unfairness": 0.1, "attribute_excess": 0.05, "targeted_leakage": 0.8, "membership_gap": 0.3}
    for n in range(1, 5):
        for level, optional in ((0.9, ()), (0.95, tuple(limits)[n - 1 : 4])):
            policy = policy_samples.policy(level=level, optional=optional[: n - 1], **dict([*limits.items()][:n]))
            kept = [policy_samples.done(check, 0.01, 0.001) for check in limits]
            kept[2] = policy_samples.done("targeted_leakage", 0.5, basis=Basis.DECLARED)
            for failed in ((), ("Loss", "Ties")):
                verdict = judge(policy, kept, attribute="origin", failed_tests=failed)
                yield f"kept {n}, {level}, {failed}", [verdict.overall, verdict.headline, verdict.detail]
    for limit in (0.0, 0.06, 0.07, 0.0701, 0.09, 0.1):
        yield f"times {limit}", [times_needed(found(values), limit) for values in ESTIMATES.values()]
        estimate = found((0.07, 0.0, 0.14))
        yield f"scale {limit}", on_scale(limit, estimate, middle=0.07, span=0.07)
    hidden = CheckVerdict(
        check="unfairness", verdict="inconclusive", why="", measurement=Measurement(check="unfairness")
    )
    yield "withheld", [hidden.value, hidden.withheld, hidden.measured, what_would_settle(hidden), bullet(hidden)]
    for values, freedom in (
        ((0.2, 0.3, 0.1), None),
        ((0.2, -math.inf, 0.3), None),
        ((1.2, 1, 2), None),
        ((0.1, 0, 0.2), 0),
    ):
        wrong = Measurement(check="unfairness", estimate=found(values), freedom=freedom)
        yield f"wrong {values}", refused(judge, policy_samples.policy(unfairness=0.1), [wrong], attribute="origin")
    one = policy_samples.done("unfairness", 0.1, 0.02)
    yield "two", refused(judge, policy_samples.policy(unfairness=0.1), [one, one], attribute="origin")


CASES: dict[str, Callable[[], Named]] = {"decisions": in_decisions, "words": in_words, "verdicts": in_verdicts}


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_policies(case: str) -> None:
    compare_numbers(f"policy_{case}", CASES[case]())
