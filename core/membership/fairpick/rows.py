"""Rows of some people among everybody's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.arrays import Ints
from core.errors import InputError


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
