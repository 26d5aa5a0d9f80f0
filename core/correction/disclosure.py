"""What one attacker gains from being told a model's fairness: guess, correct, compare.

The attacker has a guess for everybody, hears "the model satisfies this metric within this tolerance", and changes as
few guesses as possible, the unsure ones first, until they agree with it (Ferry et al. 2023, III). What the pages and
the sweep show is one `Disclosure`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.adversaries import AttackedRecords
from core.arrays import Codes, Floats
from core.correction.blocks import Blocks, Named
from core.correction.bootstrap import named_in_draws, rightly, rightly_balanced, widened
from core.correction.certificate import SolverCertificate
from core.correction.costs import choose_exponent, log_odds_cost, published_cost
from core.correction.smallest import smallest_tolerance, true_tolerance
from core.correction.solve import Correction, correct
from core.estimates import Estimate, accuracy, balanced_accuracy, paired_gain, proportion
from core.fairness import unfairness
from core.results import Result
from core.validation import choice, unit_interval

COSTS = ("published", "log_odds", "count")
"""Price of changing one guess: the paper's exponentiated confidence, calibrated log-odds, or 1 for everybody.

With log-odds the attacker also starts from the calibrated guess, so that with two groups the correction is the most
probable answer that meets the tolerance; with more, the log-odds are those of the likeliest group against the second,
whichever group a record is moved to. With the other costs she starts from the adversary's own guess, as published.
"""

_SECONDS = 60.0
"""Time the integer programs of the paper may take."""

_EXPONENTS_OF_MANY = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89)
"""Exponents tried with more than two groups, where each takes a program of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRecognition(Result):
    """Share of one group's people whose group is named rightly, before and after the correction."""

    group: int
    before: Estimate
    after: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure(Result):
    """What being told the tolerance changed.

    Attributes
    ----------
    told, used : float
        Tolerance disclosed, and tolerance corrected with; they differ only if it was raised until true.
    achieved : float
        The model's real unfairness on these records; above `used` the disclosure is false.
    reached : float
        Unfairness of the model on the corrected guesses; nan when there is no correction.
    majority : Estimate
        Control: accuracy of naming the larger group for everybody.
    before, balanced_before : Estimate
        Accuracy and balanced accuracy of the adversary's guess.
    after, balanced_after, gain : Estimate or None
        The same after correction, and the change in accuracy; None when there is no correction. Their intervals, and
        those of the groups after it, come from people drawn anew and corrected.
    n_changed, n_right : int or None
        Guesses changed, and how many of these changes were right.
    groups : tuple of GroupRecognition
        First group, then the others.
    exponent : int or None
        Confidence exponent of the published cost; None for another cost or if none worked on the held-out records.
    smallest_tolerance : float or None
        Smallest tolerance these predictions allow, given when `used` is infeasible.
    """

    metric: str
    cost: str
    told: float
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
    groups: tuple[GroupRecognition, ...]
    exponent: int | None
    smallest_tolerance: float | None
    certificate: SolverCertificate

    @property
    def is_true(self) -> bool:
        """Whether the model really satisfies what the attacker was told."""
        return self.achieved <= self.used + 1e-12

    def limits(self, *names: str) -> dict[str, float | None]:
        """Return estimates as flat columns by name: value, low and high of each, None where there is none."""
        row: dict[str, float | None] = {}
        for name in names:
            found: Estimate | None = getattr(self, name)
            for column, end in ((name, "value"), (f"{name}_low", "low"), (f"{name}_high", "high")):
                row[column] = None if found is None else getattr(found, end)
        return row


def disclose(
    attacked: AttackedRecords,
    held_out: AttackedRecords,
    *,
    tolerance: float,
    metric: str = "statistical_parity",
    cost: str = "published",
    raise_until_true: bool = False,
    solver: str = "exact",
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
        What the attacker is told.
    metric : str
        One of `core.fairness.METRICS`.
    cost : {"published", "log_odds", "count"}
    raise_until_true : bool
        Raise the tolerance in steps of 0.001 until the model satisfies it, as the published experiments do.
    solver : {"exact", "ilp", "ilp_general"}
    draws : int, optional
        Draws of people behind the intervals of what follows the correction (see `core.correction.bootstrap`); with 0
        they take the changes as given, which is too narrow.
    """
    tolerance = unit_interval(tolerance, name="tolerance")
    cost = choice(cost, COSTS, name="cost")
    achieved = _unfairness(attacked, attacked.truth, metric)
    used = true_tolerance(tolerance, achieved) if raise_until_true else tolerance
    guess = attacked.calibrated_guess if cost == "log_odds" else attacked.guess
    prices, exponent = prices_of(attacked, held_out, used, metric, cost)
    correction = correct(
        guess,
        attacked.predictions,
        tolerance=used,
        metric=metric,
        labels=attacked.labels,
        cost=prices,
        n_groups=attacked.n_groups,
        solver=solver,
        time_limit=math.inf if solver == "exact" else _SECONDS,  # the exact solver counts its work instead
    )
    named = None
    if draws != 0 and correction.reconstruction is not None:
        people = Blocks.of(attacked, guess, prices, metric=metric)
        named = named_in_draws(people, tolerance, raise_until_true=raise_until_true, draws=draws, seed=seed)
    return _measured(attacked, guess, correction, named, metric, cost, tolerance, used, achieved, exponent)


def prices_of(
    attacked: AttackedRecords, held_out: AttackedRecords, tolerance: float, metric: str, cost: str
) -> tuple[Floats | None, int | None]:
    """Return the price of changing each guess (None: 1 for everybody), and the exponent it was raised to."""
    if cost == "count":
        return None, None
    if cost == "log_odds":
        two = np.partition(attacked.calibrated, -2, axis=1)[:, -2:]  # the likeliest group among the two likeliest
        return log_odds_cost(two[:, 1] / two.sum(axis=1)), None
    k = attacked.n_groups
    # The held-out records may not allow the tolerance at all (divisibility); then the closest they allow is tried.
    closest = smallest_tolerance(held_out.predictions, metric=metric, labels=held_out.labels, n_groups=k)
    chosen = choose_exponent(
        held_out.guess,
        held_out.confidence,
        held_out.predictions,
        held_out.truth,
        tolerance=max(tolerance, closest) if closest <= 1 else tolerance,
        metric=metric,
        labels=held_out.labels,
        n_groups=k,
        exponents=range(100) if k == 2 else _EXPONENTS_OF_MANY,
    ).exponent
    return published_cost(attacked.confidence, 1 if chosen is None else chosen), chosen


def _measured(
    attacked: AttackedRecords,
    guess: Codes,
    correction: Correction,
    named: Named | None,
    metric: str,
    cost: str,
    told: float,
    used: float,
    achieved: float,
    exponent: int | None,
) -> Disclosure:
    truth, after, k = attacked.truth, correction.reconstruction, attacked.n_groups
    n = truth.size
    won = lost = None
    accurate = balanced = gain = None
    if after is not None:
        won = int(np.count_nonzero((after == truth) & (guess != truth)))
        lost = int(np.count_nonzero((after != truth) & (guess == truth)))
        accurate, balanced = accuracy(truth, after), balanced_accuracy(truth, after)
        gain = paired_gain(won, lost, n)
    if named is not None and accurate is not None and balanced is not None and gain is not None:
        size, now = named.size, rightly(named.size, named.after)
        accurate = widened(accurate, now)
        balanced = widened(balanced, rightly_balanced(size, named.after))
        gain = widened(gain, now - rightly(size, named.before), within=(-1.0, 1.0))
    return Disclosure(
        metric=metric,
        cost=cost,
        told=told,
        used=used,
        achieved=achieved,
        reached=math.nan if after is None else _unfairness(attacked, after, metric),
        majority=proportion(int(np.bincount(truth).max()), n),
        before=accuracy(truth, guess),
        balanced_before=balanced_accuracy(truth, guess),
        after=accurate,
        balanced_after=balanced,
        gain=gain,
        n_changed=correction.n_changed if after is not None else None,
        n_right=won,
        groups=tuple(_recognition(g, truth, guess, after, named) for g in ((1, 0) if k == 2 else range(k))),
        exponent=exponent,
        smallest_tolerance=correction.smallest_tolerance,
        certificate=correction.certificate,
    )


def _unfairness(records: AttackedRecords, groups: Codes, metric: str) -> float:
    return unfairness(records.predictions, groups, metric=metric, labels=records.labels)


def _recognition(
    group: int,
    truth: Codes,
    guess: Codes,
    after: Codes | None,
    named: Named | None,
) -> GroupRecognition:
    member = truth == group
    now = None if after is None else accuracy(truth[member], after[member])
    if now is not None and named is not None:
        own = slice(group, group + 1)
        now = widened(now, rightly(named.size[:, own], named.after[:, own]))
    return GroupRecognition(group=group, before=accuracy(truth[member], guess[member]), after=now)
