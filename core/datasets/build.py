"""A table and the roles of its columns joined into an `AuditDataset`, one model or several.

Which records and columns an audit uses, and everybody's label and group; what is left out is counted and named.

A predicted label is read as the label itself is: the positive value counts as 1. It may also be written as 0 and 1,
as false and true, or as no and yes, and these words mean the same wherever label or prediction uses them. Of other
words `Roles.prediction_positive` says which one stands for the positive value. A score is a number in [0, 1]. Where
only scores are given, a score of at least the threshold predicts 1.

A column of sets says which records the model was trained on, whose sensitive attribute the attacker knows, and who is
left for testing. None of these columns is ever a feature.

The positive value is what predictions and scores are about; the favourable value is good for the person, and fairness
is counted on it. In the dataset 1 stands for the favourable outcome in label and prediction, and a score is that of the
favourable outcome: where the model predicts the other one (a default, a new arrest), all three are turned round.

A record without a model's answer stays: who gets no answer is itself something that a release shows. Of a person with
several rows one row stays, drawn at random, so that a record is a person; a training record, if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..base.caveats import Caveat, CaveatKind
from ..base.errors import InputError
from ..base.serialize import fingerprint
from ..base.validation import (
    MOST_DECIMALS,
    Codes,
    choice,
    decimals_of,
    unit_interval,
)
from .columns import (
    as_text,
    codes_as_label,
    codes_in_general,
    crossed_columns,
    encode,
    is_number,
    is_numeric,
    numbers_of,
    parse_bool,
    quoted,
    text_of,
    usable_columns,
    with_crossed,
)
from .dataset import AuditDataset, Table
from .roles import MINIMUM_PER_GROUP, Roles, as_written, check_values, groups_of
from .splits import (
    SETS,
    kinds_of_records,
    named_sets,
    one_row_a_person,
    persons_in_several_sets,
    repeated_records,
)

if TYPE_CHECKING:
    import pandas


def select(
    frame: pandas.DataFrame, roles: Roles
) -> tuple[npt.NDArray[np.bool_], list[str], AuditDataset]:
    """Choose the records and columns of a table that its roles allow; raises as `build_dataset`.

    Returns which rows are used, the names of the features, and the people in these rows with a column of zeros in the
    place of their features.
    """
    crossed = crossed_columns(frame, roles.sensitive)
    frame = with_crossed(frame, roles.sensitive)
    roles = as_written(frame, roles)
    _check_roles(frame, roles, crossed)
    caveats: list[Caveat] = []

    def drop_incomplete(
        records: npt.NDArray[np.bool_], columns: Sequence[str], what: str
    ) -> npt.NDArray[np.bool_]:
        """Leave out, with a caveat, the records that lack one of the columns."""
        complete = records & frame[list(columns)].notna().all(axis=1).to_numpy(dtype=bool)
        if lost := int(records.sum() - complete.sum()):
            text = f"{lost:,} records {what} are left out."
            if lost == 1:
                text = f"1 record {what} is left out."
            caveats.append(Caveat(CaveatKind.RECORDS_DROPPED, text, count=lost, total=len(frame)))
        return complete

    selected = np.ones(len(frame), dtype=bool)
    selected = drop_incomplete(
        selected,
        [roles.label, roles.sensitive],
        f"without {text_of(roles.label)} or {text_of(roles.sensitive)}",
    )
    if not selected.any():
        raise InputError(
            f"No record has both a {quoted(roles.label)} and a {quoted(roles.sensitive)} value; choose other columns."
        )
    if roles.sets:
        selected = drop_incomplete(selected, [roles.sets], f"without {text_of(roles.sets)}")
    if roles.person:
        selected = _one_row_a_person(frame, roles, selected, caveats)
    taken = {roles.label, roles.sensitive, *crossed, *roles.excluded, *roles.auxiliary}
    candidates = [column for column in frame.columns if column not in taken]
    features, notes = usable_columns(frame[candidates], selected)
    if roles.missing == "drop":
        selected = drop_incomplete(selected, features, "with a missing feature")
    labels = (as_text(frame[roles.label])[selected] == roles.positive).to_numpy(dtype=np.uint8)
    _check_sides(
        labels, (f"{roles.label} other than {roles.positive}", f"{roles.label} = {roles.positive}")
    )
    label_names = _label_names(frame, roles)
    codes, names, rare = groups_of(frame.loc[selected, roles.sensitive], roles)
    groups = codes.to_numpy(dtype=np.uint8)
    _check_sides(groups, names)
    if rare:
        caveats.append(Caveat(CaveatKind.VALUES_JOINED, rare))
    caveats += [Caveat(CaveatKind.COLUMNS_DROPPED, text) for text in notes]
    optional_fields = _optional_fields(frame, roles, selected, caveats)
    if not _predicts_favourable(roles):
        labels = 1 - labels
        optional_fields = _for_other_outcome(optional_fields)
    people = AuditDataset(
        title="",
        source="",
        features=np.zeros((labels.size, 1)),
        feature_names=("",),
        categorical=np.zeros(1, dtype=bool),
        labels=labels,
        label_names=label_names,
        sensitive=groups,
        group_names=names,
        roles=roles,
        rows_read=len(frame),
        caveats=tuple(caveats),
        **optional_fields,
    )
    return selected, features, people


def _check_roles(frame: pandas.DataFrame, roles: Roles, crossed: tuple[str, ...]) -> None:
    choice(roles.missing, ("keep", "drop"), name="missing")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(
            f"Every column must have a name of its own, several are called {quoted(twice)}."
        )
    required = {"label": roles.label, "sensitive attribute": roles.sensitive}
    optional = {
        "prediction": roles.prediction,
        "score": roles.score,
        "sets": roles.sets,
        "person": roles.person,
    }
    taken = dict.fromkeys(crossed, "sensitive attribute")
    for name, column in (
        required | {name: column for name, column in optional.items() if column}
    ).items():
        if column not in frame.columns:
            raise InputError(f"The {name} must be a column of the table, got {quoted(column)}.")
        if frame[column].isna().all():
            raise InputError(
                f"The {name} column {quoted(column)} is empty in every record; choose another one."
            )
        if column in taken:
            role_names = f"{taken[column]} and {name}".capitalize()
            raise InputError(
                f"{role_names} must be two different columns, got {quoted(column)} twice."
            )
        taken[column] = name
    if unknown := [c for c in roles.excluded if c not in frame.columns]:
        raise InputError(
            f"Columns to leave out must be columns of the table, got {quoted(unknown[0])}."
        )
    if crossed:
        frame = frame.drop(columns=[roles.sensitive])
    check_values(frame, roles)
    values = as_text(frame[roles.label]).dropna().unique().tolist()
    if len(values) < 2:
        raise InputError(
            f"The label {quoted(roles.label)} must have at least two values, got only {quoted(values[0])}."
        )
    examples = ", ".join(quoted(v, 30) for v in values[:4])
    if len(values) > 4:
        examples += ", …"
    if roles.positive not in values:
        raise InputError(
            f"The positive value must be one that {quoted(roles.label)} takes "
            f"({examples}), got {quoted(roles.positive)}."
        )
    if roles.favourable not in values:
        got = quoted(roles.favourable) if roles.favourable else "none"
        raise InputError(
            f"The value that is good for the person (data.favourable) must be one that {quoted(roles.label)} takes "
            f"({examples}), got {got}."
        )


def _predicts_favourable(roles: Roles) -> bool:
    """Whether predictions and scores are about the outcome that is good for the person."""
    return roles.favourable == roles.positive


def _label_names(frame: pandas.DataFrame, roles: Roles) -> tuple[str, str]:
    """Return what the labels 0 and 1 of the dataset stand for, the unfavourable outcome first."""
    values = [
        str(value)
        for value in as_text(frame[roles.label]).dropna().unique()
        if value != roles.positive
    ]
    if len(values) == 1:
        other_value = values[0]
    else:
        other_value = f"not {roles.positive}"
    if _predicts_favourable(roles):
        return (other_value, roles.positive)
    return (roles.positive, other_value)


def _for_other_outcome(optional_fields: dict[str, Any]) -> dict[str, Any]:
    """Return a model's answers as answers about the other outcome: 1 - prediction, 1 - score.

    A score keeps its decimals: 1 - 0.344 is 0.656, and not 0.6560000000000000275.
    """
    answers = dict(optional_fields)
    if "predictions" in answers:
        answers["predictions"] = 1 - answers["predictions"]
    if "scores" in answers:
        scores = answers["scores"]
        turned = 1.0 - scores
        decimals = decimals_of(scores)
        answers["scores"] = turned if decimals == MOST_DECIMALS else np.round(turned, decimals)
    return answers


def _one_row_a_person(
    frame: pandas.DataFrame, roles: Roles, selected: npt.NDArray[np.bool_], caveats: list[Caveat]
) -> npt.NDArray[np.bool_]:
    """Return the records with one row of each person, as `core.datasets.splits.one_row_a_person` draws it."""
    rows = np.flatnonzero(selected)
    person = as_text(frame[roles.person])[selected].factorize()[0]
    rank = None
    if roles.sets:
        sets = _sets(frame.loc[selected, roles.sets], roles)
        rank = np.array([SETS.index(name) for name in sets])
    first, records = one_row_a_person(person, rank)
    n_persons = first.size
    if n_persons == rows.size:
        return selected
    n_repeated = int((records > 1).sum())
    text = (
        f"{n_repeated:,} of {n_persons:,} people have several records by {text_of(roles.person)} "
        f"({rows.size:,} records): one record of each person, drawn at random, is used."
    )
    caveats.append(Caveat(CaveatKind.PERSONS_REPEATED, text, count=n_repeated, total=n_persons))
    if rank is not None:
        identified = person >= 0
        several = persons_in_several_sets(person[identified], rank[identified])
        if several:
            text = (
                f"{several:,} people have records in more than one set: one with a training record counts as "
                "trained on, and not as tested."
            )
            caveats.append(
                Caveat(CaveatKind.PERSONS_REPEATED, text, count=several, total=n_persons)
            )
    first_rows = np.zeros_like(selected)
    first_rows[rows[first]] = True
    return first_rows


def _check_sides(side: npt.NDArray[np.uint8], names: tuple[str, ...]) -> None:
    for code, name in enumerate(names):
        count = int((side == code).sum())
        if count < MINIMUM_PER_GROUP:
            raise InputError(
                f"An audit needs at least {MINIMUM_PER_GROUP} records of each label and group; there are {count} with "
                f"{text_of(name, 100)}."
            )


def build_dataset(table: Table, roles: Roles) -> AuditDataset:
    """Turn a table and the roles of its columns into the arrays an audit works on.

    Columns that say nothing about people (empty, constant, dates, identifiers) are set aside with a note. A record
    without a set is left out where the table has sets; one without a prediction or score stays, see
    `AuditDataset.answered`.

    Raises
    ------
    InputError
        If a role names no column, or two the same; the label or the sensitive attribute has fewer than two sides or a
        side with fewer than `MINIMUM_PER_GROUP` records; no feature is left, or a feature holds infinite values or
        numbers mixed with text; or a prediction, a score or a set is not what it must be.
    """
    selected, features, people = select(table.frame, roles)
    caveats = [Caveat(CaveatKind.TABLE_PARSING, note) for note in table.notes]
    caveats += people.caveats
    matrix, names, categories, categorical = encode(table.frame.loc[selected, features], caveats)
    if repeated := repeated_records(kinds_of_records(matrix, people.labels, people.sensitive)):
        caveats.append(repeated)
    return replace(
        people,
        title=table.title,
        source=table.source,
        features=matrix,
        feature_names=names,
        categorical=categorical,
        roles=roles,
        caveats=tuple(caveats),
        fingerprint=fingerprint(
            matrix,
            people.labels,
            people.sensitive,
            categorical,
            list(names),
            list(categories),
            roles,
            table.title,
            table.source,
            people.predictions,
            people.scores,
            people.sets,
            *(array for array in (people.withheld, people.answered) if array is not None),
        ),
        categories=categories,
        synthetic=table.synthetic,
        uploaded=table.uploaded,
    )


def _optional_fields(
    frame: pandas.DataFrame, roles: Roles, selected: npt.NDArray[np.bool_], caveats: list[Caveat]
) -> dict[str, Any]:
    """Return what the dataset says of a model and of sets, adding to `caveats`; refuse cells that must not be there."""
    threshold = unit_interval(roles.threshold, name="threshold")
    fields: dict[str, Any] = {}
    if roles.gives_predictions:
        answers = frame.loc[selected, roles.prediction or roles.score]
        answered = answers.notna().to_numpy(dtype=bool)
        if missing := int((~answered).sum()):
            fields["answered"] = answered
            text = (
                f"The model gives {missing:,} of {answered.size:,} people no answer. They stay: absence is attacked "
                "too; fairness, accuracy and membership count those with an answer."
            )
            caveats.append(
                Caveat(CaveatKind.ANSWERS_ABSENT, text, count=missing, total=answered.size)
            )
    if roles.score:
        fields["scores"] = scores = score_values(frame.loc[selected, roles.score], roles.score)
        fields["predictions"] = thresholded = (scores >= threshold).astype(np.uint8)
    if roles.prediction:
        fields["predictions"] = predictions = _labels(frame, roles, selected)
    if roles.prediction and roles.score:
        compared = answered & ~np.isnan(scores)
        if odd := int((thresholded != predictions)[compared].sum()):
            text = (
                f"In {odd:,} record{'s' * (odd != 1)} {roles.prediction} is not what a {roles.score} of at least "
                f"{threshold:g} would say; {roles.prediction} is what counts."
            )
            caveats.append(
                Caveat(CaveatKind.CONTRADICTIONS, text, count=odd, total=int(compared.sum()))
            )
        if hidden := int((np.isnan(scores) & answered).sum()):
            counted = "1 record has" if hidden == 1 else f"{hidden:,} records have"
            text = (
                f"{counted} a {roles.prediction} and no {roles.score}: "
                "whose score is withheld counts as released, and where a number is needed the label stands for it."
            )
            caveats.append(
                Caveat(CaveatKind.STAND_IN_LABELS, text, count=hidden, total=answered.size)
            )
    if roles.score and np.isnan(scores).any():
        fields["withheld"] = np.isnan(scores)
        fields["scores"] = np.where(np.isnan(scores), fields["predictions"], scores)
    if roles.sets:
        fields["sets"] = _sets(frame.loc[selected, roles.sets], roles)
        if "attack" not in fields["sets"]:
            text = (
                f"Column {roles.sets} names no attack records, so half of its test records, drawn with the seed, are "
                "those the attacker knows."
            )
            caveats.append(Caveat(CaveatKind.ATTACK_SET_DRAWN, text))
    return fields


_MAX_EXAMPLES = 3  # values of a label that a message names


def as_predictions(labels: Codes, frame: pandas.DataFrame, roles: Roles) -> npt.NDArray[Any]:
    """Return predicted labels, 1 for the positive value, as a column of a table with these roles says it.

    That is 0 and 1, or the label's own words where 0 and 1 would say something else of it.
    """
    if roles.label in frame.columns:
        values = as_text(frame[roles.label]).value_counts().index
    else:
        values = ()
    positive = as_written(frame, roles).positive
    texts = [str(value) for value in values]
    negative_values = [value for value in texts if value != positive]
    if (
        parse_bool(positive, texts)
        or not negative_values
        or all(parse_bool(value, texts) is None for value in texts)
    ):
        return labels.astype(np.int64)
    return np.where(labels == 1, positive, negative_values[0]).astype(object)


def _labels(
    frame: pandas.DataFrame, roles: Roles, selected: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint8]:
    """Return the predicted labels of the selected records, 1 for the positive value; 0 where there is no answer."""
    check_values(frame, roles)  # one of several predictions has its turn only now
    roles = as_written(frame, roles)
    column = frame.loc[selected, roles.prediction]
    text = as_text(column)
    values = [str(value) for value in text.dropna().unique()]
    taken = [str(value) for value in as_text(frame[roles.label]).dropna().unique()]
    if meaning := roles.prediction_positive:
        if meaning not in values:
            raise InputError(
                f"The value that stands for {quoted(roles.positive)} (data.prediction_positive) must be one that "
                f"{quoted(roles.prediction)} takes, got {quoted(meaning)}."
            )
        return (text == meaning).fillna(value=False).to_numpy(dtype=np.uint8)
    specific = codes_as_label(values, taken, roles.positive)
    general = codes_in_general(values, taken, roles.positive)
    codes = specific if None not in specific.values() else general
    if strange := [value for value in values if specific[value] is None and general[value] is None]:
        raise InputError(_strange(strange[0], taken, roles, number=is_numeric(column)))
    if mixed := [value for value in values if codes[value] is None]:
        other_value = next(value for value in values if specific[value] is None)
        raise InputError(
            f"The prediction {quoted(roles.prediction)} must be written in one way, got {quoted(mixed[0])} and "
            f"{quoted(other_value)}."
        )
    if codes is general and (
        torn := [v for v in values if specific[v] is not None and specific[v] != general[v]]
    ):
        raise InputError(
            f"The prediction {quoted(roles.prediction)} must be written either as {quoted(roles.label)} is or as 0 and "
            f"1, got {quoted(torn[0])}, which would mean one thing there and another here."
        )
    return text.map(codes).fillna(0).to_numpy(dtype=np.uint8)


def _strange(value: str, taken: list[str], roles: Roles, *, number: bool) -> str:
    examples = ", ".join(quoted(v, 20) for v in sorted(taken)[:_MAX_EXAMPLES])
    if len(taken) > _MAX_EXAMPLES:
        examples += ", …"
    score = "; choose scores as the score" if number else ""
    return (
        f"The prediction {quoted(roles.prediction, 30)} must be written as {quoted(roles.label, 30)} is "
        f"({examples}) or as 0 and 1, false and true, no and yes, got "
        f"{quoted(value, 30)}{score}."
    )


def score_values(column: pandas.Series, name: str) -> npt.NDArray[np.float64]:
    """Scores of a column of numbers in [0, 1], nan where there is none; refuses other cells."""
    if not is_numeric(column):
        present = as_text(column).dropna()
        strange = next((value for value in present if not is_number(value)), present.iloc[0])
        raise InputError(
            f"The score {quoted(name)} must be a column of numbers in [0, 1], got {quoted(strange)}."
        )
    values = numbers_of(column)
    outside = values[(values < 0.0) | (values > 1.0)]
    if outside.size:
        worst = float(outside[np.argmax(np.abs(outside))])
        percentages = 1.0 < worst <= 100.0 and outside.min() >= 0.0
        if percentages:
            remedy = "divide percentages by 100"
        else:
            remedy = "turn it into a probability first"
        raise InputError(f"The score {quoted(name)} must be in [0, 1], got {worst:g}; {remedy}.")
    return values


def _sets(column: pandas.Series, roles: Roles) -> npt.NDArray[np.str_]:
    """Return everybody's set."""
    name = roles.sets
    text = as_text(column)
    values = [str(value) for value in text.unique()]
    if roles.training_value and roles.training_value not in values:
        raise InputError(
            f"The value that says who was in training (data.training_value) must be one that {quoted(name)} takes, got "
            f"{quoted(roles.training_value)}."
        )
    set_names = named_sets(values, name, roles.training_value)
    if strange := [value for value, meant in set_names.items() if not meant]:
        raise InputError(
            f"Column {quoted(name)} must say train, attack or test for each record (or yes and no in a column called "
            f"in_training; attack means that the attacker knows the attribute), or data.training_value say which value "
            f"means train, got {quoted(strange[0])}."
        )
    for set_name in ("train", "test"):
        if set_name not in set_names.values():
            raise InputError(f"Column {quoted(name)} must name {set_name} records, there are none.")
    return text.map(set_names).to_numpy(dtype=np.str_)
