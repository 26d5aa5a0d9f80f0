"""What a column holds by its name and its values: a model's answer, a set, a person, a weight.

One table of names, as the common tools write them (H2O, tidymodels, Azure Machine Learning, BigQuery ML, Vertex AI,
DataRobot, SageMaker, SAS, SPSS Modeler, KNIME, RapidMiner, Dataiku, PyCaret, mlr3, caret, AutoGluon, Orange, and people
who use scikit-learn), in English, German and French. A name alone decides nothing: the values must be what the name
says. Names and values together make a content `certain`; a name whose values could be something else as well is in
doubt, and somebody must be asked.

Names are compared in a plain form: small letters, without accents, a blank for everything else. "{target}" stands for
the name of another column with few values, "{value}" for one of the label's values or what stands for them (0 and 1, no
and yes, ...), "{x}" for one to three letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from ..base.serialize import Result
from .columns import ID_TERMS, as_text, bare_name, is_numeric, numbers_of, plain_name
from .roles import MOST_LABELS
from .splits import TESTED_ON, TRAINED_ON, named_set, named_sets

if TYPE_CHECKING:
    import pandas


class Content(StrEnum):
    """What a column may hold beside features, label and sensitive attribute."""

    PREDICTION = "prediction"
    SCORE = "score"
    SETS = "sets"
    PERSON = "person"
    WEIGHT = "weight"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnContent(Result):
    """What a column holds.

    Attributes
    ----------
    content : Content
    certain : bool
        Whether name and values say so; where they do not, somebody must be asked.
    rank : int
        Place of the name in the table: of two columns with the same content the lower one goes first.
    reason : str
        Why, as a phrase.
    share : bool
        Whether a prediction could be a score as well: it is called a score, and holds 0 and 1 alone.
    value : str
        The label's value that a score is of, where the name says it.
    target : str
        The column that is predicted, where the name says it.
    evidence : str
        What was measured, as a sentence, where the name does not say it.
    """

    content: Content
    certain: bool
    rank: int
    reason: str
    share: bool = False
    value: str = ""
    target: str = ""
    evidence: str = ""


PREDICTION_NAMES = (
    *(
        "model prediction",
        "prediction",
        "predictions",
        "predicted",
        "predicted label",
        "prediction label",
    ),
    *("pred", "y pred", "y hat", "yhat", "decision", "model decision", "model output"),
    *("vorhersage", "vorhersagen", "vorhergesagt", "modellvorhersage", "prognose", "entscheidung"),
    *("prevision", "predit", "predite"),
    *(
        "predict",
        "pred class",
        "predicted class",
        "prediction class",
        "class prediction",
        "predicted labels",
    ),
    *(
        "pred label",
        "predicted outcome",
        "predicted value",
        "predicted values",
        "predicted target",
        "ypred",
    ),
    *("scored labels", "scored label", "em classification"),
    *(
        "predicted {target}",
        "{target} predicted",
        "{target} prediction",
        "prediction {target}",
        "pred {target}",
    ),
    *("{target} pred", "{target} hat", "predicted {target} value", "predicted {target} classes"),
    *("i {target}", "${x} {target}"),
)
"""Names of predicted labels, the best known first: of H2O `predict`, of tidymodels `.pred_class`, of SAS `I_target`."""

SCORE_NAMES = (
    *("model score", "score", "scores", "y score", "probability", "predicted probability"),
    *("p model", "model p", "model prob", "model proba", "model probability"),
    *("proba", "y proba", "prob", "y prob", "wahrscheinlichkeit", "probabilite"),
    *("punktwert", "punktzahl"),
    *(
        "scored probabilities",
        "scored probability",
        "pred proba",
        "pred prob",
        "predict proba",
        "predicted proba",
    ),
    *(
        "predicted prob",
        "prediction probability",
        "prediction proba",
        "prediction score",
        "predicted score",
    ),
    *(
        "probabilities",
        "predicted probabilities",
        "phat",
        "p hat",
        "em eventprobability",
        "em event probability",
    ),
    *(
        "{target} probability",
        "{target} prob",
        "{target} proba",
        "probability {target}",
        "prob {target}",
    ),
    *(
        "predicted {target} prob",
        "predicted {target} probs",
        "predicted {target} probability",
        "proba {target}",
    ),
    *(
        "predicted {target} scores",
        "predicted {target} score",
        "{target} score",
        "p {target}",
        "${x}p {target}",
    ),
    *("pred {target} prob", "pred {target} proba", "${x}c {target}"),
)
"""Names of scores; BigQuery ML writes `predicted_<label>_probs`, Vertex AI `predicted_<label>_scores`."""

CLASS_SCORE_NAMES = (
    *(
        "p{value}",
        "p {value}",
        "pred {value}",
        "prob {value}",
        "proba {value}",
        "probability {value}",
    ),
    *(
        "prediction {value}",
        "predicted {value}",
        "score {value}",
        "scores {value}",
        "confidence {value}",
    ),
    *(
        "probability of {value}",
        "prob of {value}",
        "p of {value}",
        "pr {value}",
        "pr{value}",
        "cal p{value}",
    ),
    *(
        "pred proba {value}",
        "predict proba {value}",
        "predicted proba {value}",
        "predicted probability {value}",
    ),
    *(
        "y proba {value}",
        "y prob {value}",
        "y score {value}",
        "pred prob {value}",
        "prob{value}",
        "proba{value}",
    ),
    *(
        "scored probabilities for class {value}",
        "scored probabilities {value}",
        "scored probability {value}",
    ),
    *("score predicted {value}", "wahrscheinlichkeit {value}", "probabilite {value}", "ip {value}"),
    *("p {target}{value}", "p {target} {value}", "prob {target} {value}", "proba {target} {value}"),
    *(
        "{target} {value} prediction",
        "{target} {value} probability",
        "{target} {value} score",
        "{target} {value}",
    ),
    *(
        "predicted {target} {value}",
        "pred {target} {value}",
        "${x}p {value}",
        "${x}p {target} {value}",
    ),
    *(
        "{value} probability",
        "{value} prob",
        "{value} proba",
        "{value} score",
        "{value} prediction",
    ),
)
"""Names of the score of one value of the label: of H2O `p1`, of SAS `P_target1`, of DataRobot `target_1_PREDICTION`."""

_DEFAULT_VALUES = (
    *(("0", "1"), ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("neg", "pos")),
    *(("negative", "positive"), ("nein", "ja"), ("non", "oui")),
)
"""What a name of a class score may call the two values of a label, the negative one first."""

_HARMS = re.compile(
    r"\b(default|delinq|bankrupt|charged? ?off|arrears|unpaid|fraud|scam|den(y|ied|ial)|reject|declin|refus|recid"
    r"|reoffend|rearrest|arrest|convict|violat|fail|drop ?out|dismiss|fired|laid off|layoff|evict|foreclos|died|dead"
    r"|death|deceased|mortality|readmi|relapse|adverse|bad\b|poor\b|ineligib|risk\b|pd\b|hazard"
    r"|overdue|late (payment|paying)|churn|npl\b|dpd|stroke|terminat|suspend|expel|expuls|sanction|write ?off|loss\b"
    r"|broke off|broken off|quit\b|abandon|withdr[ae]w|un(successful|finished|employed|insured)|incomplete"
    r"|(\w*)ausfall|verzug|abgelehnt|ablehnung|betrug|gekundigt|ruckfall|verstorben"
    r"|defaut|impaye|retard de|refuse|rejete|fraude|recidive|dece(s|de))"
)
_BENEFITS = re.compile(
    r"\b(approv|accept|grant|hire[ds]?\b|admit|admission|promot|re ?paid|re ?pay|paid|pass(ed)?\b|surviv|good\b"
    r"|graduat|award|eligib|low risk|finish|complet|success|retain|employed|enrol|insured|income|salary|wages?\b|earn)"
)
_NEGATIONS = re.compile(r"\b(no|not|non|never|without)\b")


def outcome_sign(name: str) -> int:
    """Return 1 for a name that reads like something good for a person, -1 for something bad, 0 for any other."""
    plain = plain_name(name)
    sign = bool(_BENEFITS.search(plain)) - bool(_HARMS.search(plain))
    if _NEGATIONS.search(plain):
        return -sign
    return sign


_DECISION_TERMS = {
    *(
        "decision",
        "decisions",
        "decided",
        "verdict",
        "verdicts",
        "predict",
        "predicted",
        "predicts",
    ),
    *("prediction", "predictions", "pred", "recommend", "recommended", "recommends"),
    *("recommendation", "recommendations", "entscheidung", "empfehlung", "vorhersage", "prognose"),
    *("recommandation", "prevision", "predit"),
}
_EARLIER_TERMS = {"prior", "previous", "past", "last", "earlier", "court", "appeal"}
"""Words that make a decision one of somebody else, or of another time."""

_KINDS_OF_VENDORS = {
    "id",
    "name",
    "type",
    "code",
    "number",
    "no",
    "class",
    "category",
    "state",
    "status",
}


def names_decision(name: str) -> bool:
    """Whether a name speaks of what a model decides, predicts or recommends: "vendor_decision"."""
    tokens = plain_name(name).split()
    if not tokens or not _EARLIER_TERMS.isdisjoint(tokens):
        return False
    of_vendor = tokens[0] == "vendor" and len(tokens) > 1 and tokens[-1] not in _KINDS_OF_VENDORS
    return of_vendor or not _DECISION_TERMS.isdisjoint(tokens)


SET_NAMES_OF_COLUMNS = (
    *(
        "split",
        "set",
        "sets",
        "subset",
        "partition",
        "data split",
        "data set split",
        "train test",
        "traintest",
    ),
    *(
        "train test split",
        "tvt",
        "partind",
        "aufteilung",
        "teilmenge",
        "ensemble",
        "sous ensemble",
        "partage",
    ),
)
"""Names that say a set whatever the values; values that do not say which make them a question."""

WEAK_SET_NAMES = (
    *(
        "dataset",
        "data set",
        "fold",
        "membership",
        "member",
        "phase",
        "usage",
        "role",
        "sample",
        "period",
        "part",
    ),
    *("datensatz", "phase", "echantillon", "jeu", "jeu de donnees", "stichprobe"),
)
"""Names that may say a set or something else: the values decide."""

_FOLDS = re.compile(r"(cv |k |test |outer |inner )?folds?( id| number| no| nr)?|resample|kfold|cv")

_TRAINING_PREFIXES = ("train", "trn", "learn", "lern", "entrain", "entraîn", "apprentissage")
"""How the name of a training set begins, which no feature's value does."""

_MEMBERS = ("member", "is member", "membership", "mitglied", "membre")
"""Names that, with yes and no, say a member of the training data, or of a club."""

_MEMBER_WORD = "memb"
"""What values of a club have in common with those of a membership in training data."""

_PERSON_NOUNS = {
    *("person", "student", "pupil", "customer", "client", "patient", "user", "member", "subject"),
    *(
        "applicant",
        "borrower",
        "employee",
        "worker",
        "citizen",
        "household",
        "individual",
        "participant",
    ),
    *("respondent", "defendant", "inmate", "claimant", "policyholder", "beneficiary"),
    *(
        "kunde",
        "kunden",
        "kundin",
        "patientin",
        "patienten",
        "schuler",
        "mitarbeiter",
        "versicherte",
        "burger",
    ),
    *("etudiant", "personne", "utilisateur", "salarie", "assure", "eleve", "candidat"),
}
_SURE_ID_TERMS = ID_TERMS | {"pid"}
_ID_TERMS = _SURE_ID_TERMS | {
    "nr",
    "no",
    "num",
    "number",
    "nbr",
    "nummer",
    "numero",
    "hash",
    "ref",
    "code",
}
_PERSON_IDS = {
    "ssn",
    "mrn",
    "email",
    "e mail",
    "nhs number",
    "subjid",
    "usubjid",
    "personid",
    "userid",
    "customerid",
}
_PERSON_IDS |= {
    "patientid",
    "studentid",
    "memberid",
    "clientid",
    "custid",
    "cust id",
    "empid",
    "emp id",
}
_PERSON_IDS |= {
    "kundennummer",
    "personalnummer",
    "versichertennummer",
    "matrikelnummer",
    "personennummer",
}
_GROUP_NOUNS = {
    *(
        "school",
        "store",
        "shop",
        "hospital",
        "clinic",
        "branch",
        "region",
        "country",
        "state",
        "city",
        "zip",
        "postal",
    ),
    *(
        "product",
        "item",
        "category",
        "type",
        "class",
        "department",
        "dept",
        "company",
        "employer",
        "team",
        "site",
    ),
    *(
        "group",
        "source",
        "admission",
        "discharge",
        "disposition",
        "agent",
        "county",
        "district",
        "area",
        "census",
    ),
    *(
        "occupation",
        "industry",
        "job",
        "model",
        "status",
        "language",
        "provider",
        "vendor",
        "channel",
        "campaign",
    ),
    *("device", "currency", "bank", "course", "teacher", "doctor", "officer", "judge", "court"),
}
"""Nouns whose identifiers repeat because many people share them."""

_WEIGHT_NAMES = re.compile(
    r"(sample|sampling|survey|person|instance|case|class|training|record|row|replicate|final|design|probability|"
    r"observation|obs|household|population|balancing|reweighing)[ ]?(weights?|wgts?|wts?|gewichte?)"
    r"|(stichproben|fall|hochrechnungs|umfrage|daten)gewichte?|hochrechnungsfaktor|pwgtp\d*|perwt|finalwt|finalwgt"
    r"|poids (de sondage|d echantillonnage|echantillon)|ponderation|inverse probability weight|ipw|iptw|wgt|wts"
)
_WEIGHT_ALONE = re.compile(r"weights?|w|gewichte?|poids|wt")

OUTPUT_TERMS = {
    *("prediction", "predictions", "predicted", "predict", "pred", "preds", "yhat", "yhats"),
    *(
        "scored",
        "score",
        "scores",
        "probability",
        "probabilities",
        "proba",
        "probas",
        "prob",
        "probs",
    ),
    *("propensity", "logit", "logits", "likelihood"),
    *(
        "vorhersage",
        "vorhersagen",
        "vorhergesagt",
        "wahrscheinlichkeit",
        "probabilite",
        "prevision",
        "predit",
    ),
    *("scoring", "fitted", "residual", "residuals", "resid"),
}
"""Words that tell of a model's output anywhere in a name; a "court decision", a "test set" may be something else."""

_RISK_TERMS = {
    "risk",
    "pd",
    "confidence",
    "certainty",
    "chance",
    "risiko",
    "risque",
    "hazard",
    "index",
    "percentile",
    "rating",
    "bewertung",
    "points",
    "punkte",
}
"""Words that tell of a model's output where the values are shares, between 0 and 1."""

_ANSWER_ENDING = re.compile(r"(score|scores|proba|probability|wahrscheinlichkeit|prediction)$")

_MOST_SETS = 12
"""Most values of a column that may be a set, before it is looked at closely."""

_FEW_PEOPLE = 20
"""Distinct values up to which a column names categories and not people."""

_MOST_ROWS_A_PERSON = 20
"""Rows of a person on average, up to which a column that is called an identifier may identify people."""

_MOST_ROWS_OF_NUMBER = 2
"""Rows of each value on average, up to which a column that is called a number or a code may identify people."""

_MEAN_WEIGHT_TOLERANCE = 0.1
"""How far the mean of a column called "weight" may lie from 1 to be taken for weights of records."""


def _compiled(templates: Sequence[str], targets: Iterable[str]) -> list[re.Pattern[str]]:
    """Regular expressions of names in the table's order; `targets` are columns that may be predicted, by plain name."""
    longest_first = sorted(targets, key=len, reverse=True)
    alternatives = "|".join(map(re.escape, longest_first)) or "(?!)"  # which matches nothing
    placeholders = {
        "target": f"(?P<target>{alternatives})",
        "value": "(?P<value>.+)",
        "x": "[a-z]{1,3}",
    }
    patterns = []
    for template in templates:
        parts = re.split(r"\{(target|value|x)\}", template)
        texts = [placeholders[part] if i % 2 else re.escape(part) for i, part in enumerate(parts)]
        patterns.append(re.compile("".join(texts)))
    return patterns


def contents_of(
    frame: pandas.DataFrame, *, label: str = "", without: Sequence[str] = ()
) -> dict[str, ColumnContent]:
    """Return what the columns hold by name and values, for those of which they say something.

    Parameters
    ----------
    label : str
        The column that is predicted, where it is known: its values are those a score may be of.
    without : sequence of str
        Columns that are known to be something else.
    """
    texts = {str(name): few_texts(frame[name]) for name in frame.columns}
    columns = [name for name in texts if name != label and name not in without]
    targets = {plain_name(name): name for name, values in texts.items() if len(values) >= 2}
    possible_labels = (
        (texts[label],) if label in texts else tuple(few for few in texts.values() if len(few) == 2)
    )
    values = tuple(dict.fromkeys(value for values in possible_labels for value in values))
    predictions = _compiled(PREDICTION_NAMES, targets)
    scores = _compiled(SCORE_NAMES, targets)
    class_scores = _compiled(CLASS_SCORE_NAMES, targets)
    contents: dict[str, ColumnContent] = {}
    for name in columns:
        column = frame[name]
        content = (
            _answer(column, name, Content.PREDICTION, predictions, targets)
            or _answer(column, name, Content.SCORE, scores, targets)
            or _class_score(column, name, class_scores, targets, values)
            or _answer_in_doubt(column, plain_name(name))
            or _set(column, name, texts[name])
            or _weight(column, name)
            or _person(column, name)
        )
        if content is not None:
            contents[name] = content
    contents |= _class_score_contents(frame, columns, texts.get(label, ()))
    return _with_partners(frame, contents)


def few_texts(column: pandas.Series, most: int = MOST_LABELS) -> tuple[str, ...]:
    """Return a column's values as text where there are at most so many, in the order of the cells; else nothing."""
    import pandas as pd

    if column.head(10_000).nunique() > most:
        return ()
    values = column.dropna().unique()
    if len(values) > most:
        return ()
    return tuple(dict.fromkeys(map(str, as_text(pd.Series(values)).dropna())))


def is_share(column: pandas.Series) -> bool:
    """Whether a column holds numbers from 0 to 1."""
    if not is_numeric(column):
        return False
    values = column.dropna().to_numpy(dtype=np.float64)
    return bool(values.size and values.min() >= 0.0 and values.max() <= 1.0)


def is_score(column: pandas.Series) -> bool:
    """Whether a column holds numbers between 0 and 1, not 0 and 1 alone."""
    return is_share(column) and not column.dropna().isin((0, 1)).all()


def may_be_labels(column: pandas.Series, *, fewest: int = 1) -> bool:
    """Whether a column holds few values; of numbers only two, and none between 0 and 1."""
    most = 2 if is_numeric(column) else MOST_LABELS
    return fewest <= len(few_texts(column, most)) <= most and not is_score(column)


def may_be_sets(column: pandas.Series, name: str) -> bool:
    """Whether every value says a set, and there are training and test records."""
    values = few_texts(column, _MOST_SETS)
    sets = set(named_sets(values, name).values())
    return "" not in sets and {"train", "test"} <= sets


def names_a_set(plain: str) -> bool:
    """Whether a name says a set whatever the values."""
    return plain in SET_NAMES_OF_COLUMNS or plain in TRAINED_ON or plain in TESTED_ON


def positive_rank(value: str) -> int:
    """Return 1 for what stands for yes in a name of a class score, 0 for no, -1 for another value."""
    word = value.casefold()
    return next((pair.index(word) for pair in _DEFAULT_VALUES if word in pair), -1)


def _matches(name: str, patterns: list[re.Pattern[str]]) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the patterns that a column's name fits: the place in the list, and the match."""
    plain = plain_name(name)
    for rank, pattern in enumerate(patterns):
        match = pattern.fullmatch(plain)
        if match is not None:
            yield rank, match


def _answer(
    column: pandas.Series,
    name: str,
    content: Content,
    patterns: list[re.Pattern[str]],
    targets: Mapping[str, str],
) -> ColumnContent | None:
    """Return what a column holds that is called like a prediction or a score; None if it is not.

    `targets` are the columns that may be predicted, by plain name.
    """
    for rank, match in _matches(name, patterns):
        target = match.groupdict().get("target", "")
        if not target:
            return _answer_of_values(column, content, rank, "")
        if targets[target] != name:
            return _answer_of_values(column, content, rank, targets[target])
    return None


def _class_score(
    column: pandas.Series,
    name: str,
    patterns: list[re.Pattern[str]],
    targets: Mapping[str, str],
    values: tuple[str, ...],
) -> ColumnContent | None:
    """Return what a column holds that is called like the score of one of these values; None if it is not."""
    if not is_share(column):
        return None
    for rank, match in _matches(name, patterns):
        target = match.groupdict().get("target", "")
        value = _class_value(name, match["value"], values)
        if not value or targets.get(target) == name:
            continue
        sure = _surely_class_score(CLASS_SCORE_NAMES[rank])
        if not sure and not is_score(column):  # one column for each value, 0 or 1
            continue
        return ColumnContent(
            content=Content.SCORE,
            certain=sure and is_score(column),
            rank=len(SCORE_NAMES) + rank,
            reason=f"named like the score of {value}, numbers from 0 to 1",
            value=value,
            target=targets.get(target, ""),
        )
    return None


def _answer_of_values(
    column: pandas.Series, content: Content, rank: int, target: str
) -> ColumnContent:
    """Return what a column holds that bears the name of an answer, by its values."""
    if content is Content.PREDICTION:
        what = "prediction"
    else:
        what = "score"
    if may_be_labels(column):
        if content is not Content.PREDICTION:
            rank += len(PREDICTION_NAMES)
        return ColumnContent(
            content=Content.PREDICTION,
            certain=True,
            rank=rank,
            reason=f"named like a {what}, with few values",
            share=content is Content.SCORE and is_share(column),
            target=target,
        )
    if is_share(column):
        if content is Content.PREDICTION:
            rank += len(SCORE_NAMES) + len(CLASS_SCORE_NAMES)
        reason = f"named like a {what}, numbers from 0 to 1"
        return ColumnContent(
            content=Content.SCORE, certain=True, rank=rank, reason=reason, target=target
        )
    if is_numeric(column):
        content = Content.SCORE
        values = "but not numbers from 0 to 1"
    else:
        values = "but with many different texts"
    return ColumnContent(
        content=content, certain=False, rank=rank, reason=f"named like a {what}, {values}"
    )


def _surely_class_score(template: str) -> bool:
    """Whether a name tells of a class score by itself: `.pred_yes` does, `p1` needs its partner `p0`."""
    first = template.split("{")[0].strip()
    return first not in ("", "p", "pr", "score", "scores", "confidence", "p of", "ip", "$")


def _class_value(name: str, value_name: str, values: Iterable[str]) -> str:
    """Return the value that the words of a column's name stand for; "" if none of them.

    Zero and one, no and yes stand for the two values of a label that are not called so themselves. Where two values
    read alike without their signs, ">50K" and "<=50K", the one counts with which the name ends.
    """
    candidates = [value for value in values if plain_name(value) == value_name]
    if len(candidates) > 1:
        bare = name.strip().rstrip("\"')] ").casefold()
        candidates = sorted(
            (value for value in candidates if bare.endswith(value.casefold())), key=len
        )[-1:]
    if candidates:
        return candidates[0]
    if any(value_name in pair for pair in _DEFAULT_VALUES):
        return value_name
    return ""


def _answer_in_doubt(column: pandas.Series, plain: str) -> ColumnContent | None:
    """Return the content of a column with a word of an answer in its name."""
    tokens = set(plain.split())
    is_output = bool(tokens & OUTPUT_TERMS) or any(_ANSWER_ENDING.search(word) for word in tokens)
    is_output = is_output or (bool(tokens & _RISK_TERMS) and is_score(column))
    if not is_output:
        return None
    if is_numeric(column):
        content = Content.SCORE
    else:
        content = Content.PREDICTION
    return ColumnContent(
        content=content, certain=False, rank=0, reason="may be a model's answer, by its name"
    )


def _class_score_contents(
    frame: pandas.DataFrame, columns: Sequence[str], values: Sequence[str]
) -> dict[str, ColumnContent]:
    """Return the scores that are called like the label's values alone, as AutoGluon and caret do: they sum to one."""
    by_value = {
        value: name for name in columns for value in values if name.casefold() == value.casefold()
    }
    if (
        len(values) < 2
        or len(by_value) != len(values)
        or not all(is_score(frame[name]) for name in by_value.values())
    ):
        return {}
    if not has_unit_sum(frame, list(by_value.values())):
        return {}
    return {
        name: ColumnContent(
            content=Content.SCORE,
            certain=True,
            rank=len(SCORE_NAMES) + len(CLASS_SCORE_NAMES),
            reason=f"named {value}, and the columns named like the label's values sum to 1",
            value=value,
        )
        for value, name in by_value.items()
    }


def has_unit_sum(frame: pandas.DataFrame, names: Sequence[str]) -> bool:
    """Whether the columns sum to one in every record but for rounding."""
    total = np.zeros(len(frame))
    for name in names:
        total += numbers_of(frame[name])
    present = total[~np.isnan(total)]
    return bool(present.size and np.abs(present - 1.0).max() < 0.02 * len(names))


def _with_partners(
    frame: pandas.DataFrame, contents: dict[str, ColumnContent]
) -> dict[str, ColumnContent]:
    """Return the contents with those class scores made certain that sum to one with their partners."""
    of_values = {name: content for name, content in contents.items() if content.value}
    uncertain = [name for name, content in of_values.items() if not content.certain]
    if not uncertain:
        return contents
    families: dict[int, list[str]] = {}
    for name, content in of_values.items():
        families.setdefault(content.rank, []).append(name)
    result = dict(contents)
    for names in families.values():
        if len(names) > 1 and has_unit_sum(frame, names):
            result |= {name: replace(contents[name], certain=True) for name in names}
    return result


def _set(column: pandas.Series, name: str, texts: tuple[str, ...]) -> ColumnContent | None:
    plain = bare_name(name)
    has_sets = may_be_sets(column, name)
    strong = names_a_set(plain)
    weak = plain in WEAK_SET_NAMES
    has_training_prefix = any(value.casefold().startswith(_TRAINING_PREFIXES) for value in texts)
    if has_sets and (strong or weak or has_training_prefix):
        how = "named like a set, and its" if strong or weak else "its"
        reason = f"{how} values say who was in training and who in the test set"
        certain = plain not in _MEMBERS or all(named_set(value) for value in texts)
        rank = 0 if strong else 1
        return ColumnContent(content=Content.SETS, certain=certain, rank=rank, reason=reason)
    if has_sets and not any(_MEMBER_WORD in value.casefold() for value in texts):
        reason = "its values may say who was in training and who in the test set"
        return ColumnContent(content=Content.SETS, certain=False, rank=2, reason=reason)
    if not texts:
        return None
    if plain in SET_NAMES_OF_COLUMNS or _FOLDS.fullmatch(plain):
        reason = "named like a set, but its values do not say which records were in training"
        return ColumnContent(content=Content.SETS, certain=False, rank=2, reason=reason)
    return None


def _weight(column: pandas.Series, name: str) -> ColumnContent | None:
    plain = plain_name(name)
    if not is_numeric(column):
        return None
    reason = "named like the weight of a record"
    if _WEIGHT_NAMES.fullmatch(plain):
        return ColumnContent(content=Content.WEIGHT, certain=True, rank=0, reason=reason)
    if _WEIGHT_ALONE.fullmatch(plain):
        values = column.dropna().to_numpy(dtype=np.float64)
        positive = bool(values.size and values.min() >= 0.0 and (values != np.round(values)).any())
        if positive and abs(float(values.mean()) - 1.0) < _MEAN_WEIGHT_TOLERANCE:
            return ColumnContent(
                content=Content.WEIGHT,
                certain=False,
                rank=1,
                reason=f"{reason}, about 1 on average",
            )
    return None


def _person(column: pandas.Series, name: str) -> ColumnContent | None:
    """Return the content of an identifier that repeats; one of its own for each record only numbers them."""
    plain = plain_name(name)
    tokens = plain.split()
    called_id = bool(tokens) and tokens[-1] in _ID_TERMS
    nouns = set(tokens) & _PERSON_NOUNS
    sure = plain in _PERSON_IDS or (called_id and bool(nouns)) or (len(tokens) == 1 and bool(nouns))
    if not sure and (not called_id or set(tokens) & _GROUP_NOUNS):
        return None
    if column.dtype.kind in "mM" or (is_numeric(column) and not _is_integral(column)):
        return None
    present = int(column.notna().sum())
    distinct = int(column.nunique())
    if distinct <= _FEW_PEOPLE or distinct == present:
        return None
    rows_of_person = present / distinct
    if not sure and tokens[-1] not in _SURE_ID_TERMS and rows_of_person > _MOST_ROWS_OF_NUMBER:
        return None
    if rows_of_person > _MOST_ROWS_A_PERSON and (not sure or not called_id):
        return None
    reason = f"an identifier of which {present - distinct:,} repeat"
    rank = 0 if nouns else 1
    return ColumnContent(content=Content.PERSON, certain=sure, rank=rank, reason=reason)


def _is_integral(column: pandas.Series) -> bool:
    values = column.dropna().to_numpy(dtype=np.float64)
    return bool(np.isfinite(values).all() and (values == np.round(values)).all())
