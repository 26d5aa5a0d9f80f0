"""Facts about a model's answers: their direction, constant and missing ones; and records that repeat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.validation import Ints, child_generator
from ..stats.estimates import percent
from .checked_table import (
    MOST_REPAIRS,
    Z_99,
    AreaUnderCurve,
    Changes,
    CheckedTable,
    Fact,
    Repair,
    Severity,
    disagreement,
    text_codes,
)
from .columns import is_numeric, is_unreadable, text_of
from .name_patterns import few_texts, is_share

CONTRADICTION = 0.05
"""Share of the predictions that may not follow from the scores."""

_MOST_VALUES = 4
"""Values of a prediction that a sentence names."""

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


def _accuracy_of(table: CheckedTable) -> _Accuracy | None:
    """Return the accuracy of the predictions that there are; None if only one label value has some."""
    if table.predictions is None:
        return None
    rows = table.rows[table.predictions[table.rows] >= 0]
    truth = table.positive[rows]
    predicted = table.predictions[rows] == 1
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


def direction_facts(table: CheckedTable) -> Iterable[Fact]:
    """Say that predictions or scores point the other way than the label, or than each other."""
    if not table.label[1] or (table.predictions is None and table.scores is None):
        return
    problems = _problems(table)
    for kind, (point, more) in problems.items():
        yield table.fact(
            kind,
            Severity.BLOCKING,
            point,
            more,
            key="data.positive",
            columns=table.answers,
            repairs=_direction_repairs(table, kind, frozenset(problems)),
            scores=table.scores_by_label,
        )
    accuracy = _accuracy_of(table)
    if accuracy is None or accuracy.inverted or accuracy.gap == 0.0:
        return
    if accuracy.accuracy < min(0.5, accuracy.majority):
        text = (
            f"The predictions' accuracy is {percent(accuracy.accuracy)}, that of always guessing the majority "
            f"{percent(accuracy.majority)}."
        )
        yield table.fact("below_majority", Severity.NOTE, text, key="")


def _problems(table: CheckedTable) -> dict[str, tuple[str, str]]:
    """Return what points the other way: kinds of the blocking facts, and of each its point and its evidence."""
    problems = {}
    accuracy = _accuracy_of(table)
    if accuracy is not None and accuracy.inverted:
        problems["inverted_predictions"] = _inverted_text(table, accuracy)
    contradictions = _contradictions(table)
    if contradictions.many:
        problems["contradiction"] = _contradiction_text(table, contradictions)
    if table.area is not None and table.area.upper < 0.5:
        problems["reversed_score"] = _reversed_text(table, table.area)
    return problems


def _contradictions(table: CheckedTable) -> _Contradictions:
    """Compare predictions with scores; a constant score contradicts nothing.

    A fair model may have a threshold for each group; of which column is not known, so each with few values is tried.
    """
    if not table.roles.prediction or table.predictions is None or table.scores is None:
        return _Contradictions()
    rows = table.rows[(table.predictions[table.rows] >= 0) & ~np.isnan(table.scores[table.rows])]
    predictions = table.predictions[rows]
    scores = table.scores[rows]
    if not rows.size or scores.min() == scores.max():
        return _Contradictions(records=rows.size)
    straight, opposite = disagreement(predictions, scores, table.groups[rows])
    contradictions = _Contradictions(
        records=rows.size,
        at_threshold=int(((scores >= table.roles.threshold) != (predictions == 1)).sum()),
        at_best=straight,
        at_best_reversed=opposite,
    )
    if not contradictions.many or contradictions.reversed:
        return contradictions
    fewest = straight
    for name in table.frame.columns:
        if name in (*table.answers, table.roles.label) or not few_texts(
            table.frame[name], _MOST_GROUPS
        ):
            continue
        groups = text_codes(table.frame[name].iloc[rows])[0]
        fewest = min(fewest, disagreement(predictions, scores, groups)[0])
    return replace(contradictions, at_best=fewest)


def _inverted_text(table: CheckedTable, accuracy: _Accuracy) -> tuple[str, str]:
    point = f"{text_of(table.roles.prediction or table.roles.score)} points the other way{table.sampled}."
    more = (
        f"Its accuracy is {percent(accuracy.accuracy)}, of always guessing the majority {percent(accuracy.majority)}, "
        f"of the opposite of each prediction {percent(1 - accuracy.accuracy)}."
    )
    return point, more


def _contradiction_text(table: CheckedTable, contradictions: _Contradictions) -> tuple[str, str]:
    score = text_of(table.roles.score)
    prediction = text_of(table.roles.prediction)
    point = (
        f"{prediction} contradicts {score} in {contradictions.at_threshold:,} of {contradictions.records:,} records"
        f"{table.sampled}."
    )
    more = f"With the best threshold for each group it does in {contradictions.at_best:,}"
    if contradictions.reversed:
        opposite = _other_value(table)
        more += f", read as the score of {opposite} in {contradictions.at_best_reversed:,}"
    return point, f"{more}."


def _reversed_text(table: CheckedTable, area: AreaUnderCurve) -> tuple[str, str]:
    roles = table.roles
    point = f"{text_of(roles.score)} is lower where {text_of(roles.label)} is {text_of(roles.positive)}{table.sampled}."
    more = f"AUC {area.value:.3f} (99% CI {area.lower:.3f} to {area.upper:.3f}, random guessing 0.500)."
    return point, more


def _other_value(table: CheckedTable) -> str:
    other_values = [value for value in table.label[1] if value != table.roles.positive]
    if len(other_values) == 1:
        return text_of(other_values[0])
    return f"not {text_of(table.roles.positive)}"


def _direction_repairs(table: CheckedTable, kind: str, kinds: frozenset[str]) -> list[Repair]:
    """Return the changes of roles that remove the fact and raise no other, each tried on the records.

    To audit one of two answers alone is the last resort, as what the other reveals is not audited then.
    """
    roles = table.input_roles
    options = [*_other_meanings(table), *_other_values(table), *_other_scores(table)]
    repairs = _repairs_that_work(table, options, kind, kinds)
    if repairs or not (roles.prediction and roles.score):
        return repairs
    options = []
    for role, other_column in (("score", roles.prediction), ("prediction", roles.score)):
        column = str(getattr(roles, role))
        changes: Changes = {role: "", "excluded": (*roles.excluded, column)}
        result = f"{text_of(other_column)} is audited alone. What {text_of(column)} reveals is not."
        title = f"Audit {text_of(other_column)} alone"
        options.append(Repair(title=title, changes=changes, result=result))
    return _repairs_that_work(table, options, kind, kinds)


def _other_values(table: CheckedTable) -> list[Repair]:
    """Return the repairs that the answers are about another value of the label."""
    about = text_of(table.roles.score or table.roles.prediction)
    other_values = [value for value in table.label[1] if value != table.roles.positive]
    return [
        Repair(
            title=f"Turn round: it predicts {text_of(value)}",
            changes={"positive": value},
            result=f"{about} is turned round: it predicts {text_of(table.roles.label)} = {text_of(value)}.",
        )
        for value in other_values[:MOST_REPAIRS]
    ]


def _other_meanings(table: CheckedTable) -> list[Repair]:
    """Return the repair that the prediction's other value stands for the positive label, where one was chosen."""
    roles = table.roles
    if not roles.prediction_positive:
        return []
    outcome = f"{text_of(roles.label)} = {text_of(roles.positive)}"
    values = text_codes(table.frame[roles.prediction])[1]
    return [
        Repair(
            title=f"{text_of(value)} means {outcome}",
            changes={"prediction_positive": value},
            result=f"{text_of(value)} of {text_of(roles.prediction)} means {outcome}.",
        )
        for value in values
        if value != roles.prediction_positive and len(values) == 2
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
            repairs.append(
                Repair(
                    title=f"{text_of(name)} is the score",
                    changes={"score": name, "excluded": excluded},
                    result=f"{text_of(name)} is the score, and {text_of(roles.score)} is left out.",
                )
            )
    return repairs


def _repairs_that_work(
    table: CheckedTable, options: list[Repair], kind: str, kinds: frozenset[str]
) -> list[Repair]:
    """Return the repairs after which the fact is gone and no other has come, those that remove most first."""
    left: list[tuple[int, Repair]] = []
    for option in options:
        changed = replace(table, input_roles=replace(table.input_roles, **option.changes))  # type: ignore[arg-type]
        after = _problems(changed)
        if kind not in after and after.keys() <= kinds:
            left.append((len(after), option))
    return [option for _, option in sorted(left, key=lambda pair: pair[0])]


def meaning_facts(table: CheckedTable) -> Iterable[Fact]:
    """Say that the prediction is not written as the label is, and what its values then mean."""
    roles = table.roles
    if not table.has(roles.prediction) or roles.positive not in table.label[1]:
        return
    codes, texts = text_codes(table.frame[roles.prediction])
    meaning = roles.prediction_positive
    prediction = text_of(roles.prediction)
    outcome = f"{text_of(roles.label)} = {text_of(roles.positive)}"
    if not meaning and not is_unreadable(texts, table.label[1], roles.positive):
        return
    order, evidence = _evidence_of_meaning(table, codes, texts)
    by_number = is_numeric(table.frame[roles.prediction]) and len(texts) > 2
    titles = {value: f"{text_of(value)} means {outcome}" for value in order}
    repairs = [
        Repair(
            title=title,
            changes={"prediction_positive": value},
            result=f"{title} in {prediction}; any other value means the other outcome.",
        )
        for value, title in titles.items()
        if value != meaning and not by_number
    ]
    if meaning in texts:
        if table.settings:
            yield table.fact(
                "prediction_values",
                Severity.GUESS,
                f"{titles[meaning]} in {prediction}.",
                evidence,
                key="data.prediction_positive",
                columns=(roles.prediction,),
                repairs=repairs[:MOST_REPAIRS],
                confirm=titles[meaning],
            )
        return
    point = (
        f"{prediction} is {_alternatives(order)}, and {text_of(roles.label)} is {_alternatives(table.label[1])}: "
        f"which value of {prediction} means {outcome}?"
    )
    if by_number:
        evidence = f"{evidence} If these are scores, give the column the role Score."
    yield table.fact(
        "prediction_values",
        Severity.BLOCKING,
        point,
        evidence,
        key="data.prediction_positive",
        columns=(roles.prediction,),
        repairs=repairs[:MOST_REPAIRS],
        confirm="",
    )


def _alternatives(values: Sequence[str]) -> str:
    """Return values as a sentence says that one of them stands in a cell."""
    names = [text_of(value) for value in values[:_MOST_VALUES]]
    if len(values) > _MOST_VALUES:
        return f"{', '.join(names)} or {len(values) - _MOST_VALUES} more"
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _evidence_of_meaning(
    table: CheckedTable, codes: Ints, texts: tuple[str, ...]
) -> tuple[list[str], str]:
    """Return the prediction's values, those with the positive label most often first, and how often that is."""
    shares: dict[str, float] = {}
    means: dict[str, float] = {}
    for code, value in enumerate(texts):
        rows = table.audited & (codes == code)
        if not rows.any():
            shares[value] = 0.0
            continue
        shares[value] = float(table.positive[rows].mean())
        if table.scores is not None:
            scores = table.scores[rows]
            if not np.isnan(scores).all():
                means[value] = float(np.nanmean(scores))
    order = sorted(texts, key=lambda value: (-shares[value], -means.get(value, 0.0)))
    listing = ", ".join(
        f"{percent(shares[value])} of {text_of(value)}" for value in order[:_MOST_VALUES]
    )
    evidence = f"{text_of(table.roles.label)} is {text_of(table.roles.positive)} for {listing}."
    if means:
        numbers = ", ".join(
            f"{means[value]:.2f} for {text_of(value)}"
            for value in order[:_MOST_VALUES]
            if value in means
        )
        evidence += f" Mean {text_of(table.roles.score)}: {numbers}."
    return order, evidence


_PERMUTATIONS = 9_999


def output_facts(table: CheckedTable) -> Iterable[Fact]:
    """Say that answers are the same for everybody, or missing for some."""
    roles = table.roles
    if table.predictions is None:
        predictions = np.zeros(0, dtype=np.int64)
    else:
        predictions = table.predictions[table.audited]
    if roles.prediction and np.unique(predictions[predictions >= 0]).size == 1:
        yield table.fact(
            "constant_prediction",
            Severity.NOTE,
            f"{text_of(roles.prediction)} says the same of everybody.",
            key="",
            columns=(roles.prediction,),
        )
    if table.scores is not None:
        present = table.scores[table.audited & ~np.isnan(table.scores)]
        if present.size and present.min() == present.max():
            text = f"{text_of(roles.score)} is {present[0]:g} for everybody."
            yield table.fact("constant_score", Severity.NOTE, text, key="", columns=(roles.score,))
    yield from _absence(table)


def _absence(table: CheckedTable) -> Iterable[Fact]:
    """Say how many people have no answer, by group, and whether that can be chance."""
    absent = np.zeros(len(table.frame), dtype=bool)
    columns = [name for name in table.answers if table.has(name)]
    for name in columns:
        absent |= table.frame[name].isna().to_numpy(dtype=bool)
    absent &= table.audited
    if not absent.any() or table.groups.max() < 1:
        return
    groups = table.groups[table.audited]
    sizes = np.bincount(groups)
    missing = np.bincount(table.groups[absent], minlength=sizes.size)
    names = table.grouping[1]
    order = np.argsort(-missing / np.maximum(sizes, 1), kind="stable").tolist()
    rates = [
        f"{missing[code]:,} of {sizes[code]:,} in group {text_of(names[code])}"
        for code in order[:2]
    ]
    p_value = absence_p_value(missing, sizes)
    test = "exact test" if sizes.size == 2 else "permutation test"
    if p_value < 0.001:
        p_text = "p < 0.001"
    else:
        p_text = f"p = {p_value:.3f}"
    point = f"No answer of the model: {', '.join(rates)} ({test}, {p_text})."
    if p_value < 0.05:
        more = f"Who has none can reveal {text_of(table.roles.attribute)}."
        severity = Severity.CAUTION
    else:
        more = ""
        severity = Severity.NOTE
    yield table.fact("absence", severity, point, more, key="", columns=tuple(columns), confirm="")


def absence_p_value(missing: Ints, sizes: Ints) -> float:
    """Return the probability of missing answers that differ so much between groups, if group and absence are unrelated.

    Of two groups Fisher's exact test; of more the share of permutations with a chi-square statistic at least as large.
    """
    if sizes.size == 2:
        from scipy.stats import fisher_exact

        return float(fisher_exact([missing.tolist(), (sizes - missing).tolist()]).pvalue)
    expected = sizes * missing.sum() / sizes.sum()
    variance = expected * (1 - missing.sum() / sizes.sum())
    if not (variance > 0).all():
        return 1.0
    draws = child_generator(0, "absence by group").multivariate_hypergeometric(
        sizes.astype(np.int64), int(missing.sum()), size=_PERMUTATIONS, method="marginals"
    )
    statistic = float(((missing - expected) ** 2 / variance).sum())
    statistics = ((draws - expected) ** 2 / variance).sum(axis=1)
    return float((1 + (statistics >= statistic - 1e-9).sum()) / (1 + _PERMUTATIONS))


def repeated_records(table: CheckedTable) -> Iterable[Fact]:
    """Say how many records equal another one in every column that is used but the set, which copies may differ in."""
    import pandas as pd

    left_out = {*table.roles.excluded, table.roles.person, table.roles.sets}
    names = [name for name in table.frame.columns if name not in left_out]
    rows = np.arange(len(table.frame))
    kinds = np.zeros(rows.size, dtype=np.int64)
    # columns of numbers first: most records are alone after one of them, and need no second look
    for name in sorted(names, key=lambda name: not is_numeric(table.frame[name])):
        cells = table.frame[name].iloc[rows]
        if is_numeric(cells):
            codes = cells.factorize()[0]
        else:
            codes = text_codes(cells)[0]
        kinds = pd.factorize(kinds * (int(codes.max(initial=0)) + 2) + codes + 1)[0]
        repeated = np.bincount(kinds)[kinds] > 1
        rows = rows[repeated]
        kinds = kinds[repeated]
        if not rows.size:
            return
    yield table.fact(
        "repeated_records",
        Severity.NOTE,
        f"{rows.size:,} of {len(table.frame):,} records equal another one in every column.",
        key="",
    )
