"""Release policies: limits on what attacks gain, and the verdict they give over an audit's measurements."""

from .checks import CHECKS
from .decisions import judge
from .limits import (
    NO_SOURCE,
    UNITS,
    VERDICT_TITLES,
    Limit,
    Policy,
    control_text,
    default_policy,
    estimate_text,
    is_placeholder,
    limit_text,
    placeholders_text,
    policy_text,
    predictions_policy,
    read_policy,
    source_text,
    value_text,
)
from .verdict import (
    BASIS_LABELS,
    CheckVerdict,
    Status,
    Verdict,
    bullet,
    headline_and_detail,
    next_step,
)

__all__ = [
    "BASIS_LABELS",
    "CHECKS",
    "NO_SOURCE",
    "UNITS",
    "VERDICT_TITLES",
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
    "limit_text",
    "next_step",
    "placeholders_text",
    "policy_text",
    "predictions_policy",
    "read_policy",
    "source_text",
    "value_text",
]
