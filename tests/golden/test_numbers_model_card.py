"""Numbers of model cards about few people are as they were: what a card says, gains, proves, and of whom.

People, models, precisions and what is published are drawn; beside them stand limits that are met exactly, groups of
nobody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from core.studies.model_card import equations, published_counts
from core.studies.model_card import release as released
from core.studies.model_card.meter import formula_chance, meter
from core.studies.model_card.published_counts import Cells, each_number
from core.studies.model_card.release import Published, Release
from tests.golden.numbers import NamedValues, compare_numbers, refused

STATISTICS = (
    ("sp_gap",),
    ("sp_rate",),
    ("tpr_gap", "fpr_rate"),
    ("sp_gap", "tpr_gap", "fpr_gap"),
    ("sp_rate", "tpr_rate", "fpr_rate"),
    ("fpr_gap", "sp_rate"),
    ("tpr_rate",),
)


@cache
def card(seed: int, *, decimals: int | None = None, epsilon: float | None = None, sizes: bool = True) -> Any:
    """Return 5 to 13 people, (posterior, memberships, card); some of them are known for certain, of one group or other.

    Models of some cards are alike or opposite, and accept everybody or nobody.
    """
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 14)), int(rng.integers(1, 4))
    while True:
        q, labels = rng.uniform(0.02, 0.9, n), rng.integers(0, 2, n)
        s = (rng.random(n) < q).astype(np.uint8)
        if all(0 < s[part].sum() < part.sum() for part in (labels == 1, labels == 0)):
            break
    q[0] = s[0] if seed % 3 == 0 else q[0]
    models = rng.integers(0, 2, (k, n))
    if seed % 4 == 1:
        models = np.vstack([models, 1 - models[0], np.where(labels == 1, models[0], 1)])
    if seed % 5 == 2:
        models[0] = seed % 2
    release = Release(
        models,
        labels=labels,
        statistics=STATISTICS[seed % len(STATISTICS)],
        sizes=sizes,
        decimals=decimals,
        epsilon=epsilon,
    )
    return q, s, release.publish(s, rng=rng)


def cards() -> Iterator[tuple[str, Any]]:
    """Yield cards of every precision, with group sizes and without."""
    for seed in range(7):
        yield f"exact {seed}", card(seed)
        yield f"noisy {seed}", card(seed, epsilon=6.0 + seed)
        yield f"unsized {seed}", card(seed, sizes=False)
        for decimals in (0, 1):
            yield f"{decimals} decimals {seed}", card(seed + 7, decimals=decimals)
            yield f"{decimals} decimals, unsized {seed}", card(seed + 14, decimals=decimals, sizes=False)


def flat(published: Published) -> np.ndarray:
    """Return value, low and high of every number."""
    return np.array([(number.value, number.low, number.high) for number in published.numbers])


def in_numbers() -> NamedValues:
    """What is published, and what it says in whole people."""
    for name, (*_, published) in cards():
        yield f"{name}, numbers", [flat(published), " ".join(number.statistic for number in published.numbers)]
        noise, counts = published.noise, published.counts
        if noise is not None:
            yield f"{name}, sums", [noise.sizes, noise.sums, noise.variance]
        else:
            yield f"{name}, counts", [counts.sizes, *counts.limits.values(), *counts.published.values()]


LABELS = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
MODELS = np.array(
    [[1, 1, 1, 0, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 1, 1, 1, 1], [1, 1, 1, 0, 1, 0, 0, 0, 0, 0], [1] * 10]
)


def in_cells() -> NamedValues:
    """People alike, parts, rates and counts; what a release may be."""
    for labels in (None, LABELS):
        cells = Cells.of(MODELS[:2], labels)
        yield f"cells {labels is None}", [cells.pattern, cells.predictions, cells.people, cells.size("all")]
        for part in ("all", "label 1", "label 0"):
            yield f"{part} {labels is None}", [cells.inside(part), cells.size(part), cells.positives(part)]
        yield f"members {labels is None}", [cells.members(LABELS[::-1]), cells.expected(np.arange(10) / 4)]
    for name in each_number(STATISTICS[4] + STATISTICS[3]):
        value = published_counts.value_of(name, np.array([2.0, 3.0]), 4.0, np.array([5.0, 3.0]), 11.0)
        yield name, [value, published_counts.count_of(name, value, 4.0, np.array([5.0, 3.0]), 11.0)]
        yield f"people a unit of {name}", equations._people_a_unit(name, 3.0, 5.0)
    for people in (100_000, 100_001):  # up to which sizes are tried
        models = (np.arange(people) < people // 4).astype(np.uint8)
        release = Release(models, statistics=("sp_rate",), sizes=False)
        yield f"{people} people", release.publish(1 - models % 2 * (np.arange(people) % 3 == 0)).counts.sizes
    for precision in ((12, None, True), (13, None, True), (-1, None, True), (None, 1.0, False), (1, 1.0, True)):
        yield f"precision {precision}", refused(released.check_precision, *precision)
    yield "endless budget", refused(released.check_precision, None, math.inf, True)
    for statistics in STATISTICS:
        release = Release(MODELS, labels=LABELS, statistics=statistics, epsilon=2.0)
        yield f"strata {statistics}", [*release.strata, *release.parts, *release.size_parts, release.noise_scale]


def written(rows: equations.Equations) -> list[np.ndarray]:
    """Return equations as arrays, with a number for a limit that is none."""
    low, high = (np.nan_to_num(end, posinf=99.0, neginf=-99.0) for end in (rows.low, rows.high))
    return [rows.features.ravel(), np.hstack([low, high, rows.variance, [rows.curved]])]


def in_equations() -> NamedValues:
    """Cards as equations, projected and metered."""
    for name, (q, s, published) in cards():
        yield f"{name}, equations", written(equations.equations(published, q))
        information = equations.project(q, published)
        yield f"{name}, projected", [information.status, information.probability, information.value]
        modes = equations.modes_of(q, published.release)
        yield f"{name}, planned, modes", [modes.values, modes.person, modes.distance(s)]
        yield f"{name}, planned", [meter(q, published.release), formula_chance(modes)]
    for q in ([0.0, 1.0, 0.05, 0.0], [0.0, 1.0, 0.0, 1.0], [0.5, 0.3, 0.0, 1.0]):
        information = meter(np.array(q), Release([1, 0, 1, 0], statistics=("sp_gap",)))
        yield f"bits of {q}", [information, information.share]
    for people in (300, 301):  # up to which the curvature of a gap is an interval
        s, models = np.arange(people) % 7 < 3, (np.arange(people) % 5 < 2).astype(np.uint8)
        q = 0.2 + 0.5 * (np.arange(people) % 11) / 10
        for decimals in (1, 2):
            release = Release(models, statistics=("sp_gap", "sp_rate"), sizes=False, decimals=decimals)
            yield f"{people}, {decimals}", written(equations.equations(release.publish(s), q))
    sizes = ((10.0, (4.0, 2.0)), (301.0, (40.0, 9.0)), (8.0, (7.5, 0.4)))
    for gap, (people, size) in product(((0.2, 0.3), (-0.5, -0.5), (0.0, 0.0)), sizes):
        row = equations._gap_row(np.array([1.0, 0]), np.ones(2), gap, 3.0, people, size)
        yield f"gap {gap} of {people}", [*row]


CASES: dict[str, Callable[[], NamedValues]] = {
    "numbers": in_numbers,
    "cells": in_cells,
    "equations": in_equations,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_model_cards(case: str) -> None:
    compare_numbers(f"model_card_{case}", CASES[case]())
