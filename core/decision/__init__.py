"""Release audits: a plan, the measurements a policy asks for, and the verdict."""

from core.decision.plan import PLAN_SCHEMA, AuditPlan, DataPlan, GuardPlan, MembershipPlan, ModelPlan, PlannedAnswers
from core.decision.result import (
    REPORT_SCHEMA,
    DataSummary,
    GroupSummary,
    ModelSummary,
    Provenance,
    ReleaseAudit,
    SelfTest,
)

__all__ = [
    "PLAN_SCHEMA",
    "REPORT_SCHEMA",
    "AuditPlan",
    "DataPlan",
    "DataSummary",
    "GroupSummary",
    "GuardPlan",
    "MembershipPlan",
    "ModelPlan",
    "ModelSummary",
    "PlannedAnswers",
    "Provenance",
    "ReleaseAudit",
    "SelfTest",
]
