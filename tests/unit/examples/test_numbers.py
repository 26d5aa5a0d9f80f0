"""Examples, their lesson and sheets to print; numbers by hand, brute force, plain formulas, other libraries."""

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.learn.examples import EXAMPLES, example, lesson, sheet
from tests.html_reader import Reader


def cells(part, column):
    return [str(row[part.table.columns.index(column)]) for row in part.table.rows]


HAND = {
    "correction": (
        {"unfairness": 1 / 8, "objective": 0.52 + 0.55, "unfairness_then": 0, "before": 0.8, "after": 0.9},
        2,
    ),
    "correction-loses": ({"objective": 0.52 + 0.55, "before": 0.8, "after": 0.7, "changed": "4 and 5"}, 2),
    "correction-impossible": (
        {"unfairness": 0.45 - 3 / 8, "least": 1 / 180, "objective": 0.52, "who": "Person 4 becomes a woman"},
        "Only for all 20 people together",
    ),
    "flip": (
        {"first": 5 / 8 - 4 / 12, "second": 5 / 8 - 5 / 12, "step": -1 / 12, "size": 12, "shares": "5/8 − 4/12"},
        "The other group",
    ),
    "flips": ({"seventh": 7 / 24 - 1 / 12, "sum": 18 * 7 / 24, "leakage": 100, "weight": 1 / 8}, 20),
    "noise": ({"scale": 21 / 38, "ratio": 12 * 21 / 38, "exact": 7 / 24, "limit": 0.7310585786}, "Larger"),
    "gaps": ({"women": 0.8, "men": 0.6, "vd": 0.2, "fpr_gap": 0.7 - 0.2, "advantage_gap": -0.3}, "About men"),
    "fairpick": ({"share": 0.2, "deleted": 4, "men": 2, "women": 2, "after": "−0.375, +0.375, 0"}, 4),
    "split": ({"leaf": 4, "total": 8, "least": math.sqrt(2) / 2, "degree": -14.438562, "town": -19.419012}, 1),
    "panda": ({"scores": "Ash 6, Birch 0, Cedar −6", "changes": 2}, 2),
    "budget": ({"wanted": 1.6, "mu": 0.6, "Ash": 0.5, "Birch": 0.25, "Cedar": 0.25, "spent": 1}, 50),
    "lira": ({"hard": 18, "easy": 0, "variance": 0.25, "lira_tpr": 0.75, "lira_fpr": 0.25}, "Person 3"),
    "proportions": (
        {"start": "14", "constraint": "16", "proportions": "18", "both": "18", "added": "0"},
        "6 of the 20 people are women",
    ),
    "imputation": ({"baseline": "10", "alone": "15", "without": "16", "both": "17", "leak": "1", "apparent": "5"}, 1),
}
"""Example -> some of its numbers, and the answer, by hand."""


@pytest.mark.parametrize("name", HAND)
def test_numbers_by_hand(name):
    case, (expected, right) = example(name), HAND[name]
    assert {key: case.numbers[key] for key in expected} == {
        key: value if isinstance(value, str) else pytest.approx(value) for key, value in expected.items()
    }
    assert case.right == right
    if not case.choices:
        assert not case.accepts(float(right) - 1)


EVIL = "<script>alert(1)</script>{{ 7 * 7 }}\"'&"


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("solution", [False, True])
def test_a_sheet_needs_nothing_else_and_tells_only_what_it_may(name, solution):
    case = example(name)
    page = sheet(case, solution=solution)
    tags = Reader(page)
    assert tags.open == [] and not set(tags.tags) & {"script", "link", "img", "iframe", "form", "a"}
    assert not any(key in ("src", "href", "style") or key.startswith("on") for _, key in tags.attributes)
    assert "url(" not in page and "@import" not in page
    assert {part in tags.text for part in (case.question, case.discuss, *(step.title for step in case.steps))} == {True}
    answers = (case.goal, case.why, case.lesson, *(step.result for step in case.steps))
    assert {answer in tags.text for answer in answers} == {solution}
    assert "\\" not in page and "$" not in page, "a command that MathML lacks"


@pytest.mark.parametrize("solution", [False, True])
def test_everything_on_a_sheet_is_escaped(solution):
    case = example("flip")
    parts = ("title", "text", "task", "formula", "source", "computation", "result")
    table = replace(case.table, caption=EVIL, columns=(EVIL, "x"), rows=((EVIL, EVIL),))
    steps = (replace(case.steps[0], **dict.fromkeys(parts, EVIL), table=table),)
    texts = ("topic", "goal", "needs", "discuss", "title", "story", "question", "lesson", "source")
    answer = {"right": EVIL, "choices": (EVIL, "no"), "why": EVIL, "hint": EVIL}
    page = sheet(replace(case, **dict.fromkeys(texts, EVIL), steps=steps, table=table, **answer), solution=solution)
    tags = Reader(page)
    assert "<script" not in page and "script" not in tags.tags
    assert tags.text.count("{{ 7 * 7 }}") >= 8
    assert f"Table: {EVIL}" in tags.labels


@pytest.fixture
def card():
    """The example of a card, whom its two models accept, and the sexes of 12 people with 5 women among them."""
    case = example("card")
    accepted = np.array([[word == "accepted" for word in cells(case, f"Model {model}")] for model in "AB"])
    everything = np.array(list(itertools.product((0, 1), repeat=12)))
    assert case.numbers["women"] == "5"
    return case, accepted, everything[everything.sum(axis=1) == 5]


def test_the_card_is_solved_by_listing_all_possible_groups(card):
    case, accepted, possible = card
    fits = possible[((possible @ accepted.T) == 3).all(axis=1)]
    share = fits.mean(axis=0)
    assert len(fits) == 10 * 15 and share[5] == 0
    rows = [float(word) for word in cells(case.steps[2], "P(woman) after")]
    assert rows == pytest.approx([share[0], share[5], share[11]], abs=5e-4)
    women = np.isin(np.arange(12), (0, 2, 3, 7, 10))
    gain = 12 + np.log2(np.where(women, share, 1 - share)).sum()
    assert case.numbers["bits"] == pytest.approx(gain) == pytest.approx(1.6354720)
    assert case.accepts(6) and not case.accepts(5)


def test_no_split_of_the_impossible_correction_is_exact_from_one_woman_to_half_of_all():
    """A row for each number of women up to 10 of the 20, with the accepted ones that make the rates differ least."""
    part = example("correction-impossible").steps[2]
    assert cells(part, "Women") == [str(women) for women in range(1, 11)]
    for women, accepted in zip(range(1, 11), cells(part, "Accepted"), strict=True):
        rates = [abs(a / women - (9 - a) / (20 - women)) for a in range(min(women, 9) + 1)]
        assert rates[int(accepted)] == min(rates) > 0


def test_what_rounding_leaves_of_the_card(card):
    case, accepted, possible = card
    counts, rounding = possible @ accepted.T, case.steps[3]
    assert [int(word) for word in cells(rounding, "Exposed")] == [1, 1, 1, 0]
    for decimals in (1, 0):
        fits = possible[(np.abs(counts / 5 - np.round(3 / 5, decimals)) <= 0.5 * 10**-decimals).all(axis=1)]
        displayed = float(cells(rounding, "P(person 6 is a woman)")[3 - decimals])
        assert displayed == pytest.approx(fits[:, 5].mean(), abs=0.05)  # a projection, no enumeration
    contained = [text.split("contains ")[1] for text in rounding.computation.split(";")[1:]]
    assert contained == ["0.6", "0.6, 0.8, 1"]  # fifths from 0.55 to 0.65, and from 0.5 to 1.5


def test_the_documentation_has_the_same_lesson():
    page = Path(__file__).parents[3] / "docs" / "tutorial" / "in-class.md"
    assert page.read_text("utf-8") == lesson(), "make docs"
