"""Worked examples: small cases with a question first, every step's numbers, and a printable sheet."""

from pages.common import shell

shell.guard()

import streamlit as st

from core.examples import example
from pages.common import lessons

if lessons.view(shell.head(badge="synthetic people")) == lessons.LESSON_VIEW:
    lessons.lesson_plan()
    st.stop()
opening = st.container()
case = example(lessons.chosen())
with opening:
    lessons.opening(case)
left, right = st.columns([3, 2], gap="large")
with left:
    lessons.shown_table(case.table)
with right:
    solved = lessons.question(case)
    lessons.sheets(case)
if solved:
    lessons.solution(case)
st.caption(shell.escape(f"{case.source}. The people are synthetic; the steps are computed when you open them."))
