"""Intervals by a bootstrap through the correction itself (Efron 1979), in blocks of prices.

A correction is one optimisation over everybody: with other people the counts would differ, and with them which guesses
are changed. An interval that takes the changes as given leaves that out. Here people are resampled with replacement,
everything that is computed of them is computed again (a tolerance that was raised until it was true is raised again),
and the correction is solved for every resample; the projection by a Newton step from everybody's multipliers
(`core.correction.soft`). The attacker, the prices and so the confidence exponent stay as they are, and so does what was
said as a number.

An interval holds the value and so many standard deviations of the resamples to either side, by Student's t, and the
middle of the resamples themselves. Where the optimum has a kink (the guesses may already meet the constraint; a
tolerance is raised; another attacker is the best) one of the two alone is too short on one side.

Blocks. Records are counted by row set, prediction, guess, block of neighbouring prices, and true group. Within a block
any share of the people may move, at the block's mean price. What is left of the correction is a small linear program in
the counts alone. It costs the same for a thousand people and for a million, and many samples of people are solved at
once.

Two groups. As in `core.correction.exact`, the group whose rate is too low gains x people among those predicted 1 and
loses y among those predicted 0. With a, b its people predicted 1 and 0, m = a + b and D = a M - b P < 0, the bound
-D <= t N min(m, N - m) is two lines in x and y,

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

from core.adversaries import AttackedRecords
from core.arrays import Codes, Floats, Ints
from core.correction.exact import WIDENING, cumulated, true_tolerance
from core.estimates import Estimate
from core.fairness import row_sets
from core.seeds import child_generator

BLOCKS = 32
"""Blocks a cell is cut into; they grow with the price, since the cheap move first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Named:
    """People of each group, and those inferred correctly before and after (nan: no correction), (samples, K)."""

    size: Floats
    before: Floats
    after: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Blocks:
    """People by row set (one more for those outside of all), prediction, guess, block and true group.

    `place`, of shape (n,), says where each record is counted; `price`, of shape (sets + 1, 2, K, BLOCKS), is the mean
    price of a block's records.
    """

    place: npt.NDArray[np.intp]
    price: Floats

    @classmethod
    def of(cls, records: AttackedRecords, guess: Codes, cost: Floats | None, *, metric: str) -> Blocks:
        """Sort records into blocks; `cost` is the correction cost of each guess, None for 1 each."""
        n, k = guess.size, records.n_groups
        prices = np.ones(n) if cost is None else cost
        sets = row_sets(metric, records.labels, n)
        part = np.full(n, len(sets))
        for number, (_, rows) in enumerate(sets):
            part[slice(None) if rows is None else rows] = number
        cell = (2 * part + records.predictions) * k + guess
        order = np.lexsort((prices, cell))  # stable: ties stay in record order
        size = np.bincount(cell, minlength=2 * k * (len(sets) + 1))
        rank = np.empty(n)
        rank[order] = np.arange(n) - np.repeat(np.cumsum(size) - size, size)
        block = np.minimum(BLOCKS * np.sqrt((rank + 0.5) / size[cell]), BLOCKS - 1).astype(np.intp)
        own = cell * BLOCKS + block
        total = np.bincount(own, weights=prices, minlength=size.size * BLOCKS)
        count = np.bincount(own, minlength=size.size * BLOCKS)
        shape = (len(sets) + 1, 2, k, BLOCKS)
        return cls(place=own * k + records.truth, price=(total / np.maximum(count, 1)).reshape(shape))

    @property
    def n_groups(self) -> int:
        """Number of groups, K."""
        return int(self.price.shape[2])

    @cached_property
    def everybody(self) -> Floats:
        """How many people are counted where."""
        return np.bincount(self.place, minlength=self.price.size * self.n_groups).astype(np.float64)

    def corrected(self, counts: Floats, tolerance: float, *, raise_until_true: bool = False) -> Named:
        """Correct samples of people.

        Each row of `counts`, of shape (samples, places), is like `everybody`. The tolerance of each sample may be
        raised in steps of 0.001 until it is true of it.
        """
        people = counts.reshape(-1, *self.price.shape, self.n_groups)
        by_truth = people.sum(axis=(3, 4))  # sample, set, prediction, group
        told = np.full(len(people), tolerance)
        if raise_until_true:
            told = np.array([true_tolerance(tolerance, each) for each in _unfairness(by_truth[:, :-1])])
        before = np.einsum("zspgbg->zg", people)
        after = before.copy()
        for s, price in enumerate(self.price[:-1]):
            after += _gained(price, people[:, s], told * WIDENING)
        return Named(size=by_truth.sum(axis=(1, 2)), before=before, after=after)


def _unfairness(count: Floats) -> Floats:
    """Return the largest distance of a group's rate from everybody's, of people by sample, set, prediction, group."""
    size = count.sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate, overall = count[:, :, 1] / size, count[:, :, 1].sum(axis=2) / size.sum(axis=2)
    return np.asarray(np.nan_to_num(np.abs(rate - overall[:, :, None])).max(axis=(1, 2)))


def _gained(price: Floats, people: Floats, tolerance: Floats) -> Floats:
    """Return how many more people of each group are inferred correctly after the correction of one row set.

    The prices have the shape (2, K, blocks), the people (samples, 2, K, blocks, K), the tolerances (samples,).
    """
    size = people.sum(axis=4)
    leave, join = (_of_two if price.shape[1] == 2 else _of_many)(price, size, tolerance)
    left = np.einsum("zpgb,zpgbt->zpgt", _quotient(leave, size), people)
    mixed = left.sum(axis=2)  # those who move, by prediction and true group; who of them goes where costs nothing
    arrived = join * _quotient(mixed, mixed.sum(axis=2, keepdims=True))
    return np.asarray(arrived.sum(axis=1) - np.einsum("zpgg->zg", left))


def _quotient(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, 0 where the whole is."""
    return np.asarray(part / np.where(whole > 0, whole, 1.0))


def _of_two(price: Floats, size: Floats, tolerance: Floats) -> tuple[Floats, Floats]:
    """Return how many leave each block and join each cell, two groups, all samples at once."""
    count = size.sum(axis=3)
    negatives, positives = count.sum(axis=2).T
    n, each = negatives + positives, np.arange(len(size))
    low = (count[:, 1, 1] * negatives <= count[:, 0, 1] * positives).astype(np.intp)  # the group whose rate is too low
    a, b = count[each, 1, low], count[each, 0, low]
    gap, slack = b * positives - a * negatives, tolerance * n
    c = np.stack([negatives + slack, negatives - slack])
    d = np.stack([positives - slack, positives + slack])
    right = np.stack([gap - slack * (a + b), gap - slack * (n - a - b)])
    holds = (c <= 0) | (d <= 0)
    c, d, right = np.where(holds, 1.0, c), np.where(holds, 1.0, d), np.where(holds, -np.inf, right)
    cells = ((1, 1 - low), (0, low))
    parts = [(size[each, p, g], price[p, g]) for p, g in cells]
    ends = [cumulated(own) for own, _ in parts]
    costs = [cumulated(own * at) for own, at in parts]
    with np.errstate(invalid="ignore", divide="ignore"):
        crossing = (right[0] * d[1] - right[1] * d[0]) / (c[0] * d[1] - c[1] * d[0])
    from_y = ((right[:, :, None] - d[:, :, None] * ends[1]) / c[:, :, None]).max(axis=0)
    x = np.hstack([ends[0], from_y, np.nan_to_num(crossing, posinf=0.0, neginf=0.0)[:, None]])
    x = np.clip(x, 0.0, ends[0][:, -1:])
    y = np.maximum(((right[:, :, None] - c[:, :, None] * x) / d[:, :, None]).max(axis=0), 0.0)
    total = sum(
        np.array([np.interp(*one) for one in zip(moved, end, cost, strict=True)])
        for moved, end, cost in zip((x, y), ends, costs, strict=True)
    )
    best = np.where(y > ends[1][:, -1:] * (1 + 1e-9), np.inf, total).argmin(axis=1)
    leave, join = np.zeros_like(size), np.zeros_like(count)
    for (p, g), end, moved in zip(cells, ends, (x, y), strict=True):
        chosen = moved[each, best]
        leave[each, p, g] = np.clip(chosen[:, None] - end[:, :-1], 0.0, np.diff(end))
        join[each, p, 1 - g] = np.minimum(chosen, end[:, -1])
    return leave, join


def _of_many(price: Floats, size: Floats, tolerance: Floats) -> tuple[Floats, Floats]:
    """Return the same for more groups, sample by sample; nan where HiGHS finds nothing."""
    leave, join = np.zeros_like(size), np.zeros(size.shape[:3])
    beyond = _unfairness(size.sum(axis=3)[:, None]) - tolerance
    most = int(beyond.argmax())  # its optimum costs about as much as any
    scaled = _scaled(price, size[most], float(tolerance[most])) if beyond[most] > 0.0 else price
    for number in np.flatnonzero(beyond > 0.0):
        leave[number], join[number] = _program(scaled, size[number], float(tolerance[number]))
    return leave, join


def _scaled(price: Floats, people: Floats, tolerance: float) -> Floats:
    """Return prices in the unit of about what the optimum costs, cut where one person costs more than that.

    Raw prices may span eighteen magnitudes, which HiGHS cannot distinguish. Where the optimum moves a part of a person,
    the unit is what the whole person would cost.
    """
    unit, scaled = np.inf, np.ones_like(price)
    for _ in range(8):
        moved = _program(scaled, people, tolerance)[0]
        found = float(np.nansum(moved * price)) / min(1.0, float(np.nansum(moved)) or 1.0)
        if not 0.0 < found < unit / 4:
            break
        unit, scaled = found, np.minimum(price / found, 4.0)
    return scaled


def _program(price: Floats, people: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """Solve the linear program of one sample."""
    from scipy.optimize import linprog

    _, k, blocks = people.shape
    count = people.sum(axis=2)
    overall = count[1].sum() / count.sum()
    # A group's people predicted p weigh so much in "rate - overall - t <= 0" and "overall - rate - t <= 0".
    weigh = np.array([[-overall - tolerance, 1 - overall - tolerance], [overall - tolerance, overall - 1 - tolerance]])
    of_cell = (weigh[:, None, :, None] * np.eye(k)[None, :, None, :]).reshape(2 * k, 2 * k)  # rows: side, group
    both = np.kron(np.eye(2), np.ones(k))  # whoever leaves a cell joins another with the same prediction
    of_block = np.repeat(np.eye(2 * k), blocks, axis=1)
    found = linprog(
        np.concatenate([price.ravel(), np.zeros(2 * k)]),
        A_ub=np.hstack([-of_cell @ of_block, of_cell]),
        b_ub=-of_cell @ count.ravel(),
        A_eq=np.hstack([-both @ of_block, both]),
        b_eq=np.zeros(2),
        bounds=np.stack([np.zeros(price.size + 2 * k), np.append(people.ravel(), np.full(2 * k, np.inf))], axis=1),
        method="highs",
    )
    if found.x is None:
        return np.full_like(people, np.nan), np.full_like(count, np.nan)
    return found.x[: price.size].reshape(people.shape), found.x[price.size :].reshape(count.shape)


DRAWS = 100
"""Draws of people where there are two groups."""

DRAWS_OF_MANY = 40
"""The same where there are more, and each resample takes a linear program."""

_FEWEST = 10
"""Draws with a correction below which their spread is not trusted."""

_NAME = "bootstrap of the correction"


def widened(own: Estimate, found: Floats, *, within: tuple[float, float] = (0.0, 1.0)) -> Estimate:
    """Return an estimate whose interval holds its own, the spread of the resamples, and their middle.

    `found` holds the same number of everybody, as blocks have it, and then of each resample. How far blocks miss the
    value is added to the spread (as a square): where hardly any counts meet the tolerance, the exact correction jumps.
    Draws that are nan are left out; where fewer than ten remain, the estimate stays as it is.
    """
    drawn = found[1:][np.isfinite(found[1:])]
    if drawn.size < _FEWEST or math.isnan(own.value):
        return own
    from scipy.special import stdtrit

    off = float(np.nan_to_num(own.value - found[0]))
    quantile = float(stdtrit(drawn.size - 1, 0.5 + own.level / 2))
    half = math.hypot(quantile * float(drawn.std(ddof=1)), off)
    first, last = np.quantile(drawn, (0.5 - own.level / 2, 0.5 + own.level / 2)) + off
    low, high = min(own.low, own.value - half, float(first)), max(own.high, own.value + half, float(last))
    return replace(own, low=low, high=high).within(*within)


def named_in_draws(
    people: Blocks, tolerance: float, *, raise_until_true: bool = False, draws: int | None = None, seed: int = 0
) -> Named:
    """Correct everybody (first row), and then each of the resamples."""
    drawn = draws or (DRAWS if people.n_groups == 2 else DRAWS_OF_MANY)
    everybody, rng = people.everybody, child_generator(seed, _NAME)
    there = np.flatnonzero(everybody)
    counts = np.zeros((drawn + 1, everybody.size))
    counts[0] = everybody
    n = int(everybody.sum())
    counts[1:, there] = rng.multinomial(n, everybody[there] / n, size=drawn)
    return people.corrected(counts, tolerance, raise_until_true=raise_until_true)


def named_together(attackers: Sequence[Blocks], tolerance: float, *, draws: int, seed: int) -> list[Named]:
    """Correct what several attackers say of the same people: everybody (first row), then each of the same draws.

    The tolerance is raised until it is true of them, as in `Blocks.corrected`.
    """
    counts = [np.empty((draws + 1, each.everybody.size)) for each in attackers]
    for number, weight in enumerate(drawn_people(attackers[0].place.size, draws, seed)):
        for count, each in zip(counts, attackers, strict=True):
            count[number] = np.bincount(each.place, weights=weight, minlength=each.everybody.size)
    return [
        each.corrected(count, tolerance, raise_until_true=True) for count, each in zip(counts, attackers, strict=True)
    ]


def drawn_people(n: int, draws: int, seed: int) -> Iterator[Ints]:
    """Yield how often each of n people is there: once each, and then as drawn."""
    yield np.ones(n, dtype=np.int64)
    rng = child_generator(seed, _NAME)
    for _ in range(draws):
        yield np.bincount(rng.integers(0, n, size=n), minlength=n)


def rightly(size: Floats, named: Floats) -> Floats:
    """Return the accuracy in each row of people by group, and of those inferred correctly; nan where nobody is."""
    return _share(named.sum(axis=1), size.sum(axis=1))


def rightly_balanced(size: Floats, named: Floats) -> Floats:
    """Return the balanced accuracy in each row, over the groups that are there; nan where `named` is not known."""
    return np.asarray(_quotient(named, size).sum(axis=1) / (size > 0).sum(axis=1))


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(part / np.where(whole > 0, whole, np.nan))
