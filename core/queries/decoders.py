"""Decoders that reconstruct the attribute from answers to bias queries: one a kind of attacker, whatever the noise.

Three kinds of attacker read the same answers:

- "strongest" knows the group sizes, the noise and, from features and label, a prior for every person;
- "without_prior" knows the sizes and the noise, and nothing of the people;
- "published" reads as Hamman et al. (2023) do, as if there were no noise.

Three programs read them too, as if there were no noise but rounding: "nonnegative" and "box" know the group sizes,
"sizes_unknown" does not.

Which computation stands behind a kind depends on the answers. Everybody's probability comes from `propagate`. Where
exact or rounded answers have the bits to tell all attributes apart, people who would give these very answers are the
truth, and the attacker sees that they would: the likeliest are tried, then a linear program. Exact answers about
flipped or packed people, and absolute gaps, are read person by person.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.queries.mechanisms import Rounded
from core.queries.propagation import SHARPEST, decode_many, propagate
from core.queries.reveal import recover_compressed, reveal_bits
from core.validation import choice

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

_WHOLE = 1e-6
"""How far from 0 and 1 a linear program's solution may lie and count as whole."""

_ROUNDING = 1e-9
"""How far sums in floating point may be off."""

Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answered:
    """Questions about n people, and their answers, in R repeats with the same group sizes."""

    design: str
    """One of `core.queries.DESIGNS`, or "single" (question j accepts person j only)."""
    scores: Floats
    """(R, m, n)"""
    answers: Floats
    """(R, m)"""
    released: Sequence[Any]
    """What else the mechanism released (noisy sums); empty otherwise."""
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """What a decoder makes of one repeat."""

    values: Floats
    """(n,): the higher, the more a person looks disadvantaged: the recovered s over c = 1/N0 + 1/N1, or
    P(disadvantaged)."""
    threshold: float
    """From where on somebody is called disadvantaged."""
    recovered: Bits
    """(n,), 0 or 1: 1 = called advantaged."""


def read_answers(answered: Answered, decoder: str) -> list[Reading]:
    """Return what one kind of attacker makes of the answers, one reading a repeat."""
    choice(decoder, (*DECODERS, *PROGRAMS), name="decoder")
    repeats, m, _ = answered.scores.shape
    if not m:
        return [_without_answers(answered, decoder, r) for r in range(repeats)]
    if decoder in PROGRAMS:
        return [_compressed(answered, r, decoder, None) for r in range(repeats)]
    noisy = answered.mechanism.noise not in ("none", "rounding")
    if answered.mechanism.absolute and not (noisy and decoder != "published"):
        return [_by_person(answered, decoder, r, _absolute_evidence(answered, r)) for r in range(repeats)]
    if decoder == "published":
        return [_published(answered, r) for r in range(repeats)]
    if not noisy:
        return _noiseless(answered, decoder)
    return _propagated(answered, range(repeats), aware=decoder == "strongest")


def _from_posterior(advantaged: Floats, share: float) -> Reading:
    """Call those advantaged whose probability is above the group's share: the best rule for balanced accuracy."""
    recovered = (advantaged > share + 1e-12).astype(np.uint8)
    return Reading(values=1.0 - advantaged, threshold=1.0 - share, recovered=recovered)


def _without_answers(answered: Answered, decoder: str, r: int) -> Reading:
    if decoder == "strongest":
        return _from_posterior(answered.prior[r], answered.share)
    n = answered.prior.shape[1]
    return Reading(values=np.zeros(n), threshold=0.5, recovered=np.ones(n, dtype=np.uint8))


def _published(answered: Answered, r: int) -> Reading:
    """Read as the paper does: differences, bits or the shortest vector in l1."""
    if answered.design in ("targeted", "bits"):
        return _by_person(answered, "published", r, _person_evidence(answered, r))
    return _compressed(answered, r, "l1", None)


def _compressed(answered: Answered, r: int, method: str, prior: Floats | None) -> Reading:
    slack = 0.0 if method == "l1" else answered.mechanism.half_width
    found = recover_compressed(
        answered.scores[r],
        answered.answers[r],
        n_advantaged=answered.n_advantaged,
        n_disadvantaged=answered.n_disadvantaged,
        method=method,
        prior=prior,
        slack=slack,
    )
    if found.values is None or found.threshold is None:
        values = np.asarray(1.0 - found.recovered)
    else:
        values = np.asarray(np.nan_to_num(found.values / (2.0 * found.threshold)), dtype=np.float64)
    return Reading(values=values, threshold=0.5, recovered=found.recovered)


def _noiseless(answered: Answered, decoder: str) -> list[Reading]:
    """Read exact or rounded answers: by everybody's probability, and by linear programs where it does not fit them."""
    repeats = range(len(answered.scores))
    aware = decoder == "strongest"
    if answered.mechanism.noise == "none" and answered.design == "bits":
        return [_by_person(answered, decoder, r, _person_evidence(answered, r)) for r in repeats]
    if answered.mechanism.noise == "none" and answered.design == "targeted":
        return [_flipped(answered, r, aware=aware) for r in repeats]
    found = _propagated(answered, repeats, aware=aware)
    for r in repeats:
        if not _suffices(answered, r):
            continue
        likeliest = _likeliest(found[r], answered.n_disadvantaged)
        if _fits(answered, r, likeliest.values):
            found[r] = likeliest
            continue
        for prior in (answered.prior[r], None) if aware else (None,):  # a prior may mislead
            solved = _compressed(answered, r, "box", prior)
            if np.abs(solved.values - np.rint(solved.values)).max() <= _WHOLE:
                found[r] = solved
                break
    return found


def _likeliest(reading: Reading, n_disadvantaged: int) -> Reading:
    """Return the reading that calls as many people disadvantaged as there are, the likeliest."""
    values = np.zeros(reading.values.size)
    values[np.argsort(-reading.values, kind="stable")[:n_disadvantaged]] = 1.0
    return Reading(values=values, threshold=0.5, recovered=(values < 0.5).astype(np.uint8))


def _fits(answered: Answered, r: int, disadvantaged: Floats) -> bool:
    """Tell whether these people being the disadvantaged gives the very answers, as far as they are told."""
    weights = np.where(disadvantaged > 0, -1.0 / answered.n_disadvantaged, 1.0 / answered.n_advantaged)
    missed = np.abs(answered.scores[r] @ weights - answered.answers[r]).max()
    return bool(missed <= answered.mechanism.half_width + _ROUNDING)


def _suffices(answered: Answered, r: int) -> bool:
    """Return whether the answers have the bits to tell all attributes of these sizes apart.

    Else a program's whole solution can meet them by coincidence. A rounded answer, or a count of accepted people, takes
    steps; one of spread σ over attributes drawn at random then has about log2(√(2πe) σ/step) bits.
    """
    h, n1, n0 = answered.scores[r], answered.n_advantaged, answered.n_disadvantaged
    n, effect = n1 + n0, 1.0 / n1 + 1.0 / n0
    step = max(effect if ((h == 0) | (h == 1)).all() else 0.0, 2 * answered.mechanism.half_width)
    if not step:
        return True
    spread = effect * h.std(axis=1) * math.sqrt(n1 * n0 / (n - 1))
    bits = np.log2(np.maximum(math.sqrt(2 * math.pi * math.e) * spread / step, 1.0)).sum()
    vectors = math.lgamma(n + 1) - math.lgamma(n1 + 1) - math.lgamma(n0 + 1)
    return bool(bits >= vectors / math.log(2))


def _propagated(answered: Answered, repeats: Sequence[int], *, aware: bool) -> list[Reading]:
    """Read some repeats by everybody's probability."""
    answers = [answered.released[r] for r in repeats] if answered.released else answered.answers[list(repeats)]
    posterior = decode_many(
        answered.scores[list(repeats)],
        answers,
        answered.mechanism,
        n_advantaged=answered.n_advantaged,
        n_disadvantaged=answered.n_disadvantaged,
        prior=answered.prior[list(repeats)] if aware else None,
    )
    return [_from_posterior(p, answered.share) for p in posterior]


def _flipped(answered: Answered, r: int, *, aware: bool) -> Reading:
    """Name those whose score was flipped; the first answer and the group sizes tell of the others together."""
    h, n1, n0 = answered.scores[r, 0], answered.n_advantaged, answered.n_disadvantaged
    evidence = _person_evidence(answered, r)
    found, others = evidence < 0, evidence == 0
    advantaged, left = (evidence > 0).astype(np.float64), n0 - int(found.sum())
    if 0 < left < others.sum():
        before = 1.0 - answered.prior[r, others] if aware else np.full(int(others.sum()), left / others.sum())
        accepted = (h.sum() / n1 - answered.answers[r, 0]) / (1.0 / n0 + 1.0 / n1) - h[found].sum()
        middle = h[others].mean()
        ones = propagate(
            (h[others] - middle)[np.newaxis, np.newaxis],
            np.full((1, 1), accepted - left * middle),
            noise="laplace",
            scale=SHARPEST,
            n_ones=left,
            prior=before[np.newaxis],
        )
        advantaged[others] = 1.0 - ones[0]
    else:
        advantaged[others] = float(left == 0)
    return _from_posterior(advantaged, answered.share)


def _by_person(answered: Answered, decoder: str, r: int, evidence: Floats) -> Reading:
    """Add evidence about single people (log-odds of being advantaged) to what the attacker knows of them.

    Without a prior everybody the questions leave out counts as advantaged, as the zeros of the shortest vector do.
    """
    if decoder == "strongest":
        odds = np.log(np.clip(answered.prior[r], 1e-12, 1.0)) - np.log(np.clip(1.0 - answered.prior[r], 1e-12, 1.0))
        with np.errstate(over="ignore"):
            return _from_posterior(1.0 / (1.0 + np.exp(-(odds + evidence))), answered.share)
    recovered = (evidence >= 0).astype(np.uint8)
    values = np.where(evidence == 0, 0.0, 1.0 - recovered)
    return Reading(values=values, threshold=0.5, recovered=recovered)


def _person_evidence(answered: Answered, r: int) -> Floats:
    """Return ±∞ for those a flipped or packed question decides, 0 for the others."""
    h, answers = answered.scores[r], answered.answers[r]
    m, n = h.shape
    evidence = np.zeros(n)
    if answered.design == "bits":
        packed = np.flatnonzero((h > 0).any(axis=0))
        found = reveal_bits(answers, n, n_advantaged=answered.n_advantaged, n_disadvantaged=answered.n_disadvantaged)
        evidence[packed] = np.where(found[packed] == 1, np.inf, -np.inf)
        return evidence
    asked = np.arange(m - 1)  # question k flips person k - 1 of the base model
    moved = (answers[1:] - answers[0]) * np.sign(1.0 - 2.0 * h[0, asked])
    evidence[asked] = np.where(moved == 0, 0.0, np.where(moved > 0, np.inf, -np.inf))
    return evidence


def _absolute_evidence(answered: Answered, r: int) -> Floats:
    """Return ±∞ for those asked about, by which of the two values an absolute gap is nearer to.

    The gap of a model that accepts one person is 1/N1 for an advantaged and 1/N0 for a disadvantaged one (Hamman et al.
    2023, theorem 4), which says nothing where the groups are of equal size or both values are rounded to one.
    """
    answers, evidence = answered.answers[r], np.zeros(answered.prior.shape[1])
    told = np.array([1.0 / answered.n_advantaged, 1.0 / answered.n_disadvantaged])
    if isinstance(answered.mechanism, Rounded):
        told = np.round(told, answered.mechanism.decimals)
    high, low = np.abs(answers - told[0]), np.abs(answers - told[1])
    if told[0] != told[1]:
        evidence[: answers.size] = np.where(high < low, np.inf, -np.inf)
    return evidence
