"""What a report's own fairness numbers give away, as the model-card study estimates it.

A report is a model card as well. Whoever reads it may hold everything about the test people but the sensitive
attribute: features, labels, the model's predictions, and from these a calibrated probability of every group. To such a
reader a group's size n and rate r on some rows R are linear statements about who is in the group,

    Σ_R [s_i = g] = n,        Σ_R ŷ_i [s_i = g] = k,  with k/n printed as r,

the answers to bias questions of Hamman et al. (2023), about a model everybody has already. A rate printed with d
decimals leaves the whole numbers k for which k/n rounds to it; its interval and, with two groups, the other group's
rate, the unfairness and the ratio of acceptance rule out more of them. What is left is an interval of k, often a single
number, and it is handed to `core.model_card.measure_card` as the interval of values that would be printed alike.

Three forms of the numbers are metered: every digit, as the files and the text at the end of the page have them; the
digits that the page prints; and what is left of these in the disclosure edition. Of more than two groups each is
metered against all others, by its own numbers; a form's row is the group with the most bits. A reader of all groups'
numbers together has more bits than that.

Not read: numbers about other records (sizes and label rates of the whole table, unfairness on the training records),
and whatever the verdicts and the numbers of the attacks themselves tell. What those add was not tried.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from core.errors import InputError
from core.estimates import Estimate, count, interval, not_measured, percent, proportion
from core.model_card import (
    DISTANCE_MEDIAN,
    DISTANCE_WORST,
    Published,
    Release,
    ReleasedPeople,
    ReleaseSettings,
    measure_card,
    measured,
    meter,
    pinned,
)
from core.release_audit.inputs import AttackedPeople
from core.report.canonical import decimals_of, number_of, printed, strict
from core.serialize import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class MeteredForm(Result):
    """One form of the numbers, metered for one `group` against everybody else.

    `form` is "every_digit", "page" or "disclosure": the numbers with every digit, as the page prints them, and as the
    disclosure edition does. `numbers` counts sizes and rates of the group and, of two groups, of the other one.
    `df_bits` is the predicted gain (`core.model_card.Prediction`), `joint_bits`, `prior_bits` and `person_bits` are
    those of `core.model_card.Meter`; none of them uses a true attribute. `bits`, measured with it, are what the numbers
    tell beyond features and label. Of `unsure` people before, `pinned` are settled after, `pinned_right` of them
    rightly; `accuracy` is of naming after reading. `status` is that of the projection, "converged", "not_converged" or
    "infeasible"; "nothing" where no number is told.
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
    """The numbers were metered, could not be, or not without breaking; what was read is not for this edition."""

    DONE = "done"
    NOT_RUN = "not_run"
    FAILED = "failed"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportMeter(Result):
    """What a report's own fairness numbers give away; nothing about single people.

    `reason` says why there is no result, if there is none; `threshold` is that of the disclosure edition. Controls are
    the same attacker before reading (`accuracy_before`) and naming the larger side for everybody (`majority`). `told`,
    `control` and `distance` say in sentences the result, its control, and how far the projection is from the exact
    posterior.
    """

    outcome: MeterOutcome
    reason: str
    people: int = 0
    threshold: int
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
    document: Mapping[str, Any], people: AttackedPeople, group: int, *, exact: bool = False
) -> Published | None:
    """Return what a document's summaries say of one group of these people as published numbers; None for nothing.

    With `exact` the rates have every digit, so that each gives a whole number; otherwise they are read as rounded.
    `group` counts as 1; of two groups the other one's numbers are read as well. InputError if the document names a
    group the people do not have, counts more of them than there are, or its numbers contradict each other.
    """
    names, two = [strict(name) for name in people.group_names], len(people.group_names) == 2
    values: dict[tuple[str, str], float | tuple[float, float]] = {}
    for part, (label, statistic, size_name, _) in _PARTS.items():
        rows = np.ones(len(people.labels), dtype=bool) if label is None else people.labels == label
        n, accepted = int(rows.sum()), int(np.count_nonzero(people.predictions[rows]))
        sizes: dict[int, int] = {}
        hits: dict[int, range] = {}
        for summary in document["groups"]:
            if summary["group"] not in names:
                raise InputError(f"The document's groups must be those of the people, got {summary['group']!r}.")
            rate = summary[part]
            if rate is None or rate["value"] is None:
                continue
            code = names.index(summary["group"])
            sizes[code] = size = int(rate["n"])
            if size > n:
                raise InputError(f"A group must not have more than the {n:,} people attacked, got {size:,}.")
            whole = round(number_of(rate["value"]) * size)
            hits[code] = range(whole, whole + 1) if exact else _possible(rate)
        if two and not exact:
            _link(document, part, sizes, hits, accepted, n)
        for code, size in sizes.items() if n else ():
            if code == group or two:
                values["", size_name] = float(size if code == group else n - size)
                if 0 < size < n and hits[code]:
                    ends = hits[code][0] / size, hits[code][-1] / size
                    values["model 1", f"{statistic}_{int(code == group)}"] = ends
    if not values:
        return None
    ordered = dict(sorted(values.items(), key=lambda item: item[0][0]))  # sizes first
    return Published.from_values(Release(people.predictions, labels=people.labels, statistics=("sp_rate",)), ordered)


def _possible(rate: Mapping[str, Any]) -> range:
    """Return the numbers of accepted people for which the rate and its interval would be printed as they are."""
    n, value = int(rate["n"]), number_of(rate["value"])
    half = 0.5 * 10.0 ** -decimals_of(number_of(rate["low"]), number_of(rate["high"]))
    low, high = max(0, int(np.ceil((value - half) * n - 1e-9))), min(n, int(np.floor((value + half) * n + 1e-9)))
    wide, stated = range(low, high + 1), tuple(number_of(rate[name]) for name in ("value", "low", "high"))
    found = {k: proportion(k, n, level=number_of(rate["level"])) for k in wide}
    told = [k for k, one in found.items() if printed(one.value, one.low, one.high) == stated]
    return range(told[0], told[-1] + 1) if told else wide


def _link(
    document: Mapping[str, Any], part: str, sizes: dict[int, int], hits: dict[int, range], accepted: int, n: int
) -> None:
    """Narrow, in place: of two groups what one does not have the other has, and some numbers compare them."""
    for code in (0, 1):
        if 1 - code in hits and sizes.get(code, n - sizes[1 - code]) == n - sizes[1 - code]:
            own, other = hits.get(code, range(accepted + 1)), hits[1 - code]
            hits[code] = range(max(own.start, accepted - other.stop + 1), min(own.stop, accepted - other.start + 1))
            sizes[code] = n - sizes[1 - code]
    if set(hits) == {0, 1} and len(hits[1]) <= _MOST_TRIED:
        kept = [number for number in hits[1] if _fits_others(document, part, number, sizes, accepted)]
        if kept:
            hits[1] = range(kept[0], kept[-1] + 1)
            hits[0] = range(accepted - kept[-1], accepted - kept[0] + 1)


def _fits_others(document: Mapping[str, Any], part: str, hits: int, sizes: dict[int, int], accepted: int) -> bool:
    """Whether this many accepted people of group 1 would give the unfairness and the ratio that are printed."""
    n, model = sizes[0] + sizes[1], document["model"]
    rates = [k / size for k, size in ((hits, sizes[1]), (accepted - hits, sizes[0])) if size]
    compared: list[tuple[float, Any]] = []
    if model["metric"] == _PARTS[part][-1]:  # on these rows alone every metric is statistical parity
        compared.append((max(abs(rate - accepted / n) for rate in rates), model["unfairness_test"]))
    if part == "test_rate" and len(rates) == 2 and accepted:
        ratios = (m["estimate"] for m in document["measurements"] if m["check"] == "four_fifths")
        compared.append((min(rates) / max(rates), next(ratios, None)))
    return all(_near(value, stated) for value, stated in compared if stated and stated["value"] is not None)


def _near(value: float, stated: Mapping[str, Any]) -> bool:
    """Whether a number would be printed as this one."""
    half = 0.5 * 10.0 ** -decimals_of(number_of(stated["low"]), number_of(stated["high"]))
    return abs(value - number_of(stated["value"])) <= half + 1e-9


# -------------------------------------------------------------------------------------------------- what they give away


def meter_report(
    documents: Mapping[str, Mapping[str, Any]], people: AttackedPeople | None, *, threshold: int
) -> ReportMeter:
    """Meter the forms of a report's numbers; what cannot be metered, or breaks, is a result that says so.

    `documents` has form -> the document whose groups' summaries have the numbers in this form; `threshold` is that of
    the disclosure edition.
    """
    if people is None:
        return not_metered("the test people were not at hand", threshold)
    if people.posterior is None:
        return not_metered(people.reason, threshold)
    try:
        found = [_metered_form(form, document, people) for form, document in documents.items()]
    except InputError as error:
        return not_metered(str(error).rstrip("."), threshold, outcome=MeterOutcome.FAILED)
    except Exception as error:  # the report then says that it was not metered
        return not_metered(f"the meter broke ({type(error).__name__})", threshold, outcome=MeterOutcome.FAILED)
    rows = tuple(row for row, *_ in found)
    if wrong := [row.form for row in rows if row.status == "infeasible"]:
        reason = f"no memberships agree with its numbers ({wrong[0]})"
        return not_metered(reason, threshold, outcome=MeterOutcome.FAILED)
    _, before, majority = found[0]
    return ReportMeter(
        outcome=MeterOutcome.DONE,
        reason="",
        people=len(people.labels),
        threshold=threshold,
        forms=rows,
        accuracy_before=before,
        majority=majority,
        told=told_of(rows, len(people.group_names)),
        control=control_of(majority, before, rows[0]),
        distance=_DISTANCE,
    )


def not_metered(reason: str, threshold: int, *, outcome: MeterOutcome = MeterOutcome.NOT_RUN) -> ReportMeter:
    """Return that nothing was metered, and why."""
    sentence = f"What the fairness numbers reveal was not estimated: {reason}."
    return ReportMeter(outcome=outcome, reason=reason, threshold=threshold, told=sentence, control="")


def external_meter(whole: ReportMeter, people: AttackedPeople | None, *, hidden: bool) -> ReportMeter:
    """Return what the disclosure edition says of its own numbers, by the meter of the whole report.

    Where counts are `hidden`, that is nothing but a fixed sentence: bits and near-certain people hang on the counts,
    and may tell them to whoever knows the prior. No reason that counts people is given either.
    """
    if people is not None and hidden:
        withheld = not_metered("", whole.threshold, outcome=MeterOutcome.WITHHELD)
        return replace(withheld, told=METER_WITHHELD)
    if people is not None and whole.outcome == MeterOutcome.NOT_RUN:
        return not_metered("its attacker could not be trained", whole.threshold)
    if whole.outcome == MeterOutcome.FAILED:
        wrong = "its numbers contradict the people it was estimated on"
        return not_metered(wrong, whole.threshold, outcome=MeterOutcome.FAILED)
    forms = tuple(row for row in whole.forms if row.form == "disclosure")
    if people is None or not forms:
        return whole
    told, control = told_of(forms, len(people.group_names)), control_of(whole.majority, whole.accuracy_before, forms[0])
    return replace(whole, forms=forms, told=told, control=control)


def _metered_form(
    form: str, document: Mapping[str, Any], people: AttackedPeople
) -> tuple[MeteredForm, Estimate, Estimate]:
    """Return a form's row, that of the group with the most bits, the accuracy before it and that of the majority."""
    groups = [1] if len(people.group_names) == 2 else range(len(people.group_names))
    return max((_metered(form, document, people, group) for group in groups), key=lambda row: row[0].df_bits)


def _metered(
    form: str, document: Mapping[str, Any], people: AttackedPeople, group: int
) -> tuple[MeteredForm, Estimate, Estimate]:
    assert people.posterior is not None
    before = np.ascontiguousarray(people.posterior[:, group], dtype=np.float64)
    truth = (people.sensitive == group).astype(np.uint8)
    published = published_of(document, people, group, exact=form == "every_digit")
    if published is None:  # any release of these people has the prior's bits
        read = meter(before, Release(people.predictions, statistics=("sp_gap",)))
        read = replace(read, joint_bits=0.0, person_bits=0.0)
        numbers, predicted, status = 0, 0.0, "nothing"
        found, named = measured(before, before, truth), pinned(before, before)
    else:
        card = measure_card(_card_people(people, before, truth, group), ReleaseSettings(), published=published)
        read, numbers, predicted, status = card.meter, card.n_numbers, card.prediction.bits.value, card.status
        found, named = card.measured, card.pinned
    right = 0.0 if named.right is None or math.isnan(named.right.value) else named.right.value * named.right.n
    row = MeteredForm(
        form=form,
        group=people.group_names[group],
        numbers=numbers,
        df_bits=predicted,
        joint_bits=read.joint_bits,
        prior_bits=read.prior_bits,
        person_bits=read.person_bits,
        bits=found.bits,
        unsure=named.n_unsure,
        pinned=named.count,
        pinned_right=round(right),
        accuracy=found.accuracy_after,
        status=status,
    )
    return row, found.accuracy_before, found.majority


def _card_people(people: AttackedPeople, before: Any, truth: Any, group: int) -> ReleasedPeople:
    """Return the test people as those of a card about one group."""
    import pandas as pd

    rows = np.arange(truth.size)
    return ReleasedPeople(
        title="",
        attribute="",
        group=people.group_names[group],
        other="",
        rows=rows,
        posterior=before,
        predictions=people.predictions[None],
        names=("model 1",),
        labels=people.labels,
        sensitive=truth,
        columns=pd.DataFrame(index=rows),
    )


# ------------------------------------------------------------------------------------------------------------- in words

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
"""What the meter's bits count, where those of a check may stand in the same report."""

_DISTANCE = (
    "Probabilities after reading are approximate (information projection). Against exact enumeration for 6 to 12 "
    f"people the error is {100 * DISTANCE_MEDIAN:.0f} points in the median release and {100 * DISTANCE_WORST:.0f} in "
    "the worst; it shrinks as more people share a number."
)
"""How far the projection is from the exact posterior."""


def bits_text(bits: float) -> str:
    """Write "1,234.5 bits", with a true minus."""
    return f"{bits:,.1f} bits".replace("-", "−")


def told_of(rows: Sequence[MeteredForm], groups: int) -> str:
    """Return what every form gives away in sentences: first what holds for all, then each form's figures."""
    there = [row for row in rows if row.numbers]
    if not there:
        return "No size or rate of a group on the test records is published, so the fairness numbers reveal nothing."
    first, several = there[0], groups > 2
    who = f"about who is in {first.group}" if several else "about who is in which group"
    sentences = [
        f"Before the report, features and label leave {bits_text(first.prior_bits)} of uncertainty {who}, and the "
        f"attacker unsure about {_people(first.unsure)}."
    ]
    if several:
        sentences.append(
            "Each group is estimated against all others; the one with the largest information gain is shown."
            " All groups read together can reveal more."
        )
    alike: dict[tuple[str | float, ...], list[MeteredForm]] = {}
    for row in rows:
        pinned = (row.pinned, row.pinned_right, row.status, row.joint_bits < row.prior_bits)
        key = (row.group, row.numbers, row.df_bits, row.bits.value, row.bits.low, row.bits.high, *pinned)
        alike.setdefault(key, []).append(row)
    sentences += [_figures(same, several=several) for same in alike.values()]
    return " ".join(sentences)


def _figures(alike: Sequence[MeteredForm], *, several: bool) -> str:
    """Return what forms with the same figures reveal."""
    titles = [FORM_TITLES[one.form] for one in alike]
    row, place = alike[0], " and ".join([titles[0], *(f"{name[:1].lower()}{name[1:]}" for name in titles[1:])])
    if not row.numbers:
        return f"{place}: no size or rate of a group is published."
    about = f", about {row.group}" if several else ""
    bits = row.bits
    span = f"predicted {row.df_bits:,.1f}"
    if bits.low < bits.high:
        low, high = (bits_text(end).removesuffix(" bits") for end in (bits.low, bits.high))
        span = f"{100 * bits.level:.4g}% CI: {low} to {high}; {span}"
        span += ", below the CI" if row.df_bits < bits.low else ", above the CI" if row.df_bits > bits.high else ""
    near = f"{_people(row.pinned)} near-certain"
    near += f", {count(row.pinned_right)} of them correctly" if row.pinned else ""
    reach = "" if row.joint_bits < row.prior_bits else " Together they leave nothing open."
    unsolved = "" if row.status == "converged" else " The projection did not converge: do not rely on these numbers."
    return f"{place}{about}: information gain {bits_text(bits.value)} ({span}); {near}.{reach}{unsolved}"


def _people(number: int) -> str:
    """Write "nobody", "one person" or "12 people"."""
    return {0: "nobody", 1: "one person"}.get(number, f"{count(number)} people")


def control_of(majority: Estimate, before: Estimate, row: MeteredForm) -> str:
    """Return what is known without the numbers, in a sentence."""
    after = "with every digit" if row.form == "every_digit" else "with this report"
    baseline, without, reading = (f"{percent(one)} ({interval(one)})" for one in (majority, before, row.accuracy))
    return (
        f"Baseline, always the larger side: {baseline} correct. The attacker's accuracy is {without} without the "
        f"report and {reading} {after}."
    )
