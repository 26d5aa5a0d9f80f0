"""Numbers of one attacker that no policy limits: before and after the correction, step by step, and controls.

They are rows of experiments. The settings of the study say which attacker it is. The tolerance that is disclosed is the
settings', as it is; where they name none it is the model's own, and for a model trained for none the smallest that
holds from there on. Under the paper's protocol it is always raised until it holds.

The unknown constraint: attackers without a disclosed tolerance measure one (Ferry et al. 2023, V-B). They know
predictions, labels and the sensitive attribute on their own attack set, measure the four metrics there, and take the
metric with the smallest violation, with that violation as tolerance. Equalized odds is the larger of predictive
equality and equal opportunity, so it is never the smallest alone and, ties going to the metric named first, it is never
taken; the paper says so too, and counts a model trained for it as never identified. What is taken instead may still be
true of the people under attack, or false: the measured tolerance holds of the attack set. Beside the known one (tables
IV and V) both corrections start from the same guess on the same records and differ only in metric and tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...adversaries import AttackedRecords, permuted_by_set
from ...base.errors import InputError
from ...base.validation import binary_array, one_length
from ...models import CONSTRAINED_METHODS, GIVEN_PREDICTIONS, TOLERANCE_METHODS
from ...stats.estimates import Estimate, certain, difference, majority_share
from ...stats.fairness import METRICS, group_codes, row_sets, unfairness
from ..study import Check, Measurement, not_run
from .attribute_attacks import (
    IDENTIFIABLE,
    KINDS,
    PROTOCOLS,
    CorrectionResult,
    CorrectionSettings,
    attack_model,
)
from .attribution import BUILDS_ON, MEASURES, STEP_TITLES, Attribution, LeakStep
from .disclosure import Disclosure, disclose
from .exact import feasible_tolerance, smallest_tolerance

_BASELINE = "the majority-class baseline"
_BEFORE = "the same attack before disclosure"

ATTACK_NUMBERS = (
    Check(
        name="attack_before",
        title="Attack accuracy before disclosure",
        unit="percent",
        definition="Accuracy of the attacker of the settings before the correction.",
    ),
    Check(
        name="attack_after",
        title="Attack accuracy after disclosure",
        unit="percent",
        definition="Accuracy of the same attacker after the correction, beside that before.",
    ),
    Check(
        name="attack_gain",
        title="Gain of the attack by disclosure",
        unit="points",
        definition="Accuracy after the correction minus that before, on the same people.",
    ),
    Check(
        name="attack_balanced_before",
        title="Balanced attack accuracy before disclosure",
        unit="percent",
        definition="Mean of the groups' accuracies before the correction.",
    ),
    Check(
        name="attack_balanced_after",
        title="Balanced attack accuracy after disclosure",
        unit="percent",
        definition="Mean of the groups' accuracies after the correction, beside that before.",
    ),
    Check(
        name="tolerance_used",
        title="Tolerance that the attacker used",
        unit="gap",
        definition="The disclosed tolerance, or the one that it was raised to.",
    ),
    Check(
        name="tolerance_holds",
        title="The tolerance used holds",
        unit="fact",
        definition="1 where the model keeps the tolerance used on the attacked records, else 0.",
    ),
)

CONTROL_NUMBERS = (
    Check(
        name="permuted_gain",
        title="Gain with permuted predictions",
        unit="points",
        definition="Gain of the same correction with the predictions of other people: a control.",
    ),
    Check(
        name="own_accuracy",
        title="Attack accuracy on the attacker's own records",
        unit="percent",
        definition="Accuracy before disclosure on the records that the attacker tunes on.",
    ),
)

ESTIMATE_NUMBERS = (
    Check(
        name="estimated_after",
        title="Attack accuracy with an estimated constraint",
        unit="percent",
        definition="Accuracy after a correction with the metric and tolerance that the attacker estimates, beside that "
        "with the constraint that the model was trained for (Ferry et al. 2023, tables IV and V).",
    ),
    Check(
        name="estimated_difference",
        title="Estimated constraint minus the true one",
        unit="points",
        definition="Accuracy with the estimated constraint minus that with the one that the model was trained for.",
    ),
    *(
        Check(
            name=f"estimates_{metric}",
            title=f"The attacker estimates {metric.replace('_', ' ')}",
            unit="fact",
            definition="1 where this is the metric that the attacker estimates, else 0.",
        )
        for metric in IDENTIFIABLE
    ),
)

_UNITS = {"accuracy": "percent", "balanced_accuracy": "percent", "log_loss": "nats"}
_CHANGE_UNITS = {"accuracy": "points", "balanced_accuracy": "points", "log_loss": "nats"}


def value_name(step: str, measure: str) -> str:
    """Return the name of what an attacker reaches at a step of the attribution."""
    return f"{measure}_{step}"


def change_name(step: str, measure: str) -> str:
    """Return the name of what a step of the attribution changes."""
    return f"{measure}_change_{step}"


STEP_NUMBERS = (
    *(
        Check(
            name=value_name(step, measure),
            title=f"{STEP_TITLES[step]}: {measure.replace('_', ' ')}",
            unit=_UNITS[measure],
            definition="What the attacker reaches with this knowledge, beside the step it builds on.",
        )
        for step in ("majority", *BUILDS_ON)
        for measure in MEASURES
    ),
    *(
        Check(
            name=change_name(step, measure),
            title=f"{STEP_TITLES[step]}: change in {measure.replace('_', ' ')}",
            unit=_CHANGE_UNITS[measure],
            definition="What this knowledge changes, against the step it builds on.",
        )
        for step in BUILDS_ON
        for measure in MEASURES
    ),
)

NUMBERS = (*ATTACK_NUMBERS, *CONTROL_NUMBERS, *ESTIMATE_NUMBERS, *STEP_NUMBERS)


def number_of(name: str, result: CorrectionResult, settings: CorrectionSettings) -> Measurement:
    """Return one of `NUMBERS`; those that are made together are made once."""
    measure = next(
        measure
        for numbers, measure in _MEASURED.items()
        if name in {number.name for number in numbers}
    )
    key = f"{measure.__name__} {settings}"
    return result.subject.once(key, lambda: measure(result, settings))[name]


def disclosed_to(result: CorrectionResult, settings: CorrectionSettings) -> Disclosure:
    """Return what the attacker of the settings makes of the tolerance; see above for which that is."""
    config = result.config
    if settings.tolerance is None:
        tolerance = config.tolerance
    else:
        tolerance = settings.tolerance
    has_tolerance = settings.tolerance is not None or config.method in (
        *TOLERANCE_METHODS,
        GIVEN_PREDICTIONS,
    )
    return result.disclose(
        tolerance,
        adversary=settings.adversary,
        cost=settings.cost,
        as_published=settings.as_published,
        until_true=settings.as_published or not has_tolerance,
    )


def _attack(result: CorrectionResult, settings: CorrectionSettings) -> Mapping[str, Measurement]:
    now = disclosed_to(result, settings)
    n = now.before.n
    chance = certain(1.0 / len(result.group_names), n)
    measurements = (
        _measurement("attack_before", now.before, now.majority, _BASELINE),
        _corrected("attack_after", now, now.after, now.before, _BEFORE),
        _corrected("attack_gain", now, now.gain, now.before, _BEFORE),
        _measurement("attack_balanced_before", now.balanced_before, chance, "chance"),
        _corrected("attack_balanced_after", now, now.balanced_after, now.balanced_before, _BEFORE),
        _measurement("tolerance_used", certain(now.used, n)),
        _measurement("tolerance_holds", certain(float(now.is_true), n)),
    )
    return _by_name(*measurements)


def _measurement(
    name: str, estimate: Estimate, control: Estimate | None = None, control_name: str = ""
) -> Measurement:
    return Measurement(check=name, estimate=estimate, control=control, control_name=control_name)


def _corrected(
    name: str,
    now: Disclosure,
    estimate: Estimate | None,
    control: Estimate | None,
    control_name: str,
) -> Measurement:
    """Return what follows from a correction; why there is none; and that it is not proved optimal, if it is not."""
    status = str(now.certificate.status)
    if estimate is None:
        return not_run(
            name, f"No correction with tolerance {now.used:g} was found: the solver says {status}."
        )
    if status == "optimal":
        proof = ""
    else:
        proof = "The correction is feasible, not proven optimal."
    return Measurement(
        check=name, estimate=estimate, control=control, control_name=control_name, reason=proof
    )


def _by_name(*measurements: Measurement) -> dict[str, Measurement]:
    return {measurement.check: measurement for measurement in measurements}


def _controls(result: CorrectionResult, settings: CorrectionSettings) -> Mapping[str, Measurement]:
    now = disclosed_to(result, settings)
    attacker = {
        "adversary": settings.adversary,
        "cost": settings.cost,
        "as_published": settings.as_published,
    }
    permuted = result.disclose(now.used, permuted=True, **attacker)  # type: ignore[arg-type]
    _, held_out = result.attack(settings.adversary, as_published=settings.as_published)
    majority = majority_share(held_out.truth)
    return _by_name(
        _corrected(
            "permuted_gain",
            permuted,
            permuted.gain,
            now.gain,
            "the gain with the model's predictions",
        ),
        _measurement("own_accuracy", held_out.accuracy, majority, _BASELINE),
    )


def _estimates(result: CorrectionResult, settings: CorrectionSettings) -> Mapping[str, Measurement]:
    """Return what an attacker reaches who estimates the constraint from the records they know."""
    dataset = result.subject.dataset
    known_rows = result.subject.splits.attacker_rows
    estimate = estimate_constraint(
        result.model.predictions[known_rows],
        dataset.sensitive[known_rows],
        dataset.labels[known_rows],
    )
    facts = {
        f"estimates_{metric}": certain(float(estimate[0] == metric), known_rows.size)
        for metric in IDENTIFIABLE
    }
    return _by_name(
        *_compared(result, settings, estimate),
        *(_measurement(name, fact) for name, fact in facts.items()),
    )


def _compared(
    result: CorrectionResult, settings: CorrectionSettings, estimate: tuple[str, float]
) -> tuple[Measurement, Measurement]:
    """Return the accuracy with the estimated constraint, and its difference to that with the true one."""
    config = result.config
    promised = None
    if config.method in CONSTRAINED_METHODS:
        promised = config.metric, config.tolerance
    true, estimated, gained = compare_constraints(
        *result.attack(settings.adversary), estimate, promised, seed=config.seed
    )
    names = ("estimated_after", "estimated_difference")
    if true is None:
        after = _corrected(names[0], estimated, estimated.after, None, "")
        return after, not_run(names[1], "The model was trained for no constraint.")
    if true.after is None:
        unsolved = _corrected(names[0], true, None, None, "")
        return unsolved, not_run(names[1], unsolved.reason)
    beside = "the same attack with the true constraint"
    return (
        _corrected(names[0], estimated, estimated.after, true.after, beside),
        _corrected(names[1], estimated, gained, true.after, beside),
    )


_TIE = 1e-12
"""Violations closer than this are the same number, computed from different counts."""


def estimate_constraint(
    predictions: npt.ArrayLike, sensitive: npt.ArrayLike, labels: npt.ArrayLike
) -> tuple[str, float]:
    """Return the metric the model violates least on the attack set, and by how much: the tolerance, in [0, 1].

    It is the first in the order of `core.stats.fairness.METRICS` where several tie. Raises `InputError` as
    `violations`, or if no metric can be measured because there is only one group.
    """
    measured = violations(predictions, sensitive, labels)
    defined = {metric: value for metric, value in measured.items() if not math.isnan(value)}
    if not defined:
        raise InputError(
            f"The attack records must hold at least two groups, got {np.unique(sensitive).size}."
        )
    smallest = min(defined.values())
    return next(item for item in defined.items() if item[1] <= smallest + _TIE)


def violations(
    predictions: npt.ArrayLike, sensitive: npt.ArrayLike, labels: npt.ArrayLike
) -> dict[str, float]:
    """Return the unfairness by each metric, nan where a row set holds fewer than two groups.

    The audited model's answers for some records and their labels, 0 or 1, and their groups, any number of them from
    two, have the shape (n,). Raises `InputError` if an argument breaks its rule.
    """
    answers = binary_array(predictions, name="predictions")
    label_codes = binary_array(labels, name="labels")
    _, groups = group_codes(sensitive)
    n = one_length(predictions=answers, sensitive=groups, labels=label_codes)
    measured = {}
    for metric in METRICS:  # nan where one group, or nobody, is left to compare on a row set
        sets = [
            groups if rows is None else groups[rows] for _, rows in row_sets(metric, label_codes, n)
        ]
        alone = any(np.unique(inside).size < 2 for inside in sets)
        measured[metric] = (
            math.nan if alone else unfairness(answers, groups, metric=metric, labels=label_codes)
        )
    return measured


def compare_constraints(
    attacked: AttackedRecords,
    held_out: AttackedRecords,
    estimate: tuple[str, float],
    promised: tuple[str, float] | None,
    *,
    seed: int = 0,
) -> tuple[Disclosure | None, Disclosure, Estimate | None]:
    """Correct the same guess with the real and with the estimated constraint, at the published cost.

    Returned are what disclosing the real one changes, None for a model trained for none; the same of the estimated one,
    whose `achieved` and `is_true` say whether it holds of the people under attack, and whose `after` is None where no
    answer can meet it; and corrected accuracy with the estimate minus that with the real constraint, None where either
    is missing. Its interval is that of different people; they are the same ones, which makes it wider than needed.

    Parameters
    ----------
    attacked, held_out : AttackedRecords
        As for `core.studies.correction.disclose`, the same for both corrections.
    estimate : (metric, tolerance)
        From `estimate_constraint` on the attacker's own records. A tolerance that no answer can meet is raised to the
        smallest that one can (the attacker knows all that this takes), but never for truth, which they cannot know.
    promised : (metric, tolerance) or None
        What the model was trained for, the tolerance raised until the model satisfies it, as published; None for a
        method that is trained for nothing.
    seed : int
        Fixes the people resampled for the intervals.
    """
    real = None
    if promised is not None:
        real = disclose(
            attacked,
            held_out,
            tolerance=promised[1],
            metric=promised[0],
            raise_until_true=True,
            seed=seed,
        )
    metric, tolerance = estimate
    needed = smallest_tolerance(
        attacked.predictions,
        metric=metric,
        labels=attacked.labels,
        n_groups=attacked.n_groups,
    )
    tolerance = feasible_tolerance(tolerance, needed)
    estimated = disclose(attacked, held_out, tolerance=tolerance, metric=metric, seed=seed)
    accuracy_difference = None
    if real is not None and real.after is not None and estimated.after is not None:
        accuracy_difference = replace(difference(estimated.after, real.after), n=real.after.n)
    return real, estimated, accuracy_difference


def _steps(result: CorrectionResult, settings: CorrectionSettings) -> Mapping[str, Measurement]:
    return step_measurements(controlled_attribution(result, settings))


def step_measurements(leak: Attribution) -> Mapping[str, Measurement]:
    """Return what an attacker reaches at each step of an attribution, and what the step changes."""
    by_step = {step.step: step for step in leak.steps}
    return _by_name(
        *(_reached(step, measure, by_step) for step in leak.steps for measure in MEASURES),
        *(
            _changed(step, measure, by_step)
            for step in leak.steps
            if step.builds_on
            for measure in MEASURES
        ),
    )


def controlled_attribution(result: CorrectionResult, settings: CorrectionSettings) -> Attribution:
    """Return the attribution of the attacker's kind, with one who learned from permuted predictions as control."""
    kind = next(name for name, adversaries in KINDS.items() if settings.adversary in adversaries)
    if settings.tolerance is None:
        tolerance = result.config.tolerance
    else:
        tolerance = settings.tolerance
    subject = result.subject

    def make() -> Attribution:
        splits = subject.splits
        dataset = subject.dataset
        seed = subject.config.seed
        sets = {name: getattr(splits, name) for name in ("train", "attack", "validation", "test")}
        permuted = permuted_by_set(subject.model.predictions, dataset.labels, sets, seed=seed)
        _, with_predictions = KINDS[kind]
        control, _ = attack_model(
            with_predictions, PROTOCOLS[0], dataset, splits, permuted, config=subject.config
        )
        return result.attribution(kind, tolerance, permuted=control)

    return subject.once(f"attribution with control {kind} {tolerance!r}", make)


def _reached(step: LeakStep, measure: str, by_step: Mapping[str, LeakStep]) -> Measurement:
    name = value_name(step.step, measure)
    if step.reasons or not step.values[measure].seeds:
        return not_run(name, " ".join(step.reasons))
    return _beside(name, step.values[measure].estimate, step, measure, by_step)


def _changed(step: LeakStep, measure: str, by_step: Mapping[str, LeakStep]) -> Measurement:
    name = change_name(step.step, measure)
    change = step.changes[measure]
    if step.reasons or not change.seeds:
        return not_run(
            name, " ".join(step.reasons) or "The step it builds on could not be measured."
        )
    return _beside(name, change.estimate, step, measure, by_step)


def _beside(
    name: str, estimate: Estimate, step: LeakStep, measure: str, by_step: Mapping[str, LeakStep]
) -> Measurement:
    """Return a measurement of a step beside the one it builds on."""
    if step.builds_on is None or by_step[step.builds_on].reasons:
        return _measurement(name, estimate)
    return _measurement(
        name,
        estimate,
        by_step[step.builds_on].values[measure].estimate,
        STEP_TITLES[step.builds_on],
    )


_MEASURED: Mapping[
    tuple[Check, ...], Callable[[CorrectionResult, CorrectionSettings], Mapping[str, Measurement]]
] = {
    ATTACK_NUMBERS: _attack,
    CONTROL_NUMBERS: _controls,
    ESTIMATE_NUMBERS: _estimates,
    STEP_NUMBERS: _steps,
}
