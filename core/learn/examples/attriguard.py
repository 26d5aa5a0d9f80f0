"""AttriGuard on five apps: ratings that change the inferred city, and a budget of changes.

Eight people's ratings, and an attacker who infers one of three cities from them by a linear classifier: each app has a
weight for each city, and the weights of an app add up to 0 (Jia and Gong 2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.validation import Floats
from ...studies.attriguard import allocate, expected_size, representatives
from .example import Example, compose, number, numbers, signed

CITIES = ("Ash", "Birch", "Cedar")
WEIGHTS = np.array(
    [[5, -1, -4], [-1, 3, -2], [-2, -1, 3], [1, 1, -2], [-3, 2, 1]], float
)  # one row an app
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
    reader.coef_ = WEIGHTS.T.copy()
    reader.intercept_ = np.zeros(3)
    reader.n_features_in_ = 5
    return reader


def person(i: int) -> str:
    """Return the name of a person."""
    if i:
        return f"Person {i + 1}"
    return "Ana"


_TARGET = np.array([0.2, 0.4, 0.4])
_BUDGET = 1.0


def guard_noise(name: str) -> Example:
    """Return the case of one person and one target city."""
    reader = attacker()
    clean = RATED[:1]
    noise = representatives(RATED, reader)
    perturbed = noise.noisy[2]  # Ana's record with the noise for Cedar
    start = _scores(reader, clean[0])
    gains = [float((_scores(reader, _turned(clean[0], j)) - start)[2]) for j in range(5)]
    changed = sorted(
        np.flatnonzero(perturbed != clean[0]).tolist(), key=lambda j: -gains[j]
    )  # the order of the search
    path = [clean[0]]
    for column in changed:
        path.append(_turned(path[-1], column))
    scores = [_scores(reader, record) for record in path]
    apps: list[tuple[str | int, ...]] = [
        (f"App {j + 1}", int(clean[0, j]), *map(signed, WEIGHTS[j])) for j in range(5)
    ]
    search_path: list[tuple[str, ...]] = [
        ("nothing", *map(number, scores[0]), _read(scores[0])),
    ]
    for column, after in zip(changed, scores[1:], strict=True):
        verb = "rating" if perturbed[column] else "removing"
        is_tie = (after == after.max()).sum() > 1
        city = "tie" if is_tie else _read(after)
        search_path.append((f"{verb} App {column + 1}", *map(number, after), city))
    rated = [", ".join(f"App {j + 1}" for j in np.flatnonzero(record)) for record in RATED]
    everybody: list[tuple[str | int, ...]] = [
        (
            person(i),
            rated[i],
            CITIES[int(noise.predicted[i])],
            *map(int, noise.size[i]),
        )
        for i in range(len(RATED))
    ]
    return compose(
        name,
        {
            "sums": _sums(path[0]),
            "scores": _city_scores(scores[0]),
            "read": _read(scores[0]),
            "third": gains[2],
            "scores_between": _city_scores(scores[1]),
            "changes": len(changed),
            "scores_then": _city_scores(scores[-1]),
            "read_then": _read(scores[-1]),
            "rated": "; ".join(f"{person(i)} {apps_of}" for i, apps_of in enumerate(rated)),
        },
        right=float(noise.size[0, 2]),
        table=(("App", "Rated by Ana", *CITIES), apps),
        tables={
            2: (
                ("App", "Rated", *CITIES, "Gain for Cedar"),
                [(*app, signed(gain)) for app, gain in zip(apps, gains, strict=True)],
            ),
            3: (
                ("After", *CITIES, "Inferred city"),
                search_path,
            ),
            4: (
                ("Person", "Rated", "Inferred city", *(f"To {city}" for city in CITIES)),
                everybody,
            ),
        },
    )


def guard_budget(name: str) -> Example:
    """Return the case of a budget shared among the noises of one person."""
    noise = representatives(RATED, attacker())
    size = noise.size.astype(float)
    mechanism = allocate(size, _TARGET, _BUDGET)
    spent = expected_size(mechanism, size)
    first_row = mechanism[0]
    lengths = size[0]
    mu = float((_TARGET[0] / first_row[0] - 1) / (lengths - _BUDGET)[0])
    free = float(expected_size(_TARGET[None], size[:1])[0])
    unchanged = mechanism[np.arange(len(mechanism)), noise.predicted]
    shares = _values(first_row)
    noises = [(CITIES[i], int(lengths[i]), f"{100 * _TARGET[i]:.0f}%") for i in range(3)]
    budgets = []
    for budget in (0.0, 0.5, 1.0, 1.5, 2.0):
        allocated = allocate(size[:1], _TARGET, budget)[0]
        budgets.append((number(budget, 1), *(f"{100 * share:.1f}%" for share in allocated)))
    everybody = [
        (
            person(i),
            CITIES[int(noise.predicted[i])],
            numbers(size[i]),
            numbers(mechanism[i], 3),
            number(float(spent[i]), 2),
            f"{100 * unchanged[i]:.0f}%",
        )
        for i in range(len(size))
    ]
    return compose(
        name,
        {
            "wanted": free,
            "mu": mu,
            **shares,
            "spent": float(spent[0]),
            "kept": float(unchanged.mean()),
            "everybody": "; ".join(f"{row[0]} {row[2]} (now {row[1]})" for row in everybody),
        },
        right=round(100 * float(first_row[0]), 6),
        within=0.5,
        table=(("Inferred city", "Changed ratings l", "Target share p"), noises),
        tables={
            4: (("Budget β", *CITIES), budgets),
            5: (
                (
                    "Person",
                    "Inferred city",
                    "Changes l",
                    "Shares M",
                    "Expected changes",
                    "Same city as before",
                ),
                everybody,
            ),
        },
    )


def _turned(record: Floats, app: int) -> Floats:
    """Return a record with the rating of one app added or removed."""
    turned = record.copy()
    turned[app] = 1 - turned[app]
    return turned


def _scores(reader: Any, record: Floats) -> Floats:
    return np.asarray(reader.decision_function(record[None])[0])


def _read(scores: Floats) -> str:
    return CITIES[int(scores.argmax())]


def _values(scores: Floats) -> dict[str, float]:
    return {city: float(score) for city, score in zip(CITIES, scores, strict=True)}


def _city_scores(scores: Floats) -> str:
    return ", ".join(f"{city} {number(score)}" for city, score in _values(scores).items())


def _sums(record: Floats) -> str:
    """Write each city's score as a sum over the rated apps."""
    rated = np.flatnonzero(record)
    terms = []
    for i, city in enumerate(CITIES):
        parts = [float(WEIGHTS[j, i]) for j in rated]
        written = number(parts[0])
        for weight in parts[1:]:
            sign = "+" if weight >= 0 else "−"
            written += f" {sign} {number(abs(weight))}"
        terms.append(f"{city} {written} = {number(sum(parts))}")
    return ", ".join(terms)
