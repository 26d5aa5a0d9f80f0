"""Release policies: limits on what attacks gain, and the verdict they give over an audit's measurements."""

from core.policy.checks import CHECKS, UNITS, Check
from core.policy.limits import POLICY_SCHEMA, Limit, Policy
from core.policy.measurement import BASES, OUTCOMES, Measurement
from core.policy.verdict import VERDICTS, CheckVerdict, Verdict

__all__ = [
    "BASES",
    "CHECKS",
    "OUTCOMES",
    "POLICY_SCHEMA",
    "UNITS",
    "VERDICTS",
    "Check",
    "CheckVerdict",
    "Limit",
    "Measurement",
    "Policy",
    "Verdict",
]
