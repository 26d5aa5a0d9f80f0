"""AttriGuard, phase I, on five apps: which ratings change until another city is read (Jia and Gong 2018)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard import Noise, panda, representatives
from core.attriguard.changes import read_records
from core.attriguard.linear import linear_scores
from core.attriguard.policies import WIDEST
from core.attriguard.sorted_order import sorted_order
from core.examples.example import Answer, Example, ExampleTable, Step
from core.examples.ratings import CITIES, METHOD, RATED, SOURCE, WEIGHTS, attacker, person
from core.examples.writing import number, signed


def guard_noise(name: str, title: str) -> Example:
    """Return the case of one person and one wanted city."""
    reader, clean = attacker(), RATED[:1]
    found, noise = panda(clean, reader, 2), representatives(RATED, reader)
    changes = sorted_order(
        read_records(clean, 5), linear_scores(reader), np.array([0]), np.array([2]), policy=WIDEST, margin=0.0
    )
    path = [clean[0]]
    for column, value in zip(changes.column, changes.value, strict=True):
        after = path[-1].copy()
        after[column] = value
        path.append(after)
    scores = [_scores(reader, record) for record in path]
    gains = [float((_scores(reader, _turned(clean[0], j)) - scores[0])[2]) for j in range(5)]
    rows: tuple[tuple[str | int, ...], ...] = tuple(
        (f"App {j + 1}", int(clean[0, j]), *(signed(w) for w in WEIGHTS[j]), signed(gains[j])) for j in range(5)
    )
    steps = [
        Step(
            title="What the attacker reads now",
            words="Each app adds its weights to the three cities' scores. The city with the largest score is read.",
            formula="C_i(x) = Σ_j w_ij · x_j",
            source="Jia and Gong (2018), section 4.2; the classifier here is linear",
            computation=f"App 1 and App 4: {_sums(path[0])}",
            result=f"Scores {_named(scores[0])}: the attacker reads {_read(scores[0])}.",
            values=_values(scores[0]),
        ),
        Step(
            title="What each change would gain",
            words=(
                "We want Cedar to be read. Rating an app nobody rated adds its Cedar weight; taking a rating back "
                "removes it: the same weight with the other sign. The largest gain goes first."
            ),
            formula="gain to 1: (1 − x_j) · w_ij\ngain to 0: −x_j · w_ij",
            source="Jia and Gong (2018), algorithm 1 (PANDA), Modify_Add",
            computation=f"App 1: −1 · (−4) = +4, App 3: (1 − 0) · 3 = {signed(gains[2])}",
            result="The order is App 1, App 3, App 4, App 5; App 2 would lose.",
            values={f"App {j + 1}": gains[j] for j in range(5)},
            table=ExampleTable(
                caption="Weights, and what a change gains for Cedar",
                columns=("App", "Rated", *CITIES, "Gain for Cedar"),
                rows=rows,
            ),
        ),
    ]
    steps.append(
        Step(
            title="Change one rating after the other",
            words="Make the change with the largest gain, look at the scores, and stop as soon as Cedar leads.",
            formula="x_j ← 0 or 1, until C(x) = i",
            source="Jia and Gong (2018), algorithm 1 (PANDA)",
            computation=f"App 1 back: {_named(scores[1])}",
            result=(
                f"After {len(changes.column)} changes the scores are {_named(scores[-1])}: {_read(scores[-1])} is read."
            ),
            values={"changes": float(found.size[0]), **_values(scores[-1])},
            table=ExampleTable(
                caption="The scores on the way",
                columns=("After", *CITIES, "Read as"),
                rows=(
                    ("nothing", *(number(score) for score in scores[0]), _read(scores[0])),
                    *(
                        (
                            f"{'rating' if value else 'taking back'} App {column + 1}",
                            *(number(score) for score in after),
                            "tie" if (after == after.max()).sum() > 1 else _read(after),
                        )
                        for column, value, after in zip(changes.column, changes.value, scores[1:], strict=True)
                    ),
                ),
            ),
        )
    )
    steps.append(_everybody(noise))
    return Example(
        name=name,
        method=METHOD,
        title=title,
        story=(
            "An attacker tells from the apps people rate which of three cities they live in. Ana lives in Ash and "
            "rated App 1 and App 4. She wants the attacker to read Cedar, and to change as little as possible."
        ),
        table=ExampleTable(
            caption="Ana's ratings and the attacker's weights",
            columns=("App", "Rated by Ana", *CITIES),
            rows=tuple(row[:-1] for row in rows),
        ),
        question="How many ratings must change until the attacker reads Cedar?",
        answer=Answer(
            right=float(found.size[0]),
            why="Taking back App 1 is not enough: Ash and Birch still have 1. Rating App 3 as well makes Cedar lead.",
            hint="Which single change adds the most to Cedar? Compute the three scores after it.",
        ),
        steps=tuple(steps),
        lesson=(
            "Two changed ratings hide Ana from this attacker. Another kind of attacker may not be fooled, and one who "
            "trains on changed ratings undoes most of it: no defence here is proof against everybody."
        ),
        source=SOURCE,
    )


def _turned(record: npt.NDArray[np.float64], app: int) -> npt.NDArray[np.float64]:
    """Return a record with one app rated that was not, or the other way round."""
    turned = record.copy()
    turned[app] = 1 - turned[app]
    return turned


def _scores(reader: Any, record: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(reader.decision_function(record[None])[0])


def _read(scores: npt.NDArray[np.float64]) -> str:
    return CITIES[int(scores.argmax())]


def _values(scores: npt.NDArray[np.float64]) -> dict[str, float]:
    return {city: float(score) for city, score in zip(CITIES, scores, strict=True)}


def _named(scores: npt.NDArray[np.float64]) -> str:
    return ", ".join(f"{city} {number(score)}" for city, score in _values(scores).items())


def _sums(record: npt.NDArray[np.float64]) -> str:
    """Write each city's score as a sum over the rated apps."""
    rated = np.flatnonzero(record)
    told = []
    for i, city in enumerate(CITIES):
        parts = [float(WEIGHTS[j, i]) for j in rated]
        first, rest = number(parts[0]), "".join(f" {'+' if w >= 0 else '−'} {number(abs(w))}" for w in parts[1:])
        told.append(f"{city} {first}{rest} = {number(sum(parts))}")
    return ", ".join(told)


def _everybody(noise: Noise) -> Step:
    rows: tuple[tuple[str | int, ...], ...] = tuple(
        (
            person(i),
            ", ".join(f"App {j + 1}" for j in np.flatnonzero(RATED[i])),
            CITIES[int(noise.predicted[i])],
            *(int(size) for size in noise.size[i]),
        )
        for i in range(len(RATED))
    )
    return Step(
        title="The same for eight people",
        words="How many ratings must change until each city is read. 0 is what is read anyway.",
        source="Jia and Gong (2018), section 4.2: one noise a person and value",
        task="They rated: " + "; ".join(f"{row[0]} {row[1]}" for row in rows) + ".",
        result="Nobody needs more than 3 changes.",
        values={"most": float(noise.size.max())},
        table=ExampleTable(
            caption="Changed ratings",
            columns=("Person", "Rated", "Read as", *(f"To {city}" for city in CITIES)),
            rows=rows,
        ),
    )
