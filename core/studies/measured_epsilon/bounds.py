"""Lower bounds on the ε of a mechanism from what was seen of it, at a chosen confidence.

One run (Steinke, Nasr and Jagielski 2023, "Privacy auditing with one (1) training run"). Each of some canaries is
included with probability 1/2, independently; an attacker who sees the output guesses for r of them whether it is in. If
adding or removing a canary is (ε, δ)-private, v or more correct guesses have at most the chance

    p(ε) = min_i P[B ≥ v − i] + r δ / (2 (i + 1)),   B ~ Binomial(r, q),  q = e^ε / (1 + e^ε),  i = 0, 1 … v.

Given the output and the canaries before it, a guess is correct with probability q plus an excess, whose mean over
outputs is at most δ / (1 + e^ε), as Σ_t (P(t) − e^ε Q(t))₊ ≤ δ for the laws P and Q of the output with and without it.
So the number of correct guesses is at most B + F, with E[F] ≤ r δ / 2, and Markov's inequality bounds F > i. Which
canaries are guessed may depend on the output, their number only where δ = 0.

With δ = 0 this p(ε) is theirs, and the analysis of a whole f-DP curve (Mahloujifar, Melis and Chaudhuri 2024) adds
nothing: randomised response is ε-private and attains p(ε), so no valid p-value of correct guesses is smaller. With δ
they let F be independent of B, which it need not be: their p-value (appendix D) is exceeded where few guesses are
correct.

Two tables. Of a mechanism that can be run often, outputs on two neighbouring tables are compared: an event with
probability at least P⁻ on one and at most P⁺ on the other shows ε ≥ ln((P⁻ − δ) / P⁺). P⁻ and P⁺ are exact limits
(Clopper and Pearson 1934), each missed with half of what the confidence leaves. The event is chosen on one half of the
outputs and counted on the other.

A bound below the ε that is claimed proves nothing: another attack may show more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ...base.arrays import Floats, Ints
from ...base.serialize import Result

_MAX_BOUND = 60.0
"""Largest bound that is looked for."""

_THRESHOLDS = 200
"""Events tried on the first half of the outputs, for each direction."""


def one_run_p_value(guesses: int, correct: int, epsilon: float, delta: float = 0.0) -> float:
    """Return p(ε): a bound on the chance of so many correct guesses, or more, under (ε, δ)-privacy; in [0, 1]."""
    from scipy.stats import binom

    i = np.arange(correct + 1 if delta else 1)
    reached = binom.sf(correct - i - 1, guesses, 1.0 / (1.0 + math.exp(-epsilon)))
    return float(min(1.0, (reached + guesses * delta / (2.0 * (i + 1))).min()))


def one_run_bound(guesses: int, correct: int, *, delta: float = 0.0, confidence: float) -> float:
    """Return the largest ε that so many correct guesses reject, 0 where they reject none."""
    low = 0.0
    high = _MAX_BOUND
    for _ in range(50):
        middle = (low + high) / 2
        rejected = one_run_p_value(guesses, correct, middle, delta) < 1.0 - confidence
        low, high = (middle, high) if rejected else (low, middle)
    return low


def two_table_bound(
    draws: int,
    count: Ints | int,
    neighbour_count: Ints | int,
    *,
    delta: float = 0.0,
    confidence: float,
) -> Floats:
    """Return the ε shown by an event seen in so many of the outputs on a table and on its neighbour."""
    from scipy.special import betaincinv

    alpha = (1.0 - confidence) / 2
    k = np.asarray(count, dtype=np.float64)
    j = np.asarray(neighbour_count, dtype=np.float64)
    low = betaincinv(
        np.maximum(k, 1), draws - k + 1, alpha
    )  # with k = 0 it is below every high: 0 is shown
    high = betaincinv(
        j + 1, np.maximum(draws - j, 1), 1.0 - alpha
    )  # with j = draws above every low
    return np.log(np.maximum(low - delta, high) / high)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRun(Result):
    """What an attacker guessed of the canaries of one run."""

    guesses: int
    correct: int

    @property
    def counts(self) -> str:
        """What was counted, in words."""
        return f"{self.correct:,} of {self.guesses:,} canaries guessed correctly"

    @property
    def clearest(self) -> OneRun:
        """Every guess correct: what shows most."""
        return replace(self, correct=self.guesses)

    def bound(self, confidence: float) -> float:
        """Return the lower bound on ε."""
        return one_run_bound(self.guesses, self.correct, confidence=confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoTables(Result):
    """How often an event was seen in `draws` outputs on a table, and in as many on its neighbour."""

    draws: int
    first: int
    second: int
    delta: float = 0.0

    @property
    def counts(self) -> str:
        """What was counted, in words."""
        return f"an event in {self.first:,} and {self.second:,} of {self.draws:,} outputs"

    @property
    def clearest(self) -> TwoTables:
        """An event in all outputs on one table and in none on the other: what shows most."""
        return replace(self, first=self.draws, second=0)

    def bound(self, confidence: float) -> float:
        """Return the lower bound on ε."""
        return float(
            two_table_bound(
                self.draws, self.first, self.second, delta=self.delta, confidence=confidence
            )
        )


def distinguished(first: Floats, second: Floats, *, delta: float = 0.0) -> TwoTables:
    """Return an event chosen on the first half of the scores on two tables (n,) each, and counted on the second.

    A high score speaks for the first table, a low one for the second. Any will do: a poor one shows less, and none
    shows what is not there.
    """
    half = first.size // 2
    best = -1.0
    event = (1.0, math.inf)
    for sign in (1.0, -1.0):
        near, far = (
            np.sort(sign * scores[:half])
            for scores in ((first, second) if sign > 0 else (second, first))
        )
        thresholds = np.unique(
            np.quantile(np.concatenate([near, far]), np.linspace(0, 1, _THRESHOLDS), method="lower")
        )
        hits = [half - np.searchsorted(scores, thresholds) for scores in (near, far)]
        bounds = two_table_bound(half, hits[0], hits[1], delta=delta, confidence=0.95)
        if bounds.max() > best:
            best = float(bounds.max())
            event = (sign, float(thresholds[bounds.argmax()]))
    sign, threshold = event
    counts = [
        int(np.count_nonzero(sign * scores[half:] >= threshold)) for scores in (first, second)
    ]
    seen, rarer = counts if sign > 0 else counts[::-1]
    return TwoTables(draws=first.size - half, first=seen, second=rarer, delta=delta)
