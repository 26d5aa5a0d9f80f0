"""The private tree on an audit's records; and a fair one, whose answers are changed at random by group.

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
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.arrays import Codes, Floats
from ..base.errors import FairLeakError, InputError
from ..base.seeds import child_generator
from ..base.validation import choice, one_length, unit_interval
from ..stats.fairness import LABELS_COMPARED, METRICS
from .tree_budget import noisy_counts


@dataclass(frozen=True, kw_only=True)
class PrivateTree:
    """A fitted private tree; of a column of codes, the last one stands for a missing value where there can be any."""

    tree: Any

    def predict(self, features: Floats) -> npt.NDArray[Any]:
        """Return the label of each record, shape (n,)."""
        return np.asarray(self.tree.predict(_missing_last(features, self.tree.domains_)))

    def predict_proba(self, features: Floats) -> Floats:
        """Return the shares of the labels in each record's leaf, shape (n, 2)."""
        return np.asarray(self.tree.predict_proba(_missing_last(features, self.tree.domains_)))


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
    """Grow a private tree; for the parameters see `core.models.DPID3Classifier` and `core.models.fit_model`."""
    from .dp_id3 import DPID3Classifier

    if domains is None:
        coded = features
    else:
        coded = _missing_last(features, domains)
    tree = DPID3Classifier(
        epsilon, max_depth, seed, domains=domains, classes=(0, 1), accounting=accounting
    )
    return PrivateTree(tree=tree.fit(coded, labels))


def _missing_last(features: Floats, domains: Sequence[int | tuple[float, float]]) -> Floats:
    """Return the features with -1 in columns of codes as the last code."""
    coded = np.array(features, dtype=np.float64)
    for j, domain in enumerate(domains):
        if isinstance(domain, int):
            coded[coded[:, j] == -1, j] = domain - 1
    return coded


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
    rows = np.concatenate(
        [
            _rate_rows(cells[:, :, compared])
            for compared in ([[label] for label in labels] or [[0, 1]])
        ]
    )
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
