"""What two reports say of each other is as it was: changes of checks and of settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.auditing.policy.decisions import LimitTest
from core.report.comparison import (
    CheckChange,
    _brought,
    _decided,
    _equal,
    _overall,
    _rank,
    change_between,
    change_range,
    change_text,
    compare,
    since,
)
from core.stats.estimates import Estimate, certain
from core.studies.study import Measurement, Outcome
from tests.golden.numbers import NamedValues, compare_numbers
from tests.samples_report import POLICY, altered_report, estimate, report

NONE = Measurement(check="unfairness", outcome=Outcome.NOT_RUN, reason="Not here.")
AFTER: dict[str, dict[str, Any]] = {
    "worse": {"correction_gain": estimate(0.2, 0.01), "unfairness": estimate(0.3, 0.01)},
    "not run": {"unfairness": NONE, "correction_gain": estimate(0.071, 0.2)},
    "repeats": {"answers_excess": Measurement(check="answers_excess", estimate=estimate(0.02, 0.01, 5), freedom=4)},
}


def in_reports() -> NamedValues:
    """Two reports beside each other, with a margin: what pages say of every check."""
    for name, measurements in AFTER.items():
        both = compare(report(), report(measurements, started="2027-01-08T09:00:00Z"), margin=0.02)
        yield f"{name}, 0.02, internal", [both.verdict, both.headline, both.detail, both.same_people, both.since]
        for check_change in both.checks:
            texts = [
                check_change.check,
                check_change.turn,
                check_change.required,
                check_change.was,
                check_change.now,
                check_change.within,
                check_change.why,
                change_text(check_change),
            ]
            numbers = [
                check_change.change and (check_change.change.low, check_change.change.high),
                check_change.p_adjusted,
                _rank(check_change),
                since(check_change),
            ]
            yield (
                f"{name}, 0.02, internal, {check_change.check}",
                [*texts, change_range(check_change, decided=True), numbers],
            )


def in_settings() -> NamedValues:
    """What reports say differently of data, model, plan, policy, code and seeds."""
    before = altered_report(report(), lambda document: document["provenance"].update(code="6" * 64))

    def changed(name: str, change: Callable[[dict[str, Any]], Any]) -> tuple[str, Any]:
        comparison = compare(before, altered_report(before, change))
        rows = [
            [setting_change.part, setting_change.what, setting_change.before, setting_change.after]
            for setting_change in comparison.changed
        ]
        return name, [
            rows,
            comparison.same_people,
            comparison.verdict,
            [check_change.turn for check_change in comparison.checks],
        ]

    yield changed("nothing", lambda after: None)
    yield changed("data", lambda after: after["data"].update(fingerprint="9" * 64, n=12345, title="Other"))
    yield changed("no fingerprint", lambda after: after["data"].update(fingerprint=""))
    yield changed("sets", lambda after: after["data"]["sets"].update(test=7))
    yield changed("features", lambda after: after["data"].update(features=["other", *after["data"]["features"][:1]]))
    yield changed("label", lambda after: after["data"].update(label="other"))
    yield changed("metric", lambda after: after["model"].update(metric="equalized_odds", fingerprint="8" * 64))
    yield changed("seed", lambda after: after["plan"]["config"].update(seed=1))
    yield changed("tolerance", lambda after: after["plan"]["config"].update(tolerance=0.5, epsilon=2.0))
    yield changed("roles", lambda after: after["plan"]["config"]["roles"].update(sets="part"))
    yield changed("model", lambda after: after["plan"]["model"].update(threshold=0.6, positive="grant"))
    yield changed("outputs", lambda after: after["plan"]["outputs"].update(decimals=2))
    yield changed("code", lambda after: after["provenance"].update(code="7" * 64, packages={"numpy": "1"}))
    yield changed("limit", lambda after: after["policy"]["limits"][0].update(value=0.5, required=False, source=""))
    yield changed("limit gone", lambda after: after["policy"]["limits"].pop())
    yield changed("level", lambda after: after["policy"].update(level=0.9, version="4"))
    policy = replace(POLICY, limits=POLICY.limits[2:])
    yield (
        "fewer limits",
        [
            [check_change.check, check_change.turn, check_change.limit]
            for check_change in compare(before, report(policy=policy)).checks
        ],
    )


def in_changes() -> NamedValues:
    """Changes of numbers, decided together."""
    numbers = {
        "wide": Estimate(value=0.1, low=0.02, high=0.13, n=50),
        "narrow": Estimate(value=0.12, low=0.11, high=0.15, n=90),
        "certain": certain(0.1, 7),
        "bare": Estimate(value=0.1, low=math.nan, high=math.nan, n=3),
        "at 90%": Estimate(value=0.3, low=0.2, high=0.35, n=60, level=0.9),
    }
    for was, before in numbers.items():
        yield (
            f"{was}, brought",
            [_brought(before, own_freedom, freedom) for own_freedom, freedom in ((None, None), (None, 3), (5, 3))],
        )
        for now, after in numbers.items():
            for freedoms in ((None, None), (4, None), (2, 7)):
                moved = [change_between(before, after, freedoms=freedoms, folded=folded) for folded in (False, True)]
                yield (
                    f"{was} to {now}, {freedoms}",
                    [
                        [estimate.value, estimate.low, estimate.high, estimate.n, own_freedom]
                        for estimate, own_freedom in moved
                    ],
                )
            yield f"{was} to {now}, equal", _equal(before, after)
    yield "equal", [_equal(certain(0.1, 1), certain(0.1 + off, 1)) for off in (1e-13, 1e-11, -1e-13, -1e-11)]
    rng = np.random.default_rng(2)
    for turn in range(12):
        pairs = []
        for check in ("unfairness", "four_fifths", "attribute_excess", "membership_auc")[: 1 + turn % 4]:
            value, (below, above) = (
                float(rng.choice([-0.1, -0.02, 0.0, 0.02, 0.1])),
                rng.choice([0.0, 0.01, 0.02, 0.08], 2),
            )
            change = Estimate(value=value, low=value - below, high=value + above, n=40)
            options = {"check": check, "title": check, "required": bool(rng.random() < 0.7), "turn": "new check"}
            check_change = CheckChange(before=certain(0.2, 1), after=certain(0.2 + value, 1), change=change, **options)
            claim = LimitTest(estimate=change, limit=0.0, at_least=check == "four_fifths")
            pairs.append((check_change, claim if rng.random() < 0.9 else None))
        for margin in (None, 0.02, 0.1):
            rows = _decided(pairs, margin)
            yield f"{turn}, {margin}", [[row.turn, row.within, row.p_adjusted] for row in rows]
            yield f"{turn}, {margin}, in all", [*_overall(rows, margin), [change_text(row, unit=False) for row in rows]]


CASES: dict[str, Callable[[], NamedValues]] = {
    "reports": in_reports,
    "settings": in_settings,
    "changes": in_changes,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_comparisons(case: str) -> None:
    compare_numbers(f"compare_{case}", CASES[case]())
