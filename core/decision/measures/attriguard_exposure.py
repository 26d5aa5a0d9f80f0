"""How often a person's attribute is still guessed when records are published with AttriGuard's noise."""

from __future__ import annotations

from core.attriguard import TABLE_ATTACKER_TITLES
from core.decision.attacks.noise import guard_study
from core.decision.audited import Audited
from core.policy import Measurement
from core.strongest import strongest


def attriguard_exposure(audited: Audited) -> Measurement:
    """Return the accuracy of the best attacker at the planned budget, never below the majority guess."""
    study, budget = guard_study(audited), audited.plan.guard.budget
    points = {point.attacker: point for point in study.at(budget)}
    clean = {point.attacker: point.accuracy for point in study.undefended()}
    name, estimate = strongest({key: point.reported for key, point in points.items()}, within=(0.0, 1.0))
    _, control = strongest(clean, within=(0.0, 1.0))
    best = TABLE_ATTACKER_TITLES[name]
    details = {TABLE_ATTACKER_TITLES[key]: point.accuracy.value for key, point in points.items()}
    details |= {f"{TABLE_ATTACKER_TITLES[key]}, without noise": found.value for key, found in clean.items()}
    return Measurement(
        check="attriguard_exposure",
        estimate=estimate,
        control=control,
        control_name="the best attacker without noise",
        attacked=(
            f"The {audited.attribute} of {study.truth.size:,} test people whose records change by {budget:g} columns "
            f"each on average, guessed by {best[0].lower()}{best[1:]}."
        ),
        knows=(
            f"The records as published, without their label, records and {audited.attribute} of "
            f"{audited.splits.known.size:,} other people, and how the noise is made."
        ),
        assumptions=(
            "The interval is over people, and holds for the attackers tried together.",
            "Attackers who train against the noise do so at the planned budget.",
        ),
        details=details | {"majority guess": study.majority.value},
    )
