"""FairPick as published: the equations alone, with negative deletions dropped afterwards.

The paper's program (equations 6 to 8) does not say that nobody can be deleted a negative number of times, that is,
duplicated. Its solution asks for that; the paper ignores such requests, so the differences it was to reach are missed.
The equations are those of `core.membership.fairpick.counts` without 0 ≤ x ≤ n. Given s the smallest x is linear in it,
x = a + s b, and then s = −a·b / b·b.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.membership.fairpick.counts import checked_arguments, differences


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
