"""How many people of each cluster and group FairPick deletes, in closed form (Zhang et al. 2020, section 5).

n_cg people of group g are in cluster c, N_g = Σ_c n_cg. The groups differ there by

    DD_c = n_c1 / N_1 − n_c0 / N_0                                                        (equation 6)

and every difference shall become θ DD_c (equation 7). With x_cg deleted, an equal share s of both groups,

    minimise ½ ‖x‖²  subject to  x_c1 / N_1 − x_c0 / N_0 − θ DD_c s = (1 − θ) DD_c,  Σ_c x_cg = s N_g,  0 ≤ x ≤ n

where the first says θ DD_c = (n_c1 − x_c1) / (N_1 (1 − s)) − (n_c0 − x_c0) / (N_0 (1 − s)). Deleting from both groups
of a cluster helps nothing, costs people and raises s, so at the minimum only the group that is ahead loses any:

    x_c1 = N_1 f max(DD_c, 0),    x_c0 = N_0 f max(−DD_c, 0),    f = 1 − θ (1 − s).

Their sums are s N_g when s = f TV with TV = Σ_c max(DD_c, 0), hence s = (1 − θ) TV / (1 − θ TV). As f ≤ 1 and
N_1 max(DD_c, 0) ≤ n_c1, nothing is negative and nobody is deleted twice. TV = 1, groups that share no cluster, would
leave nobody.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.errors import InputError


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
