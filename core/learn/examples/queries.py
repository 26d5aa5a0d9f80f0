"""Bias queries on 20 people: one flip, everybody's flip in closed form, and an answer with noise (Hamman et al. 2023).

A tester asks how much a model favours the advantaged group, as often as they like and for any model of their own. The
answers are averages, and two of them that differ in one person are enough to infer this person's group.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...base.arrays import Floats
from ...base.seeds import child_generator
from ...studies.bias_queries import (
    LaplaceGlobal,
    accuracy_limit,
    leakage,
    recover_flips,
    reveal_double,
    statistical_parity_gap,
)
from ...studies.bias_queries.gaps import global_sensitivity
from .example import Columns, Example, compose, number, signed

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
        right="The advantaged group" if read else "The other group",
        table=_people_table(),
    )


def flip_everybody(name: str) -> Example:
    """Return the case of algorithm 1 in closed form."""
    n = _ACCEPTED.size
    answers = statistical_parity_gap(np.vstack([_flipped(i) for i in range(n)]), _ADVANTAGED)
    base = float(statistical_parity_gap(_ACCEPTED, _ADVANTAGED)[0])
    recovery = recover_flips(_ACCEPTED, answers)
    assert recovery.values is not None and recovery.threshold is not None
    weights = 1 / recovery.recovered.sum() - recovery.values
    answer_sum = float(answers.sum())
    query_rows = (
        (i + 1, "accepted" if _ACCEPTED[i] else "refused", signed(float(answers[i])))
        for i in range(n)
    )
    people = (
        (
            i + 1,
            int(_ACCEPTED[i]),
            signed(float(answers[i])),
            signed(float(answers[i]) - base),
            signed(float(weights[i])),
            "advantaged" if recovery.recovered[i] else "other",
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
            "sign": "+" if drawn >= exact else "−",
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
        (i + 1, "accepted" if accepted else "refused") for i, accepted in enumerate(_ACCEPTED)
    )
