"""What a table must be asked before it is audited: facts with evidence, a severity and repairs; and cautions.

A verdict is only as good as the answers it builds on: which value a score predicts, which outcome is good for a person,
which columns a model wrote, who is who. Each of these is measured here where it can be, and asked where it cannot. The
Data page, ``fairleak init``, ``fairleak audit`` and the notebook read this one function.

Blocking facts, by `Fact.kind`, which a repair or a confirmation answers:

- ``too_many_values``: a label, a prediction, sets or an attribute with more values than it can have; said alone.
- ``label_is_attribute``, ``label_one_value``: without another label there is no audit.
- ``label_equals_attribute``, ``label_is_prediction``: the label says what the attribute or the model says.
- ``inverted_predictions``: less accurate than always guessing the majority *and* than the opposite of each prediction.
- ``contradiction``: with the best threshold for each group, over 5% of the predictions do not follow from the scores.
- ``reversed_score``: the area under the ROC curve lies below one half with its 99% interval.
- ``prediction_values``: a prediction that is not written as the label is, until somebody says what its values mean.
- ``copy``: a feature that tells score or predictions by itself, and not the label, or a score that is left out (see
  `core.datasets.score_copies`).
- ``person``: people of several rows that stand in several sets, where nobody has said yet who is who.

Questions have no default: ``favourable``, ``label_missing``, ``attribute_missing``; ``attribute`` where nobody chose
it and another column may be meant; and where a guess has no evidence ``outcome``, ``outcome_untold`` (a score tells
another column and not the label), ``positive``, ``sets``, ``possible_person`` and, where nothing else is a model's
answer, ``possible_answers``, by a name or as other columns together tell it; ``training_value`` where the values of the
sets do not say which means training.

Guesses hold until somebody changes them: the same four with evidence, ``possible_sets``, ``possible_weight``,
``spellings``, ``labels_together``, ``groups``. Everything else is a caution or a note.

Somebody who takes the data to be right confirms a fact by its name, "contradiction" or "copy:income"; it is a note from
then on. Rules that `core.datasets.build_dataset` refuses a table for are said there, and never raise here.

An outcome chosen as good for the person that reads like a harm is a caution, one that reads like neither a note.

`cautions` say what to look at besides: a lopsided attribute, near copies of attribute, label or prediction, columns
mostly missing, dates, a header like a record, and faults that no column shows by itself
(`core.datasets.hidden_faults`). `shared_lines` are the facts as a form has them, a line for each kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..stats.estimates import percent
from .answer_facts import direction_facts, meaning_facts, output_facts, repeated_records
from .checked_table import CheckedTable, Fact, Repair, Severity
from .column_facts import column_questions
from .columns import (
    as_text,
    bare_name,
    could_be_number,
    crossed_columns,
    is_numeric,
    label_codes,
    listed,
    names_records,
    numbers_of,
    text_of,
    with_crossed,
)
from .hidden_faults import hidden_facts
from .label_facts import label_facts, label_questions
from .name_patterns import SCORE_NAMES, few_texts, names_decision
from .roles import Roles, as_written, check_values, groups_of, value_problems
from .score_copies import copy_facts, left_out_answers
from .score_parts import part_facts

if TYPE_CHECKING:
    import pandas


def check_input(
    frame: pandas.DataFrame,
    roles: Roles,
    *,
    guesses: Collection[str] = (),
    settings: bool = False,
) -> tuple[Fact, ...]:
    """Return what to confirm, answer or know before an audit with these roles: blocking facts first.

    Parameters
    ----------
    frame : DataFrame
        As it was read; with a model file's answers as columns where there is one.
    roles : Roles
        `favourable` may be empty, which is a blocking fact; facts whose kind is in `roles.confirmed` are notes.
    guesses : collection of str
        Roles that were guessed and that nobody has answered yet, by name, as
        `core.datasets.role_suggestion.Suggestion.questions` has them.
    settings : bool
        Whether to say as well what is answered or certain: the label's two values, the groups, the sets.
    """
    if not frame.columns.is_unique or not len(frame):
        return ()
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    if not _has_columns(frame, roles):
        return ()
    problems = tuple(
        Fact(
            kind="too_many_values",
            severity=Severity.BLOCKING,
            point=text,
            key=f"data.{role}",
            columns=(column,),
        )
        for role, column, text in value_problems(frame, roles)
    )
    if problems:
        return problems
    table = CheckedTable(
        frame=with_crossed(frame, roles.sensitive),
        input_roles=roles,
        crossed=crossed_columns(frame, roles.sensitive),
        guesses=tuple(guesses),
        settings=settings,
    )
    facts = [
        *label_facts(table),
        *meaning_facts(table),
        *direction_facts(table),
        *copy_facts(table),
        *column_questions(table),
        *label_questions(table),
        *output_facts(table),
        *repeated_records(table),
    ]
    order = list(Severity)
    return tuple(sorted(facts, key=lambda fact: order.index(fact.severity)))


def _has_columns(frame: pandas.DataFrame, roles: Roles) -> bool:
    """Whether roles name columns of the table, and a score numbers; where not, building the dataset says which."""
    columns = {
        roles.label,
        roles.sensitive,
        roles.prediction,
        roles.score,
        roles.sets,
        roles.person,
    }
    if not columns - {""} <= set(with_crossed(frame, roles.sensitive).columns):
        return False
    return not roles.score or is_numeric(frame[roles.score])


_TOPICS: Mapping[str, str] = {
    "contradiction": "direction",
    "inverted_predictions": "direction",
    "reversed_score": "direction",
    "labels_together": "positive",
    "outcome_untold": "outcome",
}
"""Kind of a fact -> what it is about, where several kinds are about one thing; else they are about their kind."""

CONSEQUENCES: Mapping[str, str] = {
    "direction": "With the score read the wrong way round, a leak can be missed and fairness is counted on the wrong "
    "people.",
    "copy": "With an output of the model among the features, a real leak could read as a pass.",
    "person": "With people on both sides, the test is not of strangers, and a leak could read as a pass.",
    "prediction_values": "With a prediction read the wrong way round, fairness is counted on the wrong people.",
    "label_is_prediction": "An audit against the model's own answer misses leaks.",
}
"""What a blocking fact is about -> what it would do to the verdict."""


CONFIRMED_GUESSES = frozenset(
    {
        "attribute",
        "labels_together",
        "near_score",
        "outcome",
        "positive",
        "spellings",
        "unclear_outcome",
    }
)
"""Facts that can be confirmed, and hold no audit up without it."""


_PREMISES: Mapping[str, tuple[tuple[Severity, str], ...]] = {
    "positive": (
        (Severity.BLOCKING, "direction"),
        (Severity.BLOCKING, "prediction_values"),
        (Severity.QUESTION, "outcome"),
        (Severity.QUESTION, "possible_answers"),
    ),
    "groups": ((Severity.QUESTION, "attribute"),),
    "sets_missing": ((Severity.QUESTION, "possible_sets"),),
}
"""What a line is about -> what must be answered before it can be said: severity and topic of other lines."""


def topic_of(fact: Fact) -> str:
    """Return what a fact is about."""
    return _TOPICS.get(fact.kind, fact.kind)


def shared_lines(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return facts as the lines of a form, those about one thing in one; notes are no lines.

    What blocks comes first, then questions, cautions and guesses. A line's first repair answers all of its facts; the
    others follow. What a score is about is no line where its direction, or what a prediction says, blocks, or where it
    is asked which column is the outcome or the score; and a near copy of the prediction none where it is said to be a
    copy of the score.
    """
    lines: dict[tuple[Severity, str], list[Fact]] = {}
    for fact in facts:
        if fact.severity is not Severity.NOTE:
            lines.setdefault((fact.severity, topic_of(fact)), []).append(fact)
    for topic, premises in _PREMISES.items():
        if not lines.keys().isdisjoint(premises):
            for severity in Severity:
                lines.pop((severity, topic), None)
    copies = [
        *lines.get((Severity.BLOCKING, "copy"), []),
        *lines.get((Severity.CAUTION, "near_score"), []),
    ]
    copied = {column for fact in copies for column in fact.columns}
    near = lines.get((Severity.CAUTION, "near_prediction"), [])
    if copied and all(copied.issuperset(fact.columns) for fact in near):
        lines.pop((Severity.CAUTION, "near_prediction"), None)
    order = list(Severity)
    merged = [_merged(line) for line in lines.values()]
    return tuple(sorted(merged, key=lambda fact: order.index(fact.severity)))


def _merged(facts: Sequence[Fact]) -> Fact:
    """Return several facts about one thing as one."""
    first = facts[0]
    if len(facts) == 1:
        return first
    evidence = [fact.text if fact.kind == first.kind else fact.more for fact in facts[1:]]
    columns = dict.fromkeys(chain.from_iterable(fact.columns for fact in facts))
    repairs = list(chain.from_iterable(map(_repairs_with_names, facts)))
    if all(fact.repairs for fact in facts):
        common = _common([fact.repairs[0] for fact in facts])
        titles = {repair.title for repair in common}
        repairs = [*common, *(repair for repair in repairs if repair.title not in titles)]
    return replace(
        first,
        more=" ".join(filter(None, (first.more, *evidence))),
        columns=tuple(columns),
        repairs=tuple({repair.title + str(repair.changes): repair for repair in repairs}.values()),
    )


def _repairs_with_names(fact: Fact) -> list[Repair]:
    """Return the repairs of one of several facts; what confirms it says which one that is."""
    which = listed(fact.columns)
    if topic_of(fact) != fact.kind:
        which = fact.kind.replace("_", " ")
    repairs = []
    for repair in fact.repairs:
        if repair.confirms:
            repair = replace(repair, title=f"{repair.title} ({which})")
        repairs.append(repair)
    return repairs


def _common(repairs: Sequence[Repair]) -> list[Repair]:
    """Return the one repair that makes all of these; none where they contradict each other."""
    changes: dict[str, Any] = {}
    for repair in repairs:
        for name, value in repair.changes.items():
            before = changes.get(name, value)
            if isinstance(before, tuple) and isinstance(value, tuple):
                changes[name] = tuple(dict.fromkeys((*before, *value)))
            elif before == value:
                changes[name] = value
            else:
                return []
    results = dict.fromkeys(repair.result for repair in repairs)
    return [Repair(title=repairs[0].title, changes=changes, result=" ".join(results))]


_LOPSIDED = 0.9
"""Baseline of the attribute above which accuracy says little of an attack."""

_NEAR = 0.95
"""Balanced accuracy above which a column is almost the attribute or the label."""

_MOSTLY_MISSING = 0.5
"""Share of missing cells from which on a column says little."""

_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/. ]+(\d{1,2}|[^\W\d]{3,9})\.?[-/., ]+\d{2,4}\b"
)
"""How a date begins: 1987-03-21, 21.3.1987, 3/21/87, 21 Mar 1987."""

_FEW_DATES = 20
"""Different dates up to which a column holds categories."""

_MOST_ROWS = 100_000
_MOST_BINS = 256
_ROWS_PER_BIN = 40
_FEWEST_CELLS = 2


def _caution(
    kind: str, point: str, more: str, *, columns: tuple[str, ...] = (), roles: Roles | None = None
) -> Fact:
    """Return a caution; with `roles` its columns can be left out."""
    repairs: tuple[Repair, ...] = ()
    if roles is not None and columns:
        pronoun = "it" if len(columns) == 1 else "them"
        verb = "is" if len(columns) == 1 else "are"
        repair = Repair(
            title=f"Leave {pronoun} out",
            changes={"excluded": (*roles.excluded, *columns)},
            result=f"{listed(columns)} {verb} left out.",
        )
        repairs = (repair,)
    return Fact(
        kind=kind,
        severity=Severity.CAUTION,
        point=point,
        more=more,
        key="data.excluded" * bool(repairs),
        columns=columns,
        repairs=repairs,
    )


def cautions(frame: pandas.DataFrame, roles: Roles) -> tuple[Fact, ...]:
    """Return what to look at before an audit with these roles.

    The attribute's baseline, above 90 %. Columns of which each alone predicts the group, the label or the predicted
    label with a balanced accuracy above 95 %: what is most likely by one half of a random sample of 100,000 records,
    judged on the other. Features that may be a model's answers and were confirmed, and scores that are left out, where
    predicted labels are audited. Decisions that are left out, where a threshold on a score differs from them. Columns
    of which half of the cells or more are missing. Texts that are dates. And names of columns that look like the cells
    of a record.

    Parameters
    ----------
    frame : DataFrame
        As it was read.
    roles : Roles
        `label` and `sensitive` may be empty; what needs them is left out, as it is where the groups break a rule.
    """
    cautioned = list(_header(frame))
    try:
        check_values(frame, roles)
    except InputError:  # which the input check says
        return tuple(cautioned)
    crossed = crossed_columns(frame, roles.sensitive)
    frame = with_crossed(frame, roles.sensitive)
    roles = as_written(frame, roles)
    sides: dict[str, npt.NDArray[np.float64]] = {}
    if roles.sensitive:
        try:
            codes, names, _ = groups_of(frame[roles.sensitive], roles)
        except InputError:
            pass
        else:
            sides["attribute"] = numbers_of(codes)
            cautioned += _baseline(sides["attribute"], names, roles)
    if roles.label and roles.positive:
        text = as_text(frame[roles.label])
        sides["label"] = numbers_of(text == roles.positive)
    if roles.prediction in frame:
        codes = as_text(frame[roles.prediction]).factorize()[
            0
        ]  # it may be written otherwise than the label
        sides["prediction"] = np.where(codes < 0, np.nan, codes)
    features = frame.drop(columns=list(crossed))
    cautioned += _confirmed_answers(features, roles)
    cautioned += _scores_left_out(features, roles)
    cautioned += _decisions_left_out(features, roles)
    cautioned += _near_copies(features, roles, sides)
    cautioned += _mostly_missing(features, roles)
    cautioned += _dates(features, roles)
    table = CheckedTable(frame=frame, input_roles=roles, crossed=crossed, guesses=())
    cautioned += _answers_left_out(table)
    cautioned += part_facts(table)
    hidden = hidden_facts(table)
    if any(
        caution.kind == "near_attribute" for caution in cautioned
    ):  # which says it of one column
        hidden = [fact for fact in hidden if fact.kind != "attribute_in_features"]
    return (*cautioned, *hidden)


def _header(frame: pandas.DataFrame) -> Iterator[Fact]:
    """Say that the names look like cells: half of them, two or more, are numbers or values of their own column."""
    names = [str(name) for name in frame.columns]
    value_like = [
        name for name in names if could_be_number(name) or (as_text(frame[name]) == name).any()
    ]
    if len(value_like) >= max(_FEWEST_CELLS, len(names) / 2):
        yield _caution(
            "header",
            f"{len(value_like)} of {len(names)} column names look like values ({listed(value_like)}).",
            "If the first line is a record, put a line with the names above it.",
        )


def _mostly_missing(frame: pandas.DataFrame, roles: Roles) -> Iterator[Fact]:
    """Say which columns have few cells, and what that does."""
    for name in map(str, frame.columns):
        missing = int(frame[name].isna().sum())
        if (
            name in (*roles.excluded, *roles.auxiliary)
            or not _MOSTLY_MISSING <= missing / len(frame) < 1
        ):
            continue
        target = name in (roles.label, roles.sensitive)
        if not target and _no_feature(frame[name], name):
            continue
        point = f"{text_of(name)} is {percent(missing / len(frame))} missing ({missing:,} of {len(frame):,} records)."
        if target or roles.missing == "drop":
            role = {roles.label: "the label", roles.sensitive: "the sensitive attribute"}.get(
                name, "a feature"
            )
            gaps = f"As {role} it leaves {len(frame) - missing:,} records."
        elif is_numeric(frame[name]):
            gaps = "The column's median fills the gaps."
        else:
            gaps = "Missing cells become a category of their own."
        choosable = () if target else (name,)
        yield _caution("mostly_missing", point, gaps, columns=choosable, roles=roles)


def _no_feature(column: pandas.Series, name: str) -> bool:
    """Whether a column is set aside by itself: dates, one number alone, what names the records."""
    return (
        column.dtype.kind in "mM"
        or (is_numeric(column) and column.nunique() < 2)
        or names_records(column, name)
    )


def _dates(frame: pandas.DataFrame, roles: Roles) -> Iterator[Fact]:
    """Say which features are dates written as text; a text for most records is set aside by itself."""
    for name in map(str, frame.columns):
        column = frame[name]
        taken = (roles.label, roles.sensitive, *roles.excluded, *roles.auxiliary)
        if name in taken or is_numeric(column) or _no_feature(column, name):
            continue
        values = as_text(column).dropna().unique()
        if len(values) <= _FEW_DATES or sum(
            bool(_DATE.match(text)) for text in values
        ) < _NEAR * len(values):
            continue
        yield _caution(
            "dates",
            f"{text_of(name)} holds dates: {len(values):,} different values.",
            "A model can learn single people by heart. Leave it out, or keep a year.",
            columns=(name,),
            roles=roles,
        )


def _baseline(
    groups: npt.NDArray[np.float64], names: tuple[str, ...], roles: Roles
) -> Iterator[Fact]:
    counts = np.bincount(groups[~np.isnan(groups)].astype(np.int64), minlength=len(names))
    share = float(counts.max() / max(1, counts.sum()))
    if share > _LOPSIDED:
        largest = text_of(names[int(counts.argmax())])
        yield _caution(
            "lopsided",
            f"{percent(share)} of the people are in one group of {text_of(roles.attribute)}: {largest}.",
            "Always guessing it is correct that often (baseline), so look at balanced accuracy.",
        )


def _confirmed_answers(frame: pandas.DataFrame, roles: Roles) -> Iterator[Fact]:
    """Say which columns may be a model's answers, and are features because somebody confirmed them."""
    taken = (roles.label, roles.sensitive, *roles.excluded, *roles.auxiliary)
    features = [name for name in map(str, frame.columns) if name not in taken]
    confirmed = tuple(name for name in features if f"possible_answers:{name}" in roles.confirmed)
    if roles.gives_predictions and confirmed:
        point = (
            f"Confirmed as features, although they may be a model's answers: {listed(confirmed)}."
        )
        yield _caution("confirmed_answers", point, _BLIND_SPOT, columns=confirmed, roles=roles)


def _scores_left_out(frame: pandas.DataFrame, roles: Roles) -> Iterator[Fact]:
    """Say that a score which is left out is not audited."""
    excluded = [name for name in map(str, frame.columns) if name in roles.excluded]
    scores = [
        name for name in excluded if bare_name(name) in SCORE_NAMES and is_numeric(frame[name])
    ]
    if scores and roles.prediction and not roles.score:
        yield _caution(
            "scores_left_out",
            f"Scores are left out, so that only predicted labels are audited: {listed(scores)}.",
            "If the model gives them, write them as 0 to 1, with the role Score.",
        )


def _answers_left_out(table: CheckedTable) -> Iterator[Fact]:
    """Say that a column which may be a model's answer is not audited, where no other one is."""
    names = [name for name in left_out_answers(table) if table.confirms(f"possible_answers:{name}")]
    if names and not table.answers:
        point = f"Left out, although it may be a model's answer: {listed(names)}."
        more = "The audit does not read these answers: it speaks of a model trained here, or of one in a file."
        yield _caution("answers_left_out", point, more)


_DISAGREEMENT = 0.02
"""Share of people from which on a decision that is left out differs from the scores' threshold."""


def _decisions_left_out(frame: pandas.DataFrame, roles: Roles) -> Iterator[Fact]:
    """Say that a decision which is left out is not what a threshold on the score would say."""
    if roles.prediction or roles.score not in frame or not is_numeric(frame[roles.score]):
        return
    scores = numbers_of(frame[roles.score])
    if roles.label in frame:
        label_values = few_texts(frame[roles.label])
    else:
        label_values = ()
    for name in map(str, frame.columns):
        if name not in roles.excluded or not names_decision(name):
            continue
        texts = few_texts(frame[name])
        if len(texts) != 2:
            continue
        text = as_text(frame[name])
        compared = text.notna().to_numpy(dtype=bool) & ~np.isnan(scores)
        if not compared.any():
            continue
        above = scores[compared] >= roles.threshold
        first = (text == texts[0]).to_numpy(dtype=bool, na_value=False)[compared]
        positive = texts[0]
        meanings = label_codes(texts, label_values, roles.positive)
        if None not in meanings.values():
            is_first = meanings[texts[0]] == 1
        else:  # the reading that agrees with the threshold more often
            is_first = bool((first == above).mean() >= 0.5)
        decided = first
        if not is_first:
            positive = texts[1]
            decided = ~first
        differing = int((decided != above).sum())
        if differing <= _DISAGREEMENT * above.size:
            continue
        repair = Repair(
            title="It is the prediction",
            changes={
                "prediction": name,
                "excluded": tuple(column for column in roles.excluded if column != name),
            },
            result=f"{text_of(name)} is the prediction.",
        )
        caution = _caution(
            "decisions_left_out",
            f"A threshold of {roles.threshold:g} on {text_of(roles.score)} disagrees with {text_of(name)} for "
            f"{differing:,} of {above.size:,} people ({percent(differing / above.size)}).",
            f"{int(above.sum()):,} people are above it, and {int(decided.sum()):,} are {text_of(positive)}. The audit "
            f"is of the threshold; give {text_of(name)} the role Prediction to audit the decisions.",
            columns=(name,),
        )
        yield replace(caution, key="data.prediction", repairs=(repair,))


_BLIND_SPOT = "A feature counts as known without the model: an audit would miss what it reveals."


def _near_copies(
    frame: pandas.DataFrame, roles: Roles, sides: dict[str, npt.NDArray[np.float64]]
) -> Iterator[Fact]:
    rows = np.random.default_rng(0).permutation(len(frame))[:_MOST_ROWS]
    near: dict[str, dict[str, float]] = {side: {} for side in sides}
    for name in map(str, frame.columns):
        if name in (roles.sensitive, *roles.excluded, *roles.auxiliary) or names_records(
            frame[name], name
        ):
            continue
        values = _codes(frame[name].iloc[rows])
        for side in sides:
            if name != roles.label or side == "attribute":
                near[side][name] = _balanced_accuracy(values, sides[side][rows])
    for side, title, more in (
        ("attribute", roles.attribute, "An attacker who knows that needs no model."),
        ("label", roles.label, "Leave out what is known only after the label is."),
        ("prediction", roles.prediction, f"Leave out what comes from the model. {_BLIND_SPOT}"),
    ):
        near_copies = {name: value for name, value in near.get(side, {}).items() if value > _NEAR}
        if near_copies:
            chance = 1 / int(np.nanmax(sides[side]) + 1)
            names = sorted(near_copies, key=lambda name: -near_copies[name])
            lowest = percent(min(near_copies.values()))
            if len(names) == 1:
                evidence = f"Alone it predicts the {side} with a balanced accuracy of {lowest}"
            else:
                evidence = (
                    f"Alone each predicts the {side} with a balanced accuracy of {lowest} or more"
                )
            choosable = None if roles.label in names else roles
            yield _caution(
                f"near_{side}",
                f"Almost the {side} {text_of(title)}: {listed(names)}.",
                f"{evidence} (random guessing {percent(chance)}). {more}",
                columns=tuple(names),
                roles=choosable,
            )


def _codes(column: pandas.Series) -> npt.NDArray[np.int64]:
    """Return a column's values as codes from 0, of many numbers their bins of about equal size; 0 is a missing cell."""
    if is_numeric(column):
        numbers = numbers_of(column)
        present = numbers[np.isfinite(numbers)]
        bins = min(_MOST_BINS, present.size // _ROWS_PER_BIN)
        if bins > 1 and np.unique(present).size > bins:
            edges = np.quantile(present, np.arange(1, bins) / bins)
            return np.where(
                np.isfinite(numbers), 1 + np.searchsorted(edges, numbers, side="left"), 0
            )
    return np.asarray(as_text(column).factorize()[0], dtype=np.int64) + 1


def _balanced_accuracy(values: npt.NDArray[np.int64], groups: npt.NDArray[np.float64]) -> float:
    """Return how often the group likeliest by one half of the records is right on the other half; 0 if unknown."""
    present = ~np.isnan(groups)
    values = values[present]
    codes = groups[present].astype(np.int64)
    half = codes.size // 2
    k = int(codes.max(initial=0)) + 1
    counts = np.bincount(
        values[:half] * k + codes[:half], minlength=(int(values.max(initial=0)) + 1) * k
    ).reshape(-1, k)
    training_sizes = counts.sum(axis=0)
    test_sizes = np.bincount(codes[half:], minlength=k)
    if k < 2 or not (training_sizes.all() and test_sizes.all()):
        return 0.0
    guess = (counts / training_sizes).argmax(axis=1)[values[half:]]
    right = np.bincount(codes[half:][guess == codes[half:]], minlength=k)
    return float((right / test_sizes).mean())
