"""Release audits: a plan, the measurements a policy asks for, and the verdict."""

from core.auditing.answers import MissingAnswers
from core.auditing.comparison import ChangedValue, Replay, changed_values, compare_runs
from core.auditing.inputs import checked_dataset, dataset_of, load_model, load_policy_text, load_table
from core.auditing.plan import (
    AuditPlan,
    DataPlan,
    GuardPlan,
    MembershipPlan,
    ModelPlan,
    PlannedAnswers,
    commented_plan,
    plan_of,
    plan_text,
    read_plan,
)
from core.auditing.result import (
    SAME_ANSWER,
    ReleaseAudit,
    SelfTest,
    data_fingerprint,
    failed_tests,
    provenance,
    verdict_caveats,
)
from core.auditing.run import audit_steps, run_audit
from core.auditing.self_tests import cached_self_test, self_test_in_subprocess
from core.auditing.suggestion import catalogue_plan, kept_tolerance, suggested_outputs, suggested_plan
from core.studies.subject import OutputsPlan

__all__ = [
    "SAME_ANSWER",
    "AuditPlan",
    "ChangedValue",
    "DataPlan",
    "GuardPlan",
    "MembershipPlan",
    "MissingAnswers",
    "ModelPlan",
    "OutputsPlan",
    "PlannedAnswers",
    "ReleaseAudit",
    "Replay",
    "SelfTest",
    "audit_steps",
    "cached_self_test",
    "catalogue_plan",
    "changed_values",
    "checked_dataset",
    "commented_plan",
    "compare_runs",
    "data_fingerprint",
    "dataset_of",
    "failed_tests",
    "kept_tolerance",
    "load_model",
    "load_policy_text",
    "load_table",
    "plan_of",
    "plan_text",
    "provenance",
    "read_plan",
    "run_audit",
    "self_test_in_subprocess",
    "suggested_outputs",
    "suggested_plan",
    "verdict_caveats",
]
