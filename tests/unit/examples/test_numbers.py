"""Examples, their lesson and sheets to print; numbers by hand, brute force, plain formulas, other libraries."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from core.learn.examples import EXAMPLES, LESSON, Answer, Example, Step, example, lesson, sheet
from core.learn.examples.attriguard import RATED, attacker
from core.learn.examples.membership import EPSILON, SEED, records
from core.learn.glossary import GLOSSARY
from core.models.dp_id3 import DPID3Classifier
from core.studies.attriguard import representatives
from core.studies.correction import correct
from tests.html_reader import Reader
from tests.unit.test_vocabulary import hits, long_sentences


def step(case: Example, i: int) -> Step:
    """Return a step as it is numbered on the page."""
    return case.steps[i - 1]


def cells(part: Step | Example, column: str) -> list[str]:
    """Return a column of a table as text."""
    assert part.table is not None
    return [str(row[part.table.columns.index(column)]) for row in part.table.rows]


HAND: dict[str, tuple[dict[str, float | str], str | float]] = {
    "correction": (
        {"unfairness": 1 / 8, "objective": 0.52 + 0.55, "unfairness_then": 0, "before": 0.8, "after": 0.9},
        2,
    ),
    "correction-loses": ({"objective": 0.52 + 0.55, "before": 0.8, "after": 0.7, "changed": "4 and 5"}, 2),
    "correction-impossible": (
        {"unfairness": 0.45 - 3 / 8, "least": 1 / 180, "objective": 0.52, "who": "Person 4 becomes a woman"},
        "Only for all 20 people together",
    ),
    "flip": ({"first": 5 / 8 - 4 / 12, "second": 5 / 8 - 5 / 12, "step": -1 / 12, "size": 12}, "The other group"),
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
def test_numbers_by_hand(name: str):
    case, (expected, right) = example(name), HAND[name]
    assert {key: case.numbers[key] for key in expected} == {
        key: value if isinstance(value, str) else pytest.approx(value) for key, value in expected.items()
    }
    assert case.answer.right == right
    if not case.answer.choices:
        assert not case.answer.accepts(float(right) - 1)


CELLS = {
    ("correction", 2, "Sum"): "1.07; 1.10; 1.19",
    ("correction", 2, "People changed"): "4, 5; 4, 11; 11, 12",
    # accepted and advantaged: the flip takes 1/8 away; refused and other: it takes 1/12 away
    ("flips", 3, "SPᵢ − SP₀"): "−0.125; −0.125; −0.0833; +0.0833; +0.125; −0.0833; −0.0833",
    ("flips", 3, "Group"): "advantaged; advantaged; other; other; advantaged; other; other; advantaged",
    ("noise", 4, "Scale of the noise"): "5.5263; 1.1053; 0.5526; 0.1105",
    ("noise", 4, "Accuracy at most"): "52.5%; 62.2%; 73.1%; 99.3%",
    ("fairpick", 4, "Men"): "5; 1; 2",
    ("fairpick", 4, "Women"): "2; 4; 2",
    ("split", 3, "True counts"): "8, 2; 2, 8; 6, 4; 4, 6",
    ("lira", 3, "ln Λ"): "0; +0.5; +18; −12; −2; +8; 0; +4.5",
    ("panda", 2, "Gain for Cedar"): "+4; −2; +3; +2; +1",
    ("panda", 3, "Inferred city"): "Ash; tie; Cedar",
    ("budget", 4, "Ash"): "100.0%; 75.0%; 50.0%; 25.0%; 20.0%",
    (
        "budget",
        5,
        "Shares M",
    ): "0.5, 0.25, 0.25; 0.167, 0.5, 0.333; 0.2, 0.4, 0.4; 0.3, 0.3, 0.4; 0.2, 0.4, 0.4; 0.4, 0.4, 0.2",
}
"""Example, step and column -> its first cells by hand."""


@pytest.mark.parametrize(("name", "number", "column"), CELLS)
def test_cells_by_hand(name: str, number: int, column: str):
    expected = CELLS[name, number, column].split("; ")
    assert cells(step(example(name), number), column)[: len(expected)] == expected


def test_the_interval_of_the_model_s_leak_follows_from_its_written_formula():
    case = example("imputation")
    assert (case.numbers["gained"], case.numbers["lost"]) == ("2", "1")
    assert "gained 2.5, lost 1.5, m = 22 people: (1 ± 1.96 · √(4 − 1² / 22)) / 22" in step(case, 4).computation
    low, high = ((1 + sign * 1.96 * math.sqrt(4 - 1 / 22)) / 22 for sign in (-1, 1))
    assert [case.numbers["low"], case.numbers["high"]] == pytest.approx([100 * low, 100 * high], abs=0.01)
    assert "−13 to +22 points" in step(case, 4).result


def test_both_corrections_look_alike_to_the_attacker():
    gains, loses = example("correction"), example("correction-loses")
    assert gains.table == loses.table and gains.steps[:3] == loses.steps[:3]
    truth = cells(step(gains, 4), "Truth"), cells(step(loses, 4), "Truth")
    accepted = [word == "accepted" for word in cells(gains, "Model says")]
    for guesses in truth:  # the constraint is true: 5 women of the 10 accepted, 5 of the 10 refused
        assert sum(word == "woman" for word, yes in zip(guesses, accepted, strict=True) if yes) == 5
        assert guesses.count("woman") == 10


def test_correction_that_cannot_be():
    case = example("correction-impossible")
    assert "infeasible" in step(case, 2).result
    assert cells(step(case, 3), "Unfairness")[8] == "0.0056" and cells(step(case, 3), "Accepted")[8] == "4"
    assert min(map(float, cells(step(case, 3), "Unfairness"))) == 0.0056
    shares = zip(cells(step(case, 3), "Women's rate"), cells(step(case, 3), "Men's rate"), strict=True)
    differences = [float(abs(Fraction(women) - Fraction(men))) for women, men in shares]
    assert [float(cell) for cell in cells(step(case, 3), "Difference between groups")] == pytest.approx(
        differences, abs=5e-5
    )
    accepted = [word == "accepted" for word in cells(case, "Model says")]
    guess = [word == "woman" for word in cells(case, "Attacker guesses")]
    assert correct(guess, accepted, tolerance=1 / 181).reconstruction is None


def test_the_noise_of_one_person():
    case = example("panda")
    sizes = [[int(cells(step(case, 4), f"To {city}")[i]) for city in ("Ash", "Birch", "Cedar")] for i in range(8)]
    assert sizes == [[0, 2, 2], [2, 0, 2], [1, 1, 0], [0, 2, 1], [1, 0, 1], [0, 1, 3], [1, 0, 2], [2, 1, 0]]
    noise = representatives(RATED[:1], attacker())
    assert noise.noisy[2].tolist() == [0, 0, 1, 1, 0]  # the record the steps arrive at


def test_the_private_split_is_that_of_the_tree():
    x, y = records()
    tree = DPID3Classifier(EPSILON, 1, SEED, domains=[2, 2], classes=[0, 1]).fit(x, y)
    assert ("degree", "lives in town")[tree.tree_.attribute[0]] == example("split").numbers["first"]
    assert tree.budget_ledger_.total == EPSILON
    stopped = [
        DPID3Classifier(1.0, 1, seed, domains=[2, 2], classes=[0, 1]).fit(x, y).depth_ == 0 for seed in range(99)
    ]
    reaches_23 = math.exp(-3 / 4) / (1 + math.exp(-1 / 4))  # discrete Laplace noise of 3 or more at ε = 1/4
    assert np.mean(stopped) == pytest.approx(1 - reaches_23, abs=0.13)  # three standard errors


EVIL = "<script>alert(1)</script>{{ 7 * 7 }}\"'&"


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_complete(name: str):
    case = example(name)
    assert (case.name, case.title) == (name, EXAMPLES[name])
    assert 3 <= len(case.steps) <= 6
    assert 5 <= case.minutes <= 20
    assert case.goal.endswith(".") and case.discuss.endswith("?") and not case.needs.endswith(".")
    assert (Path(__file__).parents[3] / "pages" / f"{case.page}.py").is_file()
    assert case.answer.accepts(case.answer.right)
    for wrong in set(case.answer.choices) - {case.answer.right}:
        assert not case.answer.accepts(wrong)
    for table in (case.table, *(step.table for step in case.steps if step.table)):
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert 2 <= len(table.to_frame()) <= 20
    text = " ".join((case.story, case.lesson, *(step.text + step.result for step in case.steps)))
    assert "safe" not in text.lower() and "!" not in text
    assert not re.search(r"(?<![\w−])-\d", text), "a hyphen for a minus"


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
    for part in (case.question, case.table.caption, case.discuss, f"{case.minutes} minutes"):
        assert part in tags.text
    assert (case.goal in tags.text) == solution, "a goal may reveal the answer"
    meanings = {term: meaning for chapter in GLOSSARY.values() for term, meaning in chapter.items()}
    assert case.terms and all(f"{term}: {meanings[term]}" in tags.text for term in case.terms)
    for step in case.steps:
        assert step.title in tags.text
        assert (step.result in tags.text) == solution
        assert step.task and (solution or step.task in tags.text)
    assert (case.answer.why in tags.text) == solution
    assert (case.lesson in tags.text) == solution
    marked = sum(
        len(table.marked)
        for table in (case.table, *(example_step.table for example_step in case.steps if example_step.table))
    )
    assert not solution or page.count('<tr class="marked">') == marked
    lines = [line for step in case.steps for line in step.formula.splitlines()]
    assert not solution or page.count('display="block"') == len(lines) >= 2
    assert "\\" not in page and "$" not in page, "a command that MathML lacks"


@pytest.mark.parametrize("solution", [False, True])
def test_everything_on_a_sheet_is_escaped(solution: bool):
    case = example("flip")
    step = replace(
        case.steps[0], title=EVIL, text=EVIL, task=EVIL, formula=EVIL, source=EVIL, computation=EVIL, result=EVIL
    )
    table = replace(case.table, caption=EVIL, columns=(EVIL, "x"), rows=((EVIL, EVIL),))
    answer = Answer(right=EVIL, choices=(EVIL, "no"), why=EVIL, hint=EVIL)
    texts = ("topic", "goal", "needs", "discuss", "title", "story", "question", "lesson", "source")
    evil = replace(case, **dict.fromkeys(texts, EVIL), steps=(replace(step, table=table),), table=table, answer=answer)
    page = sheet(evil, solution=solution)
    tags = Reader(page)
    assert "<script" not in page and "script" not in tags.tags
    assert tags.text.count("{{ 7 * 7 }}") >= 8
    assert f"Table: {EVIL}" in tags.labels


def test_no_sentence_is_long():
    case = [example(name) for name in EXAMPLES]
    texts = [
        part
        for scenario in case
        for part in (scenario.goal, scenario.story, scenario.lesson, scenario.discuss, scenario.question)
    ]
    texts += [part for scenario in case for part in (scenario.answer.why, scenario.answer.hint)]
    texts += [part for scenario in case for step in scenario.steps for part in (step.text, step.task, step.result)]
    sentences = [sentence for text in texts for sentence in re.split(r"(?<=[.?:;])\s+", text)]
    assert [sentence for sentence in sentences if len(sentence.split()) > 25] == []


def worlds(case: Example) -> np.ndarray:
    """Return all sexes of 12 people with 5 women among them, shape (792, 12)."""
    everything = np.array(list(itertools.product((0, 1), repeat=12)))
    assert case.numbers["women"] == "5"
    return everything[everything.sum(axis=1) == 5]


def test_the_card_is_solved_by_listing_all_possible_groups():
    case = example("card")
    accepted = np.array([[word == "accepted" for word in cells(case, f"Model {model}")] for model in "AB"])
    possible = worlds(case)
    fits = possible[((possible @ accepted.T) == 3).all(axis=1)]
    share = fits.mean(axis=0)
    assert len(fits) == 10 * 15 and share[5] == 0
    rows = [float(word) for word in cells(step(case, 3), "P(woman) after")]
    assert rows == pytest.approx([share[0], share[5], share[11]], abs=5e-4)
    women = np.isin(np.arange(12), (0, 2, 3, 7, 10))
    gain = 12 + np.log2(np.where(women, share, 1 - share)).sum()
    assert case.numbers["bits"] == pytest.approx(gain) == pytest.approx(1.6354720)
    assert case.answer.accepts(6) and not case.answer.accepts(5)


def test_what_rounding_leaves_of_the_card():
    case = example("card")
    accepted = np.array([[word == "accepted" for word in cells(case, f"Model {model}")] for model in "AB"])
    counts = worlds(case) @ accepted.T
    assert [int(word) for word in cells(step(case, 4), "Exposed")] == [1, 1, 1, 0]
    for decimals in (1, 0):
        fits = worlds(case)[(np.abs(counts / 5 - np.round(3 / 5, decimals)) <= 0.5 * 10**-decimals).all(axis=1)]
        displayed = float(cells(step(case, 4), "P(person 6 is a woman)")[3 - decimals])
        assert displayed == pytest.approx(fits[:, 5].mean(), abs=0.05)  # a projection, no enumeration


# The lesson of 45 minutes: one text for page and documentation, in plain words, about examples that exist.


PAGE = Path(__file__).parents[3] / "docs" / "tutorial" / "in-class.md"


def test_the_documentation_has_the_same_lesson():
    assert PAGE.read_text(encoding="utf-8") == lesson(), "make docs"


def test_it_says_standard_terms_in_short_sentences():
    rows = [cell for line in lesson().splitlines() for cell in line.split(" | ")]
    assert [hit for row in rows for hit in hits(row)] == []
    assert [
        sentence for part in re.split(r"\n(?=- |\d\. |\|)| \| ", lesson()) for sentence in long_sentences(part)
    ] == []


def test_it_lasts_45_minutes_without_a_break():
    times = [(int(start), int(end)) for start, end in re.findall(r"^\| (\d+) to (\d+) \|", lesson(), re.MULTILINE)]
    assert times[0][0] == 0 and times[-1][1] == 45
    assert all(phase[1] == following[0] for phase, following in pairwise(times))


def test_its_examples_exist():
    quoted = set(re.findall(r"“([^”]+)”", lesson()))
    titles = set(EXAMPLES.values())
    assert {EXAMPLES[name] for name in LESSON} <= quoted
    assert len(quoted & titles) == 10
    where = [line.split(" | ")[2].strip(" |") for line in lesson().splitlines() if re.match(r"\| \d", line)]
    assert [title for cell in where for title in re.findall(r"“([^”]+)”", cell)] == [EXAMPLES[name] for name in LESSON]


def test_what_it_says_of_its_examples_is_computed():
    text = lesson()
    corrected, loses, imputation = (example(name) for name in LESSON[:3])
    assert "corrects two guesses" in text and corrected.numbers["effect"] == "corrects 2 guesses"
    assert "two guesses spoiled" in text and loses.numbers["effect"] == "spoils 2 guesses"
    assert "75% correct" in text and imputation.numbers["alone_share"] == 0.75
    assert corrected.numbers["changed"] == "4 and 5" and "persons 4 and 5" in text


@pytest.mark.parametrize("name", ["correction", "correction-loses"])
def test_the_people_and_counts_that_the_teacher_reads_out_are_those_of_the_example(name: str):
    (row,) = (line for line in lesson().splitlines() if line.endswith(f"| “{EXAMPLES[name]}” |"))
    numbers = example(name).numbers
    assert f"the women are persons {numbers['women']}. " in row
    assert f": {numbers['right_before']} correct before, {numbers['right_after']} after." in row
