"""Facts about a model's answers: their direction, constant and missing ones; and records that repeat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ..base.validation import Floats, Ints, Mask, child_generator
from ..stats.estimates import Estimate, normal_quantile, percent
from .checked_table import (
    LEVEL,
    MOST_REPAIRS,
    Changes,
    CheckedTable,
    Fact,
    Repair,
    Severity,
    disagreement,
    text_codes,
)
from .columns import is_numeric, is_unreadable, listed, text_of
from .name_patterns import few_texts, is_share

CONTRADICTION = 0.05
"""Share of the predictions that may not follow from the scores."""

_MOST_VALUES = 4
"""Values of a prediction that a sentence names."""

_MOST_GROUPS = 20
"""Values of a column up to which each may have a threshold of its own."""


def _accuracy_of(table: CheckedTable) -> tuple[float, float, Estimate] | None:
    """Accuracy of the predictions that there are, of always guessing the majority, and TPR - FPR.

    The difference is negative where they point the other way than the label. None if only one label value has some.
    """
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
    half = normal_quantile(LEVEL) * error
    gap = Estimate(
        value=tpr - fpr, low=tpr - fpr - half, high=tpr - fpr + half, n=truth.size, level=LEVEL
    )
    accuracy = float((predicted == truth).mean())
    return accuracy, max(n_positive, n_negative) / truth.size, gap


def _is_inverted(accuracy: float, majority: float, gap: Estimate) -> bool:
    """Whether guessing the majority is better, and so is the opposite of each prediction, beyond chance."""
    return accuracy < majority and accuracy < 1.0 - accuracy and gap.high < 0.0


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
    agreement = _accuracy_of(table)
    if agreement is None or _is_inverted(*agreement):
        return
    accuracy, majority, gap = agreement
    if gap.value != 0.0 and accuracy < min(0.5, majority):
        text = (
            f"The predictions' accuracy is {percent(accuracy)}, that of always guessing the majority "
            f"{percent(majority)}."
        )
        yield table.fact("below_majority", Severity.NOTE, text)


def _problems(table: CheckedTable) -> dict[str, tuple[str, str]]:
    """Return what points the other way: kinds of the blocking facts, and of each its point and its evidence."""
    problems = {}
    agreement = _accuracy_of(table)
    if agreement is not None and _is_inverted(*agreement):
        accuracy, majority, _ = agreement
        problems["inverted_predictions"] = _inverted_text(table, accuracy, majority)
    if (contradiction := _contradiction(table)) is not None:
        problems["contradiction"] = contradiction
    if table.area is not None and table.area.high < 0.5:
        problems["reversed_score"] = _reversed_text(table, table.area)
    return problems


def _contradiction(table: CheckedTable) -> tuple[str, str] | None:
    """Point and evidence that no threshold on the scores explains enough of the predictions; None where one does.

    A fair model may have a threshold for each group; of which column is not known, so each with few values is tried.
    A constant score contradicts nothing.
    """
    if not table.roles.prediction or table.predictions is None or table.scores is None:
        return None
    rows = table.rows[(table.predictions[table.rows] >= 0) & ~np.isnan(table.scores[table.rows])]
    predictions = table.predictions[rows]
    scores = table.scores[rows]
    if not rows.size or scores.min() == scores.max():
        return None
    most = CONTRADICTION * rows.size
    straight, opposite = disagreement(predictions, scores, table.groups[rows])
    is_reversed = opposite < straight
    if straight > most and not is_reversed:
        straight = min(straight, *_disagreement_by_column(table, rows, predictions, scores))
    if straight <= most:
        return None
    score = text_of(table.roles.score)
    prediction = text_of(table.roles.prediction)
    at_threshold = int(((scores >= table.roles.threshold) != (predictions == 1)).sum())
    point = (
        f"{prediction} contradicts {score} in {at_threshold:,} of {rows.size:,} records"
        f"{table.sampled}."
    )
    more = f"With the best threshold for each group it does in {straight:,}"
    if is_reversed:
        more += f", read as the score of {_other_value(table)} in {opposite:,}"
    return point, f"{more}."


def _disagreement_by_column(
    table: CheckedTable, rows: Ints, predictions: Ints, scores: Floats
) -> Iterable[int]:
    """Yield in how many records predictions and scores disagree with a threshold for each value of a column."""
    for name in table.frame.columns:
        if name in (*table.answers, table.roles.label) or not few_texts(
            table.frame[name], _MOST_GROUPS
        ):
            continue
        groups = text_codes(table.frame[name].iloc[rows])[0]
        yield disagreement(predictions, scores, groups)[0]


def _inverted_text(table: CheckedTable, accuracy: float, majority: float) -> tuple[str, str]:
    point = f"{text_of(table.roles.prediction or table.roles.score)} points the other way{table.sampled}."
    more = (
        f"Its accuracy is {percent(accuracy)}, of always guessing the majority {percent(majority)}, "
        f"of the opposite of each prediction {percent(1 - accuracy)}."
    )
    return point, more


def _reversed_text(table: CheckedTable, area: Estimate) -> tuple[str, str]:
    roles = table.roles
    point = f"{text_of(roles.score)} is lower where {text_of(roles.label)} is {text_of(roles.positive)}{table.sampled}."
    more = (
        f"Read as the score of {_other_value(table)}, it has an AUC of {1 - area.value:.3f} "
        f"(99% CI {1 - area.high:.3f} to {1 - area.low:.3f}, random guessing 0.500)."
    )
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
            columns=(roles.prediction,),
        )
    if table.scores is not None:
        present = table.scores[table.audited & ~np.isnan(table.scores)]
        if present.size and present.min() == present.max():
            text = f"{text_of(roles.score)} is {present[0]:g} for everybody."
            yield table.fact("constant_score", Severity.NOTE, text, columns=(roles.score,))
    yield from _absence(table)


_MOST_PARTS = 10
"""Values of another column up to which missing answers are compared by it."""

_GREAT_DIFFERENCE = 0.05
_SURELY = 0.001
"""Difference between shares of missing answers, and its p-value, from which on another column is named."""


def _absence(table: CheckedTable) -> Iterable[Fact]:
    """Say how many people have no answer, by group, and whether that can be chance; or by which other column it is not.

    Of other columns with few values the one with the largest difference is named.
    """
    absent = np.zeros(len(table.frame), dtype=bool)
    columns = [name for name in table.answers if table.has(name)]
    for name in columns:
        absent |= table.frame[name].isna().to_numpy(dtype=bool)
    absent &= table.audited
    if not absent.any() or table.groups.max() < 1:
        return
    attribute = text_of(table.roles.attribute)
    difference, p_value, rates = _absence_by(table, absent, table.groups, table.grouping[1])
    point = f"No answer of the model: {rates}."
    if p_value < 0.05:
        severity = Severity.CAUTION
        more = f"Who has none can reveal {attribute}."
    else:
        severity = Severity.NOTE
        more = ""
    greatest = difference
    for name in table.features:
        codes, texts = _few_codes(table, name)
        if not 2 <= len(texts) <= _MOST_PARTS:
            continue
        difference, p_value, rates_by_name = _absence_by(table, absent, codes, texts)
        if p_value >= _SURELY or difference < max(greatest, _GREAT_DIFFERENCE):
            continue
        greatest = difference
        severity = Severity.CAUTION
        of_people = f"{int(absent.sum()):,} of {int(table.audited.sum()):,} people"
        point = f"No answer of the model for {of_people}, by {text_of(name)}: {rates_by_name}."
        more = f"Who has none can reveal {text_of(name)}, which is not audited. By {attribute}: {rates}."
    yield table.fact("absence", severity, point, more, columns=tuple(columns), confirm="")


def _few_codes(table: CheckedTable, name: str) -> tuple[Ints, tuple[str, ...]]:
    """Return codes and texts of a column with few values; no texts of one with more."""
    if not few_texts(table.frame[name], _MOST_PARTS):
        return np.full(len(table.frame), -1), ()
    return text_codes(table.frame[name])


def _absence_by(
    table: CheckedTable, absent: Mask, codes: Ints, names: Sequence[str]
) -> tuple[float, float, str]:
    """Return how much the shares without an answer differ between parts, the p-value of that, and the two extremes."""
    audited = codes[table.audited]
    sizes = np.bincount(audited[audited >= 0], minlength=len(names))
    missing_codes = codes[absent]
    missing = np.bincount(missing_codes[missing_codes >= 0], minlength=len(names))
    present = sizes > 0
    if present.sum() < 2:
        return 0.0, 1.0, ""
    shares = missing / np.maximum(sizes, 1)
    order = [code for code in np.argsort(-shares, kind="stable").tolist() if present[code]]
    extremes = (order[0], order[-1])
    rates = ", ".join(
        f"{missing[code]:,} of {sizes[code]:,} in group {text_of(names[code])} ({percent(shares[code])})"
        for code in extremes
    )
    p_value = absence_p_value(missing[present], sizes[present])
    test = "exact test" if present.sum() == 2 else "permutation test"
    if p_value < 0.001:
        p_text = "p < 0.001"
    else:
        p_text = f"p = {p_value:.3f}"
    difference = float(shares[extremes[0]] - shares[extremes[1]])
    return difference, p_value, f"{rates} ({test}, {p_text})"


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

    roles = table.roles
    left_out = {*roles.excluded, roles.person, roles.sets}
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
    ignored = [name for name in map(str, table.frame.columns) if name in left_out]
    but_for = f" but for {listed(ignored)}" * bool(ignored)
    yield table.fact(
        "repeated_records",
        Severity.NOTE,
        f"{rows.size:,} of {len(table.frame):,} records equal another one in every column{but_for}.",
    )
