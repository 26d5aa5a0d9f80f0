"""People and questions for the tests, and every attribute vector of few people for brute force."""

from itertools import product

import numpy as np

from core.studies.bias_queries import QueriedRecords, QueryPool, decoders, statistical_parity_gap
from core.studies.bias_queries.gaps import design_scores


def attribute(n, n_disadvantaged, seed=0):
    """Return an attribute with that many zeros, in random order."""
    a = np.ones(n, dtype=np.uint8)
    a[np.random.default_rng(seed).permutation(n)[:n_disadvantaged]] = 0
    return a


def sizes(a):
    return {"n_advantaged": int(a.sum()), "n_disadvantaged": int(a.size - a.sum())}


def scores_and_gaps(a, m, *, design="jitter", seed=0):
    """Return the scores of m models around a U-shaped base, and their exact gaps."""
    rng = np.random.default_rng([seed, a.size, m])
    scores = design_scores(design, rng.beta(0.4, 1.2, a.size), m, rng=rng)
    return scores, statistical_parity_gap(scores, a)


def vectors(n):
    """Return every attribute of n people in which both groups occur, one a row."""
    return np.array([a for a in product((0, 1), repeat=n) if 0 < sum(a) < n], dtype=np.uint8)


def with_ones(n, ones):
    """Return every attribute of n people with that many ones, one a row."""
    every = vectors(n)
    return every[every.sum(axis=1) == ones]


def answered(mechanism, scores, answers, prior, sizes, *, design="", released=()):
    """Return answers about one sample, of so many advantaged and disadvantaged."""
    return decoders.AnsweredQueries(
        design=design,
        scores=np.asarray(scores, dtype=float)[np.newaxis],
        answers=np.asarray(answers, dtype=float)[np.newaxis],
        released=list(released),
        prior=np.asarray(prior, dtype=float)[np.newaxis],
        mechanism=mechanism,
        n_advantaged=sizes[0],
        n_disadvantaged=sizes[1],
    )


def posterior(scores, answers, mechanism, *, n_advantaged, n_disadvantaged, prior=None):
    """Return the attacker's P(advantaged) of each person after one set of answers; of noisy sums, their release."""
    n, released = n_advantaged + n_disadvantaged, []
    if isinstance(answers, tuple):
        answers, *released = answers
    before = np.full(n, n_advantaged / n) if prior is None else prior
    scores, answers = np.atleast_2d(scores), np.atleast_1d(answers)
    queries = answered(mechanism, scores, answers, before, (n_advantaged, n_disadvantaged), released=released)
    return decoders._posterior(queries, aware=True)[0]


def pool(n=400, n_disadvantaged=120, *, strength=1.2):
    """Return people whose prior is calibrated and so many standard deviations strong, with a U-shaped base model."""
    rng = np.random.default_rng(0)
    a = attribute(n, n_disadvantaged)
    odds = np.where(a == 1, 0.5, -0.5) * strength**2 + strength * rng.normal(size=n)
    odds += np.log((n - n_disadvantaged) / n_disadvantaged)
    base = rng.beta(0.4, 1.2, n)
    labels = (rng.random(n) < base).astype(np.uint8)
    everybody = QueriedRecords(sensitive=a, base=base, prior=1 / (1 + np.exp(-odds)), labels=labels)
    return QueryPool(people=everybody, advantaged="north", disadvantaged="south", metric="statistical_parity")


def neighbours(a):
    """Return the vectors that differ in one person and still have both groups."""
    flipped = [(*a[:j], 1 - a[j], *a[j + 1 :]) for j in range(len(a))]
    return [b for b in flipped if 0 < sum(b) < len(b)]


def weights(a):
    n1 = sum(a)
    return np.array([1 / n1 if x else -1 / (len(a) - n1) for x in a])
