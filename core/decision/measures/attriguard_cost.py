"""How much of a person's record AttriGuard changes."""

from __future__ import annotations

from dataclasses import replace

from core.decision.attacks.noise import guard_study
from core.decision.audited import Audited
from core.policy import Measurement

_ROUNDING = 1e-9


def attriguard_cost(audited: Audited) -> Measurement:
    """Return the columns changed per person on average at the planned budget."""
    study, budget = guard_study(audited), audited.plan.guard.budget
    spent = study.spent(budget)
    if spent.high - spent.low < _ROUNDING:  # everybody spends the budget: nothing is left to estimate
        spent = replace(spent, low=spent.value, high=spent.value)
    return Measurement(
        check="attriguard_cost",
        estimate=spent,
        attacked=f"The records of {study.truth.size:,} test people, changed by AttriGuard.",
        knows="There is no attacker.",
        assumptions=("The interval is over people; what a person's noise costs is its mean over the draws.",),
        details={"budget": budget, "columns": float(len(audited.dataset.feature_names))},
    )
