"""Other knowledge than a true tolerance: predictions of other people, more than a bound, a constraint estimated.

Control. The promise says something about people only through their predictions. Here the attacker corrects the very
same guess with permuted predictions: dealt out within the row sets the metric compares groups on (everybody for
statistical parity, each label for the others), so that the rates, the counts a correction may reach and the smallest
tolerance stay exactly as they were, while the permuted answers are unrelated to the groups and the promise stays true
of them up to chance. A gain that survives this does not come from what the model said about anybody.

More than a bound. Ferry et al. (2023, VII) leave the groups' shares, the exact unfairness and several metrics as future
work. Every correction with these starts from the same guess at the same price, whose exponent is chosen for the bound
alone, so that only what is known differs.

The unknown constraint: who is not told a tolerance measures one (Ferry et al. 2023, V-B).

They know predictions, labels and the sensitive attribute on their own attack set, measure the four metrics there, and
take the metric with the smallest violation, with that violation as tolerance. Equalized odds is the larger of
predictive equality and equal opportunity, so it is never the smallest alone and, ties going to the metric named
first, it is never taken; the paper says so too, and counts a model trained for it as never identified. What is taken
instead may still be true of the people under attack, or false: the measured tolerance holds of the attack set.

Beside the known one. Both corrections start from the same guess on the same records and differ only in metric and
tolerance (Ferry et al. 2023, tables IV and V). Nothing is relaxed on its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.adversaries import AttackedRecords
from core.arrays import Codes
from core.correction.disclosure import (
    Disclosure,
    disclose,
    permuted_records,
    prices_of,
    true_unfairness,
    won_and_lost,
)
from core.correction.problem import Disclosed, SolverCertificate, smallest_tolerance, true_tolerance
from core.correction.solve import correct, correct_jointly
from core.errors import InputError
from core.estimates import Estimate, accuracy, paired_gain, proportion
from core.fairness import METRICS, group_codes, row_sets, unfairness
from core.serialize import Result
from core.validation import binary_array, choice, one_length, unit_interval

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutedControl(Result):
    """A correction beside its control, with the model's answers and with these permuted.

    The control's `achieved` is the unfairness of the permuted answers; above `used`, chance has made the promise false
    of them.
    """

    real: Disclosure
    permuted: Disclosure

    def to_frame(self) -> pandas.DataFrame:
        """Return one row for the real predictions and one for the permuted ones."""
        import pandas as pd

        rows = []
        for name, told in (("real", self.real), ("permuted", self.permuted)):
            row = {"predictions": name, "tolerance": told.used, "achieved": told.achieved, "changed": told.n_changed}
            rows.append(row | told.limits("before", "after", "gain"))
        return pd.DataFrame(rows)


def permuted_control(
    attacked: AttackedRecords,
    held_out: AttackedRecords,
    *,
    tolerance: float,
    seed: int,
    metric: str = "statistical_parity",
    cost: str = "published",
    raise_until_true: bool = False,
) -> PermutedControl:
    """Correct the same guess with the real and with permuted predictions.

    The arguments are those of `core.correction.disclose`. The control is told the tolerance the real correction used,
    raised or not, and chooses its own exponent, on held-out records with permuted predictions.
    """
    real = disclose(
        attacked,
        held_out,
        tolerance=tolerance,
        metric=metric,
        cost=cost,
        raise_until_true=raise_until_true,
    )
    permuted = disclose(
        permuted_records(attacked, metric=metric, seed=seed, name="attacked"),
        permuted_records(held_out, metric=metric, seed=seed, name="held out"),
        tolerance=real.used,
        metric=metric,
        cost=cost,
    )
    return PermutedControl(real=real, permuted=permuted)


KNOWLEDGE = ("bound", "bound_shares", "exact", "exact_shares", "all_metrics")
"""The bound; bound and exact group shares; the exact unfairness; that and the shares; three metrics at once."""

_SECONDS_OF_MORE = 30.0
"""Time each of these corrections may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreDisclosed(Result):
    """What one more disclosure, `known` of `KNOWLEDGE`, changes.

    Accuracy of the guess all corrections start from, accuracy after correction, and the change; the latter are None,
    and `reason` says why, when there is no correction.
    """

    known: str
    before: Estimate
    after: Estimate | None
    gain: Estimate | None
    n_changed: int | None
    certificate: SolverCertificate
    reason: str


def disclose_more(
    attacked: AttackedRecords,
    held_out: AttackedRecords,
    *,
    tolerance: float,
    metric: str = "statistical_parity",
    cost: str = "published",
) -> tuple[MoreDisclosed, ...]:
    """Correct the same guess with every kind of knowledge.

    The arguments are those of `core.correction.disclose`; the tolerance, in [0, 1], is told as it is. The exact
    unfairness and the shares are true of the attacked records; of the three metrics (all but equalized odds, which is
    two of them) each is told with the smallest true bound in steps of 0.001.

    Intervals take the changed guesses as given, and are narrower than those of `core.correction.disclose`.
    """
    tolerance, metric = unit_interval(tolerance, name="tolerance"), choice(metric, METRICS, name="metric")
    guess = attacked.calibrated_guess if cost == "log_odds" else attacked.guess
    prices, _ = prices_of(attacked, held_out, tolerance, metric, cost)
    counts = np.bincount(attacked.truth, minlength=attacked.n_groups)
    shares = (counts / counts.sum()).tolist()
    exact = true_unfairness(attacked, attacked.truth, metric)
    told: dict[str, dict[str, Any]] = {
        "bound": {"tolerance": tolerance},
        "bound_shares": {"tolerance": tolerance, "group_shares": shares},
        "exact": {"unfairness": exact},
        "exact_shares": {"unfairness": exact, "group_shares": shares},
    }
    common: dict[str, Any] = {"cost": prices, "n_groups": attacked.n_groups, "time_limit": _SECONDS_OF_MORE}
    found = {
        known: correct(guess, attacked.predictions, metric=metric, labels=attacked.labels, **common, **more)
        for known, more in told.items()
    }
    found["all_metrics"] = correct_jointly(guess, [_true_bound(attacked, name) for name in METRICS[:3]], **common)
    truth, before = attacked.truth, accuracy(attacked.truth, guess)
    measured = []
    for known in KNOWLEDGE:
        correction = found[known]
        after = correction.reconstruction
        measured.append(
            MoreDisclosed(
                known=known,
                before=before,
                after=None if after is None else accuracy(truth, after),
                gain=None if after is None else paired_gain(*won_and_lost(truth, guess, after), truth.size),
                n_changed=correction.n_changed,
                certificate=correction.certificate,
                reason=correction.reason,
            )
        )
    return tuple(measured)


def _true_bound(attacked: AttackedRecords, metric: str) -> Disclosed:
    bound = true_tolerance(0.0, true_unfairness(attacked, attacked.truth, metric))
    return Disclosed(predictions=attacked.predictions, metric=metric, tolerance=bound, labels=attacked.labels)


IDENTIFIABLE = METRICS[:3]
"""The metrics an estimate can name: all but equalized odds."""

_TIE = 1e-12
"""Violations closer than this are the same number, computed from different counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatedConstraint(Result):
    """The fairness promise an attacker reads off her own records.

    The metric with the smallest violation, which is the tolerance, in [0, 1]; the first in the order of
    `core.fairness.METRICS` where several tie. `unfairness` is the violation of each metric on the attack set; nan where
    it cannot be measured because a row set holds fewer than two groups.
    """

    metric: str
    tolerance: float
    unfairness: dict[str, float]
    n: int


def estimate_constraint(
    predictions: npt.ArrayLike, sensitive: npt.ArrayLike, labels: npt.ArrayLike
) -> EstimatedConstraint:
    """Return the metric the model violates least on the attack set, and by how much.

    Raises `InputError` if an argument breaks its rule, or no metric can be measured because there is only one group.

    The audited model's answers for the attacker's own records and their labels, 0 or 1, and their groups, any number of
    them from two, have the shape (n,).
    """
    answers, known = binary_array(predictions, name="predictions"), binary_array(labels, name="labels")
    _, groups = group_codes(sensitive)
    n = one_length(predictions=answers, sensitive=groups, labels=known)
    measured = {metric: _measured(answers, groups, known, metric) for metric in METRICS}
    found = {metric: value for metric, value in measured.items() if not math.isnan(value)}
    if not found:
        raise InputError(f"The attack records must hold at least two groups, got {np.unique(groups).size}.")
    smallest = min(found.values())
    taken = next(metric for metric, value in found.items() if value <= smallest + _TIE)
    return EstimatedConstraint(metric=taken, tolerance=found[taken], unfairness=measured, n=n)


def _measured(answers: Codes, groups: npt.NDArray[Any], labels: Codes, metric: str) -> float:
    """Return a metric's violation; nan where one group, or nobody, is left to compare on a row set."""
    for _, rows in row_sets(metric, labels, answers.size):
        if np.unique(groups if rows is None else groups[rows]).size < 2:
            return math.nan
    return unfairness(answers, groups, metric=metric, labels=labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identification(Result):
    """How often, over repeated seeds, the estimate names the metric the models were trained for.

    A method that is trained for none, such as correlation remover, has no rate. `shares` are those of seeds in which
    each metric is named. Controls: naming at random one of the three metrics an estimate can name; and the share of
    seeds in which the model without any mitigation is given the same name, that is, how far it comes from the data.
    """

    trained: str | None
    rate: Estimate | None
    control_of_three: float | None
    unmitigated: Estimate | None
    shares: dict[str, Estimate]
    n: int


def identification_rate(
    estimates: Sequence[EstimatedConstraint],
    *,
    trained: str | None,
    unmitigated: Sequence[EstimatedConstraint] | None = None,
) -> Identification:
    """Return how often estimates, one a seed, name the metric the models were trained for (None: for none).

    `unmitigated` are those for models trained without mitigation, as control. Raises `InputError` if there is no
    estimate or the metric is unknown.
    """
    if trained is not None:
        choice(trained, METRICS, name="trained")
    n = len(estimates)
    if n == 0:
        raise InputError("A rate of identification needs the estimates of at least one seed, got none.")
    shares = {metric: _share(estimates, metric) for metric in METRICS}
    control = None if trained is None or not unmitigated else _share(unmitigated, trained)
    return Identification(
        trained=trained,
        rate=None if trained is None else shares[trained],
        control_of_three=None if trained is None else (trained in IDENTIFIABLE) / len(IDENTIFIABLE),
        unmitigated=control,
        shares=shares,
        n=n,
    )


def _share(estimates: Sequence[EstimatedConstraint], metric: str) -> Estimate:
    return proportion(sum(estimate.metric == metric for estimate in estimates), len(estimates))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintComparison(Result):
    """The correction with the constraint the model was trained for beside that with the one the attacker measured.

    There is none with the trained one for a model trained for none. `achieved` and `is_true` of the other say whether
    the estimate holds of the people under attack; its `after` is None where no answer can meet the estimated tolerance,
    with the reason in `smallest_tolerance` and `certificate`. The difference is corrected accuracy with the
    estimate minus that with the real constraint, None where either is missing. Its interval adds the squared distances
    of both Wilson intervals (Newcombe 1998) as if they came from different people; they come from the same ones, which
    makes it wider than needed.
    """

    estimate: EstimatedConstraint
    trained: Disclosure | None
    estimated: Disclosure
    difference: Estimate | None

    def to_frame(self) -> pandas.DataFrame:
        """Return one row for the real constraint, where there is one, and one for the estimated."""
        import pandas as pd

        rows = []
        for name, told in (("trained", self.trained), ("estimated", self.estimated)):
            if told is not None:
                row = {"constraint": name, "metric": told.metric, "tolerance": told.used, "achieved": told.achieved}
                rows.append(row | told.limits("before", "after") | {"status": told.certificate.status})
        return pd.DataFrame(rows)


def compare_constraints(
    attacked: AttackedRecords,
    held_out: AttackedRecords,
    estimate: EstimatedConstraint,
    *,
    metric: str | None,
    tolerance: float | None,
    cost: str = "published",
    raise_until_true: bool = False,
    raise_until_feasible: bool = False,
) -> ConstraintComparison:
    """Correct the same guess with the real and with the estimated constraint.

    Parameters
    ----------
    attacked, held_out, cost
        As for `core.correction.disclose`, the same for both corrections.
    estimate : EstimatedConstraint
        From `estimate_constraint` on the attacker's own records.
    metric, tolerance : str and float in [0, 1], or None and None
        Metric the model was trained for and tolerance disclosed with it; none for a method that is trained for none.
    raise_until_true : bool
        Raise the real constraint's tolerance until the model satisfies it, as published. The estimate is never
        raised for truth, which its attacker cannot know.
    raise_until_feasible : bool
        Raise an estimated tolerance that no answer can meet to the smallest that one can; the attacker knows all
        that this takes (predictions and labels). Otherwise such a correction is reported as infeasible.
    """
    if (metric is None) != (tolerance is None):
        raise InputError(
            f"metric and tolerance must be given together or not at all, got {metric!r} and {tolerance!r}."
        )
    real = None
    if metric is not None and tolerance is not None:
        real = disclose(
            attacked,
            held_out,
            tolerance=tolerance,
            metric=metric,
            cost=cost,
            raise_until_true=raise_until_true,
        )
    told = estimate.tolerance
    if raise_until_feasible:
        needed = smallest_tolerance(
            attacked.predictions, metric=estimate.metric, labels=attacked.labels, n_groups=attacked.n_groups
        )
        told = max(told, needed) if needed <= 1 else told
    estimated = disclose(attacked, held_out, tolerance=told, metric=estimate.metric, cost=cost)
    return ConstraintComparison(
        estimate=estimate, trained=real, estimated=estimated, difference=_difference(real, estimated)
    )


def _difference(real: Disclosure | None, estimated: Disclosure) -> Estimate | None:
    if real is None or real.after is None or estimated.after is None:
        return None
    a, b = estimated.after, real.after
    value = a.value - b.value
    return Estimate(
        value=value,
        low=max(-1.0, value - math.hypot(a.value - a.low, b.high - b.value)),
        high=min(1.0, value + math.hypot(a.high - a.value, b.value - b.low)),
        n=a.n,
        level=a.level,
    )
