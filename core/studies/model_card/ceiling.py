"""The most that any attacker with a given prior can expect: what stands above every attack on a card.

Without noise. People with the same label and the same predictions make a cell, and the published numbers depend on
the counts of group 1 in the cells alone. The prior is independent between people, so a cell's count follows a Poisson
binomial law, and counts of cells are independent. The exact posterior is a sum over the vectors of counts that agree
with the numbers. Given its count, a person with prior q in a cell of n people is of group 1 with probability

    q · L(c − 1) / P(c),   P(c) = q L(c − 1) + (1 − q) L(c),

with P the law of the cell's count and L that of the others'. An attacker who guesses everybody's likelier group is
correct with probability max(p, 1 − p) for each, and nobody can expect more from these numbers and this prior.

With privacy noise. One person's attribute changes the probability of any output by a factor of e^ε at most, whatever
the others' are, so also after averaging over them. With α and β the chances of the guess "group 1" for a person of
group 1 and of group 0, a guess is correct with probability q α + (1 − q)(1 − β), where α ≤ e^ε β and
1 − β ≤ e^ε (1 − α). The corners of what is possible are (0, 0), (1, 1) and (e^ε, 1)/(1 + e^ε), and (1, e^ε)/(1 + e^ε)
which is never better; so the best attacker can expect max(q, 1 − q, e^ε / (1 + e^ε)), over the noise. Randomised
response attains it. The idea of reporting a reconstruction attack beside such a ceiling is that of arXiv 2507.08158.

Both hold where the prior is right, and for attackers who know no more than it and the card.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...base.arrays import Floats, Mask
from ...base.serialize import Result
from ...base.validation import probabilities
from .published_counts import SIZE_PARTS, part_of, value_of
from .release import Published

MOST_PEOPLE = 400
MOST_VECTORS = 1_000_000
"""Vectors of counts that are summed over."""

_ROUNDING = 1e-9
"""What a number computed again may be off by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling(Result):
    """The share of people that any attacker with the prior can expect to guess correctly, at most.

    `exact` says whether it is that of the exact posterior; otherwise it follows from the card's ε, over the noise.
    """

    accuracy: float
    exact: bool


def ceiling(prior: npt.ArrayLike, published: Published) -> Ceiling | None:
    """Return the ceiling of a card; None without noise where the group is too large, or nothing agrees with the card.

    `prior`, shape (n,), is P(s_i = 1) before, independent between people.
    """
    epsilon = published.release.epsilon
    if epsilon is not None:
        return Ceiling(accuracy=accuracy_under(prior, epsilon), exact=False)
    posterior = exact_posterior(prior, published)
    if posterior is None:
        return None
    return Ceiling(accuracy=float(np.maximum(posterior, 1.0 - posterior).mean()), exact=True)


def accuracy_under(prior: npt.ArrayLike, epsilon: float) -> float:
    """Return the largest expected accuracy under ε-differential privacy, for independent priors (n,)."""
    q = np.asarray(prior, dtype=np.float64)
    return float(np.maximum(np.maximum(q, 1.0 - q), 1.0 / (1.0 + math.exp(-epsilon))).mean())


def exact_posterior(prior: npt.ArrayLike, published: Published) -> Floats | None:
    """Return P(s_i = 1 | numbers without noise), shape (n,); None where there are too many, or none, to sum over."""
    release = published.release
    q = probabilities(prior, release.n, name="prior")
    shape = tuple(int(people) + 1 for people in release.cells.people)
    if release.n > MOST_PEOPLE or math.prod(shape) > MOST_VECTORS:
        return None
    members = [np.flatnonzero(release.cells.pattern == cell) for cell in range(len(shape))]
    laws = [_laws(q[people])[-1] for people in members]
    weight = _agreeing(published, shape).astype(np.float64)
    for law in laws:  # each law along the axis of its cell, which comes to the front in turn
        weight = np.moveaxis(weight, 0, -1) * law
    total = weight.sum()
    if not total > 0:
        return None
    posterior = np.empty(release.n)
    for cell, (people, law) in enumerate(zip(members, laws, strict=True)):
        counts = weight.sum(axis=tuple(axis for axis in range(len(shape)) if axis != cell)) / total
        posterior[people] = _given_count(q[people], law) @ counts
    return np.clip(posterior, 0.0, 1.0)


def _laws(q: Floats) -> list[Floats]:
    """Return the laws of the number of successes among the first 0, 1, ..., n."""
    laws = [np.ones(1)]
    for probability in q:
        laws.append(np.convolve(laws[-1], [1.0 - probability, probability]))
    return laws


def _given_count(q: Floats, law: Floats) -> Floats:
    """Return P(s_i = 1 | count) for each person and count, shape (n, n + 1); 0 for counts that cannot be.

    The law of the others is that of those before and after, which holds its digits in the tails, too.
    """
    n = q.size
    before = _laws(q)
    after = _laws(q[::-1])
    joint = np.zeros((n, n + 1))
    joint[:, 1:] = [
        probability * np.convolve(before[i], after[n - 1 - i]) for i, probability in enumerate(q)
    ]
    return np.divide(joint, law, out=np.zeros_like(joint), where=law > 0)


def _agreeing(published: Published, shape: tuple[int, ...]) -> Mask:
    """Return which vectors of counts agree with all numbers, one axis a cell."""
    release = published.release
    cells = published.release.cells
    axes = [
        np.arange(n).reshape([-1 if i == j else 1 for j in range(len(shape))])
        for i, n in enumerate(shape)
    ]

    def total(selected: Mask) -> Floats:
        parts = [axis for axis, included in zip(axes, selected, strict=True) if included]
        return np.asarray(sum(parts, np.zeros((1,) * len(shape))), dtype=np.float64)

    agrees = np.ones(shape, dtype=np.bool_)
    row = {name: i for i, name in enumerate(release.names)}
    for number in published.numbers:
        part = part_of(number.statistic)
        size = total(cells.inside(part))
        if number.statistic in SIZE_PARTS:
            agrees &= np.abs(size - number.value) < 0.5
            continue
        people = float(cells.size(part))
        agrees &= (size > 0) & (
            size < people
        )  # a rate of one group, too, is published where there are both
        accepted = cells.inside(part) & (cells.predictions[row[number.model]] == 1)
        positives = float(cells.people[accepted].sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            values = value_of(number.statistic, total(accepted), size, positives, people)
        agrees &= (values >= number.low - _ROUNDING) & (values <= number.high + _ROUNDING)
    return agrees
