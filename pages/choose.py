"""Choose a model: many models compared under one policy, the best within all limits, judged on fresh people."""

from pages.common import shell

shell.guard()

from functools import partial

import streamlit as st

from core.files import csv_of_frame
from pages.common import cached, choose_models, panels, wording
from pages.common import report_policy as policies
from pages.common.background import pace, want

shell.head()
opening = st.container()
config, table = cached.audited()

from core.charts.choose import draw_choice
from core.choose import Outcomes, choose
from core.choose.findings import finding, numbers, rows, why_this_one
from core.errors import InputError
from core.fingerprint import fingerprint
from core.studies import STUDIES

controls = st.container(horizontal=True, vertical_alignment="bottom", key="choose_controls")
policy = policies.current(config)
try:
    asked, settings = choose_models.asked(config, table, controls)
except InputError as error:
    panels.problem(str(error))
    st.stop()
planned = sum(len(each.configs) for each in asked)
work = choose_models.Choosing(config, asked, settings.minutes)
want(work)


def show_progress() -> None:
    """Show how far it is, with a button that stops it, or that goes on."""
    there = len(work.partial)
    label = f"Stopped after {there} of {planned} models. Go on"
    work.show(lambda job: f"{there} of {planned} models measured, {pace(job)}", label, again="Try again")


latest = work.first(show_progress)
points = work.result or work.partial
key = fingerprint("choice", work.key, len(points), policy, settings)
try:
    choice = work.store.remember(
        key, lambda: choose(points, policy, settings, attribute=wording.attribute(config), planned=planned)
    )
except InputError as error:
    panels.problem(str(error))
    st.stop()
if work.result is not None:
    cached.keep_choice(config, table, choice)
found = finding(choice, running=work.busy)
with opening:
    so_far = f"So far, with {len(points)} of {planned} models. " if work.busy else ""
    shell.finding(
        shell.escape(found.point),
        shell.escape(so_far + found.evidence),
        so_what=shell.escape(found.so_what),
        to_do=shell.escape(found.to_do),
    )
work.watch(show_progress, drawn=latest)
left, right = st.columns([13, 11], gap="medium")
drawing = draw_choice(choice)
with left:
    panels.titled(
        "Accuracy against the worst leak",
        "Each mark is a model, attacked on the half of the people that chooses",
        drawing,
        key="choose_chart",
    )
    st.caption(
        "Larger: looser. Green: the measured leak and accuracy are allowed; their intervals may not be. Hollow: "
        "unfairness is above its limit, significantly or not. "
        + "Ringed: recommended. " * (choice.outcome == Outcomes.RECOMMENDED)
        + "Right edge: twice the limit or more. Grey steps: no other model is better in both."
    )
    st.caption(shell.escape(" ".join(found.caveats)))
    if choice.fair_and_biased:
        shell.link("two_models", STUDIES["two_models"].title)
with right:
    why = "Why this one" if choice.outcome == Outcomes.RECOMMENDED else "Why none"
    st.markdown(f"**{why}.** {shell.escape(why_this_one(choice))}")
    with st.container(horizontal=True):
        st.button(
            "Audit this model", key="audit_chosen", type="primary", on_click=choose_models.audit, args=(choice, config)
        )
        every = panels.frame(rows(choice))
        panels.download(
            f"All {len(choice.candidates)} (CSV)", partial(csv_of_frame, every), "models.csv", key="choose_all"
        )
    choose_models.draw_table(choice)
    if st.session_state.pop("choose_report", False):
        st.switch_page("pages/report.py", query_params={})  # without a mapping it refuses to drop bound ones
panels.foot(choose_models.GUIDE, {"Models": every, "All numbers": panels.frame(numbers(choice))}, key="choose")
