"""The ways to train the audited model, all on a decision tree of depth 8 as in Ferry et al. (2023, IV-B).

The fair methods come from fairlearn; the private tree is `core.models.dp_id3`, which is no fairness method. A
randomised model is asked for its predictions once, with a seed; whoever needs them later is handed that one answer,
because two draws differ on up to 5.6% of people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.fairness import METRICS
from core.models.private import fit_private_tree
from core.validation import choice, one_length, privacy_budget, seed_value, unit_interval

METHODS = ("exponentiated_gradient", "threshold_optimizer", "correlation_remover", "unmitigated", "dp_id3")
"""Names of the ways to train: in-, post- and pre-processing, the control, and training with privacy noise."""

GIVEN = "given"
"""Method of a model that came with the table as its predictions; not one of `METHODS`, as nothing is trained."""

METHOD_TITLES = {
    "exponentiated_gradient": "Exponentiated gradient",
    "threshold_optimizer": "Threshold optimizer",
    "correlation_remover": "Correlation remover",
    "unmitigated": "No mitigation",
    "dp_id3": "Private tree (DP-ID3)",
    GIVEN: "Given predictions",
}

_MAX_DEPTH = 8
_THRESHOLD_CONSTRAINTS = {
    "statistical_parity": "demographic_parity",
    "predictive_equality": "false_positive_rate_parity",
    "equal_opportunity": "true_positive_rate_parity",
    "equalized_odds": "equalized_odds",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FairModel:
    """A trained model.

    Attributes
    ----------
    method : str
        One of `METHODS`.
    needs_sensitive : bool
        Whether it must be told people's sensitive attribute to predict.
    randomised : bool
        Whether two predictions for the same person may differ.
    estimator : object
        The fitted fairlearn or scikit-learn object.
    """

    method: str
    needs_sensitive: bool
    randomised: bool
    estimator: Any

    def predict(
        self, features: npt.NDArray[np.float64], sensitive: npt.NDArray[np.uint8], *, seed: int
    ) -> npt.NDArray[np.uint8]:
        """Return one draw of the predictions, shape (n,), 0 or 1.

        Parameters
        ----------
        features : ndarray of shape (n, d)
        sensitive : ndarray of shape (n,)
            Used only where `needs_sensitive` is true.
        seed : int
            Fixes the draw of a randomised model.
        """
        if self.method == "exponentiated_gradient":
            drawn = self.estimator.predict(features, random_state=seed)
        elif self.method == "threshold_optimizer":
            drawn = self.estimator.predict(features, sensitive_features=sensitive, random_state=seed)
        elif self.method == "correlation_remover":
            remover, tree = self.estimator
            drawn = tree.predict(
                remover.transform(_with_groups(features, sensitive, len(remover.sensitive_feature_ids) + 1))
            )
        else:
            drawn = self.estimator.predict(features)
        return np.asarray(drawn).astype(np.uint8)

    def acceptance(
        self, features: npt.NDArray[np.float64], sensitive: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.float64]:
        """Return how likely one draw of the predictions is positive, shape (n,): 0 or 1 unless `randomised`.

        Parameters
        ----------
        features : ndarray of shape (n, d)
        sensitive : ndarray of shape (n,)
            Used only where `needs_sensitive` is true.
        """
        if self.method == "threshold_optimizer":
            return self.scores(features, sensitive)
        if self.method != "exponentiated_gradient":
            return self.predict(features, sensitive, seed=0).astype(np.float64)
        weights = np.asarray(self.estimator.weights_, dtype=np.float64)
        trees = zip(weights / weights.sum(), self.estimator.predictors_, strict=True)
        accepted = sum(weight * tree.predict(features) for weight, tree in trees if weight > 0)
        return np.clip(np.asarray(accepted, dtype=np.float64), 0.0, 1.0)

    def scores(self, features: npt.NDArray[np.float64], sensitive: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        """Return how the model scores each person, shape (n,), in [0, 1].

        The share of positive labels in the person's leaf; of exponentiated gradient's trees the mean by their
        weights; of the threshold optimizer the probability with which it accepts.

        Parameters
        ----------
        features : ndarray of shape (n, d)
        sensitive : ndarray of shape (n,)
            Used only where `needs_sensitive` is true.
        """
        if self.method == "exponentiated_gradient":
            weights = np.asarray(self.estimator.weights_, dtype=np.float64)
            trees = zip(weights / weights.sum(), self.estimator.predictors_, strict=True)
            scored = sum(weight * tree.predict_proba(features)[:, 1] for weight, tree in trees if weight > 0)
        elif self.method == "threshold_optimizer":
            scored = self.estimator._pmf_predict(features, sensitive_features=sensitive)[:, 1]
        elif self.method == "correlation_remover":
            remover, tree = self.estimator
            groups = len(remover.sensitive_feature_ids) + 1
            scored = tree.predict_proba(remover.transform(_with_groups(features, sensitive, groups)))[:, 1]
        else:
            scored = self.estimator.predict_proba(features)[:, 1]
        return np.clip(np.asarray(scored, dtype=np.float64), 0.0, 1.0)


def fit_model(
    method: str,
    features: npt.NDArray[np.float64],
    labels: npt.NDArray[np.uint8],
    sensitive: npt.NDArray[np.uint8],
    *,
    metric: str = "statistical_parity",
    tolerance: float = 0.0,
    seed: int = 0,
    epsilon: float = math.inf,
    domains: Sequence[int | tuple[float, float]] | None = None,
) -> FairModel:
    """Train a model.

    Parameters
    ----------
    method : {"exponentiated_gradient", "threshold_optimizer", "correlation_remover", "unmitigated", "dp_id3"}
    features : ndarray of shape (n, d)
    labels : ndarray of shape (n,), 0 or 1
    sensitive : ndarray of shape (n,), 0 to K - 1
    metric : str
        Fairness metric the method is to satisfy; correlation remover, control and private tree do not use it.
    tolerance : float in [0, 1]
        Largest distance of a group's rate from everybody's that is asked for. Only exponentiated gradient can be
        asked for more than 0; fairlearn's threshold optimizer always aims at 0.
    seed : int
    epsilon : float in (0, inf]
        Privacy budget of the private tree; the other methods do not use it.
    domains : sequence of int or (low, high), optional
        Public domain of each feature for the private tree, such as `AuditDataset.domains`: k for the codes 0 to k - 1,
        the last of which also stands for -1, or the range of a number. Read from the records when left out, which
        voids a finite epsilon, with a warning.

    Raises
    ------
    InputError
        If an argument breaks its rule.
    """
    method = choice(method, METHODS, name="method")
    metric = choice(metric, METRICS, name="metric")
    tolerance = unit_interval(tolerance, name="tolerance")
    seed, epsilon = seed_value(seed), privacy_budget(epsilon)
    one_length(features=features, labels=labels, sensitive=sensitive)
    if np.unique(labels).size < 2 or np.unique(sensitive).size < 2:
        raise InputError("A fair model needs training records of both labels and both groups, got only one of them.")
    if method == "dp_id3":
        private = fit_private_tree(features, labels, epsilon=epsilon, domains=domains, max_depth=_MAX_DEPTH, seed=seed)
        return FairModel(method=method, needs_sensitive=False, randomised=False, estimator=private)
    fit = {
        "exponentiated_gradient": _exponentiated_gradient,
        "threshold_optimizer": _threshold_optimizer,
        "correlation_remover": _correlation_remover,
        "unmitigated": _unmitigated,
    }[method]
    estimator = fit(features, labels, sensitive, metric, tolerance, seed)
    return FairModel(
        method=method,
        needs_sensitive=method in ("threshold_optimizer", "correlation_remover"),
        randomised=method in ("exponentiated_gradient", "threshold_optimizer"),
        estimator=estimator,
    )


def _tree(seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=_MAX_DEPTH, random_state=seed)


def _exponentiated_gradient(x: Any, y: Any, s: Any, metric: str, tolerance: float, seed: int) -> Any:
    from fairlearn import reductions

    constraint = {
        "statistical_parity": reductions.DemographicParity,
        "predictive_equality": reductions.FalsePositiveRateParity,
        "equal_opportunity": reductions.TruePositiveRateParity,
        "equalized_odds": reductions.EqualizedOdds,
    }[metric](difference_bound=tolerance)
    mitigator = reductions.ExponentiatedGradient(_tree(seed), constraint)
    mitigator.fit(x, y, sensitive_features=s)
    return mitigator


def _threshold_optimizer(x: Any, y: Any, s: Any, metric: str, tolerance: float, seed: int) -> Any:
    from fairlearn.postprocessing import ThresholdOptimizer

    optimizer = ThresholdOptimizer(
        estimator=_tree(seed), constraints=_THRESHOLD_CONSTRAINTS[metric], predict_method="predict_proba"
    )
    optimizer.fit(x, y, sensitive_features=s)
    return optimizer


def _correlation_remover(x: Any, y: Any, s: Any, metric: str, tolerance: float, seed: int) -> Any:
    from fairlearn.preprocessing import CorrelationRemover

    k = int(s.max()) + 1
    remover = CorrelationRemover(sensitive_feature_ids=list(range(x.shape[1], x.shape[1] + k - 1)))
    decorrelated = remover.fit_transform(_with_groups(x, s, k))
    return remover, _tree(seed).fit(decorrelated, y)


def _with_groups(x: Any, s: Any, k: int) -> Any:
    """Append an indicator column for each group but group 0."""
    return np.column_stack([x, *(s == group for group in range(1, k))])


def _unmitigated(x: Any, y: Any, s: Any, metric: str, tolerance: float, seed: int) -> Any:
    return _tree(seed).fit(x, y)
