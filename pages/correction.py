"""Correction: what the attacker gains from being told the fairness promise."""

from pages.common import shell

shell.guard()

import time
from typing import Any

import streamlit as st

from pages.common import cached, controls, panels, state, wording
from pages.common import correction_words as words

with shell.head("correction", badge=wording.synthetic_badge(state.dataset_name())):
    published = controls.published_switch()
config, table = cached.audited()
findings, dataset = cached.findings_of(config, table)

from core.charts import draw_disclosure, draw_recognition, draw_waterfall, rows_of_one
from pages.common import correction_sections as sections

_HEAD_START = 0.03  # seconds in which the browser paints the curve before the rest of the page comes along

colours = shell.palette()
attribute = shell.escape(wording.attribute(config))


@st.fragment
def told() -> None:
    """Draw everything that follows the slider."""
    tolerance = st.session_state.get("told", words.first_told(findings))
    now = cached.disclosure(points, findings, tolerance, **settings)
    curve = [points[t] for t in sorted(points)]
    left, right = st.columns([3, 2], gap="large")
    with left:
        shell.whisper(
            words.curve_heading(curve),
            f"People whose {attribute} is recovered, by the tolerance the attacker is told",
        )
        by_tolerance = draw_disclosure(
            curve,
            now,
            words.strong_line(findings, adversary),
            colours,
            attribute=attribute,
            attacker=attacker,
            difference=findings.model.difference_train,
        )
        panels.chart(by_tolerance, key="told_chart")
        controls.told_tolerance(tolerance)
    time.sleep(_HEAD_START)
    with opening:
        shell.finding(*words.finding(findings, now, config, adversary=adversary, as_published=published))
    with right:
        leak = cached.attribution(findings, now.used, adversary)
        shell.whisper("Where the leak comes from", "Each row adds one thing the attacker knows; 95% intervals")
        waterfall = draw_waterfall(
            rows_of_one(leak, now, share=words.share_words(findings)),
            findings.strong,
            colours,
            words="Strong, from features alone",
            attribute=attribute,
            told=now.told,
        )
        panels.chart(waterfall, key="leak_chart")
        st.caption(words.promise_added(leak))
    st.markdown(words.certificate(now))
    if noise := words.private_training(findings, now):
        st.markdown(noise)
    if not now.is_true:
        panels.problem(words.false_disclosure(findings, now))
    left, right = st.columns([3, 2], gap="large")
    with left:
        shell.whisper("Accuracy by group", "Share inferred correctly before (○) and after (●), 95% intervals")
        by_group = draw_recognition(now, curve, colours, names=findings.group_names)
        panels.chart(by_group, key="recognised_chart")
    with right:
        panels.how_to_read(words.guide(findings, now))
        panels.numbers(
            {
                "Recovered people by the tolerance told": by_tolerance.table,
                "Where the leak comes from": leak.to_frame(),
                "Recognised before and after, by group": by_group.table,
                "Certificate": now.certificate.to_frame(),
            },
            key="correction",
        )
        st.caption(words.permuted(cached.permuted(findings, dataset, now, **settings)))
        st.caption(words.held_out(findings, adversary, published))


opening = st.empty()
left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
with right:
    settings: dict[str, Any] = {**controls.attacker_settings(), "as_published": published}
adversary = settings["adversary"]
attacker = words.attacker(adversary)
with left:
    shell.chips(*words.known(findings, adversary))
points = cached.curve(findings, dataset, **settings)
told()
section = controls.further_section()
if section == "trained":
    sections.trained_section(config, dataset, findings, points[0.0], settings)
elif section == "methods":
    sections.methods_section(config, dataset, settings)
elif section == "seeds":
    sections.seeds_section(config, dataset, findings)
elif section == "tuning":
    sections.tuning_section(config, dataset, adversary)
elif section == "more":
    sections.more_section(config, dataset, findings, settings)
