"""Start: a finished audit without a click, three doors, and the map of what fair and private models reveal."""

from pages.common import shell

shell.guard()

from pathlib import Path

import streamlit as st

from pages.common import cached, overview_map, panels, state, wording

_DOORS = (  # title, icon, what is behind it, and its links: file, label, icon
    (
        "Check a model",
        ":material/fact_check:",
        "May it be released? Bring a table with a model's answers, a model file, or a table to train on, and read the "
        "verdict.",
        (
            ("data.py", "Bring a table or a model", ":material/table_rows:"),
            ("report.py", "Read the verdict", ":material/fact_check:"),
            ("model_card.py", "Estimate what a model card leaks", ":material/contact_page:"),
        ),
    ),
    (
        "Learn by example",
        ":material/school:",
        "Cases of a few synthetic records, small enough to work out by hand: a question first, then every step, and a "
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

shell.head()
top = st.container()
opening = None if state.drawn() else top.empty()  # none, so that the finding before stays
if opening is not None:
    opening.markdown(
        "## To become fair, a model must look at people's sensitive attributes. Some of that comes out again.\n\n"
        "FairLeak trains a fair model, attacks it, and measures what an attacker learns that nobody meant to tell."
    )
waiting = st.container()
for column, (title, icon, told, links) in zip(st.columns(len(_DOORS)), _DOORS, strict=True):
    with column.container(border=True, height="stretch", key=f"door_{title.split()[0].lower()}"):
        st.markdown(f"{icon} **{title}**  \n{told}")
        with st.container(horizontal=True, gap=None):
            for file, label, sign in links:
                st.page_link(str(Path(__file__).with_name(file)), label=f":primary[{label}]", icon=sign)
left, right = st.columns([3, 2], gap="large")
below = st.container()

with waiting:
    config, table = cached.audited()
with left:
    overview_map.draw_map(config, table)
with waiting:
    result = cached.audit(config, table)
tolerance = round(min(config.tolerance, 0.2), 3)
with waiting:
    now = result.disclose(tolerance, **cached.ATTACKER)

from core.charts.correction import draw_disclosure
from core.correction.findings import headline

attribute = wording.attribute(config)
with (opening or top.empty()).container():
    panels.finding(headline(result, now, adversary="features"))
with right:
    shell.whisper(
        "Accuracy by disclosed tolerance",
        f"Share of people whose {shell.escape(attribute)} the published attack infers correctly, for the audited model",
    )
    curve = result.curve(tolerance, **cached.ATTACKER)
    panels.chart(
        draw_disclosure(curve, now, result.strong, attribute=attribute, attacker="Published attack"),
        key="start_curve",
    )
below.caption(wording.provenance(result.subject))
