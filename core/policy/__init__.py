"""Release policies: limits on what attacks gain, and the verdict they give over an audit's measurements."""

from core.policy.checks import CHECKS, redacted_of
from core.policy.decisions import judge
from core.policy.limits import (
    NO_SOURCE,
    UNITS,
    VERDICT_TITLES,
    Limit,
    Policy,
    control_text,
    default_policy,
    estimate_text,
    is_placeholder,
    level_text,
    limit_text,
    placeholders_text,
    policy_text,
    predictions_policy,
    range_text,
    read_policy,
    source_text,
    value_text,
)
from core.policy.settling import what_would_settle
from core.policy.verdict import Bullet, CheckVerdict, Status, Verdict, bullet, headline_and_detail

__all__ = [
    "CHECKS",
    "NO_SOURCE",
    "UNITS",
    "VERDICT_TITLES",
    "Bullet",
    "CheckVerdict",
    "Limit",
    "Policy",
    "Status",
    "Verdict",
    "bullet",
    "control_text",
    "default_policy",
    "estimate_text",
    "headline_and_detail",
    "is_placeholder",
    "judge",
    "level_text",
    "limit_text",
    "placeholders_text",
    "policy_text",
    "predictions_policy",
    "range_text",
    "read_policy",
    "redacted_of",
    "source_text",
    "value_text",
    "what_would_settle",
]
