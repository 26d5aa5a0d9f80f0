"""Questions about columns: what the score predicts, and what may be an answer, a set, a person, a weight."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from .checked_table import MOST_REPAIRS, CheckedTable
from .columns import is_numeric, label_codes, listed, text_of
from .input_facts import Changes, Fact, Repair, Severity
from .name_patterns import MOST_LABELS, Content, few_texts, is_score, may_be_labels, may_be_sets
from .score_evidence import area_under_curve, text_codes
from .splits import named_sets


def column_questions(table: CheckedTable) -> Iterable[Fact]:
    """Ask what the score predicts, and what columns hold whose names say it and whose values leave doubt."""
    yield from _positive_question(table)
    yield from _answer_question(table)
    yield from _set_questions(table)
    yield from _person_questions(table)
    yield from _weight_questions(table)


def _positive_question(table: CheckedTable) -> Iterable[Fact]:
    roles, texts = table.roles, table.label[1]
    if "positive" not in table.guesses or not table.answers or roles.positive not in texts:
        return
    about = text_of(roles.score or roles.prediction)
    text = f"{about} is taken to predict {text_of(roles.label)} = {text_of(roles.positive)}."
    if table.scores is not None:
        rows = table.rows
        scored = ~np.isnan(table.scores[rows])
        area = area_under_curve(table.positive[rows][scored], table.scores[rows][scored])
        if area is not None:
            text += f" AUC {area.value:.3f}{table.sampled}."
    other_values = [value for value in texts if value != roles.positive]
    yield table.fact(
        "positive",
        Severity.QUESTION,
        text,
        key="data.positive",
        columns=table.answers,
        repairs=[
            Repair(title=f"It predicts {text_of(value)}", changes={"positive": value})
            for value in other_values[: MOST_REPAIRS - 1]
        ],
        confirm=f"It predicts {text_of(roles.positive)}",
    )


def _in_doubt(table: CheckedTable, contents: Collection[Content], kind: str) -> list[str]:
    """Return the columns whose content must be asked: those in doubt, and any that is used as a feature."""
    columns = []
    for name, content in table.contents.items():
        if content.content not in contents or name in (*table.roles.auxiliary, table.roles.label):
            continue
        if (not content.certain or name in table.features) and not table.confirms(f"{kind}:{name}"):
            columns.append(name)
    return columns


def _doubt(
    table: CheckedTable,
    kind: str,
    names: list[str],
    text: str,
    *,
    key: str,
    repairs: Iterable[Repair] = (),
) -> Fact:
    """Return the question whether columns in doubt are features, or what `repairs` say.

    They are left out until somebody says that they are features; what the roles do today is what is confirmed.
    """
    roles = table.input_roles
    confirmed = (*roles.confirmed, *(f"{kind}:{name}" for name in names))
    several = len(names) > 1
    feature_title = "They are features" if several else "It is a feature"
    out_title = "Leave them out" if several else "Leave it out"
    without = tuple(column for column in roles.excluded if column not in names)
    if all(name in table.features for name in names):
        alternative = Repair(title=out_title, changes={"excluded": (*without, *names), "confirmed": confirmed})
        confirm = feature_title
    else:
        alternative = Repair(title=feature_title, changes={"excluded": without, "confirmed": confirmed})
        confirm = out_title
    return table.fact(
        kind,
        Severity.QUESTION,
        text,
        key=key,
        columns=tuple(names),
        repairs=[*repairs, alternative],
        confirm=confirm,
        by_column=True,
    )


def _use(table: CheckedTable, name: str) -> str:
    return "used as a feature" if name in table.features else "left out"


def _role_repair(table: CheckedTable, title: str, role: str, name: str) -> Repair:
    """Return the repair that gives a column a role of its own."""
    excluded = tuple(column for column in table.input_roles.excluded if column != name)
    return Repair(title=title, changes={role: name, "excluded": excluded})


def _answer_question(table: CheckedTable) -> Iterable[Fact]:
    """Ask about all columns that may be a model's answers at once: those left out, then those used as features."""
    names = _in_doubt(table, (Content.PREDICTION, Content.SCORE), "possible_answers")
    features = [name for name in names if name in table.features]
    for part in ([name for name in names if name not in features], features):
        if not part:
            continue
        what = "may be a model's answer and is" if len(part) == 1 else "may be a model's answers and are"
        use = _use(table, part[0]) if len(part) == 1 or part is not features else "used as features"
        yield _doubt(
            table,
            "possible_answers",
            part,
            f"{listed(part)} {what} {use}.{_best_area(table, part)}",
            key="data.excluded",
            repairs=_answer_repairs(table, part),
        )


def _answer_repairs(table: CheckedTable, names: list[str]) -> list[Repair]:
    """Return the repairs that a column is the score or the prediction."""
    roles = table.input_roles
    repairs = []
    for name in names[:MOST_REPAIRS]:
        column = table.frame[name]
        if is_score(column) and not roles.score:
            repairs.append(_role_repair(table, f"{text_of(name)} is the model's score", "score", name))
        elif may_be_labels(column) and not roles.prediction and _is_written_like_label(table, name):
            repairs.append(_role_repair(table, f"{text_of(name)} is the model's prediction", "prediction", name))
    return repairs


def _is_written_like_label(table: CheckedTable, name: str) -> bool:
    values = table.label[1]
    codes = label_codes(few_texts(table.frame[name], MOST_LABELS), values, next(iter(values), ""))
    return not values or None not in codes.values()


def _best_area(table: CheckedTable, names: Collection[str]) -> str:
    """Return a sentence on how well the columns tell the label, by the one that does it best."""
    best = 0.0
    best_name = ""
    rows = table.rows
    positive = table.positive[rows]
    for name in names:
        if not is_numeric(table.frame[name]):
            continue
        values = table.frame[name].iloc[rows].to_numpy(dtype=np.float64, na_value=np.nan)
        finite = np.isfinite(values)
        area = area_under_curve(positive[finite], values[finite])
        if area is not None and max(area.value, 1.0 - area.value) > best:
            best = max(area.value, 1.0 - area.value)
            best_name = name
    if not best_name:
        return ""
    return f" {text_of(best_name)} tells {text_of(table.roles.label)} with an AUC of {best:.3f}{table.sampled}."


def _set_questions(table: CheckedTable) -> Iterable[Fact]:
    roles = table.input_roles
    if table.has(roles.sets) and "sets" in table.guesses:
        values = few_texts(table.frame[roles.sets], MOST_LABELS)
        meanings = [f"{text_of(value)} as {name}" for value, name in named_sets(values, roles.sets).items()]
        changes: Changes = {
            "sets": "",
            "excluded": (*roles.excluded, roles.sets),
            "confirmed": (*roles.confirmed, f"possible_sets:{roles.sets}"),
        }
        yield table.fact(
            "sets",
            Severity.QUESTION,
            f"{text_of(roles.sets)} is taken to say who was in the training data: {', '.join(meanings)}.",
            key="data.sets",
            columns=(roles.sets,),
            repairs=[Repair(title="It says something else", changes=changes)],
            confirm="It says who was trained on",
        )
    for name in _in_doubt(table, (Content.SETS,), "possible_sets"):
        repairs = []
        if not roles.sets and may_be_sets(table.frame[name], name):
            repairs.append(_role_repair(table, "It says who was trained on", "sets", name))
        yield _doubt(
            table,
            "possible_sets",
            [name],
            f"{text_of(name)} may say which records the model was trained on, and is {_use(table, name)}.",
            key="data.sets",
            repairs=repairs,
        )


def _person_questions(table: CheckedTable) -> Iterable[Fact]:
    roles = table.input_roles
    if table.has(roles.person):
        yield from _person_fact(table)
    for name in _in_doubt(table, (Content.PERSON,), "possible_person"):
        column = table.frame[name]
        repairs = []
        if not roles.person:
            repairs.append(_role_repair(table, "It identifies people", "person", name))
        yield _doubt(
            table,
            "possible_person",
            [name],
            f"{text_of(name)} may identify people, {column.nunique():,} in {column.notna().sum():,} records, and is "
            f"{_use(table, name)}.",
            key="data.person",
            repairs=repairs,
        )


def _person_fact(table: CheckedTable) -> Iterable[Fact]:
    """Ask whether the rows of a name are one person; say it only, where the role is no guess."""
    roles = table.input_roles
    codes = text_codes(table.frame[roles.person])[0][table.audited]
    ids = codes[codes >= 0]
    n_persons = np.unique(ids).size
    if n_persons == ids.size:
        return
    text = (
        f"{text_of(roles.person)} identifies {n_persons:,} people in {ids.size:,} records, so one record of each "
        f"person is used.{_persons_in_several_sets(table)}"
    )
    columns = (roles.person,)
    if "person" not in table.guesses:
        yield table.fact("person", Severity.NOTE, text, key="data.person", columns=columns)
        return
    changes: Changes = {
        "person": "",
        "excluded": (*roles.excluded, roles.person),
        "confirmed": (*roles.confirmed, f"possible_person:{roles.person}"),
    }
    yield table.fact(
        "person",
        Severity.QUESTION,
        text,
        key="data.person",
        columns=columns,
        repairs=[Repair(title="Each record is another person", changes=changes)],
        confirm="It identifies people",
    )


def _persons_in_several_sets(table: CheckedTable) -> str:
    roles = table.roles
    if not table.has(roles.sets):
        return ""
    persons = text_codes(table.frame[roles.person])[0]
    sets = text_codes(table.frame[roles.sets])[0]
    rows = table.audited & (persons >= 0) & (sets >= 0)
    pairs = np.unique(persons[rows] * (int(sets.max(initial=0)) + 1) + sets[rows])
    several = int((np.bincount(pairs // (int(sets.max(initial=0)) + 1)) > 1).sum()) if pairs.size else 0
    return f" {several:,} of them have records in several sets." * bool(several)


def _weight_questions(table: CheckedTable) -> Iterable[Fact]:
    for name in _in_doubt(table, (Content.WEIGHT,), "possible_weight"):
        text = f"{text_of(name)} may be the weight of a record and no feature of a person; it is {_use(table, name)}."
        yield _doubt(table, "possible_weight", [name], text, key="data.excluded")
