"""A report judged again by its own numbers, and what in it follows from other parts of it.

The internal edition holds every number, so it is judged as it was. The disclosure edition rounds its numbers and
withholds some: there the verdicts stated must be among those that the rounded numbers allow. A printed value lies
within half a step of the one that was judged, an interval was rounded outwards by less than a step
(`core.report.canonical`). So every limit is judged twice: as far apart from its number as rounding allows, with the
shortest interval, and as near to it, with the longest. Holm's adjusted p-values grow with every p-value, and so the
verdict that was given on the exact numbers is one of the two. A number that is withheld may have any p-value.

Computed again are sizes of sets and groups, rates that are whole counts of people, the unfairness and the ratio that
the groups' rates give, the bound that the planned answers declare, what the self-test allows, and settings that stand
twice; in the disclosure edition only what is printed, to the digits it is printed with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.caveats import CaveatKind, in_order
from core.errors import InputError
from core.estimates import Estimate, in_words, not_measured, proportion
from core.fingerprint import code_fingerprint
from core.policy import CHECKS, Status, headline_and_detail, judge
from core.policy.decisions import LimitTest, holm_decisions
from core.policy.verdict import earlier_words, overall
from core.report.canonical import decimals_of, estimate_of, number_of, read, strict
from core.report.document import (
    GROUP_RATES,
    METRIC_RATES,
    Document,
    caveats_of,
    check_rows,
    measurements_of,
    policy_of,
    rows_of,
    verdict_section,
)
from core.report.editions import why_of, withheld_numbers
from core.report.page import sets_known

_MODEL_RATES = ("accuracy_train", "accuracy_test", "majority_test")

_ALIKE = 1e-6


def contradictions(found: Document) -> list[str]:
    """Return each part of a report that keeps to the schema that is not what other parts give, a clause each."""
    internal = found["edition"] == "internal"
    pairs = [*_settings(found), *_measured(found), *_self_tests(found)]
    if internal:
        pairs += [*_sizes(found), *_rates(found)]
    alike = _ALIKE if internal else 5e-4 + _ALIKE  # a computed number was rounded by so much at most
    told = [
        f"{name} is {_quoted(old)}, computed again it is {_quoted(new)}"
        for name, old, new in pairs
        if not same_value(old, new, alike)
    ]
    told += [*_too_many(found), *_no_day(found)]
    told += _caveats(found)
    return told + ([*_plan(found), *_whole(found)] if internal else [*_withholding(found)])


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
    from core.queries import PlannedAnswers, declared_limits

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
        planned = declared_limits(read(found["plan"]["answers"], PlannedAnswers))[0]
        yield "targeted_leakage", estimates["targeted_leakage"]["value"], planned


def _gap(rates: list[Any]) -> float:
    """Return the largest distance of a group's rate from everybody's; 0 where nobody has one."""
    there = [(number_of(rate["value"]), rate["n"]) for rate in rates if rate["n"]]
    overall = sum(value * n for value, n in there) / max(1, sum(n for _, n in there))
    return max((abs(value - overall) for value, _ in there), default=0.0)


def _self_tests(found: Document) -> _Pairs:
    from core.release_audit.self_tests import passes, trials

    tests = found["self_tests"]
    for test in tests:
        alarms, caught = estimate_of(test["false_alarms"]), estimate_of(test["detected"])
        if alarms and caught and alarms.n:
            yield f"“passed” of the self-test {test['attack']!r}", test["passed"], passes(alarms, caught)
    if tests and code_fingerprint() == found["provenance"]["code"]:
        yield "the self-test's list", [test["attack"] for test in tests], [plant.attack for _, plant in trials()]


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
    """Yield the rates of a table that stand among the groups as well, and the gains that its rates give."""
    groups = {group["group"]: group["test_rate"] for group in found["groups"]}
    for table in found["tables"]:
        for place, row in enumerate(rows_of(table), start=1):
            own = row.get("records") == "test" and row.get("among", "everybody") == "everybody"
            if own and (rate := groups.get(row.get("group"))):
                name = f"of {row['group']!r} in the table {table['title']!r}"
                yield f"the number of people {name}", row.get("people"), rate["n"]
                yield f"the rate {name}", row.get("positive predictions"), rate["value"]
            ends = [row[name] for name in ("before", "after", "gain") if name in row]
            if len(ends) == 3 and all(isinstance(end, (int, float)) for end in ends):
                yield f"the gain in row {place} of the table {table['title']!r}", ends[2], ends[1] - ends[0]


def _too_many(found: Document) -> Iterator[str]:
    """Yield checks that rest on more records, or draws, than there are."""
    most = max(found["data"]["n"], found["plan"]["answers"]["repeats"], found["plan"]["answers"]["people"])
    for measurement in found["measurements"]:
        n = (measurement["estimate"] or {"n": 0})["n"]
        if n > most:
            yield f"{measurement['check']} comes from {_quoted(n)} records of {most:,}"


def _caveats(found: Document) -> Iterator[str]:
    """Yield what is wrong with the list of caveats, where the report has one: what other parts say must be in it."""
    if "caveats" not in found:
        return
    caveats = caveats_of(found)
    kinds, texts = {caveat.kind for caveat in caveats}, {caveat.text for caveat in caveats}
    if list(caveats) != list(in_order(caveats)):
        yield "the caveats stand in another order than their kinds"
    facts = {
        CaveatKind.SELF_TEST_MISSING: not found["self_tests"],
        CaveatKind.SETS_UNKNOWN: not sets_known(found),
        CaveatKind.CHOSEN_ON_THESE_RECORDS: any(study["study"] == "choose" for study in found.get("findings", ())),
    }
    for kind, fact in facts.items():
        if fact and kind not in kinds:
            yield f"the caveat {str(kind)!r} is not there, and other parts say that it holds"
    if CaveatKind.SELF_TEST_MISSING in kinds and found["self_tests"]:
        yield "a caveat says that the self-test was not run, and its results are there"
    if found["edition"] == "internal":
        missing = {*found["data"]["notes"], *found["model"]["notes"]} - texts
        yield from (f"the note {_quoted(note)} is not among the caveats" for note in sorted(missing))
    elif set(caveats) - {caveat.for_others for caveat in caveats}:
        yield "a caveat has another sentence than that of its kind"


def _no_day(found: Document) -> Iterator[str]:
    """Yield a start on a day or at an hour that the calendar does not have; whose clock was right nobody can know."""
    started = found["times"].get("started")
    try:
        datetime.fromisoformat(started or "2000-01-01")
    except ValueError:
        yield f"the audit's start {_quoted(started)} is no time"


def _plan(found: Document) -> Iterator[str]:
    """Yield what is wrong with the plan, unless another version of FairLeak wrote it with other keys."""
    from core.release_audit import plan_of
    from core.release_audit.result import plan_fingerprint

    try:
        plan = plan_of(found)
    except InputError as error:
        yield str(error).rstrip(".")
        return
    if strict(plan) == found["plan"] and plan_fingerprint(plan) != found["provenance"]["plan"]:
        yield "the plan's fingerprint is not that of the plan in the report"


def _withholding(found: Document) -> Iterator[str]:
    """Yield numbers that an external report shows or withholds against its rule."""
    hidden = any(group["count"] is None for group in found["groups"])
    for check, because in withheld_numbers(found, hidden).items():
        yield f"{check} is shown although {because}"
    for check in withheld_checks(found):
        if CHECKS[check].of_groups and not hidden:  # so many people are in no group too few
            yield f"{check} is withheld although the counts of the groups are shown"


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


_DECIDED = (Status.PASS, Status.FAIL, Status.INCONCLUSIVE)
_SIDES = {Status.PASS, Status.FAIL}
_TINY = 1e-12


def withheld_checks(found: Document) -> list[str]:
    """Return the checks that were measured and whose number the edition withholds."""
    return [m["check"] for m in found["measurements"] if m["outcome"] == "done" and m["estimate"] is None]


def rounded_section(found: Document, judged: Document, failed: Sequence[str]) -> Document:
    """Return the verdict section that a disclosure edition must have.

    `judged` is the section judged from its rounded numbers as if they were exact: what does not hang on them is taken
    from it. Verdict and interval are those stated where the numbers allow them. `failed` are the attacks of failed
    self-tests.
    """
    stated = {row["check"]: row for row in found["verdict"]["checks"]}
    measurements, level = {m["check"]: m for m in found["measurements"]}, number_of(found["policy"]["level"])
    gone, allowed = withheld_checks(found), _allowed(found, level)
    rows = []
    for row in judged["checks"]:
        check, own = row["check"], stated.get(row["check"])
        if own is None:
            rows.append(row)
            continue
        new = {**row, "p_value": None, "p_adjusted": None}
        told = allowed.get(check) or (_DECIDED if check in gone and row["limit"] else (row["verdict"],))
        new["verdict"] = own["verdict"] if own["verdict"] in told else " or ".join(sorted(told))
        new["decided"] = None if check in gone else _decided(own, row, measurements.get(check), level)
        required = bool(row["limit"] and row["limit"]["required"] and new["verdict"] != Status.PASS)
        new["blocks"] = row["blocks"] if new["verdict"] == Status.NOT_RUN else required  # it may be allowed not to run
        because = measurements[check]["reason"] if check in gone else ""
        new["why"] = because if because and row["limit"] else why_of(own, measurements.get(check), "")
        rows.append(new)
    place = {row["check"]: number for number, row in enumerate(found["verdict"]["checks"])}
    shown = [str(status) for status in Status]  # a verdict that is not allowed comes last
    order = {row["check"]: (*shown, row["verdict"]).index(row["verdict"]) for row in rows}
    rows.sort(key=lambda row: (order[row["check"]], row["item"] or math.inf, place.get(row["check"], 0)))
    verdicts = check_rows(found)
    headline, detail = headline_and_detail(verdicts, level=level, failed_tests=failed)
    worst = str(overall(verdicts, failed_tests=failed))
    return {"overall": worst, "headline": headline, "detail": detail, "checks": rows}


def _allowed(found: Document, level: float) -> dict[str, set[Status]]:
    """Return check -> the verdicts its rounded number allows, for limits with a number."""
    limits = {limit["check"]: number_of(limit["value"]) for limit in found["policy"]["limits"]}
    gone = {check: limits[check] for check in withheld_checks(found) if check in limits}
    far: dict[str, LimitTest] = {}
    near = {check: LimitTest(estimate=not_measured(level=level), limit=limit) for check, limit in gone.items()}
    either: set[str] = set()
    for measurement in found["measurements"]:
        check, estimate = measurement["check"], estimate_of(measurement["estimate"])
        if check not in limits or measurement["outcome"] != "done" or estimate is None or math.isnan(estimate.value):
            continue
        far[check], near[check], on_limit = _ends(check, estimate, limits[check], measurement["freedom"])
        either |= {check} if on_limit else set()
    first, second = holm_decisions(far, level=level), holm_decisions(near, level=level)
    return {
        check: {first[check].verdict, second[check].verdict} | (_SIDES if check in either else set()) for check in far
    }


def _ends(check: str, estimate: Estimate, limit: float, freedom: int | None) -> tuple[LimitTest, LimitTest, bool]:
    """Return the claim at its farthest and at its nearest, and whether the value may be on either side of the limit."""
    own = LimitTest(estimate=estimate, limit=limit, at_least=CHECKS[check].at_least, freedom=freedom)
    step = _step(estimate)
    side = 1.0 if estimate.value > limit else -1.0
    distance = abs(estimate.value - limit)
    on_limit = distance <= step / 2 + _TINY and (own.computed or own.bounded)
    if own.computed or not own.bounded:
        return own, own, on_limit
    towards, away = (estimate.value - estimate.low, estimate.high - estimate.value)[:: 1 if side > 0 else -1]
    least = towards - 1.5 * step
    most = (max(towards, away) if least <= 0 else towards) + step / 2

    def moved(apart: float, half: float) -> LimitTest:
        value = limit + side * apart
        return replace(own, estimate=replace(estimate, value=value, low=value - half, high=value + half))

    return moved(distance + step / 2, max(least, _TINY)), moved(max(distance - step / 2, 0.0), most), on_limit


def _step(estimate: Estimate) -> float:
    """Return the distance of two values as this estimate is printed."""
    if estimate.low == estimate.value == estimate.high or math.isnan(estimate.low):
        return 1e-3
    return float(10.0 ** -decimals_of(estimate.low, estimate.high))


def _decided(own: Document, judged: Document, measurement: Document | None, level: float) -> Any:
    """Return the interval stated where it goes with its verdict and its number, else the one judged."""
    stated, limit = estimate_of(own["decided"]), judged["limit"]
    if stated is None or judged["decided"] is None or limit is None or measurement is None:
        return judged["decided"]
    step, value, number = _step(stated), number_of(limit["value"]), number_of(measurement["estimate"]["value"])
    inside = stated.low <= value <= stated.high
    apart = value - stated.low < step + _TINY or stated.high - value < step + _TINY or not inside
    fits = inside if own["verdict"] == "inconclusive" else apart
    near = abs(stated.value - number) <= max(step, 1e-3)
    levels = [1 - (1 - level) / k for k in range(1, len(CHECKS) + 1)] + [number_of(measurement["estimate"]["level"])]
    known = any(math.isclose(stated.level, one, abs_tol=1e-9) for one in levels)
    same = stated.n == int(measurement["estimate"]["n"] or 0)
    return own["decided"] if fits and near and known and same else judged["decided"]


_WORDS = ("title", "definition", "why")
"""Of a check's row: what another version of FairLeak may word in another way."""


def judged_again(found: Document) -> tuple[list[str], list[str], str]:
    """Judge a report that keeps to the schema again; InputError if its policy or a measurement breaks a rule.

    Returned is what came out otherwise than it is stated, a clause each: of verdicts, limits, intervals, p-values, and
    the release's headline and detail; then of titles, definitions and reasons; last what was judged, and what not.
    """
    failed = [test["attack"] for test in found["self_tests"] if not test["passed"]]
    verdict = judge(policy_of(found), measurements_of(found), attribute=found["data"]["attribute"], failed_tests=failed)
    section = strict(verdict_section(verdict))
    if found["edition"] != "internal":
        section = rounded_section(found, section, failed)
    facts, words = _differences(found, section)
    return facts, words, _judged_sentence(found)


def _judged_sentence(found: Document) -> str:
    if found["edition"] == "internal":
        return "judged again, the numbers in the report give the same verdicts under the policy in it."
    gone, asked = withheld_checks(found), [limit["check"] for limit in found["policy"]["limits"]]
    numbers = {m["check"]: estimate_of(m["estimate"]) for m in found["measurements"] if m["outcome"] == "done"}
    judged = [check for check in asked if (number := numbers.get(check)) and not math.isnan(number.value)]
    allow = "; their rounded numbers allow the verdicts stated, and p-values are withheld" if judged else ""
    told = f"{in_words(len(judged))} of {in_words(len(asked))} limits judged again{allow}."
    named = ", ".join(check for check in gone if check in asked)
    return f"{told} Not judged, for the number itself is withheld: {named}." if named else told


def _differences(found: Document, judged: Document) -> tuple[list[str], list[str]]:
    stated = found["verdict"]
    there = {row["check"]: row for row in stated["checks"]}
    facts, words = [], []
    if len(there) != len(stated["checks"]):
        facts.append("a check has more than one verdict")
    measured = {m["check"] for m in found["measurements"]}
    for row in judged["checks"]:
        check = row["check"]
        own = there.get(check)
        if own is None:  # an earlier FairLeak did not know every check of this one
            if row["limit"] or check in measured:
                facts.append(f"{check} has no verdict, judged again it is {_short(row['verdict'])}")
            continue
        facts += _first(check, own, row, [name for name in row if name not in _WORDS])
        words += _first(check, own, row, _WORDS)
    order = [row["check"] for row in judged["checks"] if row["check"] in there]
    if order != [row["check"] for row in stated["checks"]] and not facts:
        facts.append("the checks stand in another order than their verdicts give")
    release = {name: judged[name] for name in ("overall", "headline", "detail")}
    for row in judged["checks"]:  # an earlier FairLeak may have other titles
        own = there.get(row["check"], row)
        release["detail"] = release["detail"].replace(f"“{row['title']}”", f"“{own['title']}”")
    for name in release:
        if stated[name] in earlier_words(release[name]):
            continue
        facts += _first("the release", stated, release, [name])
    return facts, words


def _first(place: str, stated: Document, judged: Document, names: Any) -> list[str]:
    """Return the first of these entries that came out otherwise, and how many more did; [] if none did."""
    found = [
        (path, old, new)
        for name in sorted(names, key=lambda name: name != "verdict")
        for path, old, new in _apart(name, stated.get(name), judged.get(name))
    ]
    if not found:
        return []
    path, old, new = found[0]
    more = f" ({len(found) - 1} more like it)" if len(found) > 1 else ""
    return [f"{place}: {path} is {_short(old)}, judged again it is {_short(new)}{more}"]


def _apart(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from _apart(f"{path}/{name}", old.get(name), new.get(name))
    elif not same_value(old, new, 1e-9):  # near 0 the last digits of another machine
        yield path, old, new


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return f"“{text[:120]}…”" if len(text) > 120 else f"“{text}”"
