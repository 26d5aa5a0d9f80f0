"""The attacker who trains against the noise (AT-A): AttriGuard's own draws, fresh in every pass, with true values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.attackers.known import Known
from core.attriguard.attackers.network import fit_network
from core.attriguard.attackers.noise_seen import NoiseSeen


def fit_adversarial(known: Known, seen: NoiseSeen, *, budget: float, seed: int) -> Any:
    """Return a network that learned from noisy records.

    Parameters
    ----------
    seen : NoiseSeen
        The defence, run on the known people.
    budget : float, at least 0
        Entries changed per person on average, in what she trains on.
    """
    mechanism = seen.mechanism(budget)
    rng = np.random.default_rng([seed, 1])

    def lesson(_number: int) -> tuple[Any, npt.NDArray[np.int64]]:
        return seen.draw(mechanism, rng), known.values

    return fit_network(known, seed=seed, lesson=lesson)
