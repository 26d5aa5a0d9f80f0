"""Choose a model: many candidates, one policy, and the most accurate within all limits, judged on fresh people."""

from .candidates import (
    LEAKS,
    PREFERENCES,
    CandidatePoint,
    CandidateSet,
    ChooseSettings,
    candidate_configs,
    measure_all,
)
from .choose import Candidate, Choice, ChoiceOutcome, choose

__all__ = [
    "LEAKS",
    "PREFERENCES",
    "Candidate",
    "CandidatePoint",
    "CandidateSet",
    "Choice",
    "ChoiceOutcome",
    "ChooseSettings",
    "candidate_configs",
    "choose",
    "measure_all",
]
