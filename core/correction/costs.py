"""The cost of changing a guess, from its confidence, and the choice of the exponent.

The published cost (Ferry et al., SaTML 2023) is a power of the rescaled confidence; the exponent, 0 to 99, is the one
that maximises the corrected accuracy on records whose groups the adversary knows. The order of the records does not
depend on the exponent, and neither do the counts a correction may reach, so all exponents are tried on one sorting.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from core.adversaries import AttackedRecords
from core.arrays import Codes, Floats, Ints
from core.correction.exact import best_repair, repairs, solve_rows
from core.correction.problem import RowProblem
from core.correction.solve import correct
from core.errors import InputError
from core.fairness import row_sets
from core.validation import positive_array

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
    records: AttackedRecords, *, tolerance: float, metric: str, exponents: Sequence[int] = range(100)
) -> int | None:
    """Return the exponent whose correction is most accurate on records with known groups, the smallest in a tie.

    None when no correction is found at any of the exponents, which rise.
    """
    found = corrected_accuracy(records, tolerance=tolerance, metric=metric, exponents=exponents)
    return None if np.isnan(found).all() else int(exponents[int(np.nanargmax(found))])


def corrected_accuracy(records: AttackedRecords, *, tolerance: float, metric: str, exponents: Sequence[int]) -> Floats:
    """Return the accuracy of the corrected guesses at each exponent; nan where there is no correction.

    With more than two groups every exponent is a program of its own, so few should be tried.
    """
    guess, truth, base = records.guess, records.truth, _rescaled(records.confidence)
    right = np.full(len(exponents), np.count_nonzero(guess == truth), dtype=np.float64)
    if records.n_groups > 2:
        for i, exponent in enumerate(exponents):
            vector = correct(
                guess,
                records.predictions,
                tolerance=tolerance,
                metric=metric,
                labels=records.labels,
                cost=base**exponent,
                n_groups=records.n_groups,
                time_limit=math.inf,
            ).reconstruction
            right[i] = math.nan if vector is None else np.count_nonzero(vector == truth)
        return right / guess.size
    for _, rows in row_sets(metric, records.labels, guess.size):
        inside = slice(None) if rows is None else rows
        problem = RowProblem(
            guess=guess[inside], predictions=records.predictions[inside], cost=base[inside], tolerance=tolerance
        )
        right += _gained(problem, truth[inside], np.array(exponents))
    return right / guess.size


def _rescaled(confidence: npt.ArrayLike) -> Floats:
    """Return 1 + (p - min p) / (max p - min p), 1 where p is constant."""
    p = positive_array(confidence, name="confidence")
    spread = float(np.ptp(p)) if p.size else 0.0
    return 1 + (p - p.min()) / spread if spread > 0 else np.ones(p.size)


def _gained(problem: RowProblem, truth: Codes, exponents: Ints) -> Floats:
    """Return, for each exponent, the correct guesses its correction gains on a row set; nan where there is none.

    The natural repairs of all exponents are found together; the uncertain ones are solved one by one, and so is
    exponent 0, at which all costs are 1 and ties follow the records.
    """
    counts, right = problem.counts(), problem.guess == truth
    gained, certain = np.zeros(exponents.size), np.zeros(exponents.size, dtype=np.bool_)
    if counts.allowed(counts.a, counts.b):
        return gained
    plan = repairs(counts)
    if plan is not None:
        powers = exponents[:, None].astype(float)
        cells = [np.flatnonzero(problem.cell(*cell)) for cell in (plan.raised, plan.lowered)]
        raised, lowered = (cell[np.argsort(problem.cost[cell], kind="stable")] for cell in cells)
        raising, lowering = (
            problem.cost[cell[:most]] ** powers for cell, most in ((raised, plan.x_limit), (lowered, plan.y_limit))
        )
        x, _, certain = best_repair(plan, raising, lowering, np.ones(exponents.size))
        certain &= exponents > 0
        won = [np.append(0, np.cumsum(1 - 2 * right[cell].astype(np.int64))) for cell in (raised, lowered)]
        gained = (won[0][x] + won[1][plan.y[x]]).astype(np.float64)
    for i in np.flatnonzero(~certain):
        vector = solve_rows(replace(problem, cost=problem.cost ** exponents[i])).vector
        if vector is None:  # whatever the costs
            return np.full(exponents.size, math.nan)
        gained[i] = np.count_nonzero(vector == truth) - np.count_nonzero(right)
    return gained
