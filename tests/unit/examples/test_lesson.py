"""The lesson of 45 minutes: one text for page and documentation, in plain words, about examples that exist."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from core.examples import EXAMPLES, LESSON, example, lesson
from tests.unit.test_words import hits, long_sentences

PAGE = Path(__file__).parents[3] / "docs" / "tutorial" / "in-class.md"


def test_the_documentation_has_the_same_lesson():
    assert PAGE.read_text(encoding="utf-8") == lesson(), "make docs"


def test_it_says_standard_terms_in_short_sentences():
    rows = [cell for line in lesson().splitlines() for cell in line.split(" | ")]
    assert [hit for row in rows for hit in hits(row)] == []
    assert [one for part in re.split(r"\n(?=- |\d\. |\|)| \| ", lesson()) for one in long_sentences(part)] == []


def test_it_lasts_45_minutes_without_a_break():
    times = [(int(start), int(end)) for start, end in re.findall(r"^\| (\d+) to (\d+) \|", lesson(), re.MULTILINE)]
    assert times[0][0] == 0 and times[-1][1] == 45
    assert all(one[1] == following[0] for one, following in pairwise(times))


def test_its_examples_exist():
    quoted = set(re.findall(r"“([^”]+)”", lesson()))
    titles = set(EXAMPLES.values())
    assert {EXAMPLES[name] for name in LESSON} <= quoted
    assert len(quoted & titles) == 10
    where = [line.split(" | ")[2].strip(" |") for line in lesson().splitlines() if re.match(r"\| \d", line)]
    assert [title for cell in where for title in re.findall(r"“([^”]+)”", cell)] == [EXAMPLES[name] for name in LESSON]


def test_what_it_says_of_its_examples_is_computed():
    said = lesson()
    kept, loses, imputation = (example(name) for name in LESSON[:3])
    assert "corrects two guesses" in said and kept.numbers["effect"] == "corrects 2 guesses"
    assert "two guesses spoiled" in said and loses.numbers["effect"] == "spoils 2 guesses"
    assert "75% correct" in said and imputation.numbers["alone_share"] == 0.75
    assert kept.numbers["changed"] == "4 and 5" and "persons 4 and 5" in said


@pytest.mark.parametrize("name", ["correction", "correction-loses"])
def test_the_people_and_counts_that_the_teacher_reads_out_are_the_example_s_own(name: str):
    (row,) = (line for line in lesson().splitlines() if line.endswith(f"| “{EXAMPLES[name]}” |"))
    numbers = example(name).numbers
    assert f"the women are persons {numbers['women']}. " in row
    assert f": {numbers['right_before']} correct before, {numbers['right_after']} after." in row
