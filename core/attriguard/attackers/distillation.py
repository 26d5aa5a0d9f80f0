"""Defensive distillation (DD-A): a second network learns the first one's certainties instead of the values.

Learning from certainties means minimising their cross-entropy. Drawing a value from them anew in every pass does this
in expectation, with a classifier that takes values only. The certainties are taken as they are: softened ones made the
student worse on the clean ratings, and no better on noisy ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.attackers.known import Known
from core.attriguard.attackers.network import fit_network
from core.attriguard.attackers.noise_seen import drawn


def fit_distilled(known: Known, teacher: Any, *, seed: int) -> Any:
    """Return a network that learned from another one.

    Parameters
    ----------
    teacher : fitted MLPClassifier
    seed : int
        The teacher's: both must hold out the same people, about whom the teacher has learned nothing.
    """
    certainty = teacher.predict_proba(known.records)
    rng = np.random.default_rng([seed, 2])

    def lesson(_number: int) -> tuple[Any, npt.NDArray[np.int64]]:
        return known.records, drawn(certainty, rng)

    return fit_network(known, seed=seed, lesson=lesson)
