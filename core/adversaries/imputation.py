"""Attribute inference from features and label alone: what every attack on a release is compared with.

The records whose attribute the attacker knows are cut once: learners, and validation records that choose. Stage one is
out of fold over the learners, so that what stage two learns from is as uncertain as what it is asked about: log-odds of
the groups (a) by boosting, which sees products of features, and (b) by logistic regression on standardised numbers and
one-hot categories, which is a frequency table where categories are many. Stage two combines them: a regression on the
odds, boosting on odds and features, and the mean of their log posteriors; the one with the lowest log-loss on the
validation records is the imputation. It depends on features, label, known records and seed alone, never on a model.

One pipeline serves imputation and the attacks on outputs (`core.adversaries.released_outputs`): same records, same
folds, same learners, so that an attack on outputs that say nothing learns the features no better than imputation does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.validation import Floats, Ints, Mask, child_generator, child_seed

VALIDATION_SHARE = 0.3
"""Share of the known records that are kept to choose by."""

MOST_CODES = 255
"""Most codes of a category that boosting takes as categories."""

_FOLDS = 3

_FOLDS_OF_MANY = 2

_MANY = 30_000
"""From so many learners on there are two folds: what the third adds is small then, and it costs a third of the time."""

_EDGE = 1e-6

_FARTHEST = 8.0
"""Standard deviations at which a number is cut off in the regression."""

_PENALTIES = (0.1, 1.0, 10.0)
"""Values of C from which one is chosen where groups or categories are many for the records."""

_MANY_GROUPS = 5

_FEW_A_CODE = 10

_DENSE = 40
"""Most columns of a design that is kept dense."""

Rows = npt.NDArray[np.intp]
Groups = npt.NDArray[np.integer]

Predictor = Callable[[Any], Floats]
"""Returns columns of evidence, (n, c), about records of these columns."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnownRecords:
    """Records whose attribute the attacker knows: rows of learners, each in a fold, and of validation records.

    `known_rows` are both, and those known beyond them, from which nothing is learned but how many scores are equal.
    """

    learners: Rows
    fold: Ints
    validation: Rows
    known_rows: Rows

    @property
    def learned(self) -> Rows:
        """Rows of learners and validation records."""
        return np.concatenate([self.learners, self.validation])

    @property
    def n(self) -> int:
        """Number of learners and validation records."""
        return self.learners.size + self.validation.size


def known_records(known_rows: Rows, sensitive: Groups, *, seed: int) -> KnownRecords:
    """Return known records cut into learners and validation records, each group alike."""
    rng = child_generator(seed, f"known records, {known_rows.size}")
    parts: tuple[list[Rows], list[Rows]] = ([], [])
    for group in np.unique(sensitive[known_rows]):
        members = rng.permutation(known_rows[sensitive[known_rows] == group])
        n_learners = round((1.0 - VALIDATION_SHARE) * members.size)
        parts[0].append(members[:n_learners])
        parts[1].append(members[n_learners:])
    learners, validation = (rng.permutation(np.concatenate(part)) for part in parts)
    return known_records_with_folds(
        learners, validation, sensitive, seed=seed, known_rows=known_rows
    )


def known_records_with_folds(
    learners: Rows,
    validation: Rows,
    sensitive: Groups,
    *,
    seed: int,
    known_rows: Rows,
) -> KnownRecords:
    """Return learners and validation records with folds of the learners, every group spread evenly over them."""
    n_folds = _FOLDS if learners.size < _MANY else _FOLDS_OF_MANY
    order = child_generator(seed, f"attacker folds, {learners.size}").permutation(learners.size)
    fold = np.empty(learners.size, dtype=np.int64)
    fold[order[np.argsort(sensitive[learners][order], kind="stable")]] = (
        np.arange(learners.size) % n_folds
    )
    return KnownRecords(learners=learners, fold=fold, validation=validation, known_rows=known_rows)


def out_of_fold(
    records: KnownRecords, fit: Callable[[Rows], Predictor], columns: npt.NDArray[Any]
) -> tuple[Floats, list[Predictor]]:
    """Return what is said of each learner by what the other folds teach, and the predictors, one a fold.

    `fit` is called with the rows of the teaching learners; `columns` are those of all learners, in their order.
    """
    predictors = []
    values = None
    for number in range(int(records.fold.max()) + 1):
        outside = records.fold == number
        predictor = fit(records.learners[~outside])
        fold_values = predictor(columns[outside])
        if values is None:
            values = np.empty((records.learners.size, fold_values.shape[1]))
        values[outside] = fold_values
        predictors.append(predictor)
    assert values is not None
    return values, predictors


def mean_prediction(predictors: list[Predictor], columns: npt.NDArray[Any]) -> Floats:
    """Return the mean of what the predictors of all folds say."""
    total = predictors[0](columns)
    for predictor in predictors[1:]:
        total = total + predictor(columns)
    return total / len(predictors)


# ----------------------------------------------------------------------------------------------------------- learners


def fit_group_boosting(
    columns: Floats, groups: Groups, categorical: Mask, *, seed: int, slow: bool = False
) -> Any:
    """Return a fitted boosting of the group; a slow one combines evidence, in smaller steps of smaller trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    n = groups.size
    counts = np.bincount(groups)
    if slow:
        rounds = 300
        pace = {"learning_rate": 0.06, "max_leaf_nodes": 8, "l2_regularization": 1.0}
        patience = 10
    else:
        rounds = 200
        pace = {"learning_rate": 0.1, "max_leaf_nodes": 15, "l2_regularization": 0.0}
        patience = 8
    if n < 300:
        rounds = 40
    return HistGradientBoostingClassifier(
        categorical_features=categorical,
        **pace,
        min_samples_leaf=max(5, min(20, n // 50)),
        early_stopping=bool(n >= 300 and counts[counts > 0].min() >= 10),
        n_iter_no_change=patience,
        max_iter=rounds,
        random_state=seed,
    ).fit(columns, groups)


def fit_group_regression(columns: Any, groups: npt.NDArray[Any], *, penalty: float = 10.0) -> Any:
    """Return a fitted logistic regression of the group; `penalty` is the C of scikit-learn."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=penalty, max_iter=300).fit(columns, groups)


def log_posterior(model: Any, columns: Any, n_groups: int) -> Floats:
    """Return the log-probabilities of all groups, (n, K), by a fitted classifier; of a group it never saw a low one."""
    logs = np.full((columns.shape[0], n_groups), np.log(_EDGE))
    logs[:, model.classes_] = np.log(np.clip(model.predict_proba(columns), _EDGE, 1.0))
    return logs


def log_odds(logs: Floats) -> Floats:
    """Return log-odds against group 0, (n, K - 1)."""
    return logs[:, 1:] - logs[:, :1]


def normalised(logs: Floats) -> Floats:
    """Return probabilities, rows adding up to 1, from logs of any scale a row."""
    raised = np.exp(logs - logs.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def log_loss(probability: Floats, groups: Groups) -> float:
    """Return the mean log-loss of probabilities, (n, K)."""
    right = probability[np.arange(groups.size), groups]
    return float(-np.log(np.clip(right, _EDGE, 1.0)).mean())


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Columns as a linear model takes them: numbers standardised and cut off, categories one-hot, however many."""

    categorical: Mask
    centre: Floats
    scale: Floats
    codes: tuple[Floats, ...]

    @classmethod
    def of(cls, x: Floats, categorical: Mask) -> Design:
        """Return the design that these records give."""
        numbers = x[:, ~categorical]
        scale = numbers.std(axis=0)
        codes = tuple(np.unique(x[:, j]) for j in np.flatnonzero(categorical))
        return cls(categorical, numbers.mean(axis=0), np.where(scale > 0, scale, 1.0), codes)

    @property
    def n_codes(self) -> int:
        """Number of one-hot columns."""
        return sum(values.size for values in self.codes)

    def __call__(self, x: Floats) -> Any:
        """Return the columns of some records, as a sparse matrix where they are many."""
        numbers = np.clip(
            (x[:, ~self.categorical] - self.centre) / self.scale, -_FARTHEST, _FARTHEST
        )
        coded = x[:, self.categorical]
        if numbers.shape[1] + self.n_codes <= _DENSE:
            indicators = [coded[:, [j]] == values for j, values in enumerate(self.codes)]
            return np.column_stack([numbers, *indicators])
        from scipy import sparse

        blocks = [sparse.csr_matrix(numbers)]
        for j, values in enumerate(self.codes):
            index = np.minimum(np.searchsorted(values, coded[:, j]), values.size - 1)
            seen = np.flatnonzero(values[index] == coded[:, j])
            shape = (x.shape[0], values.size)
            blocks.append(sparse.csr_matrix((np.ones(seen.size), (seen, index[seen])), shape=shape))
        return sparse.hstack(blocks, format="csr")


def _odds(model: Any, n_groups: int, design: Callable[[Floats], Any], x: Floats) -> Floats:
    """Return the log-odds of a fitted classifier, (n, K - 1), about the columns that a design makes of some records.

    A predictor is this function with all but the records given: so it can be pickled, as a result that is kept must.
    """
    return log_odds(log_posterior(model, design(x), n_groups))


# --------------------------------------------------------------------------------------------------------- imputation


Imputed = tuple[Floats, Floats]
"""What imputation says of some records: the odds of stage one, (m, 2 (K - 1)), and the posterior, (m, K)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImputationAttacker:
    """An attacker without the release, who has learned from known records.

    `groups` are those of the learners, `odds` their odds of stage one out of fold, `validation` what is said of the
    validation records; `share`, (K,), are the group proportions among all known records. `combination` is the chosen
    one: "regression", "boosting" or "mean".
    """

    records: KnownRecords
    groups: Groups
    odds: Floats
    share: Floats
    categorical: Mask
    countable: Mask
    """Columns that are codes of categories; of these, which boosting takes as such."""
    design: Design
    """Of the regressions on features."""
    seed: int
    combination: str
    validation: Imputed
    predictors: tuple[list[Predictor], ...]
    combined: Mapping[str, Any]

    @property
    def n_groups(self) -> int:
        """Number of groups, K."""
        return self.share.size

    def about(self, x: Floats) -> Imputed:
        """Return what is said of records with these features and, as the last column, label."""
        odds = _first_stage_odds(self.predictors, x)
        logs = _combinations(self.combined, odds, x, self.n_groups)
        return odds, normalised(logs[self.combination])


def train_imputation(
    x: Floats,
    sensitive: Groups,
    records: KnownRecords,
    *,
    n_groups: int,
    categorical: Mask,
    seed: int,
) -> ImputationAttacker:
    """Let an attacker who knows some records' attribute learn it from features and label.

    x, (n, d), holds the features and the true label as the last column; `categorical`, (d,), says which columns are
    codes of categories. Groups, 0 to K - 1, are read of the known records only.
    """
    learners = records.learners
    groups = sensitive[records.learners]
    learner_columns = x[learners]
    seed = child_seed(seed, "released outputs")
    coded = categorical & np.array([_countable(column) for column in learner_columns.T])
    design = Design.of(learner_columns, categorical)
    penalty = _penalty(design, learner_columns, groups, records.fold, n_groups)

    def boosted(rows: Rows) -> Predictor:
        model = fit_group_boosting(x[rows], sensitive[rows], coded, seed=seed)
        return partial(_odds, model, n_groups, np.asarray)

    def linear(rows: Rows) -> Predictor:
        model = fit_group_regression(design(x[rows]), sensitive[rows], penalty=penalty)
        return partial(_odds, model, n_groups, design)

    of_boosting, boosted_folds = out_of_fold(records, boosted, learner_columns)
    of_regression, linear_folds = out_of_fold(records, linear, learner_columns)
    odds = np.column_stack([of_boosting, of_regression])
    predictors = (boosted_folds, linear_folds)
    flags = np.concatenate([np.zeros(odds.shape[1], bool), coded])
    combined = {
        "regression": fit_group_regression(odds, groups),
        "boosting": fit_group_boosting(
            np.column_stack([odds, learner_columns]), groups, flags, seed=seed, slow=True
        ),
    }
    validation_odds = _first_stage_odds(predictors, x[records.validation])
    logs = _combinations(combined, validation_odds, x[records.validation], n_groups)
    truth = sensitive[records.validation]
    combination = min(logs, key=lambda name: log_loss(normalised(logs[name]), truth))
    return ImputationAttacker(
        records=records,
        groups=groups,
        odds=odds,
        share=np.bincount(np.concatenate([groups, truth]), minlength=n_groups) / records.n,
        categorical=categorical,
        countable=coded,
        design=design,
        seed=seed,
        combination=combination,
        validation=(validation_odds, normalised(logs[combination])),
        predictors=predictors,
        combined=combined,
    )


def _first_stage_odds(predictors: tuple[list[Predictor], ...], x: Floats) -> Floats:
    return np.column_stack([mean_prediction(folds, x) for folds in predictors])


def _combinations(
    combined: Mapping[str, Any], odds: Floats, x: Floats, n_groups: int
) -> dict[str, Floats]:
    """Return the log posteriors of the two combinations of stage two, and their mean."""
    of_regression = log_posterior(combined["regression"], odds, n_groups)
    of_boosting = log_posterior(combined["boosting"], np.column_stack([odds, x]), n_groups)
    return {
        "regression": of_regression,
        "boosting": of_boosting,
        "mean": (of_regression + of_boosting) / 2,
    }


def _countable(column: Floats) -> bool:
    """Whether boosting can take the column's codes as categories."""
    return bool(column.max() < MOST_CODES and np.unique(column).size <= MOST_CODES)


def _penalty(design: Design, x: Floats, groups: Groups, fold: Ints, n_groups: int) -> float:
    """Return C: 1, or the best on the first fold where there are many groups or few records a code."""
    if n_groups < _MANY_GROUPS and groups.size >= _FEW_A_CODE * design.n_codes:
        return 1.0
    outside = fold == 0
    teach = design(x[~outside])
    test = design(x[outside])
    loss = {}
    for penalty in _PENALTIES:
        model = fit_group_regression(teach, groups[~outside], penalty=penalty)
        loss[penalty] = log_loss(np.exp(log_posterior(model, test, n_groups)), groups[outside])
    return min(loss, key=lambda penalty: loss[penalty])
