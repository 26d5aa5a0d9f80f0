"""People at risk: whom the attacks find of the same training records, and what would free each. Internal use only."""

from core.people.people_at_risk import PeopleAtRisk
from core.people.people_attacks import ATTACKS, CERTAIN, KNOWN, MEMBERS, Found, PeopleAttacks
from core.people.people_study import PEOPLE
from core.people.remedies import Effect, Remedy, effect_of, plan_text, plans, remedies_of, smallest_fixes, still_found
from core.people.settings import MOST_PEOPLE, PeopleSettings

__all__ = [
    "ATTACKS",
    "CERTAIN",
    "KNOWN",
    "MEMBERS",
    "MOST_PEOPLE",
    "PEOPLE",
    "Effect",
    "Found",
    "PeopleAtRisk",
    "PeopleAttacks",
    "PeopleSettings",
    "Remedy",
    "effect_of",
    "plan_text",
    "plans",
    "remedies_of",
    "smallest_fixes",
    "still_found",
]
