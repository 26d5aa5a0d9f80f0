"""Guarantee of a privacy budget against any attacker, and the error of the answers.

Balanced accuracy throughout (Hamman et al. 2023, definition 5.1): half the chance of the right guess about an
advantaged person plus half that about a disadvantaged one.

For one person let α, β be the chances of the guess "advantaged" when it is right, and when it is wrong. Under
ε-differential privacy (α, β) lies in a polygon with corners (0, 0), (1, 1) and the two where one bound on the ratio α :
β and one on (1 − β) : (1 − α) meet (Wasserman and Zhou 2010; Kairouz et al. 2015); an attacker without a prior gains at
most (1 + α − β)/2, which is e^ε/(1 + e^ε) at the corner (e^ε, 1)/(1 + e^ε). With a calibrated prior q(x) the objective
for people like x is w₁α − w₀β with w₁ = q/mean(q) and w₀ = (1 − q)/mean(1 − q); its largest value over the corners is
max(0, w₁ − w₀, (w₁e^ε − w₀)/(1 + e^ε)), the fourth corner never winning. Under (ε, δ) each bound on a ratio gives way
by δ, and the corners are (δ, 0), (1, 1 − δ) and (e^ε + δ, 1 − δ)/(1 + e^ε).

An attacker who knows the group sizes links people: given the sizes, a person of the other group means that somebody
else changed too, two flips in all (such vectors can be coupled so that they differ in two places). So 2ε takes the
place of ε, (1 + e^ε)δ that of δ, and the prior that of the prior given the sizes, P(a_j = 1 | Σ a = N1), which is a
Poisson binomial law.

The error of the answers is given by the median and the 95th percentile of the absolute error, never by its mean:
Cauchy noise has none, and the average of any sample of it is an accident.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.serialize import Result
from ...base.validation import Floats
from .gaps import check_sizes, counted, local_sensitivity, people
from .mechanisms import (
    AdditiveNoise,
    LaplaceGlobal,
    Mechanism,
    NoisySums,
    Rounded,
    SmoothCauchy,
)


def two_flips(epsilon: float, delta: float) -> tuple[float, float]:
    """Return the ε and δ that (ε, δ) amounts to for an attacker who knows the group sizes."""
    return 2 * epsilon, delta and min(1.0, delta * (1 + math.exp(min(epsilon, 700.0))))


def accuracy_limit(epsilon: float, *, delta: float = 0.0, with_sizes: bool = False) -> float:
    """Return the largest balanced accuracy of an attacker who has the answers and no prior, in [0.5, 1].

    `epsilon`, at least 0, is the budget of all answers together, `delta`, in [0, 1], the probability with which they
    may break it; who knows the group sizes has the limit of both after `two_flips`.
    """
    if not epsilon >= 0:
        raise InputError(f"epsilon must be at least 0, got {epsilon!r}.")
    if with_sizes:
        epsilon, delta = two_flips(epsilon, delta)
    return (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))


def accuracy_limit_with_prior(q: Floats, epsilon: float, delta: float = 0.0) -> float:
    """Return the largest expected balanced accuracy of an attacker with a calibrated prior, in [0.5, 1].

    The prior `q` is P(advantaged) of each person before any answer, in (0, 1), of shape (R, n), in R repeats whose
    limits are averaged; at ε = 0 the limit is what it gives alone. For an attacker who knows the sizes it is that of
    `prior_given_sizes`, and `two_flips` count.
    """
    share = q.mean(axis=1, keepdims=True)
    w1 = q / share
    w0 = (1 - delta) * (1 - q) / (1 - share)
    gain = (w1 * (1 + delta * math.exp(-epsilon)) - w0 * math.exp(-epsilon)) / (
        1 + math.exp(-epsilon)
    )
    best = np.maximum(np.maximum(delta * w1, w1 - w0), gain)
    return float(min(1.0, (1 + best.mean()) / 2))


MOST_CELLS = 2_000_000
"""Ways to divide people into groups of known sizes that are summed over, times the number of people: 16 MB."""


def exact_accuracy_limit(
    scores: Floats,
    answers: Floats,
    prior: Floats,
    n_advantaged: int,
    *,
    half_width: float,
    absolute: bool,
) -> float | None:
    """Return the largest expected balanced accuracy given answers without noise, by the exact posterior.

    With p_i the probability of the advantaged group given the answers (`exact_posterior`, which is None where this is),
    a guess is worth p_i/N1 or (1 − p_i)/N0, and the better of both is Σ_i max(…)/2, whose mean over repeats is meant.
    """
    posterior = exact_posterior(
        scores, answers, prior, n_advantaged, half_width=half_width, absolute=absolute
    )
    if posterior is None:
        return None
    best = np.maximum(posterior / n_advantaged, (1.0 - posterior) / (prior.shape[1] - n_advantaged))
    return float(best.sum(axis=1).mean() / 2)


def exact_posterior(
    scores: Floats,
    answers: Floats,
    prior: Floats,
    n_advantaged: int,
    *,
    half_width: float,
    absolute: bool,
) -> Floats | None:
    """Return P(advantaged) of everybody in R repeats given answers without noise, shape (R, n).

    Summed over everything that the groups, of known sizes N1 and N0, can be. None where there are too many ways
    (`MOST_CELLS`), or in a repeat none agrees. Scores (R, m, n), answers (R, m) within `half_width` of the true ones,
    the prior (R, n) in (0, 1), independent between people before the sizes are known.
    """
    n = prior.shape[1]
    n0 = n - n_advantaged
    fewer = min(n_advantaged, n0)
    if n * math.comb(n, fewer) > MOST_CELLS:
        return None
    chosen = np.array(list(itertools.combinations(range(n), fewer)), dtype=np.intp)
    every = np.zeros((len(chosen), n))
    np.put_along_axis(every, chosen, 1.0, axis=1)
    if fewer == n0:
        every = 1.0 - every
    posterior = np.empty_like(prior)
    for r, (questions, released) in enumerate(zip(scores, answers, strict=True)):
        some = every
        for row, answer in zip(questions, released, strict=True):
            gaps = some @ row * (1 / n_advantaged + 1 / n0) - row.sum() / n0
            if absolute:
                gaps = np.abs(gaps)
            some = some[np.abs(gaps - answer) <= half_width + _ROUNDING]
        if not len(some):
            return None
        odds = some @ (np.log(prior[r]) - np.log1p(-prior[r]))
        weight = np.exp(odds - odds.max())
        posterior[r] = weight @ some / weight.sum()
    return posterior


_ROUNDING = 1e-9
"""What an answer computed again may be off by."""


def prior_given_sizes(prior: Floats, n_advantaged: int) -> Floats:
    """Return P(a_j = 1 | Σ a = n_advantaged), from 1 to n − 1, of independent people with these priors, shape (R, n).

    P(Σ of the first j = k) and P(Σ of the rest = k) by recursion; their product sums to what is wanted. The odds are
    shifted beforehand so that Σ prior = n_advantaged, which changes nothing in the result and keeps the sums away from
    the smallest numbers.
    """
    q = np.clip(prior, 1e-9, 1 - 1e-9)
    n = q.shape[1]
    p = counted(q, n_advantaged)
    before = _sums(p, n_advantaged)
    after = _sums(p[:, ::-1], n_advantaged)[::-1]
    posterior = np.empty_like(p)
    for j in range(n):
        included = np.einsum("rk,rk->r", before[j][:, :-1], after[j + 1][:, n_advantaged - 1 :: -1])
        without = np.einsum("rk,rk->r", before[j], after[j + 1][:, ::-1])
        posterior[:, j] = p[:, j] * included / (p[:, j] * included + (1 - p[:, j]) * without)
    return posterior


def _sums(p: Floats, most: int) -> Floats:
    """Return P(Σ of the first j = k), shape (n + 1, R, most + 1)."""
    repeats, n = p.shape
    law = np.zeros((n + 1, repeats, most + 1))
    law[0, :, 0] = 1.0
    for j in range(n):
        law[j + 1] = law[j] * (1 - p[:, j : j + 1])
        law[j + 1, :, 1:] += law[j, :, :-1] * p[:, j : j + 1]
    return law


def largest_loss(
    mechanism: Mechanism, n_advantaged: int, n_disadvantaged: int, m: int
) -> float | None:
    """Return how much of its budget a corrected mechanism spends at most on people in groups of these sizes.

    One person changing group moves m gaps by at most the local sensitivity LS together. Laplace noise of scale b then
    loses LS/b. Two Cauchy laws at distance d with scales σ, σ′ differ by at most arccosh(1 + (d² + (σ − σ′)²)/2σσ′) in
    log-ratio, so that with d ≤ S/m, σ = 6S/ε and scales that differ by at most e^(ε/6m)

        cosh(loss/m) ≤ (ε/6m)²/2 + cosh(ε/6m),

    which is 0.236 ε or less: the noise is larger than its ε asks for. `m` questions, at least 1, are answered together.
    None where there is no such bound: no noise, or smooth Laplace noise (which may fail with probability δ).
    """
    n1, n0 = check_sizes(n_advantaged, n_disadvantaged)
    if not mechanism.holds:
        return None
    if isinstance(mechanism, NoisySums):
        return mechanism.epsilon
    if isinstance(mechanism, SmoothCauchy):
        part = mechanism.epsilon / (6 * m)
        if part > 700:  # where cosh leaves the range of numbers, and the square no longer counts
            loss = part
        else:
            loss = math.acosh(part**2 / 2 + math.cosh(part))
        return min(mechanism.epsilon, m * loss)
    if isinstance(mechanism, LaplaceGlobal):
        moved = local_sensitivity(n1, n0, m, absolute=mechanism.absolute)
        if math.isfinite(mechanism.epsilon):
            return moved / mechanism.scale(n1, n0, m)
        return mechanism.epsilon
    return None


def targeted_leakage(mechanism: Mechanism, n_advantaged: int, n_disadvantaged: int) -> float:
    """Return the balanced accuracy against one person whom one question singles out, in [0.5, 1].

    The question accepts that person and nobody else (the paper's example 1); the attacker knows the group sizes and
    the mechanism and guesses by the likelihood ratio. Exact: the answer is 1/N1 or −1/N0, so that with c = 1/N0 + 1/N1
    Cauchy noise of scale b leaks 1/2 + arctan(c/2b)/π, and Laplace noise 1 − e^(−c/2b)/2. Noisy sums move by 1 at a
    scale of 1/(2ε₁), ε₁ being the sums' part of the budget. An absolute gap moves by |1/N0 − 1/N1| only.
    """
    n1, n0 = check_sizes(n_advantaged, n_disadvantaged)
    high = 1 / n1
    low = 1 / n0 if mechanism.absolute else -1 / n0
    if isinstance(mechanism, NoisySums):
        _, sum_scale = mechanism.scales(np.eye(1, n1 + n0))
        return _two_laws(1.0, sum_scale, "laplace")
    if isinstance(mechanism, AdditiveNoise):
        return _two_laws(abs(high - low), mechanism.scale(n1, n0, 1), mechanism.noise)
    if isinstance(mechanism, Rounded):
        high, low = np.round([high, low], mechanism.decimals)
    if high != low:
        return 1.0
    return 0.5


def _two_laws(distance: float, scale: float, noise: str) -> float:
    """Return the accuracy of telling apart two laws of one scale and shape at a distance: (1 + total variation)/2."""
    if scale == 0:
        if distance > 0:
            return 1.0
        return 0.5
    if noise == "cauchy":
        return 0.5 + math.atan(distance / (2 * scale)) / math.pi
    return 1 - math.exp(-distance / (2 * scale)) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorQuantiles(Result):
    """Absolute error of one answer."""

    median: float
    high: float
    """Half of the answers are off by at most `median`, 95 of 100 by at most `high`."""

    @property
    def exceeds_range(self) -> bool:
        """Return whether half of the answers are off by more than a gap, in [-1, 1], can be: none can be used."""
        return self.median > 1.0


def error_text(value: float) -> str:
    """Write an error of a gap with two digits: "0.21", "11.7", "149"."""
    if value == 0:
        return "0"
    if value < 0.0001:
        return "under 0.0001"
    if value >= 1000:
        return f"{float(f'{value:.2g}'):,.0f}"
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 1:
        return f"{value:.1f}"
    return f"{value:.2g}"


def answer_error(
    mechanism: Mechanism,
    scores: npt.ArrayLike,
    sensitive: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    draws: int = 2000,
) -> ErrorQuantiles:
    """Return the error of these questions' answers.

    Raises `InputError` as `Mechanism.answer`.

    Parameters
    ----------
    scores : array-like of shape (R, m, n), (m, n) or (n,), in [0, 1]
    sensitive : array-like of shape (R, n) or (n,), 0 or 1
        With R repeats, in groups of the same sizes, their errors count together.
    rng : numpy Generator
        Used where there is no closed form.
    draws : int, at least 1
        Runs drawn of noise then, over all repeats; each gives m errors.
    """
    every = np.asarray(sensitive)
    repeats = zip(np.asarray(scores), every, strict=True) if every.ndim == 2 else [(scores, every)]
    samples = [people(*repeat) for repeat in repeats]
    h, a = samples[0]
    if isinstance(mechanism, AdditiveNoise):
        n1 = int(a.sum())
        scale = mechanism.scale(n1, a.size - n1, len(h))
        heavy = mechanism.noise == "cauchy"
        middle, high = (1.0, math.tan(0.475 * math.pi)) if heavy else (math.log(2), math.log(20))
        return ErrorQuantiles(median=middle * scale, high=high * scale)
    if isinstance(mechanism, NoisySums):
        runs = max(1, draws // len(samples))
    else:
        runs = 1
    off = [mechanism.draws(h, a, rng=rng, draws=runs) - mechanism.exact(h, a) for h, a in samples]
    median, high = np.quantile(np.abs(np.concatenate(off)), [0.5, 0.95])
    return ErrorQuantiles(median=float(median), high=float(high))
