"""Facts about direction: predictions and scores that point the other way than the label, or than each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..base.arrays import Floats, Ints, Mask
from ..stats.estimates import percent
from .checked_table import MOST_REPAIRS, CheckedTable
from .columns import text_of
from .input_facts import Changes, Fact, Repair, Severity
from .name_patterns import few_texts, is_share
from .score_evidence import Z_99, AreaUnderCurve, area_under_curve, disagreement, text_codes

CONTRADICTION = 0.05
"""Share of the predictions that may not follow from the scores."""

_MOST_GROUPS = 20
"""Values of a column up to which each may have a threshold of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Accuracy:
    """How predictions agree with the label: the gap is TPR - FPR, negative where they point the other way."""

    accuracy: float
    majority: float
    gap: float
    gap_upper: float

    @property
    def inverted(self) -> bool:
        """Whether guessing the majority is better, and so is the opposite of each prediction, beyond chance."""
        below = self.accuracy < self.majority and self.accuracy < 1.0 - self.accuracy
        return below and self.gap_upper < 0.0


def _accuracy_of(positive: Mask, predictions: Ints) -> _Accuracy | None:
    """Return the accuracy of the predictions that there are; None if only one label value has some."""
    answered = predictions >= 0
    truth, predicted = positive[answered], predictions[answered] == 1
    n_positive = int(truth.sum())
    n_negative = truth.size - n_positive
    if not n_positive or not n_negative:
        return None
    tpr = float(predicted[truth].mean())
    fpr = float(predicted[~truth].mean())
    error = float(np.sqrt(tpr * (1 - tpr) / n_positive + fpr * (1 - fpr) / n_negative))
    return _Accuracy(
        accuracy=float((predicted == truth).mean()),
        majority=max(n_positive, n_negative) / truth.size,
        gap=tpr - fpr,
        gap_upper=tpr - fpr + Z_99 * error,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contradictions:
    """In how many of the records with both answers prediction and score disagree.

    At the threshold of the roles, at the best threshold of each group, and at the best one of the reversed score.
    """

    records: int = 0
    at_threshold: int = 0
    at_best: int = 0
    at_best_reversed: int = 0

    @property
    def many(self) -> bool:
        """Whether no threshold explains enough of the predictions."""
        return self.at_best > CONTRADICTION * self.records

    @property
    def reversed(self) -> bool:
        """Whether the score explains more of them when it is read as that of the other value."""
        return self.at_best_reversed < self.at_best


@dataclass(frozen=True, slots=True, kw_only=True)
class _Directions:
    """What label, predictions and scores say of each other's direction."""

    accuracy: _Accuracy | None
    area: AreaUnderCurve | None
    contradictions: _Contradictions

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of the blocking facts."""
        kinds = {
            "inverted_predictions": self.accuracy is not None and self.accuracy.inverted,
            "contradiction": self.contradictions.many,
            "reversed_score": self.area is not None and self.area.upper < 0.5,
        }
        return frozenset(kind for kind, holds in kinds.items() if holds)


def direction_facts(table: CheckedTable) -> Iterable[Fact]:
    """Say that predictions or scores point the other way than the label, or than each other."""
    if not table.label[1] or (table.predictions is None and table.scores is None):
        return
    directions = _directions(table)
    kinds = directions.kinds
    texts = {
        "inverted_predictions": _inverted_text(table, directions.accuracy),
        "contradiction": _contradiction_text(table, directions.contradictions),
        "reversed_score": _reversed_text(table, directions.area),
    }
    for kind, text in texts.items():
        if kind in kinds:
            yield table.fact(
                kind,
                Severity.BLOCKING,
                text,
                key="data.positive",
                columns=table.answers,
                repairs=_direction_repairs(table, kind, kinds),
            )
    accuracy = directions.accuracy
    if accuracy is None or accuracy.inverted or accuracy.gap == 0.0:
        return
    if accuracy.accuracy < min(0.5, accuracy.majority):
        text = (
            f"The predictions' accuracy is {percent(accuracy.accuracy)}, that of always guessing the majority "
            f"{percent(accuracy.majority)}."
        )
        yield table.fact("below_majority", Severity.NOTE, text, key="")


def _directions(table: CheckedTable) -> _Directions:
    rows = table.rows
    positive = table.positive[rows]
    two_labels = bool(positive.any() and not positive.all())
    predictions = None if table.predictions is None else table.predictions[rows]
    scores = None if table.scores is None else table.scores[rows]
    accuracy, area, contradictions = None, None, _Contradictions()
    if two_labels and predictions is not None:
        accuracy = _accuracy_of(positive, predictions)
    if two_labels and scores is not None:
        scored = ~np.isnan(scores)
        area = area_under_curve(positive[scored], scores[scored])
    if table.roles.prediction and predictions is not None and scores is not None:
        contradictions = _contradictions(table, rows, predictions, scores)
    return _Directions(accuracy=accuracy, area=area, contradictions=contradictions)


def _contradictions(table: CheckedTable, rows: Ints, predictions: Ints, scores: Floats) -> _Contradictions:
    """Compare predictions with scores; a constant score contradicts nothing.

    A fair model may have a threshold for each group; of which column is not known, so each with few values is tried.
    """
    both = (predictions >= 0) & ~np.isnan(scores)
    predictions, scores, rows = predictions[both], scores[both], rows[both]
    if not rows.size or scores.min() == scores.max():
        return _Contradictions(records=rows.size)
    result = disagreement(predictions, scores, table.groups[rows])
    contradictions = _Contradictions(
        records=rows.size,
        at_threshold=int(((scores >= table.roles.threshold) != (predictions == 1)).sum()),
        at_best=result.straight,
        at_best_reversed=result.reversed,
    )
    if not contradictions.many or contradictions.reversed:
        return contradictions
    fewest = result.straight
    for name in table.frame.columns:
        if name in (*table.answers, table.roles.label) or not few_texts(table.frame[name], _MOST_GROUPS):
            continue
        groups = text_codes(table.frame[name].iloc[rows])[0]
        fewest = min(fewest, disagreement(predictions, scores, groups).straight)
    return replace(contradictions, at_best=fewest)


def _inverted_text(table: CheckedTable, accuracy: _Accuracy | None) -> str:
    if accuracy is None:
        return ""
    return (
        f"{text_of(table.roles.prediction or table.roles.score)} points the other way{table.sampled}. Its accuracy is "
        f"{percent(accuracy.accuracy)}, of always guessing the majority {percent(accuracy.majority)}, of the opposite "
        f"of each prediction {percent(1 - accuracy.accuracy)}."
    )


def _contradiction_text(table: CheckedTable, contradictions: _Contradictions) -> str:
    score, prediction = text_of(table.roles.score), text_of(table.roles.prediction)
    text = (
        f"{prediction} contradicts {score} in {contradictions.at_threshold:,} of {contradictions.records:,} records"
        f"{table.sampled}, and in {contradictions.at_best:,} with the best threshold for each group."
    )
    if contradictions.reversed:
        text += (
            f" Read as the score of {_other_value(table)}, {score} contradicts it in "
            f"{contradictions.at_best_reversed:,}."
        )
    return text


def _reversed_text(table: CheckedTable, area: AreaUnderCurve | None) -> str:
    if area is None:
        return ""
    roles = table.roles
    return (
        f"{text_of(roles.score)} is lower where {text_of(roles.label)} is {text_of(roles.positive)}{table.sampled}: "
        f"AUC {area.value:.3f} (99% CI {area.lower:.3f} to {area.upper:.3f}, random guessing 0.500)."
    )


def _other_value(table: CheckedTable) -> str:
    other_values = [value for value in table.label[1] if value != table.roles.positive]
    return text_of(other_values[0]) if len(other_values) == 1 else f"not {text_of(table.roles.positive)}"


def _direction_repairs(table: CheckedTable, kind: str, kinds: frozenset[str]) -> list[Repair]:
    """Return the changes of roles that remove the fact and raise no other, each tried on the records.

    To audit one of two answers alone is the last resort, as what the other reveals is not audited then.
    """
    roles = table.input_roles
    repairs = _repairs_that_work(table, [*_other_values(table), *_other_scores(table)], kind, kinds)
    if repairs or not (roles.prediction and roles.score):
        return repairs
    options = []
    for role, other_column in (("score", roles.prediction), ("prediction", roles.score)):
        column = str(getattr(roles, role))
        changes: Changes = {role: "", "excluded": (*roles.excluded, column)}
        options.append(Repair(title=f"Audit {text_of(other_column)} alone", changes=changes))
    return _repairs_that_work(table, options, kind, kinds)


def _other_values(table: CheckedTable) -> list[Repair]:
    """Return the repairs that the answers are about another value of the label."""
    about = text_of(table.roles.score or table.roles.prediction)
    other_values = [value for value in table.label[1] if value != table.roles.positive]
    return [
        Repair(title=f"{about} predicts {text_of(value)}", changes={"positive": value})
        for value in other_values[:MOST_REPAIRS]
    ]


def _other_scores(table: CheckedTable) -> list[Repair]:
    """Return the repairs that another column is the score: p1 where p0 was chosen."""
    roles = table.input_roles
    if not roles.score:
        return []
    repairs = []
    for name, content in table.contents.items():
        if content.value and name != roles.score and is_share(table.frame[name]):
            excluded = (*(column for column in roles.excluded if column != name), roles.score)
            repairs.append(Repair(title=f"{text_of(name)} is the score", changes={"score": name, "excluded": excluded}))
    return repairs


def _repairs_that_work(table: CheckedTable, options: list[Repair], kind: str, kinds: frozenset[str]) -> list[Repair]:
    """Return the repairs after which the fact is gone and no other has come, those that remove most first."""
    left: list[tuple[int, Repair]] = []
    for option in options:
        changed = replace(table, input_roles=replace(table.input_roles, **option.changes))  # type: ignore[arg-type]
        after = _directions(changed).kinds
        if kind not in after and after <= kinds:
            left.append((len(after), option))
    return [option for _, option in sorted(left, key=lambda pair: pair[0])]
