"""Evidence about a sensitive attribute in released labels and scores, beyond the features.

Everything is learned on people whose attribute the attacker knows and applied to others; a column is a log-likelihood
ratio between the groups, or something a second learner can make one of:

    label       log P(label | x, g) - log P(label | x, 0), from one model of the label for each group g;
    residuals   the same ratio for logit(score), its mean given x and g (a) linear, (b) boosted;
    values      log-odds of the groups among known people with exactly this score, and their number;
    digits      each digit of the score, the last two, and how many there are.

The released score is rounded, so that its logit has variance step²/12 / (p (1 - p))² besides the residual's own; the
linear regression is weighted by the inverse of both together, the residual's scale taken from the median residual.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Mask

MOST_DECIMALS = 12
"""Decimals of a score that are looked at."""

_FEWEST = 40
"""Fewest people of a group from whom a model of the label is learned; of fewer, their rate."""

_MOST_COLUMNS = 120
"""Most columns of the linear regression; rare categories beyond that are left out."""

_MOST_CROSSED = 4
"""Most groups whose effect in the linear regression differs by feature."""

_STEPS = 6
_FARTHEST = 30.0
_LEAST_STEP = 1e-13


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outputs:
    """What is released about n people: predicted labels, 0 or 1, and scores in [0, 1] of so many decimals.

    Scores are nan where one is withheld, and None where labels alone are released; decimals are at most
    `MOST_DECIMALS`.
    """

    labels: Codes = field(repr=False)
    scores: Floats | None = field(repr=False)
    decimals: int = MOST_DECIMALS

    def of(self, rows: npt.NDArray[np.intp]) -> Outputs:
        """Return the outputs of some of the people."""
        scores = None if self.scores is None else self.scores[rows]
        return Outputs(labels=self.labels[rows], scores=scores, decimals=self.decimals)


def decimals_of(scores: Floats) -> int:
    """Return the least number of decimals that write all scores exactly, at most `MOST_DECIMALS`."""
    known = scores[~np.isnan(scores)]
    return next((d for d in range(MOST_DECIMALS) if np.array_equal(np.round(known, d), known)), MOST_DECIMALS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Known:
    """People whose score and group are known: logits with their variance from rounding, and columns that are codes."""

    x: Floats
    logits: Floats
    variance: Floats
    sensitive: npt.NDArray[np.integer]
    n_groups: int
    categorical: Mask


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What was learned from people whose attribute is known; see `learn_evidence`."""

    n_groups: int
    label_models: tuple[Any, ...]
    linear: _Linear | None
    booster: _Boosted | None
    values: _Values | None

    def label_ratios(self, x: Floats, outputs: Outputs) -> Floats:
        """Return log P(label | x, g) - log P(label | x, 0) for g = 1 to K - 1, of shape (n, K - 1).

        x, of shape (n, d), holds features and true label.
        """
        logs = np.empty((x.shape[0], self.n_groups))
        for group, model in enumerate(self.label_models):
            one = model if isinstance(model, float) else model.predict_proba(x)[:, 1]
            p = np.clip(np.where(outputs.labels == 1, one, 1.0 - np.asarray(one)), 1e-4, 1.0)
            logs[:, group] = np.log(p)
        return logs[:, 1:] - logs[:, :1]

    def score_columns(self, x: Floats, outputs: Outputs) -> tuple[Floats, Mask]:
        """Return what the scores tell, of shape (n, c), and which of the columns are categories."""
        assert outputs.scores is not None and self.linear is not None and self.booster is not None
        logits, variance = _logits(outputs)
        digits = _digits(outputs)
        columns = [
            np.column_stack([outputs.scores, logits]),
            self.linear.ratios(x, logits, variance),
            self.booster.ratios(x, logits, variance),
        ]
        if self.values is not None:
            columns.append(self.values.columns(outputs.scores))
        continuous = np.column_stack(columns)
        categories = np.repeat([False, True], [continuous.shape[1], digits.shape[1]])
        return np.column_stack([continuous, digits]), categories


def learn_evidence(
    x: Floats,
    outputs: Outputs,
    sensitive: npt.NDArray[np.integer],
    *,
    n_groups: int,
    categorical: Mask,
    seed: int,
) -> Evidence:
    """Learn what labels and scores tell about the groups.

    x, of shape (n, d), holds features, and the true label as the last column; `categorical` says which of its columns
    are codes of categories. The groups are 0 to K - 1.
    """
    models = tuple(
        _label_model(x[own], outputs.labels[own], categorical, seed)
        for own in (sensitive == group for group in range(n_groups))
    )
    linear = booster = values = None
    if outputs.scores is not None:
        seen = ~np.isnan(outputs.scores)
        logits, variance = _logits(outputs)
        known = _Known(
            x=x[seen],
            logits=logits[seen],
            variance=variance[seen],
            sensitive=sensitive[seen],
            n_groups=n_groups,
            categorical=categorical,
        )
        linear, booster = _Linear.learned(known), _Boosted.learned(known, seed)
        values = _Values.learned(outputs.scores[seen], sensitive[seen], n_groups)
    return Evidence(n_groups=n_groups, label_models=models, linear=linear, booster=booster, values=values)


def _label_model(x: Floats, labels: Codes, categorical: Mask, seed: int) -> Any:
    """Return a model of the predicted label of one group's people, or their rate where they are few or all alike."""
    positive = int(labels.sum())
    if labels.size < _FEWEST or min(positive, labels.size - positive) < 5:
        return (positive + 0.5) / (labels.size + 1.0)
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        categorical_features=categorical,
        max_iter=60,
        max_leaf_nodes=15,
        min_samples_leaf=max(5, min(20, labels.size // 20)),
        early_stopping=labels.size >= 500,
        n_iter_no_change=5,
        random_state=seed,
    ).fit(x, labels)


def _logits(outputs: Outputs) -> tuple[Floats, Floats]:
    """Return the scores' logits and the variance they have from rounding; both 0 where a score is withheld."""
    assert outputs.scores is not None
    step = max(10.0**-outputs.decimals if outputs.decimals < MOST_DECIMALS else 0.0, _LEAST_STEP)
    p = np.clip(np.nan_to_num(outputs.scores, nan=0.5), step / 2, 1.0 - step / 2)
    return np.log(p) - np.log1p(-p), step**2 / 12.0 / (p * (1.0 - p)) ** 2


def _digits(outputs: Outputs) -> Floats:
    """Return the third to sixth decimal, the last two together, and how many there are; -1 for a withheld score."""
    assert outputs.scores is not None
    d = outputs.decimals
    withheld = np.isnan(outputs.scores)
    whole = np.rint(np.where(withheld, 0.0, outputs.scores) * 10.0**d).astype(np.int64)
    columns = [whole // 10 ** (d - place) % 10 for place in range(3, min(d, 6) + 1)]
    columns.append(whole % 100)
    columns.append(sum((whole % 10**place != 0).astype(np.int64) for place in range(1, d + 1)))
    found = np.column_stack(columns).astype(np.float64)
    found[withheld] = np.nan
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Linear:
    """The linear regression of logit(score) on features, groups, and (of few groups) features within groups."""

    categorical: Mask
    codes: tuple[Floats, ...]
    centre: Floats
    scale: Floats
    weights: Floats
    n_groups: int
    spread: float

    @classmethod
    def learned(cls, known: _Known) -> _Linear:
        numbers = known.x[:, ~known.categorical]
        centre, scale = numbers.mean(axis=0), numbers.std(axis=0)
        made = cls(
            categorical=known.categorical,
            codes=_frequent_codes(known.x, known.categorical),
            centre=centre,
            scale=np.where(scale > 0, scale, 1.0),
            weights=np.zeros(0),
            n_groups=known.n_groups,
            spread=0.0,
        )
        design = made._design(made._columns(known.x), np.eye(known.n_groups)[known.sensitive][:, 1:])
        weights, spread = _reweighted(design, known.logits, known.variance)
        return replace(made, weights=weights, spread=spread)

    def ratios(self, x: Floats, logits: Floats, variance: Floats) -> Floats:
        """Return the log-likelihood ratios of groups 1 to K - 1 against group 0, and the residual as group 0."""
        columns = self._columns(x)
        as_groups = [np.tile(one, (x.shape[0], 1)) for one in np.eye(self.n_groups)[:, 1:]]
        residuals = [logits - self._design(columns, groups) @ self.weights for groups in as_groups]
        return _ratios(np.column_stack(residuals), variance + self.spread**2)

    def _columns(self, x: Floats) -> Floats:
        numbers = (x[:, ~self.categorical] - self.centre) / self.scale
        own = x[:, self.categorical]
        indicators = [own[:, j, None] == values for j, values in enumerate(self.codes)]
        return np.column_stack([np.ones(x.shape[0]), numbers, *indicators])

    def _design(self, columns: Floats, groups: Floats) -> Floats:
        if self.n_groups > _MOST_CROSSED:
            return np.column_stack([columns, groups])
        crossed = [columns * groups[:, [j]] for j in range(groups.shape[1])]
        return np.column_stack([columns, *crossed])


def _frequent_codes(x: Floats, categorical: Mask) -> tuple[Floats, ...]:
    """Return the codes of each categorical column that get an indicator: all but its commonest, while there is room."""
    room = max(0, _MOST_COLUMNS - int((~categorical).sum()))
    counted = []
    for j in np.flatnonzero(categorical):
        values, counts = np.unique(x[:, j], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        counted.append((values[order[1:]], counts[order[1:]]))
    if not counted:
        return ()
    every = np.sort(np.concatenate([counts for _, counts in counted]))[::-1]
    least = every[room - 1] if every.size > room > 0 else 1
    return tuple(values[counts >= least] for values, counts in counted)


def _reweighted(design: Floats, logits: Floats, variance: Floats) -> tuple[Floats, float]:
    """Return the weighted least-squares coefficients and the residual's own spread, in a few rounds."""
    weight: Any = np.ones(logits.size)
    coefficients, spread = np.zeros(design.shape[1]), 0.0
    typical = float(np.median(variance))
    for _ in range(_STEPS):
        scaled = design * weight[:, None]
        gram = scaled.T @ design
        gram[np.diag_indices_from(gram)] += 1e-9 * np.trace(gram) / gram.shape[0]
        coefficients = np.linalg.solve(gram, scaled.T @ logits)
        residual = 1.4826 * float(np.median(np.abs(logits - design @ coefficients)))
        spread = float(np.sqrt(max(residual**2 - typical, 0.0)))
        own = variance + max(spread, 1e-9) ** 2
        weight = np.asarray(own.min() / own)
    return coefficients, max(spread, 1e-9)


def _ratios(residuals: Floats, variance: Floats) -> Floats:
    """Return normal log-likelihood ratios against group 0 from residuals of shape (n, K), then residuals of group 0."""
    logs = -0.5 * residuals**2 / variance[:, None]
    ratios = np.clip(logs[:, 1:] - logs[:, :1], -_FARTHEST, _FARTHEST)
    return np.column_stack([ratios, np.clip(residuals[:, :1], -_FARTHEST, _FARTHEST)])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Boosted:
    """The boosted regression of logit(score) on features and group."""

    model: Any
    n_groups: int
    spread: float

    @classmethod
    def learned(cls, known: _Known, seed: int) -> _Boosted:
        from sklearn.ensemble import HistGradientBoostingRegressor

        columns = np.column_stack([known.x, known.sensitive])
        model = HistGradientBoostingRegressor(
            categorical_features=np.append(known.categorical, known.n_groups > 2),
            max_iter=150,
            early_stopping=known.logits.size >= 500,
            n_iter_no_change=5,
            random_state=seed,
        ).fit(columns, known.logits)
        residual = 1.4826 * float(np.median(np.abs(known.logits - model.predict(columns))))
        return cls(model=model, n_groups=known.n_groups, spread=max(residual, 1e-6))

    def ratios(self, x: Floats, logits: Floats, variance: Floats) -> Floats:
        """Return what `_Linear.ratios` does."""
        as_groups = [np.column_stack([x, np.full(x.shape[0], float(group))]) for group in range(self.n_groups)]
        residuals = [logits - self.model.predict(columns) for columns in as_groups]
        return _ratios(np.column_stack(residuals), variance + self.spread**2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Values:
    """How often each group has exactly a score, among known people."""

    values: Floats
    log_odds: Floats
    number: Floats

    @classmethod
    def learned(cls, scores: Floats, sensitive: npt.NDArray[np.integer], n_groups: int) -> _Values | None:
        values, place = np.unique(scores, return_inverse=True)
        if values.size > 0.95 * scores.size:
            return None
        counts = np.bincount(place * n_groups + sensitive, minlength=values.size * n_groups).reshape(-1, n_groups)
        share = np.bincount(sensitive, minlength=n_groups) / sensitive.size
        logs = np.log(counts + np.maximum(share, 1e-6))
        return cls(values=values, log_odds=logs[:, 1:] - logs[:, :1], number=counts.sum(axis=1).astype(np.float64))

    def columns(self, scores: Floats) -> Floats:
        place = np.minimum(np.searchsorted(self.values, scores), self.values.size - 1)
        known = self.values[place] == scores
        found = np.column_stack([self.log_odds, self.number])[place]
        found[~known] = np.append(np.full(self.log_odds.shape[1], np.nan), 0.0)
        return found
