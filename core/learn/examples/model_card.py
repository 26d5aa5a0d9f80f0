"""A model card about 12 people: exact counts of two models that differ in one person, and information gain in bits.

The attacker knows whom each model accepts. Published rates and a group size are then equations about people's sex, and
the difference between two of them is an equation about one person.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...studies.model_card import Published, Release, measured, pinned, project
from .example import Example, compose, number, numbers, total

_WOMEN = np.isin(np.arange(1, 13), (1, 3, 4, 8, 11)).astype(np.uint8)
_ACCEPTED = np.array([[1] * 6 + [0] * 6, [1] * 5 + [0] * 7])
_PRIOR = np.full(12, 0.5)


def card(name: str) -> Example:
    """Return the case of an exact card, and of the same card rounded."""
    release = Release(_ACCEPTED, statistics=("sp_rate",))
    published = release.publish(_WOMEN)
    after = project(_PRIOR, published).probability
    (person,) = pinned(_PRIOR, after).people.tolist()
    before = int(_WOMEN.sum())
    counts = (_ACCEPTED * _WOMEN).sum(axis=1)
    leak = measured(_PRIOR, after, _WOMEN)
    cells = (
        (0, "both models"),
        (person, f"model A only (person {person + 1})"),
        (11, "neither model"),
    )
    size = {
        i: sum(column == _ACCEPTED[:, i].tolist() for column in _ACCEPTED.T.tolist())
        for i, _ in cells
    }
    gains = [float(size[i] * (1 - _entropy(after[i]))) for i, _ in cells]
    people = [
        (label, size[i], number(_PRIOR[i]), number(after[i], 3), number(gain, 2))
        for (i, label), gain in zip(cells, gains, strict=True)
    ]
    precisions = [_precision(release, decimals, person) for decimals in (None, 2, 1, 0)]
    return compose(
        name,
        {
            "women": str(before),
            "rate_a": _rate(published, 0),
            "rate_b": _rate(published, 1),
            "accepted_a": str(counts[0]),
            "accepted_b": str(counts[1]),
            "apart": str(counts[0] - counts[1]),
            "person": str(person + 1),
            "parts": total(gains, 2),
            "bits": leak.bits.value,
            "step": 1 / before,
            "one": _fits(release, 1),
            "none": _fits(release, 0),
            "right_before": str(int(max(_WOMEN.sum(), 12 - _WOMEN.sum()))),
            "right_after": str(round(12 * leak.accuracy_after.value)),
        },
        right=float(person + 1),
        table=(
            ("Person", "Model A", "Model B", "Attacker's probability of “woman”"),
            (
                (
                    i + 1,
                    *("accepted" if model[i] else "refused" for model in _ACCEPTED),
                    number(_PRIOR[i]),
                )
                for i in range(12)
            ),
        ),
        tables={
            3: (
                ("Accepted by", "People", "P(woman) before", "P(woman) after", "Bits gained"),
                people,
            ),
            4: (
                (
                    "Decimals",
                    "Rate, model A",
                    "Rate, model B",
                    f"P(person {person + 1} is a woman)",
                    "Bits",
                    "Exposed",
                ),
                precisions,
            ),
        },
        marked=[i for i, row in enumerate(precisions) if row[-1]],
    )


def _precision(release: Release, decimals: int | None, person: int) -> tuple[str | int, ...]:
    """Return the row of one precision: rates, one person's probability, bits, and how many are exposed."""
    published = replace(release, decimals=decimals).publish(_WOMEN)
    after = project(_PRIOR, published).probability
    return (
        "exact" if decimals is None else decimals,
        *(number(_rate(published, model)) for model in (0, 1)),
        number(after[person], 3),
        number(measured(_PRIOR, after, _WOMEN).bits.value, 2),
        pinned(_PRIOR, after).count,
    )


def _fits(release: Release, decimals: int) -> str:
    """Return the interval that model A's rounded rate stands for, and the possible rates in it."""
    published = replace(release, decimals=decimals).publish(_WOMEN)
    women = int(_WOMEN.sum())
    (entry, _) = (entry for entry in published.numbers if entry.statistic == "sp_rate_1")
    rates = numbers(k / women for k in range(women + 1) if entry.low <= k / women <= entry.high)
    return f"{number(entry.low)} to {number(entry.high)} contains {rates}"


def _rate(published: Published, model: int) -> float:
    """Return the published selection rate of women of a model."""
    name = published.release.names[model]
    (rate,) = (
        entry.value
        for entry in published.numbers
        if (entry.model, entry.statistic) == (name, "sp_rate_1")
    )
    return rate


def _entropy(probability: float) -> float:
    """Return H(p) in bits."""
    shares = np.array([p for p in (probability, 1 - probability) if p > 0])
    return float(-(shares * np.log2(shares)).sum())
