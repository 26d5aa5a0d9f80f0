"""AttriGuard on five apps: ratings that change the city read, and a budget of changes.

Eight people's ratings, and an attacker who reads one of three cities off them by a linear classifier: each app has a
weight for each city, and the weights of an app add up to 0 (Jia and Gong 2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard import Noise, allocate, expected_size, panda, representatives
from core.attriguard.classifiers import linear_scores
from core.attriguard.panda import sorted_order
from core.attriguard.records import WIDEST, read_records
from core.examples.example import Answer, Example, ExampleTable, Step, number, numbers, signed

SOURCE = (
    "Jia and Gong, AttriGuard: A Practical Defense Against Attribute Inference Attacks via Adversarial Machine "
    "Learning, USENIX Security 2018"
)
METHOD = "AttriGuard"

CITIES = ("Ash", "Birch", "Cedar")
WEIGHTS = np.array([[5, -1, -4], [-1, 3, -2], [-2, -1, 3], [1, 1, -2], [-3, 2, 1]], float)  # one row an app
RATED = np.array(
    [
        [1, 0, 0, 1, 0],
        [0, 1, 0, 0, 1],
        [0, 0, 1, 0, 0],
        [1, 0, 1, 0, 0],
        [0, 1, 1, 0, 0],
        [1, 1, 0, 0, 0],
        [0, 0, 0, 1, 1],
        [0, 0, 1, 0, 1],
    ],
    float,
)


def attacker() -> Any:
    """Return the attacker as a fitted classifier of scikit-learn with these weights."""
    from sklearn.linear_model import LogisticRegression

    reader = LogisticRegression()
    reader.classes_ = np.arange(3)
    reader.coef_, reader.intercept_ = WEIGHTS.T.copy(), np.zeros(3)
    reader.n_features_in_ = 5
    return reader


def person(i: int) -> str:
    """Return what a person is called."""
    return f"Person {i + 1}" if i else "Ana"


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


_TARGET = np.array([0.2, 0.4, 0.4])
_BUDGET = 1.0


def guard_budget(name: str, title: str) -> Example:
    """Return the case of a budget shared among the noises of one person."""
    noise = representatives(RATED, attacker())
    size = noise.size.astype(float)
    mechanism = allocate(size, _TARGET, _BUDGET)
    spent, mine, lengths = expected_size(mechanism, size), mechanism[0], size[0]
    excess = lengths - _BUDGET
    mu = float((_TARGET[0] / mine[0] - 1) / excess[0])
    free = float(expected_size(_TARGET[None], size[:1])[0])
    budgets = tuple(
        (number(b, 1), *(f"{100 * share:.1f}%" for share in allocate(size[:1], _TARGET, b)[0]))
        for b in (0.0, 0.5, 1.0, 1.5, 2.0)
    )
    named = tuple(
        (
            person(i),
            CITIES[int(noise.predicted[i])],
            numbers(size[i]),
            numbers(mechanism[i], 3),
            number(float(spent[i]), 2),
            f"{100 * mechanism[i, noise.predicted[i]]:.0f}%",
        )
        for i in range(len(size))
    )
    return Example(
        name=name,
        method=METHOD,
        title=title,
        story=(
            "Ana can be read as Ash without any change, as Birch with 2 changes, as Cedar with 2. She would like the "
            "attacker to read Ash, Birch and Cedar with 20%, 40% and 40%, but wants to change 1 rating on average, not "
            "more. So she draws which noise to use."
        ),
        table=ExampleTable(
            caption="Ana's three noises",
            columns=("Read as", "Changed ratings l", "Wanted share p"),
            rows=tuple((CITIES[i], int(lengths[i]), f"{100 * _TARGET[i]:.0f}%") for i in range(3)),
        ),
        question="With a budget of 1 changed rating on average, in how many per cent of draws is Ana read as Ash?",
        answer=Answer(
            right=round(100 * float(mine[0]), 6),
            within=0.5,
            why="The other two take 2 changes each, so they can be used in half of the draws.",
            hint="If Ash is drawn with probability M, then 2 ratings change with probability 1 − M.",
        ),
        steps=(
            Step(
                title="What the wish would cost",
                words="Weigh each noise's changes with the share she would like.",
                formula="Σ p_i · l_i ≤ β ?",
                source="Jia and Gong (2018), problem 3",
                computation=f"0.2 · 0 + 0.4 · 2 + 0.4 · 2 = {number(free)}",
                result=f"{number(free)} is above the budget of 1, so the wish must give way.",
                values={"wanted": free},
            ),
            Step(
                title="The nearest shares within the budget",
                words=(
                    "Among all shares that keep the budget, take those nearest to the wish (by the Kullback-Leibler "
                    "divergence). They are the wish, divided by something that grows with the changes."
                ),
                formula="M_i = p_i / (1 + μ · (l_i − β))",
                source="Jia and Gong (2018), equations 3 to 10, solved for one unknown μ",
                computation="Σ (l_i − β) M_i = 0:  −0.2 / (1 − μ) + 0.8 / (1 + μ) = 0, so 0.8 − 0.8μ = 0.2 + 0.2μ",
                result=f"μ = {number(mu)}",
                values={"mu": mu},
            ),
            Step(
                title="Put μ in",
                words="Each share by itself, and the budget as a check.",
                formula="Σ M_i · l_i = β",
                source="Jia and Gong (2018), equation 9",
                computation=(
                    f"0.2 / 0.4 = {number(float(mine[0]))}, 0.4 / 1.6 = {number(float(mine[1]))}, "
                    f"0.4 / 1.6 = {number(float(mine[2]))}"
                ),
                result=f"Expected changes: {number(float(mine[0]))} · 0 + {number(float(mine[1]))} · 2 + "
                f"{number(float(mine[2]))} · 2 = {number(float(spent[0]))}",
                values={**{CITIES[i]: float(mine[i]) for i in range(3)}, "spent": float(spent[0])},
            ),
            Step(
                title="Other budgets",
                task="Compute Ana's shares for the budgets 0, 0.5, 1.5 and 2.",
                words="With 0 nothing can change. From 1.6 on the wish is affordable, and more budget is not used.",
                result="The more may change, the nearer the shares come to 20%, 40%, 40%.",
                table=ExampleTable(caption="Ana's shares", columns=("Budget β", *CITIES), rows=budgets),
            ),
            Step(
                title="Everybody",
                task=(
                    "Changes to be read as Ash, Birch, Cedar: "
                    + "; ".join(f"{row[0]} {row[2]} (now {row[1]})" for row in named)
                    + "."
                ),
                words=(
                    "The same budget for all eight people. Where the wish costs less than 1, it is taken as it is. The "
                    "last column is how often the attacker still reads what she read before."
                ),
                result=f"On average {100 * float(_kept(mechanism, noise).mean()):.0f}% are read as before.",
                values={"kept": float(_kept(mechanism, noise).mean())},
                table=ExampleTable(
                    caption="Eight people, budget 1",
                    columns=("Person", "Read as", "Changes l", "Shares M", "Expected changes", "Read as before"),
                    rows=named,
                ),
            ),
        ),
        lesson=(
            "Nobody is hidden completely: a budget buys a mixture, and what is left of the truth in it is known "
            "beforehand, for this attacker."
        ),
        source=SOURCE,
    )


def _kept(mechanism: npt.NDArray[np.float64], noise: Noise) -> npt.NDArray[np.float64]:
    return np.asarray(mechanism[np.arange(len(mechanism)), noise.predicted])
