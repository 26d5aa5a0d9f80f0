"""The attack on a report's own numbers that reads all groups at once, as reports were attacked before model cards were.

Sizes and rates of all K groups are one set of equations, on which the attacker's (n, K) probabilities are projected
together. Which counts a printed rate leaves is found by printing every count.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from core.estimates import proportion
from core.model_card import ReleasedPeople
from core.projection import Constraints, project
from core.report.canonical import number_of, printed

PARTS = {"test_rate": (0, 1, 2, 3), "test_tpr": (2, 3), "test_fpr": (0, 1)}
"""Rate -> the patterns, prediction + 2 · label, of the people it is about."""


def _stated(estimate: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple(number_of(estimate[name]) for name in ("value", "low", "high"))


def _counts(rates: list[Mapping[str, Any]], accepted: int) -> list[tuple[int, ...]]:
    """Return all counts of accepted people by group that add up and would be printed as these rates."""
    ways = []
    for rate in rates:
        every = ((k, proportion(k, int(rate["n"]), level=rate["level"])) for k in range(int(rate["n"]) + 1))
        ways.append([k for k, one in every if printed(one.value, one.low, one.high) == _stated(rate)])
    return [found for found in product(*ways) if sum(found) == accepted]


def attacked(document: Mapping[str, Any], people: ReleasedPeople) -> tuple[float, np.ndarray]:
    """Return how many bits the truth costs less after reading, and who was open before and is nearly certain after."""
    pattern, k = people.predictions[0] + 2 * people.labels, len(people.group_names)
    codes = [people.group_names.index(group["group"]) for group in document["groups"]]
    rows: list[tuple[np.ndarray, int, float, float]] = []  # patterns, group, least, most
    for part, inside in PARTS.items():
        rates = [group[part] for group in document["groups"]]
        if None in rates:
            continue
        size, hits = np.zeros(4), np.zeros(4)
        size[list(inside)], hits[[one for one in inside if one & 1]] = 1.0, 1.0
        counts = np.array(_counts(rates, int(np.isin(pattern, np.flatnonzero(hits)).sum())))
        for place, (code, rate) in enumerate(zip(codes, rates, strict=True)):
            rows.append((size, code, rate["n"], rate["n"]))
            rows.append((hits, code, counts[:, place].min(), counts[:, place].max()))
    before = after = people.posteriors
    known = [np.kron(row, np.ones(k)) for row in np.eye(4)]  # everybody is in one group
    kept = []
    for row in sorted(rows, key=lambda row: row[3] - row[2]):  # equations that follow from others are left out
        made = np.kron(row[0], np.eye(k)[row[1]])
        if np.linalg.matrix_rank(np.vstack([*known, made])) > len(known):
            known.append(made)
            kept.append(row)
    if kept:
        both = [(w, g, 1, high, low == high) for w, g, low, high in kept]
        both += [(w, g, -1, -low, False) for w, g, low, high in kept if low < high]
        told = project(
            before,
            Constraints(
                pattern=pattern.astype(np.intp),
                weights=np.array([sign * w for w, _, sign, _, _ in both], dtype=np.float64),
                groups=np.array([np.eye(k)[g] for _, g, *_ in both]),
                bound=np.array([bound for *_, bound, _ in both], dtype=np.float64),
                equality=np.array([exact for *_, exact in both]),
            ),
        )
        assert told.status == "converged"
        after = told.probability
    n = np.arange(len(pattern))
    gain = np.log2(after[n, people.codes]) - np.log2(before[n, people.codes])
    top = before.max(axis=1)
    return float(gain.sum()), np.flatnonzero((top >= 0.5) & (top <= 0.95) & (after.max(axis=1) > 0.995))
