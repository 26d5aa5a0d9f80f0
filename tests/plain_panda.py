"""Algorithm 1 of Jia and Gong (2018) as it is printed, one person and one entry at a time, for linear classifiers.

With the two lost signs put back: the loop runs while C(x) ≠ i, and Modify_Exist looks at entries with x_j ≠ 0. What the
text leaves open is decided as in core: "existing" and "new" are said of the original record, an entry that has been
moved to 0 or 1 stays there, one that is there already and would be moved further does not count, the search ends where
no entry is left (in Modify_Exist and Modify_Add: none that raises the score), and of equal entries the leftmost is
taken. C(x) = i means that i leads by more than the margin and the rounding of a tie, or is whatever `reads` says.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

TIE = 1e-9


def plain_weights(classifier, *, centred: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights (m, d) and offsets (m,) of a linear classifier; of two classes, half to each."""
    weights, offsets = classifier.coef_, classifier.intercept_
    if len(weights) == 1:
        return np.vstack([-weights / 2, weights / 2]), np.append(-offsets / 2, offsets / 2)
    return (weights - weights.mean(axis=0), offsets - offsets.mean()) if centred else (weights, offsets)


def plain_panda(
    x: np.ndarray,
    weights: np.ndarray,
    offsets: np.ndarray,
    i: int,
    *,
    policy: str,
    step: float = 1.0,
    margin: float = 0.0,
    reads: Callable[[np.ndarray], int] | None = None,
) -> np.ndarray | None:
    """Return the noisy record, or None where the policy has none. C(x) ≠ i is known of the clean one."""
    existing, x, stays = x != 0, x.copy(), np.zeros(x.size, dtype=bool)
    gradient, lead = weights[i], margin + TIE * np.abs(weights).max()
    for _ in range(x.size * int(np.ceil(1 / step) + 1)):
        # lines 3 to 13: find the entry to be modified
        allowed = ~stays & {"modify_exist": existing, "add_new": ~existing, "modify_add": existing | ~existing}[policy]
        if policy == "add_new":
            increase, decrease = np.where(allowed & (x < 1), gradient, -np.inf), np.full(x.size, -np.inf)
        else:
            increase = np.where(allowed & (x < 1), (1 - x) * gradient, -np.inf)
            decrease = np.where(allowed & (x > 0), -x * gradient, -np.inf)
        up, down = int(increase.argmax()), int(decrease.argmax())
        v_up, v_down = increase[up], decrease[down]
        if max(v_up, v_down) == -np.inf or (policy != "add_new" and max(v_up, v_down) <= 0):
            return None
        # lines 14 to 21: modify the one that is more beneficial
        entry = up if policy == "add_new" or v_up >= v_down else down
        x[entry] = min(x[entry] + step, 1.0) if entry == up and v_up >= v_down else max(x[entry] - step, 0.0)
        stays[entry] = x[entry] in (0.0, 1.0)
        if reads is not None:
            reached = reads(x) == i
        else:
            scores = weights @ x + offsets
            reached = scores[i] - np.delete(scores, i).max() > lead
        if reached:
            return x
    return None
