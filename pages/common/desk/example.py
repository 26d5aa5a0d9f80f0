"""What the desk does, shown on invented people while there is no ledger: four questions, two of them free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from core.figures import GapRow, draw_gaps
from core.fingerprint import fingerprint
from core.queries.ledger import LedgerStatus
from pages.common import cached, panels, shell
from pages.common.desk import board, words

__all__ = ["show"]

_SEED = 7
_PRICE = 0.1
_PEOPLE = 1000


@dataclass(frozen=True, slots=True)
class _Example:
    """An example's ledger at its end, what was asked, and the true gaps."""

    status: LedgerStatus
    asked: tuple[str, ...]
    truths: tuple[float, ...]

    @property
    def worst(self) -> float:
        return max(abs(a.gap.value - t) for a, t in zip(self.status.answers, self.truths, strict=True))


def show(place: Any) -> None:
    """Draw the example, its finding in `place`."""
    found: _Example = cached.store_of("demo").remember(fingerprint("desk example"), _play)
    with place:
        shell.finding(*words.example(found.status, found.worst))
    left, right = st.columns([3, 2], gap="large")
    with left:
        shell.whisper(
            "Four questions, two of them paid for",
            "Gap in loan approvals, men minus women, with its 95% interval. Upright stroke: the truth, known here only",
        )
        answers = zip(found.asked, found.status.answers, found.truths, strict=True)
        rows = [GapRow(words=w, gap=a.gap, price=a.charged, truth=t) for w, a, t in answers]
        panels.chart(draw_gaps(rows, shell.palette()), key="desk_example_chart")
    with right:
        shell.whisper("What is left", "Budget ε of the test set, for everybody who asks, for good")
        st.html(board.budget_bar(found.status, words.told_budget(found.status, 0)), width="stretch")
        st.markdown(words.example_story(found.status.registration.budget))


def _play() -> _Example:
    """Ask four questions about the built-in demo's people, of a ledger in memory."""
    from core.datasets import build_dataset, demo_table
    from core.queries import statistical_parity_gap
    from core.queries.ledger import Columns, TestSet, example_ledger

    table = demo_table()
    dataset = build_dataset(table, table.roles[0])
    men = (dataset.sensitive[:_PEOPLE] == 0).astype(np.uint8)
    people = TestSet(ids=tuple(str(i + 1) for i in range(_PEOPLE)), attribute=men)
    ledger = example_ledger(_SEED)
    ledger.register("Example", people, budget=1, columns=Columns(attribute="sex", advantaged="men"))
    questions = _questions(dataset)
    for scores in questions.values():
        ledger.ask("Example", people, scores, epsilon=_PRICE, asker="example")
    truths = [float(statistical_parity_gap(scores, men)[0]) for scores in questions.values()]
    return _Example(ledger.status("Example"), tuple(questions), tuple(truths))


def _questions(dataset: Any) -> dict[str, Any]:
    """Return two simple rules for granting a loan, and two questions that follow from them."""
    income = dataset.features[:_PEOPLE, dataset.feature_names.index("income")]
    history = dataset.features[:_PEOPLE, dataset.feature_names.index("credit_history_years")]
    by_income = (income >= np.median(income)).astype(float)
    by_history = (history >= np.median(history)).astype(float)
    return {
        "Loans by income": by_income,
        "Loans by credit history": by_history,
        "Refusals by income: the complement": 1 - by_income,
        "Half by income, half by history": (by_income + by_history) / 2,
    }
