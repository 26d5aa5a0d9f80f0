"""Choose a model: many candidates, one policy, and the most accurate within all limits, judged on fresh people."""

from core.choose.candidates import (
    MEASURED_BY,
    PREFERENCES,
    Asked,
    CandidateMeasure,
    CandidatePoint,
    ChooseSettings,
    Half,
    candidates,
    measure_all,
    title_of,
)
from core.choose.choose import Candidate, Choice, Outcomes, Side, choose

__all__ = [
    "MEASURED_BY",
    "PREFERENCES",
    "Asked",
    "Candidate",
    "CandidateMeasure",
    "CandidatePoint",
    "Choice",
    "ChooseSettings",
    "Half",
    "Outcomes",
    "Side",
    "candidates",
    "choose",
    "measure_all",
    "title_of",
]
