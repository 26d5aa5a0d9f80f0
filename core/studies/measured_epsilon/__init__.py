"""Privacy budgets: the ε that is promised, the ε that a ledger or proof says is spent, and the ε that is measured."""

from .study import STUDY

__all__ = ["STUDY"]
