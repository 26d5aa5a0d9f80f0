"""Privacy budgets: the ε that is promised, the ε that a ledger or proof says is spent, and the ε that is measured."""

from core.measured_epsilon.audits import Audited, answer_draws, audits, card_draws, desk_draws, tree_run
from core.measured_epsilon.bounds import (
    OneRun,
    TwoTables,
    distinguished,
    one_run_bound,
    one_run_p_value,
    two_table_bound,
)
from core.measured_epsilon.study import STUDY, MeasuredEpsilon, MeasuredEpsilonSettings

__all__ = [
    "STUDY",
    "Audited",
    "MeasuredEpsilon",
    "MeasuredEpsilonSettings",
    "OneRun",
    "TwoTables",
    "answer_draws",
    "audits",
    "card_draws",
    "desk_draws",
    "distinguished",
    "one_run_bound",
    "one_run_p_value",
    "tree_run",
    "two_table_bound",
]
