"""AttriGuard: noise on public records that misleads attribute inference, and attackers who know about the noise."""

from pages.common import shell

shell.guard()

import streamlit as st

from pages.common import attriguard_controls as controls
from pages.common import attriguard_sections as sections
from pages.common import attriguard_words as words
from pages.common import panels
from pages.common.attriguard_study import DefenceStudy
from pages.common.background import State, want

shell.head("attriguard", badge=controls.badge())
top = st.container()
if st.session_state.get("guard_told_of") != controls.chosen():  # what was found of others goes at once
    top.empty()
    st.session_state["guard_told_of"] = controls.chosen()
who, defence = controls.defence()

from core.attriguard import PUBLISHED_CURVE
from core.charts import draw_budget, draw_value_noise, value_noise

colours = shell.palette()
work = DefenceStudy(who, defence)
busy = want(work)
work.wait_for_first()
opening = top.empty()  # no earlier, so that the finding does not blink whenever the page is drawn anew


@st.fragment
def told(running: bool) -> None:
    """Draw everything that follows the budget."""
    grown = work.wait_for_first()
    study, attribute = grown.study, shell.escape(grown.study.attribute)
    budget = controls.budget(study)
    controls.follow(budget)
    now = study.at(budget)
    of_paper = who.data == "google_play" and not defence.balanced
    published = tuple(PUBLISHED_CURVE.items()) if of_paper else ()
    with opening:
        state = "growing" if running else "finished" if work.state == State.FINISHED else "stopped"
        shell.finding(*words.finding(study, now, defence, state=state, learning=grown.learning))
    left, right = st.columns([3, 2], gap="large")
    with left:
        curves = draw_budget(
            grown.curves,
            now,
            words.floor(study, defence),
            colours,
            last=controls.last_budget(study),
            budget=budget,
            unit=study.unit,
            attribute=study.attribute,
            balanced=defence.balanced,
            published=published,
        )
        measure = (
            f"Balanced accuracy of inferring the {attribute}"
            if defence.balanced
            else f"Share of people whose {attribute} is inferred correctly"
        )
        chart = panels.titled(
            f"Who still knows the {attribute}?",
            f"{measure}; grey: attackers who know nothing of the noise",
            curves,
            key="guard_chart",
        )
        controls.budget_slider(study, budget)
        work.watch(work.show_progress, drawn=grown)
    with right:
        rows = value_noise(study, budget)
        bars = draw_value_noise(rows, colours, unit=study.unit, attribute=study.attribute)
        margin = f", by a margin of {defence.settings.margin:g}" if defence.settings.margin else ""
        drawn = panels.titled(
            f"How much noise each {attribute} takes",
            f"Mean number of {study.unit} changed until it is read{margin}",
            bars,
            key="values_noise_chart",
        )
        for sentence in filter(None, (words.missing(study), words.paper(now, published))):
            st.caption(sentence)
    left, right = st.columns(2, gap="large")
    with left:
        panels.how_to_read(words.guide(study, defence))
    with right:
        panels.numbers({"Named rightly by budget": chart.table, "Noise of each value": drawn.table}, key="attriguard")


controls.stand(None)
told(busy)
sections.draw(work)
