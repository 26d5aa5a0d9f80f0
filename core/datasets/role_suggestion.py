"""Column roles of a user's table, guessed with reasons.

Nothing is decided here: a user sees the guesses and changes them. The Data page and `fairleak init` ask this one
function. Names are known in English, German and French, with or without their accents; those of a model's answers, of
sets, people and weights stand in one table (`core.datasets.name_patterns`). A column of two values is taken for the
prediction where the score orders it: one value on one side of a threshold, the other value on the other. The names of
Aequitas (Saleiro et al. 2018, *Aequitas: A Bias and Fairness Audit Toolkit*) are known: `label_value` is the label, and
`score` a score or, where it holds only 0 and 1 and nothing else is the prediction, the prediction. A column named like
a prediction, a score or a set is never the label, and never silently a feature: where its values leave doubt it is left
out, and `core.datasets.input_check` asks.

Of columns of two values that no name makes the label, the last one is taken where a model's score tells it, or where
there is no score. Where its score tells another one alone, that one is; a guess without a name and without a score, or
against what the score tells, is a question.

What a score predicts is measured: the label's value for which scores are higher. Where the label says yes or no itself
(1 and 0, true and false, t and f), yes is what is predicted, whatever the scores say; scores that point the other way
are then a fact that blocks the audit. What is good for a person is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..base.errors import InputError
from ..base.serialize import Result
from ..stats.estimates import Estimate
from .checked_table import area_under_curve, is_ordered, sample_rows, unnamed_scores
from .columns import (
    CROSS,
    as_text,
    bare_name,
    crossed_columns,
    is_numeric,
    is_written_as_label,
    names_records,
    numbers_of,
    parse_bool,
    text_of,
    with_crossed,
)
from .name_patterns import (
    PREDICTION_NAMES,
    ColumnContent,
    Content,
    contents_of,
    few_texts,
    has_unit_sum,
    is_score,
    is_share,
    may_be_labels,
    may_be_sets,
    names_decision,
    outcome_sign,
    positive_rank,
)
from .roles import (
    FEATURE,
    LEFT_OUT,
    MINIMUM_PER_GROUP,
    MOST_ATTRIBUTE_VALUES,
    MOST_LABELS,
    ColumnSummary,
    Roles,
    groups_of,
    role_of,
)

if TYPE_CHECKING:
    import pandas

_ATTRIBUTES = (
    *("sex", "gender", "geschlecht", "sexe", "genre"),
    *("race", "ethnicity", "ethnic", "ethnic group", "ethnie", "herkunft", "origine"),
    *("ethnic origin", "race ethnicity", "racial group", "skin color", "skin colour", "caste"),
    *(
        "origin",
        "nationality",
        "national origin",
        "country of birth",
        "citizenship",
        "nationalitat",
        "nationalite",
    ),
    *("birthplace", "birth place", "place of birth", "birth country", "born in", "born abroad"),
    *(
        "foreign born",
        "native born",
        "country of origin",
        "region of birth",
        "foreigner",
        "foreign",
    ),
    *("geburtsort", "geburtsland", "herkunftsland", "staatsangehorigkeit"),
    *("lieu de naissance", "pays de naissance", "pays d origine"),
    *("migration", "migration background", "migrant", "immigrant", "migrationshintergrund"),
    *("immigration", "immigration status", "refugee", "asylum", "residence permit"),
    *("language", "first language", "native language", "mother tongue", "muttersprache"),
    *("religion", "confession", "konfession", "trade union", "union member", "political party"),
    *("faith", "denomination", "political views", "party membership"),
    *("disability", "disabled", "pregnant", "behinderung", "handicap"),
    *("pregnancy", "chronic illness", "health", "health status", "mental health"),
    *("orientation", "sexual orientation", "sexuality", "gender identity"),
    *("marital status", "marital", "married", "civil status", "family status", "familienstand"),
    *("age", "age group", "age cat", "agep", "alter", "altersgruppe", "age band", "age class"),
)
"""Names of sensitive columns, those asked for most often first."""

_GROUP_VALUES = frozenset(
    {
        *("abroad", "foreign", "foreigner", "native", "immigrant", "migrant", "refugee", "citizen"),
        *("male", "female", "man", "woman", "men", "women", "non-binary", "diverse"),
        *("muslim", "christian", "jewish", "hindu", "catholic", "protestant", "atheist"),
        *("white", "black", "asian", "hispanic", "latino", "latina", "roma"),
        *("gay", "lesbian", "heterosexual", "homosexual", "disabled", "pregnant"),
        *("mann", "frau", "mannlich", "weiblich", "ausland", "homme", "femme", "etranger"),
    }
)
"""Values that speak of groups of people, in any case."""

_FEW_GROUPS = 3
"""Values of the only other column of few texts, up to which it may be the attribute that is meant."""

_LABELS = (
    "label value",
    "y true",
    "true label",
    "label",
    "target",
    "outcome",
    "ground truth",
    "truth",
    "obs",
)
_POSITIVES = (
    *(
        "1",
        "true",
        "yes",
        "y",
        "positive",
        "approved",
        "accepted",
        "granted",
        "hired",
        "good",
        ">50k",
    ),
    *("ja", "oui"),
)

_MOST_VALUES_OF_GROUPS = 10
"""Distinct numbers up to which groups are made of values; of more they are split by a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion(Result):
    """Guessed roles, and why.

    Attributes
    ----------
    roles : Roles
        Empty in `label`, `positive` and `sensitive` where no column can be it; `favourable` is always empty.
    reasons : mapping of str to str
        Role -> why, as a phrase; of a label or an attribute that is not found, what was looked for. "group" stands for
        the way the groups are formed. Columns that were known have none.
    left_out : mapping of str to str
        Column that is left out -> why.
    questions : tuple of str
        Roles that are guesses somebody should confirm: "label" where neither a name nor a score shows that it is the
        outcome; "sensitive" where another column may be meant; "positive" where a model's answers came with the table;
        "sets" where a column may say who is a member of something else, "person"; "score" where none is guessed, and a
        column may be it.
    """

    roles: Roles
    reasons: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    questions: tuple[str, ...] = ()


def suggest_roles(
    frame: pandas.DataFrame,
    *,
    attribute: str = "",
    label: str = "",
    prediction: str = "",
    model: bool = False,
) -> Suggestion:
    """Guess what the columns of a table are for.

    Parameters
    ----------
    frame : DataFrame
        As it was read.
    attribute, label, prediction : str
        Columns known to be sensitive attribute, or two columns crossed, label and predicted label; "" where they are to
        be guessed.
    model : bool
        Whether a model file answers, so that the table's own predictions and scores are to be left out.
    """
    why: dict[str, str] = {}
    assigned = (attribute, *crossed_columns(frame, attribute), label)
    frame = with_crossed(frame, attribute)
    columns = {str(name): bare_name(name) for name in frame.columns if str(name) not in assigned}
    sensitive = attribute or _attribute(frame, columns, why)
    columns.pop(sensitive, None)
    elsewhere = (*assigned, sensitive)
    contents = contents_of(frame, label=label, without=elsewhere)
    output, score, copies = _answers(frame, contents, label, prediction, why)
    if score and not output:
        ordered = _ordered_column(frame, columns, contents, score)
    else:
        ordered = ""
    questions: list[str] = []
    if not label:
        label = _label(frame, columns, contents, output or ordered, score, why, questions)
        if not label and ordered:
            label = ordered
            ordered = ""
            why["label"] = "two values, the only such column"
        if label:  # its values are now known, and with them the scores of each of them
            contents = contents_of(frame, label=label, without=elsewhere)
            output, score, copies = _answers(frame, contents, label, prediction, why)
    if ordered:
        output = ordered
        why["prediction"] = "two values that the score divides"
    by_name = False
    if label and not output:
        output = _decision_column(frame, columns, contents, label)
        by_name = bool(output)
        if by_name:
            why["prediction"] = "named like a decision, two values"
    if label and not (model or output or score):
        contents |= unnamed_scores(frame, label, (*elsewhere, *contents))
    roles = Roles(
        label=label,
        positive="",
        sensitive=sensitive,
        prediction=output,
        score=score,
    )
    roles = _with_sets_and_person(frame, contents, roles, why, questions)
    if label:
        value = contents[score].value if score else ""
        roles = _with_positive(frame, roles, value, why, questions, model=model)
    if sensitive:
        roles = _with_groups(frame[sensitive], roles, why)
    roles, left_out = _with_excluded(frame, columns, contents, roles, copies, why, model=model)
    if sensitive and not attribute and meant_attributes(frame, roles, contents):
        questions.append("sensitive")
    doubtful = (Content.PREDICTION, Content.SCORE)
    scores_open = by_name and not roles.score
    if (
        not model
        and (scores_open or not roles.gives_predictions)
        and any(
            content.content in doubtful
            for name, content in contents.items()
            if name != roles.prediction
        )
    ):
        questions.append("score")
    return Suggestion(roles=roles, reasons=why, left_out=left_out, questions=tuple(questions))


def suggested_group(column: pandas.Series) -> str:
    """Return the value of the first of two groups: of two values the rarer, of more the most frequent.

    Of two that are equally frequent it is the first by name.
    """
    sizes = as_text(column).value_counts()
    size = sizes.min() if len(sizes) <= 2 else sizes.max()
    first = sizes.index[sizes == size]
    if len(first):
        return str(first.min())
    return ""


def suggested_limit(column: pandas.Series) -> float | None:
    """Return up to which number people are in the first of two groups, the lowest quarter; None where values do it."""
    if not is_numeric(column) or as_text(column).nunique() <= _MOST_VALUES_OF_GROUPS:
        return None
    return float(column.dropna().quantile(0.25, interpolation="lower"))


def names_attribute(name: str) -> bool:
    """Whether a column is called like a sensitive attribute: "nationality", "nationality_group"."""
    bare = bare_name(name)
    return (
        bare in _ATTRIBUTES
        or re.sub(" (group|code|class|category|status)$", "", bare) in _ATTRIBUTES
    )


def other_attributes(
    frame: pandas.DataFrame, roles: Roles, contents: Mapping[str, ColumnContent]
) -> tuple[list[str], list[str]]:
    """Return the columns without a role that could be audited as well, of few values or by their name.

    First those whose name or values speak of groups of people, then other texts of few values.
    """
    taken = {roles.label, roles.sensitive, *crossed_columns(frame, roles.sensitive)}
    taken |= {*roles.excluded, *roles.auxiliary, *contents}
    sensitive = []
    plain = []
    for name in map(str, frame.columns):
        if name in taken:
            continue
        values = few_texts(frame[name], _MOST_VALUES_OF_GROUPS)
        speaks_of_groups = not _GROUP_VALUES.isdisjoint(map(bare_name, values))
        if names_attribute(name) or speaks_of_groups:
            sensitive.append(name)
        elif len(values) >= 2 and not is_numeric(frame[name]):
            plain.append(name)
    return sensitive, plain


def meant_attributes(
    frame: pandas.DataFrame, roles: Roles, contents: Mapping[str, ColumnContent]
) -> list[str]:
    """Return the columns that may be the attribute somebody means, and not the guessed one.

    Those of few values that speak of groups of people; else a text of two or three values, where it is the only one.
    """
    sensitive, plain = other_attributes(frame, roles, contents)
    meant = [name for name in sensitive if len(few_texts(frame[name], _MOST_VALUES_OF_GROUPS)) >= 2]
    if not meant and len(plain) == 1 and len(few_texts(frame[plain[0]])) <= _FEW_GROUPS:
        return plain
    return meant


def with_attribute(frame: pandas.DataFrame, roles: Roles, name: str) -> Roles:
    """Return the roles with another sensitive attribute, in the groups that are guessed of it."""
    bare_roles = replace(roles, sensitive=name, group=(), at_most=None, each=False, cuts=())
    return _with_groups(frame[name], bare_roles, {})


def _called(columns: Mapping[str, str], names: Collection[str]) -> list[str]:
    """Return the columns with these plain names, in the order of the names."""
    return [column for name in names for column, plain in columns.items() if plain == name]


def _counts(column: pandas.Series) -> dict[str, int]:
    return {str(value): int(n) for value, n in as_text(column).value_counts().items()}


def _attribute(frame: pandas.DataFrame, columns: Mapping[str, str], why: dict[str, str]) -> str:
    candidates = _called(columns, _ATTRIBUTES)
    sensitive = next((column for column in candidates if as_text(frame[column]).nunique() > 1), "")
    if sensitive:
        why["sensitive"] = "named like a sensitive attribute"
    elif candidates:
        why["sensitive"] = f"{text_of(candidates[0])} has fewer than two values"
    else:
        why["sensitive"] = (
            "no column is called sex, race, origin, age, or another name of a sensitive attribute that is known here"
        )
    return sensitive


def _answers(
    frame: pandas.DataFrame,
    contents: Mapping[str, ColumnContent],
    label: str,
    prediction: str,
    why: dict[str, str],
) -> tuple[str, str, tuple[str, ...]]:
    """Prediction and score among the columns, those with the names known best, and the scores of other values.

    "" where there is none.
    """
    why.pop("prediction", None)
    why.pop("score", None)
    predictions = _by_rank(contents, Content.PREDICTION)
    if label:
        predictions = [
            name for name in predictions if _is_written_like(frame, name, contents[name], label)
        ]
    if not prediction and predictions:
        prediction = predictions[0]
        why["prediction"] = contents[prediction].reason
    scores = _by_rank(contents, Content.SCORE)
    shares = [name for name in _by_rank(contents, Content.PREDICTION) if contents[name].share]
    scores = [name for name in (*shares, *scores) if name != prediction]
    if prediction:
        scores = [name for name in scores if not _is_confidence(frame[name], frame[prediction])]
    if not scores:
        return prediction, "", ()
    if not contents[scores[0]].value:
        why["score"] = "named like a score, numbers from 0 to 1"
        return prediction, scores[0], ()
    rank = contents[scores[0]].rank
    family = [name for name in scores if contents[name].value and contents[name].rank == rank]
    label_values = few_texts(frame[label]) if label else ()
    score = _score_of_positive(family, contents, label_values)
    why["score"] = contents[score].reason
    return prediction, score, tuple(name for name in family if name != score)


def _by_rank(contents: Mapping[str, ColumnContent], content: Content) -> list[str]:
    """Return the columns that certainly hold this, those with the names known best first."""
    names = [
        name for name, column in contents.items() if column.content is content and column.certain
    ]
    return sorted(names, key=lambda name: contents[name].rank)


def _is_written_like(
    frame: pandas.DataFrame, name: str, content: ColumnContent, label: str
) -> bool:
    """Whether a column named after another, or like a score, is written as the label is or as 0 and 1."""
    if not content.target and content.rank < len(PREDICTION_NAMES):
        return True
    values = few_texts(frame[label])
    return is_written_as_label(few_texts(frame[name]), values)


def _is_confidence(score: pandas.Series, prediction: pandas.Series) -> bool:
    """Whether a column is how sure a model is of its prediction: never below one half, whichever it predicts."""
    values = numbers_of(score)
    if (
        prediction.nunique() != 2
        or not np.nanmin(values) >= 0.5
        or np.nanmax(values) == np.nanmin(values)
    ):
        return False
    codes = prediction.factorize()[0]
    return all(float(np.nanmax(values[codes == code], initial=0.0)) > 0.5 for code in (0, 1))


def _score_of_positive(
    family: list[str], contents: Mapping[str, ColumnContent], label_values: Collection[str]
) -> str:
    """Return the one of several scores, each of a value, that is of the value that means yes; else the last."""
    values = {contents[name].value: name for name in family}
    vocabulary = (*label_values, *values)
    for value, name in values.items():
        if parse_bool(value, vocabulary) or positive_rank(value) == 1:
            return name
    positive = _word_of_yes(label_values)
    return values.get(positive, family[-1])


def _ordered_column(
    frame: pandas.DataFrame,
    columns: Mapping[str, str],
    contents: Mapping[str, ColumnContent],
    score: str,
) -> str:
    """Return the one column of two values that the scores divide, "" if none or several do; a label's name is none."""
    free = [name for name, plain in columns.items() if plain not in _LABELS and name != score]
    free = [name for name in free if name not in contents or not contents[name].certain]
    ordered = [name for name in free if is_ordered(frame[name], frame[score])]
    if len(ordered) == 1:
        return ordered[0]
    return ""


def _decision_column(
    frame: pandas.DataFrame,
    columns: Mapping[str, str],
    contents: Mapping[str, ColumnContent],
    label: str,
) -> str:
    """Return the first column of two values whose name speaks of a decision; "" where there is none."""
    for name in columns:
        content = contents.get(name)
        free = content is None or (content.content is Content.PREDICTION and not content.certain)
        if not free or name == label or not names_decision(name):
            continue
        if may_be_labels(frame[name]) and len(few_texts(frame[name])) == 2:
            return name
    return ""


def _label(
    frame: pandas.DataFrame,
    columns: Mapping[str, str],
    contents: Mapping[str, ColumnContent],
    prediction: str,
    score: str,
    why: dict[str, str],
    questions: list[str],
) -> str:
    """Return the column called like a label, else the one that a prediction is named after.

    Else the last column with the prediction's two values, else of those with any two as `_outcome_of_two` chooses. A
    name that speaks of a decision is the last resort: such a column is what a model says.
    """
    taken = {prediction, score}
    for column in _called(columns, _LABELS):
        if column not in taken and may_be_labels(frame[column], fewest=2):
            why["label"] = "named like a label"
            return column
    possible = [name for name in columns if name not in contents and not names_attribute(name)]
    free = [name for name in possible if name not in taken]
    targets = {contents[name].target for name in taken if name in contents}
    for column in free:
        if column in targets and may_be_labels(frame[column], fewest=2):
            why["label"] = "a prediction or score is named after it"
            return column
    two = [name for name in reversed(free) if len(few_texts(frame[name])) == 2]
    two = [name for name in two if not is_score(frame[name])]
    two = [name for name in two if not names_decision(name)] or two
    if prediction:
        predicted = set(few_texts(frame[prediction]))
    else:
        predicted = set()
    same = [name for name in two if predicted and predicted <= set(few_texts(frame[name]))]
    if same:
        why["label"] = "the values of the prediction, the last such column"
        return same[0]
    if two:
        return _outcome_of_two(frame, two, contents, (score, prediction), why, questions)
    if prediction or score:
        why["label"] = (
            "an audit needs the true outcome beside a model's answers, and no column has two values and could be it"
        )
    else:
        why["label"] = "no column has two values and could be the label"
    return ""


def _outcome_of_two(
    frame: pandas.DataFrame,
    two: list[str],
    contents: Mapping[str, ColumnContent],
    answers: Collection[str],
    why: dict[str, str],
    questions: list[str],
) -> str:
    """Return which of several columns of two values is the outcome, the last one first in `two`.

    The last one is, unless a model's answers tell another one and not it. It is a question where neither its name nor
    an answer speaks for it, or where an answer tells another column better.
    """
    column = two[0]
    has_name = _names_outcome(frame, column)
    areas = {}
    for name in two:
        result = told_by(frame, name, contents, answers)
        if result is not None:
            areas[name] = result
    why["label"] = "two values, the last such column"
    if column in areas:
        answer, area = areas[column]
        why["label"] = f"two values, and {text_of(answer)} tells it (AUC {area.value:.3f})"
        better = [name for name in areas if areas[name][1].value > area.value]
        questions += ["label"] * bool(better and not has_name)
        return column
    if not areas:
        questions += ["label"] * (not has_name)
        return column
    questions.append("label")
    if has_name:
        return column
    best = max(areas, key=lambda name: areas[name][1].value)
    answer, area = areas[best]
    why["label"] = f"{text_of(answer)} tells it (AUC {area.value:.3f}), and not {text_of(column)}"
    return best


def _names_outcome(frame: pandas.DataFrame, column: str) -> bool:
    """Whether a column's name, or one of its values, speaks of something good or bad for a person."""
    return any(map(outcome_sign, (column, *few_texts(frame[column]))))


def told_by(
    frame: pandas.DataFrame,
    column: str,
    contents: Mapping[str, ColumnContent],
    answers: Collection[str] = (),
) -> tuple[str, Estimate] | None:
    """Return the model's answer that tells a column of two values best, and its AUC, at least 0.5 in its direction.

    None where the interval of each holds one half. Answers are those with a role, and columns that may be a score or a
    prediction of two values.
    """
    possible = [
        name
        for name, content in contents.items()
        if content.content in (Content.SCORE, Content.PREDICTION)
    ]
    rows = sample_rows(len(frame))
    codes = as_text(frame[column].iloc[rows]).factorize()[0]
    best: tuple[str, Estimate] | None = None
    for name in dict.fromkeys((*filter(None, answers), *possible)):
        cells = frame[name].iloc[rows]
        if is_numeric(cells):
            values = numbers_of(cells)
        elif name != column and len(few_texts(cells)) == 2:
            numbers = as_text(cells).factorize()[0].astype(np.float64)
            values = np.where(numbers < 0, np.nan, numbers)
        else:
            continue
        present = np.isfinite(values) & (codes >= 0)
        area = area_under_curve(codes[present] == 1, values[present])
        if area is not None and area.value < 0.5:  # of the opposite values
            area = replace(area, value=1 - area.value, low=1 - area.high, high=1 - area.low)
        if area is None or area.low <= 0.5:
            continue
        if best is None or area.value > best[1].value:
            best = (name, area)
    return best


def _with_sets_and_person(
    frame: pandas.DataFrame,
    contents: Mapping[str, ColumnContent],
    roles: Roles,
    why: dict[str, str],
    questions: list[str],
) -> Roles:
    """Return the roles with the columns of sets and of people."""
    sets = _by_rank(contents, Content.SETS)
    if not sets and roles.gives_predictions:
        doubtful = [name for name, content in contents.items() if content.content is Content.SETS]
        sets = [name for name in doubtful if may_be_sets(frame[name], name)]
        questions += ["sets"] * bool(sets)
    if sets:
        roles = replace(roles, sets=sets[0])
        why["sets"] = contents[sets[0]].reason
    persons = _by_rank(contents, Content.PERSON)
    if persons:
        roles = replace(roles, person=persons[0])
        why["person"] = contents[persons[0]].reason
        questions.append("person")
    return roles


def _with_positive(
    frame: pandas.DataFrame,
    roles: Roles,
    value: str,
    why: dict[str, str],
    questions: list[str],
    *,
    model: bool,
) -> Roles:
    """Return the roles with what scores and predictions are about.

    `value` is what the score's name says it is of. A label that says yes and no itself means yes; else the scores say
    it where they tell the label at all; else a word that sounds like a yes, or the rarest value.
    """
    counts = _counts(frame[roles.label])
    values = list(counts)
    certain_yes = next((text for text in values if parse_bool(text, values)), "")
    if model:
        measured = ""
    else:
        measured = _measured_positive(frame, roles, values)
    if roles.gives_predictions and not model:
        questions.insert(0, "positive")
    higher = (
        f"from the scores, which are higher where {text_of(roles.label)} is {text_of(measured)}"
    )
    if not roles.score:
        higher = f"from the predictions, which are 1 more often where {text_of(roles.label)} is {text_of(measured)}"
    if value in counts:
        why["positive"] = f"by its name {text_of(roles.score)} is the score of it"
        return replace(roles, positive=value)
    if certain_yes:
        why["positive"] = higher if measured == certain_yes else "it sounds like a yes"
        return replace(roles, positive=certain_yes)
    if measured:
        why["positive"] = higher
        return replace(roles, positive=measured)
    word = _word_of_yes(values)
    why["positive"] = "it sounds like a yes" if word else "the label's rarest value"
    rarest = min(counts, key=lambda text: (counts[text], text), default="")
    return replace(roles, positive=word or rarest)


def suggested_positive(
    frame: pandas.DataFrame, *, label: str, prediction: str = "", score: str = ""
) -> str:
    """Return the label's value that a model's answers are most likely about, whatever the columns' names say."""
    roles = Roles(label=label, positive="", sensitive="", prediction=prediction, score=score)
    return _with_positive(frame, roles, "", {}, [], model=False).positive


def _word_of_yes(values: Collection[str]) -> str:
    """Return the value that sounds like a yes; "" if none does."""
    spellings = {value.casefold(): value for value in values}
    return next((spellings[word] for word in _POSITIVES if word in spellings), "")


def _measured_positive(frame: pandas.DataFrame, roles: Roles, values: list[str]) -> str:
    """Return the label's value for which scores are highest, or predictions 1 most often; "" if they do not tell."""
    if len(values) > MOST_LABELS:
        return ""
    rows = sample_rows(len(frame))
    label = as_text(frame[roles.label].iloc[rows]).to_numpy(dtype=object, na_value="")
    if roles.score:
        answers = numbers_of(frame[roles.score].iloc[rows])
    elif roles.prediction:
        text = as_text(frame[roles.prediction].iloc[rows])
        codes = {
            value: parse_bool(value, few_texts(frame[roles.prediction]))
            for value in text.dropna().unique()
        }
        if None in codes.values():
            return (
                ""  # written as the label is, so that they say of every value what they are about
            )
        answers = numbers_of(text.map(codes))
    else:
        return ""
    answered = ~np.isnan(answers) & (label != "")
    areas = {
        value: area_under_curve(label[answered] == value, answers[answered]) for value in values
    }
    lower = {value: area.low for value, area in areas.items() if area is not None}
    best = max(lower, key=lambda value: lower[value], default="")
    if best and lower[best] > 0.5:
        return best
    return ""


def _with_groups(column: pandas.Series, roles: Roles, why: dict[str, str]) -> Roles:
    """Return the roles with the groups: two values, each value, a limit, or each cell of two crossed columns."""
    if CROSS in roles.sensitive:
        why["group"] = "a group for each pair of values"
        return roles
    if (limit := suggested_limit(column)) is not None:
        why["group"] = "a number, so the lowest quarter against the others"
        return replace(roles, at_most=limit)
    distinct = as_text(column).nunique()
    group = suggested_group(column)
    if distinct > 2:
        per_value = replace(roles, each=True)
        sizes = None
        if distinct <= MOST_ATTRIBUTE_VALUES:
            with suppress(InputError):  # too many groups
                sizes = groups_of(column, per_value)[0].value_counts()
        if sizes is not None and sizes.min() >= MINIMUM_PER_GROUP:
            why["group"] = f"a group for each value, all of {MINIMUM_PER_GROUP} people or more"
            return per_value
        why["group"] = f"{text_of(group)}, the most frequent value, against the others"
    else:
        why["group"] = f"group 1 is {text_of(group)}, the smaller one"
    return replace(roles, group=(group,))


_LEFT_OUT = {
    Content.SETS: "another set",
    Content.PERSON: "another identifier",
    Content.WEIGHT: "the weight of a record, which is no feature of a person",
}


def _with_excluded(
    frame: pandas.DataFrame,
    columns: Mapping[str, str],
    contents: Mapping[str, ColumnContent],
    roles: Roles,
    copies: tuple[str, ...],
    why: dict[str, str],
    *,
    model: bool,
) -> tuple[Roles, dict[str, str]]:
    """Return the roles without what is no feature, and why: identifiers, weights, and further outputs of a model."""
    free = [column for column in columns if column != roles.label and column not in roles.auxiliary]
    excluded: dict[str, str] = {}
    for name in free:
        if name in contents:
            excluded[name] = _reason_left_out(frame, name, contents[name], roles, copies)
    if model:
        table_answers = [column for column in (roles.prediction, roles.score) if column]
        excluded |= dict.fromkeys(table_answers, "the table's own predictions")
        roles = replace(roles, prediction="", score="")
        for role in ("prediction", "score"):
            why.pop(role, None)
    remaining = [column for column in free if column not in excluded]
    excluded |= {
        column: "names the records" for column in remaining if names_records(frame[column], column)
    }
    if excluded:
        why["excluded"] = "; ".join(dict.fromkeys(excluded.values()))
    return replace(
        roles, excluded=tuple(str(name) for name in frame.columns if str(name) in excluded)
    ), excluded


def _reason_left_out(
    frame: pandas.DataFrame,
    name: str,
    content: ColumnContent,
    roles: Roles,
    copies: tuple[str, ...],
) -> str:
    """Return why a column that is no feature is left out."""
    if name in copies and has_unit_sum(frame, [roles.score, *copies]):
        return f"the score of {content.value}, which follows from {text_of(roles.score)}"
    if content.content in _LEFT_OUT and content.certain:
        return _LEFT_OUT[content.content]
    if not content.certain:
        return content.reason
    if (
        roles.prediction
        and is_share(frame[name])
        and _is_confidence(frame[name], frame[roles.prediction])
    ):
        return "how sure the model is of its prediction, and no score of one value"
    return "another prediction or score, by its name"


def reason_of(column: ColumnSummary, role: str, guess: Suggestion | None, *, keep: bool) -> str:
    """Return why a column has this role, as a phrase; "" where there is nothing to say.

    Parameters
    ----------
    guess : Suggestion or None
        What was guessed for the table, None where its roles are known.
    keep : bool
        Whether records with a missing feature are kept.
    """
    if guess is not None and role != (guessed := role_of(column.name, guess.roles)):
        if role != FEATURE or guessed == LEFT_OUT:
            return "your choice"
        return _feature_reason(column, keep=keep) or "another column was chosen"
    if role == LEFT_OUT:
        if guess is None:
            return ""
        return guess.left_out.get(column.name, "")
    if role != FEATURE:
        reason = "" if guess is None else guess.reasons.get(role, "")
        counted = role in ("label", "sensitive") and reason and "two values" not in reason
        if counted:
            return f"{reason}; {column.distinct:,} values"
        return reason
    return _feature_reason(column, keep=keep)


def _feature_reason(column: ColumnSummary, *, keep: bool) -> str:
    """Return what there is to say of a feature, as a phrase; "" where there is nothing."""
    if column.set_aside:
        return f"not used: {column.set_aside}"
    reasons = ["may be sensitive too; this audit does not cover it"] * names_attribute(column.name)
    if column.missing and not keep:
        if column.missing == 1:
            without = "1 record without it is"
        else:
            without = f"{column.missing:,} records without it are"
        reasons.append(f"{without} dropped")
    elif column.missing:
        if column.kind == "number":
            how = "median fills"
        else:
            how = "a category of its own for"
        reasons.append(f"{how} {column.missing:,} gap{'s' * (column.missing > 1)}")
    return "; ".join(reasons)
