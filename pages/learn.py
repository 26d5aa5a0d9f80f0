"""Learn by example: small cases with every step's numbers, a question first, and a sheet to print."""

from pages.common import shell

shell.guard()

import streamlit as st

from core.examples import example
from pages.common import lessons

shell.head(badge="invented people")
opening = st.container()
case = example(lessons.chosen())
with opening:
    shell.finding(shell.escape(case.title), shell.escape(case.story))
left, right = st.columns([3, 2], gap="large")
with left:
    lessons.shown_table(case.table)
with right:
    solved = lessons.question(case)
    lessons.sheets(case)
if solved:
    lessons.solution(case)
st.caption(shell.escape(f"{case.source}. The people are invented; the steps' numbers are computed when you open them."))
