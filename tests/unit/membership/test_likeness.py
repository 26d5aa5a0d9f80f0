"""Outsiders after FairPick: as many of each kind stay as of the members, so that nothing but a leak sets them apart."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from core.membership import (
    CurvePoint,
    MemberPeople,
    MembershipSettings,
    MembershipSplit,
    attacked,
    fairpick_curve,
    fairpick_differences,
    findings_of,
    member_split,
    roc,
)
from core.membership.attacks.confidence import confidence_attack
from core.membership.fairpick import (
    Clusters,
    FairPick,
    Sides,
    clusters,
    fairpick,
    like_outsiders,
    outsiders_at_random,
    random_deletion,
)
from core.membership.inference import two_sides
from core.seeds import child_seed
from tests.unit.membership.villagers import half

SEEDS = range(12)
SETTINGS = MembershipSettings(theta=0.2)


@cache
def people(n: int = 4000) -> MemberPeople:
    """Return invented people of two groups, each with a trade of its own and a common one; labels follow nothing."""
    rng = np.random.default_rng(0)
    groups = (rng.random(n) < 0.4).astype(np.uint8)
    trade = rng.choice(3, n, p=[0.1, 0.4, 0.5])
    codes = np.column_stack([np.where(groups == 1, trade, 2 - trade), rng.integers(0, 2, n), groups]).astype(np.int64)
    return MemberPeople(
        title="invented",
        source="",
        codes=codes,
        names=("trade", "town", "group"),
        values=tuple(tuple(map(str, range(k))) for k in (3, 2, 2)),
        labels=rng.integers(0, 2, n).astype(np.uint8),
        groups=groups,
        group_names=("others", "first"),
        attribute="group",
        protected=(2,),
    )


def blind(rows: np.ndarray, seed: int) -> np.ndarray:
    """Answer by trade alone, surest of the common one: whoever was trained on, the answers are the same."""
    return np.array([0.6, 0.9, 0.7])[people().codes[:, 0]]


@cache
def sides() -> Sides:
    return two_sides(people(), 1)


def parts(seed: int) -> tuple[MembershipSplit, Clusters, FairPick]:
    split = half(people().n, seed=seed)
    found = clusters(sides(), split.members, seed=seed)
    return split, found, fairpick(sides(), split.members, found, theta=SETTINGS.theta, seed=seed)


def left_beside(seed: int) -> MembershipSplit:
    """Return the split after FairPick."""
    split, found, picked = parts(seed)
    outsiders = like_outsiders(sides(), split.outsiders, like=picked, found=found, seed=seed)
    return split.keeping(picked.kept, outsiders=outsiders)


def attack_area(split: MembershipSplit) -> float:
    guess = confidence_attack(blind(split.members, 0), people().labels, split)
    return roc(guess.score, split.judged[1]).auc.value


@cache
def fairpick_point() -> CurvePoint:
    return next(fairpick_curve(people(), SETTINGS, thetas=(0.2,), repeats=1, train=blind))


def cells(found: Clusters, rows: np.ndarray) -> np.ndarray:
    """Return the number of everybody's label, nearest cluster and group."""
    own = people()
    cluster = found.nearest(sides(), rows)
    return 200 * own.labels[rows].astype(int) + 2 * cluster + own.groups[rows]


def close_to(values: list[float], truth: float) -> bool:
    """Whether the mean over seeds is within three standard errors."""
    return abs(float(np.mean(values)) - truth) <= 3 * float(np.std(values, ddof=1)) / math.sqrt(len(values))


def test_a_target_that_leaks_nothing_is_not_told_to_leak_after_fairpick() -> None:
    thinned, whole = [], []
    for seed in SEEDS:
        split, _, picked = parts(seed)
        thinned.append(attack_area(left_beside(seed)))
        whole.append(attack_area(split.keeping(picked.kept, outsiders=split.outsiders)))
    assert close_to(thinned, 0.5) and abs(np.mean(thinned) - 0.5) < 0.02
    assert np.mean(whole) > 0.58  # with all outsiders the attack finds who was deleted


def test_a_target_that_leaks_nothing_has_no_advantage_gap_in_the_curve() -> None:
    made = list(fairpick_curve(people(), SETTINGS, thetas=(0.2,), repeats=5, train=blind))
    for variant in ("fairpick", "random"):
        own = [point for point in made if point.variant == variant]
        assert close_to([point.advantage_gap for point in own], 0.0)
        assert close_to([point.auc for point in own], 0.5)
        assert np.mean([point.precision for point in own]) == pytest.approx(0.5, abs=0.02)


def test_as_large_a_share_of_each_cell_stays_outside_as_inside() -> None:
    split, found, _ = parts(3)
    left = left_beside(3)
    inside, outside = cells(found, split.members), cells(found, split.outsiders)
    stays = (np.isin(split.members, left.members), np.isin(split.outsiders, left.outsiders))
    for cell in np.unique(outside):
        share = stays[0][inside == cell].mean()
        assert abs(stays[1][outside == cell].sum() - share * (outside == cell).sum()) < 1
    assert np.array_equal(left.unseen, split.outsiders) and left.outsiders.size < split.outsiders.size
    assert left.outsiders.size == pytest.approx(left.members.size, rel=0.05)


def test_the_nearest_cluster_of_a_member_is_her_own() -> None:
    split, found, _ = parts(4)
    assert np.array_equal(found.nearest(sides(), split.members), found.cluster)


def test_the_seed_decides_which_outsiders_stay() -> None:
    split, found, picked = parts(5)

    def left(rows: np.ndarray, seed: int) -> np.ndarray:
        return like_outsiders(sides(), rows, like=picked, found=found, seed=seed)

    once = left(split.outsiders, 1)
    assert np.array_equal(once, left(split.outsiders[::-1], 1)) and np.array_equal(once, np.unique(once))
    other = left(split.outsiders, 2)
    assert not np.array_equal(once, other) and once.size == other.size


def test_the_control_thins_outsiders_by_its_share() -> None:
    split, _, picked = parts(6)
    kept = random_deletion(split.members, picked.deleted.size, seed=6)
    stay = [outsiders_at_random(split.outsiders, kept.size, seed=seed) for seed in (0, 0, 1)]
    assert np.array_equal(stay[0], stay[1]) and not np.array_equal(stay[0], stay[2])
    assert stay[0].size == kept.size and np.isin(stay[0], split.outsiders).all()


def test_accuracy_is_measured_on_all_outsiders() -> None:
    own = people()
    point = fairpick_point()
    target = attacked(own, replace(SETTINGS, seed=1), blind)
    right = (target.probability > 0.5) == own.labels
    assert target.split.unseen.size == own.n // 2 > target.split.outsiders.size
    found = findings_of(target).target.accuracy_test
    assert found.n == own.n // 2 and found.value == pytest.approx(right[target.split.unseen].mean())
    split = member_split(own.n, seed=child_seed(SETTINGS.seed, "membership, repeat 0"))
    assert point.accuracy_test == pytest.approx(right[split.outsiders].mean())


def test_differences_are_taken_within_repeats() -> None:
    made = fairpick_point()
    apart = [0.3, -0.1, 0.2, -0.3, 0.0]  # what the splits of the repeats do to both
    more = [0.011, 0.009, 0.01, 0.012, 0.008]
    points: list[CurvePoint] = []
    for repeat, (base, extra) in enumerate(zip(apart, more, strict=True)):
        points.append(replace(made, repeat=repeat, variant="random", vd=base))
        points.append(replace(made, repeat=repeat, variant="fairpick", vd=base + extra))
    alone = replace(made, repeat=9, vd=7.0)
    (band,) = fairpick_differences([*reversed(points), alone, *(replace(p, at=1.0) for p in points)])
    assert (band.at, band.variant, band.repeats) == (0.2, "fairpick - random", 5)
    assert band.values["vd"].value == pytest.approx(0.01) and band.values["vd"].low > 0
    assert band.values["auc"].value == 0
    lost = fairpick_differences([replace(p, vd=math.nan) for p in points])
    assert math.isnan(lost[0].values["vd"].value) and not math.isnan(lost[0].values["auc"].value)
    assert fairpick_differences([alone]) == ()
