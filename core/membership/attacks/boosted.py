"""Boosting on evidence about the judged: half of them teach, with their membership known, and the other half is judged.

The attacker knows who of one half was trained on and learns by gradient boosting what members have in common in what
the model says of them; the other half is scored, and then the halves change places. What boosting returns is replaced
by its rank within its half, so that two fits share one scale. The halves have equal shares of members and the ranks
use nobody's membership, so that where nothing leaks the scores of both halves together are independent of membership.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats
from core.membership.halves import halves
from core.seeds import child_generator, child_seed

TAUGHT = 100_000
"""Most people of a half who teach; of more, so many are drawn at random. All are judged."""

_TREES, _LEAVES, _FEWEST_IN_LEAF, _RATE = 40, 8, 50, 0.1
"""Small: a few numbers a person, and more trees learn the teaching half's chance."""


def cross_fitted(evidence: npt.NDArray[np.float32], member: Codes, *, seed: int, name: str) -> tuple[Floats, Codes]:
    """Return everybody's score, higher for members, and verdict, from boosting on the half that they are not in.

    The score lies in (0, 1); the verdict is 1 where boosting finds a member likelier than a non-member, both as
    frequent: the largest TPR - FPR.

    Parameters
    ----------
    evidence : ndarray of shape (n, d), float32
        Nan where there is none.
    member : ndarray of shape (n,), 0 or 1
    name : str
        Of the attack, for its own use of chance.
    """
    from scipy.stats import rankdata

    second = halves(member, seed=seed)
    score, verdict = np.empty(member.size), np.empty(member.size, dtype=np.uint8)
    for number, half in enumerate((second, ~second)):
        teach = np.flatnonzero(~half)
        if teach.size > TAUGHT:
            drawn = child_generator(seed, f"{name}, teaching sample {number}")
            teach = np.sort(drawn.choice(teach, TAUGHT, replace=False))
        model = _fitted(evidence[teach], member[teach], child_seed(seed, f"{name}, boosting {number}"))
        found = np.round(model.decision_function(evidence), 9)  # equal evidence, equal score, but for rounding
        score[half] = ((rankdata(found) - 0.5) / found.size)[half]
        verdict[half] = found[half] > 0.0
    return score, verdict


def _fitted(evidence: npt.NDArray[np.float32], member: Codes, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingClassifier(
        max_iter=_TREES,
        max_leaf_nodes=_LEAVES,
        min_samples_leaf=min(_FEWEST_IN_LEAF, max(1, member.size // 20)),
        learning_rate=_RATE,
        early_stopping=False,
        class_weight="balanced",
        random_state=seed,
    )
    with threadpool_limits(limits=1):
        return model.fit(evidence, member)
