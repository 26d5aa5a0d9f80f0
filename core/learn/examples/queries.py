"""Published fairness numbers: bias queries on 20 people, and a model card about 12.

Bias queries are one flip, everybody's flip in closed form, and an answer with noise (Hamman et al. 2023).

A tester asks how much a model favours the advantaged group, as often as they like and for any model of their own. The
answers are averages, and two of them that differ in one person are enough to infer this person's group.

The model card has exact counts of two models that differ in one person, and the information gain in bits. The attacker
knows whom each model accepts. Published rates and a group size are then equations about people's sex, and the
difference between two of them is an equation about one person.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from ...base.validation import Floats, child_generator
from ...studies.bias_queries import (
    LaplaceGlobal,
    accuracy_limit,
    leakage,
    recover_flips,
    reveal_double,
    statistical_parity_gap,
)
from ...studies.bias_queries.gaps import global_sensitivity
from ...studies.model_card import Published, Release, measured, pinned, project
from .example import Columns, Example, compose, decision, number, numbers, signed, total

_ACCEPTED = np.array([1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1], float)
_ADVANTAGED = np.array([1, 1, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0], np.uint8)
_TARGET_PERSON = 6  # person 7, counted from 0
_EPSILON = 1.0


def single_flip(name: str) -> Example:
    """Return the case of one person asked about."""
    flipped = _flipped(_TARGET_PERSON)
    answers = statistical_parity_gap(np.vstack([_ACCEPTED, flipped]), _ADVANTAGED)
    first = float(answers[0])
    second = float(answers[1])
    read = reveal_double(
        (first, second), (float(_ACCEPTED[_TARGET_PERSON]), float(flipped[_TARGET_PERSON]))
    )
    group = "The advantaged group" if read else "The other group"
    step = second - first
    size = 1 / abs(step)
    accepted = _ACCEPTED == 1
    side = _ADVANTAGED == 1
    n_advantaged = int((accepted & side).sum())
    n_disadvantaged = int((accepted & ~side).sum())
    return compose(
        name,
        {
            "first": first,
            "second": second,
            "step": step,
            "first_share": str(Fraction(first).limit_denominator(400)),
            "second_share": str(Fraction(second).limit_denominator(400)),
            "size": size,
            "shares": f"{n_advantaged}/{int(side.sum())} − {n_disadvantaged}/{int((~side).sum())}",
        },
        right=group,
        table=_people_table(),
    )


def flip_everybody(name: str) -> Example:
    """Return the case of algorithm 1 in closed form."""
    n = _ACCEPTED.size
    answers = statistical_parity_gap(np.vstack([_flipped(i) for i in range(n)]), _ADVANTAGED)
    base = float(statistical_parity_gap(_ACCEPTED, _ADVANTAGED)[0])
    recovery = recover_flips(_ACCEPTED, answers)
    weights = 1 / recovery.recovered.sum() - recovery.values
    answer_sum = float(answers.sum())
    query_rows = ((i + 1, decision(_ACCEPTED[i]), signed(float(answers[i]))) for i in range(n))
    group_names = ("other", "advantaged")
    people = (
        (
            i + 1,
            int(_ACCEPTED[i]),
            signed(float(answers[i])),
            signed(float(answers[i]) - base),
            signed(float(weights[i])),
            group_names[int(recovery.recovered[i])],
        )
        for i in range(n)
    )
    return compose(
        name,
        {
            "seventh": float(answers[_TARGET_PERSON]),
            "sum": answer_sum,
            "quotient": answer_sum / (n - 2),
            "base": base,
            "answer": float(answers[0]),
            "weight": float(weights[0]),
            "leakage": 100 * leakage(_ADVANTAGED, recovery.recovered),
        },
        right=float(n),
        table=(("Person", "First model", "Answer with this person flipped"), query_rows),
        tables={3: (("Person", "hᵢ", "SPᵢ", "SPᵢ − SP₀", "vᵢ", "Group"), people)},
    )


def noisy_answer(name: str) -> Example:
    """Return the case of an answer with Laplace noise."""
    n = _ACCEPTED.size
    m = 1
    n1 = int(_ADVANTAGED.sum())
    exact = float(statistical_parity_gap(_ACCEPTED, _ADVANTAGED)[0])
    mechanism = LaplaceGlobal(_EPSILON)
    sensitivity = global_sensitivity(n, m)
    scale = mechanism.scale(n1, n - n1, m)
    drawn = float(
        mechanism.answer(_ACCEPTED, _ADVANTAGED, rng=child_generator(1, "example of noise"))[0]
    )
    sign = "+" if drawn >= exact else "−"
    step = 1 / (n - n1)
    budgets = (
        (
            f"{epsilon:g}",
            number(LaplaceGlobal(epsilon).scale(n1, n - n1, m)),
            f"{100 * accuracy_limit(epsilon):.1f}%",
        )
        for epsilon in (0.1, 0.5, 1.0, 5.0)
    )
    return compose(
        name,
        {
            "sensitivity": sensitivity,
            "scale": scale,
            "step": step,
            "ratio": scale / step,
            "exact": exact,
            "drawn": drawn,
            "drawn_noise": drawn - exact,
            "sign": sign,
            "size_of_noise": abs(drawn - exact),
            "limit": accuracy_limit(_EPSILON),
        },
        right="Larger",
        table=_people_table(),
        tables={4: (("ε", "Scale of the noise", "Accuracy at most"), budgets)},
    )


def _flipped(person: int) -> Floats:
    scores = _ACCEPTED.copy()
    scores[person] = 1.0 - scores[person]
    return scores


def _people_table() -> Columns:
    return ("Person", "First model"), (
        (i + 1, decision(accepted)) for i, accepted in enumerate(_ACCEPTED)
    )


# Model card -----------------------------------------------------------------------------------------------------------

_WOMEN = np.isin(np.arange(1, 13), (1, 3, 4, 8, 11)).astype(np.uint8)
_CARD_ACCEPTED = np.array([[1] * 6 + [0] * 6, [1] * 5 + [0] * 7])
_PRIOR = np.full(12, 0.5)


def card(name: str) -> Example:
    """Return the case of an exact card, and of the same card rounded."""
    release = Release(_CARD_ACCEPTED, statistics=("sp_rate",))
    published = release.publish(_WOMEN)
    after = project(_PRIOR, published).probability
    (person,) = pinned(_PRIOR, after).people.tolist()
    before = int(_WOMEN.sum())
    counts = (_CARD_ACCEPTED * _WOMEN).sum(axis=1)
    leak = measured(_PRIOR, after, _WOMEN)
    cells = (
        (0, "both models"),
        (person, f"model A only (person {person + 1})"),
        (11, "neither model"),
    )
    answers = list(map(tuple, _CARD_ACCEPTED.T.tolist()))  # of both models, one a person
    size = {i: answers.count(answers[i]) for i, _ in cells}
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
            ((i + 1, *map(decision, answers[i]), number(_PRIOR[i])) for i in range(12)),
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
    precision = "exact" if decimals is None else decimals
    return (
        precision,
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
