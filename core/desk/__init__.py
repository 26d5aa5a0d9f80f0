"""The desk: fairness questions answered within one lifetime budget a test set and attribute, each answer on record.

What is guaranteed: everything a ledger ever tells askers about a test set's attribute is `budget`-differentially
private with respect to one person's attribute, against people who do not know the group sizes (2 `budget` against those
who do); each answer is charged, written and committed before anybody sees it; a question that was answered before is
free; a question about the registered people, who are known by their file, is refused for its price only. The attribute
itself is never stored, so every question needs the test set's file.

What is assumed: people who can call the desk, reach its page or its command, or read its database, which holds the key
of the seals, is trusted with the attribute: whether a file is the registered one tells whether a guess of it is right.
Such guesses go on record. So developers hand in predictions, and the compliance team runs the desk. Predictions and
labels are known to those who ask. The people of two registered test sets are different people, and an attribute that is
said to be another one is another one (budgets add up otherwise). That a named advantaged value occurs at all is visible
in a registration from a file. Neither a ledger nor an export contains predictions, and an export no key.
"""

from .books import (
    AskSettings,
    LedgerAnswer,
    LedgerStatus,
    Quote,
    RegisterSettings,
    verify_export,
)
from .ledger import Ledger, default_ledger, example_ledger, open_ledger
from .registration import (
    TestSet,
    desk_roles,
    input_facts,
    people_table,
    predictions_of,
    roles_in,
    suggested_roles,
    test_set_of,
)

__all__ = [
    "AskSettings",
    "Ledger",
    "LedgerAnswer",
    "LedgerStatus",
    "Quote",
    "RegisterSettings",
    "TestSet",
    "default_ledger",
    "desk_roles",
    "example_ledger",
    "input_facts",
    "open_ledger",
    "people_table",
    "predictions_of",
    "roles_in",
    "suggested_roles",
    "test_set_of",
    "verify_export",
]
