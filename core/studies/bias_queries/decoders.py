"""Decoders that reconstruct the attribute from answers to bias queries: one a kind of attacker, whatever the noise.

Three kinds of attacker read the same answers:

- "strongest" knows the group sizes, the noise and, from features and label, a prior for every person;
- "without_prior" knows the sizes and the noise, and nothing of the people;
- "published" reads as Hamman et al. (2023) do, as if there were no noise.

Three programs read them too, as if there were no noise but rounding: "nonnegative" and "box" know the group sizes,
"sizes_unknown" does not.

Which computation stands behind a kind depends on the answers. Everybody's probability comes from `propagate`; with
exact or rounded answers about few people, from all groups that would give them (`exact_posterior`). Where such answers
have the bits to tell all attributes apart, people who would give these very answers are the truth, and the attacker
sees that they would: the likeliest are tried, then a linear program. Not so people who can change places in such a
vector, as with the same scores. Exact answers about flipped or packed people, and absolute gaps, are read person by
person.

The attacker knows the scores, the mechanism, the group sizes and perhaps a prior from other features. With z_j = 1 for
the disadvantaged, c = 1/N0 + 1/N1 and r = 1/N1, a gap is h·r − c h·z, and a noisy sum is x·z with x the centred scores:
either way y_i = o_i + g_i·z + e_i with known o, g, which `propagate` reads. Because Σ z = N0 exactly, the rows g_i are
centred first (o takes the rest), which takes away what the people have in common.

Noisy absolute gaps are no linear answers. They are read where each question accepts one person: the gap is 1/N1 or 1/N0
in size (theorem 4 of Hamman et al. 2023), and the noise's law at the two gives the odds exactly.

Expectation propagation (Minka 2001) finds P(z_j = 1) of many people from noisy linear answers about them. Answers y_i =
o_i + g_i·z + e_i, i = 1..m, z in {0, 1}^n with prior P(z_j = 1), their number Σ z known. Either kind of noise is a
Gaussian of a random precision, whose expectation, given the expected squared residual R_i, is

    Cauchy of scale b:    w_i = 2/(b² + R_i)
    Laplace of scale b:   w_i = 1/(b √R_i)

Each person's prior is replaced by a Gaussian site with precision τ_j and shift h_j, so that with W = diag(w) the
posterior is Gaussian with precision Gᵀ W G + diag(τ); by Woodbury one solve of size m gives its means μ and variances
σ². Taking person j's own site away leaves a cavity, precision 1/σ_j² − τ_j =: k and mean c; their probability is then

    logit p_j = logit prior_j + k (c − ½),

and their new site is the one whose product with the cavity has mean p_j and variance p_j (1 − p_j). Unlike mean field
it keeps track of how uncertain everybody else is, which is what decides when answers say much: on Adult's race (n =
100, 25 sums at ε = 100) it recovers 79% where mean field recovers 67%, less than the prior alone.

The noise is taken for larger at first and lowered round by round, or the iteration can settle on a poor point; sites
move half way. Where it runs away all the same, as it may with nearly exact answers, the probabilities no longer fit
them, and the last that did are returned. Repeats are computed together, each as if it were alone.

Expectation propagation is an approximation: rankings and balanced guesses are good (see the tests for how far they are
from the exact posterior of few people), single probabilities less so when answers say much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...base.errors import InputError
from ...base.validation import Floats, choice
from .gaps import counted
from .guarantees import exact_posterior
from .mechanisms import AdditiveNoise, Rounded, centred_scores
from .reveal import DecodedAttribute, recover_compressed, reveal_bits

_ROUNDS = 40
_SETTLED = 2e-3  # largest move of a probability in a round that counts as none
_FEWEST = 6  # rounds before the search may stop
_STEP = 0.5
# the noise is taken for at least start · fall^round, in units of one person's largest effect
_START = 1.0
_FALL = 0.85
_COUNT_VARIANCE = 1e-3  # of the number of people, which is known
_FITS = 2.0  # median misfit, in scales of the noise, up to which probabilities count as fitting the answers
_SUREST = 1e-6
_FARTHEST = 1e50  # in effects of one person: answers and noise so large say nothing, but their squares must be numbers


def propagate(
    rows: Floats, target: Floats, *, noise: str, scale: Floats | float, n_ones: int, prior: Floats
) -> Floats:
    """Return P(z = 1) of everybody in R repeats, shape (R, n), in (0, 1).

    `rows` (R, m, n) are what one person adds to each answer, `target` (R, m) the answers less what they are without
    anybody, `noise` "laplace" or "cauchy" with `scale` above 0, broadcast to (R, m); `n_ones` is Σ z, `prior` (R, n) in
    (0, 1) is P(z = 1).
    """
    repeats, m, n = rows.shape
    effect = np.abs(rows).max(axis=(1, 2), keepdims=True)[:, :, 0]
    unit = np.where(effect > 0, effect, 1.0)
    # Rows in units of one person's largest effect, and one more that knows Σ z: an answer of ones.
    g = np.concatenate([rows / unit[:, :, np.newaxis], np.ones((repeats, 1, n))], axis=1)
    with np.errstate(over="ignore"):
        b = np.broadcast_to(scale, (repeats, m)) / unit
        y = np.hstack([target / unit, np.full((repeats, 1), float(n_ones))])
    # Beyond this answers and noise say nothing, but their squares must stay numbers.
    y = np.clip(y, -_FARTHEST, _FARTHEST)
    b = np.clip(b, 1e-9, _FARTHEST)
    p = np.clip(prior, _SUREST, 1 - _SUREST)
    odds = np.log(p) - np.log1p(-p)
    variance = p * (1 - p)
    # Sites before any answer: precision τ_j = 1 / (p_j (1 - p_j)), shift h_j = τ_j p_j.
    site = 1.0 / variance
    shift = p / variance
    # R_i = (y_i - o_i - g_i·p)² + Σ_j g_ij² p_j (1 - p_j), the expected squared residual.
    squared = (y - _times(g, p)) ** 2 + _times(g**2, variance)
    probability = p.copy()
    going = np.arange(repeats)
    for turn in range(_ROUNDS):
        # Annealing: b is taken for at least `floor`, which falls by a constant factor a round.
        floor = _START * _FALL**turn
        width = np.maximum(b[going], floor)
        mean, sigma, squared[going] = _moments(
            g[going],
            y[going],
            _noise_variance(noise, width, squared[going]),
            site[going],
            shift[going],
        )
        before = p[going]
        p[going], site[going], shift[going] = _sites(
            odds[going], mean, sigma, site[going], shift[going]
        )
        # |y_i - o_i - g_i·p| in scales of the noise: probabilities that fit are remembered.
        misfit = np.abs(y[going] - _times(g[going], p[going]))[:, :m] / width
        fitting = going[np.median(misfit, axis=1) <= _FITS]
        probability[fitting] = p[fitting]
        # A repeat is done when its probabilities move no more and its own noise is reached.
        still = np.abs(p[going] - before).max(axis=1) < _SETTLED
        settled = still & (b[going].min(axis=1) >= floor)
        if turn >= _FEWEST:
            going = going[~settled]
        if not going.size:
            break
    return probability


def _times(g: Floats, x: Floats) -> Floats:
    """Return g x for each repeat, shape (R, m + 1)."""
    return (g @ x[:, :, np.newaxis])[:, :, 0]


def _noise_variance(noise: str, scale: Floats, squared: Floats) -> Floats:
    """Return 1 / w, (R, m + 1), given the expected squared residuals; of Σ z next to nothing."""
    variance: Floats = np.full_like(squared, _COUNT_VARIANCE)
    # Cauchy w = 2 / (b² + R), Laplace w = 1 / (b √R).
    if noise == "cauchy":
        precision = 2.0 / (scale**2 + squared[:, :-1])
    else:
        precision = 1.0 / (scale * np.sqrt(np.maximum(squared[:, :-1], 1e-24)))
    variance[:, :-1] = 1.0 / precision
    return variance


def _moments(
    g: Floats, y: Floats, variance: Floats, site: Floats, shift: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the posterior's means and variances, (R, n), and the expected squared residuals, (R, m + 1)."""
    # Woodbury: (Gᵀ W G + diag τ)⁻¹ = T - T Gᵀ (W⁻¹ + G T Gᵀ)⁻¹ G T with T = diag(1 / τ).
    inverse = 1.0 / site
    scaled = g * inverse[:, np.newaxis, :]
    system = scaled @ g.transpose(0, 2, 1)
    diagonal = np.arange(y.shape[1])
    system[:, diagonal, diagonal] += variance
    inverted: Floats = np.linalg.inv(system).astype(np.float64, copy=False)
    # μ = T h + T Gᵀ S⁻¹ (y - G T h), with S = W⁻¹ + G T Gᵀ.
    middle = inverse * shift
    pull = _times(inverted, y - _times(g, middle))
    mean = middle + (pull[:, np.newaxis, :] @ scaled)[:, 0, :]
    # σ_j² = 1 / τ_j - (T Gᵀ S⁻¹ G T)_jj.
    sigma = np.maximum(inverse - np.einsum("rmn,rmn->rn", scaled, inverted @ scaled), 1e-12)
    # Posterior variance of g_i·z is v - v² S⁻¹_ii with v = 1 / w_i; R_i adds it to (y_i - g_i·μ)².
    spread = variance - variance**2 * inverted[:, diagonal, diagonal]
    squared = (y - _times(g, mean)) ** 2 + np.maximum(spread, 0.0)
    return mean, sigma, squared


def _sites(
    odds: Floats, mean: Floats, sigma: Floats, site: Floats, shift: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the new probabilities and, half way towards them, the new sites."""
    # Cavity: k = 1 / σ_j² - τ_j and c = (μ_j / σ_j² - h_j) / k.
    cavity = np.maximum(1.0 / sigma - site, 1e-6)
    centre = (mean / sigma - shift) / cavity
    # logit p_j = logit prior_j + k (c - ½), as N(1; c, 1/k) / N(0; c, 1/k) = exp(k (c - ½)).
    p = 0.5 * (1.0 + np.tanh(0.5 * np.clip(odds + cavity * (centre - 0.5), -30.0, 30.0)))
    variance = np.maximum(p * (1 - p), 1e-7)
    # Site · cavity has mean p_j and variance p_j (1 - p_j): subtract what the cavity brings.
    precision = np.maximum(1.0 / variance - cavity, 1e-3)
    moved = p * (precision + cavity) - centre * cavity
    return p, (1 - _STEP) * site + _STEP * precision, (1 - _STEP) * shift + _STEP * moved


DECODERS = ("strongest", "without_prior", "published")
"""Kinds of attackers, from the one that knows most."""

PROGRAMS = ("nonnegative", "box", "sizes_unknown")
"""Linear programs that read exact or rounded answers alone."""

DECODER_TITLES = {
    "published": "ℓ1 decoder (paper)",
    "nonnegative": "Nonnegative LP",
    "box": "Box-constrained LP",
    "sizes_unknown": "LP, sizes unknown",
    "without_prior": "Bayesian decoder without prior",
    "strongest": "Bayesian decoder with prior",
}
"""What to call each of both."""

_INTEGER_TOLERANCE = 1e-6
"""How far from 0 and 1 a linear program's solution may lie and count as whole."""

_ROUNDING = 1e-9
"""How far sums in floating point may be off."""

_SHARPEST = 0.03
"""Exact answers are taken for noisy by this share of a person's effect: with less, propagation sticks."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnsweredQueries:
    """Questions about n people, and their answers, in R repeats with the same group sizes."""

    design: str
    """One of `core.studies.bias_queries.gaps.DESIGNS`, or "single" (question j accepts person j only)."""
    scores: Floats
    """(R, m, n)"""
    answers: Floats
    """(R, m)"""
    released: Sequence[Floats]
    """(m,) each: the noisy sums behind the answers of each repeat; empty where there are none."""
    prior: Floats
    """(R, n): P(advantaged) from features and label."""
    mechanism: Any
    """How the answers were made."""
    n_advantaged: int
    n_disadvantaged: int

    @property
    def share(self) -> float:
        """Share of the advantaged."""
        return self.n_advantaged / (self.n_advantaged + self.n_disadvantaged)


def read_answers(answered: AnsweredQueries, decoder: str) -> list[DecodedAttribute]:
    """Return what one kind of attacker makes of the answers, one reading a repeat."""
    choice(decoder, (*DECODERS, *PROGRAMS), name="decoder")
    repeats, m, n = answered.scores.shape
    if not m:
        return [_by_person(answered, decoder, r, np.zeros(n)) for r in range(repeats)]
    # min over s >= 0 (or in the box 0 <= s <= c) subject to η = H s (equation 7).
    if decoder in PROGRAMS:
        return [_compressed(answered, r, decoder, None) for r in range(repeats)]
    noisy = answered.mechanism.noisy
    published = decoder == "published"
    # |SP| without noise: theorem 4, person by person.
    if answered.mechanism.absolute and (published or not noisy):
        return [
            _by_person(answered, decoder, r, _absolute_evidence(answered, r))
            for r in range(repeats)
        ]
    if published and answered.design in (
        "targeted",
        "bits",
    ):  # as the paper does: differences, bits
        return [
            _by_person(answered, decoder, r, _person_evidence(answered, r)) for r in range(repeats)
        ]
    if published:  # or the shortest vector in l1
        return [_compressed(answered, r, "l1", None) for r in range(repeats)]
    # Attackers who know the noise: exact or rounded answers, then noisy ones.
    if not noisy:
        return _noiseless(answered, decoder)
    return _propagated(answered, aware=decoder == "strongest")


def _from_posterior(advantaged: Floats, share: float) -> DecodedAttribute:
    """Call those advantaged whose probability is above the group's share: the best rule for balanced accuracy."""
    recovered = (advantaged > share + 1e-12).astype(np.uint8)
    return DecodedAttribute(values=1.0 - advantaged, threshold=1.0 - share, recovered=recovered)


def _compressed(
    answered: AnsweredQueries, r: int, method: str, prior: Floats | None
) -> DecodedAttribute:
    # Algorithm 2 for "l1": min ‖s‖₁ s.t. η = H s, â_j = 0 where s_j > ½ (1/N1 + 1/N0).
    slack = 0.0 if method == "l1" else answered.mechanism.half_width
    recovery = recover_compressed(
        answered.scores[r],
        answered.answers[r],
        n_advantaged=answered.n_advantaged,
        n_disadvantaged=answered.n_disadvantaged,
        method=method,
        prior=prior,
        slack=slack,
    )
    # s_j / c: the threshold is c / 2.
    values = recovery.values / (2.0 * recovery.threshold)
    if math.isnan(recovery.threshold):
        # No s solves the program: the groups alone.
        values = np.asarray(1.0 - recovery.recovered)
    return replace(recovery, values=values, threshold=0.5)


def _noiseless(answered: AnsweredQueries, decoder: str) -> list[DecodedAttribute]:
    """Read exact or rounded answers: by everybody's probability, and by linear programs where it does not fit them."""
    repeats = range(len(answered.scores))
    aware = decoder == "strongest"
    if answered.mechanism.noise == "none" and answered.design == "bits":
        return [_by_person(answered, decoder, r, _person_evidence(answered, r)) for r in repeats]
    if aware:
        before = np.clip(answered.prior, 1e-12, 1 - 1e-12)
    else:
        before = np.full(answered.prior.shape, answered.share)
    inputs = (answered.scores, answered.answers, before)
    half_width = answered.mechanism.half_width
    # All vectors of N0 ones that give the answers, weighed by the prior: few people only.
    few = exact_posterior(*inputs, answered.n_advantaged, half_width=half_width, absolute=False)
    if few is not None:
        return [_from_posterior(p, answered.share) for p in few]
    if answered.mechanism.noise == "none" and answered.design == "targeted":
        return [_flipped(answered, r, aware=aware) for r in repeats]
    decoded = _propagated(answered, aware=aware)
    for r in repeats:
        if (
            # A vector that explains answers with enough bits is the truth, but for swaps.
            _suffices(answered, r)
            and (solution := _explained(answered, r, decoded[r], aware=aware)) is not None
        ):
            decoded[r] = _but_for_swaps(answered, r, solution, aware=aware)
    return decoded


def _explained(
    answered: AnsweredQueries, r: int, decoded: DecodedAttribute, *, aware: bool
) -> Floats | None:
    """Return who is disadvantaged (1) in a vector that gives the answers: the likeliest, or a linear program's."""
    likeliest = np.zeros(decoded.values.size)
    # The N0 likeliest as the disadvantaged; do they give the answers?
    likeliest[np.argsort(-decoded.values, kind="stable")[: answered.n_disadvantaged]] = 1.0
    if _gives_answers(answered, r, likeliest):
        return likeliest
    for prior in (answered.prior[r], None) if aware else (None,):  # a prior may mislead
        # Else the box program, where its solution is whole.
        solved = _compressed(answered, r, "box", prior).values
        rounded = np.rint(solved)
        is_integral = np.abs(solved - rounded).max() <= _INTEGER_TOLERANCE
        if is_integral and _gives_answers(answered, r, rounded):
            return np.asarray(rounded)
    return None


def _gives_answers(answered: AnsweredQueries, r: int, disadvantaged: Floats) -> bool:
    """Whether the answers are those with these people as the disadvantaged group, but for their rounding."""
    room = answered.mechanism.half_width + _ROUNDING
    return bool((np.abs(_missed(answered, r, disadvantaged)) <= room).all())


def _missed(answered: AnsweredQueries, r: int, disadvantaged: Floats) -> Floats:
    """Return by how much the answers differ from those with these people as the disadvantaged group, shape (m,)."""
    # SP = H v with v_j = 1/N1 for the advantaged and -1/N0 for the others (equation 4).
    weights = np.where(
        disadvantaged > 0, -1.0 / answered.n_disadvantaged, 1.0 / answered.n_advantaged
    )
    return answered.answers[r] - answered.scores[r] @ weights


def _but_for_swaps(
    answered: AnsweredQueries, r: int, disadvantaged: Floats, *, aware: bool
) -> DecodedAttribute:
    """Read a vector that gives the answers as certain, but for people who can change places in it.

    Where two people of different groups can, as with the same scores, the answers disclose only how many of each group
    there are among those who can together.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    h = answered.scores[r]
    effect = 1.0 / answered.n_disadvantaged + 1.0 / answered.n_advantaged
    missed = _missed(answered, r, disadvantaged)
    room = answered.mechanism.half_width + _ROUNDING
    advantaged = 1.0 - disadvantaged
    n = disadvantaged.size
    ones = np.flatnonzero(disadvantaged)
    zeros = np.flatnonzero(advantaged)
    swaps = np.ones((ones.size, zeros.size), dtype=bool)
    for row, off in zip(h, missed, strict=True):
        # Exchanging i (disadvantaged) and j changes answer k by c (h_ki - h_kj): within its rounding?
        swaps &= np.abs(off - effect * (row[ones, np.newaxis] - row[zeros])) <= room
        if not swaps.any():
            return DecodedAttribute(
                values=disadvantaged, threshold=0.5, recovered=advantaged.astype(np.uint8)
            )
    links = ones[swaps.nonzero()[0]], zeros[swaps.nonzero()[1]]
    # Chains of possible swaps make one class; of it only the count of each group is known.
    _, together = connected_components(
        coo_array((np.ones(links[0].size), links), shape=(n, n)), directed=False
    )
    if aware:
        before = answered.prior[r]
    else:
        before = np.full(n, answered.share)
    for component in np.unique(together[links[0]]):
        some = together == component
        odds = np.clip(before[some], 1e-12, 1 - 1e-12)[np.newaxis]
        advantaged[some] = counted(odds, int(advantaged[some].sum()))[0]
    return _from_posterior(advantaged, answered.share)


def _suffices(answered: AnsweredQueries, r: int) -> bool:
    """Return whether the answers have the bits to tell all attributes of these sizes apart.

    Else a program's whole solution can meet them by coincidence. A rounded answer, or a count of accepted people, takes
    steps. Answers of covariance K over attributes drawn at random then have about log2 det(I + 2πe K/step²)/2 bits
    together; much alike, they have hardly more than one of them.
    """
    h = answered.scores[r]
    n1 = answered.n_advantaged
    n0 = answered.n_disadvantaged
    n = n1 + n0
    effect = 1.0 / n1 + 1.0 / n0
    step = 2 * answered.mechanism.half_width
    if ((h == 0) | (h == 1)).all():
        step = max(effect, step)
    if not step:
        return True
    # K = c² N1 N0 / (n - 1) times the covariance of the scores, a drawn without replacement.
    covariance = np.cov(h, bias=True) * effect**2 * n1 * n0 / (n - 1)
    bits = np.linalg.slogdet(np.eye(len(h)) + 2 * math.pi * math.e * covariance / step**2)[
        1
    ] / math.log(4)
    # log (n choose N0), the number of attribute vectors.
    vectors = math.lgamma(n + 1) - math.lgamma(n1 + 1) - math.lgamma(n0 + 1)
    return bool(bits >= vectors / math.log(2))


def _propagated(answered: AnsweredQueries, *, aware: bool) -> list[DecodedAttribute]:
    """Read all repeats by everybody's probability."""
    return [_from_posterior(p, answered.share) for p in _posterior(answered, aware=aware)]


def _posterior(answered: AnsweredQueries, *, aware: bool) -> Floats:
    """Return P(advantaged) of everybody in every repeat, shape (R, n)."""
    h = answered.scores
    n1 = answered.n_advantaged
    n0 = answered.n_disadvantaged
    if aware:
        before = 1.0 - answered.prior
    else:
        before = np.full((len(h), h.shape[2]), n0 / h.shape[2])
    if answered.mechanism.absolute and not answered.released:
        return 1.0 - _from_sizes(answered, before)
    if answered.released:
        # Noisy sums: x·z with x the centred scores, so o = 0 and g = x.
        y = np.asarray(answered.released)
        rows = centred_scores(h)
        offset = np.zeros(h.shape[:2])
        scale: float | Floats = np.array([answered.mechanism.scales(scores)[1:] for scores in h])
    else:
        y = answered.answers
        # A gap: SP = h·r - c h·z, so o = Σ_j h_j / N1 and g = -c h.
        rows = h * -(1 / n0 + 1 / n1)
        offset = h.sum(axis=2) / n1
        scale = _scale(answered)
    # Σ z = N0 exactly: g_i - mean(g_i), and o_i takes N0 mean(g_i).
    middle = rows.mean(axis=2)
    rows = rows - middle[:, :, np.newaxis]
    target = y - offset - n0 * middle
    if answered.mechanism.noise == "cauchy":
        noise = "cauchy"
    else:
        noise = "laplace"
    ones = propagate(rows, target, noise=noise, scale=scale, n_ones=n0, prior=before)
    return 1.0 - counted(ones, n0)


def _scale(answered: AnsweredQueries) -> float:
    """Return the scale of the noise on a gap; exact answers count as nearly so."""
    mechanism = answered.mechanism
    n1 = answered.n_advantaged
    n0 = answered.n_disadvantaged
    if isinstance(mechanism, AdditiveNoise):
        return mechanism.scale(n1, n0, answered.scores.shape[1])
    return max(_SHARPEST * (1 / n0 + 1 / n1), mechanism.half_width)


def _from_sizes(answered: AnsweredQueries, before: Floats) -> Floats:
    """Return P(disadvantaged), shape (R, n), from absolute gaps of models that accept one person each."""
    h = answered.scores
    y = answered.answers
    if not ((h.sum(axis=2) == 1.0) & (h.max(axis=2) == 1.0)).all():
        raise InputError(
            "Absolute gaps are read from questions that accept one person each; these accept others too."
        )
    scale = max(_scale(answered), _ROUNDING)  # 0 at ε = infinity
    sizes = answered.n_advantaged, answered.n_disadvantaged
    advantaged, disadvantaged = ((np.abs(y - 1.0 / size) / scale) for size in sizes)
    if answered.mechanism.noise == "cauchy":
        # log of the noise's density at y - 1/N0 over that at y - 1/N1: Cauchy, then Laplace.
        evidence = np.log1p(advantaged**2) - np.log1p(disadvantaged**2)
    else:
        evidence = advantaged - disadvantaged
    p = np.clip(before, 1e-12, 1 - 1e-12)
    odds = np.log(p) - np.log1p(-p)
    np.add.at(odds, (np.arange(len(h))[:, np.newaxis], h.argmax(axis=2)), evidence)
    return 0.5 * (1.0 + np.tanh(0.5 * odds))


def _flipped(answered: AnsweredQueries, r: int, *, aware: bool) -> DecodedAttribute:
    """Name those whose score was flipped; the first answer and the group sizes tell of the others together."""
    h = answered.scores[r, 0]
    n1 = answered.n_advantaged
    n0 = answered.n_disadvantaged
    evidence = _person_evidence(answered, r)
    disadvantaged = evidence < 0
    undecided = evidence == 0
    advantaged = (evidence > 0).astype(np.float64)
    left = n0 - int(disadvantaged.sum())
    if 0 < left < undecided.sum():
        if aware:
            before = 1.0 - answered.prior[r, undecided]
        else:
            before = np.full(int(undecided.sum()), left / undecided.sum())
        # SP_0 = h·1 / N1 - c h·z gives h·z, the accepted disadvantaged; less those already certain.
        accepted = (h.sum() / n1 - answered.answers[r, 0]) / (1.0 / n0 + 1.0 / n1) - h[
            disadvantaged
        ].sum()
        middle = h[undecided].mean()
        ones = propagate(
            (h[undecided] - middle)[np.newaxis, np.newaxis],
            np.full((1, 1), accepted - left * middle),
            noise="laplace",
            scale=_SHARPEST,
            n_ones=left,
            prior=before[np.newaxis],
        )
        advantaged[undecided] = 1.0 - ones[0]
    else:
        advantaged[undecided] = float(left == 0)
    return _from_posterior(advantaged, answered.share)


def _by_person(
    answered: AnsweredQueries, decoder: str, r: int, evidence: Floats
) -> DecodedAttribute:
    """Add what is certain of single people (±∞ for advantaged or not) to what the attacker knows of the others (0).

    Who has a prior knows from the group sizes how many of the others are advantaged. Without a prior all of them count
    as advantaged, as the zeros of the shortest vector do.
    """
    if decoder == "strongest":
        advantaged = (evidence > 0).astype(np.float64)
        undecided = evidence == 0
        left = answered.n_advantaged - int(advantaged.sum())
        if 0 < left < undecided.sum():
            before = np.clip(answered.prior[r, undecided], 1e-12, 1 - 1e-12)
            advantaged[undecided] = counted(before[np.newaxis], left)[0]
        else:
            advantaged[undecided] = float(left > 0)
        return _from_posterior(advantaged, answered.share)
    recovered = (evidence >= 0).astype(np.uint8)
    values = np.where(evidence == 0, 0.0, 1.0 - recovered)
    return DecodedAttribute(values=values, threshold=0.5, recovered=recovered)


def _person_evidence(answered: AnsweredQueries, r: int) -> Floats:
    """Return ±∞ for those a flipped or packed question decides, 0 for the others."""
    h = answered.scores[r]
    answers = answered.answers[r]
    m, n = h.shape
    evidence = np.zeros(n)
    if answered.design == "bits":
        packed = np.flatnonzero((h > 0).any(axis=0))
        recovered = reveal_bits(
            answers, n, n_advantaged=answered.n_advantaged, n_disadvantaged=answered.n_disadvantaged
        )
        evidence[packed] = np.where(recovered[packed] == 1, np.inf, -np.inf)
        return evidence
    people = np.arange(m - 1)  # question k flips person k - 1 of the base model
    # SP_k - SP_0 = (1 - 2 h_0j) v_j: its sign is v_j's (algorithm 1, one flipped score a query).
    moved = (answers[1:] - answers[0]) * np.sign(1.0 - 2.0 * h[0, people])
    evidence[people] = np.where(moved > 0, np.inf, np.where(moved < 0, -np.inf, 0.0))
    return evidence


def _absolute_evidence(answered: AnsweredQueries, r: int) -> Floats:
    """Return ±∞ for those asked about, by which of the two values an absolute gap is nearer to.

    The gap of a model that accepts one person is 1/N1 for an advantaged and 1/N0 for a disadvantaged one (Hamman et al.
    2023, theorem 4), which says nothing where the groups are of equal size or both values are rounded to one.
    """
    answers = answered.answers[r]
    evidence = np.zeros(answered.prior.shape[1])
    gaps = np.array([1.0 / answered.n_advantaged, 1.0 / answered.n_disadvantaged])
    if isinstance(answered.mechanism, Rounded):
        gaps = np.round(gaps, answered.mechanism.decimals)
    high = np.abs(answers - gaps[0])
    low = np.abs(answers - gaps[1])
    if gaps[0] != gaps[1]:
        evidence[: answers.size] = np.where(high < low, np.inf, -np.inf)
    return evidence
