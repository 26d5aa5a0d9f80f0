"""The release meter on a report's own numbers: what sizes and rates of groups give away.

A report is a model card as well. Three forms of its numbers about the test people are metered: every digit, as the
files and the text at the end of the page have them; the digits that the page prints; and what is left of these in the
disclosure edition. Read are sizes, rates with their intervals, the unfairness and the ratio of acceptance, as the
attack on the disclosure edition reads them (`core.report.statements`), and each is handed to `core.release` as the
interval of values that would be printed alike. With every digit sizes and rates tell all the rest.

The posterior before the release is that of the release meter (`core.release.attacker_posterior`), from features and
label: cross-fitted, and so calibrated better than the prior of the attack on the edition, whose bits it need not equal.
Of more than two groups each is metered against all others; a form's row is the group with the most bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.decision.attacks.readers import AttackedPeople
from core.decision.result import MeteredForm, MeterOutcome, ReportMeter
from core.estimates import not_measured
from core.release import Measured, Published, Release, measured, meter, pinned, predict, project
from core.report.metered_words import CONTROL_UNKNOWN, control_of, distance_told, told_of
from core.report.statements import Statement, statements_of

_STATISTICS = {(1, 1): "sp_rate", (0, 1): "tpr_rate", (1, 0): "fpr_rate"}
_SIZES = {(1, 1): "size", (0, 1): "size_label_1", (1, 0): "size_label_0"}
"""Whether people with label 0 and with label 1 are counted -> the statistic, the size."""

_MODEL = "model 1"

Floats = npt.NDArray[np.float64]


def meter_report(
    documents: Mapping[str, Mapping[str, Any]], people: AttackedPeople | None, *, threshold: int
) -> ReportMeter:
    """Meter the forms of a report's numbers.

    Parameters
    ----------
    documents : mapping
        Form -> the document whose groups' summaries have the numbers in this form.
    people : AttackedPeople or None
        The test people; None where there are none, which is a result that says so.
    threshold : int
        Of the disclosure edition.

    Raises
    ------
    InputError
        If the people are not those of the documents.
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
        distance=distance_told(),
    )


def not_metered(reason: str, threshold: int, *, outcome: MeterOutcome = MeterOutcome.NOT_RUN) -> ReportMeter:
    """Return that nothing was metered, and why."""
    return ReportMeter(
        outcome=outcome,
        reason=reason,
        people=0,
        threshold=threshold,
        forms=(),
        accuracy_before=not_measured(),
        majority=not_measured(),
        told=f"What the fairness numbers give away was not metered: {reason}.",
        control=CONTROL_UNKNOWN,
        distance="",
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

    Parameters
    ----------
    statements : iterable of Statement
        A group's size and how many of it are accepted, among all, with label 1 and with label 0.
    group : int
        The group that counts as 1. Statements about the other one of two are read as well.

    Raises
    ------
    InputError
        If the statements contradict each other.
    """
    two = len(people.group_names) == 2
    asked = [s for s in statements if s.group == group or two]
    sizes = {(s.group, part): s.low for s in asked if (part := _part(s)) and not _about_accepted(s)}
    there = {(1, 1): len(people.labels), (0, 1): int(people.labels.sum()), (1, 0): int((people.labels == 0).sum())}
    values: dict[tuple[str, str], float | tuple[float, float]] = {}
    for (member, part), size in sizes.items():
        if there[part]:
            values["", _SIZES[part]] = float(size if member == group else there[part] - size)
    for s in asked:
        part = _part(s)
        size = sizes.get((s.group, part), 0)
        if _about_accepted(s) and 0 < size < there[part]:
            values[_MODEL, f"{_STATISTICS[part]}_{int(s.group == group)}"] = (s.low / size, s.high / size)
    if not values:
        return None
    labels = people.labels
    release = Release(people.predictions, labels=labels, statistics=("sp_rate",))
    return Published.from_values(release, values)


def _part(statement: Statement) -> tuple[int, int]:
    """Return whether people with label 0 and with label 1 are counted; patterns are prediction + 2 · label."""
    return statement.patterns[1], statement.patterns[3]


def _about_accepted(statement: Statement) -> bool:
    return not (statement.patterns[0] or statement.patterns[2])
