"""The map of fairness tolerance and privacy budget: an experiment of private fair trees, drawn as heat.

Each cell is a tree (`core.models.private_fair`) trained for the tolerance at the budget, which is audited: what its
disclosed tolerance adds to the best attacker, and how well its training records are distinguished from others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..auditing.plan import AuditPlan
from ..charts.drawing import Drawing
from ..charts.heat import draw_heat
from ..stats.estimates import Estimate, epsilon_text, mean_over_repeats, point_interval, points
from ..studies.study import Finding
from .experiment import ExperimentRow, GridPoint, grid_of, rows_frame

TOLERANCES = (0.005, 0.02, 0.05, 0.1, 0.2)
EPSILONS = (math.inf, 10.0, 3.0, 1.0, 0.3)
"""Privacy budgets, less privacy first."""

_GAIN = "correction_gain"
_MEMBERS = "membership_auc"

MEASURES = (_GAIN, _MEMBERS)
"""What is measured of a cell."""


def map_points(plan: AuditPlan, seeds: Sequence[int]) -> tuple[GridPoint, ...]:
    """Return the plans of the map: private fair trees over tolerance, budget and seed, attacked without shadows."""
    varied = {
        "model.method": ("private_fair",),
        "model.tolerance": TOLERANCES,
        "model.epsilon": EPSILONS,
        "model.seed": seeds,
        "membership.shadows": (0,),
    }
    return grid_of([plan], varied)


def _cell(rows: Sequence[ExperimentRow], check: str, **values: float) -> Estimate | None:
    """Return a check's number in the cells with these values, over seeds or other keys; None where there is none."""
    estimates = [
        row.measurement.estimate
        for row in rows
        if row.measurement.check == check
        and row.measurement.estimate is not None
        and all(row.values[f"model.{key}"] == value for key, value in values.items())
    ]
    if len(estimates) < 2:
        if estimates:
            return estimates[0]
        return None
    return mean_over_repeats([estimate.value for estimate in estimates])


def draw_map(rows: Sequence[ExperimentRow]) -> Drawing:
    """Draw tolerances across, budgets down, the gain by correction as colour, and the membership AUC beside.

    A gain whose interval excludes 0 is bold. What is not measured yet is empty.
    """
    gains = [
        [_cell(rows, _GAIN, tolerance=t, epsilon=epsilon) for t in TOLERANCES]
        for epsilon in EPSILONS
    ]
    members = [_members(rows, epsilon) for epsilon in EPSILONS]
    values = [[math.nan if gain is None else gain.value for gain in line] for line in gains]
    most = max([0.01, *(value for line in values for value in line if not math.isnan(value))])
    budgets = [f"ε = {epsilon_text(epsilon)}" for epsilon in EPSILONS]
    return draw_heat(
        "Gain by reconstruction correction, by tolerance and privacy budget",
        values,
        [[_gain_text(gain) for gain in line] for line in gains],
        names=([f"{tolerance:g}" for tolerance in TOLERANCES], budgets),
        titles=("Fairness tolerance, trained and disclosed (left: stricter)", "Privacy budget ε"),
        ends=(0.0, most),
        rows=rows_frame(rows),
        beside=("Membership AUC", ["" if auc is None else f"{auc.value:.2f}" for auc in members]),
    )


def _members(rows: Sequence[ExperimentRow], epsilon: float) -> Estimate | None:
    """Return the membership AUC at a budget, of the tree with the middle tolerance."""
    return _cell(rows, _MEMBERS, tolerance=TOLERANCES[len(TOLERANCES) // 2], epsilon=epsilon)


def _gain_text(gain: Estimate | None) -> str:
    if gain is None:
        return ""
    text = points(gain).removesuffix(" points")
    is_clear = gain.low > 0 or gain.high < 0
    if is_clear:
        return f"<b>{text}</b>"
    return text


def map_finding(rows: Sequence[ExperimentRow]) -> Finding:
    """Return the largest gain of the map, and membership at the largest and the smallest budget."""
    cells = {
        (tolerance, epsilon): _cell(rows, _GAIN, tolerance=tolerance, epsilon=epsilon)
        for tolerance in TOLERANCES
        for epsilon in EPSILONS
    }
    measured = {
        cell: gain
        for cell, gain in cells.items()
        if gain is not None and not math.isnan(gain.value)
    }
    if not measured:
        return Finding(point="No model of the map is measured yet.")
    (tolerance, epsilon), gain = max(measured.items(), key=lambda item: item[1].value)
    point = (
        f"Largest gain by disclosing a tolerance: {points(gain)} ({point_interval(gain)}), at tolerance {tolerance:g} "
        f"and ε = {epsilon_text(epsilon)}."
    )
    without, strictest = (_members(rows, epsilon) for epsilon in (EPSILONS[0], EPSILONS[-1]))
    evidence = f"Baseline: the best attacker before disclosure, model by model. Cells measured: {len(measured)}."
    if without is not None and strictest is not None:
        evidence += (
            f" Membership AUC: {_area_text(without)} at ε = {epsilon_text(EPSILONS[0])}, {_area_text(strictest)} at "
            f"ε = {epsilon_text(EPSILONS[-1])}; 0.5 is chance."
        )
    caveat = "The largest of many cells looks larger than it is; the intervals are not corrected for that."
    return Finding(point=point, evidence=evidence, caveats=(caveat,), estimate=gain)


def _area_text(auc: Estimate) -> str:
    return f"{auc.value:.2f} ({auc.low:.2f} to {auc.high:.2f})"
