"""People with alike records, who stand for one combination of features: k-means within each label.

Combinations of features are too rare to delete a share of them, so people are put in clusters first (Zhang et al.
2020, section 5.1): as many as there can be with at least ten people of each group in every one. Features are codes,
each standardised over all people given; the protected attribute is not among them, the caller leaves it out. Codes of
categories have no order, and k-means takes them as if they had: that shapes clusters and nothing else.

k is the largest of up to `MOST` that serves; larger k are not tried, as the differences hardly change any more.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Ints
from core.errors import InputError
from core.results import Result
from core.seeds import child_seed
from core.validation import binary_array, one_length

FEWEST = 10
"""People of each group in every cluster."""

MOST = 30
"""Clusters of a label at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters(Result):
    """Clusters of the people given.

    Attributes
    ----------
    cluster : ndarray of shape (n,), int
        Number of everybody's cluster within the label, from 0.
    counts : dict
        Label -> people by cluster and group, of shape (k, 2).
    centres : dict
        Label -> centres of the clusters, of shape (k, d), in standardised features.
    mean, deviation : ndarray of shape (d,)
        By which features are standardised; the deviation of one that never varies is 1.
    """

    cluster: Ints = field(repr=False)
    counts: dict[int, Ints]
    centres: dict[int, Floats] = field(repr=False)
    mean: Floats = field(repr=False)
    deviation: Floats = field(repr=False)

    def nearest(self, codes: npt.ArrayLike, labels: npt.ArrayLike) -> Ints:
        """Return the cluster of her label whose centre is nearest to each of other people, shape (m,).

        The codes, of shape (m, d), are the features that the clusters were made of.
        """
        from scipy.spatial.distance import cdist

        features, y = (feature_array(codes) - self.mean) / self.deviation, binary_array(labels, name="labels")
        one_length(codes=features, labels=y)
        found = np.zeros(y.size, dtype=np.int64)
        for label, centres in self.centres.items():
            found[y == label] = cdist(features[y == label], centres, "sqeuclidean").argmin(axis=1)
        return found


def clusters(codes: npt.ArrayLike, labels: npt.ArrayLike, groups: npt.ArrayLike, *, seed: int = 0) -> Clusters:
    """Return clusters within each label.

    The features, of shape (n, d), are without the protected attribute, and finite; labels and groups are 0 or 1, group
    1 the protected one. Raises `InputError` if an array breaks its rule, a label is missing, or a group has fewer than
    `FEWEST` people with a label.
    """
    features, mean, deviation = _standardised(codes)
    y, g = binary_array(labels, name="labels"), _two_groups(groups)
    one_length(codes=features, labels=y, groups=g)
    number, counts, centres = np.zeros(y.size, dtype=np.int64), {}, {}
    for label in (0, 1):
        here = np.flatnonzero(y == label)
        _check(np.bincount(g[here], minlength=2), label)
        random_state = child_seed(seed, f"clusters of label {label}")
        number[here], centres[label] = _largest(features[here], g[here], random_state)
        counts[label] = _counts(number[here], g[here], len(centres[label]))
    return Clusters(cluster=number, counts=counts, centres=centres, mean=mean, deviation=deviation)


def _largest(features: Floats, groups: Codes, random_state: int) -> tuple[Ints, Floats]:
    """Return everybody's cluster and the centres (k, d) for the largest k that serves; one cluster always does."""
    from sklearn.cluster import KMeans

    possible = min(MOST, int(np.bincount(groups, minlength=2).min()) // FEWEST)
    if possible > 1:
        possible = min(possible, len(np.unique(features, axis=0)))
    for k in range(possible, 1, -1):
        means = KMeans(k, n_init=1, random_state=random_state).fit(features)
        found = means.labels_.astype(np.int64)
        if _counts(found, groups, k).min() >= FEWEST:
            return found, np.asarray(means.cluster_centers_, dtype=np.float64)
    return np.zeros(groups.size, dtype=np.int64), features.mean(axis=0, keepdims=True)


def _counts(cluster: Ints, groups: Codes, k: int) -> Ints:
    """Return the people by cluster and group, of shape (k, 2)."""
    return np.bincount(2 * cluster + groups, minlength=2 * k).reshape(k, 2)


def feature_array(codes: npt.ArrayLike) -> Floats:
    """Return `codes` as numbers if there is one row a person and one column a feature."""
    values = np.asarray(codes, dtype=np.float64)
    if values.ndim != 2:
        raise InputError(f"codes must have one row a person and one column a feature, got {values.ndim} dimensions.")
    return values


def _standardised(codes: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return the features with mean 0 and deviation 1, and what these were; features that never vary stay 0."""
    values = feature_array(codes)
    if not np.isfinite(values).all():
        raise InputError(f"codes must be finite, got {values[~np.isfinite(values)][0]}.")
    if not values.size:
        raise InputError(f"codes must hold people and features, got the shape {values.shape}.")
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    return (values - mean) / deviation, mean, deviation


def _two_groups(groups: npt.ArrayLike) -> Codes:
    """Return `groups` if there are no more than two."""
    given = np.asarray(groups)
    if given.dtype.kind in "iu" and given.size and given.max() > 1:
        raise InputError(f"FairPick compares two groups, 0 and 1, got {len(np.unique(given))} groups.")
    return binary_array(given, name="groups")


def _check(people: Ints, label: int) -> None:
    if not people.any():
        raise InputError(f"FairPick needs people with both labels, got none with label {label}.")
    if people.min() < FEWEST:
        raise InputError(
            f"FairPick needs at least {FEWEST} people of each group with label {label}, got {people.min()} of group "
            f"{int(people.argmin())}."
        )
