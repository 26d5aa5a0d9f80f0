"""Attribute inference from everything a model releases, beside imputation from features.

Two attacks are tried beside imputation (boosting on features and true label). "label" adds how much likelier the
predicted label is in each group; "all" is one boosting over that, the score, its residuals, digits and exact values.
Half of the known people teach what is learned about features and outputs, the other half how to combine it; then the
halves change places, unless they are large. The posteriors' geometric mean is the attacker's. Imputation is made in the
same way, so that nothing but the release makes the difference. The second attack is used if its log-loss on validation
records of the attacker's own is lower by more than one standard error (the one-standard-error rule of Breiman et al.
1984): it moves more guesses by chance where nothing leaks.

Evidence is learned on people whose attribute the attacker knows and applied to others; a column is a log-likelihood
ratio between the groups, or something a second learner can make one of:

    label       log P(label | x, g) - log P(label | x, 0), from one model of the label for each group g;
    residuals   the same ratio for logit(score), its mean given x and g (a) linear, (b) boosted;
    values      log-odds of the groups among known people with exactly this score, and their number;
    digits      each decimal of the score from the third on, the last two, how many there are, and where its bits end:
                a service that counts in 32 bits leaves 0 where one of 64 bits leaves chance.

The released score is rounded, so that its logit has variance step²/12 / (p (1 - p))² besides the residual's own; the
linear regression is weighted by the inverse of both together, the residual's scale taken from the median residual.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import MOST_DECIMALS, Codes, Floats, Mask
from core.datasets.splits import taught
from core.seeds import child_generator, child_seed

_EDGE = 1e-6
_VALIDATION_SHARE = 0.3

_ENOUGH = 50_000
"""From so many people on one half teaches and the other combines, and they do not change places."""

_FEWEST = 40
"""Fewest people of a group from whom a model of the label is learned; of fewer, their rate. Also fewest scores."""

_MOST_COLUMNS = 120
"""Most columns of the linear regression; rare categories beyond that are left out."""

_MOST_CROSSED = 4
"""Most groups whose effect in the linear regression differs by feature."""

_STEPS = 6
_FARTHEST = 30.0
_LEAST_STEP = 1e-13

_Rows = npt.NDArray[np.intp]
_Groups = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outputs:
    """What is released about n people: predicted labels, 0 or 1, and scores in [0, 1] of so many decimals.

    Scores are nan where one is withheld, and None where labels alone are released; decimals are at most
    `MOST_DECIMALS`.
    """

    labels: Codes = field(repr=False)
    scores: Floats | None = field(repr=False)
    decimals: int = MOST_DECIMALS

    def of(self, rows: _Rows) -> Outputs:
        """Return the outputs of some of the people."""
        scores = None if self.scores is None else self.scores[rows]
        return Outputs(labels=self.labels[rows], scores=scores, decimals=self.decimals)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReleasedAttack:
    """What an attacker believes about some people's groups without and with a release.

    Probabilities of the groups (m, K) by imputation, and by the attack, "label" or "all", that was chosen; the groups'
    shares (K,) among the people whose attribute the attacker knows, and the number of these.
    """

    before: Floats = field(repr=False)
    after: Floats = field(repr=False)
    attack: str
    share: Floats
    n_known: int


def attack_released(
    x: Floats,
    outputs: Outputs,
    sensitive: _Groups,
    known: _Rows,
    judged: _Rows,
    *,
    n_groups: int,
    categorical: Mask,
    seed: int,
) -> ReleasedAttack:
    """Let an attacker who knows some people's attribute judge others.

    x, of shape (n, d), holds everybody's features and the true label as the last column; which of its columns are codes
    of categories is said by `categorical`, (d,). The groups, 0 to K - 1, are read of known people only; they and those
    judged are disjoint rows, and hold at least a few known ones of each group.
    """
    rng = child_generator(seed, f"released outputs, {known.size} known, {judged.size} judged")
    categorical = categorical & np.array([np.unique(column).size <= 255 and column.max() < 255 for column in x.T])
    learned, validation = _cut(taught(known, seed), sensitive, 1.0 - _VALIDATION_SHARE, rng)
    first, second = _cut(learned, sensitive, 0.5, rng)
    asked = np.concatenate([validation, judged])
    learn = partial(_Teaching, n_groups=n_groups, categorical=categorical, seed=child_seed(seed, "released outputs"))
    ways = [(first, second), (second, first)][: 1 if learned.size > _ENOUGH else 2]
    found = [
        _one_way(learn(x[teach], outputs.of(teach), sensitive[teach]), x, outputs, sensitive, combine, asked)
        for teach, combine in ways
    ]
    logs = {name: np.mean([way[name] for way in found], axis=0) for name in found[0]}
    posteriors = {name: _normalised(value) for name, value in logs.items()}
    n, truth = validation.size, sensitive[validation]
    bits = {name: -np.log2(value[np.arange(n), truth]) for name, value in posteriors.items()}
    attack = "label"
    if "all" in bits:  # taken if the bits saved are more than one standard error above none
        saved = bits["label"] - bits["all"]
        attack = "all" if saved.mean() > saved.std() / np.sqrt(saved.size) else "label"
    return ReleasedAttack(
        before=posteriors["imputation"][n:],
        after=posteriors[attack][n:],
        attack=attack,
        share=np.bincount(sensitive[known], minlength=n_groups) / known.size,
        n_known=known.size,
    )


def _cut(rows: _Rows, sensitive: _Groups, share: float, rng: np.random.Generator) -> tuple[_Rows, _Rows]:
    """Return two random parts of the rows, each group cut alike, in random order."""
    parts: tuple[list[_Rows], list[_Rows]] = ([], [])
    for group in np.unique(sensitive[rows]):
        own = rng.permutation(rows[sensitive[rows] == group])
        at = round(share * own.size)
        parts[0].append(own[:at])
        parts[1].append(own[at:])
    first, second = (rng.permutation(np.concatenate(part)) for part in parts)
    return first, second


@dataclass(frozen=True, slots=True, eq=False)
class _Teaching:
    """People whose group and outputs are known, and what is the same for all of them."""

    x: Floats
    outputs: Outputs
    sensitive: _Groups
    n_groups: int
    categorical: Mask
    seed: int

    def boosted(self, columns: Floats, truth: _Groups, categorical: Mask) -> Any:
        """Return a boosting of the group on some columns."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        counts = np.bincount(truth, minlength=self.n_groups)
        return HistGradientBoostingClassifier(
            categorical_features=categorical,
            learning_rate=0.1,
            max_leaf_nodes=15,
            min_samples_leaf=max(5, min(20, truth.size // 50)),
            early_stopping=bool(truth.size >= 300 and counts.min() >= 10),
            n_iter_no_change=8,
            max_iter=200 if truth.size >= 300 else 40,
            random_state=self.seed,
        ).fit(columns, truth)


def _one_way(
    known: _Teaching, x: Floats, outputs: Outputs, sensitive: _Groups, combine: _Rows, asked: _Rows
) -> dict[str, Floats]:
    """Return log-probabilities of the people asked, by attack; one half teaches, the other half combines."""
    from sklearn.linear_model import LogisticRegression

    both = np.concatenate([combine, asked])
    imputation = known.boosted(known.x, known.sensitive, known.categorical)
    logs = _log(imputation.predict_proba(x[both]))
    odds = logs[:, 1:] - logs[:, :1]
    labels, truth, n = outputs.labels[both], sensitive[combine], combine.size
    ratios = _label_ratios(known, x[both], labels)

    def straight(columns: Floats) -> Floats:
        fitted = LogisticRegression(C=10.0, max_iter=500).fit(columns[:n], truth)
        return _log(fitted.predict_proba(columns[n:]))

    found = {"imputation": straight(odds), "label": straight(np.column_stack([odds, ratios]))}
    if outputs.scores is not None:
        numbers, digits = _score_columns(known, x[both], outputs.of(both))
        told = np.column_stack([odds, ratios, labels.astype(np.float64), numbers])
        coded = np.concatenate([np.zeros(told.shape[1], bool), np.ones(digits.shape[1], bool), known.categorical])
        everything = np.column_stack([told, digits, x[both]])
        stack = known.boosted(everything[:n], truth, coded)
        found["all"] = _log(stack.predict_proba(everything[n:]))
    return found


def _log(probability: Floats) -> Floats:
    return np.log(np.clip(probability, _EDGE, 1.0))


def _normalised(logs: Floats) -> Floats:
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


# -------------------------------------------------------------------------------------------------- labels and scores


def _label_ratios(known: _Teaching, x: Floats, labels: Codes) -> Floats:
    """Return log P(label | x, g) - log P(label | x, 0) for g = 1 to K - 1, of shape (n, K - 1)."""
    logs = np.empty((x.shape[0], known.n_groups))
    for group in range(known.n_groups):
        own = known.sensitive == group
        one = _label_chance(known.x[own], known.outputs.labels[own], known, x)
        logs[:, group] = np.log(np.clip(np.where(labels == 1, one, 1.0 - one), 1e-4, 1.0))
    return logs[:, 1:] - logs[:, :1]


def _label_chance(x: Floats, labels: Codes, known: _Teaching, asked: Floats) -> Floats:
    """Return P(label = 1) as one group's people teach it, or their rate where they are few or all alike."""
    positive = int(labels.sum())
    if labels.size < _FEWEST or min(positive, labels.size - positive) < 5:
        return np.full(asked.shape[0], (positive + 0.5) / (labels.size + 1.0))
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        categorical_features=known.categorical,
        max_iter=60,
        max_leaf_nodes=15,
        min_samples_leaf=max(5, min(20, labels.size // 20)),
        early_stopping=labels.size >= 500,
        n_iter_no_change=5,
        random_state=known.seed,
    ).fit(x, labels)
    return np.asarray(model.predict_proba(asked)[:, 1])


def _score_columns(known: _Teaching, x: Floats, outputs: Outputs) -> tuple[Floats, Floats]:
    """Return what the scores tell, of shape (n, c): as numbers, and as digits, which are categories.

    Where fewer than `_FEWEST` of those who teach have a score: it and its digits alone, without nan.
    """
    assert known.outputs.scores is not None and outputs.scores is not None
    seen = ~np.isnan(known.outputs.scores)
    if seen.sum() < _FEWEST:
        written = digits(outputs.scores, outputs.decimals)
        return np.nan_to_num(outputs.scores, nan=-1.0)[:, None], np.nan_to_num(written, nan=100.0)
    taught_x, groups, taught_scores = known.x[seen], known.sensitive[seen], known.outputs.scores[seen]
    taught_logits, taught_variance = (values[seen] for values in _logits(known.outputs))
    logits, variance = _logits(outputs)
    columns = [outputs.scores, logits]
    for learn in (_linear, _boosted):
        residuals, spread = learn(known, taught_x, groups, taught_logits, taught_variance)
        columns.append(_ratios(residuals(x, logits), variance + spread**2))
    if (values := _value_columns(taught_scores, groups, known.n_groups, outputs.scores)) is not None:
        columns.append(values)
    return np.column_stack(columns), digits(outputs.scores, outputs.decimals)


def _logits(outputs: Outputs) -> tuple[Floats, Floats]:
    """Return the scores' logits and the variance they have from rounding; both 0 where a score is withheld."""
    assert outputs.scores is not None
    step = max(10.0**-outputs.decimals if outputs.decimals < MOST_DECIMALS else 0.0, _LEAST_STEP)
    p = np.clip(np.nan_to_num(outputs.scores, nan=0.5), step / 2, 1.0 - step / 2)
    return np.log(p) - np.log1p(-p), step**2 / 12.0 / (p * (1.0 - p)) ** 2


def digits(scores: Floats, decimals: int) -> Floats:
    """Return the decimals from the third on, the last two together, and how many there are; nan for a withheld score.

    Of scores that are not rounded also at which of its 53 bits the number ends; it differs by the format of numbers.
    """
    withheld = np.isnan(scores)
    known = np.where(withheld, 0.0, scores)
    whole = np.rint(known * 10.0**decimals).astype(np.int64)
    columns = [whole // 10 ** (decimals - place) % 10 for place in range(3, decimals + 1)]
    columns.append(whole % 100)
    columns.append(sum(((whole % 10**place != 0).astype(np.int64) for place in range(1, decimals + 1)), 0 * whole))
    if decimals == MOST_DECIMALS:
        bits = (np.frexp(known)[0] * 2.0**53).astype(np.int64)
        columns.append(np.frexp((bits & -bits).astype(np.float64))[1])  # the lowest bit that is 1
    found = np.column_stack(columns).astype(np.float64)
    found[withheld] = np.nan
    return found


_Residuals = Callable[[Floats, Floats], Floats]
"""Returns people's residuals, shape (n, K), as if they were in each group, from their x and logits."""


def _ratios(residuals: Floats, variance: Floats) -> Floats:
    """Return normal log-likelihood ratios against group 0 from residuals of shape (n, K), then residuals of group 0."""
    logs = -0.5 * residuals**2 / variance[:, None]
    ratios = np.clip(logs[:, 1:] - logs[:, :1], -_FARTHEST, _FARTHEST)
    return np.column_stack([ratios, np.clip(residuals[:, :1], -_FARTHEST, _FARTHEST)])


def _linear(known: _Teaching, x: Floats, groups: _Groups, logits: Floats, variance: Floats) -> tuple[_Residuals, float]:
    """Learn the regression of logit(score) on features, groups, and (of few groups) features within groups."""
    categorical, identity = known.categorical, np.eye(known.n_groups)
    codes = _frequent_codes(x, categorical)
    centre, scale = x[:, ~categorical].mean(axis=0), x[:, ~categorical].std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)

    def design(x: Floats, groups: Floats) -> Floats:
        own = x[:, categorical]
        indicators = [own[:, j, None] == values for j, values in enumerate(codes)]
        columns = np.column_stack([np.ones(x.shape[0]), (x[:, ~categorical] - centre) / scale, *indicators])
        if known.n_groups > _MOST_CROSSED:
            return np.column_stack([columns, groups])
        return np.column_stack([columns, *(columns * groups[:, [j]] for j in range(groups.shape[1]))])

    weights, spread = _reweighted(design(x, identity[groups][:, 1:]), logits, variance)

    def residuals(x: Floats, logits: Floats) -> Floats:
        as_groups = (np.tile(one, (x.shape[0], 1)) for one in identity[:, 1:])
        return np.column_stack([logits - design(x, one) @ weights for one in as_groups])

    return residuals, spread


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
    least = every[room] + 1 if every.size > room else 1
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


def _boosted(
    known: _Teaching, x: Floats, groups: _Groups, logits: Floats, variance: Floats
) -> tuple[_Residuals, float]:
    """Learn the boosted regression of logit(score) on features and group."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    columns = np.column_stack([x, groups])
    model = HistGradientBoostingRegressor(
        categorical_features=np.append(known.categorical, known.n_groups > 2),
        max_iter=150,
        early_stopping=logits.size >= 500,
        n_iter_no_change=5,
        random_state=known.seed,
    ).fit(columns, logits)
    spread = max(1.4826 * float(np.median(np.abs(logits - model.predict(columns)))), 1e-6)

    def residuals(x: Floats, logits: Floats) -> Floats:
        as_groups = (np.column_stack([x, np.full(x.shape[0], float(group))]) for group in range(known.n_groups))
        return np.column_stack([logits - model.predict(one) for one in as_groups])

    return residuals, spread


def _value_columns(scores: Floats, groups: _Groups, n_groups: int, asked: Floats) -> Floats | None:
    """Return the groups' log-odds among known people with exactly this score, and their number; None if few tie."""
    values, place = np.unique(scores, return_inverse=True)
    if values.size > 0.95 * scores.size:
        return None
    counts = np.bincount(place * n_groups + groups, minlength=values.size * n_groups).reshape(-1, n_groups)
    share = np.bincount(groups, minlength=n_groups) / groups.size
    logs = np.log(counts + np.maximum(share, 1e-6))
    at = np.minimum(np.searchsorted(values, asked), values.size - 1)
    found = np.column_stack([logs[:, 1:] - logs[:, :1], counts.sum(axis=1).astype(np.float64)])[at]
    found[values[at] != asked] = np.append(np.full(n_groups - 1, np.nan), 0.0)
    return found
