"""Worked examples: small cases with a question first, every step's numbers, and a printable sheet."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

from typing import Any

import streamlit as st

from core.learn.examples import (
    EXAMPLES,
    LESSON,
    Example,
    ExampleTable,
    Step,
    example,
    lesson,
    sheet,
    texts,
)
from pages.shell import panels, state

_TITLES = {name: f"{texts(name)['topic']}: {title}" for name, title in EXAMPLES.items()}
_EXAMPLES = "Examples"
_LESSON = "Lesson plan"
_MARK = "background-color: rgba(227, 179, 76, 0.25); font-weight: 600"

_STYLE = "<style>.stMain .katex-display {overflow: visible}</style>"
"""Formulas fit their column; boxes that scroll by two pixels would be stops for the keyboard."""


def chosen() -> str:
    """Choose an example; the address holds its name, and one that names another opens that one."""
    address = st.query_params.get("example", "")
    if address in EXAMPLES and address != st.session_state.get("example_address"):
        st.session_state["example"] = address
    left, right = st.columns([5, 1], vertical_alignment="bottom")
    name = str(
        panels.choose("Example", _TITLES, key="example", container=left) or next(iter(_TITLES))
    )
    right.button("Next example", key="example_next", on_click=_next, args=(name,), width="stretch")
    st.session_state["example_address"] = name
    if address != name:
        st.query_params["example"] = name
    return name


def _next(name: str) -> None:
    """Choose the example after this one; after the last comes the first."""
    names = list(EXAMPLES)
    st.session_state["example"] = names[(names.index(name) + 1) % len(names)]


def shown_table(table: ExampleTable) -> None:
    """Show a table whole, as text, with its marked rows highlighted."""
    st.markdown(f"**{shell.escape(table.caption)}**")
    frame = table.to_frame().map(shell.escape)
    frame.columns = [shell.escape(column) for column in frame.columns]
    content: Any = frame
    if table.marked:
        looks = {row: _MARK for row in table.marked}
        content = frame.style.apply(lambda row: [looks.get(row.name, "")] * row.size, axis=1)
    st.table(content, hide_index=True, border="horizontal", alt=table.caption)


def question(case: Example) -> bool:
    """Ask the question and say whether the answer is right; return whether the steps are to be shown."""
    key = f"answer_{case.name}"
    with st.form(key=f"question_{case.name}"):
        st.markdown(f"**{shell.escape(case.question)}**")
        answer: str | float | None
        if case.choices:
            answer = st.radio(
                "Your answer", case.choices, index=None, key=key, format_func=shell.escape
            )
        else:
            answer = st.number_input("Your answer", value=None, step=1.0, key=key, format="%g")
        sent = st.form_submit_button("Answer", icon=":material/check:")
    answered: dict[str, str | float] = st.session_state.setdefault("examples_answered", {})
    if sent and answer is not None:
        answered[case.name] = answer
        if case.accepts(answer):
            st.session_state[f"steps_{case.name}"] = True
    if case.name in answered:
        if case.accepts(answered[case.name]):
            right = f"Right: {case.answer}. {case.why} The steps are below."
            st.success(shell.escape(right), icon=":material/check_circle:")
        else:
            st.warning(shell.escape(f"Not yet. {case.hint}"), icon=":material/lightbulb:")
    return bool(st.toggle("Show the steps", key=f"steps_{case.name}", persist_state="session"))


def sheet_button(name: str, solved: bool, key: str, **options: Any) -> None:
    """Offer the printable sheet of an example, without or with the solution; the kind goes into the key's braces."""
    kind = "exercise"
    label = "Exercise sheet"
    if solved:
        kind = "solution"
        label = "Solution"
    panels.download(
        label,
        lambda: sheet(example(name), solution=solved).encode("utf-8"),
        f"fairleak-{name}-{kind}.html",
        key=key.format(kind),
        mime="text/html",
        **options,
    )


def lesson_plan() -> None:
    """Show the lesson of 45 minutes, with the examples it uses and their sheets."""
    title, goal, rest = lesson().split("\n\n", 2)
    shell.finding(title.removeprefix("# "), goal)
    for name in LESSON:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{shell.escape(EXAMPLES[name])}**", width=340)
            st.button("Open", key=f"lesson_open_{name}", on_click=_open, args=(name,))
            for solved in (False, True):
                sheet_button(name, solved, f"lesson_{{}}_{name}", width="content")
    panels.download(
        "Plan (Markdown)",
        lambda: lesson().encode(),
        "lesson.md",
        key="lesson_file",
        mime="text/markdown",
    )
    st.markdown(f"\n{rest}".replace("\n## ", "\n### "))


def _open(name: str) -> None:
    """Go from the lesson plan to an example."""
    st.session_state["view"] = _EXAMPLES
    st.session_state["example"] = name
    st.session_state["example_address"] = st.query_params.get("example", "")


def solution(case: Example) -> None:
    """Show the goal, every step with its numbers, and what to remember; the goal may reveal the answer."""
    st.html(_STYLE)
    st.markdown(f"**Goal.** {shell.escape(case.goal)}")
    for i, step in enumerate(case.steps, start=1):
        with st.container(border=True):
            _step(i, step)
    st.info(shell.escape(case.lesson), icon=":material/school:")
    st.markdown(f"**To discuss.** {shell.escape(case.discuss)}")


def _step(i: int, step: Step) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(f"### {i}. {shell.escape(step.title)}")
        st.markdown(shell.escape(step.text))
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


view = panels.pick(
    "View",
    (_EXAMPLES, _LESSON),
    key="view",
    default=_EXAMPLES,
    container=shell.head(badge="synthetic people"),
    **state.bind("view"),
    label_visibility="collapsed",
    persist_state=None,
)
if view == _LESSON:
    lesson_plan()
    st.stop()
opening = st.container()
case = example(chosen())
with opening:
    shell.finding(
        *map(
            shell.escape,
            (case.title, f"{case.topic} · {case.minutes} minutes · needs: {case.needs}"),
        )
    )
    shell.link(case.page)
    st.markdown(shell.escape(case.story))
left, right = st.columns([3, 2], gap="large")
with left:
    shown_table(case.table)
with right:
    solved = question(case)
    for column, with_solution in zip(st.columns(2), (False, True), strict=True):
        with column:
            sheet_button(case.name, with_solution, "sheet_{}", width="stretch")
if solved:
    solution(case)
panels.notes(f"{case.source}. The people are synthetic; the steps are computed when you open them.")
