"""FairPick (Zhang et al. 2020): groups' training records made alike by deleting people.

Within each label, people are put in clusters and deleted from those in which their group is ahead, so that a share θ of
each difference stays. It changes what a model trained on the rest learns; what that does to an attack has to be
measured, beside a control that deletes as many people at random.

Clusters. Combinations of features are too rare to delete a share of them, so people are put in clusters first (Zhang et
al. 2020, section 5.1): as many as there can be with at least ten people of each group in every one. Features are codes,
each standardised over all people given; the protected attribute is not among them, the caller leaves it out. Codes of
categories have no order, and k-means takes them as if they had: that shapes clusters and nothing else.

k is the largest of up to `MOST` that serves; larger k are not tried, as the differences hardly change any more.

Outsiders. FairPick deletes members by their records. Whoever stays is no random half of everybody then, and people
outside who were not thinned can be told from members by their records alone, although the model gives nothing away. So
outsiders get the cluster of their label whose centre is nearest, and in each cell of label, cluster and group as large
a share of them is kept as of the members there. Beside the control the same share is kept of all.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Ints, Mask
from core.errors import InputError
from core.seeds import child_generator, child_seed
from core.serialize import Result
from core.validation import binary_array, one_length


def checked_rows(people: npt.ArrayLike, n: int | None = None, *, name: str) -> Ints:
    """Return rows of people, rising.

    Raises `InputError` if they are not whole numbers from 0 to n - 1, all different.
    """
    rows = np.asarray(people)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not rows.size:
        raise InputError(f"{name} must be a list of rows, got {rows.dtype} of the shape {rows.shape}.")
    rising = np.sort(rows).astype(np.int64)
    if n is not None and (rising[0] < 0 or rising[-1] >= n):
        wrong = rising[0] if rising[0] < 0 else rising[-1]
        raise InputError(f"{name} must be rows from 0 to {n - 1}, got {wrong}.")
    twice = rising[1:][np.diff(rising) == 0]
    if twice.size:
        raise InputError(f"{name} must hold each row once, got row {twice[0]} more than once.")
    return rising


def whole(deletions: npt.ArrayLike, counts: npt.ArrayLike) -> Ints:
    """Return whole deletions by largest remainders, of the same shape (k, groups).

    Each is the real one rounded down or up, and so at most the whole number of people there are; each column adds up
    to the real sum, rounded to the nearest. Of equal remainders the first cluster is rounded up.
    """
    x = np.asarray(deletions, dtype=np.float64)
    near = np.rint(x)
    x = np.where(np.abs(x - near) < 1e-9, near, x)  # rounding errors are no remainders
    down = np.floor(x)
    missing = np.rint(x.sum(axis=0) - down.sum(axis=0)).astype(np.int64)
    rank = np.argsort(np.argsort(down - x, axis=0, kind="stable"), axis=0)
    up = (rank < missing) & (x > down)
    return np.minimum(down.astype(np.int64) + up, np.asarray(counts).astype(np.int64))


def chosen(cell: Ints, deletions: Ints, order: Ints) -> Mask:
    """Return who is deleted: of each cell the first so many in a random order; cell -1 loses nobody."""
    placed = order[np.argsort(cell[order], kind="stable")]  # by cell, and by the order within
    cells = cell[placed]
    rank = np.arange(cell.size) - np.searchsorted(cells, cells)
    gone = np.zeros(cell.size, dtype=bool)
    gone[placed] = (cells >= 0) & (rank < deletions[cells])
    return gone


def fairpick_counts(counts: npt.ArrayLike, theta: float) -> Floats:
    """Return the deletions, of shape (k, 2), not rounded.

    `counts`, of shape (k, 2), are the people of each cluster, column 1 the protected group; theta in (0, 1] is the
    share of each difference that stays: 1 deletes nobody. Raises `InputError` if an argument breaks its rule, or the
    groups share no cluster and theta is below 1.
    """
    n, theta = checked_arguments(counts, theta)
    dd = differences(n)
    tv = float(np.maximum(dd, 0.0).sum())
    if theta == 1.0:
        return np.zeros_like(n)
    s = (1.0 - theta) * tv / (1.0 - theta * tv)
    ahead = np.column_stack([np.maximum(-dd, 0.0), np.maximum(dd, 0.0)])
    return np.minimum((1.0 - theta * (1.0 - s)) * ahead * n.sum(axis=0), n)


def differences(counts: npt.ArrayLike) -> Floats:
    """Return DD_c, of shape (k,): each cluster's share of group 1 minus its share of group 0 (equation 6)."""
    n = np.asarray(counts, dtype=np.float64)
    shares = n / n.sum(axis=0)
    return shares[:, 1] - shares[:, 0]


def checked_theta(theta: float) -> float:
    """Return `theta` if it is in (0, 1]."""
    number = isinstance(theta, (int, float, np.integer, np.floating)) and not isinstance(theta, bool)
    if not (number and 0.0 < theta <= 1.0):  # nan too
        raise InputError(f"theta must be in (0, 1], got {theta!r}.")
    return float(theta)


def checked_arguments(counts: npt.ArrayLike, theta: float) -> tuple[Floats, float]:
    """Return `counts` as floats and `theta`, if there is a solution for them."""
    theta = checked_theta(theta)
    n = np.asarray(counts, dtype=np.float64)
    if n.ndim != 2 or n.shape[1] != 2:
        raise InputError(f"counts must have one row a cluster and two columns, got the shape {n.shape}.")
    wrong = ~((n >= 0) & (n < math.inf))
    if wrong.any():
        raise InputError(f"counts must be numbers of at least 0, got {n[wrong][0]}.")
    empty = n.sum(axis=0) == 0
    if empty.any():
        raise InputError(f"counts must hold people of both groups, got none of group {int(np.argmax(empty))}.")
    if theta < 1.0 and not (n > 0).all(axis=1).any():
        raise InputError("FairPick needs groups that share a cluster, got two that share none.")
    return n, theta


def fairpick_literal(counts: npt.ArrayLike, theta: float) -> tuple[Floats, int]:
    """Return what the published variant deletes, not rounded, and how many negative requests it ignores.

    Arguments and errors are those of `fairpick_counts`.
    """
    n, theta = checked_arguments(counts, theta)
    asked = what_equations_ask(n, theta) if theta < 1.0 else np.zeros_like(n)
    negative = asked < -1e-9 * n.sum()
    return np.clip(asked, 0.0, n), int(negative.sum())


def what_equations_ask(n: Floats, theta: float) -> Floats:
    """Return the smallest x that solves the equations."""
    k, sizes, dd = n.shape[0], n.sum(axis=0), differences(n)
    scale = sizes / sizes.max()  # the unknowns are x / max N, so that the equations have coefficients near 1
    rows = np.zeros((k + 2, 2 * k))
    rows[np.arange(k), 2 * np.arange(k) + 1] = 1.0 / scale[1]
    rows[np.arange(k), 2 * np.arange(k)] = -1.0 / scale[0]
    rows[k, 0::2], rows[k + 1, 1::2] = 1.0 / scale[0], 1.0 / scale[1]
    fixed = np.concatenate([(1.0 - theta) * dd, [0.0, 0.0]])
    by_share = np.concatenate([theta * dd, [1.0, 1.0]])
    a, b = np.linalg.lstsq(rows, np.column_stack([fixed, by_share]), rcond=None)[0].T
    return (a - (a @ b) / (b @ b) * b).reshape(k, 2) * sizes.max()


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


DELETION_REMINDER = (
    "Which people are deleted depends on everybody's records, so deleting before training voids a later epsilon "
    "guarantee unless the deletion is private itself."
)
"""To be said wherever FairPick and a privacy budget meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FairPick(Result):
    """Who stays in the training data and who does not.

    Attributes
    ----------
    kept, deleted : ndarray of int
        Rows, rising; together the members given.
    deleted_by_group : dict
        Group name -> people.
    clusters : dict
        Label -> number of clusters.
    ignored : int
        Negative deletions that were ignored; 0 unless as published.
    dd_before, dd_after : dict
        Label -> differences of the groups' shares by cluster, of shape (k,).
    """

    kept: Ints = field(repr=False)
    deleted: Ints = field(repr=False)
    deleted_by_group: dict[str, int]
    clusters: dict[int, int]
    ignored: int
    dd_before: dict[int, Floats]
    dd_after: dict[int, Floats]

    @property
    def largest_before(self) -> float:
        """Return the largest absolute difference before."""
        return max(float(np.abs(dd).max()) for dd in self.dd_before.values())

    @property
    def largest_after(self) -> float:
        """Return the largest absolute difference after."""
        return max(float(np.abs(dd).max()) for dd in self.dd_after.values())


def fairpick(
    codes: npt.ArrayLike,
    labels: npt.ArrayLike,
    groups: npt.ArrayLike,
    members: npt.ArrayLike,
    *,
    theta: float,
    seed: int,
    literal: bool = False,
    leave_out: Collection[int] = (),
    names: tuple[str, str] = ("others", "group"),
    found: Clusters | None = None,
) -> FairPick:
    """Return which members stay.

    Raises `InputError` if an argument breaks its rule, there are more than two groups or only one label, or a group has
    fewer than 10 members with a label.

    Parameters
    ----------
    codes : array-like of shape (n, d)
        Features of everybody.
    labels, groups : array-like of shape (n,)
        0 or 1, of everybody; group 1 is the protected one.
    members : array-like of int
        Rows of the training data.
    theta : float in (0, 1]
        Share of the differences that stays; 1 deletes nobody.
    seed : int
        Of the clusters and of who is deleted. A smaller theta deletes the same people and more.
    literal : bool
        As published, with negative deletions ignored.
    leave_out : collection of int
        Columns of the protected attribute.
    names : tuple of str
        Of group 0 and of group 1.
    found : Clusters, optional
        What `member_clusters` returned for the same members; found here otherwise.
    """
    theta, rows = checked_theta(theta), checked_rows(members, len(np.asarray(groups)), name="members")
    if found is None:
        found = member_clusters(codes, labels, groups, rows, leave_out=leave_out, seed=seed)
    y, g = np.asarray(labels)[rows], np.asarray(groups)[rows]
    if found.cluster.size != rows.size:
        raise InputError(f"found must be the clusters of the {rows.size} members, got {found.cluster.size} people.")
    order = child_generator(seed, "people FairPick deletes").permutation(rows.size)
    gone, ignored = np.zeros(rows.size, dtype=bool), 0
    before, after = {}, {}
    for label, counts in found.counts.items():
        wanted, negative = fairpick_literal(counts, theta) if literal else (fairpick_counts(counts, theta), 0)
        deletions, ignored = whole(wanted, counts), ignored + negative
        cell = np.where(y == label, 2 * found.cluster + g, -1)
        gone |= chosen(cell, deletions.ravel(), order)
        before[label], after[label] = differences(counts), differences(counts - deletions)
    return FairPick(
        kept=rows[~gone],
        deleted=rows[gone],
        deleted_by_group={name: int(np.count_nonzero(gone & (g == code))) for code, name in enumerate(names)},
        clusters={label: len(counts) for label, counts in found.counts.items()},
        ignored=ignored,
        dd_before=before,
        dd_after=after,
    )


def member_clusters(
    codes: npt.ArrayLike,
    labels: npt.ArrayLike,
    groups: npt.ArrayLike,
    members: npt.ArrayLike,
    *,
    leave_out: Collection[int] = (),
    seed: int,
) -> Clusters:
    """Return the clusters of the members; the arguments are those of `fairpick`, and theta is not among them."""
    features, y, g = feature_array(codes), np.asarray(labels), np.asarray(groups)
    rows = checked_rows(members, one_length(codes=features, labels=y, groups=g), name="members")
    return clusters(np.delete(features[rows], sorted(leave_out), axis=1), y[rows], g[rows], seed=seed)


def random_deletion(members: npt.ArrayLike, n_deleted: int, *, seed: int) -> Ints:
    """Return the members that stay, rising, after so many were deleted; each set of them is equally likely."""
    rows = checked_rows(members, name="members")
    if n_deleted > rows.size:
        raise InputError(f"members must be at least as many as are deleted ({n_deleted}), got {rows.size}.")
    order = child_generator(seed, "people deleted at random").permutation(rows.size)
    stays = np.ones(rows.size, dtype=bool)
    stays[order[:n_deleted]] = False
    return rows[stays]


def like_outsiders(
    codes: npt.ArrayLike,
    labels: npt.ArrayLike,
    groups: npt.ArrayLike,
    outsiders: npt.ArrayLike,
    *,
    like: FairPick,
    found: Clusters,
    seed: int,
    leave_out: Collection[int] = (),
) -> Ints:
    """Return the outsiders that stay after FairPick, rising.

    Raises `InputError` if an argument breaks its rule, or the clusters are of other members.

    Parameters
    ----------
    codes, labels, groups, leave_out
        As FairPick was given them.
    outsiders : array-like of int
        Rows.
    seed : int
        Of who stays. As among the members, numbers are rounded by largest remainders within each label and group.
    """
    features, y, g = feature_array(codes), np.asarray(labels), np.asarray(groups)
    rows = checked_rows(outsiders, one_length(codes=features, labels=y, groups=g), name="outsiders")
    members = np.sort(np.concatenate([like.kept, like.deleted]))
    if found.cluster.size != members.size:
        raise InputError(f"found must be the clusters of the {members.size} members, got {found.cluster.size} people.")
    order = child_generator(seed, "outsiders left aside like the deleted").permutation(rows.size)
    cluster = found.nearest(np.delete(features[rows], sorted(leave_out), axis=1), y[rows])
    left, gone = np.isin(members, like.deleted), np.zeros(rows.size, dtype=bool)
    for label, counts in found.counts.items():
        cell = np.where(y[rows] == label, 2 * cluster + g[rows], -1)
        there = np.bincount(cell[cell >= 0], minlength=counts.size).reshape(counts.shape)
        deleted = np.bincount((2 * found.cluster + g[members])[left & (y[members] == label)], minlength=counts.size)
        gone |= chosen(cell, whole(there * deleted.reshape(counts.shape) / counts, there).ravel(), order)
    return rows[~gone]


def outsiders_at_random(outsiders: npt.ArrayLike, n: int, *, seed: int) -> Ints:
    """Return n outsiders, rising, drawn at random to stay beside the control."""
    rows = np.sort(np.asarray(outsiders, dtype=np.int64))
    return np.sort(child_generator(seed, "outsiders left aside at random").permutation(rows)[:n])
