"""Numbers of one attacker that no policy limits: before and after the correction, step by step, and controls.

They are rows of experiments. The settings of the study say which attacker it is. The tolerance that is disclosed is the
settings', as it is; where they name none it is the model's own, and for a model trained for none the smallest that
holds from there on. Under the paper's protocol it is always raised until it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ...adversaries import permuted_by_set
from ...models import CONSTRAINED_METHODS, GIVEN_PREDICTIONS, TOLERANCE_METHODS
from ...stats.estimates import Estimate, certain, proportion
from ..study import Check, Measurement, not_run
from .attribute_attacks import KINDS, PROTOCOLS, CorrectionResult, CorrectionSettings, attack_model
from .attribution import BUILDS_ON, MEASURES, STEP_TITLES, Attribution, LeakStep
from .disclosure import Disclosure
from .knowledge import IDENTIFIABLE, compare_constraints, estimate_constraint

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
    majority = proportion(int(np.bincount(held_out.truth).max()), held_out.truth.size)
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
    true, estimated, difference = compare_constraints(
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
        _corrected(names[1], estimated, difference, true.after, beside),
    )


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
