"""What FairPick is compared with: as many members deleted at random, whoever they are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.arrays import Ints
from core.errors import InputError
from core.membership.fairpick.rows import checked_rows
from core.seeds import child_generator


def random_deletion(members: npt.ArrayLike, n_deleted: int, *, seed: int) -> Ints:
    """Return the members that stay, rising, after so many were deleted; each set of them is equally likely."""
    rows = checked_rows(members, name="members")
    if n_deleted > rows.size:
        raise InputError(f"members must be at least as many as are deleted ({n_deleted}), got {rows.size}.")
    order = child_generator(seed, "people deleted at random").permutation(rows.size)
    stays = np.ones(rows.size, dtype=bool)
    stays[order[:n_deleted]] = False
    return rows[stays]
