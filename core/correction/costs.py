"""From an adversary's confidence to the cost of changing a guess, and the choice of the published exponent.

The published cost (Ferry et al., SaTML 2023) is a power of the rescaled confidence; the exponent, 0 to 99, is the one
that maximises the corrected accuracy on records whose groups the adversary knows. The order of the records does not
depend on the exponent, and neither do the counts a correction may reach, so all exponents are tried on one sorting.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Ints, Mask
from core.correction.certificate import SolverStatus
from core.correction.exact import Repairs, best_repair, full_pass, repairs
from core.correction.problem import CELLS, Counts, RowProblem, smallest_tolerance
from core.errors import InputError
from core.estimates import Estimate, proportion
from core.fairness import row_sets
from core.serialize import Result
from core.validation import binary_array, group_array, one_length, positive_array, unit_interval

if TYPE_CHECKING:
    pass

SMALLEST_COST = 1e-6
"""What `log_odds_cost` charges where the guess is no more likely than the other group."""

_CERTAIN = 1e-12
"""Distance from 1 at which a probability counts as 1, so that its log-odds stay finite."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExponentChoice(Result):
    """The exponent of the published cost that corrects validation records best.

    Attributes
    ----------
    exponent : int or None
        The chosen exponent, the smallest of those that tie; None when no correction exists at any exponent.
    accuracy : Estimate or None
        Accuracy of the corrected guesses at the chosen exponent, on the records it was chosen on: optimistic.
    exponents : (k,) int array
        Exponents tried.
    curve : (k,) float array
        Corrected accuracy at each of them, in [0, 1]; nan when infeasible.
    reason : str
        How the choice was made, or why there is none.
    """

    exponent: int | None
    accuracy: Estimate | None
    exponents: Ints
    curve: Floats
    reason: str


def published_cost(confidence: npt.ArrayLike, exponent: float) -> Floats:
    """Return the published cost (1 + (p - min p) / (max p - min p))^k.

    Costs lie in [1, 2^k], and are all 1 where the confidence is constant. The confidence p in each guess is finite and
    above 0, the exponent k at least 0.
    """
    return _rescaled(confidence) ** _exponent(exponent)


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
    guess: npt.ArrayLike,
    confidence: npt.ArrayLike,
    predictions: npt.ArrayLike,
    truth: npt.ArrayLike,
    *,
    tolerance: float,
    metric: str,
    labels: npt.ArrayLike | None = None,
    exponents: Sequence[int] | range = range(100),
    n_groups: int = 2,
) -> ExponentChoice:
    """Return the exponent whose correction is most accurate on records with known groups.

    The exponent is None when the tolerance cannot be met on these records.

    Parameters
    ----------
    guess, predictions, truth : array-like of shape (n,)
        The adversary's guesses (0 to K - 1), the model's predictions (0 or 1) and the true groups (0 to K - 1) of the
        validation records.
    confidence : array-like of shape (n,)
        Confidence in each guess, finite and above 0.
    tolerance : float
        Disclosed bound on the unfairness, in [0, 1].
    metric, labels
        As for `core.fairness.unfairness`.
    exponents : sequence of int
        Exponents to try, at least 0; the smallest wins a tie.
    n_groups : int
        Number of groups, K. With more than two every exponent is a program of its own, so few should be tried.
    """
    predicted = binary_array(predictions, name="predictions")
    guesses, known = (group_array(v, n_groups, name=n) for v, n in ((guess, "guess"), (truth, "truth")))
    n = one_length(guess=guesses, predictions=predicted, truth=known, confidence=np.atleast_1d(confidence))
    tried = np.array(sorted({int(_exponent(k)) for k in exponents}), dtype=np.int64)
    if tried.size == 0 or n == 0:
        raise InputError("choose_exponent needs at least one exponent and one record, got none.")
    base, bound = _rescaled(confidence), unit_interval(tolerance, name="tolerance")
    if n_groups > 2:
        return _choose_by_solving(guesses, base, predicted, known, tried, bound, metric, labels, n_groups)
    correct = np.full(tried.size, np.count_nonzero(guesses == known), dtype=np.int64)
    for _, rows in row_sets(metric, labels, n):
        inside = slice(None) if rows is None else rows
        problem = RowProblem(guess=guesses[inside], predictions=predicted[inside], cost=base[inside], tolerance=bound)
        gained = _gained(problem, known[inside], tried)
        if gained is None:
            return _no_choice(tried, bound, smallest_tolerance(predicted, metric=metric, labels=labels))
        correct += gained
    return _best(tried, correct, n)


def _best(tried: Ints, correct: npt.NDArray[Any], n: int) -> ExponentChoice:
    best = int(np.nanargmax(correct))
    return ExponentChoice(
        exponent=int(tried[best]),
        accuracy=proportion(int(correct[best]), n),
        exponents=tried,
        curve=correct / n,
        reason=f"Most accurate of {tried.size} exponents on {n} validation records; the smallest wins a tie.",
    )


def _choose_by_solving(
    guesses: Codes,
    base: Floats,
    predicted: Codes,
    known: Codes,
    tried: Ints,
    tolerance: float,
    metric: str,
    labels: npt.ArrayLike | None,
    n_groups: int,
) -> ExponentChoice:
    """Correct the validation records once for each exponent."""
    from core.correction.solve import correct

    right: list[float] = []
    for exponent in tried.tolist():
        found = correct(
            guesses,
            predicted,
            tolerance=tolerance,
            metric=metric,
            labels=labels,
            cost=base**exponent,
            n_groups=n_groups,
            time_limit=math.inf,
        )
        if found.certificate.status == SolverStatus.INFEASIBLE:
            return _no_choice(
                tried, tolerance, smallest_tolerance(predicted, metric=metric, labels=labels, n_groups=n_groups)
            )
        right.append(math.nan if found.reconstruction is None else float((found.reconstruction == known).sum()))
    if np.isnan(right).all():
        return replace(
            _no_choice(tried, tolerance, math.inf),
            reason="No correction of these records was found with the work allowed.",
        )
    return _best(tried, np.array(right, dtype=np.float64), known.size)


def _no_choice(tried: Ints, tolerance: float, smallest: float) -> ExponentChoice:
    told = "no tolerance can" if math.isinf(smallest) else f"the smallest that can is {smallest:.3g}"
    return ExponentChoice(
        exponent=None,
        accuracy=None,
        exponents=tried,
        curve=np.full(tried.size, np.nan),
        reason=f"No correction of these records meets the tolerance {tolerance:g}; {told}.",
    )


def _exponent(value: float) -> float:
    if not 0 <= value < math.inf:
        raise InputError(f"exponent must be at least 0 and finite, got {value!r}.")
    return value


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
    cheapest = np.ones(exponents.size)
    x, _, certain = best_repair(
        plan, raised.base[: plan.x_limit] ** powers, lowered.base[: plan.y_limit] ** powers, cheapest
    )
    return raised.gain[x] + lowered.gain[plan.y[x]], certain
