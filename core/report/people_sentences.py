"""What an audit means for people, in up to three sentences: of 100 people, or times in 100, beside chance.

The first is about the required check that is farthest beyond its limit, or nearest to it where all are kept; the others
are about missing answers where their check does not pass, the sensitive attribute, fairness on the favourable
outcome, and training records. Each says what its check measured and no more, in whole numbers, beside the number
without the model, by chance, or of the other group. What is only declared has no sentence, for nothing was attacked.

Where the model gives some people no answer, a sentence says whether they are counted; fairness is counted both ways.

A gain that blocks a release and rounds to nobody in 100 is counted in 1,000. An attack that is worse than its baseline
adds nobody: the attacker leaves the release aside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..auditing.policy import CHECKS, CheckVerdict, Status, distance_to_limit
from ..auditing.result import GroupSummary
from ..base.caveats import CaveatKind
from ..base.serialize import Result
from ..datasets.columns import quoted
from ..stats.estimates import count
from ..stats.fairness import LABELS_COMPARED, largest_difference
from ..studies.study import Basis
from .report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSentence(Result):
    """What one check means for people.

    `emphasis` is the part of `text` that holds its number, and stands in it once. `share` is the share of people with
    what is released and `baseline` that without it or by chance; of fairness they are those of the groups that fare
    worst and best. Both lie in [0, 1], rounded as the text says them, so that a strip of 100 people shows the same; nan
    where no number of people says it.
    """

    check: str
    verdict: Status
    text: str
    emphasis: str
    share: float = math.nan
    baseline: float = math.nan


_ATTRIBUTE = (
    "attribute_excess",
    "attribute_balanced",
    "attribute_bits",
    "correction_gain",
    "answers_excess",
    "attriguard_exposure",
)
_FAIRNESS = ("unfairness", "four_fifths")
_TRAINING = ("membership_auc", "membership_caught", "membership_advantage", "membership_gap")
_FAMILIES = (_ATTRIBUTE, _FAIRNESS, _TRAINING)
"""Checks of which one sentence speaks: the worst of a family."""

_OF_EVERYBODY = (*_ATTRIBUTE[:3], "absence")
"""Checks that count people without an answer of the model too."""

_MOST_SENTENCES = 3

_TEXTS = {
    "attribute_excess": (
        "From what is released, an attacker infers the {attribute} of {after} of {total} {people} right; without the "
        "model, of {before}."
    ),
    "attribute_balanced": (
        "From what is released, an attacker infers the {attribute} of {after} of {total} people right, as many of each "
        "group; without the model, of {before}."
    ),
    "correction_gain": (
        "With the disclosed fairness constraint, an attacker infers the {attribute} of {after} of {total} {people} "
        "right; without it, of {before}."
    ),
    "answers_excess": (
        "With the planned answers, an attacker infers the {attribute} of {after} of {total} people right, as many of "
        "each group; without answers, of {before}."
    ),
    "attriguard_exposure": (
        "Despite AttriGuard, an attacker infers the {attribute} of {after} of {total} people right; the largest group "
        "alone is {before}."
    ),
    "two_models_gain": (
        "With two models, an attacker is right about {after} of {total} people, as many of each kind; with the better "
        "model alone, about {before}."
    ),
    "membership_auc": (
        "Shown one person from the training data and one not, an attacker picks the right one {after} times in "
        "{total}; random guessing {before}."
    ),
    "membership_caught": (
        "An attacker identifies {after} of {total} people in the training data, and flags 1% of all others; chance "
        "identifies {before}."
    ),
    "membership_advantage": (
        "Of {total} people in the training data, an attacker flags {after} more than of {total} others; chance flags "
        "{before}."
    ),
    "membership_gap": (
        "Of {total} people in the training data, an attacker identifies {after} more in one group than in the rest; "
        "where nothing leaks, {before}."
    ),
    "absence": (
        "Of {total} people, {after} more get no answer in one group or set than in the rest; where they "
        "are alike, {before}."
    ),
}
"""Check -> its sentence; its emphasis is the one of `_EMPHASES` that stands in it."""

_EMPHASES = ("{after} of {total}", "{after} times in {total}", "{after} more")

_LEVELS = ("attriguard_exposure", "membership_auc", "membership_caught")
"""Checks whose value is a level; that of others is a gain over their control."""


def people_sentences(report: Report) -> tuple[PeopleSentence, ...]:
    """Sentences about a report's checks, at most three, the worst verdict first; none where nothing was measured."""
    rows = sorted(filter(_is_measured, report.rows), key=_urgency)
    chosen = [row for row in rows if row.is_decisive][:1]
    families: tuple[tuple[str, ...], ...] = _FAMILIES
    if any(row.check == "absence" and row.verdict != Status.PASS for row in rows):
        families = (("absence",), *_FAMILIES)
    for family in families:
        worst = next((row for row in rows if row.check in family), None)
        is_covered = any(row.check in family for row in chosen)
        if worst is not None and not is_covered:
            chosen.append(worst)
    chosen = sorted(chosen[:_MOST_SENTENCES], key=_urgency)
    return tuple(_counted(report, row, _sentence(report, row)) for row in chosen)


def _is_measured(row: CheckVerdict) -> bool:
    return row.measured and row.attempt.basis not in (Basis.DECLARED, Basis.NOT_RELEASED)


def _urgency(row: CheckVerdict) -> tuple[bool, int, float]:
    """Return what rows are sorted by: required ones first, then the worse verdict, then the farther beyond a limit."""
    distance = distance_to_limit(row)
    if math.isnan(distance):
        distance = -math.inf
    return not row.is_decisive, list(Status).index(row.verdict), -distance


def _counted(report: Report, row: CheckVerdict, sentence: PeopleSentence) -> PeopleSentence:
    """Return a sentence that says as well on how many records its number was measured; of repeats it says nothing."""
    estimate = row.attempt.estimate
    assert estimate is not None
    records = "test records"
    if not report.plan.has_true_sets:
        records = "records, perhaps trained on"
    if row.check in (*_ATTRIBUTE, *_TRAINING) and estimate.n == report.data.sets.get("train"):
        records = "attacked records"
        if report.plan.has_true_sets:
            records = "training records"
    elif row.check not in _FAIRNESS:
        records = "records"
    if not estimate.n or row.attempt.freedom is not None:
        return sentence
    return replace(sentence, text=f"{sentence.text} ({count(estimate.n)} {records})")


def _sentence(report: Report, row: CheckVerdict) -> PeopleSentence:
    if row.check in _FAIRNESS:
        rates = [(group, rate) for group, rate in _rates(report, row) if rate == rate]
        if len(rates) > 1:
            return _fairness(report, row, rates)
    if row.check in _TEXTS:
        return _leak(report, row)
    emphasis = f"{row.title}: {row.value}"
    limit = ""
    if row.limit is not None:
        limit = f", limit {row.limit_label}"
    text = f"{emphasis}{limit}. No number of people says it."
    return PeopleSentence(check=row.check, verdict=row.verdict, text=text, emphasis=emphasis)


def _headcount(share: float, total: int) -> int:
    """Return a share of so many people as a whole number; a half counts upwards."""
    return math.floor(total * share + 0.5)


def _leak(report: Report, row: CheckVerdict) -> PeopleSentence:
    """Sentence about what an attack reaches, beside its baseline."""
    estimate = row.attempt.estimate
    assert estimate is not None
    baseline = _baseline(report, row)
    gain = estimate.value
    if row.check in _LEVELS:
        gain -= baseline
    gain = max(0.0, gain)
    total = 100
    if gain and row.verdict != Status.PASS and not _headcount(gain, total):
        total = 1000
    before = _headcount(baseline, total)
    after = min(total, before + _headcount(gain, total))
    people = "people"
    if report.plan.has_true_sets:
        people = "people in the training data"
    values = {
        "attribute": report.data.attribute,
        "people": people,
        "total": count(total),
        "after": count(after),
        "before": count(before),
    }
    template = _TEXTS[row.check]
    emphasis = next(part for part in _EMPHASES if part in template)
    text = template.format(**values)
    if some_unanswered(report) and row.check not in _OF_EVERYBODY:
        text = f"{text} Only people with an answer count."
    return PeopleSentence(
        check=row.check,
        verdict=row.verdict,
        text=text,
        emphasis=emphasis.format(**values),
        share=after / total,
        baseline=before / total,
    )


def some_unanswered(report: Report) -> bool:
    """Whether the model gives somebody no answer."""
    return any(caveat.kind == CaveatKind.ANSWERS_ABSENT for caveat in report.caveats)


def _baseline(report: Report, row: CheckVerdict) -> float:
    """Return what is reached without the leak: the control, else chance; despite AttriGuard the largest group's share.

    The control of AttriGuard is an attacker without its noise, which is no baseline of what is left.
    """
    if row.check == "attriguard_exposure":
        return max((group.count for group in report.groups), default=0) / max(1, report.data.n)
    control = row.attempt.control
    if control is not None and not math.isnan(control.value):
        return control.value
    return CHECKS[row.check].chance


def _rates(report: Report, row: CheckVerdict) -> Iterator[tuple[GroupSummary, float]]:
    """Yield each group with its rate of the favourable outcome, among the people whom the check compares."""
    name = _RATE_NAMES[_labels_compared(report, row)]
    for group in report.groups:
        yield group, getattr(group, f"test_{name}").value


_RATE_NAMES = {(): "rate", (1,): "tpr", (0,): "fpr"}
"""Labels of the people compared -> the rate of a group's summary that counts them."""


def _labels_compared(report: Report, row: CheckVerdict) -> tuple[int, ...]:
    """Return the label of the people compared; of equalized odds the one with the larger difference."""
    if row.check != "unfairness":
        return ()
    labels = LABELS_COMPARED.get(report.model.metric, ())
    if len(labels) < 2:
        return labels
    tpr = [group.test_tpr.value for group in report.groups if group.test_tpr.n]
    fpr = [group.test_fpr.value for group in report.groups if group.test_fpr.n]
    if _spread(tpr) >= _spread(fpr):
        return (1,)
    return (0,)


def _spread(rates: list[float]) -> float:
    return max(rates, default=0.0) - min(rates, default=0.0)


_LIMITED = {"unfairness": "limited: largest deviation", "four_fifths": "limited: lowest ratio"}
"""Check of fairness -> what it measures, on which its limit is set, and not on the gap."""


def _fairness(
    report: Report, row: CheckVerdict, rates: list[tuple[GroupSummary, float]]
) -> PeopleSentence:
    """Sentence about the favourable outcome: of 100 people of the group that gets it least, and of the other."""
    (worst, least), *_, (best, most) = sorted(rates, key=lambda pair: pair[1])
    total = 100
    if (
        row.verdict != Status.PASS
        and least < most
        and _headcount(least, 100) == _headcount(most, 100)
    ):
        total = 1000
    low = _headcount(least, total)
    high = _headcount(most, total)
    labels = _labels_compared(report, row)
    among = {(): "", (1,): " whose label is favourable", (0,): " whose label is not favourable"}
    emphasis = f"{count(low)} get"
    of_all = [getattr(group, f"all_{_RATE_NAMES[labels]}") for group in (worst, best)]
    answered = ""
    more = ""
    if None not in of_all:
        answered = " with an answer"
        low_of_all, high_of_all = (_headcount(rate.value, total) for rate in of_all)
        more = f" Counting everybody, with or without an answer, {count(low_of_all)} and {count(high_of_all)}"
        if of_all[0].value > of_all[1].value:
            more = f"{more}: the order turns round"
        more = f"{more}."
    gap = largest_difference(
        [[getattr(group, f"test_{_RATE_NAMES[labels]}") for group, _ in rates]]
    )
    text = (
        f"Of {count(total)} {_people_of(report, worst)}{answered}{among[labels]}, {emphasis} {_outcome(report)}; of "
        f"{count(total)} {_people_of(report, best)}{answered}, {count(high)}. Gap {gap.value:.3f}, "
        f"95% CI {gap.low:.3f} to {gap.high:.3f}; {_LIMITED[row.check]} {row.value}.{more}"
    )
    return PeopleSentence(
        check=row.check,
        verdict=row.verdict,
        text=text,
        emphasis=emphasis,
        share=low / total,
        baseline=high / total,
    )


def _people_of(report: Report, group: GroupSummary) -> str:
    """Return a group in the plural: built-in data name most of theirs so, tables of one's own hold values."""
    if report.plan.config.roles is None and group.group[:1].islower():
        return group.group
    return f"people in group {quoted(group.group)}"


def _outcome(report: Report) -> str:
    roles = report.plan.config.roles
    if roles is None or not roles.favourable:
        return f"the favourable outcome ({quoted(report.data.label)})"
    return f"the favourable outcome ({quoted(f'{roles.label} = {roles.favourable}', 60)})"
