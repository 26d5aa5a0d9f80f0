"""Privacy budgets: the ε that is promised, the ε that a ledger or proof says is spent, and the ε that is measured."""

from .audits import MechanismAudit
from .bounds import OneRun
from .study import MeasuredEpsilon, MeasuredEpsilonSettings

__all__ = ["MeasuredEpsilon", "MeasuredEpsilonSettings", "MechanismAudit", "OneRun"]
