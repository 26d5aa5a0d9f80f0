"""AttriGuard: noise on public records that misleads attribute inference, and attackers who know about the noise."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

from dataclasses import replace

import streamlit as st

from pages._attriguard import attriguard_controls as controls
from pages.shell import panels
from pages.shell.background import ensure_started

shell.head(badge=controls.badge())
top = st.container()
if (
    st.session_state.get("guard_told_of") != controls.selected()
):  # what was found of others goes at once
    top.empty()
    st.session_state["guard_told_of"] = controls.selected()
work = controls.guard_run()

from core.studies.attriguard import findings
from pages._attriguard import attriguard_analyses as analyses

ensure_started(work)
work.exposure()
opening = (
    top.empty()
)  # no earlier, so that the finding does not blink whenever the page is drawn again


@st.fragment
def curves_and_sizes() -> None:
    """Draw everything that follows the budget."""
    exposure = work.exposure()
    attribute = shell.escape(exposure.attribute)
    settings = replace(work.drawn_settings, budget=controls.budget(exposure))
    controls.follow(settings.budget)
    headline, *more_findings = controls.STUDY.findings(exposure, settings)
    with opening:
        panels.finding(headline)
    (curves_title, curves), (sizes_title, sizes) = controls.STUDY.charts(exposure, settings).items()
    left, right = st.columns([3, 2], gap="large")
    with left:
        if settings.balanced:
            measure = "Balanced accuracy"
        else:
            measure = "Accuracy"
        quantity = f"{measure} of inferring the {attribute}; grey: defense-unaware attackers, in colour: adaptive ones"
        panels.titled(curves_title, quantity, curves, key="guard_chart")
        controls.budget_slider(exposure)
        work.watch(work.show_progress, drawn=exposure)
    with right:
        if settings.margin:
            margin = f", with a margin of {settings.margin:g}"
        else:
            margin = ""
        quantity = f"Mean number of {exposure.unit} changed until it is inferred{margin}"
        panels.titled(sizes_title, quantity, sizes, key="values_noise_chart")
        panels.notes(*(finding.text for finding in more_findings))
    tables = panels.frames(controls.STUDY.tables(exposure, settings))
    tables |= {curves_title: curves.table, sizes_title: sizes.table}
    panels.foot(
        findings.guide(replace(exposure, attribute=attribute), settings.defender),
        tables,
        key="attriguard",
    )


ANALYSES = {
    "person": ("One person", analyses.draw_person, True),
    "transfer": ("Transferability", analyses.draw_transfer, False),
    "where": ("Noise concentration", analyses.draw_concentration, False),
    "cost": ("Utility loss", analyses.draw_cost, True),
    "others": ("Other defences", analyses.draw_other_defences, True),
    "changes": ("Allowed changes", analyses.draw_allowed_changes, False),
}
"""Name -> title, what draws it, and whether it depends on the budget."""

controls.stand(None)
curves_and_sizes()
missing = (
    "changes" if work.is_ratings else "others"
)  # rules are of tables, other defences of ratings
further_key = "further_guard" if work.is_ratings else "further_guard_table"
offered = {name: analysis for name, analysis in ANALYSES.items() if name != missing}
if further := panels.further(offered, key=further_key):
    _, draw, follows_budget = further
    if follows_budget:
        controls.stand(controls.budget(work.exposure()))

    @st.fragment
    def section() -> None:
        """Draw the chosen section; what tells of all attackers follows as they come."""
        exposure = work.exposure()
        draw(work, exposure, controls.budget(exposure))

    section()
