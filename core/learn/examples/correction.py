"""What an attacker infers with and without a model's fairness constraint: imputation, and reconstruction correction.

Imputation against leak on 40 people: what an attacker infers without the model is not the model's leak. The attacker
knows the sex of 20 people, and infers that of 20 others by the most frequent sex among the known people with the same
values: a plain ID3 tree with one leaf for each combination of them (Jayaraman and Evans 2022).

Reconstruction correction on 20 people: a constraint that helps the attacker, one that does not, one infeasible. The
attacker guesses everybody's group. A disclosed fairness constraint then shows that some of these guesses must be
wrong, and the attacker changes the cheapest ones until the constraint holds (Ferry et al. 2023).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...base.validation import Codes, Floats, Ints
from ...models.dp_id3 import DPID3Classifier
from ...stats.estimates import accuracy_gain
from ...stats.fairness import difference_between_groups, group_rates, unfairness
from ...studies.correction import Correction, correct, smallest_tolerance
from .example import Columns, Example, compose, decision, number, total

# Imputation -----------------------------------------------------------------------------------------------------------

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
        cells.append((_HOURS[part], _DECISION[accepted], *map(_group, guesses), *hits))
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


# Reconstruction correction --------------------------------------------------------------------------------------------

_ACCEPTED = np.repeat(np.array([1, 0], np.uint8), 10)
_GUESS = np.array(
    [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], np.uint8
)  # 1 = woman
_CONFIDENCE_ACCEPTED = (0.90, 0.84, 0.73, 0.52, 0.55, 0.66, 0.70, 0.81, 0.88, 0.93)
_CONFIDENCE_REFUSED = (0.58, 0.61, 0.75, 0.86, 0.92, 0.64, 0.69, 0.77, 0.83, 0.95)
_CONFIDENCE = np.array([*_CONFIDENCE_ACCEPTED, *_CONFIDENCE_REFUSED])
_WOMEN = {
    "correction": (1, 2, 3, 4, 5, 11, 13, 14, 15, 16),
    "correction-loses": (1, 2, 3, 6, 7, 11, 13, 14, 15, 16),
}
"""Who is a woman, counted from 1: the two cheapest changes are correct, or wrong."""


_MANY_WOMEN = np.isin(np.arange(1, 21), (1, 2, 3, 4, 11, 12, 13, 14, 15, 16)).astype(np.uint8)
_FEW_WOMEN = np.isin(np.arange(1, 21), (1, 2, 3, 11, 12, 17)).astype(np.uint8)
_MANY_WOMEN_CONFIDENCE = np.array(
    [
        *(0.91, 0.83, 0.76, 0.56, 0.63, 0.72, 0.68, 0.79, 0.85, 0.94),
        *(0.88, 0.74, 0.51, 0.54, 0.58, 0.70, 0.61, 0.77, 0.82, 0.90),
    ]
)
"""Guesses with too many women, who they are, and the confidence in the guesses."""


def correction_case(name: str) -> Example:
    """Return the case of a true constraint of tolerance 0, for the women of this name."""
    truth = np.isin(np.arange(1, 21), _WOMEN[name]).astype(np.uint8)
    correction = correct(_GUESS, _ACCEPTED, tolerance=0.0, cost=_CONFIDENCE)
    vector = _vector(correction)
    moved = _changed(correction)
    before = int((truth == _GUESS).sum())
    after = int((truth == vector).sum())
    variants = [
        (
            women,
            correct(
                _GUESS, _ACCEPTED, tolerance=0.0, cost=_CONFIDENCE, group_shares=[None, women / 20]
            ),
        )
        for women in (10, 8, 6)
    ]
    people = ((i + 1, _group(truth[i]), _group(_GUESS[i]), _group(vector[i])) for i in range(20))
    sex = "women" if all(truth[i] for i in moved) else "men"
    effect = "corrects" if after > before else "spoils"
    return compose(
        name,
        _rates(_ACCEPTED)
        | _repair(_ACCEPTED, correction)
        | {
            "changed": " and ".join(str(i + 1) for i in moved),
            "sex": sex,
            "women": ", ".join(str(i + 1) for i in np.flatnonzero(truth)),
            "right_before": before,
            "right_after": after,
            "before": before / 20,
            "after": after / 20,
            "effect": f"{effect} {abs(after - before)} guesses",
        },
        right=2.0,
        table=_people_table(_ACCEPTED),
        tables={
            2: (
                ("Number of women", "People changed", "Cost", "Sum"),
                (_way(women, way) for women, way in variants),
            ),
            4: (("Person", "Truth", "First guess", "Corrected guess"), people),
        },
        marked=moved,
    )


def correction_impossible(name: str) -> Example:
    """Return the case in which no split into two groups satisfies the constraint."""
    accepted = _ACCEPTED.copy()
    accepted[9] = 0
    least = smallest_tolerance(accepted)
    exact = correct(_GUESS, accepted, tolerance=0.0, cost=_CONFIDENCE)
    repaired = _repair(accepted, correct(_GUESS, accepted, tolerance=least, cost=_CONFIDENCE))
    return compose(
        name,
        _rates(accepted) | repaired | {"infeasible": str(exact.certificate.status), "least": least},
        right="Only for all 20 people together",
        table=_people_table(accepted),
        tables={
            3: (
                (
                    "Women",
                    "Accepted",
                    "Women's rate",
                    "Men's rate",
                    "Unfairness",
                    "Difference between groups",
                ),
                _nearest(accepted),
            )
        },
    )


def proportions(name: str) -> Example:
    """Return the case of group proportions beside the constraint."""
    guess = _MANY_WOMEN
    cost = _MANY_WOMEN_CONFIDENCE
    truth = _FEW_WOMEN
    women = int(truth.sum())
    shares = [None, women / 20]
    kinds = {"constraint": (0.0, None), "proportions": (1.0, shares), "both": (0.0, shares)}
    corrections = {
        kind: correct(guess, _ACCEPTED, tolerance=tolerance, cost=cost, group_shares=group_shares)
        for kind, (tolerance, group_shares) in kinds.items()
    }
    vectors = {kind: _vector(correction) for kind, correction in corrections.items()}
    right = {kind: int((vector == truth).sum()) for kind, vector in vectors.items()}
    start = int((guess == truth).sum())
    numbers: dict[str, float | str] = {"added": str(right["both"] - right["proportions"])}
    for kind, correction in corrections.items():
        changed = _changed(correction, guess)
        numbers |= {
            kind: str(right[kind]),
            f"{kind}_gain": float(right[kind] - start),
            f"{kind}_changed": ", ".join(str(i + 1) for i in changed),
            f"{kind}_changes": str(len(changed)),
            f"{kind}_sum": total(cost[changed], 2),
            f"{kind}_cost": float(correction.objective or 0.0),
        }
    men_rate, women_rate = group_rates(
        _ACCEPTED, vectors["proportions"], metric="statistical_parity"
    )
    columns = zip(truth, guess, *vectors.values(), strict=True)
    rows: list[tuple[str | int, ...]] = [
        (i, *map(_group, codes)) for i, codes in enumerate(columns, start=1)
    ]
    return compose(
        name,
        numbers
        | {
            "women": str(women),
            "guessed": str(int(guess.sum())),
            "truth": ", ".join(str(i + 1) for i in np.flatnonzero(truth)),
            "rates": _rates(_ACCEPTED, guess)["rates"],
            "start": str(start),
            "baseline": str(20 - women),
            "women_rate": women_rate.rate.value,
            "men_rate": men_rate.rate.value,
        },
        right=f"{women} of the 20 people are women",
        table=_people_table(_ACCEPTED, guess, cost),
        tables={
            4: (
                ("Person", "Truth", "First guess", "Constraint", "Proportions", "Both"),
                rows,
            )
        },
        marked=_changed(corrections["both"], guess),
    )


def _people_table(
    accepted: Codes, guess: Codes = _GUESS, confidence: Floats = _CONFIDENCE
) -> Columns:
    return ("Person", "Model says", "Attacker guesses", "Confidence"), (
        (i + 1, decision(accepted[i]), _group(guess[i]), f"{confidence[i]:.2f}") for i in range(20)
    )


def _group(code: Any) -> str:
    if code:
        return "woman"
    return "man"


def _rates(accepted: Codes, guess: Codes = _GUESS) -> dict[str, float | str]:
    """Return what the texts say of the guesses under the constraint."""
    men, women = group_rates(accepted, guess, metric="statistical_parity")
    value = unfairness(accepted, guess, metric="statistical_parity")
    rates = [
        f"{name} {round(rate.count * rate.rate.value)}/{rate.count} = {number(rate.rate.value)}"
        for name, rate in (("women", women), ("men", men))
    ]
    everybody = f"everybody {int(accepted.sum())}/20 = {number(women.overall.value)}"
    difference = difference_between_groups(accepted, guess, metric="statistical_parity")
    return {"rates": ", ".join((*rates, everybody)), "unfairness": value, "apart": difference}


def _repair(accepted: Codes, correction: Correction) -> dict[str, float | str]:
    """Return what the texts say of the cheapest change."""
    changed = _changed(correction)
    vector = _vector(correction)
    men, women = group_rates(accepted, vector, metric="statistical_parity")
    return {
        "who": ", ".join(
            f"person {i + 1} becomes a {_group(vector[i])}" for i in changed
        ).capitalize(),
        "sum": total(_CONFIDENCE[changed], 2),
        "objective": float(correction.objective or 0.0),
        "women_then": women.rate.value,
        "men_then": men.rate.value,
        "unfairness_then": unfairness(accepted, vector, metric="statistical_parity"),
        "apart_then": difference_between_groups(accepted, vector, metric="statistical_parity"),
        "status": str(correction.certificate.status),
    }


def _way(women: int, way: Correction) -> tuple[str | int, ...]:
    """Return the row of the cheapest correction to a number of women."""
    changed = _changed(way)
    people = ", ".join(str(i + 1) for i in changed)
    return women, people, total(_CONFIDENCE[changed], 2), f"{way.objective:.2f}"


def _vector(correction: Correction) -> Codes:
    assert correction.reconstruction is not None
    return correction.reconstruction


def _changed(correction: Correction, guess: Codes = _GUESS) -> list[int]:
    """Return who is changed."""
    return [int(i) for i in np.flatnonzero(_vector(correction) != guess)]


def _nearest(accepted: Codes) -> Iterator[tuple[str | int, ...]]:
    """Yield, for 1 to 10 women, the number of accepted ones that is nearest to the constraint."""
    positives = int(accepted.sum())
    for women in range(1, 11):
        candidates = []
        for a in range(max(0, women + positives - 20), min(women, positives) + 1):
            split = np.zeros(20, np.uint8)
            split[:a] = 1
            split[positives : positives + women - a] = 1
            candidates.append((unfairness(accepted, split, metric="statistical_parity"), a))
        value, a = min(candidates)
        difference = abs(a / women - (positives - a) / (20 - women))
        yield (
            women,
            a,
            f"{a}/{women}",
            f"{positives - a}/{20 - women}",
            number(value),
            number(difference),
        )
