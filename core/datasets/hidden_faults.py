"""Faults of a table that no column shows by itself: each hides a leak, or turns what fairness is counted on.

- ``threshold``: labels are scores from a threshold on, which gives nearly nobody one of the labels.
- ``reversed_part``: the score, or the prediction, points the other way within one value of a column.
- ``label_near_prediction``: label and prediction agree for almost all test records, as where they are one decision.
- ``sets_reversed``: the score tells the label better among the test records than among those of training.
- ``trained_on_test``: the score tells the label of the test records as it would tell that of training records.
- ``repeated``: test records equal training records in every column that is used.
- ``near_repeated``: test records agree with training records in nearly all columns.
- ``attribute_in_features``: the features together tell the attribute, so that no model could add to it.

None of them is certain. Each is a caution with its evidence, and a caveat of the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..base.validation import Floats, Ints, Mask, child_generator
from ..stats.estimates import Estimate, percent
from .checked_table import (
    CheckedTable,
    Fact,
    Severity,
    area_under_curve,
    halves,
    mean_ranks,
    numbers_or_codes,
    text_codes,
)
from .columns import finite_numbers, is_numeric, names_records, text_of
from .name_patterns import few_texts
from .splits import named_sets

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import Pipeline

_LEAST_RATIO = 0.2
"""Predicted share of a label, over its true share, below which the threshold is doubted."""

_MOST_VALUES = 20
"""Values of a column up to which each is looked at by itself."""

_FEWEST_RECORDS = 60
_FEWEST_TEST_RECORDS = 300
_MOST_FITTED = 4_000
_TREES = 50

_LEVEL_OF_PARTS = 0.999
"""Of the interval that says that a part points the other way: many parts are looked at."""

_SAME = 0.95
"""Balanced accuracy above which two columns, or the features together and a column, say the same."""

_AUC_MARGIN = 0.05
_STEEPEST = 1.5
"""Slope of the label's log-odds on those of the score above which a model is less sure than it should be.

A model is unsure of records that it was trained on in this way alone: it was right more often than it says. Held-out
models are at about 1, or below where they fit too closely.
"""

_MOST_SOUGHT = 400
_MOST_COMPARED = 10_000
_NEAR_RANKS = (0.01, 0.03)
"""Shares of the records by which two numbers may lie apart that are near each other: one or the other is tried."""

_FEWEST_NEAR = 10
_EQUAL_SHARE = 0.03
_NEAR_SHARE = 0.05
_TIMES_CHANCE = 5.0
"""Shares of the test records that equal a training record, or are near one, from which on it is said; and how often
that of two halves of the training records they must be."""

_MOST_RECORDS = 200_000
_MOST_COLUMNS = 3


def hidden_facts(table: CheckedTable) -> Iterable[Fact]:
    """Say which faults a table may have that no column shows by itself."""
    if not table.label[1] or not table.positive.any():
        return
    yield from _threshold(table)
    yield from _reversed_parts(table)
    yield from _label_near_prediction(table)
    yield from _sets_reversed(table)
    yield from _trained_on_test(table)
    yield from _repeated(table)
    yield from _near_repeated(table)
    yield from _attribute_in_features(table)


def _caution(
    table: CheckedTable, kind: str, point: str, more: str, columns: tuple[str, ...]
) -> Fact:
    return table.fact(kind, Severity.CAUTION, point, more, columns=columns, confirm="")


def _threshold(table: CheckedTable) -> Iterator[Fact]:
    """Say that a threshold on the score gives a label to a far smaller share than has it."""
    roles = table.roles
    if roles.prediction or table.scores is None or table.area is None or table.area.low <= 0.5:
        return
    rows = table.rows[~np.isnan(table.scores[table.rows])]
    above = float((table.scores[rows] >= roles.threshold).mean())
    positive = float(table.positive[rows].mean())
    if min(above / positive, (1 - above) / (1 - positive)) >= _LEAST_RATIO:
        return
    score = text_of(roles.score)
    yield _caution(
        table,
        "threshold",
        f"{score} is at least {roles.threshold:g} for {percent(above)}, and {text_of(roles.label)} is "
        f"{text_of(roles.positive)} for {percent(positive)} of the people.",
        "Labels and fairness are those of this threshold. Where decisions are made at another, they would be judged "
        "wrong: set the threshold, or give the decisions the role Prediction.",
        (roles.score,),
    )


def _answers(table: CheckedTable) -> tuple[str, Floats] | None:
    """Return the name of the score, or else of the prediction, and its numbers, nan where there is none."""
    if table.scores is not None:
        return table.roles.score, table.scores
    if table.predictions is not None:
        return table.roles.prediction, np.where(
            table.predictions < 0, np.nan, table.predictions.astype(np.float64)
        )
    return None


def _reversed_parts(table: CheckedTable) -> Iterator[Fact]:
    """Say within which values of columns the model's answer points the other way than among everybody."""
    answers = _answers(table)
    if answers is None:
        return
    answer, numbers = answers
    rows = table.rows[~np.isnan(numbers[table.rows])]
    overall = area_under_curve(table.positive[rows], numbers[rows])
    if overall is None or overall.value <= 0.5:
        return  # which blocks as a whole
    for name in table.frame.columns:
        if name in (*table.answers, table.roles.label, table.roles.person) or not few_texts(
            table.frame[name], _MOST_VALUES
        ):
            continue
        codes, texts = text_codes(table.frame[name].iloc[rows])
        for code, value in enumerate(texts):
            part = rows[codes == code]
            area = _reversed_area(table.positive[part], numbers[part])
            if area is None:
                continue
            yield _caution(
                table,
                "reversed_part",
                f"{text_of(answer)} points the other way where {text_of(name)} is {text_of(value)}.",
                f"AUC {area.value:.3f} there ({part.size:,} records), {overall.value:.3f} among everybody. A part that "
                "was turned round hides leaks and turns fairness. Check how it was exported.",
                (answer,),
            )


def _reversed_area(positive: Mask, numbers: Floats) -> Estimate | None:
    """Return the area of a part whose 99.9% interval lies below one half; None otherwise."""
    if positive.size < _FEWEST_RECORDS:
        return None
    area = area_under_curve(positive, numbers, level=_LEVEL_OF_PARTS)
    if area is None or area.high >= 0.5:
        return None
    return area


def _sets(table: CheckedTable) -> tuple[Ints, Ints]:
    """Return the audited training and test records by the column of sets; empty without one."""
    none = np.zeros(0, dtype=np.int64)
    column = table.roles.sets
    if not table.has(column):
        return none, none
    codes, texts = text_codes(table.frame[column])
    names = named_sets(texts, column, table.roles.training_value)
    return tuple(  # type: ignore[return-value]
        np.flatnonzero(
            table.audited & np.isin(codes, [texts.index(v) for v, n in names.items() if n == name])
        )
        for name in ("train", "test")
    )


def _label_near_prediction(table: CheckedTable) -> Iterator[Fact]:
    """Say that label and prediction agree for almost all records that the model was not trained on."""
    if not table.roles.prediction or table.predictions is None:
        return
    _, test = _sets(table)
    rows = test if test.size else np.flatnonzero(table.audited)
    rows = rows[table.predictions[rows] >= 0]
    truth = table.positive[rows]
    predicted = table.predictions[rows] == 1
    if min(truth.sum(), (~truth).sum()) < _FEWEST_RECORDS or (truth == predicted).all():
        return
    agreement = float((predicted[truth].mean() + (~predicted[~truth]).mean()) / 2)
    if agreement <= _SAME:
        return
    yield _caution(
        table,
        "label_near_prediction",
        f"{text_of(table.roles.label)} and {text_of(table.roles.prediction)} agree for "
        f"{percent(float((truth == predicted).mean()))} of the {'test ' * bool(test.size)}records.",
        "Is the label what really happened? Where it is the decision itself, an audit against it misses leaks.",
        (table.roles.label, table.roles.prediction),
    )


def _sets_reversed(table: CheckedTable) -> Iterator[Fact]:
    """Say that the score is better on test than on training records, as where the sets are turned round."""
    if table.scores is None or table.area is None or table.area.low <= 0.5:
        return  # a score that points the other way blocks as a whole
    areas = []
    for rows in _sets(table):
        answered = rows[~np.isnan(table.scores[rows])]
        areas.append(area_under_curve(table.positive[answered], table.scores[answered]))
    train, test = areas
    if train is None or test is None or train.high >= test.low:
        return
    yield _caution(
        table,
        "sets_reversed",
        f"{text_of(table.roles.score)} is better on the records that {text_of(table.roles.sets)} calls test.",
        f"AUC {test.value:.3f} there, {train.value:.3f} on those of training. If it is the other way round, strangers "
        "are taken for training records, and no membership attack can find anything.",
        (table.roles.sets,),
    )


def _trained_on_test(table: CheckedTable) -> Iterator[Fact]:
    """Say that the score knows more of the test records than a model that was not trained on them."""
    _, test = _sets(table)
    if table.scores is None:
        return
    rows = _drawn(test[~np.isnan(table.scores[test])])
    truth = table.positive[rows]
    if (
        rows.size < _FEWEST_TEST_RECORDS
        or min(truth.sum(), (~truth).sum()) < _FEWEST_RECORDS
        or not _features(table)
    ):
        return
    area = area_under_curve(truth, table.scores[rows])
    slope = _calibration_slope(table.scores[rows], truth)
    if area is None or slope <= _STEEPEST:
        return
    matrix = _matrix(table, rows)
    fitted = np.zeros(rows.size)
    for teachers, evaluated in halves(rows.size):
        if truth[teachers].all() or not truth[teachers].any():
            return
        fitted[evaluated] = (
            _trees().fit(matrix[teachers], truth[teachers]).predict_proba(matrix[evaluated])[:, 1]
        )
    expected = area_under_curve(truth, fitted)
    if expected is None or area.value <= expected.value + _AUC_MARGIN:
        return
    yield _caution(
        table,
        "trained_on_test",
        f"{text_of(table.roles.score)} may come from a model that was trained on the test records.",
        f"There its AUC is {area.value:.3f}; trees that learn from the features of other test records reach "
        f"{expected.value:.3f}. And it is right more often than it says (slope {slope:.1f}, 1 is calibrated). If so, "
        "no membership attack can find anything, and a leak would read as a pass.",
        (table.roles.score,),
    )


def _drawn(rows: Ints) -> Ints:
    """Return rows in random order, so many at most as trees are fitted to."""
    return child_generator(0, "hidden faults").permutation(rows)[:_MOST_FITTED]


def _trees() -> HistGradientBoostingClassifier:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=_TREES, early_stopping=False, random_state=0)


def _features(table: CheckedTable) -> list[str]:
    """Return the features that an audit keeps: no dates, and nothing that names the records."""
    return [
        name
        for name in table.features
        if table.frame[name].dtype.kind not in "mM" and not names_records(table.frame[name], name)
    ]


def _matrix(table: CheckedTable, rows: Ints) -> Floats:
    """Return the features of some rows: numbers as they are, texts as codes."""
    return np.column_stack(
        [numbers_or_codes(table.frame[name].iloc[rows]) for name in _features(table)]
    )


def _calibration_slope(scores: Floats, truth: Mask) -> float:
    """Return the slope of a logistic regression of the label on the score's log-odds; 0 for scores outside [0, 1]."""
    from sklearn.linear_model import LogisticRegression

    if scores.min() < 0.0 or scores.max() > 1.0 or scores.min() == scores.max():
        return 0.0
    clipped = np.clip(scores, 1e-3, 1 - 1e-3)
    log_odds = np.log(clipped / (1 - clipped))[:, None]
    return float(LogisticRegression(C=1e6).fit(log_odds, truth).coef_[0, 0])


def _repeated(table: CheckedTable) -> Iterator[Fact]:
    """Say that test records equal training records in every column that is used."""
    train, test = _sets(table)
    if not _may_repeat(table, train, test):
        return
    marks = _marks(table)
    first, second = np.array_split(child_generator(0, "halves").permutation(train), 2)
    equal = np.isin(marks[test], marks[train])
    equal_by_chance = float(np.isin(marks[first], marks[second]).mean())
    if equal.mean() <= max(_EQUAL_SHARE, _TIMES_CHANCE * equal_by_chance):
        return
    yield _caution(
        table,
        "repeated",
        f"{int(equal.sum()):,} of {test.size:,} test records equal a training record in every column that is used.",
        "If they are the same people, the test is not of strangers, and a leak reads smaller than it is. Give the "
        "column that identifies people the role Person, or leave these records out.",
        (),
    )


def _near_repeated(table: CheckedTable) -> Iterator[Fact]:
    """Say that test records agree with a training record in nearly all columns, and training records seldom do so.

    Up to 400 test records are compared with half of the training records, and as many of the other half with the same
    ones: where the sets were drawn from the same people at random, both agree with them as much.
    """
    train, test = _sets(table)
    if not _may_repeat(table, train, test):
        return
    rng = child_generator(0, "near repeated")
    first, second = np.array_split(rng.permutation(train)[: 2 * _MOST_COMPARED], 2)
    tested = rng.permutation(test)[:_MOST_SOUGHT]
    columns = _compared_columns(table)
    marks = _marks(table)
    equal = np.isin(marks[tested], marks[train])  # which is said by itself
    signs = []
    for distance in _NEAR_RANKS:
        agreeing = _most_agreeing(columns, tested, second, distance)
        agreeing[equal] = 0
        by_chance = _most_agreeing(columns, first[:_MOST_SOUGHT], second, distance)
        for count in range(1, len(columns) + 1):
            near = float((agreeing >= count).mean())
            near_by_chance = float((by_chance >= count).mean())
            if _is_far_above(near, near_by_chance, agreeing.size, by_chance.size):
                signs.append((near, near_by_chance, count))
    if signs:
        near, near_by_chance, count = max(signs)
        yield _near_caution(table, near, near_by_chance, f"{count} of {len(columns)}")


def _is_far_above(near: float, by_chance: float, n: int, n_by_chance: int) -> bool:
    """Whether a share of n records is one of many, and many times that by chance; none of n may be 3 of n."""
    least = max(_NEAR_SHARE, _FEWEST_NEAR / n)
    return near > max(least, _TIMES_CHANCE * (by_chance + 3 / n_by_chance))


def _near_caution(table: CheckedTable, near: float, by_chance: float, columns: str) -> Fact:
    return _caution(
        table,
        "near_repeated",
        f"{percent(near)} of the test records are near a training record in {columns} columns; of "
        f"training records {percent(by_chance)} are near another.",
        "If they are the same people, the test is not of strangers, and a leak would read as a pass. Give the "
        "column that identifies people the role Person, or leave these records out.",
        (),
    )


def _may_repeat(table: CheckedTable, train: Ints, test: Ints) -> bool:
    """Whether there are records enough to look for people on both sides, and no column that keeps each on one."""
    too_many = len(table.frame) > _MOST_RECORDS
    return min(train.size, test.size) >= _FEWEST_RECORDS and not too_many and not table.roles.person


def _compared_names(table: CheckedTable) -> list[str]:
    """Return features, label and attribute: the columns in which records are compared."""
    names = (*_features(table), table.roles.label, table.roles.sensitive)
    return [name for name in names if table.has(name)]  # an attribute may not be chosen yet


def _compared_columns(table: CheckedTable) -> list[npt.NDArray[np.float32]]:
    """Return features, label and attribute: numbers as their ranks from 0 to 1, texts as codes; nan where missing."""
    columns = []
    for name in _compared_names(table):
        column = table.frame[name]
        if is_numeric(column):
            columns.append((mean_ranks(finite_numbers(column)) / len(column)).astype(np.float32))
        else:
            codes = text_codes(column)[0].astype(np.float32)
            columns.append(np.where(codes < 0, np.float32(np.nan), codes))
    return columns


def _most_agreeing(
    columns: list[npt.NDArray[np.float32]], records: Ints, compared: Ints, distance: float
) -> Ints:
    """Return in how many columns a record agrees, with that of the compared ones with which it agrees in most.

    Texts agree where they are equal, numbers where `distance` of all records or less lies between them, and what is
    missing with what is missing.
    """
    most = []
    for batch in np.array_split(records, max(1, records.size // 100)):
        agreeing = np.zeros((batch.size, compared.size), dtype=np.int16)
        for column in columns:
            left = column[batch][:, None]
            right = column[compared]
            agreeing += np.abs(left - right) <= distance
            agreeing += np.isnan(left) & np.isnan(right)
        most.append(agreeing.max(axis=1))
    return np.concatenate(most)


def _marks(table: CheckedTable) -> Ints:
    """Return a 64-bit number for each record, the same for those that are equal in features, label and attribute.

    It is the sum, which wraps around, of a random one for each value: two different records have the same by a chance
    of 2^-64.
    """
    marks = np.zeros(len(table.frame), dtype=np.uint64)
    for name in _compared_names(table):
        column = table.frame[name]
        if is_numeric(column):
            codes = column.factorize()[0]
        else:
            codes = text_codes(column)[0]
        rng = child_generator(0, f"marks of {name}")
        drawn = rng.integers(0, 2**64, size=int(codes.max(initial=0)) + 2, dtype=np.uint64)
        marks += drawn[codes + 1]
    return marks.view(np.int64)


def _attribute_in_features(table: CheckedTable) -> Iterator[Fact]:
    """Say that the features together tell the attribute, by trees or a linear model on the half not fitted."""
    names = table.grouping[1]
    features = _features(table)
    if len(names) < 2 or not features:
        return
    rows = _drawn(np.flatnonzero(table.audited))
    groups = table.groups[rows]
    half = rows.size // 2
    fewest = np.bincount(groups[:half], minlength=len(names)).min()
    if min(fewest, np.bincount(groups[half:], minlength=len(names)).min()) < _FEWEST_RECORDS / 2:
        return
    matrix = _matrix(table, rows)
    trees = _trees().fit(matrix[:half], groups[:half], sample_weight=_balanced(groups[:half]))
    linear = _linear_classifier().fit(matrix[:half], groups[:half])
    accuracies = {
        model: _balanced_accuracy(model.predict(matrix[half:]), groups[half:])
        for model in (trees, linear)
    }
    model = max(accuracies, key=lambda fitted: accuracies[fitted])
    reached = accuracies[model]
    if reached <= _SAME:
        return
    losses = {}
    for position, name in enumerate(features):
        without = matrix[half:].copy()
        without[:, position] = child_generator(0, name).permutation(without[:, position])
        losses[name] = reached - _balanced_accuracy(model.predict(without), groups[half:])
    most = sorted(losses, key=lambda name: -losses[name])[:_MOST_COLUMNS]
    listed = ", ".join(text_of(name) for name in most if losses[name] > 0.0)
    yield _caution(
        table,
        "attribute_in_features",
        f"The features together tell {text_of(table.roles.attribute)} with a balanced accuracy of {percent(reached)}.",
        "What the model reveals cannot add to that, so a leak would read as a pass. If some come from the model, or "
        f"are the attribute in other words, leave them out; these tell most: {listed}.",
        tuple(most),
    )


def _linear_classifier() -> Pipeline:
    """Return a logistic regression of the principal components, all of one scale: small differences count as well."""
    from sklearn.decomposition import PCA
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        SimpleImputer(strategy="median"),
        StandardScaler(),
        PCA(whiten=True),
        LogisticRegression(class_weight="balanced", max_iter=500),
    )


def _balanced(groups: Ints) -> Floats:
    """Return weights with which each group counts the same."""
    return np.asarray(1.0 / np.bincount(groups)[groups], dtype=np.float64)


def _balanced_accuracy(guess: Ints, groups: Ints) -> float:
    right = np.bincount(groups[guess == groups], minlength=int(groups.max()) + 1)
    return float((right / np.maximum(1, np.bincount(groups))).mean())
