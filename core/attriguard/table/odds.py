"""How near records are to being read as a value: its log odds, and whether it leads."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Odds(NamedTuple):
    """Log odds of the target, and whether its score leads every other by the lead asked for; both of shape (...)."""

    odds: npt.NDArray[np.float64]
    reached: npt.NDArray[np.bool_]


def log_odds(scores: npt.NDArray[np.float64], target: int, *, lead: float) -> Odds:
    """Return z_i − log Σ_{c≠i} exp z_c of scores z (m, ...), and whether z_i − max_{c≠i} z_c is at least `lead`."""
    others = [own for value, own in enumerate(scores) if value != target]
    top = reduce(np.maximum, others)
    rivals = top
    if len(others) > 1:
        rivals = top + np.log(sum(np.exp(own - top) for own in others))
    return Odds(scores[target] - rivals, scores[target] - top >= lead)
