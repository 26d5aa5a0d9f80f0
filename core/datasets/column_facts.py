"""Facts about columns but the label: what may be an answer, a set, a person, a weight, and which is the attribute."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np

from ..base.errors import InputError
from ..base.validation import Mask
from ..stats.estimates import Estimate, percent
from .checked_table import (
    MOST_REPAIRS,
    Changes,
    CheckedTable,
    Fact,
    Repair,
    Severity,
    area_under_curve,
    text_codes,
    value_counts,
)
from .columns import (
    first_few,
    is_numeric,
    is_written_as_label,
    listed,
    numbers_of,
    text_of,
)
from .name_patterns import (
    Content,
    few_texts,
    is_score,
    may_be_labels,
    may_be_sets,
)
from .role_suggestion import (
    meant_attributes,
    other_attributes,
    suggested_positive,
    with_attribute,
)
from .roles import groups_of
from .splits import SETS, named_sets, persons_in_several_sets

_MOST = 4
"""Values that a sentence names."""


def column_questions(table: CheckedTable) -> Iterable[Fact]:
    """Ask what the score predicts, and what columns hold whose names say it and whose values leave doubt."""
    if not table.roles.sensitive:
        yield table.fact(
            "attribute_missing",
            Severity.QUESTION,
            "Which column is the sensitive attribute, that an attacker should not learn?",
            key="data.sensitive",
            confirm="",
        )
    elif "sensitive" in table.guesses:
        yield from _attribute_question(table)
    yield from _positive_question(table)
    yield from _groups_fact(table)
    yield from _answer_question(table)
    yield from _set_questions(table)
    yield from _person_questions(table)
    yield from _weight_questions(table)


_WAYS_OF_GROUPS = ("sensitive", "group", "at_most", "each", "cuts")
"""Fields of the roles that another attribute changes."""


def _attribute_question(table: CheckedTable) -> Iterable[Fact]:
    """Ask which attribute is audited, where it is a guess and another column may be meant."""
    roles = table.input_roles
    meant = meant_attributes(table.frame, roles, table.contents)
    if not meant:
        return
    repairs = []
    for name in meant[: MOST_REPAIRS - 1]:
        changed = with_attribute(table.frame, roles, name)
        changes = {
            field: getattr(changed, field)
            for field in _WAYS_OF_GROUPS
            if getattr(changed, field) != getattr(roles, field)
        }
        result = f"{text_of(name)} is the audited attribute, and {text_of(roles.sensitive)} is not."
        repairs.append(Repair(title=f"Audit {text_of(name)}", changes=changes, result=result))
    sensitive = text_of(roles.sensitive)
    sizes = first_few([f"{text_of(name)} ({_first_values(table, name)})" for name in meant])
    why = f"By name or values these may be sensitive too: {sizes}."
    if meant[0] not in other_attributes(table.frame, roles, table.contents)[0]:
        why = f"It is the only other text of few values: {sizes}."
    yield table.fact(
        "attribute",
        Severity.QUESTION,
        f"{sensitive} is taken for the audited attribute, and {listed(meant)} may be meant.",
        f"{why} One attribute is audited: the verdict says nothing of what the model reveals about another.",
        key="data.sensitive",
        columns=(roles.sensitive,),
        repairs=repairs,
        confirm=f"Audit {sensitive}",
        by_column=True,
    )


def _first_values(table: CheckedTable, name: str) -> str:
    """Return a column's commonest values with their frequency, as a list."""
    counts = value_counts(*text_codes(table.frame[name]))
    return first_few([f"{text_of(value)} {n:,}" for value, n in counts.most_common()])


def _positive_question(table: CheckedTable) -> Iterable[Fact]:
    """Say which value of the label scores and predictions are about; ask, where a guess has no evidence."""
    roles = table.roles
    texts = table.label[1]
    guessed = "positive" in table.guesses and bool(table.answers)
    if not texts or not (guessed or table.settings):
        return
    other_values = [value for value in texts if value != roles.positive]
    severity = Severity.GUESS
    if roles.positive not in texts:
        severity = Severity.QUESTION
        point = f"Which value of {text_of(roles.label)} do scores and predictions tell?"
        more = ""
    else:
        point, more = _positive_text(table)
        if guessed and table.area is not None and table.area.low <= 0.5 <= table.area.high:
            severity = Severity.QUESTION
    yield table.fact(
        "positive",
        severity,
        point,
        more,
        key="data.positive",
        columns=table.answers,
        repairs=[
            Repair(title=f"It predicts {text_of(value)}", changes={"positive": value})
            for value in other_values[: MOST_REPAIRS - 1]
        ],
        scores=table.scores_by_label,
        confirm=f"It predicts {text_of(roles.positive)}" * guessed,
    )


def _positive_text(table: CheckedTable) -> tuple[str, str]:
    """Return what the model's answers are about, and how well they agree with the label."""
    roles = table.roles
    value = f"{text_of(roles.label)} = {text_of(roles.positive)}"
    if not table.answers:
        return f"A model is trained here to predict {value}.", ""
    point = f"{text_of(roles.prediction)} predicts {value}."
    more = ""
    if roles.score:
        point = f"A higher {text_of(roles.score)} means {value}."
    if table.area is not None:
        more = f"AUC {table.area.value:.3f}{table.sampled}; random guessing has 0.500."
        if table.area.low <= 0.5 <= table.area.high:
            more += " So the scores do not say in which direction they point."
    elif table.predictions is not None:
        rows = table.rows[table.predictions[table.rows] >= 0]
        if rows.size:
            agreeing = (table.predictions[rows] == 1) == table.positive[rows]
            more = f"It agrees with the label for {percent(float(agreeing.mean()))} of the records."
    return point, more


def _groups_fact(table: CheckedTable) -> Iterable[Fact]:
    """Say which attribute is audited, which groups it makes, and which others are not; or why it makes none."""
    roles = table.roles
    if not table.settings or not table.has(roles.sensitive):
        return
    more = ""
    try:
        names = groups_of(table.frame[roles.sensitive], roles)[1]
    except InputError as error:
        point = str(error)
        severity = Severity.CAUTION
    else:
        groups = table.groups[table.used]
        sizes = np.bincount(groups[groups >= 0], minlength=len(names))
        group_sizes = [f"{text_of(names[code])} {sizes[code]:,}" for code in range(len(names))]
        if roles.group or roles.at_most is not None:
            group_sizes.reverse()  # group 1 is the first
        point = f"{text_of(roles.attribute)} is audited, in {len(names)} groups: {first_few(group_sizes)}."
        severity = Severity.GUESS
        more = _others_not_audited(table)
    columns = (roles.sensitive,)
    yield table.fact("groups", severity, point, more, key="data.group", columns=columns, confirm="")


def _others_not_audited(table: CheckedTable) -> str:
    """Return which other columns could be the attribute, as sentences; "" where there is none."""
    sensitive, plain = other_attributes(table.frame, table.roles, table.contents)
    sentences = []
    if sensitive:
        sentences.append(
            f"Perhaps sensitive by name or values, and not audited: {listed(sensitive)}."
        )
    if plain:
        sentences.append(f"Of few values: {listed(plain)}.")
    return " ".join(sentences)


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
    point: str,
    more: str = "",
    *,
    key: str,
    severity: Severity = Severity.GUESS,
    repairs: Iterable[Repair] = (),
) -> Fact:
    """Return the fact whether columns in doubt are features, or what `repairs` say.

    They are left out until somebody says that they are features; what the roles do today is what is confirmed.
    """
    roles = table.input_roles
    confirmed = (*roles.confirmed, *(f"{kind}:{name}" for name in names))
    several = len(names) > 1
    if several:
        feature_title = "They are features"
        feature_result = f"{listed(names)} are features of the person."
        out_title = "Leave them out"
        out_result = f"{listed(names)} are left out."
    else:
        feature_title = "It is a feature"
        feature_result = f"{listed(names)} is a feature of the person."
        out_title = "Leave it out"
        out_result = f"{listed(names)} is left out."
    without = tuple(column for column in roles.excluded if column not in names)
    if all(name in table.features for name in names):
        alternative = Repair(
            title=out_title,
            changes={"excluded": (*without, *names), "confirmed": confirmed},
            result=out_result,
        )
        confirm = feature_title
    else:
        alternative = Repair(
            title=feature_title,
            changes={"excluded": without, "confirmed": confirmed},
            result=feature_result,
        )
        confirm = out_title
    return table.fact(
        kind,
        severity,
        point,
        more,
        key=key,
        columns=tuple(names),
        repairs=[*repairs, alternative],
        confirm=confirm,
        by_column=True,
    )


def _use(table: CheckedTable, name: str) -> str:
    if name in table.features:
        return "used as a feature"
    return "left out"


_ROLE_RESULTS = {
    "score": "is the model's score",
    "prediction": "is the model's prediction",
    "sets": "says who was trained on",
    "person": "identifies people, and one record of each is used",
}
"""Role -> what holds of a column that was given it."""


def _role_repair(table: CheckedTable, title: str, role: str, name: str) -> Repair:
    """Return the repair that gives a column a role of its own."""
    excluded = tuple(column for column in table.input_roles.excluded if column != name)
    result = f"{text_of(name)} {_ROLE_RESULTS[role]}."
    return Repair(title=title, changes={role: name, "excluded": excluded}, result=result)


def _no_role_repair(table: CheckedTable, title: str, role: str, name: str) -> Repair:
    """Return the repair that takes a column's role and leaves it out."""
    roles = table.input_roles
    changes: Changes = {
        role: "",
        "excluded": (*roles.excluded, name),
        "confirmed": (*roles.confirmed, f"possible_{role}:{name}"),
    }
    return Repair(title=title, changes=changes, result=f"{title} ({text_of(name)} is left out).")


def _answer_question(table: CheckedTable) -> Iterable[Fact]:
    """Ask about all columns that may be a model's answers at once: those left out, then those used as features."""
    names = _in_doubt(table, (Content.PREDICTION, Content.SCORE), "possible_answers")
    features = [name for name in names if name in table.features]
    for part in ([name for name in names if name not in features], features):
        if not part:
            continue
        if len(part) == 1:
            what = "may be a model's answer and is"
        else:
            what = "may be a model's answers and are"
        if part is features:
            severity = Severity.CAUTION
        elif "score" in table.guesses:  # nothing else is a model's answer
            severity = Severity.QUESTION
        else:
            severity = Severity.GUESS
        if len(part) == 1 or part is not features:
            use = _use(table, part[0])
        else:
            use = "used as features"
        yield _doubt(
            table,
            "possible_answers",
            part,
            f"{listed(part)} {what} {use}.",
            " ".join(filter(None, (_best_area(table, part), *_measured(table, part)))),
            key="data.excluded",
            severity=severity,
            repairs=_answer_repairs(table, part),
        )


def _measured(table: CheckedTable, names: Iterable[str]) -> list[str]:
    """Return why columns may be a model's answers that no name makes one."""
    return [table.contents[name].evidence for name in names]


def _answer_repairs(table: CheckedTable, names: list[str]) -> list[Repair]:
    """Return the repairs that a column is the score or the prediction."""
    roles = table.input_roles
    repairs = []
    for name in names[:MOST_REPAIRS]:
        column = table.frame[name]
        if is_score(column) and not roles.score:
            repair = _role_repair(table, _answer_title(name, names, "score"), "score", name)
            # What was guessed without a score is guessed again with it; what somebody chose stays.
            if table.has(roles.label) and roles.positive == suggested_positive(
                table.frame, label=roles.label
            ):
                positive = suggested_positive(table.frame, label=roles.label, score=name)
                repair = replace(repair, changes={**repair.changes, "positive": positive})
            repairs.append(repair)
            continue
        if roles.prediction or not may_be_labels(column):
            continue
        label_values = table.label[1]
        if not label_values or is_written_as_label(few_texts(column), label_values):
            repairs.append(
                _role_repair(table, _answer_title(name, names, "prediction"), "prediction", name)
            )
    return repairs


def _answer_title(name: str, names: list[str], role: str) -> str:
    if len(names) == 1:
        return f"It is the model's {role}"
    return f"{text_of(name)} is the model's {role}"


def _best_area(table: CheckedTable, names: Collection[str]) -> str:
    """Return a sentence on how well the columns tell the label, by the one that does it best."""
    best = 0.0
    best_name = ""
    direction = ""
    rows = table.rows
    positive = table.positive[rows]
    for name in names:
        if not is_numeric(table.frame[name]):
            continue
        values = numbers_of(table.frame[name].iloc[rows])
        finite = np.isfinite(values)
        area = area_under_curve(positive[finite], values[finite])
        if area is None or max(area.value, 1.0 - area.value) <= best:
            continue
        best = max(area.value, 1.0 - area.value)
        best_name = name
        direction = "higher"
        if area.value < 0.5:
            direction = "lower"
    if not best_name:
        return ""
    label = text_of(table.roles.label)
    return (
        f"{text_of(best_name)} tells {label} with an AUC of {best:.3f}{table.sampled}, {direction} where it is "
        f"{text_of(table.roles.positive)}."
    )


def _set_questions(table: CheckedTable) -> Iterable[Fact]:
    roles = table.input_roles
    if table.has(roles.sets):
        yield from _sets_fact(table)
    for name in _in_doubt(table, (Content.SETS,), "possible_sets"):
        repairs = []
        severity = Severity.GUESS
        more = ""
        if not roles.sets and may_be_sets(table.frame[name], name):
            repairs.append(_role_repair(table, "It says who was trained on", "sets", name))
            if roles.gives_predictions and table.settings:  # a plan that is silent has answered
                severity = Severity.QUESTION
                more = "Without it a leak of the training records is not looked for."
        yield _doubt(
            table,
            "possible_sets",
            [name],
            f"{text_of(name)} may say which records the model was trained on, and is {_use(table, name)}.",
            more,
            key="data.sets",
            severity=severity,
            repairs=repairs,
        )


def _sets_fact(table: CheckedTable) -> Iterable[Fact]:
    """Say who was in training by the column of sets, and how many; ask, where the column is a guess by its name."""
    roles = table.roles
    codes, texts = text_codes(table.frame[roles.sets])
    counts = value_counts(codes[table.used], texts)
    values = few_texts(table.frame[roles.sets])
    names = named_sets(values, roles.sets, roles.training_value)
    if not set(SETS).issuperset(names.values()):
        yield _training_value_question(table, counts)
        return
    if not (table.settings or "sets" in table.guesses):
        return
    sizes = []
    more = "Without it no membership attack can be made."
    if "test" in names.values() and "attack" not in names.values():
        more = (
            f"The attacker learns from half of the test records, the other half is attacked. {more}"
        )
    for value, name in names.items():
        size = f"{counts[value]:,} “{value}”"
        if value.casefold() != name:
            size += f" (as {name})"
        sizes.append(size)
    if "sets" in table.guesses:
        severity = Severity.QUESTION
        confirm = "It says who was trained on"
        repairs = [_no_role_repair(table, "It says something else", "sets", roles.sets)]
    else:
        severity = Severity.GUESS
        confirm = ""
        repairs = []
    yield table.fact(
        "sets",
        severity,
        f"{text_of(roles.sets)} says who was in training: {', '.join(sizes)}.",
        more,
        key="data.sets",
        columns=(roles.sets,),
        repairs=repairs,
        confirm=confirm,
    )


def _training_value_question(table: CheckedTable, counts: Mapping[str, int]) -> Fact:
    """Return the question which value of the column of sets means training, with how well the score does among each."""
    roles = table.roles
    column = text_of(roles.sets)
    values = sorted(counts, key=lambda value: -counts[value])
    areas = []
    codes, texts = text_codes(table.frame[roles.sets])
    for value in values[:_MOST]:
        area = _area_among(table, codes == texts.index(value))
        if area is not None:
            areas.append(f"{area.value:.3f} where it is {text_of(value)}")
    more = "Any other value means test."
    if areas:
        more += (
            f" {text_of(roles.score)} tells {text_of(roles.label)} with an AUC of {', '.join(areas)}; a model is often "
            "better on the records that it was trained on."
        )
    return table.fact(
        "training_value",
        Severity.QUESTION,
        f"Which value of {column} means that the model was trained on the record?",
        more,
        key="data.training_value",
        columns=(roles.sets,),
        repairs=[
            Repair(
                title=f"{text_of(value)} was trained on",
                changes={"training_value": value},
                result=f"The model was trained where {column} is {text_of(value)} ({counts[value]:,} records).",
            )
            for value in values[:MOST_REPAIRS]
        ],
        confirm="",
    )


def _area_among(table: CheckedTable, selected: Mask) -> Estimate | None:
    """Return how well the score tells the label among some records; None where that cannot be measured."""
    if table.scores is None:
        return None
    rows = table.rows[selected[table.rows] & ~np.isnan(table.scores[table.rows])]
    return area_under_curve(table.positive[rows], table.scores[rows])


def _person_questions(table: CheckedTable) -> Iterable[Fact]:
    roles = table.input_roles
    if table.has(roles.person):
        yield from _person_fact(table)
    yield from _repeated_persons(table)
    for name in _in_doubt(table, (Content.PERSON,), "possible_person"):
        column = table.frame[name]
        repairs = []
        if not roles.person:
            repairs.append(_role_repair(table, "It identifies people", "person", name))
        severity = Severity.GUESS
        more = ""
        if column.nunique() < column.notna().sum() and not roles.person:
            severity = Severity.QUESTION
            more = "If it does, people have several rows, and the test may not be of strangers."
        yield _doubt(
            table,
            "possible_person",
            [name],
            f"{text_of(name)} may identify people, {column.nunique():,} in {column.notna().sum():,} records, and is "
            f"{_use(table, name)}.",
            more,
            key="data.person",
            severity=severity,
            repairs=repairs,
        )


_KEPT_RECORD = "One record of each person is used: a training record where there is one, else one drawn at random."


def _person_fact(table: CheckedTable) -> Iterable[Fact]:
    """Say that people have several rows; where nobody has confirmed who is who and sets share people, it blocks."""
    roles = table.input_roles
    codes = text_codes(table.frame[roles.person])[0][table.audited]
    ids = codes[codes >= 0]
    rows = np.bincount(ids)
    n_people = int((rows > 0).sum())
    if n_people == ids.size:
        return
    person = text_of(roles.person)
    point = f"{int((rows > 1).sum()):,} people have several rows"
    used = f"{person} identifies {n_people:,} people in {ids.size:,} records. {_KEPT_RECORD}"
    several = _persons_in_several_sets(table)
    columns = (roles.person,)
    if "person" not in table.guesses or table.confirms("person"):
        more = used
        if several:
            more += f" {several:,} of them have records in several sets."
        point = f"{point} ({person})."
        yield table.fact("person", Severity.NOTE, point, more, key="data.person", columns=columns)
        return
    one_side = Repair(
        title="One person, one side",
        changes={"confirmed": (*roles.confirmed, "person")},
        result=f"Each of {n_people:,} people stands on one side only ({person}). {_KEPT_RECORD}",
    )
    other_people = _no_role_repair(table, "Each record is another person", "person", roles.person)
    confirmed = (
        *roles.confirmed,
        f"possible_person:{roles.person}",
        f"repeated_person:{roles.person}",
    )
    other_people = replace(other_people, changes={**other_people.changes, "confirmed": confirmed})
    if several:
        severity = Severity.BLOCKING
        more = (
            f"{person} identifies {n_people:,} people in {ids.size:,} records; "
            f"{several:,} of them stand in several sets. {_KEPT_RECORD}"
        )
        point += ", so that the test is not of strangers"
        repairs = [one_side, other_people]
    else:
        severity = Severity.GUESS
        more = used
        repairs = [other_people, one_side]
    yield table.fact(
        "person",
        severity,
        f"{point} ({person}).",
        more,
        key="data.person",
        columns=columns,
        repairs=repairs,
        confirm="",
    )


def _repeated_persons(table: CheckedTable) -> Iterable[Fact]:
    """Say which columns repeat, although somebody takes each of their records for another person."""
    for name in table.roles.excluded:
        if not table.has(name) or not table.confirms(f"repeated_person:{name}"):
            continue
        column = table.frame[name]
        yield table.fact(
            "repeated_person",
            Severity.BLOCKING,
            f"{text_of(name)} has {column.nunique():,} values in {column.notna().sum():,} records, and each record is "
            "taken for another person.",
            "If they are the same people, the test is not of strangers, and a leak would read as a pass.",
            key="data.person",
            columns=(name,),
            by_column=True,
        )


def _persons_in_several_sets(table: CheckedTable) -> int:
    """Return how many people have records in several sets."""
    roles = table.roles
    if not table.has(roles.sets):
        return 0
    persons = text_codes(table.frame[roles.person])[0]
    sets = text_codes(table.frame[roles.sets])[0]
    rows = table.audited & (persons >= 0) & (sets >= 0)
    return int(persons_in_several_sets(persons[rows], sets[rows]))


def _weight_questions(table: CheckedTable) -> Iterable[Fact]:
    for name in _in_doubt(table, (Content.WEIGHT,), "possible_weight"):
        point = f"{text_of(name)} may be the weight of a record and no feature of a person; it is {_use(table, name)}."
        yield _doubt(table, "possible_weight", [name], point, key="data.excluded")
