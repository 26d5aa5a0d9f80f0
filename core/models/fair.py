"""The ways to train the audited model, on a tree of depth 8 as in Ferry et al. (2023, IV-B).

The fair methods come from fairlearn; the private tree is `core.models.dp_id3`, which is no fairness method. A
randomised model is asked for its predictions once, with a seed; who needs them later is handed that one answer,
because two draws differ on up to 5.6% of people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Codes, Floats
from ..base.errors import InputError
from ..base.validation import choice, one_length, privacy_budget, seed_value, unit_interval
from ..stats.fairness import METRICS
from .private_fair import PrivateFairModel, counted_private_tree, fair_acceptance, fit_private_tree

METHODS = (
    "exponentiated_gradient",
    "threshold_optimizer",
    "correlation_remover",
    "unmitigated",
    "dp_id3",
    "private_fair",
)
"""Names of the ways to train: in-, post- and pre-processing, the control, and training with privacy noise.

`private_fair` is `dp_id3` with answers changed by group until the rates meet a tolerance (`core.models.private_fair`).
"""

TOLERANCE_METHODS = ("exponentiated_gradient", "private_fair")
"""Methods that are asked for a tolerance; the others have none, or always aim at 0."""

CONSTRAINED_METHODS = (*TOLERANCE_METHODS, "threshold_optimizer")
"""Methods that are trained for a fairness metric."""

PRIVATE_METHODS = ("dp_id3", "private_fair")
"""Methods that train with a privacy budget epsilon."""

GIVEN_PREDICTIONS = "given"
"""Method of a model that came with the table as its predictions; not one of `METHODS`, as nothing is trained."""

METHOD_TITLES = {
    "exponentiated_gradient": "Exponentiated gradient",
    "threshold_optimizer": "Threshold optimizer",
    "correlation_remover": "Correlation remover",
    "unmitigated": "No mitigation",
    "dp_id3": "Private tree (DP-ID3)",
    "private_fair": "Private fair tree",
    GIVEN_PREDICTIONS: "Given predictions",
}


def instead_of_constant(method: str) -> str:
    """Return what to do about a model of this method that gives everybody the same answer."""
    if method == GIVEN_PREDICTIONS:
        return "Check that these are the model's answers; if they are, release another model."
    remedy = {
        "exponentiated_gradient": "a larger tolerance, ",
        "dp_id3": "a larger ε, ",
        "private_fair": "a larger ε or tolerance, ",
    }.get(method, "")
    return f"Choose {remedy}more data or another method."


_CONSTRAINTS = {
    "statistical_parity": ("DemographicParity", "demographic_parity"),
    "predictive_equality": ("FalsePositiveRateParity", "false_positive_rate_parity"),
    "equal_opportunity": ("TruePositiveRateParity", "true_positive_rate_parity"),
    "equalized_odds": ("EqualizedOdds", "equalized_odds"),
}
"""Metric -> fairlearn's names for it, in reductions and in postprocessing."""

TREE_DEPTH = 8
"""Of the models' trees, as published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FairModel:
    """A trained model of one of `METHODS`, a fitted object of fairlearn or scikit-learn.

    It may need people's sensitive attribute to predict; if it is randomised, two predictions for the same
    person may differ.
    """

    method: str
    needs_sensitive: bool
    randomised: bool
    estimator: Any

    def predict(self, features: Floats, sensitive: Codes, *, seed: int) -> Codes:
        """Return randomly drawn predictions, shape (n,), 0 or 1; groups are used only where `needs_sensitive`."""
        if self.method == "exponentiated_gradient":
            drawn = self.estimator.predict(features, random_state=seed)
        elif self.method == "threshold_optimizer":
            drawn = self.estimator.predict(
                features, sensitive_features=sensitive, random_state=seed
            )
        elif self.method == "correlation_remover":
            drawn = self.estimator[1].predict(self._decorrelated(features, sensitive))
        elif self.method == "private_fair":
            drawn = self.estimator.predict(features, sensitive, seed=seed)
        else:
            drawn = self.estimator.predict(features)
        return np.asarray(drawn).astype(np.uint8)

    def acceptance(self, features: Floats, sensitive: Codes) -> Floats:
        """Return how likely one random draw of the predictions is positive, shape (n,): 0 or 1 unless `randomised`."""
        if self.method in ("threshold_optimizer", "private_fair"):
            return self.scores(features, sensitive)
        if self.method != "exponentiated_gradient":
            return self.predict(features, sensitive, seed=0).astype(np.float64)
        accepted = sum(weight * tree.predict(features) for weight, tree in self._weighted_trees())
        return np.clip(np.asarray(accepted, dtype=np.float64), 0.0, 1.0)

    def _decorrelated(self, features: Floats, sensitive: Codes) -> Floats:
        """Return the features as the correlation remover hands them to its tree."""
        remover = self.estimator[0]
        return np.asarray(
            remover.transform(
                _with_groups(features, sensitive, len(remover.sensitive_feature_ids) + 1)
            )
        )

    def _weighted_trees(self) -> list[tuple[float, Any]]:
        """Return the trees exponentiated gradient draws from, each with its chance."""
        weights = np.asarray(
            self.estimator.weights_.sort_index(), dtype=np.float64
        )  # named by tree, in any order
        trees = zip(weights / weights.sum(), self.estimator.predictors_, strict=True)
        return [(weight, tree) for weight, tree in trees if weight > 0]

    def scores(self, features: Floats, sensitive: Codes) -> Floats:
        """Return how the model scores each person, shape (n,), in [0, 1].

        The share of positive labels in the person's leaf; of exponentiated gradient's trees the mean by their
        weights; of the threshold optimizer and the private fair tree the probability with which it accepts.
        """
        if self.method == "exponentiated_gradient":
            scored = sum(
                weight * _positive_shares(tree, features) for weight, tree in self._weighted_trees()
            )
        elif self.method == "threshold_optimizer":
            scored = self.estimator._pmf_predict(features, sensitive_features=sensitive)[:, 1]
        elif self.method == "correlation_remover":
            scored = self.estimator[1].predict_proba(self._decorrelated(features, sensitive))[:, 1]
        elif self.method == "private_fair":
            scored = self.estimator.probability(features, sensitive)
        else:
            scored = self.estimator.predict_proba(features)[:, 1]
        return np.clip(np.asarray(scored, dtype=np.float64), 0.0, 1.0)


def _positive_shares(tree: Any, features: Floats) -> Floats:
    """Share of label 1 in each record's leaf, shape (n,), of a tree that may know one label alone.

    Exponentiated gradient relabels its records for every tree. Where all of them then have one label, as where a group
    has but one, it takes a constant in place of a tree, which has no column for the other label.
    """
    shares = np.asarray(tree.predict_proba(features), dtype=np.float64)
    columns = np.flatnonzero(np.asarray(tree.classes_) == 1)
    return shares[:, columns].sum(axis=1)


def fit_model(
    method: str,
    features: Floats,
    labels: Codes,
    sensitive: Codes,
    *,
    metric: str = "statistical_parity",
    tolerance: float = 0.0,
    seed: int = 0,
    epsilon: float = math.inf,
    domains: Sequence[int | tuple[float, float]] | None = None,
    depth: int = TREE_DEPTH,
    n_groups: int | None = None,
) -> FairModel:
    """Train a model.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    features, labels, sensitive : ndarray of shape (n, d), (n,) and (n,)
        Labels are 0 or 1, groups 0 to K - 1.
    metric : str
        Fairness metric the method is to satisfy; correlation remover, control and private tree do not use it.
    tolerance : float in [0, 1]
        Largest distance of a group's rate from everybody's that is asked for. Only `TOLERANCE_METHODS` can be asked
        for more than 0; fairlearn's threshold optimizer always aims at 0.
    epsilon : float in (0, inf]
        Privacy budget of `PRIVATE_METHODS`; the other methods do not use it.
    domains : sequence of int or (low, high), optional
        Public domain of each feature for the private tree, such as `AuditDataset.domains`: k for the codes 0 to k - 1,
        the last of which also stands for -1, or the range of a number. Read from the records when left out, which
        voids a finite epsilon, with a warning.
    depth : int
        Of the trees, at most; at least 1.
    n_groups : int, optional
        Number of groups, which the private fair tree takes as public; read from the records when left out.
    """
    from sklearn.tree import DecisionTreeClassifier

    method = choice(method, METHODS, name="method")
    metric = choice(metric, METRICS, name="metric")
    tolerance = unit_interval(tolerance, name="tolerance")
    seed = seed_value(seed)
    epsilon = privacy_budget(epsilon)
    one_length(features=features, labels=labels, sensitive=sensitive)
    if np.unique(labels).size < 2 or np.unique(sensitive).size < 2:
        raise InputError(
            "A fair model needs training records of both labels and both groups, got only one of them."
        )
    if method == "dp_id3":
        private = fit_private_tree(
            features, labels, epsilon=epsilon, domains=domains, max_depth=depth, seed=seed
        )
        return FairModel(method=method, needs_sensitive=False, randomised=False, estimator=private)
    if method == "private_fair":
        grown, counts = counted_private_tree(
            features,
            labels,
            sensitive,
            epsilon=epsilon,
            n_groups=n_groups or int(sensitive.max()) + 1,
            domains=domains,
            max_depth=depth,
            seed=seed,
        )
        acceptance = fair_acceptance(counts, tolerance=tolerance, metric=metric)
        fair = PrivateFairModel(tree=grown, acceptance=acceptance)
        return FairModel(method=method, needs_sensitive=True, randomised=True, estimator=fair)
    tree = DecisionTreeClassifier(max_depth=depth, random_state=seed)
    if method == "exponentiated_gradient":
        from fairlearn import reductions

        moment = getattr(reductions, _CONSTRAINTS[metric][0])(difference_bound=tolerance)
        estimator = reductions.ExponentiatedGradient(tree, moment)
        estimator.fit(features, labels, sensitive_features=sensitive)
    elif method == "threshold_optimizer":
        from fairlearn.postprocessing import ThresholdOptimizer

        constraint = _CONSTRAINTS[metric][1]
        estimator = ThresholdOptimizer(
            estimator=tree, constraints=constraint, predict_method="predict_proba"
        )
        estimator.fit(features, labels, sensitive_features=sensitive)
    elif method == "correlation_remover":
        estimator = _correlation_remover(tree, features, labels, sensitive)
    else:
        estimator = tree.fit(features, labels)
    return FairModel(
        method=method,
        needs_sensitive=method in ("threshold_optimizer", "correlation_remover"),
        randomised=method in ("exponentiated_gradient", "threshold_optimizer"),
        estimator=estimator,
    )


def _correlation_remover(tree: Any, x: Any, y: Any, s: Any) -> Any:
    from fairlearn.preprocessing import CorrelationRemover

    k = int(s.max()) + 1
    remover = CorrelationRemover(sensitive_feature_ids=list(range(x.shape[1], x.shape[1] + k - 1)))
    decorrelated = remover.fit_transform(_with_groups(x, s, k))
    return remover, tree.fit(decorrelated, y)


def _with_groups(x: Any, s: Any, k: int) -> Any:
    """Append an indicator column for each group but group 0."""
    return np.column_stack([x, *(s == group for group in range(1, k))])
