"""One model's leak over seeds, with the controls that keep it honest: an experiment about a model and its twin.

Splits, model and attackers are drawn again for every seed, for the model and for the one without mitigation on the same
records. Its tolerance is disclosed, true or not. What each piece of knowledge adds stands beside attackers who learned
from permuted predictions, corrections with permuted predictions, and a constraint that attackers estimate themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..auditing.plan import AuditPlan
from ..models import CONSTRAINED_METHODS
from ..stats.estimates import (
    Row,
    Spread,
    Tables,
    change,
    mean_over_repeats,
    percent,
    share,
    summarize_seeds,
    tolerance_text,
)
from ..stats.fairness import METRIC_TITLES
from ..studies.correction import (
    ATTACKERS,
    KINDS,
    MEASURES,
    Attribution,
    CorrectionSettings,
    LeakStep,
)
from ..studies.correction.attribute_attacks import IDENTIFIABLE
from ..studies.correction.attribution import BUILDS_ON
from ..studies.correction.findings import signed, step_rows
from ..studies.correction.numbers import (
    CONTROL_NUMBERS,
    ESTIMATE_NUMBERS,
    STEP_NUMBERS,
    change_name,
    value_name,
)
from ..studies.study import Finding
from ..studies.subject import AuditConfig
from .attacked_models import attacked_by
from .experiment import ExperimentRow, Grid, SeedSummary, grid_of, summarise

UNMITIGATED = "unmitigated"

MEASURED = (
    "accuracy_test",
    "unfairness_train",
    "difference_train",
    "tolerance_holds",
    "attack_gain",
    *(number.name for number in (*CONTROL_NUMBERS, *ESTIMATE_NUMBERS, *STEP_NUMBERS)),
)
"""What is measured of each model and attacker."""

_COMPARED_STEPS = {
    "features": "features (A)",
    "predictions": "and predictions (A′)",
    "constraint": "and proportions, constraint",
    "constraint_without_shares": "and constraint alone",
}


def leak_points(plan: AuditPlan, seeds: Sequence[int]) -> Grid:
    """Return the plan and its unmitigated twin for every seed, attacked by every attacker."""
    methods = tuple(dict.fromkeys((plan.config.method, UNMITIGATED)))
    grid = grid_of(plan, {"model.seed": seeds, "model.method": methods})
    attackers = [
        CorrectionSettings(adversary=adversary, tolerance=plan.config.tolerance)
        for adversary in ATTACKERS
    ]
    return attacked_by(grid, *attackers)


Summaries = dict[tuple[str, str], SeedSummary]
"""(method, attacker) -> summary over seeds."""


def leak_summaries(rows: Sequence[ExperimentRow]) -> Summaries:
    """Return what is measured so far of a model and its twin, over seeds."""
    return {
        (summary.values["model.method"], summary.values["correction.adversary"]): summary
        for summary in summarise(rows)
    }


def _by_seed(
    rows: Sequence[ExperimentRow], name: str, method: str, adversary: str = "features"
) -> dict[int, float]:
    """Return seed -> number, where it could be measured."""
    return {
        row.seed: row.measurement.estimate.value
        for row in rows
        if row.measurement.check == name
        and row.measurement.estimate is not None
        and (row.values["model.method"], row.values["correction.adversary"]) == (method, adversary)
    }


def attribution_of(summary: SeedSummary, kind: str, config: AuditConfig) -> Attribution:
    """Return what each piece of knowledge adds over the seeds of one attacker."""
    measured = {*summary.numbers, *summary.reasons}
    return Attribution(
        attacker=kind,
        metric=config.metric,
        tolerance=config.tolerance,
        n_seeds=len(summary.seeds),
        n_true=summary.count("tolerance_holds"),
        steps=tuple(
            _step(summary, step)
            for step in ("majority", *BUILDS_ON)
            if value_name(step, MEASURES[0]) in measured
        ),
    )


def _step(summary: SeedSummary, step: str) -> LeakStep:
    values = {measure: _spread(summary, value_name(step, measure)) for measure in MEASURES}
    changes = {}
    if step in BUILDS_ON:
        changes = {measure: _spread(summary, change_name(step, measure)) for measure in MEASURES}
    reason = summary.reasons.get(value_name(step, MEASURES[0]))
    reasons = () if reason is None else (reason,)
    return LeakStep(step=step, values=values, changes=changes, reasons=reasons)


def _spread(summary: SeedSummary, name: str) -> Spread:
    return summary.numbers.get(name) or summarize_seeds([])


def mitigation_rows(measured: Sequence[ExperimentRow], method: str) -> tuple[Row, ...]:
    """Return what mitigation changes, paired by seed: with, without and difference.

    None of it where the chosen model has no mitigation.
    """
    if method == UNMITIGATED:
        return ()
    sources = {
        "model accuracy, test set": ("accuracy_test", "features"),
        "unfairness, training set": ("unfairness_train", "features"),
        "difference between groups, training set": ("difference_train", "features"),
    }
    for kind, (adversary, _) in KINDS.items():
        for step, title in _COMPARED_STEPS.items():
            sources[f"{kind} attacker, {title}"] = (value_name(step, "accuracy"), adversary)
    rows = []
    for title, (name, adversary) in sources.items():
        with_mitigation = _by_seed(measured, name, method, adversary)
        without_mitigation = _by_seed(measured, name, UNMITIGATED, adversary)
        if set(with_mitigation) & set(without_mitigation):
            rows.append({"measure": title, **_paired(with_mitigation, without_mitigation)})
    return tuple(rows)


def _paired(first: Mapping[int, float], second: Mapping[int, float]) -> Row:
    """Return the means over common seeds, and the mean difference within them."""
    seeds = sorted(set(first) & set(second))
    return {
        "with": share(sum(first[seed] for seed in seeds) / len(seeds)),
        "without": share(sum(second[seed] for seed in seeds) / len(seeds)),
        "difference": change(mean_over_repeats([first[seed] - second[seed] for seed in seeds])),
    }


def tolerance_holds_finding(rows: Sequence[ExperimentRow], config: AuditConfig) -> Finding:
    """Return for how many of these models the disclosed tolerance holds."""
    counts = []
    for method in dict.fromkeys((config.method, UNMITIGATED)):
        true = _by_seed(rows, "tolerance_holds", method)
        if method == UNMITIGATED:
            mitigation = "without mitigation"
        else:
            mitigation = "with mitigation"
        counts.append(f"{mitigation} {sum(true.values()):.0f} of {len(true)}")
    return Finding(
        point=f"Tolerance {tolerance_text(config.tolerance)} is disclosed of all these models.",
        evidence=f"It holds: {' · '.join(counts)}.",
    )


def control_findings(summaries: Summaries, config: AuditConfig) -> tuple[Finding, Finding, Finding]:
    """Return the controls: permuted predictions in the correction and in learning, and a constraint estimated."""
    published = summaries[config.method, "features"].numbers
    corrected = "No correction meets the tolerance."
    if "attack_gain" in published and "permuted_gain" in published:
        corrected = (
            f"Change of the published attack: {_signed(published['attack_gain'])} points. With shuffled predictions: "
            f"{_signed(published['permuted_gain'])}."
        )
    learned = []
    for kind, (adversary, _) in KINDS.items():
        summary = summaries[config.method, adversary]
        with_, shuffled, without = (
            percent(_spread(summary, value_name(step, "accuracy")))
            for step in ("predictions", "permuted_predictions", "features")
        )
        learned.append(
            f"{kind.capitalize()} attacker: {with_} with predictions, {shuffled} with shuffled ones, {without} without."
        )
    return (
        Finding(point="Correction with permuted predictions.", evidence=corrected),
        Finding(point="Learning from permuted predictions.", evidence=" ".join(learned)),
        _estimated(summaries, config),
    )


def _signed(spread: Spread) -> str:
    return signed(spread.value, spread.low, spread.high)


def _estimated(summaries: Summaries, config: AuditConfig) -> Finding:
    """Return what an attacker reaches who estimates the constraint (Ferry et al. 2023, tables IV and V)."""
    summary = summaries[config.method, "features"]
    evidence = []
    if config.method in CONSTRAINED_METHODS:
        chance = percent((config.metric in IDENTIFIABLE) / len(IDENTIFIABLE), decimals=0)
        evidence.append(
            f"Seeds with the correct metric: {_identified(summary, config.metric)} (guessing 1 of {len(IDENTIFIABLE)}: "
            f"{chance})."
        )
        twin = summaries.get((UNMITIGATED, "features"))
        if twin is not None:
            evidence.append(f"Without mitigation: {_identified(twin, config.metric)}.")
    else:
        most = max(IDENTIFIABLE, key=lambda metric: summary.count(f"estimates_{metric}"))
        title = METRIC_TITLES[most].lower()
        evidence.append(
            f"Seeds in which the attacker estimates {title}: {_identified(summary, most)}."
        )
    if "estimated_after" in summary.numbers:
        evidence.append(
            f"Accuracy with the estimated constraint: {percent(summary.numbers['estimated_after'].value)}."
        )
    if "estimated_difference" in summary.numbers:
        evidence.append(
            f"With the true one: {percent(summary.baselines['estimated_after'].value)}. Difference: "
            f"{_signed(summary.numbers['estimated_difference'])} points."
        )
    return Finding(
        point="Unknown constraint: the attacker estimates metric and tolerance from records they know.",
        evidence=" ".join(evidence),
    )


def _identified(summary: SeedSummary, metric: str) -> str:
    """Return in how many seeds the attacker estimates a metric; equalized odds is never it."""
    count = 0
    if metric in IDENTIFIABLE:
        count = summary.count(f"estimates_{metric}")
    return f"{count} of {len(summary.seeds)}"


def leak_tables(
    rows: Sequence[ExperimentRow], method: str, attributions: Sequence[Attribution]
) -> Tables:
    """Return the attribution of the leak over seeds, and what mitigation changes."""
    steps = {
        f"What each piece of knowledge adds, {attribution.attacker} attacker": list(
            step_rows(attribution)
        )
        for attribution in attributions
    }
    title = f"With mitigation ({method.replace('_', ' ')}) and without, paired by seed"
    return {**steps, title: list(mitigation_rows(rows, method))}
