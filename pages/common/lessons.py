"""Parts of the page of examples: the choice that an address can hold, the question, the steps, the sheets."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.examples import EXAMPLES, Example, ExampleTable, Step, example, sheet, texts
from pages.common import panels, shell

_TITLES = {name: f"{texts(name)['method']}: {title}" for name, title in EXAMPLES.items()}


def chosen() -> str:
    """Choose an example; the address holds its name, and one that names another opens that one."""
    told = st.query_params.get("example", "")
    if told in EXAMPLES and told != st.session_state.get("example_told"):
        st.session_state["example"] = told
    name = str(panels.choose("Example", _TITLES, key="example") or next(iter(_TITLES)))
    st.session_state["example_told"] = name
    if told != name:
        st.query_params["example"] = name
    return name


def shown_table(table: ExampleTable) -> None:
    """Show a table whole, as text."""
    st.markdown(f"**{shell.escape(table.caption)}**")
    frame = table.to_frame().map(shell.escape)
    frame.columns = [shell.escape(column) for column in frame.columns]
    st.table(frame, hide_index=True, border="horizontal", alt=table.caption)


def question(case: Example) -> bool:
    """Ask the question and say whether the answer is right; return whether the steps are to be shown."""
    key = f"answer_{case.name}"
    with st.form(key=f"question_{case.name}"):
        st.markdown(f"**{shell.escape(case.question)}**")
        given: str | float | None
        if case.answer.choices:
            given = st.radio("Your answer", case.answer.choices, index=None, key=key, format_func=shell.escape)
        else:
            given = st.number_input("Your answer", value=None, step=1.0, key=key, format="%g")
        sent = st.form_submit_button("Answer", icon=":material/check:")
    answered: dict[str, str | float] = st.session_state.setdefault("examples_answered", {})
    if sent and given is not None:
        answered[case.name] = given
        if case.answer.accepts(given):
            st.session_state[f"steps_{case.name}"] = True
    if case.name in answered:
        if case.answer.accepts(answered[case.name]):
            st.success(shell.escape(f"Right: {case.answer.text}. {case.answer.why}"), icon=":material/check_circle:")
        else:
            st.warning(shell.escape(f"Not yet. {case.answer.hint}"), icon=":material/lightbulb:")
    return bool(st.toggle("Show the steps", key=f"steps_{case.name}", persist_state="session"))


def sheets(case: Example) -> None:
    """Offer the sheet to print, without and with the solution."""

    def printed(solved: bool) -> bytes:
        return sheet(example(case.name), solution=solved).encode("utf-8")

    for column, solved in zip(st.columns(2), (False, True), strict=True):
        kind = "solution" if solved else "exercise"
        column.download_button(
            "Solution" if solved else "Exercise sheet",
            data=partial(printed, solved),
            file_name=f"fairleak-{case.name}-{kind}.html",
            mime="text/html",
            key=f"sheet_{kind}",
            icon=":material/print:",
            on_click="ignore",
            width="stretch",
        )


def solution(case: Example) -> None:
    """Show every step with its numbers, and what to remember."""
    for i, step in enumerate(case.steps, start=1):
        with st.container(border=True):
            _step(i, step)
    st.info(shell.escape(case.lesson), icon=":material/school:")


def _step(i: int, step: Step) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(f"### {i}. {shell.escape(step.title)}")
        st.markdown(shell.escape(step.words))
        if step.computation:
            st.markdown(shell.escape(step.computation))
        st.markdown(f"**{shell.escape(step.result)}**")
    with right:
        if step.formula:
            st.code(step.formula, language=None, wrap_lines=True)
        if step.source:
            st.caption(shell.escape(step.source))
    if step.table:
        shown_table(step.table)
