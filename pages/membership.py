"""Membership inference: who was in the training data, about whom more of that leaks, and what changes it."""

from pages.common import shell

shell.guard()

import streamlit as st

from pages.common import membership_study as study
from pages.common import membership_words as words
from pages.common import panels, state, wording
from pages.common.background import want

with shell.head("membership", badge=wording.synthetic_badge(state.dataset_name())):
    published = study.published()
who = study.people()

from core.charts import draw_gaps_between, draw_ranges, draw_roc
from core.membership import ATTACK_TITLES, attack_rows
from pages.common import membership_sections as sections

_PATIENCE = 1.2  # seconds a moved slider waits for its first attack before it shows progress

colours = shell.palette()


@st.fragment
def told() -> None:
    """Draw everything that follows the controls."""
    import pandas as pd

    opening = st.empty()
    chosen = study.chosen(who, published)
    work = study.Membership(who, chosen)
    want(work, patience=_PATIENCE)
    grown: study.Grown = work.first(work.show_progress)
    found, read = grown.found, words.Reading(grown.found, chosen, work.state)
    attack, result = read.attack, read.result
    with opening:
        shell.finding(*words.finding(read))
    left, right = st.columns([3, 2], gap="large")
    with left:
        gaps = draw_gaps_between(found, colours, group=read.place)
        panels.titled(*words.gaps_chart(read), gaps, key="member_gaps_chart")
    with right:
        scored = "lira" if "lira" in found.attacks else attack.name
        curve = panels.titled(
            "ROC curve of the attack: TPR against FPR",
            f"{ATTACK_TITLES[scored]}, logarithmic axes; dotted is chance",
            draw_roc(found, colours, attack=scored, group=read.place),
            key="member_roc_chart",
        )
    tables = {"Gaps": gaps.table, "ROC curve of the attack": curve.table}
    work.watch(work.show_progress, every=0.8, drawn=grown)
    if sentence := words.void(chosen):
        panels.problem(sentence, point="No promise any more.")
    st.caption(words.promise(read))
    for ranges in attack.ranges:
        if result is not None and ranges.group == result.group:
            steps = draw_ranges(ranges, colours, muted=attack.muted)
            panels.titled(*words.ranges_chart(read), steps, key="member_ranges_chart")
            tables["Where the flags fall"] = steps.table
    tables["All attacks"] = pd.DataFrame(attack_rows(found.attacks))
    panels.how_to_read(words.guide(read, who.people.notes))
    panels.numbers(tables, key="membership")
    sections.draw(work, grown, read)


told()
