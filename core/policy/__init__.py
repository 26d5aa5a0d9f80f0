"""Release policies: limits on what attacks gain, and the verdict they give over an audit's measurements."""

from core.policy.checks import CHECKS, Check
from core.policy.defaults import default_policy, default_text, predictions_policy, predictions_text
from core.policy.headline import headline_and_detail
from core.policy.judging import judge
from core.policy.limits import POLICY_SCHEMA, Limit, Policy, check_policy, policy_text, read_policy
from core.policy.measurement import Basis, Measurement, Outcome
from core.policy.tables import Bullet, bullet, verdict_frame
from core.policy.verdict import CheckVerdict, Status, Verdict
from core.policy.words import (
    NO_SOURCE,
    VERDICT_TITLES,
    control_text,
    estimate_text,
    level_text,
    limit_text,
    range_text,
    source_text,
    value_text,
)

__all__ = [
    "CHECKS",
    "NO_SOURCE",
    "POLICY_SCHEMA",
    "VERDICT_TITLES",
    "Basis",
    "Bullet",
    "Check",
    "CheckVerdict",
    "Limit",
    "Measurement",
    "Outcome",
    "Policy",
    "Status",
    "Verdict",
    "bullet",
    "check_policy",
    "control_text",
    "default_policy",
    "default_text",
    "estimate_text",
    "headline_and_detail",
    "judge",
    "level_text",
    "limit_text",
    "policy_text",
    "predictions_policy",
    "predictions_text",
    "range_text",
    "read_policy",
    "source_text",
    "value_text",
    "verdict_frame",
]
