"""Members caught against false alarms, as a curve that steps over tied scores and claims no finer resolution."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.estimates import Estimate
from core.results import Result

__all__ = ["Roc"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roc(Result):
    """A curve.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (k,)
        Rising from 0 to 1, one point a distinct score; between two points nothing is claimed.
    auc : Estimate
        Probability that a member scores above an outsider, ties counting half.
    n_members, n_outsiders : int
    """

    fpr: npt.NDArray[np.float64] = field(repr=False)
    tpr: npt.NDArray[np.float64] = field(repr=False)
    auc: Estimate
    n_members: int
    n_outsiders: int
