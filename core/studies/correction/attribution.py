"""Where the leak comes from: attack accuracy by successive pieces of knowledge.

The main path: the majority-class baseline; what features and label say (A); what the audited model's predictions add
(A′); what knowing the group proportions adds (a projection on the shares); what the disclosed fairness bound adds on
top (shares and bound together). Beside it: the bound without the shares, and, as control, the attacker who learned from
permuted predictions.

Probabilities in, measures out: every step is a posterior, its guess is the most probable group, and its log-loss is
taken from the posterior itself. Each change compares a step with the one it builds on, on the same people.

Each seed draws its own splits, model and attackers; a step's figure is the mean over seeds with Student's t interval,
and so is its change, which is paired within each seed. With a single seed the interval is the one over people, and
the result says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...adversaries import AttackedRecords
from ...base.serialize import Result
from ...base.validation import Floats, unit_interval
from ...stats.estimates import (
    Estimate,
    Spread,
    accuracy,
    accuracy_gain,
    balanced_accuracy,
    balanced_gain,
    mean,
    summarize_seeds,
)
from ...stats.fairness import keeps, row_sets
from ...stats.projection import ProjectionStatus, project
from .bootstrap import accuracy_by_sample, balanced_accuracy_by_sample, combine_intervals
from .disclosure import true_unfairness
from .soft import Tilt, soft_constraints, steps_in_draws

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

_LARGEST = (1.0, 1.0, math.inf)
"""Largest value of each measure; the smallest is 0."""

LOG_LOSS_CLIP = 1e-12
"""Smallest probability the log-loss is taken of, so that one wrong certainty costs 27.6 nats and not infinity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakStep(Result):
    """What the attacker reaches at one step, and by how much it differs from the step it builds on.

    By measure; the log-loss is in nats a person, probabilities below `LOG_LOSS_CLIP` taken as that. All is over the
    seeds in which the step could be measured, with the `reasons` why not in the others; of one seed it is over its
    people. There are no changes for the majority-class baseline.
    """

    step: str
    values: dict[str, Spread]
    changes: dict[str, Spread]
    reasons: tuple[str, ...] = ()

    @property
    def builds_on(self) -> str | None:
        """The step it is compared with; None of the majority-class baseline."""
        return BUILDS_ON.get(self.step)

    @property
    def n_seeds(self) -> int:
        """Seeds in which it could be measured."""
        return self.values[MEASURES[0]].seeds


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution(Result):
    """One attacker's leak step by step, the main path first: on one seed, or over several.

    Of `n_seeds` seeds in all, the model really satisfied the disclosed bound in `n_true`.
    """

    attacker: str
    metric: str
    tolerance: float
    n_seeds: int
    n_true: int
    steps: tuple[LeakStep, ...]

    def step(self, name: str) -> LeakStep:
        """Return a step by name."""
        return next(step for step in self.steps if step.step == name)


def attribute_leak(
    attacker: str,
    features: AttackedRecords,
    with_predictions: AttackedRecords,
    *,
    prior: Sequence[float],
    metric: str,
    tolerance: float,
    permuted: AttackedRecords | None = None,
    seed: int = 0,
) -> Attribution:
    """Measure one attacker after each piece of knowledge.

    Parameters
    ----------
    features, with_predictions, permuted : AttackedRecords
        The same people by the attacker's posterior from features and label (A), with the model's predictions (A′), and,
        as control, with permuted ones.
    prior : sequence of length K
        Group proportions among the records the attacker knows. Of the attacked, in each resample, the true ones
        become known.
    metric : str
        One of `core.stats.fairness.METRICS`.
    tolerance : float in [0, 1]
        The disclosed bound.
    seed : int
        Fixes the people resampled for the intervals.
    """
    tolerance = unit_interval(tolerance, name="tolerance")
    truth = with_predictions.truth.astype(np.intp)
    posteriors = {
        "majority": np.broadcast_to(
            np.asarray(prior, dtype=np.float64), features.probability.shape
        ),
        "features": features.probability,
        "predictions": with_predictions.probability,
    }
    if permuted is not None:
        posteriors["permuted_predictions"] = permuted.probability
    reasons, tilts = _tell(posteriors, with_predictions, tolerance, metric)
    drawn: dict[str, tuple[Floats, Floats, Floats]] = {}
    if tilts:
        q = posteriors["predictions"]
        pattern = next(iter(tilts.values())).constraints.pattern
        drawn = steps_in_draws(
            q, _surprise(q, truth), truth, pattern, {"predictions": None, **tilts}, seed=seed
        )
    return Attribution(
        attacker=attacker,
        metric=metric,
        tolerance=tolerance,
        n_seeds=1,
        n_true=int(
            keeps(true_unfairness(with_predictions, with_predictions.truth, metric), tolerance)
        ),
        steps=tuple(
            _measure(step, posteriors, reasons, drawn, truth)
            for step in ("majority", *BUILDS_ON)
            if step in posteriors
        ),
    )


def _tell(
    posteriors: dict[str, Floats], records: AttackedRecords, tolerance: float, metric: str
) -> tuple[dict[str, str], dict[str, Tilt]]:
    """Add the posterior after each disclosure; return why where one cannot be met, and the others to draw from."""
    reasons = {}
    tilts = {}
    sets = row_sets(metric, records.labels, records.truth.size)
    parts = tuple(None if rows is None else int(name[-1]) for name, rows in sets)
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
        posteriors[step] = done.probability
        if done.status == ProjectionStatus.INFEASIBLE:
            reasons[step] = done.reason
        else:
            tilts[step] = Tilt(
                constraints=constraints,
                multipliers=done.multipliers,
                parts=parts,
                tolerance=bound,
                shares=sizes is not None,
            )
    return reasons, tilts


def _measure(
    step: str,
    posteriors: dict[str, Floats],
    reasons: dict[str, str],
    drawn: dict[str, tuple[Floats, Floats, Floats]],
    truth: npt.NDArray[np.intp],
) -> LeakStep:
    """Measure one step, and its change against the step it builds on where both can be measured.

    The guess is the most probable group, the first of several: of two groups, group 1 where its P is above 1/2.
    """
    base = BUILDS_ON.get(step)
    if step in reasons:
        nothing = dict.fromkeys(MEASURES, summarize_seeds([]))
        changes = nothing if base else {}
        return LeakStep(step=step, values=nothing, changes=changes, reasons=(reasons[step],))
    guess = posteriors[step].argmax(axis=1)
    surprise = _surprise(posteriors[step], truth)
    values: tuple[Estimate, ...] = (
        accuracy(truth, guess),
        balanced_accuracy(truth, guess),
        mean(surprise),
    )
    gains: tuple[Estimate | None, ...] = (None,) * 3
    if base is not None and base not in reasons:
        before = posteriors[base].argmax(axis=1)
        gains = (
            accuracy_gain(truth, before, guess),
            balanced_gain(truth, before, guess),
            mean(surprise - _surprise(posteriors[base], truth)),
        )
    if step in drawn and step != "predictions":
        now = _in_draws(drawn[step])
        values = tuple(
            combine_intervals(estimate, a, within=(0.0, most))
            for estimate, a, most in zip(values, now, _LARGEST, strict=True)
        )
        if base in drawn:
            was = _in_draws(drawn[base])
            gains = tuple(
                estimate and combine_intervals(estimate, a - b, within=(-most, most))
                for estimate, a, b, most in zip(gains, now, was, _LARGEST, strict=True)
            )
    changes = {}
    if base:
        changes = _by_measure(gains)
    return LeakStep(step=step, values=_by_measure(values), changes=changes)


def _by_measure(estimates: Sequence[Estimate | None]) -> dict[str, Spread]:
    """Return the estimates of one seed by name of their measure."""
    return {
        name: summarize_seeds([estimate])
        for name, estimate in zip(MEASURES, estimates, strict=True)
    }


def _in_draws(drawn: tuple[Floats, Floats, Floats]) -> tuple[Floats, ...]:
    """Return the measures in each of the resamples, of people by group, those inferred correctly, and the log-loss."""
    size, right, log_loss = drawn
    return accuracy_by_sample(size, right), balanced_accuracy_by_sample(size, right), log_loss


def _surprise(posterior: Floats, truth: npt.NDArray[np.intp]) -> Floats:
    """Return the log-loss of each person in nats."""
    return -np.log(np.maximum(posterior[np.arange(truth.size), truth], LOG_LOSS_CLIP))
