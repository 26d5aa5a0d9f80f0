"""Worked examples say what they said, with their own numbers and with others: every number, cell and step."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from core.learn.examples import (
    EXAMPLES,
    Answer,
    attriguard,
    correction,
    example,
    membership,
    queries,
)
from core.learn.examples.example import _FormattedNumber, number, numbers, signed, total
from tests.golden.numbers import compare_lines, lines

PEOPLE = np.arange(20)
COSTS = 0.5 + 0.45 * (np.sqrt(2.0) * (PEOPLE + 1) % 1.0)
"""Confidences of which no two sums are equal."""

SCORES = np.array([1.0, -2.0, 3.5, 0.5, 2.0, 4.5, -1.5, 1.0])

ALTERNATIVES: dict[str, tuple[Any, list[Mapping[str, Any]]]] = {
    "correction": (correction, [{"_WOMEN": {"correction": (1, 2, 6, 7, 12, 20)}}, {"_WOMEN": {"correction": (4, 9)}}]),
    "correction-impossible": (correction, [{"_CONFIDENCE": COSTS}]),
    "proportions": (
        correction,
        [
            {
                "_MANY_WOMEN_CONFIDENCE": COSTS,
                "_FEW_WOMEN": np.isin(PEOPLE, (0, 3, 9, 11, 12, 13, 16, 19)).astype(np.uint8),
            },
            {"_MANY_WOMEN_CONFIDENCE": COSTS, "_MANY_WOMEN": np.isin(PEOPLE, range(2, 15)).astype(np.uint8)},
        ],
    ),
    "imputation": (
        correction,
        [
            {"_TARGETS": ((1, 1, 2, 2), (1, 0, 1, 6), (0, 1, 4, 1), (0, 0, 3, 1))},
            {"_TRAINING_CELLS": ((1, 1, 1, 5), (1, 0, 5, 1), (0, 1, 1, 4), (0, 0, 1, 2))},
        ],
    ),
    "flip": (
        queries,
        [{"_TARGET_PERSON": 0}, {"_TARGET_PERSON": 9}, {"_ADVANTAGED": (PEOPLE % 3 == 0).astype(np.uint8)}],
    ),
    "flips": (
        queries,
        [
            {"_ADVANTAGED": (PEOPLE % 4 == 1).astype(np.uint8)},
            {"_ACCEPTED": (PEOPLE > 12).astype(float), "_TARGET_PERSON": 19},
        ],
    ),
    "noise": (queries, [{"_EPSILON": 0.1}, {"_EPSILON": 4.0, "_ADVANTAGED": (PEOPLE > 2).astype(np.uint8)}]),
    "gaps": (membership, [{"_FLAGGED": dict(zip(membership._FLAGGED, (3, 9, 10, 0), strict=True))}]),
    "lira": (membership, [{"_TARGET": SCORES}, {"_INSIDE": SCORES, "_MOST": 2}, {"_MEMBERS": np.array([0, 1, 7])}]),
    "split": (membership, [{"EPSILON": 2.0}, {"SEED": 3, "EPSILON": 30.0}, {"_CELLS": ((1, 1, 1, 9), (0, 1, 0, 11))}]),
    "fairpick": (
        membership,
        [
            {"_THETA": 0.5},
            {"_COUNTS": np.array([[3.0, 3.0], [9.0, 0.0], [1.0, 7.0]])},
            {"_THETA": 1.0},
        ],
    ),
    "card": (
        queries,
        [
            {"_WOMEN": np.isin(np.arange(12), (1, 5, 8)).astype(np.uint8)},
            {"_WOMEN": np.isin(np.arange(12), (0, 2, 3, 5, 6, 7, 9, 11)).astype(np.uint8)},
        ],
    ),
    "panda": (
        attriguard,
        [{"RATED": attriguard.RATED[[5, 1, 2, 3, 4, 0, 6, 7]]}, {"WEIGHTS": attriguard.WEIGHTS[:, [0, 2, 1]]}],
    ),
    "budget": (attriguard, [{"_BUDGET": 0.3}, {"_TARGET": np.array([0.7, 0.1, 0.2]), "_BUDGET": 1.2}]),
}
"""Example -> its module, and what else its data may be."""


def _example_lines(name: str) -> Iterator[str]:
    case = example(name)
    yield from lines("numbers", dict(case.numbers))
    yield from lines("answer", [case.answer.text, case.answer.within])
    for i, step in enumerate(case.steps):
        yield from lines(f"step {i}", [step.computation, step.result])
    cells = [example_step.table.rows for example_step in case.steps if example_step.table is not None]
    yield f"tables = {_sealed((case.table, cells))}"
    yield f"rest = {_sealed((case.story, case.question, case.steps, case.answer, case.lesson))}"


def _sealed(parts: Any) -> str:
    return hashlib.sha256(str(parts).encode()).hexdigest()[:10]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_text(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    output_lines = [*_example_lines(name)]
    module, alternatives = ALTERNATIVES.get(name, (None, []))
    for number_of, alternative in enumerate(alternatives, start=1):
        with monkeypatch.context() as patch:
            for part, value in alternative.items():
                patch.setattr(module, part, value)
            output_lines += [f"{number_of} {line}" for line in _example_lines(name)]
    compare_lines(f"examples/{name}", [line.replace("\n", "\\n") for line in output_lines])


def test_numbers_are_written_as_their_places_ask() -> None:
    values = (0.0, -0.00004, -0.00005, 0.375, -1 / 12, 2.0, 10.0, 1234.56789, 99.995)
    output_lines = [
        f"{how or 'plain'} {value:g}: {_FormattedNumber(value):{how}}"
        for value in values
        for how in ("", "+", "2", "+2", "1%")
    ]
    output_lines += [f"{value:g}: {number(value, 0)} {signed(value, 1)}" for value in values]
    output_lines += [numbers(values, 2), total(values, 3)]
    for right, within, answers in (
        (2.0, 0.0, (2, 2.0001, 1)),
        (50.0, 0.5, (49.5, 50.5, 50.51, 49.49)),
        (0.0, 0.1, (-0.1,)),
    ):
        answer = Answer(right=right, within=within, why="", hint="")
        output_lines += [f"{answer.text} {candidate}: {answer.accepts(candidate)}" for candidate in answers]
    compare_lines("examples/places", output_lines)
