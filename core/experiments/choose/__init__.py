"""Choose a model: many candidates, one policy, and the most accurate within all limits, judged on fresh people."""

from .candidates import (
    LEAKS,
    PREFERENCES,
    CandidatePoint,
    CandidateSet,
    ChooseSettings,
    candidates,
    measure_all,
)
from .choose import Candidate, Choice, Outcomes, choose

__all__ = [
    "LEAKS",
    "PREFERENCES",
    "Candidate",
    "CandidatePoint",
    "CandidateSet",
    "Choice",
    "ChooseSettings",
    "Outcomes",
    "candidates",
    "choose",
    "measure_all",
]
