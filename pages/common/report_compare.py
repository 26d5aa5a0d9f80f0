"""Compare with: another audit beside the one on the page, a kept one or a report that somebody brings.

A report that somebody brings is verified in a process of its own, and kept in the session and nowhere else.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.compare import Comparison, compare, comparison_html, readable_apart
from core.compare.changes import NO_PROOF
from core.compare.reading import day_text
from core.errors import FairLeakError
from core.history import Entry
from core.report import Reports
from pages.common import panels, report_history, shell

_BOX, _FILE, _READ, _DOCUMENT, _PROBLEM = (f"compare_{part}" for part in ("with", "file", "read", "report", "problem"))

_NOTHING, _BROUGHT = "", "brought"

_MOST = 4
"""Megabytes of a report that somebody brings."""


def chosen(release: Reports) -> Comparison | None:
    """Draw the choice of an earlier audit; return it compared with the page's, None where none is chosen."""
    now = release.document()
    kept = {str(one.id): one for one in report_history.entries() if one.fingerprint != now["fingerprint"]}
    titles = {_NOTHING: "Nothing", **{key: _title(one) for key, one in kept.items()}, _BROUGHT: "A report of yours"}
    if st.session_state.get(_BOX) not in titles:  # deleted since it was chosen, or the audit on the page by now
        panels.forget(_BOX)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="compare"):
        told = st.empty()
        with st.container(
            horizontal=True, vertical_alignment="center", width="content", gap="small", key="compare_row"
        ):
            st.markdown("Compare with", width="content")
            words: dict[str, Any] = {"label_visibility": "collapsed", "width": 260}
            name = panels.choose("Compare with", titles, key=_BOX, **words)
    document = _brought() if name == _BROUGHT else _document(kept[name]) if name in kept else None
    if document is None:
        return None
    compared = compare(document, now)
    told.markdown(f"**{shell.escape(compared.headline)}**")
    return compared


def _title(entry: Entry) -> str:
    """Return what a kept audit is called in the list: "8 Nov 2026 · 41c0 9e2a · Loans"."""
    return f"{day_text(entry.when)} · {entry.short} · {entry.project}"


def _document(entry: Entry) -> Any:
    """Return a kept audit's report; None where the history cannot be read any more."""
    history = report_history.current()
    try:
        return None if history is None else history.document(entry)
    except FairLeakError as error:
        panels.problem(str(error))
        return None


def _brought() -> Any:
    """Draw the box for a report; return the one that is read, None where there is none."""
    file = st.file_uploader(
        "Earlier report (report.json or report.html)",
        key=_FILE,
        max_upload_size=_MOST,
        on_change=panels.forget,
        args=(_PROBLEM, _DOCUMENT, _READ),
        help="Kept in this session only.",
    )
    if file is not None and st.session_state.get(_READ) != file.file_id:
        st.session_state[_READ] = file.file_id
        with panels.keeping_problem(_PROBLEM), st.spinner("Verifying the report"):
            st.session_state[_DOCUMENT] = readable_apart(file.getvalue(), name="The file")
    panels.kept_problem(_PROBLEM)
    return st.session_state.get(_DOCUMENT)


def below(compared: Comparison | None) -> None:
    """Draw under the checks what the comparison takes for granted, and what else changed."""
    if compared is None:
        return
    st.caption(shell.escape(f"{NO_PROOF} {compared.people}"))
    with st.expander(f"What changed since {shell.escape(compared.before.name)}", icon=":material/difference:"):
        if compared.changed:
            rows = [
                {"Part": one.part, "What": one.what, "Before": one.before, "After": one.after}
                for one in compared.changed
            ]
            st.dataframe(rows, hide_index=True, height="content" if len(rows) <= 12 else 380)
        else:
            st.markdown(compared.nothing_changed)
        if compared.detail:
            st.caption(shell.escape(compared.detail))
        panels.download(
            "Comparison (HTML)",
            lambda: comparison_html(compared).encode(),
            "fairleak-comparison.html",
            key="download_comparison",
            mime="text/html",
            icon=":material/description:",
        )
