"""Intervals of what a disclosure gives away, by a bootstrap through the correction itself (Efron 1979).

A correction is one optimisation over everybody: with other people the counts would differ, and with them which guesses
are changed. An interval that takes the changes as given leaves that out. Here people are drawn anew with replacement,
everything that is computed of them is computed again (a tolerance that was raised until it was true is raised anew),
and the correction is solved for every draw: in blocks of neighbouring prices (`core.correction.blocks`), the projection
by a Newton step from everybody's multipliers (`core.correction.tilt`). The attacker, the prices and so the confidence
exponent stay as they are, and so does what was said as a number.

An interval holds the value and so many standard deviations of the draws to either side, by Student's t, and the middle
of the draws themselves. Where the optimum has a kink (the guesses may already agree with the promise; a tolerance is
raised; another attacker is the best) one of the two alone is too short on one side.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.arrays import Floats, Ints
from core.correction.blocks import Blocks, Named
from core.correction.tilt import Tilt
from core.estimates import Estimate
from core.seeds import child_generator

DRAWS = 100
"""Draws of people where there are two groups."""

DRAWS_OF_MANY = 40
"""The same where there are more, and each draw takes a linear program."""

DRAWS_OF_PROJECTIONS = 30
"""The same for a projection."""

_FEWEST = 10
"""Draws with a correction below which their spread is not trusted."""

_NAME = "bootstrap of the correction"


def widened(own: Estimate, found: Floats, *, within: tuple[float, float] = (0.0, 1.0)) -> Estimate:
    """Return an estimate whose interval holds its own, the spread of the draws, and their middle.

    Parameters
    ----------
    own : Estimate
        With an interval that takes what was changed as given; it keeps some width where no draw differs.
    found : ndarray of shape (draws + 1,)
        The same number of everybody, as blocks have it, and then of each draw. How far blocks miss the value is added
        to the spread (as a square): where hardly any counts meet the tolerance, the exact correction jumps. Draws that
        are nan are left out; where fewer than ten remain, the estimate stays as it is.
    """
    drawn = found[1:][np.isfinite(found[1:])]
    if drawn.size < _FEWEST or math.isnan(own.value):
        return own
    from scipy.special import stdtrit

    off = float(np.nan_to_num(own.value - found[0]))
    quantile = float(stdtrit(drawn.size - 1, 0.5 + own.level / 2))
    half = math.hypot(quantile * float(drawn.std(ddof=1)), off)
    first, last = np.quantile(drawn, (0.5 - own.level / 2, 0.5 + own.level / 2)) + off
    return Estimate(
        value=own.value,
        low=max(within[0], min(own.low, own.value - half, float(first))),
        high=min(within[1], max(own.high, own.value + half, float(last))),
        n=own.n,
        level=own.level,
    )


def named_in_draws(
    people: Blocks, tolerance: float, *, raise_until_true: bool = False, draws: int | None = None, seed: int = 0
) -> Named:
    """Correct everybody (first row), and then each of the draws."""
    drawn = draws or (DRAWS if people.n_groups == 2 else DRAWS_OF_MANY)
    everybody, rng = people.everybody, child_generator(seed, _NAME)
    there = np.flatnonzero(everybody)
    counts = np.zeros((drawn + 1, everybody.size))
    counts[0] = everybody
    n = int(everybody.sum())
    counts[1:, there] = rng.multinomial(n, everybody[there] / n, size=drawn)
    return people.corrected(counts, tolerance, raise_until_true=raise_until_true)


def named_together(
    attackers: Sequence[Blocks], tolerance: float, *, raise_until_true: bool = False, draws: int, seed: int = 0
) -> list[Named]:
    """Correct what several attackers say of the same people: everybody (first row), then each of the same draws."""
    counts = [np.empty((draws + 1, each.everybody.size)) for each in attackers]
    for number, weight in enumerate(_drawn_people(attackers[0].place.size, draws, seed)):
        for count, each in zip(counts, attackers, strict=True):
            count[number] = np.bincount(each.place, weights=weight, minlength=each.everybody.size)
    return [
        each.corrected(count, tolerance, raise_until_true=raise_until_true)
        for count, each in zip(counts, attackers, strict=True)
    ]


def _drawn_people(n: int, draws: int, seed: int) -> Iterator[Ints]:
    """Yield how often each of n people is there: once each, and then as drawn."""
    yield np.ones(n, dtype=np.int64)
    rng = child_generator(seed, _NAME)
    for _ in range(draws):
        yield np.bincount(rng.integers(0, n, size=n), minlength=n)


def rightly(size: Floats, named: Floats) -> Floats:
    """Return the accuracy in each row of people by group, and of those named rightly; nan where nobody is."""
    return _share(named.sum(axis=1), size.sum(axis=1))


def rightly_balanced(size: Floats, named: Floats) -> Floats:
    """Return the balanced accuracy in each row, over the groups that are there."""
    return np.asarray(np.nansum(_share(named, size), axis=1) / (size > 0).sum(axis=1))


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(part / np.where(whole > 0, whole, np.nan))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """What an attacker reaches at one step: everybody in the first row, then each of the draws; nan where unknown.

    `size` and `right`, of shape (draws + 1, K), are the people of each group, and how many of them are named rightly;
    `log_loss`, of shape (draws + 1,), is a mean over people, in nats.
    """

    size: Floats
    right: Floats
    log_loss: Floats


def steps_in_draws(
    posterior: Floats,
    surprise: Floats,
    truth: npt.NDArray[np.intp],
    pattern: npt.NDArray[np.intp],
    tilts: Mapping[str, Tilt | None],
    *,
    draws: int = DRAWS_OF_PROJECTIONS,
    seed: int = 0,
) -> dict[str, Step]:
    """Measure an attacker told several things, each a step of its own.

    Parameters
    ----------
    posterior : ndarray of shape (n, K)
    surprise : ndarray of shape (n,)
        Log-loss of each person under the posterior.
    truth, pattern : ndarray of shape (n,)
        Group and pattern (see `core.projection`) of each person.
    tilts : mapping of str to Tilt or None
        None for the posterior itself.
    """
    k = posterior.shape[1]
    order = np.argsort(pattern, kind="stable")
    with np.errstate(divide="ignore"):
        logs = np.log(posterior[order])
    truth, pattern = truth[order], pattern[order]
    spans = list(itertools.pairwise(np.searchsorted(pattern, np.arange(5)).tolist()))
    tables = {name: tilt.columns(logs, pattern) for name, tilt in tilts.items() if tilt is not None}
    table = np.hstack([np.eye(k)[truth], surprise[order][:, None], *tables.values()])
    ends = np.cumsum([k + 1, *(each.shape[1] for each in tables.values())]).tolist()
    own = {name: slice(*span) for name, span in zip(tables, itertools.pairwise(ends), strict=True)}
    by_group = np.ascontiguousarray(logs.T)
    guessed = by_group.argmax(axis=0) == truth
    size = np.empty((draws + 1, k))
    right = {name: np.full((draws + 1, k), np.nan) for name in tilts}
    loss = {name: np.full(draws + 1, np.nan) for name in tilts}
    for number, people in enumerate(_drawn_people(truth.size, draws, seed)):
        weight = people.astype(np.float64)
        sums = np.stack([weight[a:b] @ table[a:b] for a, b in spans])
        true, said = sums[:, :k], sums[:, k]
        size[number] = true.sum(axis=0)
        for name, tilt in tilts.items():
            named, change = guessed, 0.0
            if tilt is not None:
                there = tilt.moved(true, sums[:, own[name]])
                if there is None:
                    continue
                shift, change = there
                guess = [(by_group[:, a:b] + shift[p][:, None]).argmax(axis=0) for p, (a, b) in enumerate(spans)]
                named = np.concatenate(guess) == truth
            loss[name][number] = said.sum() / truth.size + change
            right[name][number] = np.bincount(truth, weights=weight * named, minlength=k)
    return {name: Step(size=size, right=right[name], log_loss=loss[name]) for name in tilts}
