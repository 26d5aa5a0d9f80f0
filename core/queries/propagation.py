"""The noise-aware attacker: P(advantaged) of everybody by expectation propagation.

Expectation propagation (Minka 2001): P(z_j = 1) of many people from noisy linear answers about them.

Answers y_i = o_i + g_i·z + e_i, i = 1..m, z in {0, 1}^n with prior P(z_j = 1), their number Σ z known. Either kind of
noise is a Gaussian of a random precision, whose expectation, given the expected squared residual R_i, is

    Cauchy of scale b:    w_i = 2/(b² + R_i)
    Laplace of scale b:   w_i = 1/(b √R_i)

Each person's prior is replaced by a Gaussian site with precision τ_j and shift h_j, so that with W = diag(w) the
posterior is Gaussian with precision Gᵀ W G + diag(τ); by Woodbury one solve of size m gives its means μ and variances
σ². Taking person j's own site away leaves a cavity, precision 1/σ_j² − τ_j =: k and mean c; her probability is then

    logit p_j = logit prior_j + k (c − ½),

and her new site is the one whose product with the cavity has mean p_j and variance p_j (1 − p_j). Unlike mean field it
keeps track of how uncertain everybody else is, which is what decides when answers say much: on Adult's race (n = 100,
25 sums at ε = 100) it recovers 79% where mean field recovers 67%, less than the prior alone.

The noise is taken for larger at first and lowered round by round, or the iteration can settle on a poor point; sites
move half way. Where it runs away all the same, as it may with nearly exact answers, the probabilities no longer fit
them, and the last that did are returned. Repeats are computed together, each as if it were alone.

The attacker knows the scores, the mechanism, the group sizes and perhaps a prior from other features. With z_j = 1 for
the disadvantaged, c = 1/N0 + 1/N1 and r = 1/N1, a gap is h·r − c h·z, and a noisy sum is x·z with x the centred scores:
either way y_i = o_i + g_i·z + e_i with known o, g, which `propagate` reads. Because Σ z = N0 exactly, the rows g_i are
centred first (o takes the rest), which takes away what the people have in common.

Absolute gaps are no linear answers. They are read where each question accepts one person: her gap is 1/N1 or 1/N0 in
size (theorem 4 of Hamman et al. 2023), and the noise's law at the two gives the odds exactly.

Expectation propagation is an approximation: rankings and balanced guesses are good (see the tests for how far they are
from the exact posterior of few people), single probabilities less so when answers say much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.errors import InputError
from core.queries.gaps import check_sizes, counted, score_matrix
from core.queries.mechanisms import AdditiveNoise, Mechanism, NoisySums, SumsRelease, centred_scores
from core.validation import probabilities

_ROUNDS = 40
_SETTLED = 2e-3  # largest move of a probability in a round that counts as none
_FEWEST = 6  # rounds before the search may stop
_STEP = 0.5
_START, _FALL = 1.0, 0.85  # the noise is taken for at least start · fall^round, in units of one person's largest effect
_COUNT_VARIANCE = 1e-3  # of the number of people, which is known
_FITS = 2.0  # median misfit, in scales of the noise, up to which probabilities count as fitting the answers
_SUREST = 1e-6
_FARTHEST = 1e50  # in effects of one person: answers and noise so large say nothing, but their squares must be numbers


def propagate(rows: Floats, target: Floats, *, noise: str, scale: Floats | float, n_ones: int, prior: Floats) -> Floats:
    """Return P(z = 1) of everybody in R repeats, shape (R, n), in (0, 1).

    `rows` (R, m, n) are what one person adds to each answer, `target` (R, m) the answers less what they are without
    anybody, `noise` "laplace" or "cauchy" with `scale` above 0, broadcast to (R, m); `n_ones` is Σ z, `prior` (R, n) in
    (0, 1) is P(z = 1).
    """
    repeats, m, n = rows.shape
    effect = np.abs(rows).max(axis=(1, 2), keepdims=True)[:, :, 0]
    unit = np.where(effect > 0, effect, 1.0)
    b = np.maximum(np.broadcast_to(np.asarray(scale, dtype=np.float64), (repeats, m)) / unit, 1e-9)
    g = np.concatenate([rows / unit[:, :, np.newaxis], np.ones((repeats, 1, n))], axis=1)
    y = np.hstack([target / unit, np.full((repeats, 1), float(n_ones))])
    y, b = np.clip(y, -_FARTHEST, _FARTHEST), np.minimum(b, _FARTHEST)
    state = _begun(g, y, b, np.clip(prior, _SUREST, 1 - _SUREST))
    kept, going = state.p.copy(), np.arange(repeats)
    for turn in range(_ROUNDS):
        floor = _START * _FALL**turn
        before = state.p
        state = _round(state, noise, floor)
        misfit = np.abs(state.y - _times(state.g, state.p))[:, :m] / np.maximum(state.b, floor)
        fits = np.median(misfit, axis=1) <= _FITS
        kept[going[fits]] = state.p[fits]
        settled = (np.abs(state.p - before).max(axis=1) < _SETTLED) & (state.b.min(axis=1) >= floor)
        if turn >= _FEWEST and settled.any():
            going, state = going[~settled], state.only(~settled)
            if not going.size:
                break
    return kept


@dataclass(slots=True)
class _State:
    """Where some repeats stand: answers y (R, m + 1) with the count, noise, probabilities, sites, squared residuals."""

    g: Floats
    y: Floats
    b: Floats
    odds: Floats
    p: Floats
    site: Floats
    shift: Floats
    squared: Floats

    def only(self, chosen: npt.NDArray[np.bool_]) -> _State:
        """Return the state of some repeats."""
        return _State(*(getattr(self, name)[chosen] for name in _State.__dataclass_fields__))


def _times(g: Floats, x: Floats) -> Floats:
    """Return g x for each repeat, shape (R, m + 1)."""
    return np.asarray((g @ x[:, :, np.newaxis])[:, :, 0])


def _begun(g: Floats, y: Floats, b: Floats, p: Floats) -> _State:
    """Return the state before any answer is taken in."""
    variance = p * (1 - p)
    squared = (y - _times(g, p)) ** 2 + _times(g**2, variance)
    return _State(g, y, b, np.log(p) - np.log1p(-p), p, 1.0 / variance, p / variance, squared[:, :-1])


def _round(state: _State, noise: str, floor: float) -> _State:
    """Return the state after one round, with the noise taken for at least `floor`."""
    g = state.g
    variance: Floats = np.full_like(state.y, _COUNT_VARIANCE)
    variance[:, :-1] = 1.0 / _precision(noise, np.maximum(state.b, floor), state.squared)
    inverse = 1.0 / state.site
    scaled = g * inverse[:, np.newaxis, :]
    system = scaled @ g.transpose(0, 2, 1)
    diagonal = np.arange(len(state.y[0]))
    system[:, diagonal, diagonal] += variance
    inverted: Floats = np.linalg.inv(system).astype(np.float64, copy=False)
    middle = inverse * state.shift
    pull = _times(inverted, state.y - _times(g, middle))
    mean = middle + (pull[:, np.newaxis, :] @ scaled)[:, 0, :]
    sigma = np.maximum(inverse - np.einsum("rmn,rmn->rn", scaled, inverted @ scaled), 1e-12)
    spread = variance - variance**2 * inverted[:, diagonal, diagonal]
    squared = (state.y - _times(g, mean)) ** 2 + np.maximum(spread, 0.0)
    p, site, shift = _sites(state.odds, mean, sigma, state.site, state.shift)
    return _State(g, state.y, state.b, state.odds, p, site, shift, squared[:, :-1])


def _precision(noise: str, scale: Floats, squared: Floats) -> Floats:
    """Return the expected precision of the noise given the expected squared residuals."""
    if noise == "cauchy":
        return np.asarray(2.0 / (scale**2 + squared))
    return np.asarray(1.0 / (scale * np.sqrt(np.maximum(squared, 1e-24))))


def _sites(odds: Floats, mean: Floats, sigma: Floats, site: Floats, shift: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the new probabilities and, half way towards them, the new sites."""
    cavity = np.maximum(1.0 / sigma - site, 1e-6)
    centre = (mean / sigma - shift) / cavity
    p = 0.5 * (1.0 + np.tanh(0.5 * np.clip(odds + cavity * (centre - 0.5), -30.0, 30.0)))
    variance = np.maximum(p * (1 - p), 1e-7)
    wanted = np.maximum(1.0 / variance - cavity, 1e-3)
    moved = p * (wanted + cavity) - centre * cavity
    return p, (1 - _STEP) * site + _STEP * wanted, (1 - _STEP) * shift + _STEP * moved


SHARPEST = 0.03  # exact answers are taken for noisy by this share of a person's effect: with less, propagation sticks

Answers = npt.ArrayLike | SumsRelease | Sequence[SumsRelease]


def decode_noisy(
    scores: npt.ArrayLike,
    answers: npt.ArrayLike | SumsRelease,
    mechanism: Mechanism,
    *,
    n_advantaged: int,
    n_disadvantaged: int,
    prior: npt.ArrayLike | None = None,
) -> Floats:
    """Return the attacker's P(advantaged) of each person after one set of answers, shape (n,), in [0, 1].

    But for absolute gaps they add up to `n_advantaged`. Raises `InputError` if lengths or sizes do not fit together, a
    value is out of its range, or absolute gaps are of questions that accept several people.

    Parameters
    ----------
    scores : array-like of shape (m, n) or (n,), in [0, 1]
        What was asked; for equal opportunity, the columns of the people with label 1.
    answers : array-like of shape (m,), or SumsRelease
        What was answered; the release of `NoisySums` says more than its gaps.
    mechanism : Mechanism
        How it was answered.
    n_advantaged, n_disadvantaged : int, at least 1, together n
        The group sizes: an attacker who has them is bound by e^(2ε), not e^ε (see `accuracy_limit`).
    prior : array-like of shape (n,), in [0, 1], optional
        P(advantaged) before any answer; by default the groups' shares.
    """
    h = score_matrix(scores)
    given: Answers = [answers] if isinstance(answers, SumsRelease) else np.asarray(answers)[np.newaxis]
    p = None if prior is None else np.asarray(prior)[np.newaxis]
    sizes = {"n_advantaged": n_advantaged, "n_disadvantaged": n_disadvantaged}
    return np.asarray(decode_many(h[np.newaxis], given, mechanism, prior=p, **sizes)[0])


def decode_many(
    scores: npt.ArrayLike,
    answers: Answers,
    mechanism: Mechanism,
    *,
    n_advantaged: int,
    n_disadvantaged: int,
    prior: npt.ArrayLike | None = None,
) -> Floats:
    """Return `decode_noisy` of R repeats at once, shape (R, n): scores (R, m, n), answers (R, m) or R releases."""
    h = np.asarray(scores, dtype=np.float64)
    if h.ndim != 3 or not h.size:
        raise InputError(f"scores must have shape (repeats, questions, people), got {h.shape}.")
    score_matrix(h.reshape(-1, h.shape[2]))
    n1, n0 = check_sizes(n_advantaged, n_disadvantaged)
    if n1 + n0 != h.shape[2]:
        raise InputError(f"n_advantaged and n_disadvantaged must add up to {h.shape[2]} people, got {n1} and {n0}.")
    before = _disadvantaged(prior, (h.shape[0], h.shape[2]), n0)
    if mechanism.absolute and not _releases(answers):
        return np.asarray(1.0 - _from_sizes(h, np.asarray(answers, dtype=np.float64), mechanism, (n1, n0), before))
    rows, target, scale = _linear(h, answers, mechanism, n1, n0)
    noise = "cauchy" if mechanism.noise == "cauchy" else "laplace"
    ones = propagate(rows, target, noise=noise, scale=scale, n_ones=n0, prior=before)
    return np.asarray(1.0 - counted(ones, n0))


def balanced_guess(probability: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Return the guess of the highest expected balanced accuracy: 1 where P(advantaged) is above its mean.

    Naming a person advantaged gains p/N1 if right against (1 − p)/N0: worth it for p > N1/n, the mean of p.
    """
    p = np.asarray(probability, dtype=np.float64)
    return np.asarray(p > p.mean(axis=-1, keepdims=True), dtype=np.uint8)


def _linear(
    h: Floats, answers: Answers, mechanism: Mechanism, n1: int, n0: int
) -> tuple[Floats, Floats, float | Floats]:
    """Return rows (R, m, n) adding up to 0 over the people, answers less their offset (R, m), and the noise's scale."""
    releases = _releases(answers)
    if releases:
        y = np.asarray([release.sums for release in releases])
        rows, offset = centred_scores(h), np.zeros(h.shape[:2])
        scale: float | Floats = np.asarray([[release.scales.sums] for release in releases])
    else:
        y = np.asarray(answers, dtype=np.float64)
        rows, offset = h * -(1 / n0 + 1 / n1), h.sum(axis=2) / n1
        scale = _scale(h, mechanism, n1, n0)
    _check_answers(y, h)
    middle = rows.mean(axis=2)
    return rows - middle[:, :, np.newaxis], y - offset - n0 * middle, scale


def _check_answers(y: Floats, h: Floats) -> None:
    if y.shape != h.shape[:2]:
        raise InputError(f"answers must have shape {h.shape[:2]}, one for each question, got {y.shape}.")
    if not np.isfinite(y).all():
        raise InputError("answers must be finite numbers.")


def _from_sizes(h: Floats, y: Floats, mechanism: Mechanism, sizes: tuple[int, int], before: Floats) -> Floats:
    """Return P(disadvantaged), shape (R, n), from absolute gaps of models that accept one person each."""
    _check_answers(y, h)
    accepted = h.argmax(axis=2)
    if not ((h.sum(axis=2) == 1.0) & (h.max(axis=2) == 1.0)).all():
        raise InputError("Absolute gaps are read from questions that accept one person each; these accept others too.")
    scale = _scale(h, mechanism, *sizes)
    advantaged, disadvantaged = ((np.abs(y - 1.0 / size) / scale) for size in sizes)
    if mechanism.noise == "cauchy":
        evidence = np.log1p(advantaged**2) - np.log1p(disadvantaged**2)
    else:
        evidence = advantaged - disadvantaged
    p = np.clip(before, 1e-12, 1 - 1e-12)
    odds = np.log(p) - np.log1p(-p)
    np.add.at(odds, (np.arange(len(h))[:, np.newaxis], accepted), evidence)
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * odds)))


def _releases(answers: Answers) -> list[SumsRelease]:
    """Return the releases among the answers; none where they are gaps."""
    if isinstance(answers, SumsRelease):
        return [answers]
    if not isinstance(answers, Sequence):
        return []
    return [one for one in answers if isinstance(one, SumsRelease)]


def _scale(h: Floats, mechanism: Mechanism, n1: int, n0: int) -> float | Floats:
    """Return the scale of the noise on a gap; for noisy sums that of the sums, the count taken for known."""
    if isinstance(mechanism, AdditiveNoise):
        return mechanism.scale(n1, n0, h.shape[1])
    if isinstance(mechanism, NoisySums):
        return np.array([[mechanism.scales(one).sums * (1 / n0 + 1 / n1)] for one in h])
    sharpest = SHARPEST * (1 / n0 + 1 / n1)
    return max(sharpest, mechanism.half_width)


def _disadvantaged(prior: npt.ArrayLike | None, shape: tuple[int, int], n0: int) -> Floats:
    """Return P(disadvantaged) before any answer, shape (R, n)."""
    if prior is None:
        return np.full(shape, n0 / shape[1])
    p = np.asarray(prior, dtype=np.float64)
    if p.shape != shape:
        raise InputError(f"prior must have one value for each of {shape[1]} people and repeat, got shape {p.shape}.")
    return np.asarray(1.0 - probabilities(p.ravel(), name="prior").reshape(shape))
