"""Experiments about a disclosed tolerance: models by tolerance, and by method, each attacked by every attacker.

An attacker knows the tolerance that a model was trained for; of a method without one, the smallest that holds. A model
is trained once for all attackers.

The map of fairness tolerance and privacy budget is an experiment of private fair trees, drawn as heat: each cell is a
tree (`core.models.fair`) trained for the tolerance at the budget, which is audited. It says what the disclosed
tolerance adds to the best attacker, and how well the training records are distinguished from others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from ..auditing.plan import AuditPlan
from ..base.settings import values_of
from ..charts.drawing import Axis, Drawing, Scale, percents, value_of
from ..charts.lines import Curve, Dot, draw_lines, level
from ..charts.planes import draw_heat
from ..models import METHOD_TITLES, METHODS, TOLERANCE_METHODS
from ..stats.estimates import (
    Estimate,
    Spread,
    epsilon_text,
    mean_over_repeats,
    percent,
    point_interval,
    points,
)
from ..stats.fairness import METRIC_TITLES
from ..studies.correction import ATTACKERS, COSTS, CorrectionSettings
from ..studies.correction.charts import HEIGHT, draw_dumbbells, moved, tolerance_axis
from ..studies.correction.findings import signed
from ..studies.study import Finding, Row
from ..studies.subject import AuditConfig
from .experiment import ExperimentRow, Grid, SeedSummary, grid_of, rows_frame, summary_frame

TOLERANCES = (
    0.0, 0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.125, 0.15, 0.175, 0.2,
)  # fmt: skip
"""Trained tolerances of the default curve: 18 values in [0, 0.2], denser near 0."""

PAPER_TOLERANCES = (
    0.0, 0.0005, 0.001, 0.0015, 0.002, 0.0025, 0.003, 0.004, 0.005, 0.006, 0.007, 0.0075, 0.008, 0.009, 0.01,
    0.0125, 0.015, 0.0175, 0.02, 0.0225, 0.025, 0.0275, 0.03, 0.035, 0.04, 0.045, 0.05, 0.055, 0.06, 0.065, 0.07,
    0.075, 0.08, 0.085, 0.09, 0.095, 0.1, 0.11, 0.12, 0.125, 0.13, 0.14, 0.15, 0.16, 0.17, 0.175, 0.18, 0.19, 0.2,
)  # fmt: skip
"""49 trained tolerances in [0, 0.2], denser near 0, as many and as far as in Ferry et al. (2023, IV-B3).

The paper prints their number and range, not the values. These hold all of `TOLERANCES`, so that a long sweep goes
on from a short one.
"""

MEASURES = (
    "attack_before", "attack_after", "attack_gain", "attack_balanced_before", "attack_balanced_after",
    "tolerance_used", "tolerance_holds",
    "accuracy_train", "accuracy_test", "unfairness_train", "unfairness", "difference_train", "difference_test",
)  # fmt: skip
"""What is measured of each model and attacker."""

EVERY_ATTACKER = tuple(
    CorrectionSettings(adversary=adversary, cost=cost, as_published=as_published)
    for adversary, cost, as_published in product(ATTACKERS, COSTS, (False, True))
)
"""Attackers, costs and protocols that a model is attacked with."""


def tolerance_points(plan: AuditPlan, tolerances: Sequence[float], seeds: Sequence[int]) -> Grid:
    """Return the plans of models trained for each tolerance, by the plan's method or one that takes a tolerance."""
    if plan.config.method in TOLERANCE_METHODS:
        method = plan.config.method
    else:
        method = TOLERANCE_METHODS[0]
    return grid_of(
        plan, {"model.method": (method,), "model.tolerance": tolerances, "model.seed": seeds}
    )


def method_points(
    plan: AuditPlan, *, metrics: Sequence[str], seeds: Sequence[int], epsilon: float
) -> Grid:
    """Return the plans of models by every method; the budget is the private trees'.

    Of a method without a tolerance the smallest that holds is disclosed.
    """
    grid: Grid = {}
    for metric, method in product(metrics, METHODS):
        tolerance = 0.0
        if method in TOLERANCE_METHODS:
            tolerance = plan.config.tolerance
        varied = {
            "model.metric": (metric,),
            "model.method": (method,),
            "model.tolerance": (tolerance,),
            "model.epsilon": (epsilon,),
            "model.seed": seeds,
        }
        grid |= grid_of(plan, varied)
    return grid


def attacked_by(grid: Grid, *attackers: CorrectionSettings) -> Grid:
    """Return the same grid with the settings of each attacker."""
    attacked: Grid = {}
    for attacker in attackers:
        settings = {f"correction.{name}": value for name, value in values_of(attacker).items()}
        for plan, values in grid.items():
            attacked_plan = replace(plan, studies=(("correction", attacker),))
            attacked[attacked_plan] = values | settings
    return attacked


def attacked_by_all(grid: Grid) -> Grid:
    """Return the same grid with each of `EVERY_ATTACKER`."""
    return attacked_by(grid, *EVERY_ATTACKER)


def before_disclosure(summary: SeedSummary) -> Spread:
    """Return the accuracy before the correction, over the seeds that have one; over all where none has."""
    return summary.baselines.get("attack_after") or summary.numbers["attack_before"]


def trained_tolerances_finding(
    summaries: Sequence[SeedSummary], config: AuditConfig, *, as_published: bool
) -> Finding:
    """Return what the curve over trained tolerances shows, and what is drawn."""
    gains = [
        summary.numbers["attack_gain"] for summary in summaries if "attack_gain" in summary.numbers
    ]
    helps = sum(gain.low > 0 for gain in gains)
    misleads = sum(gain.high < 0 for gain in gains)
    if len(gains) < 4:
        point = "Sweep over trained tolerances"
    elif helps or misleads:
        point = (
            f"Disclosure helps the attacker significantly at {helps}, misleads at {misleads} "
            f"of {len(gains)} tolerances"
        )
    else:
        point = "Disclosure has no statistically significant effect at any of these tolerances"
    if config.roles:
        attribute = config.roles.attribute
    else:
        attribute = "attribute"
    if as_published:
        holds = "raised until it holds"
    else:
        holds = "hollow: it does not hold for the model"
    counted = " Significant: the 95% CI excludes 0; not corrected for the number of tolerances."
    training_note = ""
    if config.method not in TOLERANCE_METHODS:
        training_note = " All are trained by exponentiated gradient."
    effects = ""
    if len(gains) >= 4 and (helps or misleads):
        effects = f" {_effects_against(summaries)}{counted}"
    return Finding(
        point=point,
        evidence=f"Accuracy at inferring {attribute}. Each point is a model trained for that tolerance, which is "
        f"disclosed; {holds}.{training_note}{effects}",
    )


def _effects_against(summaries: Sequence[SeedSummary]) -> str:
    """Return what the effects of disclosure are counted against: the same attack before it, over all tolerances."""
    values = [
        summary.numbers["attack_before"].value
        for summary in summaries
        if "attack_gain" in summary.numbers
    ]
    least = percent(min(values))
    most = percent(max(values))
    reached = least if least == most else f"{least} to {most}"
    return f"Effects are against the same attack before disclosure ({reached})."


def method_rows(summaries: Sequence[SeedSummary]) -> tuple[Row, ...]:
    """Return methods and metrics with what their models do and reveal."""
    metrics = list(METRIC_TITLES)
    methods = list(METHOD_TITLES)
    ordered = sorted(
        summaries,
        key=lambda summary: (
            metrics.index(summary.values["model.metric"]),
            methods.index(summary.values["model.method"]),
        ),
    )
    return tuple(map(_method_row, ordered))


def _method_row(summary: SeedSummary) -> Row:
    numbers = summary.numbers
    gain = numbers.get("attack_gain")
    gain_text = "" if gain is None else signed(gain.value, gain.low, gain.high)
    return {
        "Metric": METRIC_TITLES[summary.values["model.metric"]],
        "Method": METHOD_TITLES[summary.values["model.method"]],
        "Model accuracy": percent(numbers["accuracy_test"].value),
        "Before / after disclosure": _before_after(summary),
        "Unfairness": f"{numbers['unfairness_train'].value:.4f}",
        "Gain, points": gain_text,
        "Disclosed tolerance holds in": f"{summary.count('tolerance_holds')} of {len(summary.seeds)}",
        "Difference between groups": f"{numbers['difference_train'].value:.4f}",
    }


def _before_after(summary: SeedSummary) -> str:
    after = summary.numbers.get("attack_after")
    if after is None:
        return f"{100 * summary.numbers['attack_before'].value:.1f} → no correction"
    both = f"{100 * before_disclosure(summary).value:.1f} → {100 * after.value:.1f}%"
    seeds = len(summary.seeds)
    if after.seeds == seeds:
        return both
    return f"{both} ({after.seeds} of {seeds} seeds)"


# Charts ---------------------------------------------------------------------------------------------------------------


def draw_methods(summaries: Sequence[SeedSummary]) -> Drawing:
    """Draw the accuracy before and after the correction, one row a method."""
    methods = list(METHOD_TITLES)
    ordered = sorted(summaries, key=lambda summary: methods.index(summary.values["model.method"]))
    lines = [
        moved(
            METHOD_TITLES[summary.values["model.method"]],
            before_disclosure(summary),
            summary.numbers.get("attack_after"),
        )
        for summary in ordered
    ]
    return draw_dumbbells("Accuracy of the attack by fair learning method", lines, "method")


def draw_trained(
    summaries: Sequence[SeedSummary],
    baseline: tuple[Estimate, Estimate, Estimate],
    *,
    attribute: str,
    tolerances: Sequence[float],
) -> Drawing:
    """Draw the accuracy at models trained for different tolerances, each disclosed (Ferry et al. 2023, figures 2-4).

    Parameters
    ----------
    summaries : sequence of SeedSummary
        What is finished so far for one method, metric and attacker, in any order; intervals are over seeds where
        there are several, else over people. A dot is hollow where a model of some seed breaks what is disclosed.
    baseline : (majority, before, strong)
        Estimates from the audited model; they fix the range before any point is there.
    tolerances : sequence of float
        Of all models, also of those that are not finished.
    """
    done = _by_tolerance(summaries)
    corrected = [summary for summary in done if "attack_after" in summary.numbers]
    majority, before, strong = baseline
    alone = all(len(summary.seeds) == 1 for summary in corrected)
    size = 9 if alone else 7
    before_curve = _over(
        done,
        [before_disclosure(summary) for summary in done],
        "before",
        "before",
        grid=tolerances,
        dash="dash",
    )
    after_curve = _over(
        done,
        [summary.numbers.get("attack_after") for summary in done],
        "leak",
        "after",
        grid=tolerances,
        width=3,
        dots=[_dot(summary, interval=alone) for summary in corrected],
        size=size,
    )
    curves = [
        level(majority, "chance", "baseline"),
        level(strong, "strongest", "imputation", dash="dashdot"),
        before_curve,
        after_curve,
    ]
    y = percents(f"Accuracy at inferring {attribute} (%)")
    return _trained(
        "Accuracy by target tolerance", done, curves, y, height=310, holds=[before.value]
    )


def _dot(summary: SeedSummary, *, interval: bool) -> Dot:
    tolerance = summary.values["model.tolerance"]
    return Dot(
        x=tolerance,
        of=summary.numbers["attack_after"],
        hover=f"trained for {tolerance:g}, reached {summary.numbers['unfairness_train'].value:.4f}:",
        interval=interval,
        hollow=summary.count("tolerance_holds") != len(summary.seeds),
    )


def draw_models_accuracy(summaries: Sequence[SeedSummary], tolerances: Sequence[float]) -> Drawing:
    """Draw the models' accuracy on training and test set over the target tolerance; arguments as `draw_trained`."""
    done = _by_tolerance(summaries)
    test = [summary.numbers["accuracy_test"] for summary in done]
    training = [summary.numbers["accuracy_train"] for summary in done]
    curves = [
        level(summary.baselines["accuracy_test"].value, "chance", "majority class")
        for summary in done[-1:]
    ]
    curves.append(_over(done, test, "grey", "test", grid=tolerances, dash="dash"))
    curves.append(_over(done, training, "ink", "training", grid=tolerances))
    return _trained("Accuracy of the models", done, curves, percents("Model accuracy (%)"))


def draw_models_unfairness(
    summaries: Sequence[SeedSummary], tolerances: Sequence[float]
) -> Drawing:
    """Draw the models' unfairness on training and test set over the target tolerance, beside the tolerance.

    Arguments as `draw_trained`.
    """
    done = _by_tolerance(summaries)
    training = [summary.numbers["unfairness_train"] for summary in done]
    test = [summary.numbers["unfairness"] for summary in done]
    y = Scale(
        title="Achieved unfairness",
        span=0.02,
        start=0.0,
        write=lambda number: f"{value_of(number):.3f}",
    )
    axis = y.over([spread.value for spread in (*training, *test)])
    end = min(0.2, axis.ends[1])
    curves = [
        Curve(
            x=[0, end],
            of=[0, end],
            color="ink",
            width=1.5,
            dash="longdash",
            name="target",
            value="",
        ),
        _over(done, test, "grey", "test", grid=tolerances, dash="dash"),
        _over(done, training, "ink", "training", grid=tolerances),
    ]
    return _trained("Unfairness of the models", done, curves, axis)


def _by_tolerance(summaries: Sequence[SeedSummary]) -> list[SeedSummary]:
    return sorted(summaries, key=lambda summary: summary.values["model.tolerance"])


def _over(
    summaries: Sequence[SeedSummary],
    spreads: Sequence[Spread | None],
    color: str,
    name: str,
    **look: Any,
) -> Curve:
    """Return a line through the means over the target tolerance, with a band where the interval is over seeds."""
    band = any(spread is not None and spread.over == "seeds" for spread in spreads)
    tolerances = [summary.values["model.tolerance"] for summary in summaries]
    return Curve(x=tolerances, of=spreads, band=band, color=color, name=name, **look)


def _trained(
    title: str,
    done: Sequence[SeedSummary],
    curves: Sequence[Curve],
    y: Axis | Scale,
    *,
    height: int = HEIGHT,
    **more: Any,
) -> Drawing:
    """Draw curves over the target tolerance."""
    rows = summary_frame(done)
    return draw_lines(
        title, curves, x=tolerance_axis("Target tolerance"), y=y, rows=rows, height=height, **more
    )


# Map of tolerance and budget ------------------------------------------------------------------------------------------

MAP_TOLERANCES = (0.005, 0.02, 0.05, 0.1, 0.2)
MAP_EPSILONS = (math.inf, 10.0, 3.0, 1.0, 0.3)
"""Privacy budgets, less privacy first."""

_GAIN = "correction_gain"
_MEMBERS = "membership_auc"

MAP_MEASURES = (_GAIN, _MEMBERS)
"""What is measured of a cell."""


def map_points(plan: AuditPlan, seeds: Sequence[int]) -> Grid:
    """Return the plans of the map: private fair trees over tolerance, budget and seed, attacked without shadows."""
    varied = {
        "model.method": ("private_fair",),
        "model.tolerance": MAP_TOLERANCES,
        "model.epsilon": MAP_EPSILONS,
        "model.seed": seeds,
        "membership.shadows": (0,),
    }
    return grid_of(plan, varied)


def _cell(rows: Sequence[ExperimentRow], check: str, **values: float) -> Estimate | None:
    """Return a check's number in the cells with these values, over seeds or other keys; None where there is none."""
    cell = {f"model.{key}": value for key, value in values.items()}
    estimates = [
        row.measurement.estimate
        for row in rows
        if row.measurement.check == check
        and row.measurement.estimate is not None
        and cell.items() <= row.values.items()
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
    gains = [_gains(rows, epsilon) for epsilon in MAP_EPSILONS]
    members = [_area_text(_members(rows, epsilon)) for epsilon in MAP_EPSILONS]
    values = [list(map(value_of, line)) for line in gains]
    most = max([0.01, *(value for line in values for value in line if not math.isnan(value))])
    budgets = [f"ε = {epsilon_text(epsilon)}" for epsilon in MAP_EPSILONS]
    return draw_heat(
        "Gain by reconstruction correction, by tolerance and privacy budget",
        values,
        [list(map(_gain_text, line)) for line in gains],
        names=([f"{tolerance:g}" for tolerance in MAP_TOLERANCES], budgets),
        titles=("Fairness tolerance, trained and disclosed (left: stricter)", "Privacy budget ε"),
        ends=(0.0, most),
        rows=rows_frame(rows),
        beside=("Membership AUC", members),
    )


def _gains(rows: Sequence[ExperimentRow], epsilon: float) -> list[Estimate | None]:
    """Return the gains by correction at a budget, one a tolerance."""
    return [
        _cell(rows, _GAIN, tolerance=tolerance, epsilon=epsilon) for tolerance in MAP_TOLERANCES
    ]


def _area_text(auc: Estimate | None) -> str:
    """Write an AUC; "" where it is not measured yet."""
    if auc is None:
        return ""
    return f"{auc.value:.2f}"


def _members(rows: Sequence[ExperimentRow], epsilon: float) -> Estimate | None:
    """Return the membership AUC at a budget, of the tree with the middle tolerance."""
    return _cell(
        rows, _MEMBERS, tolerance=MAP_TOLERANCES[len(MAP_TOLERANCES) // 2], epsilon=epsilon
    )


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
        for tolerance in MAP_TOLERANCES
        for epsilon in MAP_EPSILONS
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
    without, strictest = (
        _members(rows, epsilon) for epsilon in (MAP_EPSILONS[0], MAP_EPSILONS[-1])
    )
    evidence = f"Baseline: the best attacker before disclosure, model by model. Cells measured: {len(measured)}."
    if without is not None and strictest is not None:
        evidence += (
            f" Membership AUC: {_area_interval(without)} at ε = {epsilon_text(MAP_EPSILONS[0])}, "
            f"{_area_interval(strictest)} at ε = {epsilon_text(MAP_EPSILONS[-1])}; 0.5 is chance."
        )
    caveat = "The largest of many cells looks larger than it is; the intervals are not corrected for that."
    return Finding(point=point, evidence=evidence, caveats=(caveat,), estimate=gain)


def _area_interval(auc: Estimate) -> str:
    return f"{auc.value:.2f} ({auc.low:.2f} to {auc.high:.2f})"
