"""Examples as a whole, their answers, and the sheets to print."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from core.examples import EXAMPLES, Answer, example, sheet
from tests.html_reader import Reader

EVIL = "<script>alert(1)</script>{{ 7 * 7 }}\"'&"


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_whole(name: str):
    case = example(name)
    assert (case.name, case.title) == (name, EXAMPLES[name])
    assert 3 <= len(case.steps) <= 6
    assert case.answer.accepts(case.answer.right)
    for wrong in set(case.answer.choices) - {case.answer.right}:
        assert not case.answer.accepts(wrong)
    for table in (case.table, *(step.table for step in case.steps if step.table)):
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert 2 <= len(table.to_frame()) <= 20
    told = " ".join((case.story, case.lesson, *(step.words + step.result for step in case.steps)))
    assert "safe" not in told.lower() and "!" not in told
    assert not re.search(r"(?<![\w−])-\d", told), "a hyphen for a minus"


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("solution", [False, True])
def test_a_sheet_needs_nothing_else(name: str, solution: bool):
    case = example(name)
    page = sheet(case, solution=solution)
    tags = Reader(page)
    assert tags.open == []
    assert not set(tags.tags) & {"script", "link", "img", "iframe", "form", "a"}
    assert not any(key in ("src", "href", "style") or key.startswith("on") for _, key in tags.attributes)
    assert "@media print" in page and "url(" not in page and "@import" not in page
    assert case.question in tags.text and case.table.caption in tags.text
    for step in case.steps:
        assert step.title in tags.text
        assert (step.result in tags.text) == solution
        assert solution or step.task in tags.text
    assert (case.answer.why in tags.text) == solution
    assert (case.lesson in tags.text) == solution


@pytest.mark.parametrize("solution", [False, True])
def test_everything_on_a_sheet_is_escaped(solution: bool):
    case = example("flip")
    step = replace(
        case.steps[0], title=EVIL, words=EVIL, task=EVIL, formula=EVIL, source=EVIL, computation=EVIL, result=EVIL
    )
    table = replace(case.table, caption=EVIL, columns=(EVIL, "x"), rows=((EVIL, EVIL),))
    answer = Answer(right=EVIL, choices=(EVIL, "no"), why=EVIL, hint=EVIL)
    evil = replace(
        case,
        method=EVIL,
        title=EVIL,
        story=EVIL,
        question=EVIL,
        lesson=EVIL,
        source=EVIL,
        steps=(replace(step, table=table),),
        table=table,
        answer=answer,
    )
    page = sheet(evil, solution=solution)
    tags = Reader(page)
    assert "<script" not in page and "script" not in tags.tags
    assert tags.text.count("{{ 7 * 7 }}") >= 8
    assert f"Table: {EVIL}" in tags.labels
