"""Small tables of made-up people, their splits, and what attacks say of them."""

from itertools import combinations

import numpy as np

from core.studies.membership import REGISTRY, Evidence, roc
from tests.zhang_protocol import member_split


def half(n, *, seed=0):
    """Return a split that knows 30 % and judges 50 %."""
    return member_split(n, seed=seed, known_share=0.3, judged_share=0.5)


def remembered(split, n, *, seed=0, share=0.8):
    """Return answers and labels of a model that is sure of this share of its members, and of few others."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n).astype(np.uint8)
    sure = rng.random(n) < np.where(np.isin(np.arange(n), split.members), share, 0.2)
    confidence = np.where(sure, 0.95, 0.6)
    return np.where(labels == 1, confidence, 1 - confidence), labels


def guess(name, p, labels, split, **more):
    """Return what an attack says of the judged, given the model's answers about everybody."""
    return REGISTRY[name].scores(Evidence(labels=labels, split=split, released=p, **more))


def verdict_arrays(flagged, people):
    """Return verdict, group and member of people with these counts."""
    cells = np.array([(1, 0, 0), (0, 0, 0), (1, 0, 1), (0, 0, 1), (1, 1, 0), (0, 1, 0), (1, 1, 1), (0, 1, 1)])
    many = np.stack([flagged, people - flagged], axis=-1).ravel()
    verdict, group, member = np.repeat(cells, many, axis=0).T
    return verdict, group, member


def divisions(people, taken):
    return [np.isin(np.arange(people), chosen) for chosen in combinations(range(people), taken)]


def curve(name, evidence):
    score, _ = REGISTRY[name].scores(evidence)
    assert np.isfinite(score).all() and score.size == evidence.split.judged_rows.size
    return roc(score, evidence.split.judged_records[1])
