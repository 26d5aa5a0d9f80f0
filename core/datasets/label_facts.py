"""Facts about the label: whether it is the true outcome, which value is good, how its values are written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..stats.estimates import percent
from .checked_table import (
    MOST_REPAIRS,
    CheckedTable,
    Fact,
    Repair,
    Severity,
    divides,
    label_area,
    text_codes,
    value_counts,
)
from .columns import (
    SPELLINGS,
    best_spellings,
    first_few,
    is_numeric,
    listed,
    text_of,
)
from .name_patterns import (
    few_texts,
    is_score,
    outcome_sign,
    positive_rank,
)
from .role_suggestion import (
    names_attribute,
    suggested_positive,
    told_by,
)
from .roles import MOST_LABELS

_MOST = 4
"""Values that a sentence names."""

_MOST_SHARES = 3
"""Values of the label whose shares a sentence names."""

_MOST_CANDIDATES = 3
"""Columns that are offered as the label."""


def label_facts(table: CheckedTable) -> Iterable[Fact]:
    """Say that the label is missing, is no outcome of its own, or that nobody has said which value is good."""
    roles = table.roles
    texts = table.label[1]
    if not roles.label:
        yield _label_missing(table)
        return
    if not texts:
        return
    columns = (roles.label,)
    if roles.label == roles.sensitive or roles.label in table.crossed:
        text = f"{text_of(roles.label)} is label and sensitive attribute at once; choose two different columns."
        yield table.fact(
            "label_is_attribute",
            Severity.BLOCKING,
            text,
            key="data.label",
            columns=columns,
            confirm="",
        )
        return
    yield from _values_left(table)
    yield from _outcome_facts(table)
    if roles.favourable not in texts:
        yield _favourable_question(table)
    else:
        yield from _favourable_facts(table)
    yield from _label_copies(table)


def _label_missing(table: CheckedTable) -> Fact:
    more = ""
    if table.answers:
        verb = "is" if len(table.answers) == 1 else "are"
        more = f"{listed(table.answers)} {verb} what a model says."
    candidates = _possible_labels(table)[:_MOST_CANDIDATES]
    point = "An audit needs the true outcome of each person, and no column holds it."
    if candidates:
        point = "An audit needs the true outcome of each person: which column holds it?"
        sizes = [f"{text_of(name)} ({len(few_texts(table.frame[name]))})" for name in candidates]
        more = f"{more} Columns of few values: {first_few(sizes)}.".lstrip()
    return table.fact(
        "label_missing",
        Severity.QUESTION,
        point,
        more,
        key="data.label",
        repairs=[
            replace(_label_repair(table, name), title=f"It is {text_of(name)}")
            for name in candidates
        ],
        confirm="",
    )


def _possible_labels(table: CheckedTable) -> list[str]:
    """Return the features of few texts that may be the label, those first that the score tells best."""
    possible = [
        name
        for name in reversed(table.features)
        if name not in table.contents
        and not names_attribute(name)
        and not is_numeric(table.frame[name])
        and len(few_texts(table.frame[name])) >= 2
    ]
    if table.scores is None:
        return possible
    rows = table.rows
    scores = table.scores[rows]
    return sorted(possible, key=lambda name: -label_area(scores, table.frame[name].iloc[rows]))


def _outcome_facts(table: CheckedTable) -> Iterable[Fact]:
    """Ask which column is the true outcome, where it is a guess without evidence; warn where a score tells another one.

    A score that tells another column of two values, and not this one, is likely about that one.
    """
    roles = table.roles
    guessed = "label" in table.guesses
    is_binary = len(table.label[1]) == 2
    results = {}
    if is_binary:
        results[roles.label] = told_by(table.frame, roles.label, table.contents, table.answers)
    speaks_for_label = results.get(roles.label) is not None
    if not guessed and (speaks_for_label or not is_binary):
        return
    candidates = _other_outcomes(table)
    results |= {
        name: told_by(table.frame, name, table.contents, table.answers) for name in candidates
    }
    best_answers = {name: result for name, result in results.items() if result is not None}
    candidates.sort(key=lambda name: -best_answers[name][1].value if name in best_answers else 0.0)
    speaks_against = (
        is_binary and not speaks_for_label and any(name in best_answers for name in candidates)
    )
    if not guessed and not speaks_against:
        return
    label = text_of(roles.label)
    evidence = [
        f"{text_of(answer)} tells {text_of(name)} with an AUC of {area.value:.3f}"
        for name, (answer, area) in sorted(best_answers.items(), key=lambda item: -item[1][1].value)
    ]
    if speaks_against:
        kind = "outcome_untold"
        scores = listed(list(dict.fromkeys(answer for answer, _ in best_answers.values())))
        point = f"{label} is taken for the true outcome, and {scores} does not tell it."
        more = (
            f"{first_few(evidence[:_MOST])} (random guessing 0.500), and {label} not beyond chance."
        )
    elif speaks_for_label:
        kind = "outcome"
        point = f"{label} is taken for the true outcome, as {text_of(best_answers[roles.label][0])} tells it."
        more = f"{first_few(evidence[:_MOST])} (random guessing 0.500)."
        if untold := [text_of(name) for name in candidates if name not in best_answers]:
            more += f" Not beyond chance: {first_few(untold)}."
    else:
        kind = "outcome"
        point = f"{label} is taken for the true outcome, and neither a name nor a score shows it."
        more = "It is what the model should predict. An audit against another column says nothing of the model."
    severity = Severity.CAUTION
    if guessed:
        severity = Severity.QUESTION
    yield table.fact(
        kind,
        severity,
        point,
        more,
        key="data.label",
        columns=(roles.label,),
        repairs=[_label_repair(table, name) for name in candidates[: MOST_REPAIRS - 1]],
        confirm="It is the outcome",
        by_column=True,
    )


def _other_outcomes(table: CheckedTable) -> list[str]:
    """Return the columns without a role that have two values and could be the label; the last one first."""
    return [
        name
        for name in reversed(table.features)
        if name not in table.contents
        and not names_attribute(name)
        and len(few_texts(table.frame[name])) == 2
        and not is_score(table.frame[name])
    ]


def _label_repair(table: CheckedTable, name: str) -> Repair:
    """Return the repair that another column is the label; what its values mean is guessed again."""
    roles = table.input_roles
    positive = suggested_positive(
        table.frame, label=name, prediction=roles.prediction, score=roles.score
    )
    return Repair(
        title=f"No, {text_of(name)} is",
        changes={"label": name, "positive": positive, "favourable": ""},
        result=f"{text_of(name)} is the true outcome.",
    )


def _values_left(table: CheckedTable) -> Iterable[Fact]:
    """Say that only one value of the label is left among the records that an audit would use."""
    roles = table.roles
    (codes, texts) = table.label
    audited = table.audited
    if roles.missing == "drop" and table.features:
        audited = audited & table.frame[list(table.features)].notna().all(axis=1).to_numpy(
            dtype=bool
        )
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
    yield table.fact(
        "label_one_value", Severity.BLOCKING, text, key="data.label", columns=columns, confirm=""
    )


_FAVOURABLE_MEANS = "Fairness is counted on it."


_IF_WRONG = "If it is not good, fairness is counted on the wrong outcome."


def _favourable_question(table: CheckedTable) -> Fact:
    """Return the question which value is good for the person, with what the table's names say of the values."""
    roles = table.roles
    more = f"{_label_shares(table)} {_FAVOURABLE_MEANS}"
    harms = [
        text_of(value)
        for value in table.label[1]
        if _names_for(table, value, -1) and not _names_for(table, value, 1)
    ]
    if harms:
        more = f"{more} By the names of the table it may be bad: {first_few(harms)}."
    elif not _signs_of_names(table):
        more = f"{more} No name in the table shows which: ask who made it."
    if roles.favourable:
        more = f"{more} It is never {text_of(roles.favourable)}."
    return table.fact(
        "favourable",
        Severity.QUESTION,
        f"Which value of {text_of(roles.label)} is good for the person?",
        more,
        key="data.favourable",
        columns=(roles.label,),
        repairs=[
            Repair(title=f"{text_of(value)} is good for the person", changes={"favourable": value})
            for value, _ in value_counts(*table.label).most_common(MOST_REPAIRS)
        ],
        confirm="",
    )


def _signs_of_names(table: CheckedTable) -> list[tuple[str, str, int]]:
    """Return the names that read like something good or bad for a person, the label's value each is about, and 1 or -1.

    Values of the label may, and names of columns: the label's, of which one value says yes, and those of predictions
    and scores, which are about one value.
    """
    roles = table.roles
    values = table.label[1]
    about = {value: value for value in values}
    for value in values:
        if positive_rank(value) == 1 or value.startswith(">"):  # it is so, or much of it
            about[roles.label] = value
    about |= dict.fromkeys((roles.prediction, roles.score), roles.positive)
    signs = [(name, value, outcome_sign(name)) for name, value in about.items()]
    return [(name, value, sign) for name, value, sign in signs if sign]


def _names_for(table: CheckedTable, value: str, sign: int) -> list[tuple[str, str]]:
    """Return the names by which a value of the label is good, for sign 1, or bad, for -1, and what each is about.

    A name that says so of another value says the opposite of this one.
    """
    return [
        (name, about_value)
        for name, about_value, sign_of_name in _signs_of_names(table)
        if (sign_of_name == sign) == (about_value == value)
    ]


def _favourable_facts(table: CheckedTable) -> Iterable[Fact]:
    """Say which outcome counts as good for the person; caution where names say that it is bad, or a plain no is chosen.

    Where no name shows anything a yes, or a word of its own, is as good as the answer that chose it, which is said.
    """
    roles = table.roles
    chosen = roles.favourable
    outcome = f"{text_of(roles.label)} = {text_of(chosen)}"
    consequence = (
        f"{outcome} counts as good for the person ({_of_100(table)} people get it), and no name in the table shows "
        "that it is."
    )
    doubt = ""
    if not _names_for(table, chosen, 1):
        harms = _names_for(table, chosen, -1)
        if harms:
            consequence = (
                f"{outcome} counts as good for the person ({_of_100(table)} people get it), although names speak "
                f"against it: {', '.join(_tone_of_name(table, *name) for name in harms)}."
            )
            yield _outcome_caution(table, "harmful_outcome", consequence, _IF_WRONG)
        elif positive_rank(chosen) == 0:
            more = f"A “{text_of(chosen)}” is good only where {text_of(roles.label)} is bad for a person. {_IF_WRONG}"
            yield _outcome_caution(table, "unclear_outcome", consequence, more)
        else:
            doubt = f"No name in the table shows that it is. {_IF_WRONG}"
    if table.settings:
        yield table.fact(
            "favourable",
            Severity.GUESS,
            f"Good for the person: {outcome}.",
            f"{_label_shares(table)} {_FAVOURABLE_MEANS} {doubt}".rstrip(),
            key="data.favourable",
            columns=(roles.label,),
            confirm="",
        )
    elif doubt:
        yield table.fact("unclear_outcome", Severity.NOTE, consequence, _IF_WRONG)


def _tone_of_name(table: CheckedTable, name: str, value: str) -> str:
    """Return whether a name that is about a value reads like something good or bad."""
    tone = "good"
    if value == table.roles.favourable:
        tone = "bad"
    about = f" (about {text_of(value)})" * (name != value)
    return f"{text_of(name)}{about} reads like something {tone}"


def _outcome_caution(table: CheckedTable, kind: str, point: str, more: str) -> Fact:
    """Return a caution about the outcome that counts as good; another value turns it, and the value confirms it."""
    roles = table.input_roles
    chosen = table.roles.favourable
    fact = Fact(
        kind=kind,
        severity=Severity.CAUTION,
        point=point,
        more=more,
        key="data.favourable",
        value=chosen,
    )
    if fact.is_confirmed(roles):
        return replace(fact, severity=Severity.NOTE, key="", more=f"{more} This is confirmed.")
    repairs = [
        Repair(
            title=f"“{text_of(value)}” is good for the person",
            changes={"favourable": value},
            result=f"Good for the person: {text_of(roles.label)} = {text_of(value)}.",
        )
        for value in table.label[1]
        if value != chosen and len(table.label[1]) == 2
    ]
    confirmed = (*roles.confirmed, f"{kind}:{chosen}")
    repairs.append(Repair(title="It is good for the person", changes={"confirmed": confirmed}))
    return replace(fact, repairs=tuple(repairs))


def _of_100(table: CheckedTable) -> str:
    """Return how many of 100 people have the outcome that is good for them."""
    counts = value_counts(*table.label)
    share = round(100 * counts[table.roles.favourable] / max(1, counts.total()))
    if share == 0:
        return "fewer than 1 of 100"
    if share == 100:
        return "more than 99 of 100"
    return f"{share} of 100"


def _label_shares(table: CheckedTable) -> str:
    """Return a sentence on how frequent the label's values are."""
    counts = value_counts(*table.label)
    shares = [
        f"{text_of(value)} for {percent(n / counts.total())}" for value, n in counts.most_common()
    ]
    more = ""
    if len(shares) > _MOST_SHARES + 1:  # a single one is named
        more = f" and {len(shares) - _MOST_SHARES} more values"
        shares = shares[:_MOST_SHARES]
    return f"{text_of(table.roles.label)} is {', '.join(shares)}{more}."


def _label_copies(table: CheckedTable) -> Iterable[Fact]:
    """Say that the label is what the attribute says, or what the model says."""
    roles = table.roles
    (codes, texts) = table.label
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
    if table.has(roles.prediction) and np.array_equal(
        codes, text_codes(table.frame[roles.prediction])[0]
    ):
        text = f"The label {label} says the same as {text_of(roles.prediction)} in every record."
    elif table.scores is not None and len(texts) == 2 and divides(codes, table.scores):
        text = (
            f"The label {label} follows from {text_of(roles.score)} by a threshold in every record."
        )
    if text:
        yield table.fact(
            "label_is_prediction",
            Severity.BLOCKING,
            text,
            "It looks like the model's own answer, and an audit of that misses leaks.",
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
    roles = table.roles
    texts = table.label[1]
    if len(texts) < 2:
        return
    yield from _spelling_questions(table)
    other_values = [value for value in texts if value != roles.positive]
    if len(other_values) < 2 or roles.positive not in texts:
        return
    counts = value_counts(*table.label)
    sizes = [f"{text_of(value)} ({counts[value]:,})" for value in other_values]
    more = f"All but {text_of(roles.positive)} are taken together: {first_few(sizes)}."
    if roles.favourable in other_values:
        more += " Together they count as good for the person."
    yield table.fact(
        "labels_together",
        Severity.GUESS,
        f"{text_of(roles.label)} has {len(texts)} values.",
        more,
        key="data.positive",
        columns=(roles.label,),
        repairs=[
            Repair(
                title=f"{text_of(value)} against the others",
                changes={"positive": value},
                result=f"{text_of(value)} of {text_of(roles.label)} stands against all other values.",
            )
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
            pairs = [
                f"{', '.join(map(text_of, rare))} as {text_of(value)}"
                for value, rare in spellings.items()
            ]
            yield table.fact(
                "spellings",
                Severity.GUESS,
                f"Spellings of {text_of(name)} are taken as one: {'; '.join(pairs[:_MOST])}.",
                key="data.confirmed",
                columns=(name,),
                confirm="They are one value",
                by_column=True,
            )
    texts = table.label[1]
    if len(texts) <= MOST_LABELS:
        variants = best_spellings(dict.fromkeys(texts, 1))[1]
    else:
        variants = {}
    if variants:
        pairs = [
            f"{', '.join(map(text_of, rare))} and {text_of(value)}"
            for value, rare in variants.items()
        ]
        yield table.fact(
            "spellings",
            Severity.GUESS,
            f"Spellings of {text_of(roles.label)} count as different values: {'; '.join(pairs[:_MOST])}.",
            key="data.confirmed",
            columns=(roles.label,),
            confirm="They are different values",
            by_column=True,
        )
