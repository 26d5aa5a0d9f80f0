"""DP-ID3: a multiway decision tree with differential privacy, as a scikit-learn classifier.

SuLQ-ID3 (Blum et al. 2005; Friedman and Schuster 2010, algorithm 1; Zhang et al. 2020, algorithm 1) on public domains:
ID3 by information gain that sees its records through noisy counts only. Assumed: domains, classes, depth and epsilon
were chosen without looking at the records; people who see the tree do not know the seed. Guaranteed then, for the
accountings "savings" and "literal": the whole tree, and all it ever predicts, is epsilon-differentially private for
one record more or less, and thus 2 epsilon for a record put in another's place. Numbers and classes that are read
from the records void the guarantee, and a warning says so.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..base.errors import InputError, PrivacyLeakWarning
from ..base.validation import child_generator, choice, privacy_budget
from .id3 import (
    ACCOUNTINGS,
    BudgetLedger,
    codes_of,
    domain_sizes,
    grow,
    public_domains,
    read_domains,
)


class DPID3Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Multiway ID3 tree, with discrete Laplace noise on every count it looks at.

    Parameters
    ----------
    epsilon : float, at least 1e-6, or infinite
        Privacy budget of the whole tree; infinity is the plain ID3 tree.
    max_depth : int, at least 1, or None
        Levels below the root, at most; never more than there are columns, which is what None means.
    random_state : int, numpy Generator, RandomState or None
        Draws the noise. A seed that becomes known removes the noise, and with it the guarantee.
    domains : sequence of int or (low, high), optional
        Public domain of each column: k for the codes 0 to k - 1, or two numbers between which numbers go into 10
        bins of equal width (numbers outside into the outermost bins). Read from the records if None.
    classes : array-like, optional
        Public labels, at least two. Read from the records if None.
    accounting : {"savings", "literal", "naive"}
        How the budget is split, see `core.models.id3`. "naive" is not private.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    budget_ledger_ : BudgetLedger
        What the tree spent; `total` is epsilon, but for the naive tree, where it is the true cost.
    domains_ : tuple of int or (float, float)
    depth_, n_nodes_ : int
        Levels below the root that were grown, and nodes; children without anybody count.
    leaf_people_ : ndarray
        Training people of each leaf that has some, of the plain ID3 tree; empty where epsilon is finite.

    Warns
    -----
    PrivacyLeakWarning
        If epsilon is finite and domains or classes are read from the records, or the accounting is "naive".

    Notes
    -----
    Laplace noise drawn as a floating-point number gives the true count away through the gaps between such numbers
    (Mironov 2012). The noise here is its discrete counterpart, drawn as whole numbers, which have no such gaps; it
    comes from numpy's pseudo-random generator, not from a cryptographic one, and times are not hidden.
    """

    def __init__(
        self,
        epsilon: float = math.inf,
        max_depth: int | None = None,
        random_state: Any = None,
        *,
        domains: Sequence[int | tuple[float, float]] | None = None,
        classes: npt.ArrayLike | None = None,
        accounting: str = "savings",
    ) -> None:
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.random_state = random_state
        self.domains = domains
        self.classes = classes
        self.accounting = accounting

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the tree on codes or numbers (n, d), as the domains say, and labels (n,), among `classes` if given."""
        epsilon = privacy_budget(self.epsilon)
        depth = _depth(self.max_depth)
        accounting = choice(self.accounting, ACCOUNTINGS, name="accounting")
        x, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite=False)
        _finite(x)
        self.classes_, labels = _labels(y, self.classes)
        # Public domains and classes: read from the records, they would leak which values occur.
        if self.domains is None:
            domains = read_domains(x)
        else:
            domains = public_domains(self.domains, x.shape[1])
        codes = codes_of(x, domains)
        _warn(epsilon, accounting, from_records=self.domains is None or self.classes is None)
        self.domains_ = domains
        # ε' = B / (2 (d + 1)): a path has d + 1 nodes, and each asks twice (Friedman and Schuster
        # 2010, algorithm 1).
        self.budget_ledger_ = BudgetLedger(
            accounting=accounting,
            requested_epsilon=epsilon,
            depth=min(depth or x.shape[1], x.shape[1]),
            n_attributes=x.shape[1],
        )
        # Build_SuLQ_ID3(T, A, C, d, ε'), all nodes of a level at once; it sees T through NoisyCount alone.
        self.tree_ = grow(
            np.ascontiguousarray(codes.T),
            labels,
            sizes=domain_sizes(domains),
            n_classes=len(self.classes_),
            ledger=self.budget_ledger_,
            rng=_generator(self.random_state),
        )
        self.n_nodes_, self.depth_ = len(self.tree_.attribute), int(self.tree_.level[-1])
        # Numbers of people without noise: no part of a private tree.
        _, people = np.unique(self.tree_.leaves(codes), return_counts=True)
        if math.isinf(epsilon):
            self.leaf_people_ = people
        else:
            self.leaf_people_ = people[:0]
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the shares of the classes in each record's leaf, shape (n, C), noise and all.

        Raises `InputError` if a column holds a code outside its domain, or X holds nan or infinity.
        """
        check_is_fitted(self)
        x = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False)
        _finite(x)
        # Post-processing of noisy counts: any number of records costs no budget.
        return np.asarray(self.tree_.answer[self.tree_.leaves(codes_of(x, self.domains_))])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return each record's likeliest class, of equals the first, shape (n,)."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])


class PrivateTree(DPID3Classifier):
    """The tree of labels 0 and 1; of a column of codes, the last one stands for -1, a missing value."""

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the tree."""
        if self.domains is not None:
            X = _missing_last(X, self.domains)
        return super().fit(X, y)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the shares of the labels in each record's leaf, shape (n, 2)."""
        check_is_fitted(self)
        return super().predict_proba(_missing_last(X, self.domains_))


def _missing_last(
    features: Any, domains: Sequence[int | tuple[float, float]]
) -> npt.NDArray[np.float64]:
    """Features with -1 in columns of codes as the last code."""
    coded = np.array(features, dtype=np.float64)
    for j, domain in enumerate(domains):
        if isinstance(domain, int):
            coded[coded[:, j] == -1, j] = domain - 1
    return coded


def _depth(value: Any) -> int | None:
    """Return the largest depth if it is None or a whole number of at least 1."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"max_depth must be None or a whole number of at least 1, got {value!r}.")
    return int(value)


def _finite(x: npt.NDArray[np.float64]) -> None:
    """Refuse nan and infinity."""
    if not np.isfinite(x).all():
        wrong = "NaN" if np.isnan(x).any() else "infinity"
        raise InputError(f"X must hold finite numbers, got {wrong}.")


def _labels(
    y: Any, classes: npt.ArrayLike | None
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Return the classes in order, and the place of each label among them."""
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    present, labels = np.unique(y, return_inverse=True)
    if classes is None:
        declared = present
    else:
        declared = np.unique(np.asarray(classes))
    if len(declared) < 2:
        raise InputError(
            f"The labels must be of at least two classes, got one class: {declared[0]}."
        )
    if classes is None:
        return declared, labels.astype(np.int64)
    strange = present[~np.isin(present, declared)]
    if len(strange):
        raise InputError(
            f"The labels must be among the classes {', '.join(map(str, declared))}, got {strange[0]}."
        )
    return declared, np.searchsorted(declared, present)[labels].astype(np.int64)


def _warn(epsilon: float, accounting: str, *, from_records: bool) -> None:
    """Say aloud where a finite epsilon is not kept."""
    if math.isinf(epsilon):
        return
    # NoisyCount at ε for every count: a path then costs ε times its counts, and true counts cost without bound.
    if accounting == "naive":
        warnings.warn(
            "The naive accounting gives every count the whole epsilon and stops on true counts, so the tree is not "
            "epsilon-differentially private.",
            PrivacyLeakWarning,
            stacklevel=3,
        )
    # A value or label that one person alone has would be seen in the tree's shape.
    if from_records:
        warnings.warn(
            "Domains or classes were read from the records, so the tree is not epsilon-differentially private; give "
            "public ones.",
            PrivacyLeakWarning,
            stacklevel=3,
        )


def _generator(random_state: Any) -> np.random.Generator:
    """Return the generator of the noise."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    # Fresh entropy: nobody can draw the noise again and subtract it.
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(int(random_state.randint(2**31)))
    return child_generator(random_state, "DP-ID3, noise")
