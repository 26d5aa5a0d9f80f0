"""Facts about columns: the label, and what may be an answer, a set, a person, a weight.

Of the label: whether it is the true outcome, which value is good, how its values are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..base.errors import InputError
from ..base.validation import Ints, Mask
from ..stats.estimates import Estimate, percent
from .checked_table import (
    MOST_REPAIRS,
    Changes,
    CheckedTable,
    Fact,
    Repair,
    Severity,
    area_under_curve,
    divides,
    text_codes,
)
from .columns import (
    SPELLINGS,
    best_spellings,
    first_few,
    is_numeric,
    is_written_as_label,
    listed,
    text_of,
)
from .name_patterns import (
    Content,
    few_texts,
    is_score,
    may_be_labels,
    may_be_sets,
    outcome_sign,
    positive_rank,
)
from .role_suggestion import (
    meant_attributes,
    names_attribute,
    other_attributes,
    suggested_positive,
    told_by,
    with_attribute,
)
from .roles import MOST_LABELS, groups_of
from .splits import SETS, named_sets, persons_in_several_sets

_MOST = 4
"""Values that a sentence names."""

_MOST_SHARES = 3
"""Values of the label whose shares a sentence names."""


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
    return table.fact(
        "label_missing",
        Severity.QUESTION,
        "An audit needs the true outcome of each person, and no column holds it.",
        more,
        key="data.label",
        confirm="",
    )


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


_IF_WRONG = "If it is not, fairness is counted on the wrong outcome."


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
            for value, _ in _value_counts(*table.label).most_common(MOST_REPAIRS)
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
    consequence = f"{outcome} counts as good for the person: {_of_100(table)} people get it."
    doubt = ""
    if not _names_for(table, chosen, 1):
        harms = [
            f"{text_of(name)}{f' (about {text_of(value)})' * (name != value)}"
            for name, value in _names_for(table, chosen, -1)
        ]
        if harms:
            more = f"By the names it may be bad: {', '.join(harms)}. If so, fairness is counted on the wrong outcome."
            yield _outcome_caution(table, "harmful_outcome", consequence, more)
        elif positive_rank(chosen) == 0:
            more = f"A “{text_of(chosen)}” is good only where {text_of(roles.label)} is bad, and no name shows that. "
            yield _outcome_caution(table, "unclear_outcome", consequence, f"{more}{_IF_WRONG}")
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
        yield table.fact("unclear_outcome", Severity.NOTE, consequence, doubt)


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
    counts = _value_counts(*table.label)
    share = round(100 * counts[table.roles.favourable] / max(1, counts.total()))
    if share == 0:
        return "fewer than 1 of 100"
    if share == 100:
        return "more than 99 of 100"
    return f"{share} of 100"


def _value_counts(codes: Ints, texts: Sequence[str]) -> Counter[str]:
    """Return how many cells of a column hold each value."""
    sizes = np.bincount(codes[codes >= 0], minlength=len(texts)).tolist()
    return Counter(dict(zip(texts, sizes, strict=True)))


def _label_shares(table: CheckedTable) -> str:
    """Return a sentence on how frequent the label's values are."""
    counts = _value_counts(*table.label)
    shares = [
        f"{text_of(value)} for {percent(n / counts.total())}"
        for value, n in counts.most_common(_MOST_SHARES)
    ]
    more = f" and {len(counts) - _MOST_SHARES} more values" * (len(counts) > _MOST_SHARES)
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
    counts = _value_counts(*table.label)
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
    sizes = [f"{text_of(name)} ({_first_values(table, name)})" for name in meant]
    yield table.fact(
        "attribute",
        Severity.QUESTION,
        f"{sensitive} is taken for the audited attribute, and {listed(meant)} may be meant.",
        f"By name or values these may be sensitive too: {first_few(sizes)}. One attribute is audited: the verdict says "
        "nothing of what the model reveals about another.",
        key="data.sensitive",
        columns=(roles.sensitive,),
        repairs=repairs,
        confirm=f"Audit {sensitive}",
        by_column=True,
    )


def _first_values(table: CheckedTable, name: str) -> str:
    """Return a column's commonest values with their frequency, as a list."""
    counts = _value_counts(*text_codes(table.frame[name]))
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
            _best_area(table, part),
            key="data.excluded",
            severity=severity,
            repairs=_answer_repairs(table, part),
        )


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
        values = table.frame[name].iloc[rows].to_numpy(dtype=np.float64, na_value=np.nan)
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
    counts = _value_counts(codes[table.used], texts)
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
