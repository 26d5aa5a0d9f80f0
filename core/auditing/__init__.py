"""Release audits: a plan, the measurements a policy asks for, and the verdict."""

from ..studies.subject import OutputsPlan
from .inputs import (
    MissingAnswers,
    checked_dataset,
    dataset_of,
    load_model,
    load_policy_text,
    load_table,
)
from .plan import (
    AttriGuardSettings,
    AuditPlan,
    BiasQueriesSettings,
    DataPlan,
    MembershipSettings,
    ModelPlan,
    RegisterPlan,
    check_plan,
    commented_plan,
    plan_text,
    read_plan,
)
from .result import (
    ReleaseAudit,
    SelfTest,
    data_fingerprint,
    failed_tests,
    provenance,
    verdict_caveats,
)
from .run import cached_self_test, run_audit, self_test_in_subprocess
from .suggestion import (
    catalogue_plan,
    fitting_policy,
    kept_tolerance,
    next_models,
    suggested_outputs,
    suggested_plan,
)

__all__ = [
    "AttriGuardSettings",
    "AuditPlan",
    "BiasQueriesSettings",
    "DataPlan",
    "MembershipSettings",
    "MissingAnswers",
    "ModelPlan",
    "OutputsPlan",
    "RegisterPlan",
    "ReleaseAudit",
    "SelfTest",
    "cached_self_test",
    "catalogue_plan",
    "check_plan",
    "checked_dataset",
    "commented_plan",
    "data_fingerprint",
    "dataset_of",
    "failed_tests",
    "fitting_policy",
    "kept_tolerance",
    "load_model",
    "load_policy_text",
    "load_table",
    "next_models",
    "plan_text",
    "provenance",
    "read_plan",
    "run_audit",
    "self_test_in_subprocess",
    "suggested_outputs",
    "suggested_plan",
    "verdict_caveats",
]
