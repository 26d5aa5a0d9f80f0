"""Start: a finished audit without a click, three doors, and the map of what fair and private models reveal."""

from pages.common import shell

shell.guard()

from pathlib import Path

import streamlit as st

from pages.common import cached, overview_map, panels, state, wording

_DOORS = (  # title, icon, what is behind it, and its links: file and label
    (
        "Decide",
        ":material/fact_check:",
        "May this model be released? Bring a table with predictions, a model file, or data to train on.",
        (("data.py", "Upload"), ("choose.py", "Choose a model"), ("report.py", "Report")),
    ),
    (
        "Teach and learn",
        ":material/school:",
        "Worked examples with a few synthetic people, sheets to print, and a lesson of 45 minutes.",
        (("learn.py", "Worked examples"), ("glossary.py", "Glossary")),
    ),
    (
        "Explore",
        ":material/explore:",
        "Change the fairness and privacy settings and watch each attack.",
        (
            ("correction.py", "Correction"),
            ("bias_queries.py", "Bias queries"),
            ("people.py", "People at risk"),
        ),
    ),
)

shell.head()
top = st.container()
opening = None if state.drawn() else top.empty()  # none, so that the finding before stays
if opening is not None:
    opening.markdown(
        "## To become fair, a model must look at people's sensitive attributes. Some of that can come out again.\n\n"
        "FairLeak trains a fair model, attacks it, and measures what an attacker learns that nobody meant to tell."
    )
waiting = st.container()
for column, (title, icon, told, links) in zip(st.columns(len(_DOORS)), _DOORS, strict=True):
    with column.container(border=True, height="stretch", key=f"door_{title.split()[0].lower()}"):
        st.markdown(f"### {icon} {title}\n\n{told}")
        with st.container(horizontal=True, gap="small"):
            for file, label in links:
                st.page_link(str(Path(__file__).with_name(file)), label=f":primary[{label}]")
below = st.container()

with waiting:
    config, table = cached.audited()
with below:
    overview_map.draw_map(config, table)
with waiting:
    result = cached.audit(config, table)
    now = result.disclose(round(min(config.tolerance, 0.2), 3), **cached.ATTACKER)

from core.correction.findings import headline

with (opening or top.empty()).container():
    panels.finding(headline(result, now, adversary="features"), "correction", "report")
st.caption(wording.provenance(result.subject))
