"""Other searches for noise on a linear classifier, one record at a time: the softmax' order, and the minimum.

What Jia and Gong (2018) compare PANDA with, written plainly. `weights` (d, m) and `offsets` (m,) give the m scores of a
record x (d,) in [0, 1].
"""

import numpy as np


def leads(x, weights, offsets, i):
    score = x @ weights + offsets
    return bool((np.delete(score[i] - score, i) > 0).all())


def by_softmax(x, weights, offsets, i):
    """Move entries to 0 or 1 in the order of what they add to class i's probability, by its gradient."""
    moved = x.copy()
    for _ in range(x.size):
        if leads(moved, weights, offsets, i):
            return moved
        score = moved @ weights + offsets
        p = np.exp(score - score.max())
        gradient = weights[:, i] - weights @ (p / p.sum())
        goal = np.where(gradient > 0, 1.0, 0.0)
        gains = np.where(moved == x, (goal - moved) * gradient, -np.inf)
        best = int(gains.argmax())
        if not gains[best] > 0:
            return None
        moved[best] = goal[best]
    return moved if leads(moved, weights, offsets, i) else None


def fewest_changes(x, weights, offsets, i, *, upper_bound):
    """Return the fewest entries that make class i lead (equation 2), where `known` entries are known to do.

        minimise Σ z_j    subject to    Σ (up_j − down_j) (w_ij − w_kj) ≥ lead_k for all k ≠ i,
                                        up_j ≤ (1 − x_j) z_j,  down_j ≤ x_j z_j,  z_j in {0, 1}

    Entries are left out that cannot be part of fewer than `known`: with the best others, they miss some lead.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    moved = (weights[:, [i]] - np.delete(weights, i, axis=1)).T  # (rivals, d)
    score = x @ weights + offsets
    missing = 1e-6 - (score[i] - np.delete(score, i))
    up, down = np.maximum((1 - x) * moved, 0.0), np.maximum(-x * moved, 0.0)
    largest_moves = -np.sort(-np.maximum(up, down), axis=1)[:, : max(upper_bound - 2, 0)].sum(axis=1)
    short = (missing - largest_moves)[:, None]
    usable = np.flatnonzero((up >= short).all(axis=0) | (down >= short).all(axis=0))
    if not usable.size:
        return upper_bound
    n, x, moved = usable.size, x[usable], moved[:, usable]
    identity, none = np.eye(n), np.zeros((n, n))
    done = milp(
        np.concatenate([np.ones(n), np.zeros(2 * n)]),
        integrality=np.concatenate([np.ones(n), np.zeros(2 * n)]),
        bounds=Bounds(0.0, 1.0),
        constraints=[
            LinearConstraint(np.hstack([np.zeros_like(moved), moved, -moved]), lb=missing),
            LinearConstraint(np.hstack([-np.diag(1 - x), identity, none]), ub=0.0),
            LinearConstraint(np.hstack([-np.diag(x), none, identity]), ub=0.0),
            LinearConstraint(np.concatenate([np.ones(n), np.zeros(2 * n)]), ub=upper_bound - 1),
        ],
    )
    assert done.status in (0, 2), done.message
    return upper_bound if done.status == 2 else int(np.round(done.fun))
