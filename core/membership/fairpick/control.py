"""What FairPick is compared with: as many members deleted at random, whoever they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.arrays import Ints
from core.errors import InputError
from core.membership.fairpick.pick import FairPick
from core.membership.fairpick.rows import member_rows
from core.results import Result
from core.seeds import child_generator


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomDeletion(Result):
    """Who stays in the training data by chance.

    Attributes
    ----------
    kept, deleted : ndarray of int
        Rows, rising; together the members given.
    deleted_by_group : dict
        Group name -> people.
    """

    kept: Ints = field(repr=False)
    deleted: Ints = field(repr=False)
    deleted_by_group: dict[str, int]


def random_deletion(
    groups: npt.ArrayLike, members: npt.ArrayLike, like: FairPick, *, seed: int, names: Sequence[str] | None = None
) -> RandomDeletion:
    """Return members without as many people, in all, as `like` deletes; each set of them is equally likely.

    Parameters
    ----------
    groups : array-like of shape (n,)
        Codes of everybody.
    members : array-like of int
        Rows of the training data.
    names : sequence of str, optional
        Of the groups by code; those of `like` if not given.
    """
    everybody = np.asarray(groups)
    rows, wanted = member_rows(members, len(everybody)), like.deleted.size
    if wanted > rows.size:
        raise InputError(f"members must be at least as many as are deleted ({wanted}), got {rows.size}.")
    gone = np.zeros(rows.size, dtype=bool)
    gone[child_generator(seed, "people deleted at random").permutation(rows.size)[:wanted]] = True
    codes = everybody[rows]
    told = tuple(names) if names is not None else tuple(like.deleted_by_group)
    return RandomDeletion(
        kept=rows[~gone],
        deleted=rows[gone],
        deleted_by_group={name: int(np.count_nonzero(gone & (codes == code))) for code, name in enumerate(told)},
    )
