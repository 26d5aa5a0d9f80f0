"""The record: every answered question, the export, and the check of an export."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.csv_table import csv_of_frame
from core.errors import FairLeakError, InputError
from core.fairness import METRIC_TITLES
from pages.common import panels, shell
from pages.common.desk import uploads, words

if TYPE_CHECKING:
    import pandas

    from core.queries.ledger import Ledger, LedgerStatus

__all__ = ["export_and_verify", "log", "log_table", "verify"]


def log_table(status: LedgerStatus) -> pandas.DataFrame:
    """Return the answered questions of a test set, the latest first."""
    import pandas as pd

    rows = [
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
    ]
    names = ["Entry", "When", "Who", "Metric", "Gap", "Low", "High", "ε", "From the past", "Question"]
    return pd.DataFrame(rows, columns=names)


def log(status: LedgerStatus) -> None:
    """Draw the answered questions with a CSV."""
    shell.whisper(
        f"Answered about {shell.escape(status.registration.name)}",
        "Latest first; gap with its 95% interval. Question: the first digits of the predictions' hash",
    )
    table = log_table(status)
    if not len(table):
        st.caption("Nothing was asked yet.")
        return
    digits = {name: st.column_config.NumberColumn(format="%.4f") for name in ("Gap", "Low", "High")}
    st.dataframe(table, hide_index=True, height="content" if len(table) <= 8 else 320, column_config=digits)
    st.download_button(
        "CSV",
        data=lambda: csv_of_frame(table),
        file_name="fairleak-desk.csv",
        mime="text/csv",
        key="desk_log_csv",
        icon=":material/download:",
        on_click="ignore",
    )


def export_and_verify(ledger: Ledger, seal: str | None) -> None:
    """Draw the export's button, and the check of an export."""
    left, right = st.columns(2, gap="large")
    with left:
        shell.whisper("Export", "Every entry with its hash, without key, predictions or anybody's attribute")
        if seal is None:
            st.caption("There is nothing on record yet.")
        else:
            st.markdown(words.noted(seal))
            st.download_button(
                "Download the record",
                data=lambda: ledger.record()[0],
                file_name="fairleak-ledger.jsonl",
                mime="application/jsonl",
                key="desk_export",
                icon=":material/download:",
                on_click="ignore",
            )
    with right:
        verify()


def verify() -> None:
    """Draw the check of an export, which needs no ledger."""
    shell.whisper(
        "Verify",
        "An export's chain of hashes, every budget's sum, every gap and standard error computed again; not the "
        "intervals' bounds, which follow from predictions it does not hold",
    )
    upload = uploads.box("desk_verify", "An exported record")
    noted = st.text_input(
        "A hash noted earlier, if there is one (32 digits or more)", key="desk_noted", persist_state="session"
    )
    if upload is not None:
        _verdict(upload, (noted or "").strip() or None)


def _verdict(upload: uploads.Upload, noted: str | None) -> None:
    from core.queries.ledger import verify_export

    try:
        good, sentence = words.holds(verify_export(upload.content, noted=noted), upload.name)
    except (InputError, FairLeakError) as error:
        panels.problem(str(error))
        return
    if good:
        st.success(shell.escape(sentence), icon=":material/verified:")
    else:
        st.error(shell.escape(sentence), icon=":material/error:")
