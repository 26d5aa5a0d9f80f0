"""Start: a finished audit without a click, and a door to each page."""

from pages.common import shell

shell.guard()

from typing import Any

import streamlit as st

from pages.common import attack_words, cached, panels, state, wording

shell.head("", badge=wording.synthetic_badge(state.dataset_name()))
place = st.container()
with place:
    opening = st.empty()
    opening.markdown(
        "## To become fair, a model must look at people's sensitive attributes. Some of that comes out again.\n\n"
        "FairLeak trains a fair model, attacks it, and measures what an attacker learns that nobody meant to tell."
    )
config, table = cached.audited()

findings, dataset = cached.findings_of(config, table)
settings: dict[str, Any] = {"adversary": "features", "cost": "published", "as_published": False}
points = cached.curve(findings, dataset, **settings)
now = cached.disclosure(points, findings, min(config.tolerance, 0.2), **settings)

from core.figures import draw_disclosure, draw_rates

colours = shell.palette()
attribute = wording.attribute(config)
with opening.container():
    shell.finding(*attack_words.correction(findings, now, config, adversary="features"))

with st.container(key="charts"):
    left, right = st.columns([3, 2], gap="large")
    with left:
        shell.whisper(
            "What the promise gives away",
            f"People whose {shell.escape(attribute)} is recovered, by the tolerance the attacker is told",
        )
        curve = [points[t] for t in sorted(points)]
        panels.chart(
            draw_disclosure(curve, now, findings.strong, colours, attribute=attribute, attacker="Paper's attacker"),
            key="start_curve",
        )
    with right:
        shell.whisper(*wording.model_chart(findings))
        panels.chart(
            draw_rates(findings.model, colours, names=findings.group_names, seen=wording.seen(config)),
            key="start_rates",
        )

shell.doors(
    [
        ("data.py", "Data", ":material/table_rows:", wording.door_data(findings)),
        ("model.py", "Model", ":material/balance:", wording.door_model(findings)),
        ("correction.py", "Correction", ":material/tune:", wording.door_correction(now)),
        ("bias_queries.py", "Bias queries", ":material/quiz:", wording.door_bias_queries(findings)),
        ("attriguard.py", "AttriGuard", ":material/shield:", wording.door_attriguard(findings)),
        ("membership.py", "Membership", ":material/group:", wording.door_membership(findings)),
        ("report.py", "Report", ":material/fact_check:", wording.door_report(findings)),
    ]
)
st.caption(wording.provenance(findings))
