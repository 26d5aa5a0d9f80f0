"""What a policy says about an audit: a status for every check and for the release.

A measurement is one check's number, in the form a policy judges; the headline is what a reader acts on.

What would settle a check is how many more records, or what to change. The half width h of an interval falls with the
square root of the number of records n, so that an interval which now contains its limit at a distance d from the value
ends at the limit with n · (h / d)² records.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ...base.caveats import Caveat
from ...base.serialize import UNSAID, Result
from ...stats.estimates import Estimate, interval, level_text
from ...studies.registry import STUDIES
from ...studies.study import Basis, Measurement, Outcome
from ...studies.subject import SETS_UNKNOWN
from .limits import (
    CHECKS,
    VERDICT_TITLES,
    Limit,
    Policy,
    control_text,
    estimate_text,
    is_placeholder,
    limit_text,
    range_text,
    source_text,
    value_text,
    verdict_counts,
)


class Status(StrEnum):
    """Verdicts of a check, in the order they are shown; NO_LIMIT is no limit of the policy's."""

    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_RUN = "not_run"
    PASS = "pass"
    NO_LIMIT = "not_asked"


BASIS_LABELS = {
    "measured": ("Measured", "an attack was run, or the model's answers were counted"),
    "combined": ("Combined", "follows from measurements and from declared settings"),
    "declared": ("Declared", "calculated from declared settings; nothing was attacked"),
    "not_released": ("Not released", "nothing of the kind is released, so nothing was attacked"),
}
"""Basis -> its word, and what it means."""

_LONGEST_BRIEF = 64
"""Characters of a source that stand beside a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckVerdict(Result):
    """The verdict on one check.

    `limit` is None if the policy does not ask for the check, `item` its place in the policy, from 1; `measurement` is
    None if the audit did not try the check at all. `decided` is the interval at the level of its step of Holm's
    procedure, from which the verdict follows, and `p_value` and `p_adjusted` are two-sided p-values of "the value is
    exactly the limit" before and after Holm's correction: None and nan where nothing is estimated. `why` is the verdict
    in one sentence; `blocks` says whether it stands against a release; `title` names the sensitive attribute;
    `definition`, `unit` and `at_least` are the check's, for readers of a report without this version of FairLeak.
    What a reader is shown of it in words is empty where there is nothing.
    """

    check: str
    verdict: Status
    limit: Limit | None = None
    item: int = 0
    measurement: Measurement | None = field(default=None, metadata=UNSAID)
    decided: Estimate | None = None
    p_value: float = math.nan
    p_adjusted: float = math.nan
    why: str
    blocks: bool = False
    title: str = ""
    definition: str = ""
    unit: str = ""
    at_least: bool = False

    @property
    def excused(self) -> bool:
        """Return whether it is required, could not be run on what is at hand, and its limit allows that."""
        if self.limit is None or not self.limit.required or self.limit.if_not_run != "allowed":
            return False
        return self.verdict == Status.NOT_RUN and self.attempt.outcome == Outcome.NOT_RUN

    @property
    def is_decisive(self) -> bool:
        """Return whether the release hangs on it."""
        return self.limit is not None and self.limit.required and not self.excused

    @property
    def attempt(self) -> Measurement:
        """The measurement; one that was not run where the audit has none."""
        return self.measurement or Measurement(
            check=self.check, outcome=Outcome.NOT_RUN, reason="This audit did not try it."
        )

    @property
    def is_attacked(self) -> bool:
        """Whether there was anything to attack; what is not released passes only as long as that stays true."""
        return self.attempt.basis != Basis.NOT_RELEASED

    @property
    def display_verdict(self) -> str:
        """The verdict by its key in `VERDICT_TITLES`; a pass of what is not released is "not_attacked"."""
        if self.verdict == Status.PASS and not self.is_attacked:
            return "not_attacked"
        return self.verdict

    @property
    def measured(self) -> bool:
        """Whether there is a number to show."""
        return self.attempt.outcome == Outcome.DONE and self.value != "no value"

    @property
    def basis(self) -> str:
        """How the number came about, in a word."""
        if self.attempt.outcome == Outcome.DONE:
            return BASIS_LABELS[self.attempt.basis][0].lower()
        return "not measured"

    @property
    def value(self) -> str:
        """The number, such as "+7.0 points"; "no value" where there is none."""
        return self._number_and_interval[0]

    @property
    def interval(self) -> str:
        """Its interval, such as "95%: 6.5 to 7.4"."""
        return self._number_and_interval[1]

    @property
    def number(self) -> str:
        """Value and interval."""
        return ", ".join(filter(None, self._number_and_interval))

    @property
    def limit_label(self) -> str:
        """The limit, such as "at most 5.0 points"."""
        if self.limit is None:
            return ""
        return limit_text(self.check, self.limit.value)

    @property
    def source(self) -> str:
        """The limit's source."""
        if self.limit is None:
            return ""
        return source_text(self.limit)

    @property
    def placeholder(self) -> bool:
        """Whether the limit is a starting value of FairLeak's, without a source."""
        return self.limit is not None and is_placeholder(self.limit)

    @property
    def settling(self) -> str:
        """What would settle it."""
        return next_step(self)

    @property
    def beside(self) -> str:
        """What the number stands beside: its baseline, or equal groups; why there is none where there is no number."""
        attempt = self.attempt
        if not self.measured or not self.is_attacked:
            return attempt.reason or attempt.attacked
        if attempt.control is not None and not math.isnan(attempt.control.value):
            name = attempt.control_name or "control"
            return f"Beside {name}: {control_text(self.check, attempt.control)}."
        if CHECKS[self.check].folded:
            return f"Equal groups: {CHECKS[self.check].chance:g}."
        return attempt.attacked

    @property
    def brief(self) -> str:
        """The beginning of the source, cut between words."""
        if self.placeholder:
            return "placeholder"
        if len(self.source) <= _LONGEST_BRIEF:
            return self.source
        return f"{self.source[:_LONGEST_BRIEF].rsplit(' ', 1)[0]}…"

    @property
    def lines(self) -> Iterator[tuple[str, str | tuple[str, ...] | dict[str, str]]]:
        """All that a reader is shown of it: a term, and a text, several sentences or numbers by name."""
        measurement = self.attempt
        limit = self.limit
        yield "Why this verdict", " ".join(filter(None, (self.why, self._p_value)))
        yield "Quantity", self.definition
        if not self.is_attacked:
            result = "No number: nothing is released."
        elif self.measured:
            result = self.number
        elif measurement.outcome == Outcome.FAILED:
            result = f"The attack stopped with an error. {measurement.reason}".strip()
        else:
            result = f"No number. {measurement.reason}".strip()
        yield "Result", result
        yield "Check", measurement.attacked
        yield "The attacker knows", measurement.knows
        yield "Control", self.control
        yield "Assumptions", measurement.assumptions
        if measurement.estimate is not None:
            yield "Evidence", "{}: {}.".format(*BASIS_LABELS[measurement.basis])
        details = sorted((measurement.details or {}).items())
        yield "Further numbers", {name: _number(value) for name, value in details}
        if limit is not None:
            if not limit.required:
                needed = "for information"
            elif limit.if_not_run == "allowed":
                needed = "required where it can be run"
            else:
                needed = "required for release"
            who = ", ".join(filter(None, (limit.author or "no author", limit.date)))
            text = f"{self.limit_label}, item {self.item} of the policy, {needed}; set by {who}."
            yield "Limit", text
            yield "Why this limit", limit.rationale.strip() or "No reason given."
            yield "Source", self.source

    @property
    def _p_value(self) -> str:
        if math.isnan(self.p_adjusted):
            return ""
        if self.p_adjusted < 0.001:
            return "p < 0.001 (Holm-adjusted)."
        return f"p = {self.p_adjusted:.3f} (Holm-adjusted)."

    @property
    def _number_and_interval(self) -> tuple[str, str]:
        """The number and its interval; a number that is computed, not estimated, has no interval to miss."""
        estimate = self.attempt.estimate
        if estimate is None or estimate.value != estimate.value:
            return "no value", ""
        beside = None if self.limit is None else self.limit.value
        if estimate.low == estimate.high:
            computed = self.attempt.basis == Basis.DECLARED
            interval_text = "calculated" if computed else ""
            return value_text(self.check, estimate.value, limit=beside), interval_text
        return estimate_text(self.check, estimate, limit=beside)

    @property
    def control(self) -> str:
        """What is reached without the leak, a rate with its interval."""
        control = self.attempt.control
        if control is None or control.value != control.value:
            return ""
        text = control_text(self.check, control)
        wide = control.low < control.high and text.endswith("%")
        if wide:
            text = f"{text}, {level_text(control.level)}: {interval(control)}"
        return f"{self.attempt.control_name or 'control'}: {text}"


def _number(value: float) -> str:
    """Write a further number: a count whole, the rest to three decimals."""
    if abs(value) < 0.0005:
        return "0.0"
    is_count = value == round(value) and abs(value) > 1
    text = f"{value:,.0f}" if is_count else f"{value:.3f}"
    return text.replace("-", "−")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Result):
    """The verdict on a release.

    `overall` is PASS, FAIL, INCONCLUSIVE or NOT_RUN: the worst of the required checks. `headline` and `detail` are a
    title ("Do not release: Fail 2 of 6.") and the sentence under it. `rows` come in the order fail,
    inconclusive, not run, pass, not asked; within these in the policy's order. `caveats` are what has to be known
    beside it, in the order of their kinds.
    """

    overall: Status
    headline: str
    detail: str
    rows: tuple[CheckVerdict, ...]
    policy: Policy
    caveats: tuple[Caveat, ...] = ()


_BLOCKING = (Status.FAIL, Status.INCONCLUSIVE, Status.NOT_RUN)


def overall_status(rows: Sequence[CheckVerdict], *, failed_tests: Sequence[str] = ()) -> Status:
    """Return the worst verdict of the required checks: fail, then inconclusive, then not run, then pass.

    A check that could not be run, where its limit allows that, is left out; of none that was run nothing passes.
    Where FairLeak's test of itself failed for an attack, pass is inconclusive.
    """
    verdicts = {row.verdict for row in rows if row.is_decisive}
    if not verdicts:
        return Status.NOT_RUN
    for verdict in _BLOCKING:
        if verdict in verdicts:
            return verdict
    if failed_tests:
        return Status.INCONCLUSIVE
    return Status.PASS


def headline_and_detail(
    rows: Sequence[CheckVerdict], *, level: float, failed_tests: Sequence[str] = ()
) -> tuple[str, str]:
    """Return the verdict as a title, and what the title leaves out."""
    headline, detail = _of_checks(rows, level=level)
    if not failed_tests:
        return headline, detail
    attacks = "; ".join(f"“{attack}”" for attack in failed_tests)
    reason = (
        f"The self-test failed for {attacks}: a planted leak was missed, or a model without one was flagged. "
        "No verdict here can be relied on until the cause is found."
    )
    if overall_status(rows) == Status.PASS:
        return "Do not release yet: the self-test failed.", reason
    return headline, _sentences(detail, reason)


def _of_checks(rows: Sequence[CheckVerdict], *, level: float) -> tuple[str, str]:
    required: Counter[str] = Counter(row.display_verdict for row in rows if row.is_decisive)
    worst = overall_status(rows)
    n = required.total()
    optional = _optional(rows)
    if not n:
        return "Do not release yet: no required check could be run.", optional
    if worst == Status.PASS:
        claim = (
            f"Decided at {level_text(level)} confidence over all limits together. "
            "It holds for these attacks, this model and this table, not for others."
        )
        about_model = any(CHECKS[row.check].needs for row in rows if row.is_decisive)
        if about_model:
            claim_text = "Every required limit is kept"
        else:
            claim_text = _ABOUT_FAIRLEAK
        counts = f"Pass {required[Status.PASS]} of {n}"
        unattacked = n - required[Status.PASS]
        if unattacked:
            counts = f"{counts}, not attacked {unattacked}"
        return f"{claim_text}: {counts}.", _sentences(
            claim, _calculated(rows), _excused(rows), optional
        )
    if worst == Status.FAIL:
        warning = "Do not release"
    else:
        warning = "Do not release yet"
    headline = f"{warning}: {VERDICT_TITLES[worst]} {required[worst]} of {n}."
    if required[worst] == n:
        return headline, _sentences(_excused(rows), optional)
    remaining = {verdict: number for verdict, number in required.items() if verdict != worst}
    blocking = {
        str(verdict): remaining.pop(verdict) for verdict in _BLOCKING if verdict in remaining
    }
    also = ""
    if blocking:
        also = f"Also blocking: {verdict_counts(blocking)}."
    counts = verdict_counts({Status.PASS: 0, **remaining})
    return headline, _sentences(also, f"{counts}.", _calculated(rows), _excused(rows), optional)


_ABOUT_FAIRLEAK = "Every required limit is kept, but it is about FairLeak, not about the model"


def _calculated(rows: Sequence[CheckVerdict]) -> str:
    """Write how many required checks pass without an attack, by what the plan declares."""
    passing = [row for row in rows if row.is_decisive and row.verdict == Status.PASS]
    n = sum(row.attempt.basis == Basis.DECLARED for row in passing)
    if n:
        return f"Of the passes from the plan alone, without an attack: {n}."
    return ""


def _excused(rows: Sequence[CheckVerdict]) -> str:
    """Write which checks the policy lets go because they could not be run."""
    titles = [f"“{row.title or row.check}”" for row in rows if row.excused]
    if titles:
        return f"Not tested, and not blocking under this policy: {'; '.join(titles)}."
    return ""


def limits_to_set(rows: Sequence[CheckVerdict]) -> str:
    """Return how many limits are still placeholders, and how many of them for information; "" for none."""
    placeholders = [row for row in rows if row.placeholder]
    if not placeholders:
        return ""
    optional = sum(not row.is_decisive for row in placeholders)
    text = f"{len(placeholders)} limit{'s' * (len(placeholders) != 1)} to set"
    if optional:
        return f"{text} ({optional} for information)"
    return text


def _optional(rows: Sequence[CheckVerdict]) -> str:
    """Write what became of the limits that are for information."""
    counts = verdict_counts(
        Counter(row.display_verdict for row in rows if row.limit and not row.limit.required)
    )
    if counts:
        return f"For information: {counts}."
    return ""


def _sentences(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


class Bullet(NamedTuple):
    """Where a value lies on a scale from chance over the limit to twice that distance.

    `value`, `low` and `high`, in [0, 1], are positions of the value and of the interval the verdict follows from; that
    of chance is 0, the limit's 0.5, and right is worse. Without an interval low and high are the value's. What lies
    beyond is shown at the scale's end, and `arrows` are the ends beyond which something lies: False for the left one,
    True for the right one.
    """

    value: float
    low: float
    high: float
    arrows: tuple[bool, ...]


def bullet(row: CheckVerdict) -> Bullet | None:
    """Return the positions of a check's value and interval; None without a limit or without a number.

    x = (value − chance) / (limit − chance) runs from 0 to 2, also where a limit is a least value, so that larger x are
    always worse. Where the limit asks for no less than chance, its size takes the place of the distance; of a limit of
    0 it is 0.05, or 1 column.
    """
    estimate = row.attempt.estimate
    span = _span(row)
    if row.limit is None or estimate is None or math.isnan(span):
        return None
    limit = row.limit.value
    return bullet_on_scale(estimate.value, row.decided or estimate, middle=limit, span=span)


def distance_to_limit(row: CheckVerdict) -> float:
    """Return how far a value is beyond its limit, in distances from chance to the limit; nan without either.

    It is −1 at chance, 0 at the limit, and 1 at twice the distance.
    """
    estimate = row.attempt.estimate
    span = _span(row)
    if row.limit is None or estimate is None or math.isnan(span):
        return math.nan
    return (estimate.value - row.limit.value) / span


def _span(row: CheckVerdict) -> float:
    """Return the distance from chance to the limit, below 0 where a limit is a least value; nan without a number."""
    estimate = row.attempt.estimate
    if (
        row.limit is None
        or estimate is None
        or math.isnan(estimate.value)
        or row.verdict == Status.NOT_RUN
    ):
        return math.nan
    check = CHECKS[row.check]
    limit = row.limit.value
    worse = -1.0 if check.at_least else 1.0
    distance = worse * (limit - check.chance)
    if distance <= 0.0:
        distance = abs(limit) or (1.0 if check.unit == "columns" else 0.05)
    return worse * distance


def bullet_on_scale(value: float, interval: Estimate, *, middle: float, span: float) -> Bullet:
    """Return the positions of a value and its interval on a scale of `span` to either side of the middle.

    Where the span is below 0 the scale runs from larger values to smaller ones.
    """
    ends = [value, interval.low, interval.high]
    if math.isnan(interval.low):
        ends[1] = value
    if math.isnan(interval.high):
        ends[2] = value
    positions = [0.5 + (x - middle) / span / 2 for x in ends]
    beyond = {position > 0.5 for position in positions if not -1e-9 <= position <= 1 + 1e-9}
    at, *interval_ends = (min(1.0, max(0.0, position)) for position in positions)
    return Bullet(
        value=at, low=min(interval_ends), high=max(interval_ends), arrows=tuple(sorted(beyond))
    )


MOST_TIMES = 10
"""From how many times as many records on more of them are no advice."""

_PAGES = {
    "attriguard": "AttriGuard",
    "bias_queries": "Bias queries",
    "correction": "Correction",
    "membership": "Membership",
    "fairness": "Choose a model",
}
"""Study -> the page that helps, where that has another name than the study."""

_REDUCE = {
    "unfairness": "Train, or ask for, a fairer model",
    "four_fifths": "Train, or ask for, a fairer model",
    "attriguard_cost": "Lower the noise budget",
    "absence": "Let the model answer about everybody, or about nobody of a kind",
}
"""Check -> what a fail asks for, where that is not a smaller leak."""

NOTHING_TO_DO = "Nothing to do"

_BLOCKS = "Until then this check blocks a release."

_SCARCE = {
    "membership_caught": "more people who were not in training",
    "membership_gap": "more people of each group who were not in training",
}
"""Check -> of whom there can be too few to measure it."""

_ADD_SETS = (
    "Add a column that says train, attack or test for each person (role Set on the Data page), or use the policy for "
    "predictions alone."
)


def next_step(row: CheckVerdict, *, table: bool = False) -> str:
    """Return what would turn a verdict into a pass, or a certain one; empty where the policy sets no limit.

    `table` counts in tables as large as this one, where the check is of a part of its people.
    """
    if row.limit is None:
        return ""
    if row.verdict == Status.FAIL:
        return f"{_reduce(row.check)}, or accept the risk in writing."
    if row.verdict == Status.NOT_RUN:
        return _not_run(row)
    if row.verdict == Status.INCONCLUSIVE:
        return _inconclusive(row, table)
    return NOTHING_TO_DO


def _reduce(check: str) -> str:
    """Return what lowers a number, and the page about it."""
    return f"{_REDUCE.get(check, 'Reduce the leak')} ({_page(check)})"


def _page(check: str) -> str:
    """Return the page about a check."""
    for name, study in STUDIES.items():
        if any(declared.name == check for declared in study.declared):
            return _PAGES.get(name, study.title)
    return "see the study"


def _not_run(row: CheckVerdict) -> str:
    """Return what to supply where there is no number; the reason stands beside it wherever this is shown."""
    if row.excused:
        return "Not blocking: the policy requires it only where it can be run."
    if not row.is_decisive:
        return "Nothing to do: the policy does not require it here."
    if row.attempt.outcome == Outcome.FAILED:
        return f"Remove the cause of the error and audit again. {_BLOCKS}"
    reason = ""
    if row.measurement is not None:
        reason = row.measurement.reason
    if reason == SETS_UNKNOWN:
        return _ADD_SETS
    if reason:
        missing = _SCARCE.get(row.check, "what is missing")
    else:
        missing = f"what is missing (needs {', '.join(CHECKS[row.check].needs)})"
    return f"Supply {missing}. {_BLOCKS}"


def _inconclusive(row: CheckVerdict, table: bool) -> str:
    """Return how many more records are needed, or that it is to be decided in writing."""
    limit = row.limit
    decided = row.decided
    measurement = row.measurement
    assert limit is not None
    assert measurement is not None and measurement.estimate is not None
    if measurement.reason:
        return f"Not everybody could be measured: {measurement.reason} Supply more records, or decide in writing."
    if decided is None:
        return "There is no interval, so the records needed are unknown. Decide in writing."
    bound = limit.value
    unit = "records" if measurement.freedom is None else "repetitions"
    wider = ""
    if not measurement.estimate.low <= bound <= measurement.estimate.high:
        # the interval beside it does not hold the limit; the one of Holm's procedure does
        span = range_text(row.check, decided, bound)
        wider = f"All limits together are judged at {level_text(decided.level)}: {span}. "
    times = times_more_records(decided, bound)
    beyond = decided.value != bound and (decided.value > bound) != CHECKS[row.check].at_least
    if beyond:
        return (
            f"{wider}Likely beyond the limit; more {unit} would confirm it. {_reduce(row.check)}."
        )
    if times > MOST_TIMES:
        return (
            f"{wider}The result lies at the limit; no realistic number of {unit} settles it. "
            "A person must decide, with a reason."
        )
    if table and unit == "records":
        amount = f"A table about {_tenths(times):g} times as large as this"
    elif decided.n > 0:
        more = _two_digits(decided.n * (times - 1.0))
        amount = f"About {more:,} more {unit}"
    else:
        amount = f"About {_tenths(times):g} times the {unit} (their number is unknown)"
    return f"{wider}{amount}, or accept the risk in writing."


def times_more_records(estimate: Estimate, limit: float) -> float:
    """Return by how much n must grow until the interval ends at a limit inside it: (half width / distance)²."""
    distance = abs(estimate.value - limit)
    if limit < estimate.value:
        half = estimate.value - estimate.low
    else:
        half = estimate.high - estimate.value
    if distance == 0.0:
        return math.inf
    return max(1.0, (half / distance) ** 2)


def _tenths(times: float) -> float:
    """Return the next larger number of one decimal."""
    return (math.floor(10 * times) + 1) / 10


def _two_digits(number: float) -> int:
    """Return the next larger whole number, rounded up to two digits."""
    integer = math.floor(number) + 1
    step = 10 ** max(0, len(str(integer)) - 2)
    return math.ceil(integer / step) * step
