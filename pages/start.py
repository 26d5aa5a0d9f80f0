"""Start: a finished audit without a click, three doors, and the map of what fair and private models give away."""

from pages.common import shell

shell.guard()

from typing import Any

import streamlit as st

from pages.common import attack_words, cached, panels, starting, state, wording

shell.head("", badge=wording.synthetic_badge(state.dataset_name()))
opening = st.empty()
opening.markdown(
    "## To become fair, a model must look at people's sensitive attributes. Some of that comes out again.\n\n"
    "FairLeak trains a fair model, attacks it, and measures what an attacker learns that nobody meant to tell."
)
waiting = st.container()
starting.doors()
left, right = st.columns([3, 2], gap="large")
below = st.container()

with waiting:
    config, table = cached.audited()
with left:
    starting.draw_map(config, table)
with waiting:
    findings, dataset = cached.findings_of(config, table)
settings: dict[str, Any] = {"adversary": "features", "cost": "published", "as_published": False}
with waiting:
    points = cached.curve(findings, dataset, **settings)
now = cached.disclosure(points, findings, min(config.tolerance, 0.2), **settings)

from core.figures import draw_disclosure

attribute = wording.attribute(config)
with opening.container():
    shell.finding(*attack_words.correction(findings, now, config, adversary="features"))
with right:
    shell.whisper(
        "What the audited model's promise gives away",
        f"People whose {shell.escape(attribute)} is recovered, by the tolerance the attacker is told",
    )
    curve = [points[t] for t in sorted(points)]
    panels.chart(
        draw_disclosure(curve, now, findings.strong, shell.palette(), attribute=attribute, attacker="Paper's attacker"),
        key="start_curve",
    )
below.caption(wording.provenance(findings))
