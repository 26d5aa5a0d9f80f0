"""Gain of one attacker from a disclosed tolerance: guess, correct, compare.

The attacker has a guess for everybody, hears "the model satisfies this metric within this tolerance", and changes as
few guesses as possible, the unsure ones first, until they agree with it (Ferry et al. 2023, III).

The best attacker. A weak attacker who gains from the constraint says nothing about the release if a stronger one, or
the majority-class baseline, was better before and stays better: an attacker
takes the best. So the accuracy of the best attacker before is taken off that of the best after; the majority-class
baseline is among both. Best after is over the corrected guesses and the majority-class baseline, not over what was
guessed before. An attacker could keep their former guess, which would make 0 the least there can be; below 0 the number
says that the constraint misleads an attacker who believes it.

Cost. What changing a guess costs follows from its confidence.

The published cost (Ferry et al., SaTML 2023) is a power of the rescaled confidence; the exponent, 0 to 99, is the one
that maximises the corrected accuracy on records whose groups the adversary knows. The order of the records does not
depend on the exponent, and neither do the counts a correction may reach, so all exponents are tried on one sorting.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...adversaries import AttackedRecords, permuted_predictions
from ...base.errors import InputError
from ...base.serialize import Result
from ...base.validation import Codes, Floats, Ints, choice, positive_array, unit_interval
from ...stats.estimates import (
    Estimate,
    accuracy,
    accuracy_gain,
    balanced_accuracy,
    majority_share,
    paired_gain,
)
from ...stats.fairness import METRICS, keeps, row_sets, unfairness
from .bootstrap import (
    DRAWS_OF_MANY,
    Blocks,
    BootstrapCounts,
    accuracy_by_sample,
    balanced_accuracy_by_sample,
    bootstrap_correction,
    bootstrap_jointly,
    combine_intervals,
)
from .exact import (
    WIDENING,
    RowProblem,
    best_repair,
    feasible_tolerance,
    repairs,
    smallest_tolerance,
    solve_rows,
    true_tolerance,
)
from .problem import Correction, SolverCertificate, correct

COSTS = {"published": "Confidence (published)", "log_odds": "Log-odds", "count": "Uniform"}
"""Correction cost of one guess: the paper's exponentiated confidence, calibrated log-odds, or 1 for everybody.

With log-odds the attacker also starts from the calibrated guess, so that with two groups the correction is the most
probable answer that meets the tolerance; with more, the log-odds are those of the likeliest group against the second,
whichever group a record is moved to. With the other costs they start from the adversary's own guess, as published.
"""

_EXPONENTS_OF_MANY = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89)
"""Exponents tried with more than two groups, where each takes a program of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure(Result):
    """What disclosing the tolerance changed.

    Attributes
    ----------
    disclosed_tolerance, used : float
        Tolerance disclosed, and tolerance corrected with; they differ only if it was raised until true.
    achieved : float
        The model's real unfairness on these records; above `used` the disclosure is false.
    reached : float
        Unfairness of the model on the corrected guesses; nan when there is no correction.
    majority : Estimate
        Accuracy of the majority-class baseline.
    before, balanced_before : Estimate
        Accuracy and balanced accuracy of the adversary's guess.
    after, balanced_after, gain : Estimate or None
        The same after correction, and the change in accuracy; None when there is no correction. Their intervals, and
        those of the groups after it, come from people resampled and corrected.
    n_changed, n_right : int or None
        Guesses changed, and how many of these changes were right.
    groups : dict of int to (Estimate, Estimate or None)
        Share of each group's people whose group is inferred correctly, before and after the correction: of two the
        first group, then the other.
    exponent : int or None
        Confidence exponent of the published cost; None for another cost or if none worked on the held-out records.
    smallest_tolerance : float or None
        Smallest tolerance these predictions allow, given when `used` is infeasible.
    """

    metric: str
    cost: str
    disclosed_tolerance: float
    used: float
    achieved: float
    reached: float
    majority: Estimate
    before: Estimate
    balanced_before: Estimate
    after: Estimate | None
    balanced_after: Estimate | None
    gain: Estimate | None
    n_changed: int | None
    n_right: int | None
    groups: dict[int, tuple[Estimate, Estimate | None]]
    exponent: int | None
    smallest_tolerance: float | None
    certificate: SolverCertificate

    @property
    def is_true(self) -> bool:
        """Whether the model really satisfies what was disclosed."""
        return keeps(self.achieved, self.used)


def disclose(
    attacked: AttackedRecords,
    held_out: AttackedRecords,
    *,
    tolerance: float,
    metric: str = "statistical_parity",
    cost: str = "published",
    raise_until_true: bool = False,
    draws: int | None = None,
    seed: int = 0,
) -> Disclosure:
    """Tell the attacker the metric and the tolerance, and measure what changes.

    Parameters
    ----------
    attacked : AttackedRecords
        The records under attack.
    held_out : AttackedRecords
        The attacker's own records, on which the confidence exponent is chosen.
    tolerance : float in [0, 1]
        What is disclosed to the attacker.
    metric : str
        One of `core.stats.fairness.METRICS`.
    cost : {"published", "log_odds", "count"}
    raise_until_true : bool
        Raise the tolerance in steps of 0.001 until the model satisfies it, as the published experiments do.
    draws : int, optional
        Draws of people behind the intervals of what follows the correction (see `core.studies.correction.bootstrap`);
        with 0 they take the changes as given, which is too narrow.
    seed : int
        Fixes which people they draw.
    """
    tolerance = unit_interval(tolerance, name="tolerance")
    cost = choice(cost, COSTS, name="cost")
    achieved = true_unfairness(attacked, attacked.truth, metric)
    if raise_until_true:
        used = true_tolerance(tolerance, achieved)
    else:
        used = tolerance
    if cost == "log_odds":
        guess = attacked.calibrated_guess
    else:
        guess = attacked.guess
    prices, exponent = prices_of(attacked, held_out, used, metric, cost)
    correction = corrected(attacked, guess, prices, metric, tolerance=used)
    bootstrap = None
    if draws != 0 and correction.reconstruction is not None:
        people = Blocks.of(attacked, guess, prices, metric=metric)
        bootstrap = bootstrap_correction(
            people, tolerance, raise_until_true=raise_until_true, draws=draws, seed=seed
        )
    truth = attacked.truth
    after = correction.reconstruction
    k = attacked.n_groups
    won = accurate = balanced = gain = None
    reached = math.nan
    if after is not None:
        won = int(np.count_nonzero((after == truth) & (guess != truth)))
        accurate, balanced, gain = _accuracies(truth, guess, after, bootstrap)
        reached = true_unfairness(attacked, after, metric)
    return Disclosure(
        metric=metric,
        cost=cost,
        disclosed_tolerance=tolerance,
        used=used,
        achieved=achieved,
        reached=reached,
        majority=majority_share(truth),
        before=accuracy(truth, guess),
        balanced_before=balanced_accuracy(truth, guess),
        after=accurate,
        balanced_after=balanced,
        gain=gain,
        n_changed=correction.n_changed,
        n_right=won,
        groups={
            g: _recognition(g, truth, guess, after, bootstrap)
            for g in ((1, 0) if k == 2 else range(k))
        },
        exponent=exponent,
        smallest_tolerance=correction.smallest_tolerance,
        certificate=correction.certificate,
    )


def _accuracies(
    truth: Codes, guess: Codes, after: Codes, bootstrap: BootstrapCounts | None
) -> tuple[Estimate, Estimate, Estimate]:
    """Return accuracy and balanced accuracy after a correction, and the change in accuracy."""
    accurate = accuracy(truth, after)
    balanced = balanced_accuracy(truth, after)
    gain = accuracy_gain(truth, guess, after)
    if bootstrap is None:
        return accurate, balanced, gain
    size, right_before, right_after = bootstrap
    now = accuracy_by_sample(size, right_after)
    was = accuracy_by_sample(size, right_before)
    return (
        combine_intervals(accurate, now),
        combine_intervals(balanced, balanced_accuracy_by_sample(size, right_after)),
        combine_intervals(gain, now - was, within=(-1.0, 1.0)),
    )


def corrected(
    records: AttackedRecords,
    guess: Codes,
    cost: Floats | None,
    metric: str,
    *,
    time_limit: float = math.inf,  # the exact solver counts its work instead
    **knowledge: Any,
) -> Correction:
    """Correct guesses about some records with what is known of the model's unfairness; see `correct`."""
    return correct(
        guess,
        records.predictions,
        metric=metric,
        labels=records.labels,
        cost=cost,
        n_groups=records.n_groups,
        time_limit=time_limit,
        **knowledge,
    )


def prices_of(
    attacked: AttackedRecords, held_out: AttackedRecords, tolerance: float, metric: str, cost: str
) -> tuple[Floats | None, int | None]:
    """Return the correction cost of each guess (None: 1 for everybody), and the exponent it was raised to."""
    if cost == "count":
        return None, None
    if cost == "log_odds":
        two = np.partition(attacked.calibrated, -2, axis=1)[
            :, -2:
        ]  # the likeliest group among the two likeliest
        return log_odds_cost(two[:, 1] / two.sum(axis=1)), None
    k = attacked.n_groups
    # The held-out records may not allow the tolerance at all (divisibility); then the closest they allow is tried.
    closest = smallest_tolerance(
        held_out.predictions, metric=metric, labels=held_out.labels, n_groups=k
    )
    if k == 2:
        exponents: Sequence[int] = range(100)
    else:
        exponents = _EXPONENTS_OF_MANY
    chosen = choose_exponent(
        held_out,
        tolerance=feasible_tolerance(tolerance, closest),
        metric=metric,
        exponents=exponents,
    )
    if chosen is None:
        return published_cost(attacked.confidence, 1), None
    return published_cost(attacked.confidence, chosen), chosen


def true_unfairness(records: AttackedRecords, groups: Codes, metric: str) -> float:
    """Return the model's unfairness on some records, were these their groups."""
    return unfairness(records.predictions, groups, metric=metric, labels=records.labels)


def _recognition(
    group: int, truth: Codes, guess: Codes, after: Codes | None, bootstrap: BootstrapCounts | None
) -> tuple[Estimate, Estimate | None]:
    member = truth == group
    if after is None:
        now = None
    else:
        now = accuracy(truth[member], after[member])
    if now is not None and bootstrap is not None:
        size, _, right = (counts[:, group : group + 1] for counts in bootstrap)
        now = combine_intervals(now, accuracy_by_sample(size, right))
    return accuracy(truth[member], guess[member]), now


DRAWS_OF_BEST = 200
"""Draws of people; with more than two groups fewer."""


def gain_of_best(
    attacked: Mapping[str, AttackedRecords], disclosures: Mapping[str, Disclosure], *, seed: int = 0
) -> Estimate:
    """Return the accuracy of the best attacker after the disclosure minus that of the best before it.

    `attacked` is what each attacker says of the same people, in the same order; `disclosures` what each reaches with
    the published cost, the same disclosed and raised until it was true; all of them corrected. Who is best, and the
    true tolerance, are found again in each resample.
    """
    first = next(iter(disclosures.values()))
    n = first.before.n
    people = []
    for name, disclosure in disclosures.items():
        records = attacked[name]
        exponent = 1 if disclosure.exponent is None else disclosure.exponent
        cost = published_cost(records.confidence, exponent)
        people.append(Blocks.of(records, records.guess, cost, metric=first.metric))
    if len(first.groups) == 2:
        draws = DRAWS_OF_BEST
    else:
        draws = DRAWS_OF_MANY
    bootstraps = bootstrap_jointly(people, first.disclosed_tolerance, draws=draws, seed=seed)
    everybody = bootstraps[0][0]
    majority = everybody.max(axis=1) / everybody.sum(axis=1)
    accuracies_before = [accuracy_by_sample(size, right) for size, right, _ in bootstraps]
    accuracies_after = [accuracy_by_sample(size, right) for size, _, right in bootstraps]
    before = np.max([majority, *accuracies_before], axis=0)
    after = np.max([majority, *accuracies_after], axis=0)
    reached = [
        disclosure.after.value
        for disclosure in disclosures.values()
        if disclosure.after is not None
    ]
    value = max(first.majority.value, *reached) - max(
        first.majority.value, *(disclosure.before.value for disclosure in disclosures.values())
    )
    half_width = paired_gain(
        0, 0, n
    ).high  # where the best is the majority-class baseline in every draw
    estimate = Estimate(value=value, low=value - half_width, high=value + half_width, n=n)
    return combine_intervals(estimate.within(-1.0, 1.0), after - before, within=(-1.0, 1.0))


def permuted_records(
    records: AttackedRecords, *, metric: str, seed: int, name: str = "everybody"
) -> AttackedRecords:
    """Return the records with their predictions permuted within the metric's row sets; the guesses stay.

    `name` says which records these are; another one under the same seed permutes independently.
    """
    if choice(metric, METRICS, name="metric") == "statistical_parity":
        within = None
    else:
        within = records.labels
    return replace(
        records,
        predictions=permuted_predictions(records.predictions, within, seed=seed, records=name),
    )


SMALLEST_COST = 1e-6
"""What `log_odds_cost` charges where the guess is no more likely than the other group."""

_CERTAIN = 1e-12
"""Distance from 1 at which a probability counts as 1, so that its log-odds stay finite."""


def published_cost(confidence: npt.ArrayLike, exponent: float) -> Floats:
    """Return the published cost (1 + (p - min p) / (max p - min p))^k.

    Costs lie in [1, 2^k], and are all 1 where the confidence is constant. The confidence p in each guess is finite and
    above 0, the exponent k at least 0.
    """
    if not 0 <= exponent < math.inf:
        raise InputError(f"exponent must be at least 0 and finite, got {exponent!r}.")
    return _rescaled(confidence) ** exponent


def log_odds_cost(confidence: npt.ArrayLike) -> Floats:
    """Return log(p / (1 - p)), the cost whose cheapest correction is the most probable one.

    p is the calibrated probability of each guess, in (0, 1]. Costs are at least `SMALLEST_COST`: where p is 0.5 or
    below the log-odds are not positive and are clipped.
    """
    p = positive_array(confidence, name="confidence")
    if p.size and float(p.max()) > 1.0:
        raise InputError(f"confidence must be at most 1, got {float(p.max())!r}.")
    p = np.clip(p, 0.5, 1 - _CERTAIN)
    return np.maximum(np.log(p / (1 - p)), SMALLEST_COST)


def choose_exponent(
    records: AttackedRecords,
    *,
    tolerance: float,
    metric: str,
    exponents: Sequence[int] = range(100),
) -> int | None:
    """Return the exponent whose correction is most accurate on records with known groups, the smallest in a tie.

    None when no correction is found at any of the exponents, which rise.
    """
    accuracies = corrected_accuracy(
        records, tolerance=tolerance, metric=metric, exponents=exponents
    )
    if np.isnan(accuracies).all():
        return None
    return int(exponents[int(np.nanargmax(accuracies))])


def corrected_accuracy(
    records: AttackedRecords, *, tolerance: float, metric: str, exponents: Sequence[int]
) -> Floats:
    """Return the accuracy of the corrected guesses at each exponent; nan where there is no correction.

    With more than two groups every exponent is a program of its own, so few should be tried.
    """
    guess = records.guess
    truth = records.truth
    base = _rescaled(records.confidence)
    right = np.full(len(exponents), np.count_nonzero(guess == truth), dtype=np.float64)
    if records.n_groups > 2:
        for i, exponent in enumerate(exponents):
            vector = corrected(
                records, guess, base**exponent, metric, tolerance=tolerance
            ).reconstruction
            right[i] = math.nan if vector is None else np.count_nonzero(vector == truth)
        return right / guess.size
    for _, rows in row_sets(metric, records.labels, guess.size):
        inside = slice(None) if rows is None else rows
        problem = RowProblem(
            guess=guess[inside],
            predictions=records.predictions[inside],
            cost=base[inside],
            upper=tolerance * WIDENING,
        )
        right += _gained(problem, truth[inside], np.array(exponents))
    return right / guess.size


def _rescaled(confidence: npt.ArrayLike) -> Floats:
    """Return 1 + (p - min p) / (max p - min p), 1 where p is constant."""
    p = positive_array(confidence, name="confidence")
    spread = float(np.ptp(p)) if p.size else 0.0
    if spread > 0:
        return 1 + (p - p.min()) / spread
    return np.ones(p.size)


def _gained(problem: RowProblem, truth: Codes, exponents: Ints) -> Floats:
    """Return, for each exponent, the correct guesses its correction gains on a row set; nan where there is none.

    The natural repairs of all exponents are found together; the uncertain ones are solved one by one, and so is
    exponent 0, at which all costs are 1 and ties follow the records.
    """
    counts = problem.counts()
    right = problem.guess == truth
    gained = np.zeros(exponents.size)
    certain = np.zeros(exponents.size, dtype=np.bool_)
    if counts.allowed(counts.a, counts.b):
        return gained
    plan = repairs(counts)
    if plan is not None:
        powers = exponents[:, None].astype(float)
        cells = [np.flatnonzero(problem.cell(*cell)) for cell in (plan.raised, plan.lowered)]
        raised, lowered = (cell[np.argsort(problem.cost[cell], kind="stable")] for cell in cells)
        raising, lowering = (
            problem.cost[cell[:most]] ** powers
            for cell, most in ((raised, plan.x_limit), (lowered, plan.y_limit))
        )
        x, _, certain = best_repair(plan, raising, lowering, np.ones(exponents.size))
        certain &= exponents > 0
        won = [
            np.append(0, np.cumsum(1 - 2 * right[cell].astype(np.int64)))
            for cell in (raised, lowered)
        ]
        gained = (won[0][x] + won[1][plan.y[x]]).astype(np.float64)
    for i in np.flatnonzero(~certain):
        vector, _ = solve_rows(replace(problem, cost=problem.cost ** exponents[i]))
        if vector is None:  # whatever the costs
            return np.full(exponents.size, math.nan)
        gained[i] = np.count_nonzero(vector == truth) - np.count_nonzero(right)
    return gained
