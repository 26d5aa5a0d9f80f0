"""Attacks that several checks and tables of an audit share; each runs once an audit."""

from core.decision.attacks.answers import answers_of, mechanism_of, planned_leakages, planned_trials, two_sided
from core.decision.attacks.inference import CORRECTED, attack_of, attribution_of, disclosure_of, tolerance_told
from core.decision.attacks.members import FALSE_ALARMS, member_advantages, member_curves, member_gaps, member_guesses
from core.decision.attacks.noise import guard_study

__all__ = [
    "CORRECTED",
    "FALSE_ALARMS",
    "answers_of",
    "attack_of",
    "attribution_of",
    "disclosure_of",
    "guard_study",
    "mechanism_of",
    "member_advantages",
    "member_curves",
    "member_gaps",
    "member_guesses",
    "planned_leakages",
    "planned_trials",
    "tolerance_told",
    "two_sided",
]
