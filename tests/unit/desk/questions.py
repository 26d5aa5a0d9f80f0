"""Two questions about the registered people, asked by one team, and test sets that are not quite the registered one."""

from __future__ import annotations

from core.desk import Ledger, LedgerAnswer, TestSet
from tests.ledger_work import NAME, people, question

__all__ = ["G", "H", "ask", "changed"]

H, G = question(1), question(2)


def ask(ledger: Ledger, scores: object, epsilon: object = 0.3, **more: object) -> LedgerAnswer:
    return ledger.ask(NAME, people(), scores, epsilon=epsilon, asker="team A", **more)  # type: ignore[arg-type]


def changed(**changes: object) -> TestSet:
    one = people()
    return TestSet(**({"ids": one.ids, "attribute": one.attribute, "labels": one.labels} | changes))  # type: ignore[arg-type]
