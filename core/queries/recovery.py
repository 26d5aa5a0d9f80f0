"""What an attack on bias answers brings back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from core.queries.checks import Floats
from core.results import Result


class RecoveryStatus(StrEnum):
    """How an attack ended."""

    RECOVERED = "recovered"  # there is a solution, right or wrong
    INFEASIBLE = "infeasible"  # no attributes give these answers, as happens with noise
    UNDETERMINED = "undetermined"  # the answers are the same for everybody's opposite
    NOT_SOLVED = "not_solved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery(Result):
    """The recovered vector s of equation 7 in Hamman et al. 2023, and the attribute read off it.

    Attributes
    ----------
    values : ndarray of shape (n,) or None
        s as it is, in the unit of the answers: 0 for the advantaged and c = 1/N0 + 1/N1 for the disadvantaged where
        the recovery is right; nan for people the answers say nothing about. None without a solution.
    threshold : float or None
        c/2; s above it reads as disadvantaged. None without a solution.
    recovered : ndarray of shape (n,), uint8
        1 = advantaged. Without a solution what the attacker would have said before any answer: by the prior, whoever
        is as likely advantaged as people are at large; without one, everybody in the larger group.
    status : RecoveryStatus
    reason : str
        Why there is no solution, or what it leaves open; empty otherwise.
    """

    values: Floats | None
    threshold: float | None
    recovered: npt.NDArray[np.uint8]
    status: RecoveryStatus
    reason: str
