"""The sections below the verdict: one is drawn, or none."""

from __future__ import annotations

import streamlit as st

from core.config import AuditConfig
from core.csv_table import csv_of_frame
from core.datasets.dataset import Table
from core.policy import verdict_frame
from pages.common import shell
from pages.common.deciding import controls, downloads, limit
from pages.common.deciding import policy as policies
from pages.common.deciding.guide import GUIDE
from pages.common.deciding.shown import Shown
from pages.common.deciding.tested import Tested

__all__ = ["draw"]


def draw(name: str | None, config: AuditConfig, table: Table, tested: Tested, shown: Shown | None) -> None:
    """Draw a section.

    Parameters
    ----------
    name : str or None
        A key of `controls.SECTIONS`.
    config : AuditConfig
    table : Table
    tested : Tested
    shown : Shown or None
        None while there is no verdict; what needs one says so.
    """
    if name == "judged":
        _policy(config)
    elif name == "attacked":
        controls.attacks(config, table)
    elif name == "self_test":
        tested.draw()
    elif name == "guide":
        st.markdown(GUIDE)
    elif name is not None and shown is None:
        st.caption("There is no verdict yet.")
    elif name == "edition" and shown is not None:
        downloads.edition(shown)
    elif name == "numbers" and shown is not None:
        _numbers(shown)


def _policy(config: AuditConfig) -> None:
    attribute = config.roles.attribute if config.roles else "the attribute"
    left, right = st.columns([2, 3], gap="large")
    with left:
        shell.whisper("The policy", "What a release must keep to")
        policies.choose(config)
    with right:
        shell.whisper("Its limits", "A change is judged by at once; nothing is attacked again")
        limit.editor(config, attribute)


def _numbers(shown: Shown) -> None:
    import pandas as pd

    tables = {"Checks": verdict_frame(shown.audit.verdict)}
    tables |= {title: pd.DataFrame(list(rows)) for title, rows in shown.audit.tables.items() if rows}
    shell.whisper("The numbers", "Shares as they are; the same tables are in the reports")
    title = st.selectbox("Table", list(tables), key="release_table", persist_state="session") or "Checks"
    table = tables[title]
    st.dataframe(table, hide_index=True, height="content" if len(table) <= 10 else 380)
    st.download_button(
        "CSV",
        data=lambda: csv_of_frame(table),
        file_name="fairleak-release.csv",
        mime="text/csv",
        key="csv_release",
        icon=":material/download:",
        on_click="ignore",
    )
