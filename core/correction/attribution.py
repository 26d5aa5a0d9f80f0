"""Where the leak comes from: one attacker told one thing after another, measured after each.

The main path: the majority guess; what features and label say (A); what the audited model's predictions add (A′); what
knowing the groups' shares adds (a projection on the shares); what the disclosed fairness bound adds on top (shares
and bound together). Beside it: the bound without the shares, and, as control, the attacker who learned from permuted
predictions.

Probabilities in, measures out: every step is a posterior, its guess is the most probable group, and its log-loss is
taken from the posterior itself. Each change compares a step with the one it builds on, on the same people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.adversaries import AttackedRecords
from core.arrays import Floats
from core.correction.bootstrap import Step, rightly, rightly_balanced, steps_in_draws, widened
from core.correction.disclosure import true_unfairness, won_and_lost
from core.correction.soft import Tilt, soft_constraints
from core.errors import InputError
from core.estimates import (
    Estimate,
    accuracy,
    balanced_accuracy,
    balanced_gain,
    mean,
    not_measured,
    paired_gain,
)
from core.fairness import row_sets
from core.projection import ProjectionStatus, project
from core.serialize import Result
from core.validation import unit_interval

STEP_TITLES = {
    "majority": "Baseline",
    "features": "Features and label (A)",
    "predictions": "and predictions (A′)",
    "shares": "and group proportions",
    "constraint": "and fairness constraint",
    "constraint_without_shares": "A′ and fairness constraint, proportions not known",
    "permuted_predictions": "Control: permuted predictions",
}
"""Step -> what tables call it: the main path in order, then what stands beside it."""

STEPS = tuple(STEP_TITLES)[:5]
"""The main path, in order."""

BUILDS_ON = {
    "features": "majority",
    "predictions": "features",
    "shares": "predictions",
    "constraint": "shares",
    "constraint_without_shares": "predictions",
    "permuted_predictions": "features",
}
"""The step each step is compared with, main path first."""

MEASURES = ("accuracy", "balanced_accuracy", "log_loss")
"""What is measured of each step; of the log-loss, less is more leak."""

_LIMITS = ((0.0, 1.0), (0.0, 1.0), (0.0, math.inf))
"""Smallest and largest value of each measure."""

LOG_LOSS_CLIP = 1e-12
"""Smallest probability the log-loss is taken of, so that one wrong certainty costs 27.6 nats and not infinity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepMeasures(Result):
    """What the attacker reaches at one step, and by how much it differs from the step it builds on.

    The log-loss is in nats a person, probabilities below `LOG_LOSS_CLIP` taken as that. Changes are None for the
    majority guess; with a `reason` why there is no measure all estimates are nan.
    """

    step: str
    builds_on: str | None
    accuracy: Estimate
    balanced_accuracy: Estimate
    log_loss: Estimate
    accuracy_change: Estimate | None
    balanced_accuracy_change: Estimate | None
    log_loss_change: Estimate | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution(Result):
    """One attacker's leak on one seed, step by step; intervals are over people.

    `achieved` is the model's real unfairness on these records; above the tolerance the disclosure is false. The steps
    are the main path, then what stands beside it.
    """

    attacker: str
    metric: str
    tolerance: float
    achieved: float
    steps: tuple[StepMeasures, ...]

    @property
    def is_true(self) -> bool:
        """Whether the model really satisfies the disclosed bound."""
        return self.achieved <= self.tolerance + 1e-12


def attribute_leak(
    attacker: str,
    features: AttackedRecords,
    with_predictions: AttackedRecords,
    *,
    prior: Sequence[float],
    metric: str,
    tolerance: float,
    permuted: AttackedRecords | None = None,
) -> Attribution:
    """Measure one attacker after each thing she is told.

    Parameters
    ----------
    features, with_predictions, permuted : AttackedRecords
        The same people by the attacker's posterior from features and label (A), with the model's predictions (A′), and,
        as control, with permuted ones.
    prior : sequence of length K
        Groups' shares among the records the attacker knows. Of the attacked, in each draw of people, the true ones
        become known.
    metric : str
        One of `core.fairness.METRICS`.
    tolerance : float in [0, 1]
        The disclosed bound.
    """
    tolerance, truth = unit_interval(tolerance, name="tolerance"), with_predictions.truth.astype(np.intp)
    k = features.n_groups
    known = {
        "majority": np.broadcast_to(np.asarray(prior, dtype=np.float64), (truth.size, k)),
        "features": features.probability,
        "predictions": with_predictions.probability,
    }
    if permuted is not None:
        known["permuted_predictions"] = permuted.probability
    for name, posterior in known.items():
        if posterior.shape != (truth.size, k):
            raise InputError(f"The posterior '{name}' must have shape {(truth.size, k)}, got {posterior.shape}.")
    told, reasons, tilts = _told(with_predictions, tolerance, metric)
    known |= told
    drawn = {}
    if tilts:
        drawn = steps_in_draws(
            known["predictions"],
            _surprise(known["predictions"], truth),
            truth,
            next(iter(tilts.values())).constraints.pattern,
            {"predictions": None, **tilts},
        )
    measured = [_measure(step, known, reasons, drawn, truth) for step in ("majority", *BUILDS_ON) if step in known]
    return Attribution(
        attacker=attacker,
        metric=metric,
        tolerance=tolerance,
        achieved=true_unfairness(with_predictions, with_predictions.truth, metric),
        steps=tuple(measured),
    )


def _told(
    records: AttackedRecords, tolerance: float, metric: str
) -> tuple[dict[str, Floats], dict[str, str], dict[str, Tilt]]:
    """Return the posterior after each disclosure, why where one cannot be met, and the others to draw from."""
    known, reasons, tilts = {}, {}, {}
    parts = [
        None if rows is None else int(name[-1]) for name, rows in row_sets(metric, records.labels, records.truth.size)
    ]
    shares = (np.bincount(records.truth, minlength=records.n_groups) / records.truth.size).tolist()
    for step, bound, sizes in (
        ("shares", None, shares),
        ("constraint", tolerance, shares),
        ("constraint_without_shares", tolerance, None),
    ):
        constraints = soft_constraints(
            records.predictions,
            n_groups=records.n_groups,
            tolerance=bound,
            metric=metric,
            labels=records.labels,
            group_shares=sizes,
        )
        done = project(records.probability, constraints)
        known[step] = done.probability
        if done.status == ProjectionStatus.INFEASIBLE:
            reasons[step] = done.reason
        else:
            tilts[step] = Tilt(
                constraints=constraints,
                multipliers=done.multipliers,
                parts=tuple(parts),
                tolerance=bound,
                shares=sizes is not None,
            )
    return known, reasons, tilts


def _in_draws(found: Step) -> tuple[Floats, Floats, Floats]:
    """Return the measures in each of the draws."""
    return rightly(found.size, found.right), rightly_balanced(found.size, found.right), found.log_loss


def _measure(
    step: str,
    known: dict[str, Floats],
    reasons: dict[str, str],
    drawn: dict[str, Step],
    truth: npt.NDArray[np.intp],
) -> StepMeasures:
    """Measure one step, and its change against the step it builds on where both can be measured."""
    base, reason, nothing = BUILDS_ON.get(step), reasons.get(step, ""), not_measured()
    after = known[step]
    guess, surprise = _guess(after), _surprise(after, truth)
    values: tuple[Estimate, ...] = (nothing,) * 3
    changes: tuple[Estimate | None, ...] = (None,) * 3
    if not reason:
        values = accuracy(truth, guess), balanced_accuracy(truth, guess), mean(surprise)
    if base is not None and not reason and base not in reasons:
        before = _guess(known[base])
        changes = (
            paired_gain(*won_and_lost(truth, before, guess), truth.size),
            balanced_gain(truth, before, guess),
            mean(surprise - _surprise(known[base], truth)),
        )
    if step in drawn and step != "predictions" and not reason:
        now = _in_draws(drawn[step])
        values = tuple(widened(own, a, within=limits) for own, a, limits in zip(values, now, _LIMITS, strict=True))
        if base in drawn:
            was = _in_draws(drawn[base])
            changes = tuple(
                own and widened(own, a - b, within=(low - high, high - low))
                for own, a, b, (low, high) in zip(changes, now, was, _LIMITS, strict=True)
            )
    return StepMeasures(
        step=step,
        builds_on=base,
        accuracy=values[0],
        balanced_accuracy=values[1],
        log_loss=values[2],
        accuracy_change=changes[0],
        balanced_accuracy_change=changes[1],
        log_loss_change=changes[2],
        reason=reason,
    )


def _guess(posterior: Floats) -> npt.NDArray[np.intp]:
    """Return the most probable group, the first of several; for two groups, group 1 where its P is above 1/2."""
    return posterior.argmax(axis=1)


def _surprise(posterior: Floats, truth: npt.NDArray[np.intp]) -> Floats:
    """Return the log-loss of each person in nats."""
    return -np.log(np.maximum(posterior[np.arange(truth.size), truth], LOG_LOSS_CLIP))
