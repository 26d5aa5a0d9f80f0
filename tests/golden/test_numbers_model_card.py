"""Numbers of model cards about few people are as they were: what a card says, gains, proves, and of whom.

People, models, precisions and what is published are drawn; beside them stand limits that are met exactly, groups of
nobody, and numbers that contradict each other, whose refusal is kept as it is worded.
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
from core.studies.model_card.meter import _sizes_open, formula_chance, meter
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
    for name, (_, s, published) in cards():
        yield f"{name}, numbers", [flat(published), " ".join(number.statistic for number in published.numbers)]
        noise, counts = published.noise, published.counts
        if noise is not None:
            yield f"{name}, sums", [noise.sizes, noise.sums, noise.variance]
        else:
            yield f"{name}, counts", [counts.sizes, *counts.limits.values(), *counts.published.values()]
        tables = [
            [released.table_value(published, number, who) for number in published.numbers] for who in (s, 0 * s, 1 - s)
        ]
        yield f"{name}, of the table", tables
        yield f"{name}, disputed", [[row.turned, row.rounded] for row in released.disputed(published, 1 - s)]


LABELS = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
MODELS = np.array(
    [[1, 1, 1, 0, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 1, 1, 1, 1], [1, 1, 1, 0, 1, 0, 0, 0, 0, 0], [1] * 10]
)


def typed(decimals: int | None = None, labels: Any = LABELS, **values: Any) -> Any:
    """Return what numbers say that somebody typed, by model and statistic ("a_sp_gap"); the sizes have no model."""
    statistics = STATISTICS[3] + STATISTICS[4] if labels is not None else ("sp_gap", "sp_rate")
    release = Release(MODELS, labels=labels, statistics=statistics, decimals=decimals, names="abcd")
    keys = [("", key) if key.startswith("size") else (key[:1], key[2:]) for key in values]
    return Published.from_values(release, dict(zip(keys, values.values(), strict=True)))


TYPED: dict[str, dict[str, Any]] = {
    "sizes add up": {"size": 5, "size_label_1": 2, "a_tpr_gap": 0.5},
    "sizes add up, of label 0": {"size": 5, "size_label_0": 3, "d_sp_gap": 0},
    "sizes of both labels": {"size_label_1": 3, "size_label_0": 2, "a_sp_rate_1": 0.6, "b_sp_rate_0": 0.8},
    "more within a label than in all": {"size": 2, "size_label_1": 3, "a_sp_gap": 0},
    "more than the label has": {"size": 9, "size_label_1": 1, "a_sp_gap": 0},
    "all of one label": {"size_label_1": 4, "a_tpr_gap": 0.5},
    "none of one label": {"size_label_1": 0, "a_tpr_rate_1": 0.5},
    "everybody": {"size": 10, "a_sp_rate_0": 0.5},
    "too many": {"size": 11, "a_sp_gap": 0.0},
    "no size": {"size": 2.5},
    "a size below nobody": {"size": -1},
    "an interval for a size": {"size": (2, 3)},
    "no whole people": {"size": 5, "a_sp_gap": 0.3},
    "no whole people in an interval": {"size": 5, "a_sp_gap": (0.01, 0.02)},
    "the ends of an interval": {"size": 5, "a_sp_gap": (-0.4, 0.4)},
    "just inside": {"size": 5, "a_sp_gap": (-0.39, 0.39)},
    "two numbers": {"size": 5, "a_sp_rate_1": (0.2, 0.8), "a_sp_rate_0": (0.4, 1.0)},
    "two numbers apart": {"size": 5, "a_sp_rate_1": 0.8, "a_sp_rate_0": 0.4},
    "models alike": {"size": 5, "a_sp_rate_1": (0.2, 0.6), "c_sp_rate_1": (0.4, 0.8)},
    "models alike apart": {"size": 5, "a_sp_rate_1": 0.6, "c_sp_rate_1": 0.4},
    "models opposite": {"size": 4, "a_sp_rate_1": (0.25, 0.75), "b_sp_rate_1": (0.5, 1.0)},
    "models opposite apart": {"size": 4, "b_sp_rate_1": 0.5, "a_sp_rate_1": 0.25},
    "labels do not add up": {"size": 5, "size_label_1": 2, "a_sp_rate_1": 0.8, "a_tpr_rate_1": 0.5, "a_fpr_rate_1": 0},
    "labels narrow everybody": {"size": 5, "size_label_1": 2, "a_tpr_rate_1": 1, "a_fpr_rate_1": (0, 0.5)},
    "everybody narrows a label": {"size": 5, "size_label_1": 2, "a_sp_rate_1": 0.6, "a_tpr_rate_1": (0, 1)},
    "rounded": {"decimals": 1, "size": 5, "a_sp_gap": 0.0, "b_sp_rate_1": 0.6},
    "rounded at the end": {"decimals": 1, "d_sp_rate_1": 1.0, "d_sp_gap": 0.0, "a_tpr_gap": -1.0},
    "implied": {"a_sp_rate_1": 2 / 3, "a_sp_rate_0": 2 / 7},
    "implied by gaps": {"a_sp_gap": 2 / 3 - 2 / 7, "a_tpr_gap": 1 / 3},
    "implied for none": {"a_sp_rate_1": 0.123},
    "left open": {"a_sp_rate_1": 0.5, "c_fpr_gap": (-0.3, 0.1)},
    "without labels": {"labels": None, "size": 3, "a_sp_gap": 1 / 3 - 3 / 7},
    "a label without labels": {"labels": None, "size_label_1": 3},
    "nobody within a label": {"labels": np.ones(10, dtype=int), "a_fpr_gap": 0.1},
    "size of nobody": {"labels": np.ones(10, dtype=int), "size_label_0": 0},
    "no interval": {"a_sp_gap": (0.3, 0.1)},
    "three limits": {"a_sp_gap": (0.1, 0.2, 0.3)},
    "not finite": {"a_sp_gap": math.nan},
    "a rate below 0": {"a_sp_rate_1": -0.1},
    "a gap of -1": {"size": 4, "a_sp_gap": (-1.0, 1.0)},
    "a gap below -1": {"a_sp_gap": (-1.01, 0.0)},
    "above 1": {"a_sp_rate_1": (0.0, 1.01)},
    "no such model": {"e_sp_gap": 0.1},
    "a rate of no group": {"a_sp_rate": 0.1},
    "a gap of a group": {"a_sp_gap_1": 0.1},
}


def in_typed_numbers() -> NamedValues:
    """Numbers that are typed: whole people, and what is refused."""
    for name, values in TYPED.items():
        published = refused(typed, **values)
        if isinstance(published, str):
            yield name, published
            continue
        yield name, [flat(published).tolist(), published.counts.sizes]
        yield f"{name}, counts", {part: limits.ravel().tolist() for part, limits in published.counts.limits.items()}
        rows = equations.equations(published, np.linspace(0.1, 0.8, 10))
        yield f"{name}, equations", [*rows.features.tolist(), rows.low.tolist(), rows.high.tolist()]
        yield f"{name}, independent", meter(np.linspace(0.1, 0.8, 10), published).independent
    yield "a model among many", refused(released.check_number, "x", "sp_gap", 0, models="abcdefgh")
    yield "a size of a model", refused(released.check_number, "x", "size", 0)
    yield "a number of none", refused(released.check_number, "", "sp_gap", 0)


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
        yield f"limits of {name}", [released.rounded_limits(name, value, 1) for value in (-1.0, 0.0, 0.04, 0.97)]
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
        for kind, what in (("published", published), ("planned", published.release)):
            modes = equations.modes_of(q, what)
            yield f"{name}, {kind}, modes", [modes.values, modes.person, modes.distance(s)]
            yield f"{name}, {kind}", [meter(q, what), formula_chance(modes), _sizes_open(what)]
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
    "typed": in_typed_numbers,
    "cells": in_cells,
    "equations": in_equations,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_model_cards(case: str) -> None:
    compare_numbers(f"model_card_{case}", CASES[case]())
