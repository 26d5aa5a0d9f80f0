"""The example's ledger in memory, all budgets at once, and Parquet files."""

from __future__ import annotations

from core import desk
from core.desk import Columns, Ledger, example_ledger
from tests import desk_files, ledger_work


def asked(ledger: Ledger) -> Ledger:
    """Return a ledger with a registration and two answers, one of them free."""
    ledger_work.register(ledger)
    for scores in (ledger_work.question(1), 1 - ledger_work.question(1)):
        ledger.ask(ledger_work.NAME, ledger_work.people(), scores, epsilon=0.3, asker="team A")
    return ledger


def test_the_same_seed_gives_the_same_answers_and_another_one_others():
    first, again, other = (asked(example_ledger(seed)).status(ledger_work.NAME).answers for seed in (1, 1, 2))
    assert [a.gap for a in first] == [a.gap for a in again] != [a.gap for a in other]
    assert [a.charged for a in first] == [0.3, 0]


def test_all_budgets_at_once_are_each_budget_on_its_own():
    ledger = asked(example_ledger(3))
    other = desk.test_set_of(
        desk_files.test_set(), "people.csv", Columns(id="person", attribute="sex", advantaged="Male")
    )
    ledger.register("other", other, budget=1, columns=Columns(id="person", attribute="sex", advantaged="Male"))
    assert ledger.statuses() == (ledger.status(ledger_work.NAME), ledger.status("other"))
