"""Attacks that several checks and tables of an audit share; each runs once an audit."""

from core.decision.attacks.answers import answers_of, mechanism_of, planned_leakages, planned_trials, two_sided
from core.decision.attacks.inference import CORRECTED, attack_of, attribution_of, disclosure_of, tolerance_told
from core.decision.attacks.members import FALSE_ALARMS, member_advantages, member_curves, member_gaps, member_guesses
from core.decision.attacks.noise import guard_study
from core.decision.attacks.released import PLACES, closing_precision, outputs_text, released_gain, released_judged

__all__ = [
    "CORRECTED",
    "FALSE_ALARMS",
    "PLACES",
    "answers_of",
    "attack_of",
    "attribution_of",
    "closing_precision",
    "disclosure_of",
    "guard_study",
    "mechanism_of",
    "member_advantages",
    "member_curves",
    "member_gaps",
    "member_guesses",
    "outputs_text",
    "planned_leakages",
    "planned_trials",
    "released_gain",
    "released_judged",
    "tolerance_told",
    "two_sided",
]
