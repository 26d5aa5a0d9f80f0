"""Experiments about a disclosed tolerance: models by tolerance, and by method, each attacked by every attacker.

An attacker knows the tolerance that a model was trained for; of a method without one, the smallest that holds. A model
is trained once for all attackers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from ..auditing.plan import AuditPlan
from ..base.settings import values_of
from ..models import METHOD_TITLES, METHODS, TOLERANCE_METHODS
from ..stats.estimates import Spread, percent
from ..stats.fairness import METRIC_TITLES
from ..studies.correction import ATTACKERS, COSTS, CorrectionSettings
from ..studies.correction.findings import signed
from ..studies.study import Finding, Row
from ..studies.subject import AuditConfig
from .experiment import GridPoint, grid_of
from .summary import SeedSummary

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


def tolerance_points(
    plan: AuditPlan, tolerances: Sequence[float], seeds: Sequence[int]
) -> tuple[GridPoint, ...]:
    """Return the plans of models trained for each tolerance, by the plan's method or one that takes a tolerance."""
    if plan.config.method in TOLERANCE_METHODS:
        method = plan.config.method
    else:
        method = TOLERANCE_METHODS[0]
    return grid_of(
        [plan], {"model.method": (method,), "model.tolerance": tolerances, "model.seed": seeds}
    )


def method_points(
    plan: AuditPlan, *, metrics: Sequence[str], seeds: Sequence[int], epsilon: float
) -> tuple[GridPoint, ...]:
    """Return the plans of models by every method; the budget is the private trees'.

    Of a method without a tolerance the smallest that holds is disclosed.
    """
    points: list[GridPoint] = []
    for metric, method in product(metrics, METHODS):
        if method in TOLERANCE_METHODS:
            tolerance = plan.config.tolerance
        else:
            tolerance = 0.0
        varied = {
            "model.metric": (metric,),
            "model.method": (method,),
            "model.tolerance": (tolerance,),
            "model.epsilon": (epsilon,),
            "model.seed": seeds,
        }
        points += grid_of([plan], varied)
    return tuple(points)


def attacked_by(points: Sequence[GridPoint], attacker: CorrectionSettings) -> tuple[GridPoint, ...]:
    """Return the same points with the settings of one attacker."""
    settings = {f"correction.{name}": value for name, value in values_of(attacker).items()}
    return tuple(
        GridPoint(
            values={**point.values, **settings},
            plan=replace(point.plan, studies=(("correction", attacker),)),
        )
        for point in points
    )


def attacked_by_all(points: Sequence[GridPoint]) -> tuple[GridPoint, ...]:
    """Return the same points with each of `EVERY_ATTACKER`."""
    return tuple(point for attacker in EVERY_ATTACKER for point in attacked_by(points, attacker))


def before_disclosure(summary: SeedSummary) -> Spread:
    """Return the accuracy before the correction, over the seeds that have one; over all where none has."""
    return summary.baselines.get("attack_after") or summary.numbers["attack_before"]


def trained_tolerances(
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
    if config.method in TOLERANCE_METHODS:
        training_note = ""
    else:
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
    return {
        "Metric": METRIC_TITLES[summary.values["model.metric"]],
        "Method": METHOD_TITLES[summary.values["model.method"]],
        "Model accuracy": percent(numbers["accuracy_test"].value),
        "Before / after disclosure": _before_after(summary),
        "Unfairness": f"{numbers['unfairness_train'].value:.4f}",
        "Gain, points": "" if gain is None else signed(gain.value, gain.low, gain.high),
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
