"""What one attacker gains from being told a model's fairness: guess, correct, compare.

The attacker has a guess for everybody, hears "the model satisfies this metric within this tolerance", and changes as
few guesses as possible, the unsure ones first, until they agree with it (Ferry et al. 2023, III).

The best attacker. A weak attacker who gains from the promise tells nothing about the release if a stronger one, or
naming the largest group for everybody, was better before and stays better: whoever wants to know people's attribute
takes the best. So the accuracy of the best attacker before is taken off that of the best after; the majority guess is
among both. Best after is over the corrected guesses and the majority guess, not over what was guessed before. An
attacker could keep her old guess, which would make 0 the least there can be; below 0 the number says that the promise
misleads whoever believes it.

Control. The promise says something about people only through their predictions. Here the attacker corrects the very
same guess with permuted predictions: dealt out within the row sets the metric compares groups on (everybody for
statistical parity, each label for the others), so that the rates, the counts a correction may reach and the smallest
tolerance stay exactly as they were, while the permuted answers are unrelated to the groups and the promise stays true
of them up to chance. A gain that survives this does not come from what the model said about anybody.

More than a bound. Ferry et al. (2023, VII) leave the groups' shares, the exact unfairness and several metrics as future
work. Every correction with these starts from the same guess at the same price, whose exponent is chosen for the bound
alone, so that only what is known differs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.adversaries import AttackedRecords
from core.adversaries.permuted import permuted_predictions
from core.arrays import Codes, Floats
from core.correction.bootstrap import (
    DRAWS_OF_MANY,
    Blocks,
    Named,
    named_in_draws,
    named_together,
    rightly,
    rightly_balanced,
    widened,
)
from core.correction.certificate import Disclosed, SolverCertificate
from core.correction.costs import choose_exponent, log_odds_cost, published_cost
from core.correction.problem import smallest_tolerance, true_tolerance
from core.correction.solve import correct, correct_jointly
from core.estimates import Estimate, accuracy, balanced_accuracy, paired_gain, proportion
from core.fairness import METRICS, unfairness
from core.serialize import Result
from core.validation import choice, unit_interval

if TYPE_CHECKING:
    import pandas

COSTS = {"published": "Confidence (published)", "log_odds": "Log-odds", "count": "Uniform"}
"""Price of changing one guess: the paper's exponentiated confidence, calibrated log-odds, or 1 for everybody.

With log-odds the attacker also starts from the calibrated guess, so that with two groups the correction is the most
probable answer that meets the tolerance; with more, the log-odds are those of the likeliest group against the second,
whichever group a record is moved to. With the other costs she starts from the adversary's own guess, as published.
"""

Guesses = npt.NDArray[np.integer]

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
    achieved = true_unfairness(attacked, attacked.truth, metric)
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
    truth, after, k = attacked.truth, correction.reconstruction, attacked.n_groups
    won = accurate = balanced = gain = None
    if after is not None:
        won, lost = won_and_lost(truth, guess, after)
        accurate, balanced = accuracy(truth, after), balanced_accuracy(truth, after)
        gain = paired_gain(won, lost, truth.size)
        if named is not None:
            size, now = named.size, rightly(named.size, named.after)
            accurate = widened(accurate, now)
            balanced = widened(balanced, rightly_balanced(size, named.after))
            gain = widened(gain, now - rightly(size, named.before), within=(-1.0, 1.0))
    return Disclosure(
        metric=metric,
        cost=cost,
        told=tolerance,
        used=used,
        achieved=achieved,
        reached=math.nan if after is None else true_unfairness(attacked, after, metric),
        majority=proportion(int(np.bincount(truth).max()), truth.size),
        before=accuracy(truth, guess),
        balanced_before=balanced_accuracy(truth, guess),
        after=accurate,
        balanced_after=balanced,
        gain=gain,
        n_changed=correction.n_changed,
        n_right=won,
        groups=tuple(_recognition(g, truth, guess, after, named) for g in ((1, 0) if k == 2 else range(k))),
        exponent=exponent,
        smallest_tolerance=correction.smallest_tolerance,
        certificate=correction.certificate,
    )


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
        held_out,
        tolerance=max(tolerance, closest) if closest <= 1 else tolerance,
        metric=metric,
        exponents=range(100) if k == 2 else _EXPONENTS_OF_MANY,
    )
    return published_cost(attacked.confidence, 1 if chosen is None else chosen), chosen


def true_unfairness(records: AttackedRecords, groups: Codes, metric: str) -> float:
    """Return the model's unfairness on some records, were these their groups."""
    return unfairness(records.predictions, groups, metric=metric, labels=records.labels)


def won_and_lost(truth: Guesses, before: Guesses, after: Guesses) -> tuple[int, int]:
    """Return how many guesses became right, and how many wrong."""
    was, now = before == truth, after == truth
    return int(np.count_nonzero(now & ~was)), int(np.count_nonzero(was & ~now))


def _recognition(group: int, truth: Codes, guess: Codes, after: Codes | None, named: Named | None) -> GroupRecognition:
    member = truth == group
    now = None if after is None else accuracy(truth[member], after[member])
    if now is not None and named is not None:
        own = slice(group, group + 1)
        now = widened(now, rightly(named.size[:, own], named.after[:, own]))
    return GroupRecognition(group=group, before=accuracy(truth[member], guess[member]), after=now)


DRAWS_OF_BEST = 200
"""Draws of people; with more than two groups fewer."""


def gain_of_best(
    attacked: Mapping[str, AttackedRecords],
    told: Mapping[str, Disclosure],
    *,
    raise_until_true: bool = False,
    seed: int = 0,
) -> Estimate:
    """Return the accuracy of the best attacker after the promise minus that of the best before it.

    `attacked` is what each attacker says of the same people, in the same order; `told` what each reaches with the
    published cost, told the same, which may have been raised until it was true; all of them corrected. Who is best is
    found anew in each draw of people.
    """
    one = next(iter(told.values()))
    n = one.before.n
    people = []
    for name, each in told.items():
        records, exponent = attacked[name], 1 if each.exponent is None else each.exponent
        people.append(
            Blocks.of(records, records.guess, published_cost(records.confidence, exponent), metric=one.metric)
        )
    draws = DRAWS_OF_BEST if len(one.groups) == 2 else DRAWS_OF_MANY
    named = named_together(people, one.told, raise_until_true=raise_until_true, draws=draws, seed=seed)
    majority = named[0].size.max(axis=1) / named[0].size.sum(axis=1)
    before, after = (
        np.max([majority, *(rightly(each.size, part) for each, part in zip(named, parts, strict=True))], axis=0)
        for parts in ([each.before for each in named], [each.after for each in named])
    )
    reached = [each.after.value for each in told.values() if each.after is not None]
    value = max(one.majority.value, *reached) - max(one.majority.value, *(each.before.value for each in told.values()))
    least = paired_gain(0, 0, n).high  # where the best is the majority guess in every draw
    own = Estimate(value=value, low=max(-1.0, value - least), high=min(1.0, value + least), n=n)
    return widened(own, after - before, within=(-1.0, 1.0))


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


def permuted_records(records: AttackedRecords, *, metric: str, seed: int, name: str = "everybody") -> AttackedRecords:
    """Return the records with their predictions permuted within the metric's row sets; the guesses stay.

    `name` says which records these are; another one under the same seed permutes independently.
    """
    within = None if choice(metric, METRICS, name="metric") == "statistical_parity" else records.labels
    return replace(records, predictions=permuted_predictions(records.predictions, within, seed=seed, records=name))


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
