"""Attribute inference from everything a model releases, beside imputation from features.

Two attacks are tried beside imputation (boosting on features and true label). "label" adds how much likelier the
predicted label is in each group; "all" is one boosting over that, the score, its residuals, digits and exact values
(`core.adversaries.score_evidence`). Half of the known people teach what is learned about features and outputs, the
other half how to combine it; then the halves change places, unless they are large. The posteriors' geometric mean is
the attacker's. Imputation is made in the same way, so that nothing but the release makes the difference. The second
attack is used if its log-loss on validation records of the attacker's own is lower by more than one standard error
(the one-standard-error rule of Breiman et al. 1984): it moves more guesses by chance where nothing leaks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.adversaries.score_evidence import Outputs, learn_evidence
from core.arrays import Floats, Mask
from core.datasets.splits import taught
from core.seeds import child_generator, child_seed

ATTACKS = ("label", "all")
"""The attacks; labels alone allow the first."""

_EDGE = 1e-6
_VALIDATION_SHARE = 0.3

_ENOUGH = 50_000
"""From so many people on one half teaches and the other combines, and they do not change places."""

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReleasedAttack:
    """What an attacker believes about some people's groups without and with a release.

    Probabilities of the groups (m, K) by imputation, and by the attack of `ATTACKS` that was chosen; the groups' shares
    (K,) among the people whose attribute the attacker knows, and the number of these.
    """

    before: Floats = field(repr=False)
    after: Floats = field(repr=False)
    attack: str
    share: Floats
    n_known: int


def attack_released(
    x: Floats,
    outputs: Outputs,
    sensitive: npt.NDArray[np.integer],
    known: Rows,
    judged: Rows,
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
    own_seed = child_seed(seed, "released outputs")
    learner = _Learner(x, outputs, sensitive, n_groups, categorical, own_seed)
    ways = [(first, second), (second, first)][: 1 if learned.size > _ENOUGH else 2]
    found = [learner.one_way(teach, combine, asked) for teach, combine in ways]
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


@dataclass(frozen=True, slots=True, eq=False)
class _Learner:
    x: Floats
    outputs: Outputs
    sensitive: npt.NDArray[np.integer]
    n_groups: int
    categorical: Mask
    seed: int

    def one_way(self, teach: Rows, combine: Rows, asked: Rows) -> dict[str, Floats]:
        """Return log-probabilities of the people asked, by attack; one half teaches, the other half combines."""
        from sklearn.linear_model import LogisticRegression

        evidence = learn_evidence(
            self.x[teach],
            self.outputs.of(teach),
            self.sensitive[teach],
            n_groups=self.n_groups,
            categorical=self.categorical,
            seed=self.seed,
        )
        both = np.concatenate([combine, asked])
        imputation = self._boosted(self.x[teach], self.sensitive[teach], self.categorical)
        logs = _log(imputation.predict_proba(self.x[both]))
        odds = logs[:, 1:] - logs[:, :1]
        here = [(rows, self.x[rows], self.outputs.of(rows)) for rows in (combine, asked)]
        ratios = np.concatenate([evidence.label_ratios(x, out) for _, x, out in here])
        labels = np.concatenate([out.labels for _, _, out in here]).astype(np.float64)
        truth, n = self.sensitive[combine], combine.size

        def straight(columns: Floats) -> Floats:
            fitted = LogisticRegression(C=10.0, max_iter=500).fit(columns[:n], truth)
            return _log(fitted.predict_proba(columns[n:]))

        found = {"imputation": straight(odds), "label": straight(np.column_stack([odds, ratios]))}
        if self.outputs.scores is not None:
            scored = [evidence.score_columns(x, out) for _, x, out in here]
            told = np.column_stack([odds, ratios, labels])
            everything = np.column_stack([told, np.concatenate([columns for columns, _ in scored]), self.x[both]])
            coded = np.concatenate([np.zeros(told.shape[1], bool), scored[0][1], self.categorical])
            stack = self._boosted(everything[:n], truth, coded)
            found["all"] = _log(stack.predict_proba(everything[n:]))
        return found

    def _boosted(self, columns: Floats, truth: npt.NDArray[np.integer], categorical: Mask) -> Any:
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


def _cut(rows: Rows, sensitive: npt.NDArray[np.integer], share: float, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Return two random parts of the rows, each group cut alike, in random order."""
    parts: tuple[list[Rows], list[Rows]] = ([], [])
    for group in np.unique(sensitive[rows]):
        own = rng.permutation(rows[sensitive[rows] == group])
        at = round(share * own.size)
        parts[0].append(own[:at])
        parts[1].append(own[at:])
    first, second = (rng.permutation(np.concatenate(part)) for part in parts)
    return first, second


def _log(probability: Floats) -> Floats:
    return np.log(np.clip(probability, _EDGE, 1.0))


def _normalised(logs: Floats) -> Floats:
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))
