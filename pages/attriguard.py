"""AttriGuard: noise on public records that misleads attribute inference, and attackers who know about the noise."""

from pages.common import shell

shell.guard()

from dataclasses import replace

import streamlit as st

from pages.common import attriguard_controls as controls
from pages.common import attriguard_sections as sections
from pages.common import panels
from pages.common.background import State, want

shell.head(badge=controls.badge())
top = st.container()
if st.session_state.get("guard_told_of") != controls.chosen():  # what was found of others goes at once
    top.empty()
    st.session_state["guard_told_of"] = controls.chosen()
work = controls.defence()

from core.attriguard import PUBLISHED_CURVE, findings
from core.attriguard.tables import tables
from core.charts.attriguard import draw_budget, draw_value_noise

busy = want(work)
work.wait_for_first()
opening = top.empty()  # no earlier, so that the finding does not blink whenever the page is drawn again


@st.fragment
def curves_and_sizes(running: bool) -> None:
    """Draw everything that follows the budget."""
    grown = work.wait_for_first()
    exposure, attribute = grown.exposure, shell.escape(grown.exposure.attribute)
    budget, defender = controls.budget(exposure), work.settings.defender
    controls.follow(budget)
    now = exposure.at(budget)
    of_paper = work.who.data == "google_play" and not work.balanced
    state = "growing" if running else "finished" if work.state == State.FINISHED else "stopped"
    headline, *others = findings.findings(
        exposure,
        budget,
        of_paper=of_paper,
        defender=defender,
        balanced=work.balanced,
        state=state,
        learning=grown.learning,
    )
    with opening:
        panels.finding(headline)
    left, right = st.columns([3, 2], gap="large")
    with left:
        curves = draw_budget(
            grown.curves,
            now,
            exposure.baseline(balanced=work.balanced),
            last=controls.last_budget(exposure),
            budget=budget,
            unit=exposure.unit,
            attribute=exposure.attribute,
            balanced=work.balanced,
            published=tuple(PUBLISHED_CURVE.items()) if of_paper else (),
        )
        panels.titled(
            "Inference accuracy by noise budget",
            f"{'Balanced accuracy' if work.balanced else 'Accuracy'} of inferring the {attribute}; grey: "
            "defense-unaware attackers, in colour: adaptive ones",
            curves,
            key="guard_chart",
        )
        controls.budget_slider(exposure)
        work.watch(work.show_progress, drawn=grown)
    with right:
        bars = draw_value_noise(exposure, budget)
        margin = f", with a margin of {work.settings.margin:g}" if work.settings.margin else ""
        panels.titled(
            "Perturbation size per target value",
            f"Mean number of {exposure.unit} changed until it is inferred{margin}",
            bars,
            key="values_noise_chart",
        )
        for finding in others:
            st.caption(shell.escape(finding.text))
    points = [point for curve in grown.curves.values() for point in curve]
    shown = panels.frames(tables(exposure, points, PUBLISHED_CURVE if of_paper else None))
    panels.foot(findings.guide(replace(exposure, attribute=attribute), defender), shown, key="attriguard")


controls.stand(None)
curves_and_sizes(busy)
sections.draw(work)
