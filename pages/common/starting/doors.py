"""The three doors: whoever decides, whoever teaches or learns, whoever wants to look around."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

__all__ = ["doors"]

_PAGES = Path(__file__).resolve().parents[2]

_DOORS = (
    (
        "Check a model",
        ":material/fact_check:",
        "May it be released? Bring a table with a model's answers, a model file, or a table to train on, and read the "
        "verdict.",
        (
            ("data.py", "Bring a table or a model", ":material/table_rows:"),
            ("report.py", "Read the verdict", ":material/fact_check:"),
            ("release.py", "Meter a model card", ":material/contact_page:"),
        ),
    ),
    (
        "Learn by example",
        ":material/school:",
        "Cases of a few invented people, small enough to work out by hand: a question first, then every step, and a "
        "sheet to print.",
        (("learn.py", "Open the cases", ":material/school:"),),
    ),
    (
        "Explore",
        ":material/explore:",
        "Turn the settings yourself: how a model is made fair or private, and what each attack gets out of it.",
        (
            ("model.py", "Model", ":material/balance:"),
            ("correction.py", "Correction", ":material/tune:"),
            ("bias_queries.py", "Bias queries", ":material/quiz:"),
            ("attriguard.py", "AttriGuard", ":material/shield:"),
            ("membership.py", "Membership", ":material/group:"),
        ),
    ),
)
"""Title, icon, what is behind it, and its links: (file, label, icon)."""


def doors() -> None:
    """Draw the doors beside each other."""
    for column, (title, icon, told, links) in zip(st.columns(len(_DOORS)), _DOORS, strict=True):
        with column.container(border=True, height="stretch", key=f"door_{title.split()[0].lower()}"):
            st.markdown(f"{icon} **{title}**  \n{told}")
            with st.container(horizontal=True, gap=None):
                for file, label, sign in links:
                    st.page_link(str(_PAGES / file), label=f":primary[{label}]", icon=sign)
