"""Correction: what the attacker gains from being told the fairness promise."""

from pages.common import shell

shell.guard()

import time
from typing import Any

import streamlit as st

from core.settings import params
from core.sweep import SweepSettings
from pages.common import cached, controls, panels, state, wording
from pages.common import correction_words as words

with shell.head("correction", badge=wording.synthetic_badge(state.dataset_name())):
    published = controls.control(
        params(SweepSettings)["protocol"],
        "as_published",
        "toggle",
        value=False,
        help=(
            "The published code chooses the confidence exponent on the model owner's test records, which an attacker "
            "does not have, lets her learn from all the records she knows, and raises the tolerance in steps of 0.001 "
            "until the model meets it. Switched off, she keeps 30% of her records apart to tune on and is told the "
            "tolerance as it is."
        ),
    )
config, table = cached.audited()
audit = cached.audit(config, table)
findings = audit.findings

from core.adversaries import STRONG
from core.charts import draw_disclosure, draw_recognition, draw_waterfall, rows_of_one
from core.correction import attribute_over_seeds
from pages.common import correction_sections as sections

_HEAD_START = 0.03  # seconds in which the browser paints the curve before the rest of the page comes along

colours = shell.palette()
attribute = shell.escape(wording.attribute(config))


@st.fragment
def told() -> None:
    """Draw everything that follows the slider."""
    tolerance = st.session_state.get("told", words.first_told(findings))
    now, curve = audit.disclosure(tolerance, **attacker), audit.curve(**attacker)
    left, right = st.columns([3, 2], gap="large")
    with left:
        by_tolerance = panels.titled(
            words.curve_heading(curve),
            f"People whose {attribute} is recovered, by the tolerance the attacker is told",
            draw_disclosure(
                curve,
                now,
                None if strong else findings.strong,
                colours,
                attribute=attribute,
                attacker="Strong attacker" if strong else "Paper's attacker",
                difference=findings.model.difference_train,
            ),
            key="told_chart",
        )
        label = "Tolerance told to the attacker"
        st.slider(label, 0.0, 0.2, tolerance, 0.001, format="%.3f", key="told", persist_state="session")
    time.sleep(_HEAD_START)
    with opening:
        shell.finding(*words.finding(findings, now, adversary=adversary, as_published=published))
    with right:
        leak = audit.attribution(now.used, adversary)
        waterfall = draw_waterfall(
            rows_of_one(leak, now, share=words.share_words(findings)),
            findings.strong,
            colours,
            words="Strong, from features alone",
            attribute=attribute,
            told=now.told,
        )
        drawn = "Each row adds one thing the attacker knows; 95% intervals"
        panels.titled("Where the leak comes from", drawn, waterfall, key="leak_chart")
        st.caption(shell.escape(attribute_over_seeds([leak]).sentence()))  # for this one audit
    st.markdown(words.certificate(now))
    if noise := words.private_training(findings, now):
        st.markdown(noise)
    if not now.is_true:
        panels.problem(words.false_disclosure(findings, now))
    tables = {
        "Recovered people by the tolerance told": by_tolerance.table,
        "Where the leak comes from": leak.to_frame(),
    }
    by_group(now, curve, tables)


def by_group(now: Any, curve: Any, tables: dict[str, Any]) -> None:
    """Draw who is inferred correctly, and offer the numbers of the whole page."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        drawn = panels.titled(
            "Accuracy by group",
            "Share inferred correctly before (○) and after (●), 95% intervals",
            draw_recognition(now, curve, colours, names=findings.group_names),
            key="recognised_chart",
        )
    with right:
        panels.how_to_read(words.guide(findings, now))
        tables["Recognised before and after, by group"] = drawn.table
        tables["Certificate"] = now.certificate.to_frame()
        panels.numbers(tables, key="correction")
        st.caption(words.permuted(audit.permuted(now, **attacker)))
        st.caption(words.held_out(findings, adversary, published))


opening = st.empty()
left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
with right:
    attacker: dict[str, Any] = {**controls.attacker_settings(), "as_published": published}
adversary = attacker["adversary"]
strong = adversary in STRONG
with left:
    shell.chips(*words.known(findings, adversary))
audit.curve(**attacker)  # ends the page while it is computed
told()
sections.draw(audit, attacker)
