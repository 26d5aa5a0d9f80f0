"""What released labels and scores say of the groups: columns of evidence for a second learner.

Evidence is learned on records whose attribute the attacker knows, on the folds of the imputation
(`core.adversaries.imputation`), and is a log-likelihood ratio between the groups, or something a
second learner can make one of:

    binary      log P(value | x, g) - log P(value | x, 0), from one model of the value for each
                group g, (a) boosted, (b) linear, which small groups need: of the label and, where
                some records lack one, of having a label, a score;
    residuals   the same ratio for logit(score), its mean given x and g (a) linear, (b) boosted;
    tables      log-odds of the groups among learners with exactly this value, of the score and of
                its digits; they are made however few of the scored records share a value;
    ties        how many records, known or attacked, have exactly this score;
    digits      each decimal of the score from the third on, the last two, how many there are, and
                where its bits end: a service that counts in 32 bits leaves 0 where one of 64 bits
                leaves chance.

The released score is rounded, so that its logit has variance step²/12 / (p (1 - p))² besides the
residual's own; the linear regression is weighted by the inverse of both together, the residual's
scale taken from the median residual.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..base.validation import MOST_DECIMALS, Codes, Floats, Ints, Mask
from .imputation import (
    Design,
    Groups,
    ImputationAttacker,
    Predictor,
    Rows,
    fit_group_regression,
    mean_prediction,
    out_of_fold,
)

_FEWEST = 40
"""Fewest records of a group from whom a model of the label is learned; of fewer, their rate.

Also the fewest scores from which their mean is learned, and what their values tell: of few learners, a quarter.
"""

_FEWEST_WITHOUT = 12
"""Fewest learners without an answer or a score, and with one, from whom it is learned what that tells of them."""

_MOST_COLUMNS = 120
"""Most columns of the linear regression; rare categories beyond that are left out."""

_MOST_CROSSED = 4
"""Most groups whose effect in the linear regression differs by feature."""

_STEPS = 6
_FARTHEST = 30.0
_LEAST_STEP = 1e-13
_LEAST_SHARE = 1e-6
_LEAST_SPREAD = 1e-9

_AT_ONCE = 50_000
"""Records whose linear columns are made at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outputs:
    """What is released about n people: predicted labels, 0 or 1, and scores in [0, 1].

    Scores are nan where one is withheld, and None where labels alone are released; decimals are
    at most `MOST_DECIMALS`. `answered` is False where there is no answer, whose label then means
    nothing; None where everybody has one.
    """

    labels: Codes
    scores: Floats | None
    decimals: int = MOST_DECIMALS
    answered: Mask | None = None

    def of(self, rows: Rows) -> Outputs:
        """Return the outputs of some of the records."""
        scores = None
        if self.scores is not None:
            scores = self.scores[rows]
        answered = None
        if self.answered is not None:
            answered = self.answered[rows]
        return replace(self, labels=self.labels[rows], scores=scores, answered=answered)

    @property
    def labelled(self) -> Mask:
        """Who has a label, (n,)."""
        if self.answered is None:
            return np.ones(self.labels.size, dtype=bool)
        return self.answered

    @property
    def visible(self) -> Floats:
        """Scores, nan where there is none, (n,)."""
        if self.scores is None:
            return np.full(self.labels.size, np.nan)
        return np.where(self.labelled, self.scores, np.nan)


def late_decimals(scores: Floats, decimals: int) -> Floats:
    """Return the decimals from the third on, the last two together, and how many there are.

    Of scores that are not rounded also at which of its 53 bits the number ends; it differs by the
    format of numbers. Of a withheld score they are nan.
    """
    withheld = np.isnan(scores)
    filled = np.where(withheld, 0.0, scores)
    scaled = np.rint(filled * 10.0**decimals).astype(np.int64)
    columns = [scaled // 10 ** (decimals - decimal) % 10 for decimal in range(3, decimals + 1)]
    columns.append(scaled % 100)
    columns.append(
        sum(
            ((scaled % 10**decimal != 0).astype(np.int64) for decimal in range(1, decimals + 1)),
            0 * scaled,
        )
    )
    if decimals == MOST_DECIMALS:
        bits = (np.frexp(filled)[0] * 2.0**53).astype(np.int64)
        columns.append(np.frexp((bits & -bits).astype(np.float64))[1])  # the lowest bit that is 1
    matrix = np.column_stack(columns).astype(np.float64)
    matrix[withheld] = np.nan
    return matrix


# ----------------------------------------------------------------------------------------- tables


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValueTable:
    """How many learners of each group have exactly a value.

    `values`, (v,), are sorted; `counts`, (v, K), belong to them; `share`, (K,), are the groups'
    shares among the learners.
    """

    values: Floats
    counts: Floats
    share: Floats

    @classmethod
    def of(cls, column: Floats, groups: Groups, n_groups: int) -> ValueTable:
        """Return the table of a column, nan left out."""
        present = ~np.isnan(column)
        values, index = np.unique(column[present], return_inverse=True)
        cells = np.bincount(index * n_groups + groups[present], minlength=values.size * n_groups)
        share = np.bincount(groups, minlength=n_groups) / groups.size
        return cls(
            values=values,
            counts=cells.reshape(-1, n_groups).astype(np.float64),
            share=np.maximum(share, _LEAST_SHARE),
        )

    def odds(self, column: Floats) -> Floats:
        """Return log-odds against group 0, (n, K - 1); nan where no learner has the value.

        One record more is shared out among the groups, so that a value seen once is no proof.
        """
        index, present = _positions(self.values, column)
        counts = np.zeros((column.size, self.share.size))
        counts[present] = self.counts[index[present]]
        return self._odds_of(counts)

    def odds_out_of_fold(self, column: Floats, groups: Groups, fold: Ints) -> Floats:
        """Return the same of the learners themselves, each by the learners of other folds."""
        index, present = _positions(self.values, column)
        n_values, n_groups = self.counts.shape
        cell = (fold * n_values + index) * n_groups + groups
        shape = int(fold.max()) + 1, n_values, n_groups
        in_fold = np.bincount(cell[present], minlength=int(np.prod(shape))).reshape(shape)
        counts = np.zeros((column.size, n_groups))
        inside = np.flatnonzero(present)
        counts[inside] = self.counts[index[inside]] - in_fold[fold[inside], index[inside]]
        return self._odds_of(counts)

    def _odds_of(self, counts: Floats) -> Floats:
        logs = np.log(counts + self.share) - np.log(self.share)
        odds = logs[:, 1:] - logs[:, :1]
        odds[counts.sum(axis=1) == 0] = np.nan
        return odds


def _positions(values: Floats, column: Floats) -> tuple[Rows, Mask]:
    """Return each number's position among sorted values, and whether it is one of them."""
    if not values.size:
        return np.zeros(column.size, dtype=np.intp), np.zeros(column.size, dtype=bool)
    index = np.minimum(np.searchsorted(values, column), values.size - 1)
    return index, values[index] == column


# --------------------------------------------------------------------------------- binary outputs


def binary_outputs(outputs: Outputs, learners: Rows) -> list[tuple[Mask, Mask]]:
    """Return the label; where the learners differ in it, also having a label, and having a score.

    Of each its values, (n,), and which records have one. What a few of them have or lack is not learned: those judged
    may differ in it from them.
    """
    labelled = outputs.labelled
    binary = [(outputs.labels == 1, labelled)]
    if _differ(labelled[learners]):
        binary.append((labelled, np.ones(labelled.size, dtype=bool)))
    if outputs.scores is not None:
        scored = ~np.isnan(outputs.visible)
        if _differ(scored[learners][labelled[learners]]):
            binary.append((scored, labelled))
    return binary


def _differ(having: Mask) -> bool:
    return bool(min(having.sum(), (~having).sum()) >= _FEWEST_WITHOUT)


def fit_binary_ratios(
    kind: str,
    teachers: Rows,
    *,
    x: Floats,
    values: Mask,
    defined: Mask,
    sensitive: Groups,
    before: ImputationAttacker,
) -> Predictor:
    """Learn "linear" or "boosted" ratios of a binary output from the rows of some learners.

    Of rows they are log P(value | x, g) - log P(value | x, 0), (n, K - 1); 0 where there is no value. `defined` says
    which records have one.
    """
    teachers = teachers[defined[teachers]]
    design = before.design if kind == "linear" else None
    models = []
    for group in range(before.n_groups):
        members = teachers[sensitive[teachers] == group]
        models.append(value_model(x[members], values[members], before, design))

    def ratios(rows: Rows) -> Floats:
        logs = np.zeros((rows.size, len(models)))
        present = defined[rows]
        columns = x[rows[present]]
        if design is not None:
            columns = design(columns)
        for group, model in enumerate(models):
            chance = value_probability(model, columns)
            likelihood = np.where(values[rows[present]], chance, 1.0 - chance)
            logs[present, group] = np.log(np.clip(likelihood, 1e-4, 1.0))
        return logs[:, 1:] - logs[:, :1]

    return ratios


def value_model(
    x: Floats, values: Mask, before: ImputationAttacker, design: Design | None = None
) -> Any:
    """Return a classifier of one group's values, or their rate where they are few or all alike.

    It is a regression on a design, or boosting without one.
    """
    positive = int(values.sum())
    if values.size < _FEWEST or min(positive, values.size - positive) < 5:
        return (positive + 0.5) / (values.size + 1.0)
    if design is not None:
        return fit_group_regression(design(x), values, penalty=1.0)
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        categorical_features=before.countable,
        max_iter=60,
        max_leaf_nodes=15,
        min_samples_leaf=max(5, min(20, values.size // 20)),
        early_stopping=values.size >= 500,
        n_iter_no_change=5,
        random_state=before.seed,
    ).fit(x, values)


def value_probability(model: Any, x: Any) -> Floats:
    """Return P(value) of some records by such a model, (n,)."""
    if isinstance(model, float):
        return np.full(x.shape[0], model)
    if not x.shape[0]:
        return np.empty(0)
    return model.predict_proba(x)[:, 1]


# -------------------------------------------------------------------------------------- residuals


def score_logits(outputs: Outputs) -> tuple[Floats, Floats]:
    """Return the scores' logits, nan where there is none, and the variance that they have from rounding, (n,)."""
    if outputs.decimals < MOST_DECIMALS:
        rounding = 10.0**-outputs.decimals
    else:
        rounding = 0.0
    step = max(rounding, _LEAST_STEP)
    p = np.clip(outputs.visible, step / 2, 1.0 - step / 2)
    return np.log(p) - np.log1p(-p), step**2 / 12.0 / (p * (1.0 - p)) ** 2


def residual_ratios(residuals: Floats, variance: Floats) -> Floats:
    """Return normal log-likelihood ratios against group 0, then the residuals of group 0, (n, K).

    `residuals`, (n, K), are those that a record would have in each group; nan where there is no
    score, and the ratios 0.
    """
    logs = -0.5 * residuals**2 / variance[:, None]
    ratios = np.clip(np.nan_to_num(logs[:, 1:] - logs[:, :1], nan=0.0), -_FARTHEST, _FARTHEST)
    return np.column_stack([ratios, np.clip(residuals[:, :1], -_FARTHEST, _FARTHEST)])


def residual_spread(residuals: Floats, groups: Groups, variance: Floats) -> float:
    """Return the residual's own spread, from what is out of fold, each record in its own group."""
    scored = ~np.isnan(residuals[:, 0])
    group_residuals = residuals[scored, groups[scored]]
    typical = float(np.median(variance[scored]))
    residual = 1.4826 * float(np.median(np.abs(group_residuals)))
    return max(float(np.sqrt(max(residual**2 - typical, 0.0))), _LEAST_SPREAD)


def linear_means(
    x: Floats,
    groups: Groups,
    logits: Floats,
    variance: Floats,
    categorical: Mask,
    n_groups: int,
) -> Predictor:
    """Return the expected logit in each group, (n, K), by a linear regression, effects differing by group.

    With more than `_MOST_CROSSED` groups, only the constant does.
    """
    numbers = x[:, ~categorical]
    centre = numbers.mean(axis=0)
    spread = numbers.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    codes = list(zip(np.flatnonzero(categorical), frequent_codes(x, categorical), strict=True))

    def design_of(some: Floats) -> Floats:
        """Return the columns of the regression but for the groups."""
        indicators = [some[:, [column]] == values for column, values in codes]
        standardised = (some[:, ~categorical] - centre) / scale
        return np.column_stack([np.ones(some.shape[0]), standardised, *indicators])

    design = design_of(x)
    identity = np.eye(n_groups)[:, 1:]
    if n_groups > _MOST_CROSSED:
        coefficients = reweighted_coefficients(
            np.column_stack([design, identity[groups]]), logits, variance
        )
        common = coefficients[: design.shape[1]]
        shift = coefficients[design.shape[1] :]
        weights = np.tile(common[:, None], (1, n_groups))
        weights[0, 1:] += shift
    else:
        crossed = [design * identity[groups][:, [j]] for j in range(n_groups - 1)]
        coefficients = reweighted_coefficients(
            np.column_stack([design, *crossed]), logits, variance
        )
        parts = coefficients.reshape(n_groups, design.shape[1])
        weights = np.column_stack([parts[0], *(parts[0] + part for part in parts[1:])])

    def means(some: Floats) -> Floats:
        parts = [some[start : start + _AT_ONCE] for start in range(0, some.shape[0], _AT_ONCE)]
        return np.concatenate([design_of(part) @ weights for part in parts])

    return means


def frequent_codes(x: Floats, categorical: Mask) -> tuple[Floats, ...]:
    """Return the codes of each categorical column that get an indicator.

    All but its commonest do, while there is room.
    """
    room = max(0, _MOST_COLUMNS - int((~categorical).sum()))
    counted = []
    for j in np.flatnonzero(categorical):
        values, counts = np.unique(x[:, j], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        counted.append((values[order[1:]], counts[order[1:]]))
    if not counted:
        return ()
    all_counts = np.sort(np.concatenate([counts for _, counts in counted]))[::-1]
    fewest = all_counts[room] + 1 if all_counts.size > room else 1
    return tuple(values[counts >= fewest] for values, counts in counted)


def reweighted_coefficients(design: Floats, logits: Floats, variance: Floats) -> Floats:
    """Return weighted least-squares coefficients, the weights by the residual's own spread, in a few rounds."""
    weight: Any = np.ones(logits.size)
    coefficients = np.zeros(design.shape[1])
    typical = float(np.median(variance))
    for _ in range(_STEPS):
        scaled = design * weight[:, None]
        gram = scaled.T @ design
        gram[np.diag_indices_from(gram)] += 1e-9 * np.trace(gram) / gram.shape[0]
        coefficients = np.linalg.solve(gram, scaled.T @ logits)
        residual = 1.4826 * float(np.median(np.abs(logits - design @ coefficients)))
        spread = float(np.sqrt(max(residual**2 - typical, 0.0)))
        total = variance + max(spread, 1e-9) ** 2
        weight = total.min() / total
    return coefficients


def boosted_means(
    x: Floats, groups: Groups, logits: Floats, countable: Mask, *, n_groups: int, seed: int
) -> Predictor:
    """Return the expected logit in each group, (n, K), by one boosted regression on features and group."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(
        categorical_features=np.append(countable, n_groups > 2),
        max_iter=150,
        early_stopping=logits.size >= 500,
        n_iter_no_change=5,
        random_state=seed,
    ).fit(np.column_stack([x, groups]), logits)

    def means(some: Floats) -> Floats:
        in_groups = (np.full(some.shape[0], float(group)) for group in range(n_groups))
        return np.column_stack(
            [model.predict(np.column_stack([some, group])) for group in in_groups]
        )

    return means


def fit_residuals(
    kind: str,
    teachers: Rows,
    *,
    x: Floats,
    logits: Floats,
    variance: Floats,
    sensitive: Groups,
    before: ImputationAttacker,
) -> Predictor:
    """Learn "linear" or "boosted" residuals of logit(score) from the rows of some learners.

    Of rows they are those that a record would have in each group, (n, K); nan where there is no score.
    """
    teachers = teachers[~np.isnan(logits[teachers])]
    columns = x[teachers]
    groups = sensitive[teachers]
    values = logits[teachers]
    k = before.n_groups
    if kind == "linear":
        means = linear_means(columns, groups, values, variance[teachers], before.categorical, k)
    else:
        means = boosted_means(
            columns, groups, values, before.countable, n_groups=k, seed=before.seed
        )

    def residuals(rows: Rows) -> Floats:
        of_rows = np.full((rows.size, k), np.nan)
        scored = ~np.isnan(logits[rows])
        present = rows[scored]
        if present.size:
            of_rows[scored] = logits[present][:, None] - means(x[present])
        return of_rows

    return residuals


# --------------------------------------------------------------------------------------- evidence


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OutputEvidence:
    """What outputs say of the groups, as the learners of an imputation teach it."""

    outputs: Outputs
    before: ImputationAttacker
    binary: tuple[tuple[Floats, list[Predictor]], ...]
    """Of each binary output and kind its ratios of the learners, out of fold, and the folds' models."""
    residual: tuple[tuple[Floats, list[Predictor]], ...]
    """Of each kind the residuals of the learners, out of fold, and the folds' models."""
    variances: tuple[Floats, ...]
    """Of each kind the variance of the residuals, (n,): that of the rounding and of their own spread."""
    tables: tuple[ValueTable, ...]
    """Of the score, then of each column of its digits; none where hardly a learner has a score."""
    tie_values: Floats
    tie_counts: Ints

    @classmethod
    def of(
        cls,
        x: Floats,
        outputs: Outputs,
        sensitive: Groups,
        before: ImputationAttacker,
        attacked_rows: Rows,
    ) -> OutputEvidence:
        """Learn the evidence; equal scores are counted among all known records and those judged."""
        records = before.records
        everybody = np.concatenate([records.known_rows, attacked_rows])
        binary = []
        for answers, defined in binary_outputs(outputs, records.learners):
            for kind in ("linear", "boosted"):
                fit = partial(
                    fit_binary_ratios,
                    kind,
                    x=x,
                    values=answers,
                    defined=defined,
                    sensitive=sensitive,
                    before=before,
                )
                binary.append(out_of_fold(records, fit, records.learners))
        visible = outputs.visible
        scored = ~np.isnan(visible[records.learners])
        per_fold = np.bincount(records.fold[scored], minlength=2)
        residual: list[tuple[Floats, list[Predictor]]] = []
        variances: list[Floats] = []
        tables = []
        if per_fold.sum() - per_fold.max() >= _FEWEST:
            residual, variances = _learned_residuals(x, outputs, sensitive, before)
        if per_fold.sum() >= min(_FEWEST, records.learners.size / 4):
            for column in _value_columns(outputs, records.learners).T:
                tables.append(ValueTable.of(column, before.groups, before.n_groups))
        present = visible[everybody]
        values, counts = np.unique(present[~np.isnan(present)], return_counts=True)
        return cls(
            outputs=outputs,
            before=before,
            binary=tuple(binary),
            residual=tuple(residual),
            variances=tuple(variances),
            tables=tuple(tables),
            tie_values=values,
            tie_counts=counts,
        )

    def ratios(self, rows: Rows | None = None) -> tuple[Floats, Floats, Floats]:
        """Return ratios of binary outputs, ratios of residuals, and residuals, of some rows or of the learners."""
        about = self._about(rows)
        of_binary = np.column_stack([_of(part, rows) for part in self.binary])
        residuals = [
            residual_ratios(_of(part, rows), variance[about])
            for part, variance in zip(self.residual, self.variances, strict=True)
        ]
        empty = np.empty((about.size, 0))
        of_residuals = np.column_stack([empty, *(part[:, :-1] for part in residuals)])
        return (
            of_binary,
            of_residuals,
            np.column_stack([empty, *(part[:, -1] for part in residuals)]),
        )

    def columns(
        self, x: Floats, odds: Floats, rows: Rows | None = None
    ) -> tuple[dict[str, Floats], Mask]:
        """Return the columns of each combination about some rows, and which of those of boosting are categories.

        They are about the learners where no rows are asked for. What a table has not says nothing in a regression, and
        is nan in boosting; regressions on tables are there only with a table. x holds the features and the true label,
        `odds` what imputation says of these rows.
        """
        about = self._about(rows)
        of_binary, of_residuals, residuals = self.ratios(rows)
        values = _value_columns(self.outputs, about)
        score_odds = ties = np.empty((about.size, 0))
        columns = {"label": np.column_stack([odds, of_binary])}
        if self.tables:
            score_odds, *digit_odds = self._table_odds(values, rows)
            ties = self._ties(about)
            of_score = np.nan_to_num(score_odds, nan=0.0)
            of_digits = [np.nan_to_num(part, nan=0.0) for part in digit_odds]
            columns["values"] = np.column_stack([columns["label"], of_score, ties])
            columns["regression"] = np.column_stack(
                [columns["label"], of_residuals, of_score, *of_digits, ties]
            )
        label = np.where(self.outputs.labelled[about], self.outputs.labels[about], np.nan)
        numbers = [
            columns["label"],
            of_residuals,
            residuals,
            score_odds,
            ties,
            label,
            values[:, :1],
        ]
        late_decimals = values[:, 1:]
        columns["boosting"] = np.column_stack([*numbers, late_decimals, x])
        coded = np.append(np.ones(late_decimals.shape[1], bool), self.before.countable)
        numeric = np.zeros(columns["boosting"].shape[1] - coded.size, bool)
        return columns, np.append(numeric, coded)

    def _about(self, rows: Rows | None) -> Rows:
        return self.before.records.learners if rows is None else rows

    def _table_odds(self, values: Floats, rows: Rows | None) -> list[Floats]:
        """Return the odds by the table of the score, then by those of its digits; of the learners out of fold."""
        pairs = zip(self.tables, values.T, strict=True)
        if rows is not None:
            return [table.odds(column) for table, column in pairs]
        groups = self.before.groups
        fold = self.before.records.fold
        return [table.odds_out_of_fold(column, groups, fold) for table, column in pairs]

    def _ties(self, about: Rows) -> Floats:
        """Return the logarithm of how many records have exactly this score, (n, 1)."""
        index, present = _positions(self.tie_values, self.outputs.visible[about])
        ties = np.zeros((about.size, 1))
        ties[present, 0] = np.log(self.tie_counts[index[present]])
        return ties


def _learned_residuals(
    x: Floats, outputs: Outputs, sensitive: Groups, before: ImputationAttacker
) -> tuple[list[tuple[Floats, list[Predictor]]], list[Floats]]:
    """Return the residuals of each kind, as the learners teach them, and their variances."""
    records = before.records
    logits, rounding = score_logits(outputs)
    residual = []
    variances = []
    for kind in ("linear", "boosted"):
        learn = partial(
            fit_residuals,
            kind,
            x=x,
            logits=logits,
            variance=rounding,
            sensitive=sensitive,
            before=before,
        )
        of_learners, predictors = out_of_fold(records, learn, records.learners)
        spread = residual_spread(of_learners, before.groups, rounding[records.learners])
        residual.append((of_learners, predictors))
        variances.append(rounding + spread**2)
    return residual, variances


def _of(part: tuple[Floats, list[Predictor]], rows: Rows | None) -> Floats:
    of_learners, predictors = part
    if rows is None:
        return of_learners
    return mean_prediction(predictors, rows)


def _value_columns(outputs: Outputs, rows: Rows) -> Floats:
    """Return score and digits of some rows; of no width where labels alone are released."""
    if outputs.scores is None:
        return np.empty((rows.size, 0))
    scores = outputs.visible[rows]
    return np.column_stack([scores, late_decimals(scores, outputs.decimals)])
