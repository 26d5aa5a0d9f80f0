"""From an adversary's confidence to the cost of changing a guess, and the choice of the published exponent.

The published cost (Ferry et al., SaTML 2023) is a power of the rescaled confidence; the exponent, 0 to 99, is the one
that maximises the corrected accuracy on records whose groups the adversary knows. The order of the records does not
depend on the exponent, and neither do the counts a correction may reach, so all exponents are tried on one sorting.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Ints, Mask
from core.correction.exact import Repairs, best_repair, full_pass, repairs
from core.correction.problem import CELLS, Counts, RowProblem
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
    guess: Codes,
    confidence: Floats,
    predictions: Codes,
    truth: Codes,
    *,
    tolerance: float,
    metric: str,
    labels: Codes | None = None,
    exponents: Sequence[int] = range(100),
    n_groups: int = 2,
) -> int | None:
    """Return the exponent whose correction is most accurate on records with known groups, the smallest in a tie.

    None when no correction is found at any of the exponents, which rise. The other arguments are those of
    `corrected_accuracy`.
    """
    tried = np.array(exponents, dtype=np.int64)
    found = corrected_accuracy(
        guess,
        confidence,
        predictions,
        truth,
        tolerance=tolerance,
        metric=metric,
        labels=labels,
        exponents=tried,
        n_groups=n_groups,
    )
    return None if np.isnan(found).all() else int(tried[np.nanargmax(found)])


def corrected_accuracy(
    guess: Codes,
    confidence: Floats,
    predictions: Codes,
    truth: Codes,
    *,
    tolerance: float,
    metric: str,
    labels: Codes | None,
    exponents: Ints,
    n_groups: int,
) -> Floats:
    """Return the accuracy of the corrected guesses at each exponent; nan where there is no correction.

    Guesses and truth are groups 0 to K - 1 of n validation records, predictions 0 or 1, the confidence in each guess
    finite and above 0. With more than two groups every exponent is a program of its own, so few should be tried.
    """
    base, right = _rescaled(confidence), guess == truth
    correct = np.full(exponents.size, np.count_nonzero(right), dtype=np.float64)
    if n_groups > 2:
        from core.correction.solve import correct as corrected

        for i, exponent in enumerate(exponents.tolist()):
            vector = corrected(
                guess,
                predictions,
                tolerance=tolerance,
                metric=metric,
                labels=labels,
                cost=base**exponent,
                n_groups=n_groups,
                time_limit=math.inf,
            ).reconstruction
            correct[i] = math.nan if vector is None else np.count_nonzero(vector == truth)
        return correct / guess.size
    for _, rows in row_sets(metric, labels, guess.size):
        inside = slice(None) if rows is None else rows
        problem = RowProblem(
            guess=guess[inside], predictions=predictions[inside], cost=base[inside], tolerance=tolerance
        )
        gained = _gained(problem, truth[inside], exponents)
        correct += math.nan if gained is None else gained
    return correct / guess.size


def _rescaled(confidence: npt.ArrayLike) -> Floats:
    """Return 1 + (p - min p) / (max p - min p), 1 where p is constant."""
    p = positive_array(confidence, name="confidence")
    spread = float(np.ptp(p)) if p.size else 0.0
    return 1 + (p - p.min()) / spread if spread > 0 else np.ones(p.size)


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell's costs at exponent 1 in rising order, and the correct guesses gained by changing the first 0, 1, ..."""

    base: Floats
    gain: Ints


def _sorted_cells(problem: RowProblem, right: Mask, keep_order: bool) -> dict[tuple[int, int], _Cell]:
    """Sort every cell by cost, ties in record order (all of it where `keep_order`)."""
    cells = {}
    for key in CELLS:
        inside = np.flatnonzero(problem.cell(*key))
        if not keep_order:
            inside = inside[np.argsort(problem.cost[inside], kind="stable")]
        gain = np.concatenate([[0], np.cumsum(1 - 2 * right[inside].astype(np.int64))])
        cells[key] = _Cell(problem.cost[inside], gain)
    return cells


def _gained(problem: RowProblem, truth: Codes, exponents: Ints) -> Ints | None:
    """Return, for each exponent, the correct guesses its correction gains on a row set; None when infeasible."""
    counts = problem.counts()
    if counts.n < 2:
        return None
    if counts.allowed(counts.a, counts.b):
        return np.zeros(exponents.size, dtype=np.int64)
    right, gained = problem.guess == truth, np.zeros(exponents.size, dtype=np.int64)
    for ordered in (True, False):  # at exponent 0 all costs are 1, and ties follow the records
        chosen = (exponents == 0) == ordered
        if chosen.any():
            cells = _sorted_cells(problem, right, keep_order=ordered)
            found = _gains(counts, cells, exponents[chosen])
            if found is None:
                return None
            gained[chosen] = found
    return gained


def _gains(counts: Counts, cells: dict[tuple[int, int], _Cell], exponents: Ints) -> Ints | None:
    """Solve all exponents on sorted cells: together by the natural repairs, the uncertain ones by the full pass."""
    plan = repairs(counts)
    gained = np.zeros(exponents.size, dtype=np.int64)
    certain = np.zeros(exponents.size, dtype=np.bool_)
    if plan is not None:
        gained, certain = _repair_gains(plan, cells, exponents)
    for i in np.flatnonzero(~certain):
        powers = {key: cell.base ** exponents[i] for key, cell in cells.items()}
        found = full_pass(counts, (powers[1, 1], powers[1, 0]), (powers[0, 1], powers[0, 0]))
        if found is None:
            return None
        moves = ((1, found[0] - counts.a), (0, found[1] - counts.b))
        gained[i] = sum(int(cells[p, 0 if move > 0 else 1].gain[abs(move)]) for p, move in moves)
    return gained


def _repair_gains(plan: Repairs, cells: dict[tuple[int, int], _Cell], exponents: Ints) -> tuple[Ints, Mask]:
    raised, lowered = cells[plan.raised], cells[plan.lowered]
    powers = exponents[:, None].astype(float)
    raising, lowering = raised.base[: plan.x_limit] ** powers, lowered.base[: plan.y_limit] ** powers
    x, _, certain = best_repair(plan, raising, lowering, np.ones(exponents.size))
    return raised.gain[x] + lowered.gain[plan.y[x]], certain
