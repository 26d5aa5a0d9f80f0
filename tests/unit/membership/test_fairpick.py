"""FairPick on people: clusters, who is deleted, the control, and bad input."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans

from core.errors import InputError
from core.membership import DELETION_REMINDER, fairpick_counts
from core.membership.fairpick import (
    FEWEST,
    MOST,
    FairPick,
    Sides,
    clusters,
    fairpick,
    fairpick_literal,
    random_deletion,
    what_equations_ask,
    whole,
)
from core.seeds import child_seed
from tests.oracles.fairpick import fairpick_program


def people(n: int = 900, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return codes, labels and groups; column 3 is the group, column 0 goes with it."""
    rng = np.random.default_rng(seed)
    groups = (rng.random(n) < 0.4).astype(int)
    codes = np.column_stack([rng.integers(0, 5, n) + 2 * groups, rng.integers(0, 3, n), rng.integers(0, 9, n), groups])
    labels = (rng.random(n) < 0.3 + 0.05 * codes[:, 1]).astype(int)
    return codes, labels, groups


CODES, LABELS, GROUPS = people()
MEMBERS = np.random.default_rng(1).permutation(900)[:700]
SIDES = Sides(features=CODES[:, :3].astype(float), labels=LABELS, groups=GROUPS, names=("men", "women"))


def picked(
    members: np.ndarray = MEMBERS, sides: Sides = SIDES, *, theta: float = 0.5, seed: int = 4, **more
) -> FairPick:
    return fairpick(sides, members, clusters(sides, members, seed=seed), theta=theta, seed=seed, **more)


def test_deletions_by_hand() -> None:
    # shares .75 and .25 against .25 and .75: DD = ±.5, TV = .5; s = .25 / .75 = 1/3, f = 1 − .5 · 2/3 = 2/3
    assert fairpick_counts([[25, 150], [75, 50]], 0.5) == pytest.approx(np.array([[0, 200 / 3], [100 / 3, 0]]))


def test_largest_remainders_by_hand() -> None:
    x = [[0.5, 1.0], [1.25, 0.0], [0.25, 0.6], [0.0, 0.3]]
    assert whole(x, [[1, 1], [2, 9], [1, 1], [5, 1]]).tolist() == [[1, 1], [1, 0], [0, 1], [0, 0]]


def test_the_closed_form_is_the_solvers_minimum_on_many_clusters() -> None:
    rng = np.random.default_rng(2)
    for theta in (0.01, 0.4, 0.99):
        counts = rng.integers(10, 900, (30, 2)) * [1, 4]
        x = fairpick_counts(counts, theta)
        assert fairpick_program(counts, theta) == pytest.approx(x, rel=1e-6, abs=1e-6 * x.max())


def test_the_published_variant_asks_to_duplicate_and_misses_its_goal() -> None:
    counts = np.array([[25, 150], [75, 50]])
    deletions, ignored = fairpick_literal(counts, 0.5)
    assert ignored == 2 and (deletions == np.maximum(what_equations_ask(counts, 0.5), 0)).all()
    left = (counts - deletions) / (counts - deletions).sum(axis=0)
    assert abs(left[0, 1] - left[0, 0]) > 0.5 * 0.5 + 0.05


def test_clusters_are_as_many_as_can_be() -> None:
    found = clusters(SIDES, np.arange(900), seed=3)
    features = (CODES[:, :3] - CODES[:, :3].mean(axis=0)) / CODES[:, :3].std(axis=0)
    for label, counts in found.counts.items():
        here = label == LABELS
        inside = found.cluster[here]
        plain = [[int(((inside == c) & (GROUPS[here] == g)).sum()) for g in (0, 1)] for c in range(inside.max() + 1)]
        assert counts.tolist() == plain and 1 < len(counts) <= MOST and counts.min() >= FEWEST
        for k in range(len(counts) + 1, MOST + 1):
            more = KMeans(k, n_init=1, random_state=child_seed(3, f"clusters of label {label}"))
            cluster = more.fit_predict(features[here])
            smallest = min(((cluster == c) & (GROUPS[here] == g)).sum() for c in range(k) for g in (0, 1))
            assert smallest < FEWEST


def test_people_who_are_all_alike_are_one_cluster() -> None:
    labels, groups = np.tile([0, 1], 30), np.repeat([0, 1], 30)
    alike, everybody = Sides(features=np.ones((60, 2)), labels=labels, groups=groups, names=("a", "b")), np.arange(60)
    found = clusters(alike, everybody, seed=0)
    assert {label: len(counts) for label, counts in found.counts.items()} == {0: 1, 1: 1}
    assert not found.nearest(alike, everybody).any()
    assert not picked(everybody, alike, theta=0.1, seed=0).deleted.size


def test_the_differences_shrink_and_the_numbers_add_up() -> None:
    found = picked()
    assert sorted([*found.kept, *found.deleted]) == sorted(MEMBERS) and found.deleted.size > 50
    assert found.deleted_by_group == {
        name: int((GROUPS[found.deleted] == g).sum()) for g, name in enumerate(("men", "women"))
    }
    known = clusters(SIDES, MEMBERS, seed=4)
    rows, stays = np.sort(MEMBERS), np.isin(np.sort(MEMBERS), found.kept)
    for label in (0, 1):
        shares = []
        for g in (0, 1):
            inside = known.cluster[stays & (LABELS[rows] == label) & (GROUPS[rows] == g)]
            shares.append(np.bincount(inside, minlength=found.clusters[label]) / inside.size)
        assert shares[1] - shares[0] == pytest.approx(found.dd_after[label])
        assert found.dd_after[label] == pytest.approx(0.5 * found.dd_before[label], abs=0.03)
    assert found.largest_after == pytest.approx(0.5 * found.largest_before, abs=0.02)


def test_a_smaller_theta_deletes_the_same_people_and_more() -> None:
    less, more = (picked(theta=theta, seed=5) for theta in (0.7, 0.3))
    assert len(set(less.deleted) - set(more.deleted)) <= 2 * sum(less.clusters.values())  # by rounding alone
    assert more.deleted.size > less.deleted.size > 0


def test_the_seed_decides_and_nothing_else_does() -> None:
    def deleted(seed: int, members: np.ndarray = MEMBERS) -> list[int]:
        return picked(members, seed=seed).deleted.tolist()

    assert deleted(1) == deleted(1) == deleted(1, members=MEMBERS[::-1])
    assert deleted(1) != deleted(2)


def test_the_published_variant_is_told() -> None:
    found, usual = picked(literal=True), picked()
    assert found.ignored > 0 and usual.ignored == 0
    assert found.largest_after > usual.largest_after


def test_the_control_deletes_as_many_whoever_they_are() -> None:
    like = picked()
    kept = [random_deletion(MEMBERS, like.deleted.size, seed=seed) for seed in range(60)]
    gone = [np.setdiff1d(MEMBERS, stay) for stay in kept]
    for stay, deleted in zip(kept, gone, strict=True):
        assert deleted.size == like.deleted.size and np.array_equal(stay, np.sort(stay))
        assert sorted([*stay, *deleted]) == sorted(MEMBERS)
    share, n = float(GROUPS[MEMBERS].mean()), like.deleted.size
    women = float(np.mean([GROUPS[deleted].sum() for deleted in gone]))
    assert women == pytest.approx(share * n, abs=3 * math.sqrt(share * (1 - share) * n / 60))
    assert len({tuple(deleted) for deleted in gone}) == 60
    assert np.array_equal(random_deletion(MEMBERS, like.deleted.size, seed=3), kept[3])


def test_the_reminder_names_the_guarantee() -> None:
    assert "epsilon" in DELETION_REMINDER and "private itself" in DELETION_REMINDER


@pytest.mark.parametrize("one", [fairpick_counts, fairpick_program, fairpick_literal])
@pytest.mark.parametrize(
    "counts, theta, told",
    [
        ([[1, 2]], 0.0, "theta must be in (0, 1], got 0.0."),
        ([[1, 2]], 1.1, "theta must be in (0, 1], got 1.1."),
        ([[1, 2]], math.nan, "theta must be in (0, 1], got nan."),
        ([[1, 2]], "half", "theta must be in (0, 1], got 'half'."),
        ([1, 2], 0.5, "counts must have one row a cluster and two columns, got the shape (2,)."),
        ([[1, -2]], 0.5, "counts must be numbers of at least 0, got -2.0."),
        ([[1, math.nan]], 0.5, "counts must be numbers of at least 0, got nan."),
        ([[0, 2], [0, 1]], 0.5, "counts must hold people of both groups, got none of group 0."),
    ],
)
def test_bad_counts_are_told_in_one_sentence(one, counts, theta, told: str) -> None:
    with pytest.raises(InputError) as raised:
        one(counts, theta)
    assert str(raised.value) == told


def test_groups_without_a_common_cluster_cannot_be_picked_from() -> None:
    with pytest.raises(InputError, match=r"^FairPick needs groups that share a cluster, got two that share none\.$"):
        fairpick_counts([[5, 0], [0, 7]], 0.5)
    assert not fairpick_counts([[5, 0], [0, 7]], 1.0).any()


ONE_WOMAN = np.where((LABELS == 1) & (np.cumsum((LABELS == 1) & (GROUPS == 1)) > 7), 0, GROUPS)


@pytest.mark.parametrize(
    "changed, told",
    [
        ({"labels": np.ones(900, dtype=int)}, "FairPick needs people with both labels, got none with label 0."),
        ({"features": np.empty((900, 0))}, "codes must hold people and features, got the shape (900, 0)."),
        ({"groups": ONE_WOMAN}, "FairPick needs at least 10 people of each group with label 1, got 7 of group 1."),
    ],
)
def test_bad_people_are_told_in_one_sentence(changed: dict, told: str) -> None:
    with pytest.raises(InputError) as raised:
        picked(np.arange(900), replace(SIDES, **changed))
    assert str(raised.value) == told
