"""Other knowledge than a true tolerance, and the controls that keep what is found honest.

Control. The constraint says something about people only through their predictions. Here the attacker corrects the very
same guess with permuted predictions: shuffled within the row sets the metric compares groups on (everybody for
statistical parity, each label for the others), so that the rates, the counts a correction may reach and the smallest
tolerance stay exactly as they were, while the permuted answers are unrelated to the groups and the constraint stays
true of them up to chance. A gain that survives this does not come from what the model said about anybody.

More than a bound. Ferry et al. (2023, VII) leave the group proportions, the exact unfairness and several metrics as
future work. Every correction with these starts from the same guess at the same price, whose exponent is chosen for the
bound alone, so that only what is known differs.

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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...adversaries import AttackedRecords
from ...base.errors import InputError
from ...base.serialize import Result
from ...base.validation import Codes, Floats, binary_array, one_length
from ...stats.estimates import Estimate, accuracy, accuracy_gain, difference
from ...stats.fairness import METRICS, group_codes, row_sets, unfairness
from .attribute_attacks import CorrectionResult
from .disclosure import Disclosure, corrected, disclose, prices_of, true_unfairness
from .exact import feasible_tolerance, smallest_tolerance, true_tolerance
from .problem import Correction, Disclosed, SolverCertificate, correct_jointly

_SECONDS_OF_MORE = 30.0
"""Time each of these corrections may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreDisclosed(Result):
    """What one more disclosure changes.

    `knowledge` is "bound"; "bound_shares", with the exact group shares; "exact", the exact unfairness; "exact_shares";
    or "all_metrics", three metrics at once.
    Accuracy of the guess all corrections start from, accuracy after correction, and the change; the latter are None,
    and `reason` says why, when there is no correction.
    """

    knowledge: str
    before: Estimate
    after: Estimate | None
    gain: Estimate | None
    n_changed: int | None
    certificate: SolverCertificate
    reason: str


def disclose_more(
    result: CorrectionResult,
    tolerance: float,
    *,
    adversary: str = "features",
    cost: str = "published",
    as_published: bool = False,
) -> tuple[MoreDisclosed, ...]:
    """Correct the same guess with every kind of knowledge.

    The arguments are those of `CorrectionResult.disclose`; the tolerance, in [0, 1], is disclosed as it is. The exact
    unfairness and the shares are true of the attacked records; of the three metrics (all but equalized odds, which is
    two of them) each is disclosed with the smallest true bound in steps of 0.001.

    The intervals of the bound are those of `CorrectionResult.disclose`; the others take the changed guesses as given,
    which is narrower.
    """
    attacked, held_out = result.attack(adversary, as_published=as_published)
    if cost == "log_odds":
        guess = attacked.calibrated_guess
    else:
        guess = attacked.guess
    prices, _ = prices_of(attacked, held_out, tolerance, result.config.metric, cost)
    before = accuracy(attacked.truth, guess)
    corrections = _corrections(attacked, guess, prices, result.config.metric, tolerance)
    bound, *further = (
        _more_disclosed(knowledge, correction, attacked, guess, before)
        for knowledge, correction in corrections.items()
    )
    if bound.after is not None:
        alone = result.disclose(
            tolerance, adversary=adversary, cost=cost, as_published=as_published, until_true=False
        )
        bound = replace(bound, after=alone.after, gain=alone.gain)
    return bound, *further


def _corrections(
    attacked: AttackedRecords, guess: Codes, prices: Floats | None, metric: str, tolerance: float
) -> dict[str, Correction]:
    """Return the correction of one guess with each kind of knowledge."""
    truth = attacked.truth
    shares = (np.bincount(truth, minlength=attacked.n_groups) / truth.size).tolist()
    exact = true_unfairness(attacked, truth, metric)
    disclosures: dict[str, dict[str, Any]] = {
        "bound": {"tolerance": tolerance},
        "bound_shares": {"tolerance": tolerance, "group_shares": shares},
        "exact": {"unfairness": exact},
        "exact_shares": {"unfairness": exact, "group_shares": shares},
    }
    corrections = {
        knowledge: corrected(
            attacked, guess, prices, metric, time_limit=_SECONDS_OF_MORE, **arguments
        )
        for knowledge, arguments in disclosures.items()
    }
    bounds = [
        Disclosed(
            predictions=attacked.predictions,
            metric=name,
            tolerance=true_tolerance(0.0, true_unfairness(attacked, truth, name)),
            labels=attacked.labels,
        )
        for name in IDENTIFIABLE
    ]
    jointly = correct_jointly(
        guess, bounds, cost=prices, n_groups=attacked.n_groups, time_limit=_SECONDS_OF_MORE
    )
    return {**corrections, "all_metrics": jointly}


def _more_disclosed(
    knowledge: str,
    correction: Correction,
    attacked: AttackedRecords,
    guess: Codes,
    before: Estimate,
) -> MoreDisclosed:
    """Return what a correction changes; the interval takes the changed guesses as given."""
    after = correction.reconstruction
    reached = gain = None
    if after is not None:
        reached = accuracy(attacked.truth, after)
        gain = accuracy_gain(attacked.truth, guess, after)
    return MoreDisclosed(
        knowledge=knowledge,
        before=before,
        after=reached,
        gain=gain,
        n_changed=correction.n_changed,
        certificate=correction.certificate,
        reason=correction.reason,
    )


IDENTIFIABLE = METRICS[:3]
"""The metrics an estimate can name: all but equalized odds, which is two of them."""

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
