"""The audit that the page Correction is about, with the attacker chosen on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.auditing import AuditPlan
from core.datasets.dataset import AuditDataset, Table
from core.studies.config import AuditConfig
from core.studies.correction import CorrectionResult, CorrectionSettings
from pages._report import report_plan
from pages.shell import shell

IMPUTATION = "Imputation, without the model"


@dataclass(frozen=True, slots=True)
class CorrectionAudit:
    """What the sections of the page start from."""

    config: AuditConfig
    table: Table
    result: CorrectionResult
    settings: CorrectionSettings

    @property
    def dataset(self) -> AuditDataset:
        """The people."""
        return self.result.subject.dataset

    @property
    def attribute(self) -> str:
        """What the sensitive attribute is called, fit for Markdown."""
        return shell.escape(self.result.subject.attribute)

    @property
    def attacker(self) -> dict[str, Any]:
        """Adversary, cost and protocol."""
        settings = self.settings
        return {
            "adversary": settings.adversary,
            "cost": settings.cost,
            "as_published": settings.as_published,
        }

    @property
    def plan(self) -> AuditPlan:
        """The plan of data and model alone: what experiments of the page vary."""
        requested_plan = report_plan.plan_of(self.config, self.table)
        plan = report_plan.subject(self.config, self.table, requested_plan).plan
        return AuditPlan(data=plan.data, model=plan.model, config=plan.config)

    def seeds(self, key: str, default: int = 1) -> tuple[int, ...]:
        """Return the seeds a section's own control asks for, the audit's first."""
        n_seeds = int(st.session_state.get(key) or default)
        return tuple(range(self.config.seed, self.config.seed + n_seeds))


def current(work: Any, running: bool) -> Any:
    """Return a work; the page is drawn again if it has begun or ended since."""
    if running != work.busy:
        st.rerun()
    return work
