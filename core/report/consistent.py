"""What in a report follows from other parts of it, computed again from these.

Sizes of sets and groups, rates that are whole counts of people, the unfairness and the ratio that the groups' rates
give, the bound that the planned answers declare, what the self-test allows, and settings that stand twice. The
disclosure edition withholds most of this: there only what is printed is compared, to the digits it is printed with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from core.errors import InputError
from core.estimates import proportion
from core.report.canonical import strict
from core.report.document import GROUP_RATES, METRIC_RATES, Document
from core.report.numbers import estimate_of, number_of

_MODEL_RATES = ("accuracy_train", "accuracy_test", "majority_test")

_ALIKE = 1e-6

_ROUNDED = 5e-4
"""How far a computed number of the disclosure edition may lie from the one it was rounded from."""


def contradictions(found: Document) -> list[str]:
    """Return each part of a report that is not what other parts of it give, a clause each.

    Parameters
    ----------
    found : dict
        A document that keeps to the schema.
    """
    internal = found["edition"] == "internal"
    pairs = [*_settings(found), *_measured(found), *_self_tests(found)]
    if internal:
        pairs += [*_sizes(found), *_rates(found), *_gains(found)]
    alike = _ALIKE if internal else _ROUNDED + _ALIKE
    told = [
        f"{name} is {_quoted(old)}, computed again it is {_quoted(new)}"
        for name, old, new in pairs
        if not same_value(old, new, alike)
    ]
    told += [*_too_many(found), *_no_day(found)]
    return told + ([*_plan(found), *_whole(found)] if internal else [])


_Pairs = Iterator[tuple[str, Any, Any]]
"""What it is, what is stated, what follows."""


def _settings(found: Document) -> _Pairs:
    plan, model = found["plan"], found["model"]
    yield "the model's kind", model["kind"], plan["model"]["kind"]
    for name in ("metric", "tolerance"):
        yield f"the model's {name}", model[name], plan["config"][name]
    if "audit" in found["provenance"]["seeds"]:
        yield "the audit's seed", found["provenance"]["seeds"]["audit"], plan["config"]["seed"]


def _measured(found: Document) -> _Pairs:
    """Yield numbers of checks that follow from the model's summary, the groups or the plan."""
    from core.decision.measures.targeted_leakage import declared_limits
    from core.decision.plan import PlannedAnswers

    estimates = {m["check"]: m["estimate"] for m in found["measurements"] if m["outcome"] == "done" and m["estimate"]}
    gap, ratio = estimates.get("unfairness"), estimates.get("four_fifths")
    if gap and found["model"]["unfairness_test"]:
        for end in ("value", "low", "high", "n"):
            yield f"unfairness ({end})", gap[end], found["model"]["unfairness_test"][end]
    if found["edition"] == "internal":  # what rounded rates give may be far off
        if gap and found["model"]["metric"] in METRIC_RATES:
            compared = METRIC_RATES[found["model"]["metric"]]
            yield "unfairness", gap["value"], max(_gap([g[rate] for g in found["groups"]]) for rate in compared)
        rates = [number_of(g["test_rate"]["value"]) for g in found["groups"] if g["test_rate"]["n"]]
        if ratio and any(rates):
            yield "four_fifths", ratio["value"], min(rates) / max(rates)
    if "targeted_leakage" in estimates:
        planned = PlannedAnswers(
            **{**found["plan"]["answers"], "epsilon": number_of(found["plan"]["answers"]["epsilon"])}
        )
        yield "targeted_leakage", estimates["targeted_leakage"]["value"], declared_limits(planned)[0]


def _gap(rates: list[Any]) -> float:
    """Return the largest distance of a group's rate from everybody's; 0 where nobody has one."""
    there = [(number_of(rate["value"]), rate["n"]) for rate in rates if rate["n"]]
    overall = sum(value * n for value, n in there) / max(1, sum(n for _, n in there))
    return max((abs(value - overall) for value, _ in there), default=0.0)


def _self_tests(found: Document) -> _Pairs:
    from core.decision.self_test.running import TRIALS, passes
    from core.fingerprint import code_fingerprint

    tests = found["self_tests"]
    for test in tests:
        alarms, caught = estimate_of(test["false_alarms"]), estimate_of(test["detected"])
        if alarms and caught and alarms.n:
            yield f"“passed” of the self-test {test['attack']!r}", test["passed"], passes(alarms, caught)
    if tests and code_fingerprint() == found["provenance"]["code"]:
        yield "the self-test's list", [test["attack"] for test in tests], [trial.attack for trial in TRIALS]


def _sizes(found: Document) -> _Pairs:
    groups, data = found["groups"], found["data"]
    yield "the number of records", data["n"], sum(group["count"] for group in groups)
    yield "the size of the test set", data["sets"].get("test"), sum(group["test_rate"]["n"] for group in groups)
    for group in groups:
        name = f"of the group {group['group']!r}"
        yield f"the labelled records {name}", group["label_rate"]["n"], group["count"]
        parts = [group["test_tpr"], group["test_fpr"]]
        yield f"the test records {name}", group["test_rate"]["n"], sum(part["n"] for part in parts)
        yield f"the accepted test records {name}", _hits(group["test_rate"]), sum(map(_hits, parts))


def _hits(rate: Mapping[str, Any]) -> int:
    return round(number_of(rate["value"]) * rate["n"]) if rate["n"] else 0


def _rates(found: Document) -> _Pairs:
    """Yield the rates of the table of rates that stand among the groups as well."""
    groups = {group["group"]: group["test_rate"] for group in found["groups"]}
    for table in found["tables"]:
        for row in (dict(zip(table["columns"], cells, strict=False)) for cells in table["rows"]):
            if (
                row.get("records") == "test"
                and row.get("among", "everybody") == "everybody"
                and row.get("group") in groups
            ):
                name = f"of {row['group']!r} in the table {table['title']!r}"
                rate = groups[row["group"]]
                yield f"the number of people {name}", row.get("people"), rate["n"]
                yield f"the rate {name}", row.get("positive predictions"), rate["value"]


def _gains(found: Document) -> _Pairs:
    for table in found["tables"]:
        if {"before", "after", "gain"} <= set(table["columns"]):
            for place, cells in enumerate(table["rows"], start=1):
                row = dict(zip(table["columns"], cells, strict=False))
                ends = [row[name] for name in ("before", "after", "gain")]
                if all(isinstance(end, (int, float)) for end in ends):
                    yield f"the gain in row {place} of the table {table['title']!r}", ends[2], ends[1] - ends[0]


def _too_many(found: Document) -> Iterator[str]:
    """Yield checks that rest on more records, or draws, than there are."""
    most = max(found["data"]["n"], found["plan"]["answers"]["repeats"], found["plan"]["answers"]["people"])
    for measurement in found["measurements"]:
        n = (measurement["estimate"] or {"n": 0})["n"]
        if n > most:
            yield f"{measurement['check']} rests on {_quoted(n)} records of {most:,}"


def _no_day(found: Document) -> Iterator[str]:
    """Yield a start on a day or at an hour that the calendar does not have; whose clock was right nobody can know."""
    started = found["times"].get("started")
    try:
        datetime.fromisoformat(started or "2000-01-01")
    except ValueError:
        yield f"the audit's start {_quoted(started)} is no time"


def _plan(found: Document) -> Iterator[str]:
    """Yield what is wrong with the plan, unless another version of FairLeak wrote it with other keys."""
    from core.decision import plan_of
    from core.decision.provenance import plan_fingerprint

    try:
        plan = plan_of(found)
    except InputError as error:
        yield str(error).rstrip(".")
        return
    if strict(plan) == found["plan"] and plan_fingerprint(plan) != found["provenance"]["plan"]:
        yield "the plan's fingerprint is not that of the plan in the report"


def _whole(found: Document) -> Iterator[str]:
    """Yield rates that are no share of so many, or have another interval than that share."""
    rates = {f"{name} of the model": found["model"][name] for name in _MODEL_RATES}
    for group in found["groups"]:
        rates |= {f"{name} of the group {group['group']!r}": group[name] for name in GROUP_RATES}
    for test in found["self_tests"]:
        rates |= {f"{name} of the self-test {test['attack']!r}": test[name] for name in ("false_alarms", "detected")}
    for name, rate in rates.items():
        if rate["n"]:
            whole = proportion(_hits(rate), rate["n"], level=rate["level"])
            if not all(same_value(rate[end], getattr(whole, end), _ALIKE) for end in ("value", "low", "high")):
                yield f"{name} is no share of {rate['n']:,} with its interval"


def same_value(old: Any, new: Any, alike: float) -> bool:
    """Whether two values are equal, numbers but for the last digits of another machine or of rounding."""
    if isinstance(old, bool) or isinstance(new, bool) or not all(isinstance(x, (int, float)) for x in (old, new)):
        return type(old) is type(new) and bool(old == new)
    return math.isclose(old, new, rel_tol=_ALIKE, abs_tol=alike)


def _quoted(value: Any) -> str:
    text = repr(value)
    return f"{text[:120]}…" if len(text) > 120 else text
