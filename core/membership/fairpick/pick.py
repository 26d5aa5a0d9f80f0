"""FairPick: training data in which the groups' records are more alike, by deleting people (Zhang et al. 2020).

Within each label, people are put in clusters and deleted from those in which their group is ahead, so that a share θ of
each difference stays. It changes what a model trained on the rest learns; what that does to an attack has to be
measured, beside a control that deletes as many people at random.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.arrays import Floats, Ints
from core.errors import InputError
from core.membership.fairpick.clusters import Clusters, clusters, feature_array
from core.membership.fairpick.counts import checked_theta, differences, fairpick_counts
from core.membership.fairpick.literal import fairpick_literal
from core.membership.fairpick.rounding import chosen, whole
from core.membership.fairpick.rows import checked_rows
from core.results import Result
from core.seeds import child_generator
from core.validation import one_length

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
