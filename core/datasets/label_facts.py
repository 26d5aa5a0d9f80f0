"""Facts about the label: whether it is the true outcome, which value is good, how its values are written."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..stats.estimates import percent
from .checked_table import MOST_REPAIRS, CheckedTable
from .columns import listed, text_of
from .input_facts import Fact, Repair, Severity
from .name_patterns import MOST_LABELS
from .roles import SPELLINGS, best_spellings
from .score_evidence import divides, text_codes

_MOST = 4
"""Values that a sentence names."""


def label_facts(table: CheckedTable) -> Iterable[Fact]:
    """Say that the label is missing, is no outcome of its own, or that nobody has said which value is good."""
    roles, texts = table.roles, table.label[1]
    if not roles.label:
        yield _label_missing(table)
        return
    if not texts:
        return
    columns = (roles.label,)
    if roles.label == roles.sensitive or roles.label in table.crossed:
        text = f"{text_of(roles.label)} is label and sensitive attribute at once; choose two different columns."
        yield table.fact("label_is_attribute", Severity.BLOCKING, text, key="data.label", columns=columns, confirm="")
        return
    yield from _values_left(table)
    if roles.favourable not in texts:
        yield _favourable(table)
    yield from _label_copies(table)


def _label_missing(table: CheckedTable) -> Fact:
    text = "An audit needs the true outcome of each person, and no column holds it."
    if table.answers:
        verb = "is" if len(table.answers) == 1 else "are"
        text += f" {listed(table.answers)} {verb} what a model says."
    return table.fact("label_missing", Severity.BLOCKING, text, key="data.label", confirm="")


def _values_left(table: CheckedTable) -> Iterable[Fact]:
    """Say that only one value of the label is left among the records that an audit would use."""
    roles, (codes, texts) = table.roles, table.label
    audited = table.audited
    if roles.missing == "drop" and table.features:
        audited = audited & table.frame[list(table.features)].notna().all(axis=1).to_numpy(dtype=bool)
    if table.has(roles.sets):
        audited = audited & table.frame[roles.sets].notna().to_numpy(dtype=bool)
    left = np.unique(codes[audited])
    if left.size >= 2:
        return
    if left.size:
        text = f"{text_of(roles.label)} is {text_of(texts[int(left[0])])} in all {int(audited.sum()):,} records"
    else:
        text = f"{text_of(roles.label)} is there in no record"
    if len(texts) > left.size:
        text += " that have the other roles' values"
    text += "; an audit needs two outcomes."
    columns = (roles.label,)
    yield table.fact("label_one_value", Severity.BLOCKING, text, key="data.label", columns=columns, confirm="")


def _favourable(table: CheckedTable) -> Fact:
    roles, (codes, texts) = table.roles, table.label
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    order = sorted(range(len(texts)), key=lambda code: -counts[code])
    shares = [f"{text_of(texts[code])} for {percent(counts[code] / counts.sum())}" for code in order[:3]]
    more = f" and {len(texts) - 3} more values" * (len(texts) > 3)
    text = f"Which outcome is good for the person is not answered. {text_of(roles.label)} is {', '.join(shares)}{more}."
    if roles.favourable:
        text = f"{text} It is never {text_of(roles.favourable)}."
    return table.fact(
        "favourable",
        Severity.BLOCKING,
        text,
        key="data.favourable",
        columns=(roles.label,),
        repairs=[
            Repair(title=f"{text_of(texts[code])} is good for the person", changes={"favourable": texts[code]})
            for code in order[:MOST_REPAIRS]
        ],
        confirm="",
    )


def _label_copies(table: CheckedTable) -> Iterable[Fact]:
    """Say that the label is what the attribute says, or what the model says."""
    roles, (codes, texts) = table.roles, table.label
    label = text_of(roles.label)
    if _is_group(table):
        yield table.fact(
            "label_equals_attribute",
            Severity.BLOCKING,
            f"The label {label} follows from {text_of(roles.attribute)} in every record.",
            key="data.label",
            columns=(roles.label,),
        )
    text = ""
    # Codes by first appearance are equal where one column is the other, however the two are written.
    if table.has(roles.prediction) and np.array_equal(codes, text_codes(table.frame[roles.prediction])[0]):
        text = f"The label {label} says the same as {text_of(roles.prediction)} in every record."
    elif table.scores is not None and len(texts) == 2 and divides(codes, table.scores):
        text = f"The label {label} follows from {text_of(roles.score)} by a threshold in every record."
    if text:
        yield table.fact(
            "label_is_prediction",
            Severity.BLOCKING,
            f"{text} It looks like the model's own answer, and an audit of that misses leaks.",
            key="data.label",
            columns=(roles.label,),
        )


def _is_group(table: CheckedTable) -> bool:
    """Whether everybody of a group has the same label."""
    positive = table.positive[table.audited]
    groups = table.groups[table.audited]
    if positive.all() or not positive.any():
        return False
    counts = np.bincount(groups)
    positives = np.bincount(groups, weights=positive)
    return bool(((positives == 0) | (positives == counts)).all())


def label_questions(table: CheckedTable) -> Iterable[Fact]:
    """Ask about spellings that are taken as one, and values that are taken together."""
    roles, (codes, texts) = table.roles, table.label
    if len(texts) < 2:
        return
    yield from _spelling_questions(table)
    other_values = [value for value in texts if value != roles.positive]
    if len(other_values) < 2 or roles.positive not in texts:
        return
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    sizes = [f"{text_of(value)} ({int(counts[texts.index(value)]):,})" for value in other_values]
    listing = ", ".join(sizes[:_MOST]) + f" and {len(sizes) - _MOST} more" * (len(sizes) > _MOST)
    text = (
        f"{text_of(roles.label)} has {len(texts)} values. "
        f"All but {text_of(roles.positive)} are taken together: {listing}."
    )
    if roles.favourable in other_values:
        text += " Together they count as good for the person."
    yield table.fact(
        "labels_together",
        Severity.QUESTION,
        text,
        key="data.positive",
        columns=(roles.label,),
        repairs=[
            Repair(title=f"{text_of(value)} against the others", changes={"positive": value})
            for value in other_values[: MOST_REPAIRS - 1]
        ],
        confirm=f"{text_of(roles.positive)} against the others",
    )


def _spelling_questions(table: CheckedTable) -> Iterable[Fact]:
    """Say which spellings of label, attribute and prediction are taken as one, or are not."""
    roles = table.roles
    merged = table.frame.attrs.get(SPELLINGS, {})
    for name in dict.fromkeys((roles.label, roles.sensitive, *table.crossed, roles.prediction)):
        if table.has(name) and (spellings := merged.get(name)):
            pairs = [f"{', '.join(map(text_of, rare))} as {text_of(value)}" for value, rare in spellings.items()]
            yield table.fact(
                "spellings",
                Severity.QUESTION,
                f"Spellings of {text_of(name)} are taken as one: {'; '.join(pairs[:_MOST])}.",
                key="data.confirmed",
                columns=(name,),
                confirm="They are one value",
                by_column=True,
            )
    texts = table.label[1]
    variants = best_spellings(dict.fromkeys(texts, 1))[1] if len(texts) <= MOST_LABELS else {}
    if variants:
        pairs = [f"{', '.join(map(text_of, rare))} and {text_of(value)}" for value, rare in variants.items()]
        yield table.fact(
            "spellings",
            Severity.QUESTION,
            f"Spellings of {text_of(roles.label)} count as different values: {'; '.join(pairs[:_MOST])}.",
            key="data.confirmed",
            columns=(roles.label,),
            confirm="They are different values",
            by_column=True,
        )
