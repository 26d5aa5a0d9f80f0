"""Features that are copies of a model's score or predictions.

A copy among the features makes an audit blind: what the outputs say counts as known without them. A column is taken for
a copy where it tells the score or the predictions by itself, and not the label:

- the rank correlation with the score is above 0.98 (a constant added, another unit, rounding, a logit, percentiles,
  1 - score), or the ranks of the score are explained by the column, or its own by the score, to the same degree;
- its few values are intervals of the score (risk bands), cut with an accuracy above 0.98;
- the predictions follow from it with accuracy and balanced accuracy above 0.98.

A strong feature that the model reads, a credit grade, does the same where it decides nearly alone. It differs in that
the other features do not tell the score, and do tell what the grade leaves open: a model is a function of what it
reads. That is tried with boosted trees on the few columns in question. What remains open counts as a copy, to be
confirmed by somebody who knows.

A copy with noise added hides leaks as well. A column whose rank correlation with the score is above 0.9 is tried in the
same way, and what remains open is a caution.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..base.validation import Floats, Ints, Mask
from ..stats.estimates import percent
from .checked_table import (
    CheckedTable,
    Fact,
    Repair,
    Severity,
    accuracy_by_code,
    area_under_curve,
    best_cut_accuracy,
    bin_codes,
    explained_share,
    filled_with_median,
    halves,
    mean_ranks,
    means_by_code,
    ordered_intervals,
    rank_correlation,
    text_codes,
)
from .columns import finite_numbers, is_numeric, numbers_of, text_of
from .name_patterns import Content, is_score

if TYPE_CHECKING:
    import pandas

CLOSE = 0.98
"""Rank correlation, accuracy and balanced accuracy above which a column tells an output."""

NEAR = 0.9
"""Rank correlation with the score above which a column may be a copy with noise."""

_CLOSE_SHARE = CLOSE**2
_PERHAPS = 0.9
"""Share or accuracy of bins below which a closer look is in vain."""
_PERHAPS_NEAR = 0.75
"""The same of a copy with noise: what bins lose of `NEAR` squared at most."""
_LEAST_FILLED = 0.2
"""Share of the scored records below which a feature that is present is not compared with their scores."""
_NEAR_AREA = 0.97
"""Area under the ROC curve of a number for the predictions above which it may be a copy with noise."""
_FEW_VALUES = 20
_MANY_SCORES = 50
_FEWEST_RECORDS = 40
_ROWS_PER_CODE = 5
_MODEL_ROWS = 20_000
NEIGHBOUR = 0.9
"""Rank correlation above which another feature says much the same as the one in question."""
EXPLAINED = 0.8
"""Share of the variance that tells whether the other features explain something."""
_NOTHING_LEFT = 1e-4
_TREES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A feature that tells the outputs: of the score or the predictions, with the evidence as a phrase.

    `derived` says that it is a function of the score and not the other way round, as no feature that a model reads is;
    `noisy` that it tells the score less well than a copy; `honest` that it looks like a strong feature which the model
    reads.
    """

    column: str
    of_score: bool
    evidence: str
    derived: bool = False
    noisy: bool = False
    honest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _CodedFeature:
    """A feature as codes, of numbers those of bins; and its numbers, where it has some."""

    name: str
    codes: Ints
    numbers: Floats | None

    @property
    def n_codes(self) -> int:
        return int(self.codes.max(initial=-1)) + 1


def find_copies(
    features: pandas.DataFrame, *, scores: Floats | None, predictions: Ints | None, positive: Mask
) -> list[Copy]:
    """Return the features that are copies of the outputs, or that look like it and are honest.

    Parameters
    ----------
    features : DataFrame
        The records in random order, as halves of them are compared.
    scores : ndarray of shape (n,), or None
        nan where there is none.
    predictions : ndarray of shape (n,), or None
        0 and 1, -1 where there is none.
    positive : ndarray of shape (n,), bool
        Who has the positive label.
    """
    columns = [
        column
        for name in features.columns
        if (column := _column(features[name], str(name))) is not None
    ]
    outputs = _ModelOutputs(scores=scores, predictions=predictions, positive=positive)
    copies = [copy for column in columns if (copy := _copy(column, outputs)) is not None]
    suspects = {copy.column for copy in copies}
    if len(columns) == len(suspects):
        return copies
    return [replace(copy, honest=_is_honest(copy, columns, suspects, outputs)) for copy in copies]


class _ModelOutputs:
    """Scores and predictions of the records that have some, with what is needed of them for every feature."""

    def __init__(self, *, scores: Floats | None, predictions: Ints | None, positive: Mask) -> None:
        self.positive = positive.astype(np.int64)
        if scores is None:
            self.scored = np.zeros(positive.size, dtype=bool)
            self.scores = np.zeros(0)
        else:
            self.scored = ~np.isnan(scores)
            self.scores = scores[self.scored]
        if self.scores.size:
            self.ranks = mean_ranks(self.scores)
        else:
            self.ranks = self.scores
        self.score_bins = bin_codes(self.scores)
        self.many_scores = np.unique(self.scores).size > _MANY_SCORES
        if predictions is None:
            self.predicted = np.zeros(positive.size, dtype=bool)
            self.predictions = np.zeros(0, dtype=np.int64)
        else:
            self.predicted = predictions >= 0
            self.predictions = predictions[self.predicted]

    @property
    def has_scores(self) -> bool:
        return bool(self.scores.size >= _FEWEST_RECORDS and self.scores.min() < self.scores.max())

    @property
    def has_predictions(self) -> bool:
        enough = self.predictions.size >= _FEWEST_RECORDS
        return bool(enough and self.predictions.min() < self.predictions.max())


def _column(column: pandas.Series, name: str) -> _CodedFeature | None:
    """Return a feature as codes; None for dates, constants and texts that differ in most records."""
    if column.dtype.kind in "mM":
        return None
    if is_numeric(column):
        numbers = numbers_of(column)
        present = numbers[np.isfinite(numbers)]
        if not present.size or present.min() == present.max():
            return None
        return _CodedFeature(name=name, codes=bin_codes(numbers), numbers=numbers)
    codes, texts = text_codes(column)
    if not 2 <= len(texts) <= codes.size / _ROWS_PER_CODE:
        return None
    return _CodedFeature(name=name, codes=codes, numbers=None)


def _copy(column: _CodedFeature, outputs: _ModelOutputs) -> Copy | None:
    """Return how a feature tells the outputs by itself; None if it does not, or tells the label as well."""
    correlation, share = _rank_agreement(column, outputs)
    if abs(correlation) > CLOSE:
        evidence = f"rank correlation {correlation:.3f}"
    elif share > _CLOSE_SHARE:
        evidence = f"it explains {percent(share)} of the variance of the score's ranks"
    else:
        evidence = _is_bands_of_score(column, outputs)
    if evidence:
        derived = ""
    else:
        derived = _follows_from_score(column, outputs)
    if evidence or derived:
        predictions = ""
    else:
        predictions = _tells_predictions(column, outputs)
    text = evidence or derived or predictions
    noise = ""
    if not text and abs(correlation) > NEAR:
        noise = f"rank correlation {correlation:.3f}"
    elif not text and not outputs.has_scores:
        noise = predictions = _ranks_predictions(column, outputs)
    text = text or noise
    if not text or _tells_label(column, outputs):
        return None
    return Copy(
        column=column.name,
        of_score=not predictions,
        evidence=text,
        derived=bool(derived),
        noisy=bool(noise),
    )


def _rank_agreement(column: _CodedFeature, outputs: _ModelOutputs) -> tuple[float, float]:
    """Return a feature's rank correlation with the score, and the share of the variance of its ranks it explains.

    Codes of bins are looked at first, as they need no sorting; what they show from afar is then measured. The
    correlation is 0 where it is in vain.
    """
    if not outputs.has_scores:
        return 0.0, 0.0
    codes = column.codes[outputs.scored]
    filled = codes >= 0  # a copy may be empty for some
    if filled.mean() < _LEAST_FILLED:
        return 0.0, 0.0
    share = explained_share(outputs.ranks[filled], codes[filled])
    if column.numbers is None or share <= _PERHAPS_NEAR:
        return 0.0, share
    numbers = column.numbers[outputs.scored]
    present = np.isfinite(numbers)
    if present.sum() < _FEWEST_RECORDS:
        return 0.0, share
    return rank_correlation(numbers[present], outputs.scores[present]), share


def _is_bands_of_score(column: _CodedFeature, outputs: _ModelOutputs) -> str:
    """Return the evidence that a feature's few values are intervals of the score, as a phrase; "" if not."""
    if not outputs.has_scores:
        return ""
    codes = column.codes[outputs.scored]
    coded = codes >= 0
    if (
        not outputs.many_scores
        or not 2 <= column.n_codes <= _FEW_VALUES
        or coded.sum() < _FEWEST_RECORDS
    ):
        return ""
    if accuracy_by_code(outputs.score_bins[coded], codes[coded])[0] <= _PERHAPS:
        return ""
    accuracy, balanced = ordered_intervals(codes[coded], outputs.scores[coded])
    if min(accuracy, balanced) > CLOSE:
        return f"its values are intervals of the score for {percent(accuracy)} of the records"
    return ""


def _follows_from_score(column: _CodedFeature, outputs: _ModelOutputs) -> str:
    """Return the evidence that a number is a function of the score, as a phrase: how sure the model is; "" if not."""
    if (
        column.numbers is None
        or not outputs.has_scores
        or not outputs.many_scores
        or column.n_codes <= _FEW_VALUES
    ):
        return ""
    if (
        explained_share(column.codes[outputs.scored].astype(np.float64), outputs.score_bins)
        <= _PERHAPS
    ):
        return ""
    numbers = column.numbers[outputs.scored]
    present = np.isfinite(numbers)
    if present.sum() < _FEWEST_RECORDS:
        return ""
    share = explained_share(mean_ranks(numbers[present]), outputs.score_bins[present])
    if share > _CLOSE_SHARE:
        return f"the score explains {percent(share)} of the variance of its ranks"
    return ""


def _tells_predictions(column: _CodedFeature, outputs: _ModelOutputs) -> str:
    """Return the evidence that the predictions follow from a feature, as a phrase; "" if they do not."""
    if not outputs.has_predictions:
        return ""
    accuracy, balanced = _label_accuracy(column, outputs.predicted, outputs.predictions)
    if min(accuracy, balanced) <= CLOSE:
        return ""
    return f"the predictions follow from it with a balanced accuracy of {percent(balanced)}"


def _ranks_predictions(column: _CodedFeature, outputs: _ModelOutputs) -> str:
    """Return the evidence that a number nearly ranks the predictions, as a phrase; "" if it does not."""
    if column.numbers is None or not outputs.has_predictions:
        return ""
    numbers = column.numbers[outputs.predicted]
    present = np.isfinite(numbers)
    if present.sum() < max(_FEWEST_RECORDS, _LEAST_FILLED * present.size):
        return ""
    area = area_under_curve(outputs.predictions[present] == 1, numbers[present])
    if area is None or max(area.value, 1.0 - area.value) <= _NEAR_AREA:
        return ""
    return f"AUC {area.value:.3f} for the predictions"


def _tells_label(column: _CodedFeature, outputs: _ModelOutputs) -> bool:
    everybody = np.ones(outputs.positive.size, dtype=bool)
    return min(_label_accuracy(column, everybody, outputs.positive)) > CLOSE


def _label_accuracy(column: _CodedFeature, rows: Mask, labels: Ints) -> tuple[float, float]:
    """Return accuracy and balanced accuracy of the better of two models of one feature: bins, or one threshold."""
    by_code = accuracy_by_code(column.codes[rows], labels)
    if column.numbers is None or min(by_code) <= _PERHAPS or labels.min() == labels.max():
        return by_code
    numbers = column.numbers[rows]
    present = np.isfinite(numbers)
    if present.sum() < _FEWEST_RECORDS or labels[present].min() == labels[present].max():
        return by_code
    by_cut = best_cut_accuracy(labels[present], numbers[present])
    return max(by_code, by_cut, key=min)


def _is_honest(
    copy: Copy, columns: list[_CodedFeature], suspects: set[str], outputs: _ModelOutputs
) -> bool:
    """Whether a feature looks like one that the model reads: others do not tell the output, but what it leaves open."""
    if copy.derived:
        return False
    suspect = next(column for column in columns if column.name == copy.column)
    rows = outputs.scored if copy.of_score else outputs.predicted
    if copy.of_score:
        target = outputs.ranks
    else:
        target = outputs.predictions.astype(np.float64)
    target = (target - target.mean()) / (target.std() or 1.0)
    chosen = np.flatnonzero(rows)[:_MODEL_ROWS]
    target = target[: chosen.size]
    codes = suspect.codes[chosen]
    left = target - means_by_code(target, codes, int(codes.max()) + 2)[codes + 1]
    if float((left**2).mean()) < _NOTHING_LEFT:
        return False
    predictors = [
        column
        for column in columns
        if column.name not in suspects and not _is_neighbour(column, suspect, chosen)
    ]
    if not predictors:
        return False
    matrix = np.column_stack([_model_input(column, chosen) for column in predictors])
    if boosted_share(matrix, target) > EXPLAINED:
        return False
    combined = np.column_stack([_model_input(suspect, chosen), matrix])
    return boosted_share(combined, left) > EXPLAINED


def _model_input(column: _CodedFeature, rows: Ints) -> Floats:
    if column.numbers is None:
        return column.codes[rows].astype(np.float64)
    return column.numbers[rows]


def _is_neighbour(column: _CodedFeature, suspect: _CodedFeature, rows: Ints) -> bool:
    """Whether another feature says much the same as the one in question."""
    ranks = mean_ranks(filled_with_median(_model_input(suspect, rows)))
    if column.numbers is not None and suspect.numbers is not None:
        correlation = rank_correlation(
            filled_with_median(column.numbers[rows]), filled_with_median(suspect.numbers[rows])
        )
        if abs(correlation) > NEIGHBOUR:
            return True
    return explained_share(ranks, column.codes[rows]) > NEIGHBOUR**2


def boosted_share(matrix: Floats, target: Floats) -> float:
    """Return the share of the target's variance that boosted trees explain on the half they were not fitted on."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    errors = 0.0
    total = float(((target - target.mean()) ** 2).sum())
    for fitted, evaluated in halves(target.size):
        model = HistGradientBoostingRegressor(max_iter=_TREES, learning_rate=0.2, random_state=0)
        model.fit(_finite_or_nan(matrix[fitted]), target[fitted])
        errors += float(
            ((target[evaluated] - model.predict(_finite_or_nan(matrix[evaluated]))) ** 2).sum()
        )
    if total > 0.0:
        return 1.0 - errors / total
    return 0.0


def _finite_or_nan(matrix: Floats) -> Floats:
    return np.where(np.isfinite(matrix), matrix, np.nan)


def copy_facts(table: CheckedTable) -> Iterable[Fact]:
    """Say which features tell a model's answers by themselves: score or predictions, or a score that is left out."""
    if not table.label[1]:
        return
    roles = table.roles
    if table.answers:
        yield from _copies_of(table, table.scores, table.predictions, roles.prediction, roles.score)
        return
    for name in left_out_answers(table):
        if is_numeric(table.frame[name]):
            yield from _copies_of(table, finite_numbers(table.frame[name]), None, "", name)


def left_out_answers(table: CheckedTable) -> list[str]:
    """Return the columns that may be a model's answers and have no role."""
    return [
        name
        for name, content in table.contents.items()
        if content.content in (Content.PREDICTION, Content.SCORE) and name in table.roles.excluded
    ]


def _copies_of(
    table: CheckedTable,
    scores: Floats | None,
    predictions: Ints | None,
    prediction_name: str,
    score_name: str,
) -> Iterable[Fact]:
    rows = table.rows
    if scores is not None:
        scores = scores[rows]
    if predictions is not None:
        predictions = predictions[rows]
    sample = table.frame[list(table.features)].iloc[rows]
    for copy in find_copies(
        sample, scores=scores, predictions=predictions, positive=table.positive[rows]
    ):
        name = text_of(copy.column)
        answer = text_of(prediction_name or score_name)
        if copy.of_score:
            answer = text_of(score_name)
        evidence = f"{copy.evidence}{table.sampled}"
        if copy.noisy and not copy.honest:
            yield table.fact(
                "near_score",
                Severity.CAUTION,
                f"{name} is close to {answer}: {evidence}.",
                "If it comes from the model, leave it out: as a feature it counts as known without the model, which "
                "hides leaks.",
                key="data.excluded",
                columns=(copy.column,),
                repairs=[_left_out_as_output(table, copy.column, answer)],
                confirm="It is a feature of the person",
                by_column=True,
            )
            continue
        if copy.honest:
            point = f"{name} almost decides {answer}: {evidence}."
            more = "Other features decide the rest."
            yield table.fact("strong_feature", Severity.NOTE, point, more, columns=(copy.column,))
            continue
        yield table.fact(
            "copy",
            Severity.BLOCKING,
            f"{name} looks like an output of the model, not a fact about a person.",
            f"It tells {answer} by itself, and not because it tells the label: {evidence}. As a feature it counts "
            "as known without the model, which hides leaks.",
            key="data.excluded",
            columns=(copy.column,),
            repairs=[_as_output(table, copy.column, answer)],
            confirm="It is a feature of the person",
            by_column=True,
        )


def _as_output(table: CheckedTable, column: str, answer: str) -> Repair:
    """Return the repair that makes a copy an output: the score, or one that is left out.

    A release has one prediction and one score of each person. What else follows from the score reveals no more than it.
    """
    if _may_be_score(table, column):
        name = text_of(column)
        return Repair(
            title="Treat as output",
            changes={"score": column},
            result=f"{name} is the model's score: it is released and attacked with {answer}.",
        )
    return _left_out_as_output(table, column, answer)


def _left_out_as_output(table: CheckedTable, column: str, answer: str) -> Repair:
    result = f"{text_of(column)} is left out, as {answer} is, which it copies."
    if table.answers:
        result = f"{text_of(column)} is no feature, and is not attacked by itself: {answer}, which it copies, is."
    return Repair(
        title="Leave out as output",
        changes={"excluded": (*table.input_roles.excluded, column)},
        result=result,
    )


def _may_be_score(table: CheckedTable, column: str) -> bool:
    """Whether a copy can be the score that is missing beside predictions, and points as they do."""
    predicted = table.predictions
    cells = table.frame[column]
    if table.roles.score or predicted is None or not is_score(cells):
        return False
    return bool(cells[predicted == 1].mean() > cells[predicted == 0].mean())
