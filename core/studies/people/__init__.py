"""People at risk: whom the attacks find of the same training records, and what would free each. Internal use only."""

from .people_at_risk import PeopleAtRisk
from .people_attacks import ATTACKS, CERTAIN, IMPUTABLE, PeopleSettings
from .people_study import PEOPLE

__all__ = [
    "ATTACKS",
    "CERTAIN",
    "IMPUTABLE",
    "PEOPLE",
    "PeopleAtRisk",
    "PeopleSettings",
]
