"""People at risk: whom the attacks find of the same training records, and what would free each. Internal use only."""

from .people_at_risk import PeopleAtRisk
from .people_attacks import (
    ATTACKS,
    CERTAIN,
    IMPUTABLE,
    MEMBERS,
    MOST_PEOPLE,
    IdentifiedRecords,
    PeopleAttacks,
    PeopleSettings,
)
from .people_study import PEOPLE
from .remedies import (
    Effect,
    Remedy,
    effect_of,
    plan_text,
    plans,
    remaining_leaks,
    remedies_of,
    smallest_fixes,
)

__all__ = [
    "ATTACKS",
    "CERTAIN",
    "IMPUTABLE",
    "MEMBERS",
    "MOST_PEOPLE",
    "PEOPLE",
    "Effect",
    "IdentifiedRecords",
    "PeopleAtRisk",
    "PeopleAttacks",
    "PeopleSettings",
    "Remedy",
    "effect_of",
    "plan_text",
    "plans",
    "remaining_leaks",
    "remedies_of",
    "smallest_fixes",
]
