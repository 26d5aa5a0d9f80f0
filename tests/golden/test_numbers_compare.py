"""What two reports say of each other is as it was: changes of checks and settings, numbers within bounds or beyond."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.compare import change_between, change_text, compare
from core.compare.changed_settings import changed_settings
from core.compare.changes import CheckChange, _brought, _decided, _equal, _overall, _rank, change_range
from core.compare.comparison_files import _case, _evidence, since
from core.estimates import Estimate, certain
from core.policy.decisions import Claim
from core.release_audit import same_numbers
from core.release_audit.comparison import _bound, _half_interval, _places
from core.study import Measurement, Outcome
from tests.compared_reports import estimate, report
from tests.golden.numbers import Named, compare_numbers, refused
from tests.samples_report import POLICY

NONE = Measurement(check="unfairness", outcome=Outcome.NOT_RUN, reason="Not here.")
AFTER: dict[str, dict[str, Any]] = {
    "the same": {},
    "worse": {"correction_gain": estimate(0.2, 0.01), "unfairness": estimate(0.3, 0.01)},
    "better": {"correction_gain": estimate(0.01, 0.001), "four_fifths": estimate(0.9, 0.01)},
    "either": {"correction_gain": estimate(0.2, 0.01), "four_fifths": estimate(0.9, 0.01)},
    "a little": {"correction_gain": estimate(0.071, 0.004, 900), "membership_caught": estimate(0.098, 0.0)},
    "gone": {"correction_gain": None, "membership_gap": None},
    "not run": {"unfairness": NONE, "correction_gain": estimate(0.071, 0.2)},
    "no interval": {"unfairness": estimate(0.1, math.nan)},
    "all not run": {limit.check: replace(NONE, check=limit.check) for limit in POLICY.limits},
    "repeats": {"answers_excess": Measurement(check="answers_excess", estimate=estimate(0.02, 0.01, 5), freedom=4)},
    "computed": {"targeted_leakage": certain(0.9, 0), "membership_gap": estimate(0.2, 0.01)},
}


def in_reports() -> Named:
    """Two reports beside each other, with a margin and without."""
    before = report()
    for name, found in AFTER.items():
        for margin in (None, 0.02):
            for edition in ("internal", "disclosure") if margin is None else ("internal",):
                both = compare(before, report(found, edition=edition, started="2027-01-08T09:00:00Z"), margin=margin)
                yield (
                    f"{name}, {margin}, {edition}",
                    [both.verdict, both.headline, both.detail, both.same_people, both.since],
                )
                for one in both.checks:
                    said = [one.check, one.turn, one.required, one.was, one.now, one.within, one.why, change_text(one)]
                    numbers = [one.change and (one.change.low, one.change.high), one.p_adjusted, _rank(one), since(one)]
                    yield f"{name}, {margin}, {edition}, {one.check}", [*said, change_range(one, decided=True), numbers]
                    if margin is not None and name in ("worse", "not run", "repeats"):
                        yield f"{name}, {one.check}, in JUnit", [_case(one).outcome, _case(one).message, _evidence(one)]
    yield "back", [[one.check, one.turn] for one in compare(report(AFTER["gone"]), before).checks]
    broken = copy.deepcopy(before)
    broken["self_tests"][0]["passed"] = False
    for was, now in ((broken, before), (before, broken), (broken, broken), (broken, report(AFTER["worse"]))):
        yield "self-test", [compare(was, now).verdict, compare(was, now).headline]
    for margin in (0.0, -1.0, math.inf, math.nan):
        yield f"margin {margin}", refused(compare, before, before, margin=margin)


def in_settings() -> Named:
    """What reports say differently of data, model, plan, policy, code and seeds."""
    before = report()
    before["provenance"]["code"] = "6" * 64

    def changed(name: str, change: Callable[[dict[str, Any]], Any]) -> tuple[str, Any]:
        after = copy.deepcopy(before)
        change(after)
        found = compare(before, after)
        rows = [[one.part, one.what, one.before, one.after] for one in found.changed]
        return name, [rows, found.same_people, found.verdict, [one.turn for one in found.checks]]

    yield changed("nothing", lambda after: None)
    yield changed("data", lambda after: after["data"].update(fingerprint="9" * 64, n=12345, title="Other"))
    yield changed("no fingerprint", lambda after: after["data"].update(fingerprint=""))
    yield changed("sets", lambda after: after["data"]["sets"].update(test=7))
    yield changed("features", lambda after: after["data"].update(features=["other", *after["data"]["features"][:1]]))
    yield changed("label", lambda after: after["data"].update(label="other"))
    yield changed("metric", lambda after: after["model"].update(metric="equalized_odds", fingerprint="8" * 64))
    yield changed("seed", lambda after: after["plan"]["config"].update(seed=1))
    yield changed("tolerance", lambda after: after["plan"]["config"].update(tolerance=0.5, epsilon=2.0))
    yield changed("no tolerance", lambda after: after["plan"]["config"].update(tolerance=None))
    yield changed("outputs", lambda after: after["plan"]["outputs"].update(decimals=2))
    yield changed("code", lambda after: after["provenance"].update(code="7" * 64, packages={"numpy": "1"}))
    yield changed("limit", lambda after: after["policy"]["limits"][0].update(value=0.5, required=False, source=""))
    yield changed("limit gone", lambda after: after["policy"]["limits"].pop())
    yield changed("level", lambda after: after["policy"].update(level=0.9, version="4"))
    for name, edition in (("both external", "disclosure"), ("internal", "internal")):
        after = report(edition="disclosure", seed=3)
        rows = changed_settings(report(edition=edition), after)
        yield name, [[one.part, one.what, one.before, one.after] for one in rows]
    other = replace(POLICY, limits=POLICY.limits[2:])
    yield "fewer limits", [[one.check, one.turn, one.limit] for one in compare(before, report(policy=other)).checks]


def in_changes() -> Named:
    """Changes of numbers, decided together."""
    numbers = {
        "wide": Estimate(value=0.1, low=0.02, high=0.13, n=50),
        "narrow": Estimate(value=0.12, low=0.11, high=0.15, n=90),
        "certain": certain(0.1, 7),
        "bare": Estimate(value=0.1, low=math.nan, high=math.nan, n=3),
        "at 90%": Estimate(value=0.3, low=0.2, high=0.35, n=60, level=0.9),
    }
    for was, before in numbers.items():
        yield f"{was}, brought", [_brought(before, own, freedom) for own, freedom in ((None, None), (None, 3), (5, 3))]
        for now, after in numbers.items():
            for freedoms in ((None, None), (4, None), (2, 7)):
                moved = [change_between(before, after, freedoms=freedoms, folded=folded) for folded in (False, True)]
                yield f"{was} to {now}, {freedoms}", [[one.value, one.low, one.high, one.n, own] for one, own in moved]
            yield f"{was} to {now}, equal", _equal(before, after)
    yield "equal", [_equal(certain(0.1, 1), certain(0.1 + off, 1)) for off in (1e-13, 1e-11, -1e-13, -1e-11)]
    rng = np.random.default_rng(2)
    for turn in range(12):
        pairs = []
        for check in ("unfairness", "four_fifths", "attribute_excess", "membership_auc")[: 1 + turn % 4]:
            value, below, above = (
                float(rng.choice([-0.1, -0.02, 0.0, 0.02, 0.1])),
                *rng.choice([0.0, 0.01, 0.02, 0.08], 2),
            )
            change = Estimate(value=value, low=value - below, high=value + above, n=40)
            found = CheckChange(
                check=check, title=check, required=bool(rng.random() < 0.7), turn="new check", change=change
            )
            found = replace(found, before=certain(0.2, 1), after=certain(0.2 + value, 1))
            pairs.append(
                (
                    found,
                    Claim(estimate=change, limit=0.0, at_least=check == "four_fifths") if rng.random() < 0.9 else None,
                )
            )
        for margin in (None, 0.02, 0.1):
            rows = _decided(pairs, margin)
            yield f"{turn}, {margin}", [[one.turn, one.within, one.p_adjusted] for one in rows]
            yield f"{turn}, {margin}, in all", [*_overall(rows, margin), [change_text(one, unit=False) for one in rows]]


def in_replays() -> Named:
    """Numbers of one audit made twice: the same, within bounds, or different."""
    old: dict[str, Any] = {
        "verdict": {"overall": "fail", "checks": [{"check": "a", "p_value": 0.02, "p_adjusted": 0.04, "blocks": True}]},
        "policy": {"level": 0.95},
        "measurements": [
            {
                "check": "a",
                "estimate": {"value": 0.1, "low": 0.08, "high": 0.12, "n": 100},
                "details": {"x": 3, "y": 0.5},
            },
            {"check": "b", "estimate": {"value": -0.5, "low": -0.5, "high": None, "n": 9}, "details": {}},
        ],
        "groups": [{"group": "u", "count": 5, "rate": 0.25}, {"group": "v", "count": 0, "rate": -0.0}],
        "model": {"fingerprint": "a", "achieved": 0.005, "notes": ["One."]},
        "tables": [{"title": "T", "rows": [["r", 0.8, 12]]}],
        "provenance": {"python": "1", "code": "c", "seeds": {"audit": 1}, "policy": "p"},
        "times": {"seconds": 1.0},
    }
    changes: dict[str, Callable[[dict[str, Any]], Any]] = {
        "nothing": lambda new: new["times"].update(seconds=2.0),
        "overall": lambda new: new["verdict"].update(overall="pass"),
        "p": lambda new: new["verdict"]["checks"][0].update(p_value=0.02 + 9e-7, p_adjusted=0.2),
        "p beyond": lambda new: new["verdict"]["checks"][0].update(p_value=0.02 + 1.1e-6, p_adjusted=0.2001),
        "estimate": lambda new: new["measurements"][0]["estimate"].update(value=0.1 + 0.99e-7, low=0.082),
        "estimate beyond": lambda new: new["measurements"][0]["estimate"].update(value=0.1 + 1.01e-7, low=0.0821),
        "half an estimate": lambda new: new["measurements"][1]["estimate"].update(value=-0.5051),
        "n": lambda new: new["measurements"][0]["estimate"].update(n=101),
        "details": lambda new: new["measurements"][0]["details"].update(x=4, y=0.5049),
        "details renamed": lambda new: new["measurements"][0].update(details={"z": 3, "w": 0.51}),
        "a detail more": lambda new: new["measurements"][0]["details"].update(z=4),
        "count": lambda new: new["groups"][0].update(count=6, rate=0.2525),
        "zero": lambda new: new["groups"][1].update(rate=0.0),
        "group gone": lambda new: new["groups"].pop(),
        "fingerprint": lambda new: new["model"].update(fingerprint="b", notes=["One.", "Two."]),
        "table": lambda new: new["tables"][0].update(title="U", rows=[["s", 0.807, 13]]),
        "environment": lambda new: new["provenance"].update(python="2"),
        "inputs": lambda new: new["policy"].update(level=0.9500000001),
        "seeds": lambda new: new["provenance"]["seeds"].update(audit=2),
        "findings": lambda new: new.update(findings=[], more=1),
    }
    for name, change in changes.items():
        for elsewhere in (False, True):
            new = copy.deepcopy(old)
            change(new)
            if elsewhere:
                new["provenance"]["code"] = "d"
            for one, other in ((old, new), (new, old)):
                found = same_numbers(one, other)
                rows = [
                    [each.path, each.kind, each.bound, each.within] for each in (*found.differences, *found.wording)
                ]
                yield f"{name}, {elsewhere}", [found.status, found.compared, len(found.environment), rows]
    for kind in ("estimate", "p_value", "number", "exact", "wording"):
        yield (
            f"bound {kind}",
            [_bound(kind, value, 0.3, same=same) for value in (-0.2, 0.0, 5.0) for same in (True, False)],
        )
    yield "half", [_half_interval({"value": 1.0, "low": low, "high": 2.0}) for low in (1.0, None, True, math.nan)]
    yield (
        "places",
        [
            _places(rows)
            for rows in ([], [{"check": "a"}, {"check": "a", "group": "b"}], [{"name": "a"}, {"name": "b"}], [1, 2])
        ],
    )


CASES: dict[str, Callable[[], Named]] = {
    "reports": in_reports,
    "settings": in_settings,
    "changes": in_changes,
    "replays": in_replays,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_comparisons(case: str) -> None:
    compare_numbers(f"compare_{case}", CASES[case]())
