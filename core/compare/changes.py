"""Every check before and after, the interval of its change, and whether it got better or worse.

The interval. Let a check's number be θ̂ before and φ̂ after, with standard errors s and t and correlation ρ. Then

    Var(φ̂ − θ̂) = s² + t² − 2 ρ s t.

A report holds a value and an interval for each check and nothing per person, so that ρ is not known. The intervals here
take ρ = 0: the half widths h, k of the two reports add as √(h² + k²), side by side (MOVER, as
`core.estimates.weighted_sum`; Student's half widths are first brought to the fewer degrees of freedom). What holds:

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

The verdict. "The change is exactly 0" is tested for all checks together, by the procedure with which a policy tests
its limits (`core.policy.decisions.decide`: Holm 1979). Where nothing changed, the chance that any check is called worse
or better is at most 5%. "Not distinguishable" is therefore no proof that nothing got worse: the interval says how much
worse it may be. With a margin m, "no worse" is shown by an interval that leaves out m (`CheckChange.within`), again for
all checks together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from core.compare.changed_settings import Changed, changed_settings, same_people
from core.errors import InputError
from core.estimates import LEVEL, Estimate, certain, count_text, decimals_beside, number_text, quantile, weighted_sum
from core.policy import CHECKS, UNITS, CheckVerdict, Status
from core.policy.decisions import Claim, at_alpha, decide
from core.report.document import audit_day, audit_name, check_rows
from core.serialize import Result
from core.settings import told
from core.study import Outcome


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
class Audit(Result):
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
    before: Audit
    after: Audit
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
        return day if self.after.day.endswith(year) else self.before.day


def compare(before: Mapping[str, Any], after: Mapping[str, Any], *, margin: float | None = None) -> Comparison:
    """Compare two reports, as `core.report` makes documents or `core.report.verification.readable` reads them.

    Compared are the checks that either policy limits. The whole is worse if a required check is worse. Else it is
    inconclusive if a required check cannot be compared though it had a number before or fails now, if no required check
    can be compared, or if one is not shown to be no worse by the `margin`, in the unit of each check (0.01 is a point).
    Else it is better if a required check is, and else not distinguishable.

    InputError if the margin is no number above 0.
    """
    if margin is not None and not (math.isfinite(margin) and margin > 0.0):
        raise InputError(f"margin must be a number above 0, such as 0.01 for a point, got {told(margin)}.")
    was, now = ({row.check: row for row in check_rows(document)} for document in (before, after))
    limited = [name for rows in (now, was) for name, row in rows.items() if row.limit is not None]
    question = _question(before, after)
    people = same_people(before, after)
    repeated = bool(people) and _answers(before) == _answers(after)
    paired = [_paired(name, was.get(name), now.get(name), question, repeated) for name in dict.fromkeys(limited)]
    checks = tuple(sorted(_decided(paired, margin), key=_rank))
    changed = changed_settings(before, after)
    verdict, headline = _overall(checks, margin)
    failed = {"earlier": before["self_tests"], "later": after["self_tests"]}
    broken = [name for name, tests in failed.items() if not all(test["passed"] for test in tests)]
    if broken and verdict != Outlook.WORSE:
        which = " and the ".join(broken)
        verdict, headline = Outlook.INCONCLUSIVE, f"Inconclusive: the self-test failed in the {which} audit."
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
    freedom = min((own for own in freedoms if own is not None), default=None)
    was, now = (_brought(one, own, freedom) for one, own in zip((before, after), freedoms, strict=True))
    moved = replace(weighted_sum([(1.0, now), (-1.0, was)]), n=min(before.n, after.n), level=LEVEL)
    if folded:
        below, above = now.value - now.low + was.high - was.value, now.high - now.value + was.value - was.low
        moved = replace(moved, low=moved.value - below, high=moved.value + above)
    return moved, freedom


def _brought(estimate: Estimate, own: int | None, freedom: int | None) -> Estimate:
    """Return an estimate at 95% with the half widths that fewer degrees of freedom give; nan where repeats agree."""
    if own is not None and estimate.low == estimate.high:
        return replace(estimate, low=math.nan, high=math.nan)
    found = at_alpha(estimate, 1.0 - LEVEL, freedom=own)
    wider = quantile(LEVEL, freedom) / quantile(LEVEL, own)
    below, above = wider * (found.value - found.low), wider * (found.high - found.value)
    return replace(found, low=found.value - below, high=found.value + above)


_OF_METRIC = ("unfairness", "correction_gain")
"""Checks whose number is about the audited fairness metric."""


def _question(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    """Return check -> why its two numbers answer two questions; "" is for every check."""
    found: dict[str, str] = {}
    for name, title in (("label", "label"), ("attribute", "sensitive attribute")):
        if (was := before["data"][name]) != (now := after["data"][name]):
            found[""] = f"The {title} was {was}, now it is {now}."
    if (was := before["model"]["metric"]) != (now := after["model"]["metric"]):
        found |= dict.fromkeys(_OF_METRIC, f"The fairness metric was {was}, now it is {now}.")
    return found


def _paired(
    name: str, was: CheckVerdict | None, now: CheckVerdict | None, question: Mapping[str, str], same: bool
) -> tuple[CheckChange, Claim | None]:
    """Return one check with its two numbers and what is to be decided, or why they are not compared."""
    either = now or was
    assert either is not None
    limits = [row.limit for row in (was, now) if row is not None and row.limit is not None]
    found = CheckChange(
        check=name,
        title=either.title or name,
        required=any(limit.required for limit in limits),
        turn=Turn.NOT_DISTINGUISHABLE,
        was=None if was is None else was.verdict,
        now=None if now is None else now.verdict,
        before=_number(was),
        after=_number(now),
        limit=float(limits[-1].value),
    )
    turn, why = _apart(found, was, now, question)
    if turn is not None or found.before is None or found.after is None:
        fails = " It fails now." if found.now == Status.FAIL else ""
        return replace(found, turn=turn or Turn.NOT_RUN, why=why + fails), None
    check = CHECKS[name]
    freedoms = (was.found.freedom if was else None, now.found.freedom if now else None)
    if same and _equal(found.before, found.after):
        change, freedom = certain(0.0, found.after.n), None
    else:
        change, freedom = change_between(found.before, found.after, freedoms=freedoms, folded=check.folded)
    claim = Claim(estimate=change, limit=0.0, at_least=check.at_least, freedom=freedom)
    if not (claim.bounded or claim.computed or _equal(found.before, found.after)):
        why = "A number has no interval: nothing can be said of its change."
        return replace(found, turn=Turn.NO_INTERVAL, why=why), None
    return replace(found, change=change), claim


def _number(row: CheckVerdict | None) -> Estimate | None:
    estimate = None if row is None or row.found.outcome != Outcome.DONE else row.found.estimate
    return None if estimate is None or math.isnan(estimate.value) else estimate


def _apart(
    found: CheckChange, was: CheckVerdict | None, now: CheckVerdict | None, question: Mapping[str, str]
) -> tuple[Turn | None, str]:
    """Return why two numbers are not compared, if they are not."""
    if now is None or now.measurement is None:
        return Turn.GONE, "The later audit does not have it."
    if was is None or was.measurement is None:
        return Turn.NEW, "The earlier audit does not have it."
    if found.after is None:
        return Turn.NOT_RUN, now.found.reason or "There is no number."
    if found.before is None:
        return Turn.NOT_RUN_BEFORE, was.found.reason or "There was no number."
    if was.definition != now.definition:
        return Turn.OTHER_DEFINITION, f"It was defined otherwise: {was.definition}"
    why = question.get("") or question.get(found.check, "")
    return (Turn.OTHER_DEFINITION, why) if why else (None, "")


def _decided(paired: Sequence[tuple[CheckChange, Claim | None]], margin: float | None) -> tuple[CheckChange, ...]:
    """Return the checks with what is decided of them, tested together."""
    claims = {found.check: claim for found, claim in paired if claim is not None}
    decisions = decide(claims, level=LEVEL)
    kept: dict[str, bool] = {}
    if margin is not None:
        apart = {name: replace(one, limit=-margin if one.at_least else margin) for name, one in claims.items()}
        kept = {name: one.verdict == Status.PASS for name, one in decide(apart, level=LEVEL).items()}
    done = []
    for found, _ in paired:
        if (decision := decisions.get(found.check)) is not None:
            turn = {Status.PASS: Turn.BETTER, Status.FAIL: Turn.WORSE}.get(decision.verdict, found.turn)
            found = replace(
                found,
                turn=Turn.UNCHANGED if _equal(found.before, found.after) else turn,
                decided=decision.decided,
                p_adjusted=decision.p_adjusted,
                within=kept.get(found.check),
            )
        done.append(found)
    return tuple(done)


_SAME = 1e-12
"""Computed values no farther apart than this differ by rounding."""


def _equal(before: Estimate | None, after: Estimate | None) -> bool:
    ends = [(getattr(before, end), getattr(after, end)) for end in ("value", "low", "high")]
    return all(was == now or abs(was - now) <= _SAME or (was != was and now != now) for was, now in ends)


def _rank(found: CheckChange) -> tuple[bool, bool, int]:
    """Return where a check stands: what is worse or lost first."""
    return found.turn != Turn.WORSE, not found.lost, list(Turn).index(found.turn)


# ---------------------------------------------------------------------------------------------------- whole and words


def _overall(checks: Sequence[CheckChange], margin: float | None) -> tuple[Outlook, str]:
    """Return the verdict on the whole, and its sentence."""
    required = [found for found in checks if found.required]
    n, turns = len(required), Counter(found.turn for found in required)
    lost = sum(found.lost for found in required)
    open_ = sum(found.within is False for found in required)
    if turns[Turn.WORSE]:
        return Outlook.WORSE, f"Worse: {_of(turns[Turn.WORSE], n)} worse than before."
    if lost:
        return Outlook.INCONCLUSIVE, f"Inconclusive: {_of(lost, n)} not comparable."
    if not any(found.compared for found in required):
        return Outlook.INCONCLUSIVE, "Inconclusive: no required check can be compared."
    if open_:
        return Outlook.INCONCLUSIVE, f"Inconclusive: {_of(open_, n)} not shown to be within the margin of {margin:g}."
    if turns[Turn.BETTER]:
        return Outlook.BETTER, f"Better: {_of(turns[Turn.BETTER], n)} better than before, none is worse."
    if turns[Turn.UNCHANGED] == sum(found.compared for found in required):
        return Outlook.NOT_DISTINGUISHABLE, "Not distinguishable: every required check with a number is unchanged."
    return Outlook.NOT_DISTINGUISHABLE, "Not distinguishable: no required check is better or worse than before."


def _of(count: int, n: int) -> str:
    """Write "one of seven required checks is"."""
    if n == 1:
        return "the only required check is"
    return f"{count_text(count)} of {count_text(n)} required checks {'is' if count == 1 else 'are'}"


_PEOPLE = {
    True: "Both audits judge the same people. Reports hold nothing per person, so each interval is that of two "
    "independent samples: usually too wide here.",
    False: "The audits judge different people or divide them otherwise. Each interval is that of two independent "
    "samples.",
    None: "The reports do not tell whether the people are the same. Each interval is that of two independent samples.",
}
"""Whether the people are the same -> what the intervals take for granted."""

NO_PROOF = (
    "Verdicts are at 95% confidence over all checks together (Holm). “Not distinguishable” is no proof of “no worse”."
)
"""What a comparison does not show."""

_OF_AUDIT = ("Data", "Plan", "Code", "Seeds")
"""Parts that change numbers although the model is the same."""


def _detail(checks: Sequence[CheckChange], changed: Sequence[Changed]) -> str:
    """Return what the headline leaves out."""
    turns = Counter(found.turn for found in checks if not found.required)
    parts = [
        f"{count} optional {'check is' if count == 1 else 'checks are'} {turn}."
        for turn in (Turn.WORSE, Turn.BETTER)
        if (count := turns[turn])
    ]
    others = [part.lower() for part in _OF_AUDIT if any(one.part == part for one in changed)]
    if others:
        parts.append(f"Also changed: {', '.join(others)}. The model alone need not be the cause.")
    return " ".join(parts)


def _answers(document: Mapping[str, Any]) -> tuple[str, str]:
    """Return what says that a model's answers and what was asked of them are the same."""
    return document["model"]["fingerprint"], document["provenance"]["plan"]


def _audit(document: Mapping[str, Any]) -> Audit:
    return Audit(
        title=document["plan"]["title"] or document["data"]["title"],
        name=audit_name(document),
        day=audit_day(document),
        fingerprint=document["fingerprint"],
        overall=Status(document["verdict"]["overall"]),
        headline=document["verdict"]["headline"],
    )


def change_text(found: CheckChange, *, unit: bool = True) -> str:
    """Write the change of a check as "+0.7 points", or "+0.7"; empty where there is none."""
    if found.change is None:
        return ""
    of = UNITS[CHECKS[found.check].unit]
    value = of.factor * found.change.value
    places = decimals_beside([value], 0.0, of.decimals) if found.turn in (Turn.WORSE, Turn.BETTER) else of.decimals
    text = number_text(value, f"+.{places}f")
    return f"{text}{_UNIT_WORDS.get(CHECKS[found.check].unit, '')}" if unit else text


def change_range(found: CheckChange, *, decided: bool = False) -> str:
    """Write the interval of a change as "−0.4 to +1.8"; empty where there is none."""
    shown = found.decided if decided and found.decided is not None else found.change
    if shown is None or math.isnan(shown.low) or shown.low == shown.high:
        return ""
    of = UNITS[CHECKS[found.check].unit]
    ends = [of.factor * shown.low, of.factor * shown.high]
    places = decimals_beside(ends, 0.0, of.decimals)
    return " to ".join(number_text(end, f"+.{places}f") for end in ends)


_UNIT_WORDS = {"points": " points", "percent": " points", "bits": " bits", "columns": " columns"}
"""Unit of a check -> what stands behind its change."""
