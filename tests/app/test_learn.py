"""The page of examples in-process: the address holds the case, the question comes first, every step is shown."""

from __future__ import annotations

import re

from core.learn.examples import EXAMPLES, LESSON, example, lesson
from pages.shell import shell
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard
from tests.golden.texts import FILES


def test_a_question_first_then_feedback_and_the_steps(dashboard: Dashboard):
    def answer(number: float) -> None:
        dashboard.test.number_input(key="answer_correction").set_value(number)
        next(button for button in dashboard.test.button if button.label == "Answer").click()
        dashboard.settle()

    dashboard.open("learn")
    case = example("correction")
    assert case.title in dashboard.finding and case.question in dashboard.page_text
    assert case.goal not in dashboard.page_text  # it may reveal the answer
    answer(3)
    assert "Not yet" in dashboard.plain_problem() and case.steps[0].result not in dashboard.page_text
    answer(2)
    assert not dashboard.test.warning and dashboard.test.success[0].value.startswith(r"Right\: 2.")
    assert case.goal in dashboard.page_text and all(step.result in dashboard.page_text for step in case.steps)


def test_an_address_restores_an_example_and_the_next_one_follows(start: Start):
    dashboard = start({"example": "split"}).open("learn").choose(steps_split=True)
    case = example("split")
    for step in case.steps:
        assert step.text in dashboard.page_text and step.computation in dashboard.page_text
    formulas = [line for step in case.steps for line in step.formula.splitlines()]
    assert [formula.value.strip("$\n") for formula in dashboard.test.latex] == formulas
    assert case.lesson in dashboard.test.info[0].value.replace("\\", "") and case.discuss in dashboard.page_text
    names = list(EXAMPLES)
    dashboard.choose(example=names[-2])
    for name in (names[-1], names[0]):  # after the last comes the first
        dashboard.click("example_next")
        assert dashboard.test.query_params["example"] in (name, [name])
        assert example(name).title in dashboard.finding
    nonsense = start({"example": "<script>"}).open("learn")
    assert nonsense.test.selectbox(key="example").value == names[0]


def labels(dashboard: Dashboard) -> set[str]:
    """Return the labels of everything one can press, fill in or choose."""
    kinds = ("button", "toggle", "selectbox", "number_input", "slider", "select_slider", "download_button")
    options = {option for box in dashboard.test.selectbox for option in box.options}
    return {widget.label for kind in kinds for widget in dashboard.test.get(kind)} | options


NUMBERS = (
    *(("correction", number) for number in ("75.7%", "81.1%", "66.7%")),
    ("model_card", "66.5%"),
    ("attriguard", "67.0%"),
)
"""What the lesson says that a page shows."""


def test_every_click_and_number_of_the_lesson_exists(start: Start):
    """The pages are read in their golden texts."""
    plan = start({"view": "Lesson plan", "example": LESSON[0]}).open("learn")
    visible = {head.label for pages in shell._PAGES.values() for head in pages.values()}
    visible |= labels(plan) | set(plan.test.get("button_group")[0].options)
    assert plan.test.query_params["view"] in ("Lesson plan", ["Lesson plan"])
    assert all(EXAMPLES[name] in plan.page_text for name in LESSON)
    plan.click(f"lesson_open_{LESSON[-1]}")
    assert example(LESSON[-1]).title in plan.finding
    plan.choose(example=LESSON[0])
    visible |= labels(plan)
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (FILES / "pages").glob("*.txt")}
    for text in pages.values():
        visible |= set(re.findall(r"^(?:    label: |\[markdown\] (?:#+ |\*\*))(.+?)(?:\*\*)?$", text, re.MULTILINE))
    assert set(re.findall(r"\*\*(.+?)\*\*", lesson())) - visible == set()
    for page, number in NUMBERS:
        assert number in lesson() and number in pages[page]
