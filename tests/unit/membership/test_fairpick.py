"""FairPick on people: clusters, who is deleted, the control, and outsiders thinned so that only a leak is left."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans

from core.base.validation import child_seed
from core.datasets import AuditDataset
from core.datasets.splits import Splits, split
from core.studies.membership import Evidence, attacks, judging_everybody, roc
from core.studies.membership.curves import thinned, two_sides
from core.studies.membership.fairpick import (
    FEWEST,
    MOST,
    Clusters,
    FairPick,
    clusters,
    fairpick,
    random_deletion,
)
from core.studies.membership.findings import CurvePoint, fairpick_differences
from core.studies.subject import AuditConfig
from tests import samples


def drawn(n: int = 900, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return codes, labels and groups; column 3 is the group, column 0 goes with it."""
    rng = np.random.default_rng(seed)
    groups = (rng.random(n) < 0.4).astype(int)
    codes = np.column_stack([rng.integers(0, 5, n) + 2 * groups, rng.integers(0, 3, n), rng.integers(0, 9, n), groups])
    labels = (rng.random(n) < 0.3 + 0.05 * codes[:, 1]).astype(int)
    return codes, labels, groups


CODES, LABELS, GROUPS = drawn()
MEMBERS = np.random.default_rng(1).permutation(900)[:700]
SIDES: Any = SimpleNamespace(
    features=CODES[:, :3].astype(float), labels=LABELS, sensitive=GROUPS, group_names=("men", "women")
)


def test_clusters_are_as_many_as_can_be():
    clustering = clusters(SIDES, np.arange(900), seed=3)
    features = (CODES[:, :3] - CODES[:, :3].mean(axis=0)) / CODES[:, :3].std(axis=0)
    for label, counts in clustering.counts.items():
        of_label = label == LABELS
        inside = clustering.cluster[of_label]
        codes = range(inside.max() + 1)
        assert counts.tolist() == [[((inside == c) & (GROUPS[of_label] == g)).sum() for g in (0, 1)] for c in codes]
        assert 1 < len(counts) <= MOST
        assert counts.min() >= FEWEST
        for k in range(len(counts) + 1, MOST + 1):
            more = KMeans(k, n_init=1, random_state=child_seed(3, f"clusters of label {label}"))
            cluster = more.fit_predict(features[of_label])
            smallest = min(((cluster == c) & (GROUPS[of_label] == g)).sum() for c in range(k) for g in (0, 1))
            assert smallest < FEWEST


def test_random_deletion_takes_as_many_whoever_they_are():
    n, share = 60, float(GROUPS[MEMBERS].mean())
    gone = [np.setdiff1d(MEMBERS, random_deletion(MEMBERS, n, seed=seed)) for seed in range(60)]
    assert {deleted.size for deleted in gone} == {n}
    assert len({tuple(deleted) for deleted in gone}) == 60
    women = float(np.mean([GROUPS[deleted].sum() for deleted in gone]))
    assert women == pytest.approx(share * n, abs=3 * math.sqrt(share * (1 - share) * n / 60))


CONFIG = AuditConfig(method="unmitigated", depth=4, train_share=0.4, seed=3)
THETA = 0.2


@cache
def people(n: int = 4000) -> AuditDataset:
    """Return people of two groups, each with a trade of its own and a common one; labels follow nothing."""
    rng = np.random.default_rng(0)
    groups = (rng.random(n) < 0.4).astype(np.uint8)
    trade = rng.choice(3, n, p=[0.1, 0.4, 0.5])
    features = np.column_stack([np.where(groups == 1, trade, 2 - trade), rng.integers(0, 2, n)]).astype(float)
    base = samples.dataset(n)
    return replace(
        base,
        features=features,
        feature_names=("trade", "coin"),
        categorical=np.array([True, True]),
        categories=(("a", "b", "c"), ("x", "y")),
        labels=rng.integers(0, 2, n).astype(np.uint8),
        sensitive=groups,
        fingerprint="people of trades",
    )


def parts() -> tuple[Splits, Clusters, FairPick]:
    sides = two_sides(people(), 1)
    splits = split(people(), train_share=CONFIG.train_share, seed=CONFIG.seed)
    clustering = clusters(sides, splits.train, seed=CONFIG.seed)
    return splits, clustering, fairpick(sides, splits.train, clustering, theta=THETA, seed=CONFIG.seed)


def cells(clustering: Clusters, rows: np.ndarray) -> np.ndarray:
    """Return the number of everybody's label, nearest cluster and group."""
    everybody, cluster = people(), clustering.nearest(two_sides(people(), 1), rows)
    return 200 * everybody.labels[rows].astype(int) + 2 * cluster + everybody.sensitive[rows]


def test_as_large_a_share_of_each_cell_stays_in_the_test_records_as_in_training():
    splits, clustering, _ = parts()
    picked, left = thinned(two_sides(people(), 1), splits, clustering, theta=THETA, seed=CONFIG.seed)
    inside, outside = cells(clustering, splits.train), cells(clustering, splits.test)
    stays = (np.isin(splits.train, left.train), np.isin(splits.test, left.test))
    for cell in np.unique(outside):
        share = stays[0][inside == cell].mean()
        assert abs(stays[1][outside == cell].sum() - share * (outside == cell).sum()) < 1
    assert np.array_equal(left.train, picked.retained) and left.test.size < splits.test.size


@pytest.mark.long
def test_people_who_differ_in_the_test_records_are_not_told_apart_where_nothing_leaks():
    """A model that answers by trade alone, whoever was trained on: the published attack is at chance."""
    areas = []
    for seed in range(6):
        splits = split(people(), train_share=0.4, seed=seed)
        sides = two_sides(people(), 1)
        clustering = clusters(sides, splits.train, seed=seed)
        _, left = thinned(sides, splits, clustering, theta=THETA, seed=seed)
        everybody = judging_everybody(left.train, left.test)
        answers = np.array([0.6, 0.9, 0.7])[people().features[:, 0].astype(int)]
        evidence = Evidence(labels=people().labels, split=everybody, released=answers, seed=seed)
        guess = attacks.REGISTRY["network"].judge(evidence)
        areas.append(roc(guess.score, everybody.judged_records[1]).auc.value)
    assert abs(np.mean(areas) - 0.5) <= 3 * np.std(areas, ddof=1) / math.sqrt(len(areas)) + 0.005


def test_fairpick_differences_are_taken_within_repeats():
    splits = [0.3, -0.1, 0.2, -0.3, 0.0]  # what the splits of the repeats do to both
    more = [0.011, 0.009, 0.01, 0.012, 0.008]
    points = [CurvePoint(at=0.2, repeat=i, variant="random", vd=vd) for i, vd in enumerate(splits)]
    picked = np.add(splits, more)
    points += [CurvePoint(at=0.2, repeat=i, variant="fairpick", vd=vd) for i, vd in enumerate(picked)]
    alone = CurvePoint(at=0.2, repeat=9, variant="fairpick", vd=7.0)
    (band,) = fairpick_differences([*reversed(points), alone])
    assert (band.at, band.variant, band.repeats) == (0.2, "fairpick - random", 5)
    assert band.values["vd"].value == pytest.approx(0.01)
    assert band.values["vd"].low > 0
    assert fairpick_differences([alone]) == ()
