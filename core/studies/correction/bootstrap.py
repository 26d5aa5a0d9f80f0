"""Intervals by a bootstrap through the correction itself (Efron 1979), in blocks of prices.

A correction is one optimisation over everybody: with other people the counts would differ, and with them which guesses
are changed. An interval that takes the changes as given leaves that out. Here people are resampled with replacement,
everything that is computed of them is computed again (a tolerance that was raised until it was true is raised again),
and the correction is solved for every resample; the projection by a Newton step from everybody's multipliers
(`core.studies.correction.soft`). The attacker, the prices and so the confidence exponent stay as they are, and so does
what was said as a number.

An interval holds the value and so many standard deviations of the resamples to either side, by Student's t, and the
middle of the resamples themselves. Where the optimum has a kink (the guesses may already meet the constraint; a
tolerance is raised; another attacker is the best) one of the two alone is too short on one side.

Blocks. Records are counted by row set, prediction, guess, block of neighbouring prices, and true group. Within a block
any share of the people may move, at the block's mean price. What is left of the correction is a small linear program in
the counts alone. It costs the same for a thousand people and for a million, and many samples of people are solved at
once.

Two groups. As in `core.studies.correction.exact`, the group whose rate is too low gains x people among those predicted
1 and loses y among those predicted 0. With a, b its people predicted 1 and 0, m = a + b and D = a M - b P < 0, the
bound -D <= t N min(m, N - m) is two lines in x and y,

    x (M + tN) + y (P - tN) >= -D - tN m,        x (M - tN) + y (P + tN) >= -D - tN (N - m),

and one with a factor that is not positive always holds. The cost is convex and piecewise linear, so an optimum lies
where x or y is at the end of a block, or where the lines cross: all of these are tried.

More groups. The same in the variables "how many leave each block" and "how many join each cell", by HiGHS.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...adversaries import AttackedRecords
from ...base.validation import Codes, Floats, Ints, child_generator
from ...stats.estimates import Estimate
from ...stats.fairness import row_sets
from .exact import WIDENING, cumulated, true_tolerance

BLOCKS = 32
"""Blocks a cell is cut into; they grow with the price, since the cheap move first."""


BootstrapCounts = tuple[Floats, Floats, Floats]
"""People of each group, and those inferred correctly before and after (nan: no correction), each (samples, K)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Blocks:
    """People by row set (one more for those outside of all), prediction, guess, block and true group.

    `cells`, of shape (n,), says where each record is counted; `price`, of shape (sets + 1, 2, K, BLOCKS), is the mean
    price of a block's records.
    """

    cells: npt.NDArray[np.intp]
    price: Floats

    @classmethod
    def of(
        cls, records: AttackedRecords, guess: Codes, cost: Floats | None, *, metric: str
    ) -> Blocks:
        """Sort records into blocks; `cost` is the correction cost of each guess, None for 1 each."""
        n = guess.size
        k = records.n_groups
        prices = np.ones(n) if cost is None else cost
        sets = row_sets(metric, records.labels, n)
        part = np.full(n, len(sets))
        for number, (_, rows) in enumerate(sets):
            part[slice(None) if rows is None else rows] = number
        # Cell (row set, prediction, guess); within it rank by price, ties in record order.
        cell = (2 * part + records.predictions) * k + guess
        order = np.lexsort((prices, cell))  # stable: ties stay in record order
        size = np.bincount(cell, minlength=2 * k * (len(sets) + 1))
        rank = np.empty(n)
        rank[order] = np.arange(n) - np.repeat(np.cumsum(size) - size, size)
        # Block i of B holds the shares (i / B)² to ((i + 1) / B)² of the cell: short where it is cheap.
        block = np.minimum(BLOCKS * np.sqrt((rank + 0.5) / size[cell]), BLOCKS - 1).astype(np.intp)
        block_index = cell * BLOCKS + block
        total = np.bincount(block_index, weights=prices, minlength=size.size * BLOCKS)
        count = np.bincount(block_index, minlength=size.size * BLOCKS)
        shape = (len(sets) + 1, 2, k, BLOCKS)
        return cls(
            cells=block_index * k + records.truth,
            price=(total / np.maximum(count, 1)).reshape(shape),
        )

    @property
    def n_groups(self) -> int:
        """Number of groups, K."""
        return int(self.price.shape[2])

    @cached_property
    def everybody(self) -> Floats:
        """How many people are counted where."""
        return np.bincount(self.cells, minlength=self.price.size * self.n_groups).astype(np.float64)

    def corrected(
        self, counts: Floats, tolerance: float, *, raise_until_true: bool = False
    ) -> BootstrapCounts:
        """Correct samples of people.

        Each row of `counts`, of shape (samples, places), is like `everybody`. The tolerance of each sample may be
        raised in steps of 0.001 until it is true of it.
        """
        people = counts.reshape(-1, *self.price.shape, self.n_groups)
        by_truth = people.sum(axis=(3, 4))  # sample, set, prediction, group
        tolerances = np.full(len(people), tolerance)
        if raise_until_true:
            tolerances = np.array(
                [
                    true_tolerance(tolerance, unfairness)
                    for unfairness in _unfairness(by_truth[:, :-1])
                ]
            )
        # Guessed and true group agree: inferred correctly.
        before = np.einsum("zspgbg->zg", people)
        after = before.copy()
        # Row sets are disjoint, so each is corrected on its own; people outside of all stay.
        for s, price in enumerate(self.price[:-1]):
            after += _gained(price, people[:, s], tolerances * WIDENING)
        return by_truth.sum(axis=(1, 2)), before, after


def _unfairness(count: Floats) -> Floats:
    """Return the largest distance of a group's rate from everybody's, of people by sample, set, prediction, group."""
    size = count.sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = count[:, :, 1] / size
        overall = count[:, :, 1].sum(axis=2) / size.sum(axis=2)
    return np.nan_to_num(np.abs(rate - overall[:, :, None])).max(axis=(1, 2))


def _gained(price: Floats, people: Floats, tolerance: Floats) -> Floats:
    """Return how many more people of each group are inferred correctly after the correction of one row set.

    The prices have the shape (2, K, blocks), the people (samples, 2, K, blocks, K), the tolerances (samples,).
    """
    size = people.sum(axis=4)
    if price.shape[1] == 2:
        leave, join = _of_two(price, size, tolerance)
    else:
        leave, join = _of_many(price, size, tolerance)
    # leave[z, p, g, b] people leave a block; those of each true group go in proportion.
    left = np.einsum("zpgb,zpgbt->zpgt", _quotient(leave, size), people)
    mixed = left.sum(
        axis=2
    )  # those who move, by prediction and true group; who of them goes where costs nothing
    # Of the join[z, p, g] who land in group g, the movers' share of true group g is then correct.
    arrived = join * _quotient(mixed, mixed.sum(axis=2, keepdims=True))
    return arrived.sum(axis=1) - np.einsum("zpgg->zg", left)


def _quotient(part: Floats, total: Floats) -> Floats:
    """Return part / total, 0 where the total is."""
    return part / np.where(total > 0, total, 1.0)


def _of_two(price: Floats, size: Floats, tolerance: Floats) -> tuple[Floats, Floats]:
    """Return how many leave each block and join each cell, two groups, all samples at once."""
    count = size.sum(axis=3)
    # M and P of each sample; m = a + b below is of the group with the rate too low.
    negatives, positives = count.sum(axis=2).T
    n = negatives + positives
    samples = np.arange(len(size))
    low = (count[:, 1, 1] * negatives <= count[:, 0, 1] * positives).astype(
        np.intp
    )  # the group whose rate is too low
    a = count[samples, 1, low]
    b = count[samples, 0, low]
    # -D = b P - a M >= 0, and t N.
    gap = b * positives - a * negatives
    slack = tolerance * n
    # Both lines c x + d y >= right: the first with m, the second with N - m.
    c = np.stack([negatives + slack, negatives - slack])
    d = np.stack([positives - slack, positives + slack])
    right = np.stack([gap - slack * (a + b), gap - slack * (n - a - b)])
    # tN > M or tN > P: the line holds whatever x and y, so it is replaced by 0 >= -inf.
    holds = (c <= 0) | (d <= 0)
    c = np.where(holds, 1.0, c)
    d = np.where(holds, 1.0, d)
    right = np.where(holds, -np.inf, right)
    # x people come from group `1 - low` predicted 1, y leave group `low` predicted 0.
    cells = ((1, 1 - low), (0, low))
    parts = [(size[samples, p, g], price[p, g]) for p, g in cells]
    # F and G: piecewise linear, with a kink at the end of every block.
    ends = [cumulated(block_size) for block_size, _ in parts]
    costs = [cumulated(block_size * block_price) for block_size, block_price in parts]
    with np.errstate(invalid="ignore", divide="ignore"):
        # Candidates: x at the end of a block; x where y is at the end of a block on a line; the crossing.
        crossing = (right[0] * d[1] - right[1] * d[0]) / (c[0] * d[1] - c[1] * d[0])
    from_y = ((right[:, :, None] - d[:, :, None] * ends[1]) / c[:, :, None]).max(axis=0)
    x = np.hstack([ends[0], from_y, np.nan_to_num(crossing, posinf=0.0, neginf=0.0)[:, None]])
    x = np.clip(x, 0.0, ends[0][:, -1:])
    # The least y that both lines allow.
    y = np.maximum(((right[:, :, None] - c[:, :, None] * x) / d[:, :, None]).max(axis=0), 0.0)
    # F(x) + G(y); a y beyond all people of its cell is not to be had.
    total = np.zeros_like(x)
    for z in samples:
        total[z] += np.interp(x[z], ends[0][z], costs[0][z])
        total[z] += np.interp(y[z], ends[1][z], costs[1][z])
    best = np.where(y > ends[1][:, -1:] * (1 + 1e-9), np.inf, total).argmin(axis=1)
    leave = np.zeros_like(size)
    join = np.zeros_like(count)
    for (p, g), end, moved in zip(cells, ends, (x, y), strict=True):
        chosen = moved[samples, best]
        # Whole blocks below x (or y), and of its own block what is left.
        leave[samples, p, g] = np.clip(chosen[:, None] - end[:, :-1], 0.0, np.diff(end))
        join[samples, p, 1 - g] = np.minimum(chosen, end[:, -1])
    return leave, join


def _of_many(price: Floats, size: Floats, tolerance: Floats) -> tuple[Floats, Floats]:
    """Return the same for more groups, sample by sample; nan where HiGHS finds nothing."""
    leave = np.zeros_like(size)
    join = np.zeros(size.shape[:3])
    # Samples that meet the tolerance as they are keep their guesses.
    beyond = _unfairness(size.sum(axis=3)[:, None]) - tolerance
    most = int(beyond.argmax())  # its optimum costs about as much as any
    if beyond[most] > 0.0:
        scaled = _scaled(price, size[most], float(tolerance[most]))
    else:
        scaled = price
    for number in np.flatnonzero(beyond > 0.0):
        leave[number], join[number] = _program(scaled, size[number], float(tolerance[number]))
    return leave, join


def _scaled(price: Floats, people: Floats, tolerance: float) -> Floats:
    """Return prices in the unit of about what the optimum costs, cut where one person costs more than that.

    Raw prices may span eighteen magnitudes, which HiGHS cannot distinguish. Where the optimum moves a part of a person,
    the unit is what the whole person would cost.
    """
    unit = np.inf
    scaled = np.ones_like(price)
    for _ in range(8):
        moved = _program(scaled, people, tolerance)[0]
        unit_cost = float(np.nansum(moved * price)) / min(1.0, float(np.nansum(moved)) or 1.0)
        if not 0.0 < unit_cost < unit / 4:
            break
        unit = unit_cost
        scaled = np.minimum(price / unit_cost, 4.0)
    return scaled


def _program(price: Floats, people: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """Solve the linear program of one sample."""
    from scipy.optimize import linprog

    _, k, blocks = people.shape
    count = people.sum(axis=2)
    overall = count[1].sum() / count.sum()
    # A group's people predicted p weigh so much in "rate - overall - t <= 0" and "overall - rate - t <= 0".
    weigh = np.array(
        [
            [-overall - tolerance, 1 - overall - tolerance],
            [overall - tolerance, overall - 1 - tolerance],
        ]
    )
    # Unknowns: how many leave each (prediction, group, block), then how many join each (prediction, group).
    of_cell = (weigh[:, None, :, None] * np.eye(k)[None, :, None, :]).reshape(
        2 * k, 2 * k
    )  # rows: side, group
    by_prediction = np.kron(
        np.eye(2), np.ones(k)
    )  # whoever leaves a cell joins another with the same prediction
    of_block = np.repeat(np.eye(2 * k), blocks, axis=1)
    # minimise sum of price leave, subject to weigh (count - leave + join) <= 0 of every group and
    # side, and leave = join within a prediction.
    solution = linprog(
        np.concatenate([price.ravel(), np.zeros(2 * k)]),
        A_ub=np.hstack([-of_cell @ of_block, of_cell]),
        b_ub=-of_cell @ count.ravel(),
        A_eq=np.hstack([-by_prediction @ of_block, by_prediction]),
        b_eq=np.zeros(2),
        bounds=np.stack(
            [np.zeros(price.size + 2 * k), np.append(people.ravel(), np.full(2 * k, np.inf))],
            axis=1,
        ),
        method="highs",
    )
    if solution.x is None:
        return np.full_like(people, np.nan), np.full_like(count, np.nan)
    return solution.x[: price.size].reshape(people.shape), solution.x[price.size :].reshape(
        count.shape
    )


DRAWS = 100
"""Draws of people where there are two groups."""

DRAWS_OF_MANY = 40
"""The same where there are more, and each resample takes a linear program."""

_FEWEST = 10
"""Draws with a correction below which their spread is not trusted."""

_NAME = "bootstrap of the correction"


def combine_intervals(
    estimate: Estimate, resampled: Floats, *, within: tuple[float, float] = (0.0, 1.0)
) -> Estimate:
    """Return an estimate whose interval holds its own, the spread of the resamples, and their middle.

    `resampled` holds the same number of everybody, as blocks have it, and then of each resample. How far blocks miss
    the value is added to the spread (as a square): where hardly any counts meet the tolerance, the exact correction
    jumps. Draws that are nan are left out; where fewer than ten remain, the estimate stays as it is.
    """
    drawn = resampled[1:][np.isfinite(resampled[1:])]
    if drawn.size < _FEWEST or math.isnan(estimate.value):
        return estimate
    from scipy.special import stdtrit

    # How far the blocks' optimum of everybody misses the exact one.
    offset = float(np.nan_to_num(estimate.value - resampled[0]))
    quantile = float(stdtrit(drawn.size - 1, 0.5 + estimate.level / 2))
    # t quantile times the standard deviation, and the offset as one more independent error.
    half = math.hypot(quantile * float(drawn.std(ddof=1)), offset)
    # The middle `level` of the resamples, moved by the offset.
    first, last = np.quantile(drawn, (0.5 - estimate.level / 2, 0.5 + estimate.level / 2)) + offset
    low = min(estimate.low, estimate.value - half, float(first))
    high = max(estimate.high, estimate.value + half, float(last))
    return replace(estimate, low=low, high=high).within(*within)


def bootstrap_correction(
    people: Blocks,
    tolerance: float,
    *,
    raise_until_true: bool = False,
    draws: int | None = None,
    seed: int = 0,
) -> BootstrapCounts:
    """Correct everybody (first row), and then each of the resamples."""
    drawn = draws or DRAWS_OF_MANY
    if not draws and people.n_groups == 2:
        drawn = DRAWS
    everybody = people.everybody
    rng = child_generator(seed, _NAME)
    occupied = np.flatnonzero(everybody)
    counts = np.zeros((drawn + 1, everybody.size))
    counts[0] = everybody
    n = int(everybody.sum())
    # n people drawn with replacement are a multinomial over the places.
    counts[1:, occupied] = rng.multinomial(n, everybody[occupied] / n, size=drawn)
    return people.corrected(counts, tolerance, raise_until_true=raise_until_true)


def bootstrap_jointly(
    attackers: Sequence[Blocks], tolerance: float, *, draws: int, seed: int
) -> list[BootstrapCounts]:
    """Correct what several attackers say of the same people: everybody (first row), then each of the same draws.

    The tolerance is raised until it is true of them, as in `Blocks.corrected`.
    """
    counts = [np.empty((draws + 1, attacker.everybody.size)) for attacker in attackers]
    for number, weight in enumerate(drawn_people(attackers[0].cells.size, draws, seed)):
        for count, attacker in zip(counts, attackers, strict=True):
            count[number] = np.bincount(
                attacker.cells, weights=weight, minlength=attacker.everybody.size
            )
    return [
        attacker.corrected(count, tolerance, raise_until_true=True)
        for count, attacker in zip(counts, attackers, strict=True)
    ]


def drawn_people(n: int, draws: int, seed: int) -> Iterator[Ints]:
    """Yield how often each of n people is there: once each, and then as drawn."""
    yield np.ones(n, dtype=np.int64)
    rng = child_generator(seed, _NAME)
    for _ in range(draws):
        yield np.bincount(rng.integers(0, n, size=n), minlength=n)


def accuracy_by_sample(size: Floats, correct: Floats) -> Floats:
    """Return the accuracy in each row of people by group, and of those inferred correctly; nan where nobody is."""
    people = size.sum(axis=1)
    return correct.sum(axis=1) / np.where(people > 0, people, np.nan)


def balanced_accuracy_by_sample(size: Floats, correct: Floats) -> Floats:
    """Return the balanced accuracy in each row, over the groups that are there; nan where `correct` is not known."""
    return _quotient(correct, size).sum(axis=1) / (size > 0).sum(axis=1)
