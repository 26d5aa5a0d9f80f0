"""Boosting on what is released: it sees ties that one threshold misses, and finds nothing where nothing leaks."""

from __future__ import annotations

import numpy as np
import pytest

from core.estimates import Estimate
from core.membership import (
    advantage,
    gap_attack,
    judging_everybody,
    loss_attack,
    released_attack,
    roc,
    taught_both_ways,
)
from core.membership import attack as boosted
from core.membership.judged_people import halves

N = 1000


def people(seed: int, *, n: int = N) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Return labels of n members and n non-members that a feature tells in part, and the feature."""
    rng = np.random.default_rng(seed)
    feature = rng.normal(size=2 * n)
    return (feature + rng.normal(size=2 * n) > 0.3).astype(np.uint8), feature, rng


def everybody(n: int = N):
    return judging_everybody(np.arange(n), np.arange(n, 2 * n))


def test_both_labels_at_once_see_the_ties_of_a_forest_without_bootstrap():
    """Members get exactly their label; of non-members many get exactly 0, and few exactly 1."""
    labels, feature, rng = people(0, n=4000)
    score = np.clip(np.round((feature + 0.6 * rng.normal(size=8000) + 1.4) / 4, 2), 0.0, 0.99)
    score[:4000] = labels[:4000]
    split, predicted = everybody(4000), (score >= 0.5).astype(np.uint8)
    member = split.judged[1]
    loss = roc(loss_attack(score, labels, split).score, member)
    found = roc(released_attack(score, predicted, labels, split, seed=0).score, member)
    assert loss.tpr_at(0.01).value < 0.25  # one tie for both labels: 1 of the members, 0 of many others
    assert found.tpr_at(0.01).low > 0.3 and found.auc.low > loss.auc.high


@pytest.mark.parametrize("labels_alone", [False, True])
def test_where_nothing_leaks_the_scores_of_both_halves_say_nothing(labels_alone: bool):
    areas, rates, gains = [], [], []
    for seed in range(40):
        labels, feature, _ = people(seed)
        score = np.round(1 / (1 + np.exp(-feature)), 2)
        predicted, split = (score >= 0.5).astype(np.uint8), everybody()
        member = split.judged[1]
        guess = released_attack(None if labels_alone else score, predicted, labels, split, seed=seed)
        areas.append(roc(guess.score, member).auc.value)
        rates.append(roc(guess.score, member).tpr_at(0.01).value)
        gains.append(advantage(guess.score, member, seed=seed, verdict=guess.verdict).value)
    assert np.mean(areas) == pytest.approx(0.5, abs=0.0065)
    assert np.mean(rates) == pytest.approx(0.01, abs=0.0018)
    assert np.mean(gains) == pytest.approx(0.0, abs=0.011)


def test_labels_alone_are_the_gap_attack():
    labels, _, rng = people(1)
    right = np.where(np.arange(2 * N) < N, 0.95, 0.75)
    predicted = np.where(rng.random(2 * N) < right, labels, 1 - labels).astype(np.uint8)
    split = everybody()
    member = split.judged[1]
    gap = gap_attack(predicted, labels, split)
    own = (predicted == labels)[:N].mean() - (predicted == labels)[N:].mean()
    assert advantage(gap.score, member, seed=0).value == pytest.approx(own)
    assert roc(gap.score, member).auc.value == pytest.approx(0.5 + own / 2)
    found = released_attack(None, predicted, labels, split, seed=0)
    assert advantage(found.score, member, seed=0, verdict=found.verdict).value == pytest.approx(own, abs=0.03)


def test_one_score_a_tie_and_the_same_seed_the_same_scores(monkeypatch: pytest.MonkeyPatch):
    labels, feature, _ = people(2)
    score, split = np.round(1 / (1 + np.exp(-feature)), 1), everybody()
    predicted = (score >= 0.5).astype(np.uint8)
    first, again = (released_attack(score, predicted, labels, split, seed=5).score for _ in range(2))
    assert np.array_equal(first, again) and first.min() > 0 and first.max() < 1
    half = halves(split.judged[1], seed=5)
    for part in (half, ~half):
        assert np.unique(first[part]).size <= np.unique(np.column_stack([score, labels])[part], axis=0).shape[0]
    monkeypatch.setattr(boosted, "TAUGHT", 300)  # all are judged though few teach
    few = released_attack(score, predicted, labels, split, seed=5).score
    assert few.size == 2 * N and not np.array_equal(few, first)


def test_halves_have_equal_shares_of_members():
    member = np.repeat([1, 0, 1], [30, 57, 11])
    half = halves(member, seed=0)
    assert [int(half[member == kind].sum()) for kind in (1, 0)] == [21, 29]
    assert np.array_equal(half, halves(member, seed=0)) and not np.array_equal(half, halves(member, seed=1))


def test_halves_that_teach_each_other_have_a_wider_interval_only_near_chance():
    """Of pure chance: a and b are what the halves show, each judged by the sign of the other."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 20_000))
    means, half = (np.sign(b) * a + np.sign(a) * b) / 2, 1.959964 / np.sqrt(2)
    plain = [Estimate(value=x, low=x - half, high=x + half, n=1) for x in means]
    assert np.mean([one.low <= 0 <= one.high for one in plain]) < 0.92
    held = np.mean([one.low <= 0 <= one.high for one in (taught_both_ways(one, 0.0) for one in plain)])
    assert 0.95 <= held <= 0.985  # the mean of two sizes has lighter tails than a normal variable
    sure = Estimate(value=9.0, low=8.0, high=10.0, n=1)
    assert taught_both_ways(sure, 0.0) == sure
