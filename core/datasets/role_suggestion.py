"""Column roles of a user's table, guessed with reasons; cautions before an audit.

Nothing is decided here: a user sees the guesses and changes them. The Data page and `fairleak init` ask this one
function. Names are known in English, German and French, with or without their accents. A column of two values is taken
for the prediction where the score orders it: one value on one side of a threshold, the other value on the other. The
names of Aequitas (Saleiro et al. 2018, *Aequitas: A Bias and Fairness Audit Toolkit*) are known: `label_value` is the
label, and `score` a score or, where it holds only 0 and 1 and nothing else is the prediction, the prediction. A column
named like a prediction, a score or a set is never the label.

Cautions: a lopsided attribute, near copies of attribute or label, columns mostly missing, dates, a header like a
record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.datasets.columns import as_text, bare_name, could_be_number, is_numeric, listed, names_records, shown
from core.datasets.roles import CROSS, MINIMUM_PER_GROUP, Roles, as_written, crossed_columns, groups_of, with_crossed
from core.datasets.splits import TRAINED_ON, named_set
from core.errors import InputError
from core.estimates import percent
from core.serialize import Result

if TYPE_CHECKING:
    import pandas

_ATTRIBUTES = (
    *("sex", "gender", "geschlecht", "sexe", "genre"),
    *("race", "ethnicity", "ethnic", "ethnic group", "ethnie", "herkunft", "origine"),
    *("origin", "nationality", "national origin", "country of birth", "citizenship", "nationalitat", "nationalite"),
    *("religion", "disability", "disabled", "orientation", "behinderung", "handicap"),
    *("age", "age group", "age cat", "agep", "alter", "altersgruppe"),
)
"""Names of sensitive columns, those asked for most often first."""

_LABELS = ("label value", "y true", "true label", "label", "target", "outcome")
_POSITIVES = (
    *("1", "true", "yes", "y", "positive", "approved", "accepted", "granted", "hired", "good", ">50k"),
    *("ja", "oui"),
)
_PREDICTIONS = (
    *("model prediction", "prediction", "predictions", "predicted", "predicted label", "prediction label"),
    *("pred", "y pred", "y hat", "yhat", "decision"),
    *("vorhersage", "vorhersagen", "vorhergesagt", "modellvorhersage", "prognose", "entscheidung"),
    *("prevision", "predit", "predite"),
)
_SCORES = (
    *("model score", "score", "scores", "y score", "probability", "predicted probability"),
    *("proba", "y proba", "prob", "y prob", "wahrscheinlichkeit", "punktwert", "probabilite"),
)
_SETS = ("split", "set", "sets", "subset", "partition", "aufteilung", "teilmenge", "ensemble", "sous ensemble")

_OUTPUT_WORDS = {
    *("prediction", "predictions", "predicted", "pred", "yhat", "score", "scores"),
    *("probability", "proba", "prob", "vorhersage", "wahrscheinlichkeit", "probabilite"),
}
"""Words that tell of a model's output anywhere in a name; a "court decision", a "test set" may be something else."""

_MOST_LABELS = 50

_FEWEST_ORDERED = 10
"""Records of either value a column must have to be taken for the prediction by the order of the scores: of 20 records,
10 with each value, chance orders one column in 92,378 like that."""

_MOST_VALUES_OF_GROUPS = 10
"""Distinct numbers up to which groups are made of values; of more they are split by a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion(Result):
    """Guessed roles, and why.

    Attributes
    ----------
    roles : Roles
        Empty in `label`, `positive` and `sensitive` where no column can be it.
    reasons : mapping of str to str
        Role -> why, as a phrase; of a label or an attribute that is not found, what was looked for. "group" stands for
        the way the groups are formed. Columns that were known have none.
    left_out : mapping of str to str
        Column that is left out -> why.
    """

    roles: Roles
    reasons: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)


def suggest_roles(
    frame: pandas.DataFrame, *, attribute: str = "", label: str = "", prediction: str = "", model: bool = False
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
    known = (attribute, *crossed_columns(frame, attribute), label)
    frame = with_crossed(frame, attribute)
    columns = {str(name): bare_name(name) for name in frame.columns if str(name) not in known}
    sensitive = attribute or _attribute(frame, columns, why)
    columns.pop(sensitive, None)
    given = _named_answers(frame, columns, why) | ({"prediction": prediction} if prediction else {})
    ordered = ""
    if "score" in given and "prediction" not in given:
        ordered = _ordered_by(frame, given["score"], [c for c, name in columns.items() if name not in _LABELS])
    if not label:
        label = _label(frame, columns, {*given.values(), ordered}, given.get("prediction", ordered), why)
        if not label and ordered:
            label, ordered, why["label"] = ordered, "", "two values, the only such column"
    if ordered:
        given["prediction"], why["prediction"] = ordered, "two values that the score divides"
    roles = replace(Roles(label=label, positive="", sensitive=sensitive), **given)
    if label:
        roles = replace(roles, positive=_positive(frame[label], why))
    if sensitive:
        roles = _with_groups(frame[sensitive], roles, why)
    roles, left_out = _with_excluded(frame, columns, roles, why, model=model)
    return Suggestion(roles=roles, reasons=why, left_out=left_out)


def suggested_group(column: pandas.Series) -> str:
    """Return the value of the first of two groups: of two values the rarer, of more the most frequent.

    Of two that are equally frequent it is the first by name.
    """
    counts = _counts(column)
    sign = 1 if len(counts) <= 2 else -1
    return min(counts, key=lambda value: (sign * counts[value], value), default="")


def suggested_limit(column: pandas.Series) -> float | None:
    """Return up to which number people are in the first of two groups, the lowest quarter; None where values do it."""
    if not is_numeric(column) or as_text(column).nunique() <= _MOST_VALUES_OF_GROUPS:
        return None
    return float(column.dropna().quantile(0.25, interpolation="lower"))


def names_attribute(name: str) -> bool:
    """Whether a column is called like a sensitive attribute: "nationality", "nationality_group"."""
    bare = bare_name(name)
    return bare in _ATTRIBUTES or re.sub(" (group|code|class|category|status)$", "", bare) in _ATTRIBUTES


def _called(columns: Mapping[str, str], names: Collection[str]) -> list[str]:
    """Return the columns with these plain names, in the order of the names."""
    return [column for name in names for column, plain in columns.items() if plain == name]


def _counts(column: pandas.Series) -> dict[str, int]:
    return {str(value): int(n) for value, n in as_text(column).value_counts().items()}


def _attribute(frame: pandas.DataFrame, columns: Mapping[str, str], why: dict[str, str]) -> str:
    named = _called(columns, _ATTRIBUTES)
    found = next((column for column in named if as_text(frame[column]).nunique() > 1), "")
    why["sensitive"] = (
        "named like a sensitive attribute"
        if found
        else f"{shown(named[0])} has fewer than two values"
        if named
        else "no column is called sex, race, origin, age, or another name of a sensitive attribute that is known here"
    )
    return found


def _named_answers(frame: pandas.DataFrame, columns: Mapping[str, str], why: dict[str, str]) -> dict[str, Any]:
    """Return the columns called like prediction, score and sets, by role."""

    def first(names: tuple[str, ...], fits: Callable[[pandas.Series], bool], *, but: str = "") -> str:
        return next((column for column in _called(columns, names) if column != but and fits(frame[column])), "")

    prediction = first((*_PREDICTIONS, *_SCORES), _may_be_labels)
    named = "prediction" if bare_name(prediction) in _PREDICTIONS else "score"
    score = first(_SCORES, _may_be_scores, but=prediction) or first(_PREDICTIONS, _must_be_scores)
    found = {
        "prediction": (prediction, f"named like a {named}, with few values"),
        "score": (score, "named like a score, numbers from 0 to 1"),
        "sets": (
            first((*_SETS, *TRAINED_ON), _may_be_sets),
            "named like a set, and its values say who was in training and who in the test set",
        ),
    }
    why |= {role: reason for role, (column, reason) in found.items() if column}
    return {role: column for role, (column, _) in found.items() if column}


def _label(
    frame: pandas.DataFrame, columns: Mapping[str, str], taken: Collection[str], prediction: str, why: dict[str, str]
) -> str:
    """Return the column called like a label, else the last with the prediction's two values, else with any two."""
    for column in _called(columns, _LABELS):
        if _may_be_labels(frame[column], fewest=2):
            why["label"] = "named like a label"
            return column
    free = [column for column, name in columns.items() if column not in taken and not _never_label(name)]
    two = [c for c in reversed(free) if as_text(frame[c]).nunique() == 2 and not _must_be_scores(frame[c])]
    said = set(_counts(frame[prediction])) if prediction else set()
    same = [column for column in two if said and said <= set(_counts(frame[column]))]
    if same:
        why["label"] = "the values of the prediction, the last such column"
    else:
        why["label"] = "two values, the last such column" if two else "no column has two values and could be the label"
    return next(iter((*same, *two)), "")


def _never_label(name: str) -> bool:
    """Whether a plain name is that of a prediction, a score or a set, or of a sensitive attribute."""
    known = {*_PREDICTIONS, *_SCORES, *_SETS, *TRAINED_ON, *_ATTRIBUTES}
    return name in known or bool(_OUTPUT_WORDS.intersection(name.split()))


def _positive(column: pandas.Series, why: dict[str, str]) -> str:
    """Return the label's value that sounds like a yes, else its rarest one."""
    counts = _counts(column)
    named = {value.casefold(): value for value in counts}
    word = next((word for word in _POSITIVES if word in named), "")
    why["positive"] = "it sounds like a yes" if word else "the label's rarest value"
    return named[word] if word else min(counts, key=lambda value: (counts[value], value), default="")


def _with_groups(column: pandas.Series, roles: Roles, why: dict[str, str]) -> Roles:
    """Return the roles with the groups: two values, each value, a limit, or each cell of two crossed columns."""
    if CROSS in roles.sensitive:
        why["group"] = "a group for each pair of values"
        return roles
    if (limit := suggested_limit(column)) is not None:
        why["group"] = "a number, so the lowest quarter against the others"
        return replace(roles, at_most=limit)
    if as_text(column).nunique() > 2:
        each = replace(roles, each=True)
        try:
            sizes = groups_of(column, each)[0].value_counts()
        except InputError:  # too many values
            sizes = None
        if sizes is not None and sizes.min() >= MINIMUM_PER_GROUP:
            why["group"] = f"a group for each value, all of {MINIMUM_PER_GROUP} people or more"
            return each
        why["group"] = "the most frequent value against the others"
    else:
        why["group"] = "the rarer of two values"
    return replace(roles, group=(suggested_group(column),))


def _with_excluded(
    frame: pandas.DataFrame, columns: Mapping[str, str], roles: Roles, why: dict[str, str], *, model: bool
) -> tuple[Roles, dict[str, str]]:
    """Return the roles without what is no feature, and why: identifiers, and further outputs of a model."""
    free = {column: name for column, name in columns.items() if column != roles.label and column not in roles.given}
    found = {
        column: "another prediction or score, by its name"
        for column, name in free.items()
        if (name in _PREDICTIONS and _may_be_labels(frame[column]))
        or (name in _SCORES and _may_be_scores(frame[column]))
    }
    if roles.gives_predictions:
        named = [column for column, name in free.items() if name in _SCORES and column not in found]
        found |= {c: "named like a score, but not numbers from 0 to 1" for c in named if is_numeric(frame[c])}
    if model:
        found |= {column: "the table's own predictions" for column in (roles.prediction, roles.score) if column}
        roles = replace(roles, prediction="", score="")
        for role in ("prediction", "score"):
            why.pop(role, None)
    others = [column for column in free if column not in found]
    found |= {column: "names the records" for column in others if names_records(frame[column], column)}
    if found:
        why["excluded"] = "; ".join(dict.fromkeys(found.values()))
    return replace(roles, excluded=tuple(str(name) for name in frame.columns if str(name) in found)), found


def _ordered_by(frame: pandas.DataFrame, score: str, columns: Collection[str]) -> str:
    """Return the one column of two values of which all scores of one are at most those of the other; "" else."""
    known = frame[score].notna()
    found = []
    for name in columns:
        if name == score:
            continue
        text = as_text(frame[name])
        rows = (known & text.notna()).to_numpy(dtype=bool)
        if text.nunique() != 2 or text[rows].nunique() != 2:
            continue
        scores = frame[score].to_numpy(dtype=np.float64, na_value=np.nan)[rows]
        codes = text[rows].factorize()[0]
        low, high = sorted((scores[codes == 0], scores[codes == 1]), key=np.mean)
        enough = min(low.size, high.size) >= _FEWEST_ORDERED
        if enough and low.max() <= high.min() and np.median(low) < np.median(high):
            found.append(name)
    return found[0] if len(found) == 1 else ""


def _may_be_labels(column: pandas.Series, *, fewest: int = 1) -> bool:
    """Whether a column holds few values; of numbers only two, and none between 0 and 1."""
    most = 2 if is_numeric(column) else _MOST_LABELS
    return fewest <= as_text(column).nunique() <= most and not _must_be_scores(column)


def _may_be_scores(column: pandas.Series) -> bool:
    if not is_numeric(column):
        return False
    values = column.dropna().to_numpy(dtype=np.float64)
    return bool(values.size and values.min() >= 0.0 and values.max() <= 1.0)


def _must_be_scores(column: pandas.Series) -> bool:
    """Whether a column holds numbers between 0 and 1, not 0 and 1 alone."""
    return _may_be_scores(column) and not column.dropna().isin((0, 1)).all()


def _may_be_sets(column: pandas.Series) -> bool:
    found = {named_set(str(value), str(column.name)) for value in as_text(column).dropna().unique()}
    return "" not in found and {"train", "test"} <= found


_LOPSIDED = 0.9
"""Baseline of the attribute above which accuracy says little of an attack."""

_NEAR = 0.95
"""Balanced accuracy above which a column is almost the attribute or the label."""

_MOSTLY_MISSING = 0.5
"""Share of missing cells from which on a column says little."""

_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/. ]+(\d{1,2}|[^\W\d]{3,9})\.?[-/., ]+\d{2,4}\b")
"""How a date begins: 1987-03-21, 21.3.1987, 3/21/87, 21 Mar 1987."""

_FEW_DATES = 20
"""Different dates up to which a column holds categories."""

_MOST_ROWS = 100_000
_MOST_BINS, _ROWS_PER_BIN = 256, 40
_FEWEST_CELLS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Caution(Result):
    """What to look at before an audit: the point, more about it, and the columns that could be left out."""

    point: str
    more: str
    columns: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole caution."""
        return f"{self.point} {self.more}"


def cautions(frame: pandas.DataFrame, roles: Roles) -> tuple[Caution, ...]:
    """Return what to look at before an audit with these roles.

    The attribute's baseline, above 90 %. Columns of which each alone predicts the group, the label or the predicted
    label with a balanced accuracy above 95 %: what is most likely by one half of a random sample of 100,000 records,
    judged on the other. Features that are named like a model's answers, where some are given.
    Columns of which half of the cells or more are missing. Texts that are dates. And names of columns that look like
    the cells of a record.

    Parameters
    ----------
    frame : DataFrame
        As it was read.
    roles : Roles
        `label` and `sensitive` may be empty; what needs them is left out, as it is where the groups break a rule.
    """
    found = _header(frame)
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
            sides["attribute"] = codes.to_numpy(dtype=np.float64, na_value=np.nan)
            found += _baseline(sides["attribute"], names, roles)
    if roles.label and roles.positive:
        text = as_text(frame[roles.label])
        sides["label"] = (text == roles.positive).to_numpy(dtype=np.float64, na_value=np.nan)
    if roles.prediction in frame:
        codes = as_text(frame[roles.prediction]).factorize()[0]  # it may be written otherwise than the label
        sides["prediction"] = np.where(codes < 0, np.nan, codes)
    features = frame.drop(columns=list(crossed))
    found += _own_answer(features, roles) + _named_like_answers(features, roles)
    found += _near_copies(features, roles, sides) + _mostly_missing(features, roles) + _dates(features, roles)
    return tuple(found)


def _header(frame: pandas.DataFrame) -> list[Caution]:
    """Say that the names look like cells: half of them, two or more, are numbers or values of their own column."""
    names = [str(name) for name in frame.columns]
    alike = [name for name in names if could_be_number(name) or (as_text(frame[name]) == name).any()]
    if len(alike) < max(_FEWEST_CELLS, len(names) / 2):
        return []
    return [
        Caution(
            point=f"{len(alike)} of {len(names)} column names look like values ({listed(alike)}).",
            more="If the first line is a record, put a line with the names above it.",
        )
    ]


def _mostly_missing(frame: pandas.DataFrame, roles: Roles) -> list[Caution]:
    """Say which columns have few cells, and what that does."""
    found = []
    for name in map(str, frame.columns):
        missing = int(frame[name].isna().sum())
        if name in (*roles.excluded, *roles.given) or not _MOSTLY_MISSING <= missing / len(frame) < 1:
            continue
        target = name in (roles.label, roles.sensitive)
        if not target and _no_feature(frame[name], name):
            continue
        there = f"{shown(name)} is {percent(missing / len(frame))} missing ({missing:,} of {len(frame):,} records)."
        if target or roles.missing == "drop":
            role = {roles.label: "the label", roles.sensitive: "the sensitive attribute"}.get(name, "a feature")
            gaps = f"As {role} it leaves {len(frame) - missing:,} records."
        elif is_numeric(frame[name]):
            gaps = "The column's median fills the gaps."
        else:
            gaps = "Missing cells become a category of their own."
        found.append(Caution(point=there, more=gaps, columns=() if target else (name,)))
    return found


def _no_feature(column: pandas.Series, name: str) -> bool:
    """Whether a column is set aside by itself: dates, one number alone, what names the records."""
    return column.dtype.kind in "mM" or (is_numeric(column) and column.nunique() < 2) or names_records(column, name)


def _dates(frame: pandas.DataFrame, roles: Roles) -> list[Caution]:
    """Say which features are dates written as text; a text for most records is set aside by itself."""
    found = []
    for name in map(str, frame.columns):
        column = frame[name]
        if name in (roles.label, roles.sensitive, *roles.excluded, *roles.given) or is_numeric(column):
            continue
        if _no_feature(column, name):
            continue
        values = as_text(column).dropna().unique()
        if len(values) <= _FEW_DATES or sum(bool(_DATE.match(text)) for text in values) < _NEAR * len(values):
            continue
        found.append(
            Caution(
                point=f"{shown(name)} holds dates: {len(values):,} different values.",
                more="A model can learn single people by heart. Leave it out, or keep a year.",
                columns=(name,),
            )
        )
    return found


def _baseline(groups: npt.NDArray[np.float64], names: tuple[str, ...], roles: Roles) -> list[Caution]:
    counts = np.bincount(groups[~np.isnan(groups)].astype(np.int64), minlength=len(names))
    share = float(counts.max() / max(1, counts.sum()))
    if share <= _LOPSIDED:
        return []
    largest = shown(names[int(counts.argmax())])
    return [
        Caution(
            point=f"{percent(share)} of the people are in one group of {shown(roles.attribute)}: {largest}.",
            more="Always guessing it is correct that often (baseline), so look at balanced accuracy.",
        )
    ]


def _own_answer(frame: pandas.DataFrame, roles: Roles) -> list[Caution]:
    """Say that the label is the prediction, or the score cut at a threshold: no truth, as a rule."""
    label, score, prediction = roles.label, roles.score, roles.prediction
    if label not in frame:
        return []
    more = "It looks like the model's own prediction, not the truth: an audit would then miss leaks. "
    # Codes by first appearance are equal where one column is the other, however the two are written.
    if prediction in frame and np.array_equal(*(as_text(frame[name]).factorize()[0] for name in (label, prediction))):
        point = f"The label {shown(label)} says the same as the prediction {shown(prediction)} in every record."
        return [Caution(point=point, more=f"{more}Give the role Label to the column with the true outcome.")]
    if score not in frame or _ordered_by(frame, score, [label]) != label:  # a model file's scores are not in it
        return []
    point = f"The label {shown(label)} follows from the score {shown(score)} in every record."
    role = "Give it the role Prediction, and the role Label to the column with the true outcome."
    return [Caution(point=point, more=more + role)]


def _named_like_answers(frame: pandas.DataFrame, roles: Roles) -> list[Caution]:
    """Say which features are called like a model's answers, and that a score which is left out is not audited."""
    if not roles.gives_predictions:
        return []
    plain = {str(name): bare_name(name) for name in frame.columns if str(name) not in (roles.label, *roles.given)}
    found, more = [], f"If the model gives it, leave it out, or give it its role (scores: 0 to 1). {_TAKEN_AS_KNOWN}"
    named = [
        c for c, name in plain.items() if name in _SCORES or ({*name.split()} & _OUTPUT_WORDS) - {"score", "scores"}
    ]
    if features := tuple(column for column in named if column not in (roles.sensitive, *roles.excluded)):
        which = "A feature is" if len(features) == 1 else "Features are"
        point = f"{which} named like a model's answers: {listed(features)}."
        found.append(Caution(point=point, more=more, columns=features))
    scores = [c for c in named if plain[c] in _SCORES and c in roles.excluded and is_numeric(frame[c])]
    if roles.prediction and not roles.score and scores:
        point = f"Scores are left out, so that only predicted labels are audited: {listed(scores)}."
        found.append(Caution(point=point, more="If the model gives them, write them as 0 to 1, with the role Score."))
    return found


_TAKEN_AS_KNOWN = "A feature counts as known without the model: an audit would miss what it reveals."


def _near_copies(frame: pandas.DataFrame, roles: Roles, sides: dict[str, npt.NDArray[np.float64]]) -> list[Caution]:
    rows = np.random.default_rng(0).permutation(len(frame))[:_MOST_ROWS]
    near: dict[str, dict[str, float]] = {side: {} for side in sides}
    for name in map(str, frame.columns):
        if name in (roles.sensitive, *roles.excluded, *roles.given) or names_records(frame[name], name):
            continue
        values = _codes(frame[name].iloc[rows])
        for side in sides:
            if name != roles.label or side == "attribute":
                near[side][name] = _balanced_accuracy(values, sides[side][rows])
    cautioned = []
    for side, title, more in (
        ("attribute", roles.attribute, "An attacker who knows that needs no model."),
        ("label", roles.label, "Leave out what is known only after the label is."),
        ("prediction", roles.prediction, f"Leave out what comes from the model. {_TAKEN_AS_KNOWN}"),
    ):
        found = {name: value for name, value in near.get(side, {}).items() if value > _NEAR}
        if found:
            chance = 1 / int(np.nanmax(sides[side]) + 1)
            names = sorted(found, key=lambda name: -found[name])
            cautioned.append(
                Caution(
                    point=f"Almost the {side} {shown(title)}: {listed(names)}.",
                    more=f"Alone {'it predicts' if len(found) == 1 else 'each predicts'} the {side} with a balanced "
                    f"accuracy of {percent(min(found.values()))}{' or more' * (len(found) > 1)} "
                    f"(random guessing {percent(chance)}). {more}",
                    columns=tuple(names),
                )
            )
    return cautioned


def _codes(column: pandas.Series) -> npt.NDArray[np.int64]:
    """Return a column's values as codes from 0, of many numbers their bins of about equal size; 0 is a missing cell."""
    if is_numeric(column):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        present = numbers[np.isfinite(numbers)]
        bins = min(_MOST_BINS, present.size // _ROWS_PER_BIN)
        if bins > 1 and np.unique(present).size > bins:
            edges = np.quantile(present, np.arange(1, bins) / bins)
            return np.where(np.isfinite(numbers), 1 + np.searchsorted(edges, numbers, side="left"), 0)
    return np.asarray(as_text(column).factorize()[0], dtype=np.int64) + 1


def _balanced_accuracy(values: npt.NDArray[np.int64], groups: npt.NDArray[np.float64]) -> float:
    """Return how often the group likeliest by one half of the records is right on the other half; 0 if unknown."""
    known = ~np.isnan(groups)
    values, codes = values[known], groups[known].astype(np.int64)
    half, k = codes.size // 2, int(codes.max(initial=0)) + 1
    learned = np.bincount(values[:half] * k + codes[:half], minlength=(int(values.max(initial=0)) + 1) * k).reshape(
        -1, k
    )
    sizes, judged = learned.sum(axis=0), np.bincount(codes[half:], minlength=k)
    if k < 2 or not (sizes.all() and judged.all()):
        return 0.0
    guess = (learned / sizes).argmax(axis=1)[values[half:]]
    right = np.bincount(codes[half:][guess == codes[half:]], minlength=k)
    return float((right / judged).mean())
