"""The release meter on a report's own numbers: what sizes and rates of groups give away.

A report is a model card as well. Three forms of its numbers about the test people are metered: every digit, as the
files and the text at the end of the page have them; the digits that the page prints; and what is left of these in the
disclosure edition. Read are sizes, rates with their intervals, the unfairness and the ratio of acceptance, as the
attack on the disclosure edition reads them (`core.report.edition_attack`), and each is handed to `core.model_card` as
the interval of values that would be printed alike. With every digit sizes and rates tell all the rest.

The posterior before the release is that of the release meter (`core.model_card.attacker_posteriors`), from features and
label: cross-fitted, and so calibrated better than the prior of the attack on the edition, whose bits it need not equal.
Of more than two groups each is metered against all others; a form's row is the group with the most bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from core.estimates import count, interval, percent
from core.model_card import (
    DISTANCE_MEDIAN,
    DISTANCE_WORST,
    Measured,
    Published,
    Release,
    measured,
    meter,
    pinned,
    predict,
    project,
)
from core.release_audit.inputs import AttackedPeople
from core.release_audit.result import MeteredForm, MeterOutcome, ReportMeter
from core.report.edition_attack import Statement, bits_text, people_text, statements_of

FORM_TITLES = {
    "every_digit": "This report, every digit (files)",
    "page": "This report, as the page prints it",
    "disclosure": "Disclosure edition",
}
"""Form -> what to call it."""

METER_WITHHELD = (
    "What the release meter read in this edition before it was written is told in the internal edition alone: counts "
    "of a group are withheld here, and bits and pinned people may tell them."
)

BITS_OF_THE_METER = (
    "They count what the groups' numbers tell about all test people together. Bits of an attribute check are another "
    "quantity: what the model's answers tell about the people whom that check attacks."
)
"""What the meter's bits count, where those of a check may stand in the same report."""

BITS_OF_THE_EDITION = (
    "Its bits differ from the release meter's above where the two attackers' probabilities before reading differ: the "
    "meter's attacker is cross-fitted. Numbers that also repair worse probabilities count more bits; with the same "
    "probabilities both count the same."
)
"""Why the attack on the disclosure edition and the meter print different bits; a test holds both to one another."""

_MOST = "Each of the groups was metered against all others; told is the one with the most bits."

_READ = {
    "every_digit": "with every digit, as in the files",
    "page": "as the page prints them",
    "disclosure": "in the disclosure edition",
}

_NOTHING = "nothing, for no size or rate of a group on the test records stands there"


def told_of(rows: Sequence[MeteredForm], groups: int) -> str:
    """Say what every form gives away: first what holds for all, then each form's figures."""
    there = [row for row in rows if row.numbers]
    if not there:
        return f"The fairness numbers of this report tell {_NOTHING}."
    several = f" {_MOST}" if groups > 2 else ""
    apart = len({row.group for row in there}) > 1
    alike: dict[tuple[str | float, ...], list[MeteredForm]] = {}
    for row in rows:
        alike.setdefault(_figures(row), []).append(row)
    about = {row.form: f", about {row.group} against all others" if apart and row.numbers else "" for row in rows}
    told = "; ".join(f"{_place(same)}{about[same[0].form]}, {_figure(same[0], apart)}" for same in alike.values())
    first = "The" if apart else f"{_left_open(there[0], groups)} Of this the"
    return f"{first} fairness numbers of this report tell: {told}.{several}"


def _place(rows: Sequence[MeteredForm]) -> str:
    """Return where numbers stand, forms that read alike together."""
    *most, last = [_READ[row.form] for row in rows]
    return f"{', '.join(most)} and {last} alike" if most else last


def _figures(row: MeteredForm) -> tuple[str | float, ...]:
    pinned = (row.pinned, row.pinned_right, row.status, row.joint_bits < row.prior_bits)
    return (row.group, row.numbers, row.df_bits, row.bits.value, row.bits.low, row.bits.high, *pinned)


def edition_told(row: MeteredForm, groups: int) -> str:
    """Say what the disclosure edition gives away, in that edition."""
    if not row.numbers:
        return "No size or rate of a group on the test records stands in this edition: there was nothing to meter."
    several = f" {_MOST}" if groups > 2 else ""
    return f"{_left_open(row, groups)} Of this the fairness numbers of this edition tell {_figure(row)}.{several}"


def _left_open(row: MeteredForm, groups: int) -> str:
    """Say how much there is to tell."""
    who = f"who is in {row.group} and who is not" if groups > 2 else "who is in which group"
    return (
        f"Features and label leave open {bits_text(row.prior_bits)} of {who}, and the attacker unsure about "
        f"{people_text(row.unsure)}."
    )


def _figure(row: MeteredForm, apart: bool = False) -> str:
    """Return what a form tells: bits as measured and predicted, who is pinned down; where forms differ, of how much."""
    if not row.numbers:
        return _NOTHING
    out_of = f" of {bits_text(row.prior_bits)} left open" if apart else ""
    people = f" of {count(row.unsure)} people unsure before" if apart or row.pinned else ""
    pinned = f"{count(row.pinned)}{people} pinned down, {count(row.pinned_right)} rightly"
    nobody = f"nobody{people} pinned down"
    reach = "" if row.joint_bits < row.prior_bits else ", together worth as many bits as there were to know"
    unsolved = "" if row.status == "converged" else ", but the projection did not converge: rely on none of this"
    return f"{_measured(row)}{out_of}, {pinned if row.pinned else nobody}{reach}{unsolved}"


def _measured(row: MeteredForm) -> str:
    """Write bits with their interval and, as a prediction may miss it, on which side of it the meter's lies."""
    bits, predicted = row.bits, f"the meter predicted {row.df_bits:,.1f}"
    if not bits.low < bits.high:
        return f"{bits_text(bits.value)} ({predicted})"
    low, high = (bits_text(end).removesuffix(" bits") for end in (bits.low, bits.high))
    side = ", below that" if row.df_bits < bits.low else ", above that" if row.df_bits > bits.high else ""
    return f"{bits_text(bits.value)} ({100 * bits.level:.4g}%: {low} to {high}; {predicted}{side})"


def control_of(found: Measured, rows: Sequence[MeteredForm]) -> str:
    """Say what is known without the numbers."""
    first = rows[0]
    reading = "every digit" if first.form == "every_digit" else "this edition"
    return (
        f"Baseline: naming the larger side for everybody is right for {percent(found.majority)} "
        f"({interval(found.majority)}), the attacker before reading for {percent(found.accuracy_before)} "
        f"({interval(found.accuracy_before)}), after reading {reading} for {percent(first.accuracy)} "
        f"({interval(first.accuracy)})."
    )


_DISTANCE = (
    "Probabilities after reading are those of the information projection. In releases about 6 to 12 people, where "
    f"the exact ones can be counted out, a person's is off by {100 * DISTANCE_MEDIAN:.0f} points on average in the "
    f"median release and by {100 * DISTANCE_WORST:.0f} in the worst; the more people share a number, the nearer it "
    "is."
)
"""How far the projection is from the exact posterior."""


_STATISTICS = {None: "sp_rate", 1: "tpr_rate", 0: "fpr_rate"}
_SIZES = {None: "size", 1: "size_label_1", 0: "size_label_0"}
"""Label of the people who are counted, None for all -> the statistic, the size."""


def meter_report(
    documents: Mapping[str, Mapping[str, Any]], people: AttackedPeople | None, *, threshold: int
) -> ReportMeter:
    """Meter the forms of a report's numbers; without people the result says so.

    `documents` has form -> the document whose groups' summaries have the numbers in this form; `threshold` is that of
    the disclosure edition. InputError if the people are not those of the documents.
    """
    if people is None:
        return not_metered("nobody could work out what an attacker knows of the test people beforehand", threshold)
    if people.posterior is None:
        return not_metered(people.reason, threshold)
    found = {form: meter_form(form, document, people) for form, document in documents.items()}
    if contradicted := [form for form, (row, _) in found.items() if row.status == "infeasible"]:
        return not_metered(
            f"no memberships agree with its numbers ({contradicted[0]})", threshold, outcome=MeterOutcome.FAILED
        )
    rows, control = tuple(row for row, _ in found.values()), next(iter(found.values()))[1]
    return ReportMeter(
        outcome=MeterOutcome.DONE,
        reason="",
        people=len(people.labels),
        threshold=threshold,
        forms=rows,
        accuracy_before=control.accuracy_before,
        majority=control.majority,
        told=told_of(rows, len(people.group_names)),
        control=control_of(control, rows),
        distance=_DISTANCE,
    )


def not_metered(reason: str, threshold: int, *, outcome: MeterOutcome = MeterOutcome.NOT_RUN) -> ReportMeter:
    """Return that nothing was metered, and why."""
    return ReportMeter(
        outcome=outcome,
        reason=reason,
        threshold=threshold,
        told=f"What the fairness numbers give away was not metered: {reason}.",
        control="Without it there is no control.",
    )


def meter_form(form: str, document: Mapping[str, Any], people: AttackedPeople) -> tuple[MeteredForm, Measured]:
    """Return a form's row, that of the group with the most bits, and what was measured for it."""
    exact = form == "every_digit"
    statements = statements_of(document, people.predictions, people.labels, people.group_names, exact=exact)
    groups = [1] if len(people.group_names) == 2 else range(len(people.group_names))
    rows = [_metered(form, statements, people, group) for group in groups]
    return max(rows, key=lambda row: row[0].df_bits)


def _metered(
    form: str, statements: Sequence[Statement], people: AttackedPeople, group: int
) -> tuple[MeteredForm, Measured]:
    assert people.posterior is not None
    before = np.ascontiguousarray(people.posterior[:, group], dtype=np.float64)
    truth = (people.sensitive == group).astype(np.uint8)
    published = published_of(statements, people, group)
    after, status, prediction = before, "nothing", None
    # where nothing is published any release of these people has the prior's bits
    read = meter(before, Release(people.predictions, statistics=("sp_gap",)) if published is None else published)
    if published is not None:
        projected = project(before, published)
        after, status = projected.probability, projected.status
        prediction = predict(before, published, metered=read)
    chance = None if prediction is None or status == "infeasible" else prediction.chance
    found, named = measured(before, after, truth, chance=chance), pinned(before, after, sensitive=truth)
    told, right = published is not None, named.right
    return MeteredForm(
        form=form,
        group=people.group_names[group],
        numbers=len(published.numbers) if published is not None else 0,
        df_bits=0.0 if prediction is None else prediction.bits.value,
        joint_bits=read.joint_bits if told else 0.0,
        prior_bits=read.prior_bits,
        person_bits=read.person_bits if told else 0.0,
        bits=found.bits,
        unsure=named.n_unsure,
        pinned=named.count,
        pinned_right=0 if right is None or math.isnan(right.value) else round(right.value * right.n),
        accuracy=found.accuracy_after,
        status=status,
    ), found


def published_of(statements: Iterable[Statement], people: AttackedPeople, group: int) -> Published | None:
    """Return what statements say of one group as published numbers; None where they say nothing.

    Statements are a group's size and how many of it are accepted, among all, with label 1 and with label 0. `group`
    counts as 1; statements about the other one of two are read as well. Raises `InputError` where they contradict each
    other.
    """
    two = len(people.group_names) == 2
    asked, labels = [s for s in statements if s.group == group or two], people.labels
    sizes = {(s.group, s.label): s.low for s in asked if not s.accepted}
    there = {None: len(labels), 1: int(labels.sum()), 0: int((labels == 0).sum())}
    values: dict[tuple[str, str], float | tuple[float, float]] = {}
    for (member, label), size in sizes.items():
        if there[label]:
            values["", _SIZES[label]] = float(size if member == group else there[label] - size)
    for s in asked:
        size = sizes.get((s.group, s.label), 0)
        if s.accepted and 0 < size < there[s.label]:
            values["model 1", f"{_STATISTICS[s.label]}_{int(s.group == group)}"] = (s.low / size, s.high / size)
    if not values:
        return None
    return Published.from_values(Release(people.predictions, labels=labels, statistics=("sp_rate",)), values)
