"""Privacy budgets: the ε that is promised, the ε that a ledger or proof says is spent, and the ε that is measured."""

from core.studies.measured_epsilon.audits import MechanismAudit
from core.studies.measured_epsilon.bounds import OneRun
from core.studies.measured_epsilon.study import MeasuredEpsilon, MeasuredEpsilonSettings

__all__ = ["MeasuredEpsilon", "MeasuredEpsilonSettings", "MechanismAudit", "OneRun"]
