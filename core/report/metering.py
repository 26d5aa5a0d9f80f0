"""Leakage of a report's own fairness numbers, estimated as the model-card study does.

A report is a model card as well. A reader may hold everything about the test people but the sensitive
attribute: features, labels, the model's predictions, and from these a calibrated probability of every group. To such a
reader a group's size n and rate r on some rows R are linear statements about who is in the group,

    Σ_R [s_i = g] = n,        Σ_R ŷ_i [s_i = g] = k,  with k/n printed as r,

the answers to bias questions of Hamman et al. (2023), about a model everybody has already. A rate printed with d
decimals leaves the whole numbers k for which k/n rounds to it; its interval and, with two groups, the unfairness and
the ratio of acceptance rule out more of them. What is left is an interval of k, often a single number; those of a group
and of all others together are a card of one model (`core.model_card.measure_card`).

Three forms of the numbers are estimated: every digit, as the files and the text at the end of the page have them; the
digits that the page prints; and what is left of these in the disclosure edition. Of more than two groups each has a
card, against all others; a form's row is the group whose card exposes the most people, of several such groups the one
with the most bits. What all cards say together is the posterior that agrees with each of them: it is moved by one after
the other, which leaves the odds between the other groups as they are, until it no longer moves (cyclic I-projections,
Csiszár 1975).

Not read: numbers about other records (sizes and label rates of the whole table, unfairness on the training records),
and whatever the verdicts and the numbers of the attacks themselves tell. What those add was not tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from core.arrays import Floats
from core.errors import InputError
from core.estimates import Estimate, not_measured, proportion
from core.model_card import (
    Published,
    Release,
    ReleasedPeople,
    ReleaseSettings,
    ReleaseStudy,
    findings,
    measure_card,
    project,
)
from core.report.canonical import THRESHOLD, decimals_of, number_of, printed, strict
from core.serialize import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class MeteredForm(Result):
    """Leakage of one form of the numbers, for one `group` against everybody else.

    `form` is "every_digit", "page" or "disclosure": the numbers with every digit, as the page prints them, and as the
    disclosure edition does. `numbers` counts sizes and rates of the group and of the others. `df_bits` is the predicted
    gain (`core.model_card.Prediction`), `joint_bits`, `prior_bits` and `person_bits` are those of
    `core.model_card.Meter`; none of them uses a true attribute. `bits`, measured with it, are what the numbers add
    to features and label. Of `unsure` people before, `pinned` are near-certain after, `pinned_right` of them correctly;
    `accuracy` is that of the inference after reading. `status` is that of the projection, "converged",
    "not_converged" or "infeasible"; "nothing" where no number is printed.
    """

    form: str
    group: str
    numbers: int
    df_bits: float
    joint_bits: float
    prior_bits: float
    person_bits: float
    bits: Estimate
    unsure: int
    pinned: int
    pinned_right: int
    accuracy: Estimate
    status: str


class MeterOutcome(StrEnum):
    """The leakage was estimated, could not be, stopped with an error, or is withheld."""

    DONE = "done"
    NOT_RUN = "not_run"
    FAILED = "failed"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportMeter(Result):
    """What a report's own fairness numbers reveal; nothing about single people.

    `reason` says why there is no result, if there is none; `threshold` is that of the disclosure edition. Controls are
    the same attacker before reading (`accuracy_before`) and the majority-class baseline (`majority`). `told`,
    `control` and `distance` say in sentences the result, its control, and how far the projection is from the exact
    posterior.
    """

    outcome: MeterOutcome
    reason: str
    people: int = 0
    threshold: int = THRESHOLD
    forms: tuple[MeteredForm, ...] = ()
    accuracy_before: Estimate = field(default_factory=not_measured)
    majority: Estimate = field(default_factory=not_measured)
    told: str
    control: str
    distance: str = ""


# ------------------------------------------------------------------------------------ what a document says in equations

_PARTS = {
    "test_rate": (None, "sp_rate", "size", "statistical_parity"),
    "test_tpr": (1, "tpr_rate", "size_label_1", "equal_opportunity"),
    "test_fpr": (0, "fpr_rate", "size_label_0", "predictive_equality"),
}
"""Rate in a group's summary -> label of its rows, None for all; statistic and size of a card; metric it decides."""

_MOST_TRIED = 50
"""Numbers of accepted people tried against unfairness and ratio; where more are left, these are hardly finer."""


def published_of(
    document: Mapping[str, Any], people: ReleasedPeople, group: int, *, exact: bool = False
) -> Published | None:
    """Return what a document's summaries say of a group of these people, and of all others, as published numbers.

    None where they say nothing. With `exact` the rates have every digit, so that each gives a whole number; otherwise
    they are read as rounded. InputError if the document names a group the people do not have, counts more of them than
    there are, or its numbers contradict each other.
    """
    names = [strict(name) for name in people.group_names]
    values: dict[tuple[str, str], float | tuple[float, float]] = {}
    for part, (label, statistic, size_name, _) in _PARTS.items():
        rows = np.ones(len(people.labels), dtype=bool) if label is None else people.labels == label
        n, accepted = int(rows.sum()), int(np.count_nonzero(people.predictions[0, rows]))
        counts: dict[int, tuple[int, range]] = {}
        for summary in document["groups"]:
            if summary["group"] not in names:
                raise InputError(f"The document's groups must be those of the people, got {summary['group']!r}.")
            if summary[part] is not None and summary[part]["value"] is not None:
                counts[names.index(summary["group"])] = _counts(summary[part], n, exact=exact)
        if len(names) == 2 == len(counts) and not exact:
            counts = _linked(document, part, counts, accepted)
        one, others = counts.get(group), [found for code, found in counts.items() if code != group]
        if not n or (one is None and len(others) < len(names) - 1):
            continue
        size = n - sum(other for other, _ in others) if one is None else one[0]
        values["", size_name] = float(size)
        if one is not None and 0 < size < n:
            values["model 1", f"{statistic}_1"] = one[1][0] / size, one[1][-1] / size
        if len(others) == len(names) - 1 and 0 < size < n:
            low, high = (sum(hits[end] for _, hits in others) / (n - size) for end in (0, -1))
            values["model 1", f"{statistic}_0"] = low, high
    if not values:
        return None
    return Published.from_values(Release(people.predictions, labels=people.labels, statistics=("sp_rate",)), values)


def _counts(rate: Mapping[str, Any], most: int, *, exact: bool) -> tuple[int, range]:
    """Return a group's size and the numbers of accepted people for which the rate would be printed as it is."""
    n, value = int(rate["n"]), number_of(rate["value"])
    if n > most:
        raise InputError(f"A group must not have more than the {most:,} people attacked, got {n:,}.")
    if exact:
        return n, range(round(value * n), round(value * n) + 1)
    half = 0.5 * 10.0 ** -decimals_of(number_of(rate["low"]), number_of(rate["high"]))
    low, high = max(0, int(np.ceil((value - half) * n - 1e-9))), min(n, int(np.floor((value + half) * n + 1e-9)))
    wide, stated = range(low, high + 1), tuple(number_of(rate[name]) for name in ("value", "low", "high"))
    found = {k: proportion(k, n, level=number_of(rate["level"])) for k in wide}
    told = [k for k, one in found.items() if printed(one.value, one.low, one.high) == stated]
    return n, range(told[0], told[-1] + 1) if told else wide


def _linked(
    document: Mapping[str, Any], part: str, counts: Mapping[int, tuple[int, range]], accepted: int
) -> dict[int, tuple[int, range]]:
    """Return the counts of two groups that add up to everybody's and would give unfairness and ratio as printed."""
    (zero, other), (one, own) = counts[0], counts[1]
    hits = range(max(own.start, accepted - other.stop + 1), min(own.stop, accepted - other.start + 1))
    if len(hits) <= _MOST_TRIED:
        kept = [k for k in hits if _fits(document, part, (k / one, (accepted - k) / zero), accepted / (one + zero))]
        hits = range(kept[0], kept[-1] + 1) if kept else hits
    if not hits:
        raise InputError("The document's rates contradict each other.")
    return {0: (zero, range(accepted - hits[-1], accepted - hits[0] + 1)), 1: (one, hits)}


def _fits(document: Mapping[str, Any], part: str, rates: tuple[float, float], overall: float) -> bool:
    """Whether rates would give the unfairness and the ratio that are printed."""
    model = document["model"]
    compared: list[tuple[float, Any]] = []
    if model["metric"] == _PARTS[part][-1]:  # on these rows alone every metric is statistical parity
        compared.append((max(abs(rate - overall) for rate in rates), model["unfairness_test"]))
    if part == "test_rate" and overall:
        ratios = (m["estimate"] for m in document["measurements"] if m["check"] == "four_fifths")
        compared.append((min(rates) / max(rates), next(ratios, None)))
    return all(_near(value, stated) for value, stated in compared if stated and stated["value"] is not None)


def _near(value: float, stated: Mapping[str, Any]) -> bool:
    """Whether a number would be printed as this one."""
    half = 0.5 * 10.0 ** -decimals_of(number_of(stated["low"]), number_of(stated["high"]))
    return abs(value - number_of(stated["value"])) <= half + 1e-9


# -------------------------------------------------------------------------------------------------- what they reveal

FORM_TITLES = {
    "every_digit": "This report, every digit (files)",
    "page": "This report, as the page prints it",
    "disclosure": "External report (redacted)",
}
"""Form -> what to call it."""

METER_WITHHELD = (
    "What this report's own numbers reveal is stated in the internal report alone: counts of a group are withheld "
    "here, and bits and near-certain people could reveal them."
)

BITS_OF_THE_METER = (
    "They count what the groups' numbers reveal about all test people together. Bits of an attribute check are another "
    "quantity: what the model's outputs reveal about the people whom that check attacks."
)
"""What the bits of the leakage estimate count, where those of a check may stand in the same report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What one form of the numbers reveals: the card that exposes the most people, and `joint_bits` of all.

    `before` says what the people are before reading: the study, or where nothing is said that of another form.
    """

    form: str
    before: ReleaseStudy
    study: ReleaseStudy | None
    joint_bits: float | None

    @property
    def row(self) -> MeteredForm:
        """The card's row in the report."""
        shown, study = self.study or self.before, self.study
        meter, pinned, measured = shown.meter, shown.pinned, shown.measured
        right = 0.0 if pinned.right is None or not pinned.count else pinned.right.value * pinned.count
        return MeteredForm(
            form=self.form,
            group=shown.people.group,
            numbers=0 if study is None else study.n_numbers,
            df_bits=0.0 if study is None else study.prediction.bits.value,
            joint_bits=0.0 if study is None else meter.joint_bits,
            prior_bits=meter.prior_bits,
            person_bits=0.0 if study is None else meter.person_bits,
            bits=replace(not_measured(), value=0.0, n=shown.n) if study is None else measured.bits,
            unsure=pinned.n_unsure,
            pinned=0 if study is None else pinned.count,
            pinned_right=0 if study is None else round(right),
            accuracy=measured.accuracy_before if study is None else measured.accuracy_after,
            status="nothing" if study is None else study.status,
        )

    @property
    def told(self) -> str:
        """What the card reveals, as the study words it."""
        if self.study is None:
            return "No size or rate of a group on the test records is published: they reveal nothing."
        near, group = findings.near_certain(self.study), self.study.people.group
        several = "" if self.joint_bits is None else f"Of {group} against all others: "
        together = f"All groups read together: {findings.bits_text(self.joint_bits or 0.0)} bits."
        sentences = (findings.information_gain(self.study).point, near.point, near.evidence, several and together)
        return several + " ".join(filter(None, sentences))


def cards_of(documents: Mapping[str, Mapping[str, Any]], people: ReleasedPeople) -> tuple[Card, ...]:
    """Return the card of each form of the numbers, the first of which says something.

    `documents` has form -> the document whose groups' summaries have the numbers in this form. InputError if they are
    not about these people, or nobody's memberships agree with them.
    """
    found: list[Card] = []
    for form, document in documents.items():
        codes = (1,) if len(people.group_names) == 2 else range(len(people.group_names))
        numbers = {code: published_of(document, people, code, exact=form == "every_digit") for code in codes}
        told = {code: published for code, published in numbers.items() if published is not None}
        cards = [
            measure_card(replace(people, group=people.group_names[code]), ReleaseSettings(), published=published)
            for code, published in told.items()
        ]
        study = max(cards, key=_exposes, default=None)
        before = found[0].before if study is None and found else study
        if before is None:
            raise InputError("no size or rate of a group on the test records is published")
        if any(card.status == "infeasible" for card in cards):
            raise InputError(f"no memberships agree with its numbers ({form})")
        joint = _joint_bits(people, told) if len(codes) > 1 else None
        found.append(Card(form=form, before=before, study=study, joint_bits=joint))
    return tuple(found)


def _exposes(card: ReleaseStudy) -> tuple[bool, int, float]:
    """Return how much a card exposes; one whose projection did not converge counts as the worst."""
    return card.status != "converged", card.pinned.count, card.prediction.bits.value


_ROUNDS = 200
_STILL = 1e-6
"""Times all cards are read one after the other, at most; and the change of a probability at which it is enough."""


def _joint_bits(people: ReleasedPeople, published: Mapping[int, Published]) -> float:
    """Return the bits by which all cards together shorten a description of everybody's group."""
    before = after = np.asarray(people.posteriors, dtype=np.float64)
    for _ in range(_ROUNDS if published else 0):
        start = after
        for group, numbers in published.items():
            after = _moved(after, group, project(after[:, group], numbers).probability)
        if np.abs(after - start).max() < _STILL:
            break
    rows, least = np.arange(len(before)), 2.0**-1000
    truth = people.codes
    return float(np.log2(np.maximum(after[rows, truth], least) / np.maximum(before[rows, truth], least)).sum())


def _moved(posterior: Floats, group: int, probability: Floats) -> Floats:
    """Return probabilities (n, K) with a group's set, and those of the others in the proportions they had."""
    rest = 1.0 - posterior[:, group]
    scale = np.divide(1.0 - probability, rest, out=np.zeros_like(rest), where=rest > 0.0)
    made = posterior * scale[:, None]
    made[:, group] = probability
    return made


def meter_of(cards: Sequence[Card]) -> ReportMeter:
    """Return what cards reveal, of which the first has the most digits."""
    first = cards[0]
    measured = first.before.measured
    alike: dict[str, list[str]] = {}
    for card in cards:
        alike.setdefault(card.told, []).append(FORM_TITLES[card.form])
    return ReportMeter(
        outcome=MeterOutcome.DONE,
        reason="",
        people=first.before.n,
        forms=tuple(card.row for card in cards),
        accuracy_before=measured.accuracy_before,
        majority=measured.majority,
        told=" ".join(f"{'; '.join(titles)}: {told}" for told, titles in alike.items()),
        control=findings.average_accuracy(first.study or first.before).evidence,
        distance=findings.APPROXIMATE,
    )


def not_metered(reason: str, *, outcome: MeterOutcome = MeterOutcome.NOT_RUN) -> ReportMeter:
    """Return that there is no leakage estimate, and why."""
    sentence = f"What the fairness numbers reveal was not estimated: {reason}."
    return ReportMeter(outcome=outcome, reason=reason, told=sentence, control="")
