"""LiRA: who its shadows see, its score against plain formulas, and that nothing but the seed matters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from core.errors import Cancelled, InputError
from core.membership import lira_from, member_split, roc, train_shadows
from core.membership.shadows import Shadows
from core.membership.targets import ID3Target
from tests.unit.membership.villagers import half, villagers

N = 300


def lira(train, p, labels, split, **settings):
    """Train shadows and judge people by them."""
    return lira_from(train_shadows(train, labels, split, **settings), p, labels)


def drawn_by(split, **settings):
    """Return the rows each shadow was trained on, and the shadows."""
    seen = []

    def train(rows, seed):
        seen.append(rows)
        return np.full(1000, 0.5)

    made = train_shadows(train, np.zeros(1000, dtype=int), split, **settings)
    return seen, made


@given(seed=st.integers(0, 1000), shadows=st.sampled_from([4, 6, 10]))
def test_online_everybody_is_in_half_of_the_shadows(seed, shadows):
    split = half(200, seed=seed)
    seen, made = drawn_by(split, seed=seed, shadows=shadows)
    times = np.bincount(np.concatenate(seen), minlength=200)
    assert len(seen) == shadows and (times == shadows // 2).all()
    assert all(np.unique(rows).size == split.members.size for rows in seen)
    assert np.array_equal(made.inside, [np.isin(made.rows, rows) for rows in seen])
    assert np.array_equal(made.rows, split.judged[0])


@given(seed=st.integers(0, 1000))
def test_offline_nobody_judged_is_in_a_shadow(seed):
    split = half(200, seed=seed)
    seen, made = drawn_by(split, seed=seed, shadows=4, online=False)
    assert not np.isin(np.concatenate(seen), split.judged[0]).any() and not made.inside.any()
    assert len({tuple(rows) for rows in seen}) == 4


def test_after_deletions_nobody_deleted_comes_back():
    split = half(200)
    left = split.keeping(split.members[20:], outsiders=split.outsiders)
    seen, _ = drawn_by(left, seed=0, shadows=4)
    assert not np.isin(np.concatenate(seen), split.members[:20]).any()
    assert all(rows.size == left.members.size for rows in seen)


def shadows_that_say(logits, rows, inside, online) -> Shadows:
    """Return shadows with these logits of the judged."""
    nobody = np.empty(0, dtype=int)
    return Shadows(rows=rows, population=nobody, own=1 / (1 + np.exp(-logits)), trained=inside, online=online)


def shadows_of(seed: int, online: bool) -> tuple[Shadows, np.ndarray, np.ndarray]:
    """Return shadows that answer at random, a target's answers, and labels."""
    rng = np.random.default_rng(seed)
    rows, inside = np.arange(5, 25), rng.permuted(np.repeat([[True], [False]], 4, axis=0).repeat(20, 1), axis=0)
    made = shadows_that_say(rng.normal(size=(8, 20)), rows, inside & online, online)
    return made, rng.uniform(0.05, 0.95, 30), rng.integers(0, 2, 30)


@pytest.mark.parametrize("own", [True, False])
def test_online_the_score_is_the_likelihood_ratio(own):
    made, p, y = shadows_of(0, online=True)
    found = lira_from(made, p, y, own_variance=own)
    true = np.where(y == 1, p, 1 - p)[made.rows]
    phi = np.log(true / (1 - true))
    sides = {}
    for side in (True, False):
        values = np.stack([made.logits[made.inside[:, i] == side, i] for i in range(20)])  # (20, 4)
        deviation = values.std(axis=1, ddof=1) if own else np.sqrt(values.var(axis=1, ddof=1).mean())
        sides[side] = norm.logpdf(phi, values.mean(axis=1), deviation)
    assert found.score == pytest.approx(sides[True] - sides[False], abs=1e-9)
    assert found.verdict is None and np.array_equal(found.rows, made.rows)


def test_offline_the_score_orders_as_the_distribution_function():
    made, p, y = shadows_of(1, online=False)
    found = lira_from(made, p, y, own_variance=True)
    true = np.where(y == 1, p, 1 - p)[made.rows]
    below = norm.cdf(np.log(true / (1 - true)), made.logits.mean(axis=0), made.logits.std(axis=0, ddof=1))
    assert np.array_equal(np.argsort(found.score), np.argsort(below))


def test_people_share_a_variance_where_shadows_are_few():
    made, p, y = shadows_of(2, online=True)
    assert np.array_equal(lira_from(made, p, y).score, lira_from(made, p, y, own_variance=False).score)


def test_answers_of_zero_and_one_are_no_trouble():
    made, _, y = shadows_of(3, online=True)
    still = shadows_that_say(np.zeros_like(made.logits), made.rows, made.inside, True)
    for p in (y.astype(float), 1.0 - y):
        for own in (True, False):
            assert np.isfinite(lira_from(made, p, y, own_variance=own).score).all()
            assert np.isfinite(lira_from(still, p, y, own_variance=own).score).all()


def test_somebody_never_in_a_shadow_still_gets_a_score():
    made, p, y = shadows_of(4, online=True)
    made.inside[:, 0] = False
    assert np.isfinite(lira_from(made, p, y, own_variance=True).score).all()


@pytest.mark.parametrize("online", [True, False])
def test_the_seed_decides_the_scores(online):
    people, split = villagers(N), half(N)
    train = ID3Target(people=people, max_depth=4)
    p = train(split.members, 0)
    one, two, other = (
        lira(train, p, people.labels, split, seed=seed, shadows=8, online=online).score for seed in (0, 0, 1)
    )
    assert np.array_equal(one, two) and not np.array_equal(one, other)


def memorise(rows, seed):
    """Return answers of a model that is a little surer of label 1 for those it was trained on."""
    rng = np.random.default_rng(seed)
    inside = np.isin(np.arange(1000), rows)
    return 1 / (1 + np.exp(-rng.normal(np.where(inside, 1.0, 0.0) + np.sin(np.arange(1000)) * 3, 0.5)))


@pytest.mark.parametrize(("online", "expected"), [(True, 0.92), (False, 0.92)])
def test_a_memory_behind_easy_and_hard_people_is_found(online, expected):
    """Two standard deviations of memory under three of difficulty: only who knows the difficulty can tell."""
    split = member_split(1000, seed=0, judged_share=0.5)
    p, y = memorise(split.members, 99), np.ones(1000)
    found = lira(memorise, p, y, split, seed=0, shadows=64, online=online)
    assert roc(found.score, split.judged[1]).auc.value == pytest.approx(expected, abs=0.03)  # Φ(2 / √2) = .921
    assert roc(p[found.rows], split.judged[1]).auc.value < 0.68


def test_without_a_memory_nothing_is_found():
    def forget(rows, seed):
        return np.random.default_rng(seed).random(1000)

    aucs = []
    for seed in range(20):
        split = member_split(1000, seed=seed, judged_share=0.3)
        found = lira(forget, forget(None, 999 + seed), np.ones(1000), split, seed=seed, shadows=8)
        auc = roc(found.score, split.judged[1]).auc
        aucs.append(auc.low <= 0.5 <= auc.high)
    assert np.mean(aucs) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 20)


def test_progress_is_told_and_stopping_stops():
    told, trained = [], []

    def train(rows, seed):
        trained.append(seed)
        return np.full(N, 0.5)

    def report(done, total):
        told.append((done, total))
        if done == 3:
            raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        lira(train, np.full(N, 0.5), np.zeros(N), half(N), seed=0, shadows=40, report=report)
    assert told == [(1, 40), (2, 40), (3, 40)]
    assert len(trained) == 3


def test_a_failing_shadow_says_so():
    def train(rows, seed):
        raise InputError("No.")

    with pytest.raises(InputError, match="No"):
        lira(train, np.full(N, 0.5), np.zeros(N), half(N), seed=0, shadows=4)


@pytest.mark.parametrize("shadows", [3, 2, 5, 4.0, True])
def test_a_bad_number_of_shadows_is_refused(shadows):
    with pytest.raises(InputError, match=f"shadows must be an even number of at least 4, got {shadows}"):
        drawn_by(half(200), seed=0, shadows=shadows)
