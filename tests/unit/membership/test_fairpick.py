"""FairPick on people: clusters, who is deleted, the control, and outsiders thinned so that only a leak is left."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.cluster import KMeans

from core.base.seeds import child_seed
from core.studies.membership import (
    CurvePoint,
    MemberPeople,
    MembershipSettings,
    MembershipSplit,
    fairpick_curve,
    member_split,
    train_target,
)
from core.studies.membership.curves import fairpick_differences
from core.studies.membership.fairpick import (
    FEWEST,
    MOST,
    Clusters,
    FairPick,
    Sides,
    clusters,
    fairpick,
    random_deletion,
)
from core.studies.membership.inference import thinned, two_sides
from tests.unit.membership.samples import half, invented


def drawn(n: int = 900, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return codes, labels and groups; column 3 is the group, column 0 goes with it."""
    rng = np.random.default_rng(seed)
    groups = (rng.random(n) < 0.4).astype(int)
    codes = np.column_stack([rng.integers(0, 5, n) + 2 * groups, rng.integers(0, 3, n), rng.integers(0, 9, n), groups])
    labels = (rng.random(n) < 0.3 + 0.05 * codes[:, 1]).astype(int)
    return codes, labels, groups


CODES, LABELS, GROUPS = drawn()
MEMBERS = np.random.default_rng(1).permutation(900)[:700]
SIDES = Sides(features=CODES[:, :3].astype(float), labels=LABELS, groups=GROUPS, names=("men", "women"))


def test_clusters_are_as_many_as_can_be() -> None:
    clustering = clusters(SIDES, np.arange(900), seed=3)
    features = (CODES[:, :3] - CODES[:, :3].mean(axis=0)) / CODES[:, :3].std(axis=0)
    for label, counts in clustering.counts.items():
        of_label = label == LABELS
        inside = clustering.cluster[of_label]
        plain = [
            [int(((inside == c) & (GROUPS[of_label] == g)).sum()) for g in (0, 1)] for c in range(inside.max() + 1)
        ]
        assert counts.tolist() == plain and 1 < len(counts) <= MOST and counts.min() >= FEWEST
        for k in range(len(counts) + 1, MOST + 1):
            more = KMeans(k, n_init=1, random_state=child_seed(3, f"clusters of label {label}"))
            cluster = more.fit_predict(features[of_label])
            smallest = min(((cluster == c) & (GROUPS[of_label] == g)).sum() for c in range(k) for g in (0, 1))
            assert smallest < FEWEST


def test_the_control_deletes_as_many_whoever_they_are() -> None:
    n, share = 60, float(GROUPS[MEMBERS].mean())
    remaining = [random_deletion(MEMBERS, n, seed=seed) for seed in range(60)]
    gone = [np.setdiff1d(MEMBERS, stay) for stay in remaining]
    assert all(
        deleted.size == n and stay.size == MEMBERS.size - n for stay, deleted in zip(remaining, gone, strict=True)
    )
    women = float(np.mean([GROUPS[deleted].sum() for deleted in gone]))
    assert women == pytest.approx(share * n, abs=3 * math.sqrt(share * (1 - share) * n / 60))
    assert len({tuple(deleted) for deleted in gone}) == 60
    assert np.array_equal(random_deletion(MEMBERS, n, seed=3), remaining[3])


# ------------------------------------------------------------ outsiders thinned like the members
SETTINGS = MembershipSettings(theta=0.2)


@cache
def people(n: int = 4000) -> MemberPeople:
    """Return invented people of two groups, each with a trade of its own and a common one; labels follow nothing."""
    rng = np.random.default_rng(0)
    groups = (rng.random(n) < 0.4).astype(np.uint8)
    trade = rng.choice(3, n, p=[0.1, 0.4, 0.5])
    codes = np.column_stack([np.where(groups == 1, trade, 2 - trade), rng.integers(0, 2, n), groups])
    return replace(invented(codes, rng.integers(0, 2, n), groups), protected=(2,))


def blind(rows: np.ndarray, seed: int) -> np.ndarray:
    """Answer by trade alone, surest of the common one: whoever was trained on, the answers are the same."""
    return np.array([0.6, 0.9, 0.7])[people().codes[:, 0]]


@cache
def sides() -> Sides:
    return two_sides(people(), 1)


def parts(seed: int) -> tuple[MembershipSplit, Clusters, FairPick]:
    split = half(people().n, seed=seed)
    clustering = clusters(sides(), split.members, seed=seed)
    return split, clustering, fairpick(sides(), split.members, clustering, theta=SETTINGS.theta, seed=seed)


def left_beside(seed: int) -> MembershipSplit:
    """Return the split after FairPick."""
    split, clustering, _ = parts(seed)
    return thinned(sides(), split, clustering, replace(SETTINGS, seed=seed))[1]


@cache
def fairpick_point() -> CurvePoint:
    return next(fairpick_curve(people(), SETTINGS, thetas=(0.2,), repeats=1, train=blind))


def cells(clustering: Clusters, rows: np.ndarray) -> np.ndarray:
    """Return the number of everybody's label, nearest cluster and group."""
    everybody = people()
    cluster = clustering.nearest(sides(), rows)
    return 200 * everybody.labels[rows].astype(int) + 2 * cluster + everybody.groups[rows]


def close_to(values: list[float], truth: float) -> bool:
    """Whether the mean over seeds is within three standard errors."""
    return abs(float(np.mean(values)) - truth) <= 3 * float(np.std(values, ddof=1)) / math.sqrt(len(values))


def test_a_target_that_leaks_nothing_has_no_advantage_gap_in_the_curve() -> None:
    curve = list(fairpick_curve(people(), SETTINGS, thetas=(0.2,), repeats=5, train=blind))
    for variant in ("fairpick", "random"):
        of_variant = [point for point in curve if point.variant == variant]
        assert close_to([point.advantage_gap for point in of_variant], 0.0)
        assert close_to([point.auc for point in of_variant], 0.5)
        assert np.mean([point.precision for point in of_variant]) == pytest.approx(0.5, abs=0.02)


def test_as_large_a_share_of_each_cell_stays_outside_as_inside() -> None:
    split, clustering, _ = parts(3)
    left = left_beside(3)
    inside, outside = cells(clustering, split.members), cells(clustering, split.outsiders)
    stays = (np.isin(split.members, left.members), np.isin(split.outsiders, left.outsiders))
    for cell in np.unique(outside):
        share = stays[0][inside == cell].mean()
        assert abs(stays[1][outside == cell].sum() - share * (outside == cell).sum()) < 1
    assert np.array_equal(left.unseen, split.outsiders) and left.outsiders.size < split.outsiders.size
    assert left.outsiders.size == pytest.approx(left.members.size, rel=0.05)


def test_accuracy_is_measured_on_all_outsiders() -> None:
    everybody = people()
    point = fairpick_point()
    target = train_target(everybody, replace(SETTINGS, seed=1), blind)
    right = (target.evidence.probability > 0.5) == everybody.labels
    assert target.split.unseen.size == everybody.n // 2 > target.split.outsiders.size
    accuracy = target.quality.accuracy_test
    assert accuracy.n == everybody.n // 2 and accuracy.value == pytest.approx(right[target.split.unseen].mean())
    split = member_split(everybody.n, seed=child_seed(SETTINGS.seed, "membership, repeat 0"))
    assert point.accuracy_test == pytest.approx(right[split.outsiders].mean())


def test_differences_are_taken_within_repeats() -> None:
    template = fairpick_point()
    shifts = [0.3, -0.1, 0.2, -0.3, 0.0]  # what the splits of the repeats do to both
    more = [0.011, 0.009, 0.01, 0.012, 0.008]
    points: list[CurvePoint] = []
    for repeat, (base, extra) in enumerate(zip(shifts, more, strict=True)):
        points.append(replace(template, repeat=repeat, variant="random", vd=base))
        points.append(replace(template, repeat=repeat, variant="fairpick", vd=base + extra))
    alone = replace(template, repeat=9, vd=7.0)
    (band,) = fairpick_differences([*reversed(points), alone, *(replace(p, at=1.0) for p in points)])
    assert (band.at, band.variant, band.repeats) == (0.2, "fairpick - random", 5)
    assert band.values["vd"].value == pytest.approx(0.01) and band.values["vd"].low > 0
    assert band.values["auc"].value == 0
    lost = fairpick_differences([replace(p, vd=math.nan) for p in points])
    assert math.isnan(lost[0].values["vd"].value) and not math.isnan(lost[0].values["auc"].value)
    assert fairpick_differences([alone]) == ()
