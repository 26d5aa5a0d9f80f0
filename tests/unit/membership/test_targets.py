"""The audited model as a target; what a budget promises, beside every attack on two people."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from core.datasets.splits import split
from core.studies.membership import most_caught
from core.studies.membership.attack import audited_target
from core.studies.subject import AuditConfig, train_model
from tests import samples

N = 400


@pytest.mark.parametrize(
    "method", ["unmitigated", "exponentiated_gradient", "threshold_optimizer", "correlation_remover", "dp_id3"]
)
def test_the_audited_model_is_the_audits(method):
    dataset = samples.dataset(N)
    config = AuditConfig(method=method, tolerance=0.05, train_share=0.4, seed=3)
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    audited = train_model(config, dataset, splits)
    p = audited_target(config, dataset)(splits.train, config.seed)
    assert np.array_equal(p, audited.scores)


FAR = 60


def law(count: int, epsilon: float) -> np.ndarray:
    """Return the discrete Laplace distribution around a count, of -FAR to FAR."""
    shares = np.exp(-epsilon * np.abs(np.arange(-FAR, FAR + 1) - count))
    return np.asarray(shares / shares.sum())


@cache
def curve(epsilon: float) -> np.ndarray:
    """Return (false alarms, members caught) of the best attacks on her, shape (m, 2).

    A leaf tells the noisy counts of both labels. She has label 1, the other has label 0, and one of both is trained
    on. By Neyman and Pearson the best attacks flag what is told in the order of its likelihood ratio.
    """
    hers = np.outer(law(0, epsilon), law(1, epsilon)).ravel()
    other_law = np.outer(law(1, epsilon), law(0, epsilon)).ravel()
    order = np.argsort(-hers / other_law, kind="stable")
    return np.column_stack([np.cumsum(other_law[order]), np.cumsum(hers[order])])


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_no_attack_on_one_of_two_people_is_better_and_the_best_needs_twice_epsilon(epsilon: float):
    alarms, caught = curve(epsilon).T
    for false_alarms, share in zip(alarms, caught, strict=True):
        assert share <= most_caught(min(false_alarms, 1.0), epsilon) + 1e-9
    ratio = float((caught[alarms > 1e-6] / alarms[alarms > 1e-6]).max())
    assert ratio > 1.5 * math.exp(epsilon)  # a bound of once epsilon is broken
    assert ratio == pytest.approx(math.exp(2 * epsilon), rel=1e-6)


def test_most_caught_by_hand():
    twice = math.log(2.0) / 2.0  # of a record replaced: outcomes are at most twice as likely
    by_hand = {0.0: 0.0, 0.1: 0.2, 1 / 3: 2 / 3, 0.4: 0.7, 0.8: 0.9}  # doubled, and 1 less half of those not flagged
    assert [most_caught(rate, twice) for rate in by_hand] == pytest.approx(list(by_hand.values()))
    assert [most_caught(0.2, epsilon) for epsilon in (0.0, math.inf)] == pytest.approx([0.2, 1.0])
