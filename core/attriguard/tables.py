"""What AttriGuard's noise does to attackers, as tables: page, terminal, report and files show these numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.attriguard.attackers import ATTACKER_TITLES
from core.attriguard.exposure import Exposure, Point
from core.estimates import mean
from core.quantities import Quantity, Row, Tables, share

MEANING = (
    "Accuracy is expected over random draws of the noise, with 95% CIs over people; balanced: each value counts alike.",
    "Noise budget β: mean number of entries changed per person. Baseline: always the most frequent value; an attacker "
    "below it does better to name that.",
)
"""What the columns mean."""


def tables(exposure: Exposure, points: Sequence[Point], published: Mapping[float, float] | None = None) -> Tables:
    """Return attackers at some noise budgets, beside a printed curve, and how much noise each value takes."""
    budgets = sorted({point.budget for point in points})
    floor = {"attacker": "Baseline", "accuracy": share(exposure.majority)}
    paper = "Jia and Gong (2018): network, noise of a network"
    printed = [{"attacker": paper, "β": at, "accuracy": share(rate)} for at, rate in (published or {}).items()]
    used = f"{exposure.unit} changed"
    return {
        "Accuracy by noise budget": [*map(point_row, points), floor, *printed],
        "Noise used": [{"β": budget, used: Quantity(exposure.spent(budget))} for budget in budgets],
        "Perturbation size": value_rows(exposure, max(budgets, default=0.0)),
    }


def point_row(point: Point) -> dict[str, Any]:
    """Return an attacker at a budget."""
    return {
        "attacker": ATTACKER_TITLES[point.attacker],
        "β": point.budget,
        "accuracy": share(point.accuracy),
        "balanced accuracy": share(point.balanced),
        "accuracy, or the baseline": share(point.reported),
        "trained at β": point.trained_at,
    }


def value_rows(exposure: Exposure, budget: float) -> list[Row]:
    """Return how many people have each value, and how much noise it takes to be read as it, the least first."""
    used = exposure.mechanism(budget).mean(axis=0)
    others = exposure.predicted[:, None] != np.arange(len(exposure.values))
    there = others & exposure.found
    sizes = [mean(exposure.size[there[:, i], i]) for i in range(len(exposure.values))]
    return [
        {
            exposure.attribute: exposure.values[i],
            f"{exposure.unit} changed, mean": Quantity(sizes[i]),
            "people inferred otherwise": int(others[:, i].sum()),
            "noise found for": sizes[i].n,
            "drawn": share(float(used[i])),
            "target share": share(float(exposure.target[i])),
            "share of training people": share(float(exposure.shares[i])),
        }
        for i in sorted(range(len(sizes)), key=lambda i: (not sizes[i].n, sizes[i].value))
    ]
