"""Reconstruction correction on 20 people: a promise that helps the attacker, one that does not, one that cannot be.

The attacker guesses everybody's group. A promise of fairness then tells her that some of these guesses must be wrong,
and she changes the cheapest ones until the promise holds (Ferry et al. 2023).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.correction import Correction, correct, smallest_tolerance
from core.examples.example import Answer, Example, ExampleTable, Step, number, total
from core.fairness import difference_between_groups, group_rates, unfairness

_SOURCE = (
    "Ferry, Aïvodji, Gambs, Huguet and Siala, Exploiting Fairness to Enhance Sensitive Attributes Reconstruction, "
    "SaTML 2023"
)
_METHOD = "Reconstruction correction"

_Codes = npt.NDArray[np.uint8]

_ACCEPTED = np.repeat(np.array([1, 0], np.uint8), 10)
_GUESS = np.array([1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], np.uint8)  # 1 = woman
_SURE_ACCEPTED = (0.90, 0.84, 0.73, 0.52, 0.55, 0.66, 0.70, 0.81, 0.88, 0.93)
_SURE_REFUSED = (0.58, 0.61, 0.75, 0.86, 0.92, 0.64, 0.69, 0.77, 0.83, 0.95)
_CONFIDENCE = np.array([*_SURE_ACCEPTED, *_SURE_REFUSED])
_WOMEN_IF_IT_GAINS = (1, 2, 3, 4, 5, 11, 13, 14, 15, 16)
_WOMEN_IF_IT_LOSES = (1, 2, 3, 6, 7, 11, 13, 14, 15, 16)

_PRICE = (
    "Changing a guess costs as much as the attacker was sure of it. So she looks for the cheapest change after which "
    "the promise holds."
)


def correction_gains(name: str, title: str) -> Example:
    """Return the case in which the two cheapest changes are right."""
    return _promised(
        name,
        title,
        women=_WOMEN_IF_IT_GAINS,
        lesson=(
            "The promise said nothing about any one person, and still two more people are named rightly: it tells how "
            "many guesses must be wrong, and the attacker's own doubt tells which."
        ),
    )


def correction_loses(name: str, title: str) -> Example:
    """Return the case with the same guesses and the same promise in which the two cheapest changes are wrong."""
    return _promised(
        name,
        title,
        women=_WOMEN_IF_IT_LOSES,
        lesson=(
            "The attacker saw the same table and did the same thing as in the example before, and lost. A promise "
            "tells how many guesses are wrong, not whose; it helps only an attacker whose doubts are in the right "
            "place. That is why a gain is always shown with its interval over many people."
        ),
    )


def correction_impossible(name: str, title: str) -> Example:
    """Return the case in which no split into two groups keeps the promise."""
    accepted = _ACCEPTED.copy()
    accepted[9] = 0
    told = correct(_GUESS, accepted, tolerance=0.0, cost=_CONFIDENCE)
    least = smallest_tolerance(accepted)
    repaired = correct(_GUESS, accepted, tolerance=least, cost=_CONFIDENCE)
    right = "Only for all 20 people together"
    steps = (
        _rates_step(accepted, _GUESS, "Does the first guess keep the promise?"),
        Step(
            title="A tolerance of 0",
            words=(
                "With a tolerance of 0, a group of m people with a of them accepted needs exactly everybody's rate. "
                "9 and 20 have no common divisor, so m would have to be a multiple of 20. Then the other group is "
                "empty."
            ),
            formula="a / m = P / N",
            source="Ferry et al. (2023), constraints 2 to 5 with ε = 0",
            computation="a / m = 9 / 20, so m = 20",
            result=f"The solver says: {told.certificate.status}. Nothing is relaxed behind your back.",
            values={"smallest": float(told.smallest_tolerance or 0.0)},
        ),
        Step(
            title="How near can one come?",
            words=(
                "For each number of women, the number of accepted women that brings both groups nearest to 9/20. "
                "The unfairness is the larger of the two distances."
            ),
            formula="unfairness = max( |P/N − a/m| , |P/N − (P − a)/(N − m)| )",
            source="Ferry et al. (2023), constraints 4 and 5",
            computation="9 women, 4 of them accepted: |9/20 − 4/9| = 1/180, |9/20 − 5/11| = 1/220",
            result=f"The smallest tolerance that can be met is 1/180 = {number(least)}.",
            values={"smallest_tolerance": least},
            table=_nearest(accepted),
        ),
        _repair_step(accepted, repaired, "What the attacker does with the smallest tolerance"),
    )
    return Example(
        name=name,
        method=_METHOD,
        title=title,
        story=(
            "A model accepted 9 of 20 people. Somebody promises that women and men are accepted at exactly the same "
            "rate: a tolerance of 0. The attacker's guesses are in the table."
        ),
        table=_shown(accepted),
        question="For which groups can the share of accepted people be exactly 9 in 20?",
        answer=Answer(
            right=right,
            choices=("For any group of 10 people", right, "For any group with an even number of people"),
            why="9/20 cannot be shortened, so only 20 people can have 9 accepted in every 20.",
            hint="Try a group of 10: how many accepted people would it need?",
        ),
        steps=steps,
        lesson=(
            "A promise can be false for every possible split. Then there is no correction, and the honest answer is "
            "the smallest tolerance that can be met, not a quiet change of the promise."
        ),
        source=_SOURCE,
    )


def _promised(name: str, title: str, *, women: tuple[int, ...], lesson: str) -> Example:
    """Return a case under the promise of tolerance 0, in which these people (counted from 1) are women."""
    truth = np.isin(np.arange(1, 21), women).astype(np.uint8)
    correction = correct(_GUESS, _ACCEPTED, tolerance=0.0, cost=_CONFIDENCE)
    steps = (
        _rates_step(_ACCEPTED, _GUESS, "Do the guesses keep the promise?"),
        _ways_step(),
        _repair_step(_ACCEPTED, correction, "The cheapest change"),
        _truth_step(truth, correction),
    )
    return Example(
        name=name,
        method=_METHOD,
        title=title,
        story=(
            "A model accepted 10 of 20 people, and its owner promises that women and men are accepted at the same "
            "rate: a tolerance of 0. The attacker knows who was accepted and has guessed who is a woman. The promise "
            "is true."
        ),
        table=_shown(_ACCEPTED),
        question="How many guesses must the attacker change, at least, so that the promise holds?",
        answer=Answer(
            right=2.0,
            why="One change moves a group's rate, but not far enough; two bring both groups to 1/2.",
            hint="Count the accepted among the guessed women, 3 of 8, and among the guessed men, 7 of 12.",
        ),
        steps=steps,
        lesson=lesson,
        source=_SOURCE,
    )


def _shown(accepted: _Codes) -> ExampleTable:
    rows = tuple(
        (i + 1, "accepted" if accepted[i] else "refused", _group(_GUESS[i]), f"{_CONFIDENCE[i]:.2f}") for i in range(20)
    )
    return ExampleTable(
        caption="What the attacker has",
        columns=("Person", "Model says", "Attacker guesses", "How sure"),
        rows=rows,
    )


def _group(code: Any) -> str:
    return "woman" if code else "man"


def _rates_step(accepted: _Codes, guess: _Codes, title: str) -> Step:
    men, women = group_rates(accepted, guess, metric="statistical_parity")
    value = unfairness(accepted, guess, metric="statistical_parity")
    told = [
        f"{name} {round(rate.count * rate.rate.value)}/{rate.count} = {number(rate.rate.value)}"
        for name, rate in (("women", women), ("men", men))
    ]
    everybody = f"everybody {int(accepted.sum())}/20 = {number(women.overall.value)}"
    return Step(
        title=title,
        words=(
            "Take the guesses as if they were true, and compare each group's share of accepted people with "
            "everybody's share."
        ),
        formula="unfairness = max over groups g of |P/N − PPR_g|",
        source="Ferry et al. (2023), constraints 4 and 5",
        computation=", ".join((*told, everybody)),
        result=(
            f"The largest distance is {number(value)}, above 0: some guesses must be wrong. {_apart(accepted, guess)}"
        ),
        values={"women": women.rate.value, "men": men.rate.value, "unfairness": value},
    )


def _apart(accepted: _Codes, groups: _Codes) -> str:
    """Say how far the groups' rates lie apart."""
    apart = difference_between_groups(accepted, groups, metric="statistical_parity")
    return f"The difference between the groups, which Fairlearn reports, is {number(apart)}."


def _ways_step() -> Step:
    """Compare the cheapest way to each number of women that can keep the promise with two changes."""
    rows, values = [], {}
    for women in (10, 8, 6):
        way = correct(_GUESS, _ACCEPTED, tolerance=0.0, cost=_CONFIDENCE, group_shares=[None, women / 20])
        changed = _changed(way)
        rows.append(
            (women, ", ".join(str(i + 1) for i in changed), total(_CONFIDENCE[changed], 2), f"{way.objective:.2f}")
        )
        values[f"cost with {women} women"] = float(way.objective or 0.0)
    return Step(
        title="Ways to keep the promise",
        words=(
            "Both groups reach 1/2 when as many guessed women are accepted as refused. Today it is 3 accepted and "
            f"5 refused. {_PRICE}"
        ),
        formula="minimise Σ p_i · [s*_i ≠ ŝ_i]",
        source="Ferry et al. (2023), objective 1",
        computation="3 + 2 = 5, or 3 + 1 = 5 − 1, or 3 = 5 − 2",
        result="Making two accepted people women costs the least.",
        values=values,
        table=ExampleTable(
            caption="The cheapest way to each number of women",
            columns=("Women then", "People changed", "Cost", "Sum"),
            rows=tuple(rows),
        ),
    )


def _changed(correction: Correction) -> list[int]:
    """Return who is changed."""
    assert correction.reconstruction is not None
    return [int(i) for i in np.flatnonzero(correction.reconstruction != _GUESS)]


def _repair_step(accepted: _Codes, correction: Correction, title: str) -> Step:
    changed, vector = _changed(correction), correction.reconstruction
    assert vector is not None
    men, women = group_rates(accepted, vector, metric="statistical_parity")
    after = unfairness(accepted, vector, metric="statistical_parity")
    sum_told = number(correction.objective or 0)
    who = ", ".join(f"person {i + 1} becomes a {_group(vector[i])}" for i in changed)
    return Step(
        title=title,
        words=f"The solver sorts the costs and takes the cheapest way. {who.capitalize()}.",
        formula="Σ p_i over the changed guesses",
        source="Ferry et al. (2023), objective 6",
        computation=f"{total(_CONFIDENCE[changed], 2)} = {sum_told}" if len(changed) > 1 else sum_told,
        result=(
            f"Then women are accepted at {number(women.rate.value)} and men at {number(men.rate.value)}; the "
            f"unfairness is {number(after)}. {_apart(accepted, vector)} Status: {correction.certificate.status}."
        ),
        values={
            "changed": float(correction.n_changed or 0),
            "objective": float(correction.objective or 0.0),
            "unfairness": after,
        },
    )


def _truth_step(truth: _Codes, correction: Correction) -> Step:
    vector = correction.reconstruction
    assert vector is not None
    before, after = int((truth == _GUESS).sum()), int((truth == vector).sum())
    moved = _changed(correction)
    words = (
        f"Persons {' and '.join(str(i + 1) for i in moved)} are in truth "
        f"{'women' if all(truth[i] for i in moved) else 'men'}. The attacker never learns that; we look it up."
    )
    return Step(
        title="Was it right?",
        words=words,
        formula="accuracy = right guesses / all guesses",
        task=f"In truth the women are persons {', '.join(str(i + 1) for i in np.flatnonzero(truth))}.",
        computation=f"before {before}/20 = {number(before / 20)}, after {after}/20 = {number(after / 20)}",
        result=f"The promise {'gained' if after > before else 'cost'} the attacker {abs(after - before)} people.",
        values={"before": before / 20, "after": after / 20},
        table=ExampleTable(
            caption="Everybody, in the end",
            columns=("Person", "In truth", "First guess", "Corrected guess"),
            rows=tuple((i + 1, _group(truth[i]), _group(_GUESS[i]), _group(vector[i])) for i in range(20)),
        ),
    )


def _nearest(accepted: _Codes) -> ExampleTable:
    """Return, for 1 to 10 women, the number of accepted ones that is nearest to the promise."""
    positives, rows = int(accepted.sum()), []
    for women in range(1, 11):
        found = []
        for a in range(max(0, women + positives - 20), min(women, positives) + 1):
            split = np.zeros(20, np.uint8)
            split[:a] = 1
            split[positives : positives + women - a] = 1
            found.append((unfairness(accepted, split, metric="statistical_parity"), a))
        value, a = min(found)
        apart = abs(a / women - (positives - a) / (20 - women))
        rows.append((women, a, f"{a}/{women}", f"{positives - a}/{20 - women}", number(value), number(apart)))
    return ExampleTable(
        caption="The nearest split for each number of women (more than 10 women: exchange the groups)",
        columns=("Women", "Accepted", "Women's rate", "Men's rate", "Unfairness", "Difference between groups"),
        rows=tuple(rows),
    )
