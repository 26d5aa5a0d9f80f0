"""RMIA: its score against two plain loops, its limiting cases, and what it finds beside LiRA."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets import load
from core.errors import InputError
from core.membership import judging_everybody, lira_from, member_people, member_split, roc, train_shadows
from core.membership.attacks.rmia import rmia_from
from core.membership.shadows import Shadows
from core.membership.targets import ID3Target
from tests.unit.membership.villagers import half, villagers

M, K = 12, 7
"""Judged people, and people they are compared with."""


def drawn(seed: int, *, online: bool) -> tuple[Shadows, np.ndarray, np.ndarray]:
    """Return shadows that answer at random with two decimals, a target's answers, and labels."""
    rng = np.random.default_rng(seed)
    people = rng.permutation(30)[: M + K]
    trained = rng.random((6, M + K)) < 0.5
    trained[:, -2:] = False  # two whom no shadow was trained on
    trained[:, M] = True
    trained[:, :M] &= online
    own = rng.random((6, M + K)).round(2)
    made = Shadows(rows=people[:M], population=people[M:], own=own, trained=trained, online=online)
    return made, rng.random(30).round(2), rng.integers(0, 2, 30)


def by_hand(made: Shadows, p: np.ndarray, y: np.ndarray, gamma: float, a: float) -> list[float]:
    """Return the share of the population that each judged person beats, pair by pair."""

    def ratio(place: int, row: int) -> float:
        with_her = [own[place] for own, trained in zip(made.own, made.trained, strict=True) if trained[place]]
        without = [own[place] for own, trained in zip(made.own, made.trained, strict=True) if not trained[place]]
        if not without:
            marginal = np.mean(with_her)
        elif made.online and with_her:
            marginal = 0.5 * np.mean(with_her) + 0.5 * np.mean(without)
        else:
            marginal = ((1 + a) * np.mean(without) + (1 - a)) / 2
        given = p[row] if y[row] else 1 - p[row]
        return max(given, 0.01) / max(marginal, 0.01)

    others = [ratio(M + k, row) for k, row in enumerate(made.population)]
    return [np.mean([ratio(i, row) / other >= gamma - 1e-9 for other in others]) for i, row in enumerate(made.rows)]


@given(
    seed=st.integers(0, 10_000),
    online=st.booleans(),
    gamma=st.sampled_from([1.0, 1.3, 4.0]),
    a=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_the_score_is_the_share_of_the_population_beaten(seed: int, online: bool, gamma: float, a: float):
    made, p, y = drawn(seed, online=online)
    found = rmia_from(made, p, y, gamma=gamma, offline_a=a)
    assert found.score == pytest.approx(by_hand(made, p, y, gamma, a), abs=1e-12)
    assert found.verdict is None and np.array_equal(found.rows, made.rows)


@given(seed=st.integers(0, 10_000), gamma=st.sampled_from([1.0, 2.0]))
def test_the_population_and_gamma_turn_no_two_people_round(seed: int, gamma: float):
    made, p, y = drawn(seed, online=True)
    fine = Shadows(
        rows=made.rows,
        population=made.rows,
        own=np.tile(made.own[:, :M], 2),
        online=True,
        trained=np.tile(made.trained[:, :M], 2),
    )  # each among all of them: the order of the ratios
    order = rmia_from(fine, p, y).score
    score = rmia_from(made, p, y, gamma=gamma).score
    assert (np.diff(score[np.argsort(order, kind="stable")]) >= 0).all()


def test_a_model_that_says_the_same_of_everybody_gives_everybody_the_same_score():
    split, y = half(400), np.ones(400)
    made = train_shadows(lambda rows, seed: np.full(400, 0.7), y, split, seed=0, shadows=4)
    found = rmia_from(made, np.full(400, 0.7), y)
    assert (found.score == 1.0).all() and roc(found.score, split.judged[1]).auc.value == 0.5
    assert (rmia_from(made, np.full(400, 0.7), y, gamma=1.1).score == 0.0).all()
    for p in (np.zeros(400), np.ones(400)):
        assert np.isfinite(rmia_from(made, p, y).score).all()


@pytest.mark.parametrize("online", [True, False])
def test_of_a_model_trained_on_none_of_them_nothing_is_found(online: bool):
    held = []
    for seed in range(20):
        people, split = villagers(600, seed=seed), member_split(600, seed=seed, judged_share=0.5)
        train = ID3Target(people=people, max_depth=4)
        strangers = np.setdiff1d(split.members, split.judged[0])
        made = train_shadows(train, people.labels, split, seed=seed, shadows=8, online=online)
        auc = roc(rmia_from(made, train(strangers, seed), people.labels).score, split.judged[1]).auc
        held.append(auc.low <= 0.5 <= auc.high)
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 20)


def overfit(n: int = 900) -> tuple[np.ndarray, object]:
    """Return noisy labels of n people, and a tree that is grown until it knows each training record."""
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    features = rng.random((n, 3))
    labels = (rng.random(n) < 0.2 + 0.6 * features[:, 0]).astype(np.uint8)

    def train(rows: np.ndarray, seed: int) -> np.ndarray:
        tree = DecisionTreeClassifier(random_state=seed).fit(features[rows], labels[rows])
        return tree.predict_proba(features)[:, 1]

    return labels, train


@pytest.mark.parametrize("online", [True, False])
def test_a_planted_overfit_tree_is_found(online: bool):
    labels, train = overfit()
    split = member_split(900, seed=1, judged_share=0.6)
    made = train_shadows(train, labels, split, seed=1, shadows=16, online=online)
    found = roc(rmia_from(made, train(split.members, 0), labels).score, split.judged[1]).auc
    assert found.low > 0.6


def test_where_everybody_is_judged_they_are_compared_with_those_aside():
    labels, train = overfit()
    split = judging_everybody(np.arange(300), np.arange(300, 600), aside=np.arange(600, 900))
    made = train_shadows(train, labels, split, seed=1, shadows=16)
    assert np.array_equal(made.population, np.arange(600, 900)) and not made.trained[:, 600:].any()
    for trained, least in ((split.members, 0.6), (split.population, 0.0)):
        auc = roc(rmia_from(made, train(trained, 0), labels).score, split.judged[1]).auc
        assert auc.low > least and (least or auc.low <= 0.5 <= auc.high)


def test_beside_lira_on_the_demo():
    """Sixteen shadows on trees of depth 8: AUC .729 against LiRA's .730, TPR at 1% FPR .099 against .086."""
    table = load("demo", data_folder=None)
    people = member_people(table, table.roles[0])
    split, train = member_split(people.n, seed=42), ID3Target(people=people, max_depth=8)
    made = train_shadows(train, people.labels, split, seed=42, shadows=16)
    p, member = train(split.members, 42), split.judged[1]
    rmia, lira = (roc(attack(made, p, people.labels).score, member) for attack in (rmia_from, lira_from))
    assert (rmia.auc.value, lira.auc.value) == pytest.approx((0.7287, 0.7296), abs=5e-4)
    assert rmia.auc.low < lira.auc.value < rmia.auc.high and lira.auc.low < rmia.auc.value < lira.auc.high
    ours, theirs = rmia.tpr_at(0.01), lira.tpr_at(0.01)
    assert (ours.value, theirs.value) == pytest.approx((0.0993, 0.0859), abs=5e-4)
    assert ours.low < theirs.high and theirs.low < ours.high  # no difference to speak of


@pytest.mark.parametrize(
    ("changes", "words"), [({"gamma": 0.5}, "gamma must be at least 1"), ({"offline_a": 2.0}, r"offline_a must be in")]
)
def test_settings_that_break_their_rule_are_refused(changes: dict[str, float], words: str):
    made, p, y = drawn(0, online=True)
    with pytest.raises(InputError, match=words):
        rmia_from(made, p, y, **changes)


def test_nobody_to_be_compared_with_is_refused():
    split = judging_everybody(np.arange(20), np.arange(20, 40))
    made = train_shadows(lambda rows, seed: np.full(40, 0.5), np.ones(40), split, seed=0, shadows=4)
    with pytest.raises(InputError, match="not judged, got none"):
        rmia_from(made, np.full(40, 0.5), np.ones(40))
