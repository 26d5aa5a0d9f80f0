"""Attacks that ask one model, and the door for further ones: what they share, what each is, what is listed of them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.adversaries.released_outputs import cross_fitted_interval
from core.models.model_answers import QueryAccess
from core.stats.estimates import Estimate
from core.studies.membership import Evidence, attacks, judging_everybody, roc, true_label_probability
from core.studies.membership.attack import best_threshold
from core.studies.membership.roc import advantage
from tests.unit.membership.samples import guess, half, remembered

N = 400
QUICK = ("loss", "confidence", "network")


def area(guessed, split):
    return roc(guessed.score, split.judged_records[1]).auc


@pytest.mark.parametrize("name", QUICK)
@settings(max_examples=4)
@given(seed=st.integers(0, 1000), levels=st.integers(1, 6))
def test_people_alike_get_the_same_verdict_and_others_among_the_judged_have_no_say(name, seed, levels):
    rng, split = np.random.default_rng(seed), half(N, seed=seed)
    p, y = rng.integers(0, levels + 1, N) / levels, rng.integers(0, 2, N)
    guessed = guess(name, p, y, split)
    for key in set(zip(p[guessed.rows], y[guessed.rows], strict=True)):
        same_output = (p[guessed.rows] == key[0]) & (y[guessed.rows] == key[1])
        assert np.unique(guessed.score[same_output]).size == 1 and np.unique(guessed.verdict[same_output]).size == 1
    altered = split.judged_rows[::3]
    p[altered], y[altered] = 1 - p[altered], 1 - y[altered]
    again, same = guess(name, p, y, split), ~np.isin(guessed.rows, altered)
    assert guessed.score[same] == pytest.approx(again.score[same], abs=1e-9)
    assert np.array_equal(guessed.verdict[same], again.verdict[same])


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize(("share", "expected"), [(0.8, 0.8), (0.2, 0.5)], ids=["memory", "nothing"])
def test_judge_finds_a_memory_and_nothing_where_there_is_none(name, share, expected):
    split = half(2000)
    guessed = guess(name, *remembered(split, 2000, share=share), split)
    assert area(guessed, split).value == pytest.approx(expected, abs=0.04)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=2, max_size=40))
def test_the_threshold_is_the_best_of_all(people):
    score, member = np.array([x for x, _ in people], dtype=float), np.array([m for _, m in people], dtype=np.uint8)
    if np.unique(member).size < 2:
        return

    def balanced(threshold):
        called = score >= threshold
        return called[member == 1].mean() - called[member == 0].mean()

    chosen = best_threshold(score, member)
    best = max(balanced(t) for t in [*score, np.inf])
    assert balanced(chosen) == pytest.approx(best, abs=1e-12)
    assert not [t for t in score if t > chosen and balanced(t) > best - 1e-12]


def test_loss_and_confidence_are_what_they_say():
    split = half(N)
    p, y = np.random.default_rng(0).random(N), np.random.default_rng(1).integers(0, 2, N)
    loss, sure = guess("loss", p, y, split), guess("confidence", p, y, split)
    assert np.exp(loss.score) == pytest.approx(true_label_probability(p, y)[loss.rows])
    assert sure.score == pytest.approx(np.maximum(p, 1 - p)[sure.rows])
    assert np.isfinite(guess("loss", 1.0 - y, y, split).score).all()
    thirds = np.where(p < 0.5, 1 / 3, 2 / 3)  # a model as sure of everybody, whichever label it prefers
    assert np.unique(guess("confidence", thirds, y, split).score).size == 1


@pytest.mark.long
@pytest.mark.parametrize("labels_alone", [False, True])
def test_where_nothing_leaks_the_scores_of_both_halves_say_nothing(labels_alone):
    areas, rates, gains, split = [], [], [], judging_everybody(np.arange(1000), np.arange(1000, 2000))
    member = split.judged_records[1]
    for seed in range(40):
        rng = np.random.default_rng(seed)
        feature = rng.normal(size=2000)
        labels = (feature + rng.normal(size=2000) > 0.3).astype(np.uint8)
        score = np.round(1 / (1 + np.exp(-feature)), 2)
        predicted = (score >= 0.5).astype(np.uint8)
        guessed = guess("released", None if labels_alone else score, labels, split, predictions=predicted, seed=seed)
        curve = roc(guessed.score, member)
        areas.append(curve.auc.value)
        rates.append(curve.tpr_at(0.01).value)
        gains.append(advantage(guessed.score, member, seed=seed, verdict=guessed.verdict).value)
    assert np.mean(areas) == pytest.approx(0.5, abs=0.0065)
    assert np.mean(rates) == pytest.approx(0.01, abs=0.0018)
    assert np.mean(gains) == pytest.approx(0.0, abs=0.011)


def test_cross_fitted_interval_is_wider_only_near_chance():
    """Of pure chance: a and b are what the halves show, each judged by the sign of the other."""
    a, b = np.random.default_rng(0).normal(size=(2, 20_000))
    means, reach = (np.sign(b) * a + np.sign(a) * b) / 2, 1.959964 / np.sqrt(2)
    plain = [Estimate(value=x, low=x - reach, high=x + reach, n=1) for x in means]
    wider = [cross_fitted_interval(estimate, 0.0) for estimate in plain]
    held, plainly_held = (np.mean([e.low <= 0 <= e.high for e in estimates]) for estimates in (wider, plain))
    assert plainly_held < 0.92
    assert 0.95 <= held <= 0.985  # the mean of two sizes has lighter tails than a normal variable
    sure = Estimate(value=9.0, low=8.0, high=10.0, n=1)
    assert cross_fitted_interval(sure, 0.0) == sure


def test_every_file_of_the_folder_is_an_attack_that_can_be_run():
    assert attacks.REGISTRY.keys() == {path.stem for path in Path(attacks.__path__[0]).glob("*.py")} - {"__init__"}
    progress = []
    split = half(N)
    evidence = Evidence(
        released=np.random.default_rng(0).random(N),
        labels=np.tile([0, 1], N // 2).astype(np.uint8),
        split=split,
        features=np.arange(2 * N).reshape(N, 2),
        access=QueryAccess(columns=2, ask=lambda rows: rows.sum(axis=1) % 2),
        train=lambda rows, seed: np.random.default_rng(seed).random(N),
        shadows=4,
        report=lambda done, total: progress.append(done),
    )
    for name, attack in attacks.REGISTRY.items():
        guessed = attack.judge(evidence)
        assert guessed.name == name
        assert np.array_equal(guessed.rows, split.judged_rows)
        assert np.isfinite(guessed.score).all()
    assert progress == [1, 2, 3, 4]  # the shadow models, trained once for all


def test_network_scores_of_each_half_lie_evenly_between_0_and_1():
    split = judging_everybody(np.arange(30), np.arange(30, 60))
    rng = np.random.default_rng(4)
    guessed = guess("network", rng.random(60), rng.integers(0, 2, 60).astype(np.uint8), split)
    assert guessed.score.mean() == pytest.approx(0.5)
    assert guessed.score.min() > 0 and guessed.score.max() < 1
