"""A DP-ID3 tree whose answers are changed at random, by group, until groups' rates differ by little.

1. The tree grows at its share of the budget, from noisy counts alone (`core.models.dp_id3`). It does not see groups.
2. The training records are counted by group, the tree's decision and label, with noise at the rest of the budget.
3. A small linear program on these counts says how often each group's decision is to be answered yes, for any
   tolerance and metric (`core.models.private_fair.changes`).
4. Answers are drawn once, with a seed.

What is private: tree, counts and every model made of them, for all tolerances together, are epsilon-differentially
private for one training record more or less, its group included, and thus 2 epsilon for a record put in another's
place. 1 and 2 add up to epsilon, all that follows is post-processing. Assumed, as of the tree: domains, the number of
groups, depth and epsilon were chosen without looking at the records, and nobody knows the seeds.

What is not: the model must be told a person's group to answer, and answers by it, so an answer about somebody gives
some of her own group away whatever epsilon is. That is what the reconstruction attacks use, and no noise in the
training is meant against it.

What is fair: the rates on the *noisy* counts differ by at most the tolerance, in expectation over the draw. Those of
the training records do without noise (epsilon infinite), again in expectation; with noise they miss it by what the
noise and the draw do to small groups. Other ways to a private and fair model spend the budget while they train
(Xu et al. 2019; Jagielski et al. 2019, whose post-processing this follows); this one needs a single table of counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.models.dp_id3.noise import noisy_counts
from core.models.private import PrivateTree, fit_private_tree
from core.models.private_fair.changes import fair_acceptance
from core.models.private_fair.ledger import TREE_SHARE, PrivateFairLedger, parts
from core.seeds import child_generator
from core.validation import binary_array, one_length, privacy_budget

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFairModel:
    """A private tree with its answers by group.

    Attributes
    ----------
    tree : PrivateTree
    acceptance : ndarray of shape (K, 2), in [0, 1]
        How often a group's person is answered yes, by the tree's decision.
    """

    tree: PrivateTree
    acceptance: Floats = field(repr=False)

    def probability(self, features: Floats, sensitive: Codes) -> Floats:
        """Return how likely one draw of the answers is positive, shape (n,)."""
        one_length(features=features, sensitive=sensitive)
        _check_groups(sensitive, len(self.acceptance))
        return np.asarray(self.acceptance[sensitive, self.tree.predict(features).astype(np.intp)])

    def predict(self, features: Floats, sensitive: Codes, *, seed: int) -> Codes:
        """Return one draw of the answers, shape (n,), 0 or 1; ask once and pass it on.

        Parameters
        ----------
        features : ndarray of shape (n, d)
        sensitive : ndarray of shape (n,), 0 to K - 1
        seed : int
            Fixes the draw.
        """
        chance = self.probability(features, sensitive)
        drawn = child_generator(seed, "private fair tree, answers").random(chance.size)
        return (drawn < chance).astype(np.uint8)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFairTree:
    """A private tree and the noisy counts from which a model of any tolerance is made, at no further cost.

    Attributes
    ----------
    tree : PrivateTree
    counts : ndarray of shape (K, 2, 2), int64, or None
        Training records by group, the tree's decision and label, noise and all; None if the tree got all the budget.
    n_groups : int
    ledger : PrivateFairLedger
    """

    tree: PrivateTree
    counts: npt.NDArray[np.int64] | None = field(repr=False)
    n_groups: int
    ledger: PrivateFairLedger

    def unchanged(self) -> PrivateFairModel:
        """Return the tree alone, which promises nothing about groups."""
        return PrivateFairModel(tree=self.tree, acceptance=np.tile([0.0, 1.0], (self.n_groups, 1)))

    def fair(self, tolerance: float, *, metric: str = "statistical_parity") -> PrivateFairModel:
        """Return the model with the fewest errors, on the noisy counts, that meets a tolerance there in expectation.

        Raises
        ------
        InputError
            If an argument breaks its rule, or no counts were asked for.
        """
        if self.counts is None:
            raise InputError(
                "A tree that got all the budget has no counts to be made fair by; give it a share below 1."
            )
        return PrivateFairModel(
            tree=self.tree, acceptance=fair_acceptance(self.counts, tolerance=tolerance, metric=metric)
        )


def fit_private_fair(
    features: Floats,
    labels: npt.ArrayLike,
    sensitive: Codes,
    *,
    epsilon: float,
    n_groups: int,
    domains: Sequence[int | tuple[float, float]] | None,
    max_depth: int = 8,
    tree_share: float = TREE_SHARE,
    seed: int = 0,
) -> PrivateFairTree:
    """Grow a private tree and count what it decides, with noise.

    Parameters
    ----------
    features : ndarray of shape (n, d)
    labels : array-like of shape (n,), 0 or 1
    sensitive : ndarray of shape (n,), 0 to K - 1
    epsilon : float, at least 1e-6, or infinite
        Privacy budget of tree and counts together; infinity adds no noise to either.
    n_groups : int, at least 2
        K, public.
    domains : sequence of int or (low, high), or None
        Public domain of each feature, see `core.models.fit_model`; read from the records if None, which voids a
        finite epsilon, with a warning.
    max_depth : int
    tree_share : float in (0, 1]
        Of the budget; at 1 nothing is counted.
    seed : int
        Draws the noise. Whoever knows it takes the noise off.

    Raises
    ------
    InputError
        If an argument breaks its rule.
    """
    epsilon, y = privacy_budget(epsilon), binary_array(labels, name="labels")
    if not 0.0 < tree_share <= 1.0:
        raise InputError(f"tree_share must be in (0, 1], got {tree_share!r}.")
    one_length(features=features, labels=y, sensitive=sensitive)
    _check_groups(sensitive, n_groups)
    for_tree, for_counts = parts(epsilon, tree_share)
    tree = fit_private_tree(features, y, epsilon=for_tree, domains=domains, max_depth=max_depth, seed=seed)
    counts = None
    if tree_share < 1.0:
        cells = np.zeros((n_groups, 2, 2), dtype=np.int64)
        np.add.at(cells, (sensitive.astype(np.intp), tree.predict(features).astype(np.intp), y.astype(np.intp)), 1)
        counts = noisy_counts(cells, for_counts, child_generator(seed, "private fair tree, counts"))
    ledger = PrivateFairLedger(
        asked=epsilon, tree=tree.tree.budget_ledger_, counts=0.0 if counts is None else for_counts
    )
    return PrivateFairTree(tree=tree, counts=counts, n_groups=n_groups, ledger=ledger)


def _check_groups(sensitive: Codes, n_groups: int) -> None:
    if n_groups < 2:
        raise InputError(f"There must be at least 2 groups, got {n_groups}.")
    if sensitive.size and not 0 <= int(sensitive.min()) <= int(sensitive.max()) < n_groups:
        raise InputError(f"sensitive must be codes from 0 to {n_groups - 1}, got {int(sensitive.max())}.")
