"""The exact posterior by going through every vector of memberships: what the projection approximates."""

import numpy as np

from core.base.errors import InputError
from core.base.validation import probabilities
from core.studies.model_card.published_counts import SIZE_PARTS, part_of, value_of
from tests.release_samples import part_mask

_ROUNDING = 1e-9
"""What a number computed again may be off by."""


def exact_posterior(prior, published):
    """Return P(s_i = 1 | the published numbers) for up to 20 people, over all 2ⁿ vectors.

    `prior` (n,) is P(s_i = 1) before, independent between people. InputError if no vector agrees with the numbers.
    """
    release = published.release
    q = probabilities(prior, release.n, name="posterior")
    vectors = _every_vector(release.n)
    with np.errstate(divide="ignore"):
        log_chances = np.log(q), np.log1p(-q)
    weight = np.where(vectors == 1, *log_chances).sum(axis=1)
    weight += _log_likelihood(vectors, published)
    if not np.isfinite(weight).any():
        raise InputError("No memberships agree with the published numbers and the probabilities before them.")
    weight = np.exp(weight - weight.max())
    return np.asarray(weight @ vectors / weight.sum())


def agreeing(published):
    """Return all vectors of memberships that agree with numbers without noise."""
    vectors = _every_vector(published.release.n)
    return np.asarray(vectors[np.isfinite(_log_likelihood(vectors, published))])


def _every_vector(n):
    return ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64)


def _log_likelihood(vectors, published):
    """Return the log-likelihood of the numbers under each vector: 0 or −inf without noise."""
    release, noise = published.release, published.noise
    if noise is not None:
        total = np.zeros(len(vectors))
        for part, size, sums in zip(release.strata, *noise, strict=True):
            inside = vectors * part_mask(release, part)
            off = np.abs(inside.sum(axis=1) - size) + np.abs(inside @ release.predictions.T - sums).sum(axis=1)
            total -= off / release.noise_scale
        return total
    agrees = np.ones(len(vectors), dtype=np.bool_)
    row = {name: i for i, name in enumerate(release.names)}
    for number in published.numbers:
        mask = part_mask(release, part_of(number.statistic))
        size, people = (vectors * mask).sum(axis=1), float(mask.sum())
        if number.statistic in SIZE_PARTS:
            agrees &= np.abs(size - number.value) < 0.5
            continue
        accepted = release.predictions[row[number.model]] * mask
        with np.errstate(divide="ignore", invalid="ignore"):
            values = value_of(number.statistic, vectors @ accepted, size, float(accepted.sum()), people)
        agrees &= (values >= number.low - _ROUNDING) & (values <= number.high + _ROUNDING)
    return np.where(agrees, 0.0, -np.inf)
