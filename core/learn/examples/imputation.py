"""Imputation against leak on 40 people: what an attacker infers without the model is not the model's leak.

The attacker knows the sex of 20 people, and infers that of 20 others by the most frequent sex among the known people
with the same values: a plain ID3 tree with one leaf for each combination of them (Jayaraman and Evans 2022).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...base.arrays import Ints
from ...models.dp_id3 import DPID3Classifier
from ...stats.estimates import accuracy_gain
from .example import Example, compose, total

_HOURS = ("full-time", "part-time")
_DECISION = ("refused", "accepted")
_TRAINING_CELLS = ((1, 1, 4, 1), (1, 0, 4, 1), (0, 1, 0, 7), (0, 0, 2, 1))
_TARGETS = ((1, 1, 3, 1), (1, 0, 5, 1), (0, 1, 0, 7), (0, 0, 2, 1))
"""Part-time, accepted, women, men."""


def imputation(name: str) -> Example:
    """Return the case of an attacker with and without the model's decisions."""
    truth = people(_TARGETS)[1]
    alone, without, both = (inferred(columns) for columns in ([1], [0], [0, 1]))
    right = [int((guess == truth).sum()) for guess in (alone, without, both)]
    baseline = int(max(np.bincount(truth)))
    gain = accuracy_gain(truth, without, both)
    gained = int(((both == truth) & (without != truth)).sum())
    lost = int(((both != truth) & (without == truth)).sum())
    # as in `paired_gain`
    b = gained + 0.5
    c = lost + 0.5
    m = truth.size + 2
    counts = np.bincount(people(_TARGETS)[0][alone == truth, 1], minlength=2)
    cells: list[tuple[str | int, ...]] = []
    for part, accepted, women, men in _TARGETS:
        i = _first(part, accepted)
        guesses = [int(guess[i]) for guess in (without, both)]
        hits = [(men, women)[guess] for guess in guesses]
        cells.append((_HOURS[part], _DECISION[accepted], *map(_sex, guesses), *hits))
    changed = [k for k, row in enumerate(cells) if row[2] != row[3]]
    return compose(
        name,
        {
            "baseline": str(baseline),
            "alone": str(right[0]),
            "alone_share": right[0] / truth.size,
            "parts": total(float(row[5]) for row in cells),
            "part_women": str(_right(without, truth, 1)),
            "full_men": str(_right(without, truth, 0)),
            "men_accepted": str(counts[1]),
            "women_refused": str(counts[0]),
            "without": str(right[1]),
            "without_share": right[1] / truth.size,
            "both": str(right[2]),
            "both_share": right[2] / truth.size,
            "cell": f"{cells[changed[0]][0]} and {cells[changed[0]][1]}",
            "leak": str(right[2] - right[1]),
            "apparent": str(right[0] - baseline),
            "gained": str(gained),
            "lost": str(lost),
            "b": b,
            "c": c,
            "m": float(m),
            "apart": b - c,
            "sum": b + c,
            "points": gain.value * 100,
            "low": gain.low * 100,
            "high": gain.high * 100,
        },
        right=float(right[2] - right[1]),
        table=(
            (
                "Working hours",
                "Model says",
                "Known women",
                "Known men",
                "Women to infer",
                "Men to infer",
            ),
            (
                (_HOURS[part], _DECISION[accepted], women, men, *target[2:])
                for (part, accepted, women, men), target in zip(
                    _TRAINING_CELLS, _TARGETS, strict=True
                )
            ),
        ),
        tables={
            4: (
                (
                    "Working hours",
                    "Model says",
                    "Without model",
                    "With model",
                    "Correct without",
                    "Correct with",
                ),
                cells,
            )
        },
        marked=changed,
    )


def people(counts: Sequence[tuple[int, int, int, int]]) -> tuple[Ints, Ints]:
    """Return working hours and decision, shape (n, 2), and sex (1 = woman), shape (n,), from counts."""
    rows = [
        (part, accepted, sex)
        for part, accepted, *sizes in counts
        for sex in (1, 0)
        for _ in range(sizes[1 - sex])
    ]
    table = np.array(rows)
    return table[:, :2], table[:, 2]


def inferred(columns: Sequence[int]) -> Ints:
    """Return the sex inferred from these columns for the 20 people to infer."""
    x, sex = people(_TRAINING_CELLS)
    tree = DPID3Classifier(math.inf, domains=[2] * len(columns), classes=[0, 1]).fit(
        x[:, columns], sex
    )
    return np.asarray(tree.predict(people(_TARGETS)[0][:, columns]))


def _first(part: int, accepted: int) -> int:
    """Return the first of the people to infer with these working hours and this decision."""
    x, _ = people(_TARGETS)
    return int(np.flatnonzero((x == (part, accepted)).all(axis=1))[0])


def _right(guess: Ints, truth: Ints, part: int) -> int:
    """Return the number of correct guesses among the people with these working hours."""
    return int((guess == truth)[people(_TARGETS)[0][:, 0] == part].sum())


def _sex(code: int) -> str:
    if code:
        return "woman"
    return "man"
