"""FairPick (Zhang et al. 2020): groups' training records made alike by deleting people.

Within each label, people are put in clusters and deleted from those in which their group is ahead, so that a share θ of
each difference stays. It changes what a model trained on the rest learns; what that does to an attack has to be
measured, beside a control that deletes as many people at random.

Clusters. Combinations of features are too rare to delete a share of them, so people are put in clusters first (Zhang et
al. 2020, section 5.1): as many as there can be with at least ten people of each group in every one. Features are codes,
each standardised over all people given; the protected attribute is not among them, the caller leaves it out. Codes of
categories have no order, and k-means takes them as if they had: that shapes clusters and nothing else.

k is the largest of up to `MOST` that serves; larger k are not tried, as the differences hardly change any more.

Non-members. FairPick deletes members by their records. Those who stay are no random half of everybody then, and people
outside who were not thinned can be distinguished from members by their records alone, although the model reveals
nothing. So non-members get the cluster of their label whose centre is nearest, and in each cell of label, cluster and
group as large a share of them is kept as of the members there. Beside the control the same share is kept of all.

Everybody is in two groups: 1 is the protected one, 0 the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.serialize import Result
from ...base.validation import Codes, Floats, Ints, Mask, child_generator, child_seed
from ...datasets.dataset import AuditDataset


def rounded_deletions(deletions: Floats, counts: Ints) -> Ints:
    """Return whole deletions by largest remainders, of the same shape (k, groups), at most as many as there are people.

    Each column adds up to the real sum, rounded to the nearest. Of equal remainders the first cluster is rounded up.
    """
    near = np.rint(deletions)
    # Rounding errors are no remainders.
    x = np.where(np.abs(deletions - near) < 1e-9, near, deletions)
    # Largest remainders: all are rounded down, then the largest remainders up until the sum is met.
    down = np.floor(x)
    missing = np.rint(x.sum(axis=0) - down.sum(axis=0)).astype(np.int64)
    rank = np.argsort(np.argsort(down - x, axis=0, kind="stable"), axis=0)
    up = (rank < missing) & (x > down)
    return np.minimum(down.astype(np.int64) + up, counts)


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
    share of each difference that stays: 1 deletes nobody. Raises `InputError` if the groups share no cluster and theta
    is below 1.
    """
    n = np.asarray(counts, dtype=np.float64)
    if theta == 1.0:
        return np.zeros_like(n)
    if not (n > 0).all(axis=1).any():
        raise InputError("FairPick needs groups that share a cluster, got two that share none.")
    # DD_c (equation 6), and the total variation TV = Σ_c max(DD_c, 0) between the groups' clusters.
    dd = differences(n)
    tv = float(np.maximum(dd, 0.0).sum())
    # Quadratic program of equations 7 and 8, min ½‖x‖² with DD_c after = θ DD_c before, in closed
    # form: s is the share of each group that is deleted, Σ_c x_cg = s N_g.
    s = (1.0 - theta) * tv / (1.0 - theta * tv)
    # x_c1 = N_1 (1 - θ (1 - s)) max(DD_c, 0), x_c0 the same with N_0 and max(-DD_c, 0): only a
    # group that is ahead in a cluster loses people there, and never more than it has.
    ahead = np.column_stack([np.maximum(-dd, 0.0), np.maximum(dd, 0.0)])
    return np.minimum((1.0 - theta * (1.0 - s)) * ahead * n.sum(axis=0), n)


def differences(counts: Floats | Ints) -> Floats:
    """Return DD_c, of shape (k,): each cluster's share of group 1 minus its share of group 0 (equation 6)."""
    shares = counts / counts.sum(axis=0)
    return shares[:, 1] - shares[:, 0]


FEWEST = 10
"""People of each group in every cluster."""

MOST = 30
"""Clusters of a label at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters(Result):
    """Clusters of m members by d features."""

    cluster: Ints
    """(m,): number of each member's cluster within the label, from 0."""
    counts: dict[int, Ints]
    """Label -> members by cluster and group, of shape (k, 2)."""
    centres: dict[int, Floats]
    """Label -> centres, of shape (k, d), in standardised features."""
    mean: Floats
    deviation: Floats
    """(d,): by which features are standardised; the deviation of one that never varies is 1."""

    def nearest(self, people: AuditDataset, rows: Ints) -> Ints:
        """Return the cluster of their label whose centre is nearest to each of these people."""
        from scipy.spatial.distance import cdist

        features = (people.features[rows] - self.mean) / self.deviation
        y = people.labels[rows]
        cluster = np.zeros(y.size, dtype=np.int64)
        for label, centres in self.centres.items():
            cluster[y == label] = cdist(features[y == label], centres, "sqeuclidean").argmin(axis=1)
        return cluster


def clusters(people: AuditDataset, members: Ints, *, seed: int) -> Clusters:
    """Return clusters of the members within each label, in rising order of their rows.

    Raises `InputError` if there is no feature, or a group has fewer than `FEWEST` members with a label.
    """
    rows = np.sort(members)
    y = people.labels[rows]
    g = people.sensitive[rows]
    features = people.features[rows]
    if not features.size:
        raise InputError(f"codes must hold people and features, got the shape {features.shape}.")
    mean = features.mean(axis=0)
    deviation = features.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)  # features that never vary stay 0
    features = (features - mean) / deviation
    number = np.zeros(y.size, dtype=np.int64)
    counts = {}
    centres = {}
    # Section 5.1: cells are (label, cluster), as combinations of features are too rare.
    for label in (0, 1):
        indices = np.flatnonzero(y == label)
        sizes = np.bincount(g[indices], minlength=2)
        if sizes.min() < FEWEST:
            got = f"got {sizes.min()} of group {int(sizes.argmin())}"
            raise InputError(
                f"FairPick needs at least {FEWEST} people of each group with label {label}, {got}."
            )
        random_state = child_seed(seed, f"clusters of label {label}")
        number[indices], centres[label] = _largest(features[indices], g[indices], random_state)
        counts[label] = _counts(number[indices], g[indices], len(centres[label]))
    return Clusters(cluster=number, counts=counts, centres=centres, mean=mean, deviation=deviation)


def _largest(features: Floats, groups: Codes, random_state: int) -> tuple[Ints, Floats]:
    """Return everybody's cluster and the centres (k, d) for the largest k that serves; one cluster always does."""
    from sklearn.cluster import KMeans

    # Every cluster needs `FEWEST` of each group, so k cannot exceed the smaller group / `FEWEST`.
    possible = min(MOST, int(np.bincount(groups, minlength=2).min()) // FEWEST)
    if possible > 1:
        possible = min(possible, len(np.unique(features, axis=0)))
    # The largest k whose k-means clusters all hold enough of each group.
    for k in range(possible, 1, -1):
        means = KMeans(k, n_init=1, random_state=random_state).fit(features)
        cluster = means.labels_.astype(np.int64)
        if _counts(cluster, groups, k).min() >= FEWEST:
            return cluster, means.cluster_centers_
    return np.zeros(groups.size, dtype=np.int64), features.mean(axis=0, keepdims=True)


def _counts(cluster: Ints, groups: Codes, k: int) -> Ints:
    """Return the people by cluster and group, of shape (k, 2)."""
    return np.bincount(2 * cluster + groups, minlength=2 * k).reshape(k, 2)


DELETION_REMINDER = (
    "Which people are deleted depends on everybody's records, so deleting before training voids a later epsilon "
    "guarantee unless the deletion is private itself."
)
"""To be said wherever FairPick and a privacy budget meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FairPick:
    """Who stays in the training data and who does not: rows, rising, together the members given.

    `largest_before` and `largest_after` are the largest absolute difference of the group proportions of a cluster.
    """

    retained: Ints
    deleted: Ints
    theta: float
    deleted_by_group: dict[str, int]
    largest_before: float
    largest_after: float


def fairpick(
    people: AuditDataset, members: Ints, clustering: Clusters, *, theta: float, seed: int
) -> FairPick:
    """Return which members stay, given what `clusters` found of them.

    A smaller theta deletes the same people and more.
    """
    rows = np.sort(members)
    y = people.labels[rows]
    g = people.sensitive[rows]
    order = child_generator(seed, "people FairPick deletes").permutation(rows.size)
    gone = np.zeros(rows.size, dtype=bool)
    before = []
    after = []
    for label, counts in clustering.counts.items():
        # Algorithm 2: x_cg of each cluster and group, whole people.
        deletions = rounded_deletions(fairpick_counts(counts, theta), counts)
        cell = np.where(y == label, 2 * clustering.cluster + g, -1)
        # One random order for all θ: the first x_cg of each cell, so that a smaller θ deletes more.
        gone |= chosen(cell, deletions.ravel(), order)
        before.append(np.abs(differences(counts)).max())
        # θ DD_c, but for rounding to whole people.
        after.append(np.abs(differences(counts - deletions)).max())
    return FairPick(
        retained=rows[~gone],
        deleted=rows[gone],
        theta=theta,
        deleted_by_group={
            name: int(np.count_nonzero(gone & (g == code)))
            for code, name in enumerate(people.group_names)
        },
        largest_before=float(max(before)),
        largest_after=float(max(after)),
    )


def random_deletion(members: Ints, n_deleted: int, *, seed: int) -> Ints:
    """Return the members that stay, rising, after so many were deleted; each set of them is equally likely."""
    order = child_generator(seed, "people deleted at random").permutation(np.sort(members))
    return np.sort(order[n_deleted:])


def outsiders_at_random(outsiders: Ints, n: int, *, seed: int) -> Ints:
    """Return n non-members, rising, drawn at random to stay beside the control."""
    return np.sort(
        child_generator(seed, "outsiders left aside at random").permutation(np.sort(outsiders))[:n]
    )


def like_outsiders(
    people: AuditDataset, outsiders: Ints, *, like: FairPick, clustering: Clusters, seed: int
) -> Ints:
    """Return the non-members that stay beside what FairPick left of the members, rising.

    As among the members, numbers are rounded by largest remainders within each label and group.
    """
    y = people.labels
    g = people.sensitive
    rows = np.sort(outsiders)
    members = np.sort(np.concatenate([like.retained, like.deleted]))
    order = child_generator(seed, "outsiders left aside like the deleted").permutation(rows.size)
    cluster = clustering.nearest(people, rows)
    left = np.isin(members, like.deleted)
    gone = np.zeros(rows.size, dtype=bool)
    for label, counts in clustering.counts.items():
        cell = np.where(y[rows] == label, 2 * cluster + g[rows], -1)
        outsider_counts = np.bincount(cell[cell >= 0], minlength=counts.size).reshape(counts.shape)
        # x_cg of the members; of the non-members the same share x_cg / n_cg.
        deleted = np.bincount(
            (2 * clustering.cluster + g[members])[left & (y[members] == label)],
            minlength=counts.size,
        )
        gone |= chosen(
            cell,
            rounded_deletions(
                outsider_counts * deleted.reshape(counts.shape) / counts, outsider_counts
            ).ravel(),
            order,
        )
    return rows[~gone]
