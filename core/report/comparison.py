"""Every check before and after, the interval of its change, and whether it got better or worse.

The interval. Let a check's number be θ̂ before and φ̂ after, with standard errors s and t and correlation ρ. Then

    Var(φ̂ − θ̂) = s² + t² − 2 ρ s t.

A report holds a value and an interval for each check and nothing per person, so that ρ is not known. The intervals here
take ρ = 0: the half widths h, k of the two reports add as √(h² + k²), side by side (MOVER, as
`core.stats.estimates.weighted_sum`; Student's half widths are first brought to the fewer degrees of freedom). What
holds:

- Other people, none in both tables: ρ = 0, and the intervals cover as those of the reports do.
- The same people, and a rate or a gain over what is known without the model: too wide where ρ > 0, that is where
  people who are easy to attack in one version are so in the other. That is the usual case, and the price of keeping
  nothing per person. ρ < 0 is nearly impossible for gains: without the model a person is inferred either correctly or
  not, in both audits alike, so that both gains of this person are ≥ 0 or both ≤ 0; E[product] ≥ 0 then gives
  Cov ≥ −θφ/n. Of rates P(both) ≥ 0 gives the same. For gains of 5 points that is ρ ≥ −0.053: half widths that are at
  most 2.6% too short.
- Bits, AUC and advantage have no such bound; ρ is positive there while a person's score in one version tells something
  of the score in the other.
- The size of a difference between groups (`Check.folded`), which forgets whom it favours: where it has turned round,
  two sizes that vary together vary against each other, ρ → −1. Half widths are added there, h + k, which covers
  whatever ρ is. It is too wide for other people: about 99% for 95%.
- Tables that share some people lie between.
- The same answers of the model about the same people, under the same plan: a number that is equal is the same number,
  and its change is 0 without an interval.

Models, attackers and seeds are fixed: the intervals speak of these two versions of a model and of people like these,
not of what another training would give.

The verdict. "The change is exactly 0" is tested for all checks together, by the procedure with which a policy tests its
limits (`core.auditing.policy.decisions.holm_decisions`: Holm 1979). Where nothing changed, the chance that any check is
called worse or better is at most 5%. "Not distinguishable" is therefore no proof that nothing got worse: the interval
says how much worse it may be. With a margin m, "no worse" is shown by an interval that leaves out m
(`CheckChange.within`), again for all checks together.

`comparison_html` is a comparison as one HTML file in the look of the report.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from markupsafe import Markup

from ..auditing.policy import CHECKS, UNITS, VERDICT_TITLES, CheckVerdict, Status, estimate_text
from ..auditing.policy.decisions import LimitTest, holm_decisions, interval_at_level
from ..auditing.policy.verdict import bullet_on_scale
from ..base.errors import InputError
from ..base.serialize import Result
from ..base.settings import value_excerpt
from ..stats.estimates import (
    LEVEL,
    Estimate,
    certain,
    decimals_beside,
    ends_text,
    number_text,
    quantile,
    weighted_sum,
)
from ..studies.study import Outcome
from .changes import Changed, changed_settings, same_people
from .charts import SIDES, bar
from .page import environment, logo
from .report import Report


class Turn(StrEnum):
    """What became of a check. Only the first four follow from two numbers."""

    WORSE = "worse"
    BETTER = "better"
    NOT_DISTINGUISHABLE = "not distinguishable"
    UNCHANGED = "unchanged"
    NEW = "new check"
    GONE = "check gone"
    NOT_RUN_BEFORE = "not run before"
    NOT_RUN = "not run"
    OTHER_DEFINITION = "other definition"
    NO_INTERVAL = "no interval"


class Outlook(StrEnum):
    """The verdict on a whole comparison."""

    WORSE = "worse"
    BETTER = "better"
    NOT_DISTINGUISHABLE = "not distinguishable"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReference(Result):
    """One of the two audits: what it is called, and its fingerprint, which is of the report's whole content."""

    title: str
    name: str
    day: str
    fingerprint: str
    overall: Status
    headline: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckChange(Result):
    """One check, before and after.

    It is `required` if either policy requires it. `change` is after minus before, with an interval at 95%; `decided`
    the interval at the level of its step of Holm's procedure; None where there is no such number. `within` says whether
    a change for the worse by the margin or more is ruled out; None without a margin. `was` and `now` are the policies'
    verdicts, `why` the reason where nothing can be compared.
    """

    check: str
    title: str
    required: bool
    turn: Turn
    was: Status | None = None
    now: Status | None = None
    before: Estimate | None = None
    after: Estimate | None = None
    change: Estimate | None = None
    decided: Estimate | None = None
    p_adjusted: float = math.nan
    within: bool | None = None
    limit: float | None = None
    why: str = ""

    @property
    def compared(self) -> bool:
        """Whether both audits have a number of the same definition."""
        return self.change is not None

    @property
    def lost(self) -> bool:
        """Whether it may be worse and nothing tells: it had a number, or it fails now."""
        return not self.compared and (self.before is not None or self.now == Status.FAIL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Result):
    """Two audits side by side; checks come worst first: worse, lost, better, the same, new."""

    verdict: Outlook
    headline: str
    detail: str
    before: AuditReference
    after: AuditReference
    checks: tuple[CheckChange, ...]
    changed: tuple[Changed, ...]
    same_people: bool | None
    people: str
    margin: float | None = None

    @property
    def nothing_changed(self) -> str:
        """What to say where `changed` is empty."""
        return "Data, model, plan, policy, code and seeds are the same."

    @property
    def since(self) -> str:
        """The day of the earlier audit, without the year where that is the same: "8 Nov"."""
        day, _, year = self.before.day.rpartition(" ")
        if self.after.day.endswith(year):
            return day
        return self.before.day


def compare(before: Report, after: Report, *, margin: float | None = None) -> Comparison:
    """Compare two reports, as `core.report` makes them or `core.report.verification.readable` reads them.

    Compared are the checks that either policy limits. The whole is worse if a required check is worse. Else it is
    inconclusive if a required check cannot be compared though it had a number before or fails now, if no required check
    can be compared, or if one is not shown to be no worse by the `margin`, in the unit of each check (0.01 is a point).
    Else it is better if a required check is, and else not distinguishable.

    InputError if the margin is no number above 0.
    """
    if margin is not None and not (math.isfinite(margin) and margin > 0.0):
        raise InputError(
            f"margin must be a number above 0, such as 0.01 for a point, got {value_excerpt(margin)}."
        )
    was = {row.check: row for row in before.rows}
    now = {row.check: row for row in after.rows}
    limited = [name for rows in (now, was) for name, row in rows.items() if row.limit is not None]
    question = _question(before, after)
    people = same_people(before, after)
    repeated = bool(people) and _answers(before) == _answers(after)
    paired = [
        _paired(name, was.get(name), now.get(name), question, repeated)
        for name in dict.fromkeys(limited)
    ]
    checks = tuple(sorted(_decided(paired, margin), key=_rank))
    changed = changed_settings(before, after)
    verdict, headline = _overall(checks, margin)
    broken = []
    if not all(test.passed for test in before.self_tests):
        broken.append("earlier audit")
    if not all(test.passed for test in after.self_tests):
        broken.append("later audit")
    if broken and verdict != Outlook.WORSE:
        verdict = Outlook.INCONCLUSIVE
        headline = f"Inconclusive: self-test failed ({', '.join(broken)})."
    return Comparison(
        verdict=verdict,
        headline=headline,
        detail=_detail(checks, changed),
        before=_audit(before),
        after=_audit(after),
        checks=checks,
        changed=changed,
        same_people=people,
        people=_PEOPLE[people],
        margin=margin,
    )


def change_between(
    before: Estimate,
    after: Estimate,
    *,
    freedoms: tuple[int | None, int | None] = (None, None),
    folded: bool = False,
) -> tuple[Estimate, int | None]:
    """Return after minus before with its 95% interval, and the degrees of freedom it has, None for a normal one.

    `freedoms` are those of the two estimates, `folded` says that they are sizes of a difference: half widths are then
    added. See the module's docstring for what the interval covers.
    """
    freedom = min((value for value in freedoms if value is not None), default=None)
    was = _brought(before, freedoms[0], freedom)
    now = _brought(after, freedoms[1], freedom)
    moved = replace(weighted_sum([(1.0, now), (-1.0, was)]), n=min(before.n, after.n), level=LEVEL)
    if folded:
        below = now.value - now.low + was.high - was.value
        above = now.high - now.value + was.value - was.low
        moved = replace(moved, low=moved.value - below, high=moved.value + above)
    return moved, freedom


def _brought(estimate: Estimate, estimate_freedom: int | None, freedom: int | None) -> Estimate:
    """Return an estimate at 95% with the half widths that fewer degrees of freedom give; nan where repeats agree."""
    if estimate_freedom is not None and estimate.low == estimate.high:
        return replace(estimate, low=math.nan, high=math.nan)
    interval = interval_at_level(estimate, 1.0 - LEVEL, freedom=estimate_freedom)
    wider = quantile(LEVEL, freedom) / quantile(LEVEL, estimate_freedom)
    below = wider * (interval.value - interval.low)
    above = wider * (interval.high - interval.value)
    return replace(interval, low=interval.value - below, high=interval.value + above)


_OF_METRIC = ("unfairness", "correction_gain")
"""Checks whose number is about the audited fairness metric."""


def _question(before: Report, after: Report) -> dict[str, str]:
    """Return check -> why its two numbers answer two questions; "" is for every check."""
    reasons: dict[str, str] = {}
    for name, title in (("label", "label"), ("attribute", "sensitive attribute")):
        if (was := getattr(before.data, name)) != (now := getattr(after.data, name)):
            reasons[""] = f"The {title} was {was}, now it is {now}."
    if (was := before.model.metric) != (now := after.model.metric):
        reasons |= dict.fromkeys(_OF_METRIC, f"The fairness metric was {was}, now it is {now}.")
    return reasons


def _paired(
    name: str,
    was: CheckVerdict | None,
    now: CheckVerdict | None,
    question: Mapping[str, str],
    same: bool,
) -> tuple[CheckChange, LimitTest | None]:
    """Return one check with its two numbers and what is to be decided, or why they are not compared."""
    either = now or was
    assert either is not None
    limits = [row.limit for row in (was, now) if row is not None and row.limit is not None]
    was_verdict = None if was is None else was.verdict
    verdict = None if now is None else now.verdict
    check_change = CheckChange(
        check=name,
        title=either.title or name,
        required=any(limit.required for limit in limits),
        turn=Turn.NOT_DISTINGUISHABLE,
        was=was_verdict,
        now=verdict,
        before=_number(was),
        after=_number(now),
        limit=limits[-1].value,
    )
    turn, why = _incomparable(check_change, was, now, question)
    if turn is not None or check_change.before is None or check_change.after is None:
        if verdict == Status.FAIL:
            why += " It fails now."
        return replace(check_change, turn=turn or Turn.NOT_RUN, why=why), None
    assert was is not None and now is not None  # as both have a number
    check = CHECKS[name]
    freedoms = (was.attempt.freedom, now.attempt.freedom)
    if same and _equal(check_change.before, check_change.after):
        change = certain(0.0, check_change.after.n)
        freedom = None
    else:
        change, freedom = change_between(
            check_change.before, check_change.after, freedoms=freedoms, folded=check.folded
        )
    claim = LimitTest(estimate=change, limit=0.0, at_least=check.at_least, freedom=freedom)
    if not (
        claim.has_interval or claim.is_exact or _equal(check_change.before, check_change.after)
    ):
        why = "A number has no interval: nothing can be said of its change."
        return replace(check_change, turn=Turn.NO_INTERVAL, why=why), None
    return replace(check_change, change=change), claim


def _number(row: CheckVerdict | None) -> Estimate | None:
    if row is None or row.attempt.outcome != Outcome.DONE:
        return None
    estimate = row.attempt.estimate
    if estimate is None or math.isnan(estimate.value):
        return None
    return estimate


def _incomparable(
    check_change: CheckChange,
    was: CheckVerdict | None,
    now: CheckVerdict | None,
    question: Mapping[str, str],
) -> tuple[Turn | None, str]:
    """Return why two numbers are not compared, if they are not."""
    if now is None or now.measurement is None:
        return Turn.GONE, "The later audit does not have it."
    if was is None or was.measurement is None:
        return Turn.NEW, "The earlier audit does not have it."
    if check_change.after is None:
        return Turn.NOT_RUN, now.attempt.reason or "There is no number."
    if check_change.before is None:
        return Turn.NOT_RUN_BEFORE, was.attempt.reason or "There was no number."
    if was.definition != now.definition:
        return Turn.OTHER_DEFINITION, f"It was defined otherwise: {was.definition}"
    why = question.get("") or question.get(check_change.check, "")
    if why:
        return (Turn.OTHER_DEFINITION, why)
    return (None, "")


_DECIDED_TURNS = {Status.PASS: Turn.BETTER, Status.FAIL: Turn.WORSE}
"""Verdict on "no change" -> what became of a check."""


def _decided(
    paired: Sequence[tuple[CheckChange, LimitTest | None]], margin: float | None
) -> tuple[CheckChange, ...]:
    """Return the checks with what is decided of them, tested together."""
    claims = {check_change.check: claim for check_change, claim in paired if claim is not None}
    decisions = holm_decisions(claims, level=LEVEL)
    within_margin: dict[str, bool] = {}
    if margin is not None:
        margin_tests = {}
        for name, claim in claims.items():
            limit = -margin if claim.at_least else margin
            margin_tests[name] = replace(claim, limit=limit)
        within_margin = {
            name: decision.verdict == Status.PASS
            for name, decision in holm_decisions(margin_tests, level=LEVEL).items()
        }
    done = []
    for check_change, _ in paired:
        if (decision := decisions.get(check_change.check)) is not None:
            if _equal(check_change.before, check_change.after):
                turn = Turn.UNCHANGED
            else:
                turn = _DECIDED_TURNS.get(decision.verdict, check_change.turn)
            check_change = replace(
                check_change,
                turn=turn,
                decided=decision.decided,
                p_adjusted=decision.p_adjusted,
                within=within_margin.get(check_change.check),
            )
        done.append(check_change)
    return tuple(done)


_SAME = 1e-12
"""Computed values no farther apart than this differ by rounding."""


def _equal(before: Estimate | None, after: Estimate | None) -> bool:
    ends = [(getattr(before, end), getattr(after, end)) for end in ("value", "low", "high")]
    return all(
        was == now or abs(was - now) <= _SAME or (was != was and now != now) for was, now in ends
    )


def _rank(check_change: CheckChange) -> tuple[bool, bool, int]:
    """Return where a check stands: what is worse or lost first."""
    return (
        check_change.turn != Turn.WORSE,
        not check_change.lost,
        list(Turn).index(check_change.turn),
    )


# ---------------------------------------------------------------------------------------------------- whole and words


def _overall(checks: Sequence[CheckChange], margin: float | None) -> tuple[Outlook, str]:
    """Return the verdict on the whole, and its sentence."""
    required = [check for check in checks if check.required]
    of_all = f"of {len(required)} required checks"
    turns = Counter(check.turn for check in required)
    lost = sum(check.lost for check in required)
    open_ = sum(check.within is False for check in required)
    if turns[Turn.WORSE]:
        return Outlook.WORSE, f"Worse: {turns[Turn.WORSE]} {of_all}."
    if lost:
        return Outlook.INCONCLUSIVE, f"Inconclusive: {lost} {of_all} not comparable."
    if not any(check.compared for check in required):
        return Outlook.INCONCLUSIVE, "Inconclusive: no required check can be compared."
    if open_:
        return (
            Outlook.INCONCLUSIVE,
            f"Inconclusive: {open_} {of_all} not shown to be within the margin of {margin:g}.",
        )
    if turns[Turn.BETTER]:
        return Outlook.BETTER, f"Better: {turns[Turn.BETTER]} {of_all}. Worse: 0."
    if turns[Turn.UNCHANGED] == sum(check.compared for check in required):
        return (
            Outlook.NOT_DISTINGUISHABLE,
            "Not distinguishable: every required check with a number is unchanged.",
        )
    return (
        Outlook.NOT_DISTINGUISHABLE,
        "Not distinguishable: no required check is better or worse than before.",
    )


_PEOPLE = {
    True: "Both audits judge the same people. Reports hold nothing per person, so each interval is that of two "
    "independent samples: usually too wide here.",
    False: "The audits judge different people or divide them otherwise. Each interval is that of two independent "
    "samples.",
    None: "The reports do not tell whether the people are the same. Each interval is that of two independent samples.",
}
"""Whether the people are the same -> what the intervals take for granted."""

NO_PROOF = (
    "Verdicts are at 95% confidence over all checks together (Holm). “Not "
    "distinguishable” is no proof of “no worse”."
)
"""What a comparison does not show."""

_OF_AUDIT = ("Data", "Plan", "Code", "Seeds")
"""Parts that change numbers although the model is the same."""


def _detail(checks: Sequence[CheckChange], changed: Sequence[Changed]) -> str:
    """Return what the headline leaves out."""
    turns = Counter(check.turn for check in checks if not check.required)
    parts = [
        f"Optional checks {turn}: {turns[turn]}."
        for turn in (Turn.WORSE, Turn.BETTER)
        if turns[turn]
    ]
    differing = {change.part for change in changed}
    changed_parts = [part.lower() for part in _OF_AUDIT if part in differing]
    if changed_parts:
        parts.append(
            f"Also changed: {', '.join(changed_parts)}. The model alone need not be the cause."
        )
    return " ".join(parts)


def _answers(report: Report) -> tuple[str, str]:
    """Return what says that a model's answers and what was asked of them are the same."""
    return report.model.fingerprint, report.provenance.plan


def _audit(report: Report) -> AuditReference:
    return AuditReference(
        title=report.title,
        name=report.name,
        day=report.day,
        fingerprint=report.fingerprint,
        overall=report.verdict.overall,
        headline=report.verdict.headline,
    )


def change_text(check_change: CheckChange, *, unit: bool = True) -> str:
    """Write the change of a check as "+0.7 points", or "+0.7"; empty where there is none."""
    if check_change.change is None:
        return ""
    of = UNITS[CHECKS[check_change.check].unit]
    value = of.factor * check_change.change.value
    if check_change.turn in (Turn.WORSE, Turn.BETTER):
        places = decimals_beside([value], 0.0, of.decimals)
    else:
        places = of.decimals
    text = number_text(value, f"+.{places}f")
    if unit:
        return f"{text}{_UNIT_SUFFIXES.get(CHECKS[check_change.check].unit, '')}"
    return text


def change_range(check_change: CheckChange, *, decided: bool = False) -> str:
    """Write the interval of a change as "−0.4 to +1.8"; empty where there is none."""
    interval = (
        check_change.decided
        if decided and check_change.decided is not None
        else check_change.change
    )
    if interval is None or math.isnan(interval.low) or interval.low == interval.high:
        return ""
    of = UNITS[CHECKS[check_change.check].unit]
    low = of.factor * interval.low
    high = of.factor * interval.high
    places = decimals_beside([low, high], 0.0, of.decimals)
    return ends_text(low, high, f"+.{places}f")


_UNIT_SUFFIXES = {"points": " points", "percent": " points", "bits": " bits", "columns": " columns"}
"""Unit of a check -> what stands behind its change."""


COLOURS = {"worse": "fail", "better": "pass", "inconclusive": "inconclusive"}
"""Verdict of a comparison, or of a check in it -> the verdict whose colour and mark it has; others have none."""


# Page -----------------------------------------------------------------------------------------------------------------


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison as a page."""
    margin = "" if comparison.margin is None else f"{comparison.margin:g}"
    template = environment().get_template("compare.html")
    return template.render(
        found=comparison,
        checks=[_row(check) for check in comparison.checks],
        verdict=COLOURS.get(comparison.verdict, "not_run"),
        running="FairLeak comparison of two audits, internal",
        fingerprint=comparison.after.fingerprint,
        logo=logo(),
        no_proof=NO_PROOF,
        margin=margin,
    )


def _row(check_change: CheckChange) -> dict[str, Any]:
    return {
        "title": check_change.title,
        "turn": check_change.turn,
        "colour": COLOURS.get(check_change.turn, "not_run"),
        "required": check_change.required,
        "before": number_and_interval(check_change.check, check_change.before),
        "after": number_and_interval(check_change.check, check_change.after),
        "verdicts": f"{_verdict_title(check_change.was)} → {_verdict_title(check_change.now)}",
        "change": change_text(check_change),
        "range": change_range(check_change),
        "decided": change_range(check_change, decided=True),
        "within": check_change.within,
        "why": check_change.why,
        "bar": _bar(check_change),
    }


def _verdict_title(status: Status | None) -> str:
    if status is None:
        return "none"
    return VERDICT_TITLES[status]


def number_and_interval(check: str, estimate: Estimate | None) -> tuple[str, str]:
    """Return a check's number with its unit, and its 95% CI; "" where it has none."""
    if estimate is None:
        return "no number", ""
    value, interval = estimate_text(check, estimate)
    if interval == "no interval":
        interval = ""
    return value, interval


def _bar(check_change: CheckChange) -> Markup:
    """Return the change with its adjusted interval; the stroke is no change, the ends are the limit to either side."""
    if check_change.change is None:
        return Markup("")
    interval = check_change.decided or check_change.change
    span = abs(check_change.limit or 0.0) or max(abs(check_change.change.value), 0.05)
    places = bullet_on_scale(check_change.change.value, interval, middle=0.0, span=span)
    description = (
        f"Change {change_text(check_change)}, {check_change.turn}. The middle is no change."
    )
    sides = SIDES
    if CHECKS[check_change.check].at_least:
        sides = SIDES[::-1]
    return bar(places, description, COLOURS.get(check_change.turn, "not_run"), sides=sides)


def since(check_change: CheckChange) -> tuple[str, str, str]:
    """Return what the column "Since" says of a check: number, word, and the verdict whose colour the word has."""
    number = ""
    if check_change.turn != Turn.UNCHANGED:
        number = change_text(check_change, unit=False)
    return number, str(check_change.turn), COLOURS.get(check_change.turn, "")
