"""Membership inference: who was in the training data, about whom more of that leaks, and what changes it."""

from pages.common import shell

shell.guard()

import streamlit as st

from pages.common import membership_controls as controls
from pages.common import membership_words as words
from pages.common import panels, state, wording
from pages.common.background import want
from pages.common.membership_study import Membership

with shell.head("membership", badge=wording.synthetic_badge(state.dataset_name())):
    published = controls.published()
who = controls.people()

from core.charts import draw_gaps_between, draw_ranges, draw_roc
from pages.common import membership_sections as sections

_PATIENCE = 1.2  # seconds a moved slider waits for its first attack before it shows progress

colours = shell.palette()


@st.fragment
def told() -> None:
    """Draw everything that follows the controls."""
    opening = st.empty()
    chosen = controls.chosen(who, published)
    work = Membership(controls.attacked_by(who, chosen), chosen)
    busy = want(work, patience=_PATIENCE)
    grown = work.wait_for_first()
    found, code = grown.found, chosen.group
    attack = words.shown(found)
    there = words.compared(found, attack, code)
    status = "growing" if busy else "stopped" if work.stopped else "finished"
    with opening:
        shell.finding(*words.finding(found, code, chosen, status))
    tables = {}
    left, right = st.columns([3, 2], gap="large")
    place = 0 if there is None else there[0]
    with left:
        shell.whisper(*words.gaps_chart(found, code))
        drawn = draw_gaps_between(found, colours, group=place)
        panels.chart(drawn, key="member_gaps_chart")
        tables["Gaps"] = drawn.table
    with right:
        shell.whisper(*words.roc_chart(found))
        curve = draw_roc(found, colours, attack="lira" if "lira" in found.attacks else attack.name, group=place)
        panels.chart(curve, key="member_roc_chart")
        tables["ROC curve of the attack"] = curve.table
    work.watch(work.show_progress, every=0.8, drawn=grown)
    if sentence := words.void(chosen):
        panels.problem(sentence, point="No promise any more.")
    st.caption(words.promise(found, chosen, code))
    ranges = None if there is None else words.ranges_of(attack, there[1])
    if ranges is not None:
        shell.whisper(*words.ranges_chart(found, code))
        steps = draw_ranges(ranges, colours, muted=attack.muted)
        panels.chart(steps, key="member_ranges_chart")
        tables["Where the flags fall"] = steps.table
    panels.how_to_read(words.guide(found, chosen, who.people.notes))
    panels.numbers(tables, key="membership")
    sections.SECTIONS[controls.section()](work, grown)


told()
