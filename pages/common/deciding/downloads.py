"""The reports as files: HTML, JSON and CSV of both editions, the policy, and the plan for the command line."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from core.decision import plan_text
from core.policy import policy_text
from core.report import csv_files, to_html, to_json
from pages.common import shell
from pages.common.deciding.shown import Shown

__all__ = ["FILES", "edition", "file", "internal"]

FILES = {
    "html": ("Report (HTML)", "html", "text/html", ":material/download:"),
    "json": ("Findings (JSON)", "json", "application/json", ":material/data_object:"),
    "csv": ("Tables (CSV)", "zip", "application/zip", ":material/table:"),
    "policy": ("Policy (TOML)", "toml", "application/toml", ":material/rule:"),
    "plan": ("Plan (TOML)", "toml", "application/toml", ":material/checklist:"),
}
"""Kind -> label, ending, type and icon."""

_DATE = (1980, 1, 1, 0, 0, 0)
"""Time of every file in an archive, so that the same tables make the same archive."""


def file(shown: Shown, kind: str, edition: str = "internal") -> bytes:
    """Return a file of an edition; plan and policy are the same for all.

    Parameters
    ----------
    shown : Shown
    kind : str
        A key of `FILES`.
    edition : {"internal", "disclosure"}
    """
    if kind == "policy":
        return policy_text(shown.audit.verdict.policy).encode("utf-8")
    if kind == "plan":
        return plan_text(replace(shown.audit.plan, policy="policy.toml")).encode("utf-8")
    told = shown.document(edition)
    if kind == "csv":
        return _archive(csv_files(told, edition=edition))
    return (to_html if kind == "html" else to_json)(told, edition=edition).encode("utf-8")


def _archive(files: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _button(shown: Shown, kind: str, edition: str, *, first: bool) -> None:
    label, ending, mime, icon = FILES[kind]
    name = {"policy": "policy", "plan": "plan", "csv": f"fairleak-{edition}-tables"}.get(kind, f"fairleak-{edition}")
    st.download_button(
        label,
        data=partial(file, shown, kind, edition),
        file_name=f"{name}.{ending}",
        mime=mime,
        key=f"download_{edition}_{kind}",
        icon=icon,
        type="primary" if first else "secondary",
        on_click="ignore",
    )


def internal(shown: Shown) -> None:
    """Draw the buttons of the internal edition, and which report it is."""
    told = shown.document()
    mark, made = str(told["fingerprint"]), str(told["times"].get("started", ""))[:10]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for kind in FILES:
            _button(shown, kind, "internal", first=kind == "html")
        st.caption(
            f"Fingerprint {mark[:4]} {mark[4:8]} · {made} · FairLeak {told['provenance']['fairleak']}", width="content"
        )


def edition(shown: Shown) -> None:
    """Draw the edition for others: what an attack and the meter read in it, what it withholds, and its files."""
    shell.whisper(
        "An edition for others",
        "Small cells withheld; no seeds, paths or details; attacked and metered before it is written",
    )
    with st.spinner("Writing the edition, and attacking it"):
        told = shown.document("disclosure")
    st.markdown(f"**What its own numbers give away:** {shell.escape(told['edition_attack']['told'])}")
    if metered := shown.document().get("release_meter"):
        st.markdown(f"**Read by the release meter:** {shell.escape(metered['told'])}")
        if metered["control"]:
            st.caption(shell.escape(metered["control"]))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for kind in ("html", "json", "csv"):
            _button(shown, kind, "disclosure", first=kind == "html")
    for note in told["withheld"]["notes"]:
        st.caption(shell.escape(note))
