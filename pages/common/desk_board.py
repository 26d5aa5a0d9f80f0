"""The state of the ledger, the record of its answers with export and check, and an example while there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.desk import LedgerStatus
from core.errors import FairLeakError
from core.fairness import METRIC_TITLES
from core.files import csv_of_frame
from core.fingerprint import fingerprint
from pages.common import cached, panels, shell
from pages.common import desk_people as people
from pages.common import desk_words as words

if TYPE_CHECKING:
    from core.desk import Ledger, LedgerStatus


def chosen(statuses: Sequence[LedgerStatus]) -> LedgerStatus:
    """Choose a test set; the one registered or asked about last stays chosen."""
    names = [status.registration.name for status in statuses]
    if st.session_state.get("desk_name") not in names:
        st.session_state["desk_name"] = names[-1]
    if len(names) > 1:
        st.selectbox("Test set", names, key="desk_name", persist_state="session", width=560)
    return statuses[names.index(st.session_state["desk_name"])]


def show(now: LedgerStatus, statuses: Sequence[LedgerStatus]) -> None:
    """Draw the answers of one test set beside all budgets."""
    from core.charts import GapRow, draw_gaps
    from core.charts.queries import MOST_ROWS

    colours = shell.palette()
    left, right = st.columns([3, 2], gap="large")
    with left:
        if now.answers:
            drawn = draw_gaps([GapRow(words=words.row(a), gap=a.gap, price=a.charged) for a in now.answers], colours)
            told = words.drawn(len(now.answers), MOST_ROWS)
            panels.titled("What was answered", told, drawn, key="desk_answers_chart")
        else:
            shell.whisper("What was answered", "Nothing yet. Ask below: the price is shown before anything is charged")
    with right:
        shell.whisper("What is left", "Budget ε of each test set, for everybody who asks, for good")
        refused = st.session_state.get("desk_refused", {})
        bars = (budget_bar(status, refused.get(status.registration.name, 0)) for status in statuses)
        st.html("".join(bars), width="stretch")


def budget_bar(status: LedgerStatus, refused: int = 0) -> str:
    """Return a budget as a bar: filled is spent."""
    colours, made, line = shell.palette(), status.registration, words.told_budget(status, refused)
    share = 100 * status.spent / made.budget
    label = f"{made.name}: ε {status.spent:g} of {made.budget:g} spent, {status.remaining:g} left; {line}"
    return (
        '<div style="margin-bottom:16px">'
        f'<div style="display:flex;justify-content:space-between;gap:12px"><span style="overflow-wrap:anywhere">'
        f"<b>{escape(made.name)}</b>, {escape(made.columns.attribute)}, {made.n_people:,} people</span>"
        f'<span style="white-space:nowrap">ε <b>{status.remaining:g}</b> left</span></div>'
        f'<div role="img" aria-label="{escape(label)}" style="height:10px;margin:5px 0;border-radius:2px;'
        f'background:{colours.grid}"><div style="height:10px;border-radius:2px;width:{share:.2f}%;'
        f'background:{colours.leak}"></div></div>'
        f'<div style="color:var(--fl-grey);font-size:.9rem">ε {status.spent:g} of {made.budget:g} spent; '
        f"{escape(line)}</div></div>"
    )


def log(status: LedgerStatus) -> None:
    """Draw the answered questions of a test set, the latest first, with a CSV."""
    import pandas as pd

    shell.whisper(
        f"Answered about {shell.escape(status.registration.name)}",
        "Latest first; gap with its 95% interval. Question: the first digits of the predictions' hash",
    )
    if not status.answers:
        st.caption("Nothing was asked yet.")
        return
    table = pd.DataFrame(
        {
            "Entry": one.number,
            "When": words.moment(one.asked),
            "Who": one.asker,
            "Metric": METRIC_TITLES[one.metric],
            "Gap": one.gap.value,
            "Low": one.gap.low,
            "High": one.gap.high,
            "ε": one.charged,
            "From the past": one.from_past,
            "Question": one.question,
        }
        for one in reversed(status.answers)
    )
    digits = {name: st.column_config.NumberColumn(format="%.4f") for name in ("Gap", "Low", "High")}
    st.dataframe(table, hide_index=True, height="content" if len(table) <= 8 else 320, column_config=digits)
    panels.download("CSV", lambda: csv_of_frame(table), "fairleak-desk.csv", key="desk_log_csv")


def export_and_verify(ledger: Ledger, seal: str | None) -> None:
    """Draw the export's button, and the check of an export."""
    left, right = st.columns(2, gap="large")
    with left:
        shell.whisper("Export", "Every entry with its hash, without key, predictions or anybody's attribute")
        if seal is None:
            st.caption("There is nothing on record yet.")
        else:
            st.markdown(f"Last hash of the ledger, to be noted elsewhere: `{seal}`")
            kept: dict[str, Any] = {"key": "desk_export", "mime": "application/jsonl"}
            panels.download("Download the record", lambda: ledger.record()[0], "fairleak-ledger.jsonl", **kept)
    with right:
        verify()


def verify() -> None:
    """Draw the check of an export, which needs no ledger."""
    shell.whisper(
        "Verify",
        "An export's chain of hashes, every budget's sum, every gap and standard error computed again; not the "
        "intervals' bounds, which follow from predictions it does not hold",
    )
    upload = people.upload_box("desk_verify", "An exported record")
    noted = st.text_input(
        "A hash noted earlier, if there is one (32 digits or more)", key="desk_noted", persist_state="session"
    )
    if upload is not None:
        _verdict(upload, (noted or "").strip() or None)


def _verdict(upload: people.Upload, noted: str | None) -> None:
    from core.desk import verify_export

    try:
        good, sentence = words.holds(verify_export(upload.content, noted=noted), upload.name)
    except FairLeakError as error:
        panels.problem(str(error))
        return
    if good:
        st.success(shell.escape(sentence), icon=":material/verified:")
    else:
        st.error(shell.escape(sentence), icon=":material/error:")


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


def show_example(place: Any) -> None:
    """Draw the example, its finding in `place`."""
    from core.charts import GapRow, draw_gaps

    found: _Example = cached.store_of("demo").remember(fingerprint("desk example"), _play)
    with place:
        shell.finding(*words.example(found.status, found.worst))
    left, right = st.columns([3, 2], gap="large")
    with left:
        answers = zip(found.asked, found.status.answers, found.truths, strict=True)
        rows = [GapRow(words=w, gap=a.gap, price=a.charged, truth=t) for w, a, t in answers]
        panels.titled(
            "Four questions, two of them paid for",
            "Gap in loan approvals, men minus women, with its 95% interval. Upright stroke: the truth, known here only",
            draw_gaps(rows, shell.palette()),
            key="desk_example_chart",
        )
    with right:
        shell.whisper("What is left", "Budget ε of the test set, for everybody who asks, for good")
        st.html(budget_bar(found.status), width="stretch")
        st.markdown(words.example_story(found.status.registration.budget))


def _play() -> _Example:
    """Ask four questions about the built-in demo's people, of a ledger in memory."""
    from core.datasets import build_dataset, demo_table
    from core.desk import Columns, TestSet, example_ledger
    from core.queries import statistical_parity_gap

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
