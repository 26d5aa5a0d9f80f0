"""The ways to train the audited model, on a tree of depth 8 as in Ferry et al. (2023, IV-B).

The fair methods come from fairlearn; the private tree is `core.models.dp_id3`, which is no fairness method. A
randomised model is asked for its predictions once, with a seed; who needs them later is handed that one answer,
because two draws differ on up to 5.6% of people.

The private tree on an audit's records has a fair form, whose answers are changed at random by group:

1. The tree grows at its share of the budget, from noisy counts alone (`core.models.dp_id3`). It does not see groups.
2. The training records are counted by group, the tree's decision and label, with noise at the rest of the budget.
3. A linear program on these counts says how often each group's decision is answered yes, for any tolerance and metric:
   with N_gdy people of group g, decision d and label y, answering yes with probability p_gd makes
   Σ p_gd (N_gd0 − N_gd1) + const expected errors and gives group g the rate r_g = Σ_d N_gd p_gd / N_g. The distance of
   every r_g from the overall rate Σ N_g r_g / N is at most the tolerance; both are linear in p (Hardt et al. 2016, who
   ask for equal rates). Answering everybody yes meets every tolerance, so there is always a solution.
4. Answers are drawn once, with a seed.

What is private: tree, counts and every model made of them, for all tolerances together, are epsilon-differentially
private for one training record more or less, its group included, and thus 2 epsilon for a record put in another's
place. 1 and 2 add up to epsilon, all that follows is post-processing. Assumed, as of the tree: domains, the number of
groups, depth and epsilon were chosen without looking at the records, and nobody knows the seeds.

What is not: the model needs a person's group to answer, so an answer reveals some of their group whatever
epsilon is. That is what the reconstruction attacks use, and no noise in the training is meant against it.

What is fair: the rates on the *noisy* counts, in expectation over the randomness; with noise those of the training
records miss the tolerance by what noise and draw do to small groups. Other ways to a private and fair model spend the
budget while they train (Xu et al. 2019; Jagielski et al. 2019, whose post-processing this follows).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..base.errors import FairLeakError, InputError
from ..base.validation import (
    Codes,
    Floats,
    child_generator,
    choice,
    one_length,
    privacy_budget,
    seed_value,
    unit_interval,
)
from ..stats.fairness import LABELS_COMPARED, METRICS
from .id3 import noisy_counts

if TYPE_CHECKING:
    from .dp_id3 import PrivateTree

METHODS = (
    "exponentiated_gradient",
    "threshold_optimizer",
    "correlation_remover",
    "unmitigated",
    "dp_id3",
    "private_fair",
)
"""Names of the ways to train: in-, post- and pre-processing, the control, and training with privacy noise.

`private_fair` is `dp_id3` with answers changed by group until the rates meet a tolerance.
"""

TOLERANCE_METHODS = ("exponentiated_gradient", "private_fair")
"""Methods that are asked for a tolerance; the others have none, or always aim at 0."""

CONSTRAINED_METHODS = (*TOLERANCE_METHODS, "threshold_optimizer")
"""Methods that are trained for a fairness metric."""

PRIVATE_METHODS = ("dp_id3", "private_fair")
"""Methods that train with a privacy budget epsilon."""

_NEEDING_SENSITIVE = ("threshold_optimizer", "correlation_remover", "private_fair")
"""Methods whose models need people's sensitive attribute to predict."""

_RANDOMISED = ("exponentiated_gradient", "threshold_optimizer", "private_fair")
"""Methods whose models may answer two times differently about the same person."""

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
    """A trained model of one of `METHODS`, a fitted object of fairlearn or scikit-learn."""

    method: str
    estimator: Any

    @property
    def needs_sensitive(self) -> bool:
        """Whether it needs people's sensitive attribute to predict."""
        return self.method in _NEEDING_SENSITIVE

    @property
    def randomised(self) -> bool:
        """Whether two predictions for the same person may differ."""
        return self.method in _RANDOMISED

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
        return FairModel(method=method, estimator=private)
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
        return FairModel(method=method, estimator=fair)
    tree = DecisionTreeClassifier(max_depth=depth, random_state=seed)
    if method == "unmitigated":
        estimator = tree.fit(features, labels)
    elif method == "correlation_remover":
        estimator = _correlation_remover(tree, features, labels, sensitive)
    else:
        estimator = _constrained(method, tree, metric, tolerance)
        estimator.fit(features, labels, sensitive_features=sensitive)
    return FairModel(method=method, estimator=estimator)


def _constrained(method: str, tree: Any, metric: str, tolerance: float) -> Any:
    """Return fairlearn's estimator of a method that trains for a metric."""
    moment, constraint = _CONSTRAINTS[metric]
    if method == "threshold_optimizer":
        from fairlearn.postprocessing import ThresholdOptimizer

        return ThresholdOptimizer(
            estimator=tree, constraints=constraint, predict_method="predict_proba"
        )
    from fairlearn import reductions

    return reductions.ExponentiatedGradient(
        tree, getattr(reductions, moment)(difference_bound=tolerance)
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


def fit_private_tree(
    features: Floats,
    labels: Codes,
    *,
    epsilon: float,
    domains: Sequence[int | tuple[float, float]] | None,
    max_depth: int,
    seed: int,
    accounting: str = "savings",
) -> PrivateTree:
    """Grow a private tree; for the parameters see `core.models.dp_id3.DPID3Classifier` and `core.models.fit_model`."""
    from .dp_id3 import PrivateTree

    return PrivateTree(
        epsilon, max_depth, seed, domains=domains, classes=(0, 1), accounting=accounting
    ).fit(features, labels)


_KEEP = 1e-6
"""Price of a changed decision, as a share of errors, so that of equally good answers the model's own is given."""


def fair_acceptance(counts: npt.ArrayLike, *, tolerance: float, metric: str) -> Floats:
    """Return the probabilities of a positive answer, by group and decision (K, 2), with the fewest expected errors.

    `counts` are people by group, decision and label, (K, 2, 2); noisy ones may be negative, which counts as 0, and a
    group without anybody left counts one person a cell. No group's rate is farther than the tolerance from
    everybody's, on these counts and in expectation.
    """
    from scipy.optimize import linprog

    tolerance = unit_interval(tolerance, name="tolerance")
    cells = _people(counts)
    labels = LABELS_COMPARED[choice(metric, METRICS, name="metric")]
    compared_labels = [[label] for label in labels] or [[0, 1]]
    rows = np.concatenate([_rate_rows(cells[:, :, compared]) for compared in compared_labels])
    price = (cells[:, :, 0] - cells[:, :, 1]) / cells.sum() + _KEEP * np.array([1.0, -1.0])
    solution: Any = linprog(
        price.ravel(),
        A_ub=np.concatenate([rows, -rows]),
        b_ub=np.full(2 * len(rows), tolerance),
        bounds=(0.0, 1.0),
        method="highs-ds",
    )
    if solution.status != 0:
        raise FairLeakError(
            f"The program that makes a private tree fair was not solved: {solution.message}"
        )
    return np.clip(np.asarray(solution.x, dtype=np.float64), 0.0, 1.0).reshape(len(cells), 2)


def _people(counts: npt.ArrayLike) -> Floats:
    cells = np.asarray(counts, dtype=np.float64)
    if cells.ndim != 3 or cells.shape[1:] != (2, 2) or len(cells) < 2:
        raise InputError(f"counts must have shape (K, 2, 2) with K at least 2, got {cells.shape}.")
    if not np.isfinite(cells).all():
        raise InputError("counts must be finite numbers, got nan or infinity.")
    cells = np.maximum(cells, 0.0)
    return np.where(cells.sum(axis=(1, 2), keepdims=True) > 0, cells, 1.0)


def _rate_rows(cells: Floats) -> Floats:
    """Return for each group the row that takes the probabilities to its rate less everybody's, shape (K, 2K)."""
    people = cells.sum(axis=2)  # by group and decision
    sizes = people.sum(axis=1)
    k = len(people)
    rates = np.zeros((k, k, 2))
    rates[np.arange(k), np.arange(k)] = people / np.maximum(sizes, 1e-300)[:, None]
    everybody = people / max(sizes.sum(), 1e-300)
    rows = rates - everybody[None]
    return np.asarray(rows[sizes > 0].reshape(-1, 2 * k))


TREE_SHARE = 0.75
"""Share of the budget the tree gets. It asks many small counts, the other part a single table of large ones."""


@dataclass(frozen=True, kw_only=True)
class PrivateFairModel:
    """A private tree and how often a group's person is answered yes by its decision, `acceptance` of shape (K, 2)."""

    tree: PrivateTree
    acceptance: Floats = field(repr=False)

    def probability(self, features: Floats, sensitive: Codes) -> Floats:
        """Return how likely one random draw of the answers is positive, shape (n,)."""
        one_length(features=features, sensitive=sensitive)
        _check_groups(sensitive, len(self.acceptance))
        return np.asarray(self.acceptance[sensitive, self.tree.predict(features).astype(np.intp)])

    def predict(self, features: Floats, sensitive: Codes, *, seed: int) -> Codes:
        """Return randomly drawn answers, shape (n,), 0 or 1; ask once and pass it on."""
        chance = self.probability(features, sensitive)
        drawn = child_generator(seed, "private fair tree, answers").random(chance.size)
        return (drawn < chance).astype(np.uint8)


def counted_private_tree(
    features: Floats,
    labels: Codes,
    sensitive: Codes,
    *,
    epsilon: float,
    n_groups: int,
    domains: Sequence[int | tuple[float, float]] | None,
    max_depth: int,
    seed: int,
) -> tuple[PrivateTree, npt.NDArray[np.int64]]:
    """Grow a private tree on features (n, d) and labels 0 or 1, and count what it decides, with noise.

    The counts, (K, 2, 2), are training records by group, the tree's decision and label. Tree and counts share the
    budget epsilon, at least 1e-6, or infinite for no noise. The domains of the features are public
    (`core.models.fit_model`); None has them read from the records, which voids a finite epsilon, with a warning. With
    the seed the noise can be removed.
    """
    _check_groups(sensitive, n_groups)
    for_tree = TREE_SHARE * epsilon
    if math.isinf(epsilon):
        for_counts = math.inf
    else:
        for_counts = epsilon - for_tree
    tree = fit_private_tree(
        features, labels, epsilon=for_tree, domains=domains, max_depth=max_depth, seed=seed
    )
    counts = np.zeros((n_groups, 2, 2), dtype=np.int64)
    np.add.at(
        counts,
        (sensitive.astype(np.intp), tree.predict(features).astype(np.intp), labels.astype(np.intp)),
        1,
    )
    return tree, noisy_counts(
        counts, for_counts, child_generator(seed, "private fair tree, counts")
    )


def _check_groups(sensitive: Codes, n_groups: int) -> None:
    if n_groups < 2:
        raise InputError(f"There must be at least 2 groups, got {n_groups}.")
    if sensitive.size and not 0 <= int(sensitive.min()) <= int(sensitive.max()) < n_groups:
        raise InputError(
            f"sensitive must be codes from 0 to {n_groups - 1}, got {int(sensitive.max())}."
        )
