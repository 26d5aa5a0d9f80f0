"""AttriGuard at the planned budget, and every attacker on it, those trained against the noise among them."""

from __future__ import annotations

from core.attriguard import Study, TableSettings, table_study
from core.attriguard.table_study import study_steps
from core.decision.audited import Audited
from core.decision.plan import AuditPlan


def guard_settings(plan: AuditPlan) -> TableSettings:
    """Return AttriGuard's settings; attackers who train against the noise do so at the planned budget."""
    return TableSettings(seed=plan.config.seed, trained_budgets=(plan.guard.budget,))


def guard_steps(plan: AuditPlan) -> int:
    """Return how many steps the study reports."""
    return study_steps(guard_settings(plan)) if plan.guard.budget else 0


def guard_study(audited: Audited) -> Study:
    """Return the study of the test records with every attacker."""

    def make() -> Study:
        *_, study = table_study(
            audited.dataset,
            audited.config,
            guard_settings(audited.plan),
            report=lambda done, total: audited.progress.tick(),
        )
        return study

    return audited.once("guard study", make)
