"""Outsiders like the members that stay: the same shares of them are left aside as were deleted among the members.

FairPick deletes members by their records. Whoever stays is no random half of everybody then, and people outside who
were not thinned can be told from members by their records alone, although the model gives nothing away. So outsiders
get the cluster of their label whose centre is nearest, and in each cell of label, cluster and group as large a share
of them is kept as of the members there. Beside the control the same share is kept of all.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from core.arrays import Ints
from core.errors import InputError
from core.membership.fairpick.clusters import Clusters, feature_array
from core.membership.fairpick.pick import FairPick
from core.membership.fairpick.rounding import chosen, whole
from core.membership.fairpick.rows import checked_rows
from core.seeds import child_generator
from core.validation import one_length


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
