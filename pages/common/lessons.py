"""Parts of the page of worked examples: the choice in the address, the question, the steps, the sheets."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.examples import EXAMPLES, Example, ExampleTable, Step, example, sheet, texts
from pages.common import panels, shell

_TITLES = {name: f"{texts(name)['topic']}: {title}" for name, title in EXAMPLES.items()}

_MARK = "background-color: rgba(227, 179, 76, 0.25); font-weight: 600"


def chosen() -> str:
    """Choose an example; the address holds its name, and one that names another opens that one."""
    address = st.query_params.get("example", "")
    if address in EXAMPLES and address != st.session_state.get("example_address"):
        st.session_state["example"] = address
    left, right = st.columns([5, 1], vertical_alignment="bottom")
    name = str(panels.choose("Example", _TITLES, key="example", place=left) or next(iter(_TITLES)))
    right.button("Next example", key="example_next", on_click=_next, args=(name,), width="stretch")
    st.session_state["example_address"] = name
    if address != name:
        st.query_params["example"] = name
    return name


def _next(name: str) -> None:
    """Choose the example after this one; after the last comes the first."""
    names = list(EXAMPLES)
    st.session_state["example"] = names[(names.index(name) + 1) % len(names)]


def opening(case: Example) -> None:
    """Write what the example is about, whom it suits, and its story."""
    needs = f"{case.topic} · {case.minutes} minutes · needs: {case.needs}"
    shell.finding(shell.escape(case.title), shell.escape(needs))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**Goal.** {shell.escape(case.goal)}", width="content")
        st.page_link(f"pages/{case.page}.py", label=f"Page: {case.topic}", icon=":material/arrow_outward:")
    st.markdown(shell.escape(case.story))


def shown_table(table: ExampleTable) -> None:
    """Show a table whole, as text, with its marked rows highlighted."""
    st.markdown(f"**{shell.escape(table.caption)}**")
    frame = table.to_frame().map(shell.escape)
    frame.columns = [shell.escape(column) for column in frame.columns]
    shown = frame.style.apply(lambda row: [_MARK if row.name in table.marked else ""] * row.size, axis=1)
    st.table(shown if table.marked else frame, hide_index=True, border="horizontal", alt=table.caption)


def question(case: Example) -> bool:
    """Ask the question and say whether the answer is right; return whether the steps are to be shown."""
    key = f"answer_{case.name}"
    with st.form(key=f"question_{case.name}"):
        st.markdown(f"**{shell.escape(case.question)}**")
        answer: str | float | None
        if case.answer.choices:
            answer = st.radio("Your answer", case.answer.choices, index=None, key=key, format_func=shell.escape)
        else:
            answer = st.number_input("Your answer", value=None, step=1.0, key=key, format="%g")
        sent = st.form_submit_button("Answer", icon=":material/check:")
    answered: dict[str, str | float] = st.session_state.setdefault("examples_answered", {})
    if sent and answer is not None:
        answered[case.name] = answer
        if case.answer.accepts(answer):
            st.session_state[f"steps_{case.name}"] = True
    if case.name in answered:
        if case.answer.accepts(answered[case.name]):
            st.success(shell.escape(f"Right: {case.answer.text}. {case.answer.why}"), icon=":material/check_circle:")
        else:
            st.warning(shell.escape(f"Not yet. {case.answer.hint}"), icon=":material/lightbulb:")
    return bool(st.toggle("Show the steps", key=f"steps_{case.name}", persist_state="session"))


def sheets(case: Example) -> None:
    """Offer the printable sheet, without and with the solution."""

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
    st.markdown(f"**To discuss.** {shell.escape(case.discuss)}")


def _step(i: int, step: Step) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(f"### {i}. {shell.escape(step.title)}")
        st.markdown(shell.escape(step.words))
        if step.computation:
            st.markdown(shell.escape(step.computation))
        st.markdown(f"**{shell.escape(step.result)}**")
    with right:
        for formula in step.formula.splitlines():
            st.latex(formula)
        if step.source:
            st.caption(shell.escape(step.source))
    if step.table:
        shown_table(step.table)
