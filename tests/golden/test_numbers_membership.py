"""NamedValues of membership are as they were: curves, gaps, splits, shadows, deletions and groupings.

The inputs are few people with ties, sides of unequal size, nobody on one side, and values that meet a limit exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from core.datasets import Roles, Table, build_dataset
from core.studies.membership import attack, disparity, fairpick, result, tpr_gaps
from core.studies.membership.roc import (
    _logit_interval,
    advantage,
    area,
    counts_above,
    members_above,
    roc,
    tpr_estimate,
)
from tests.golden.numbers import NamedValues, compare_numbers, refused
from tests.unit.membership.samples import sampled_tally, verdict_arrays


def scored(n: int, members: int, kinds: int, seed: int, lead: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    """Return scores of people, of so many kinds at most, and who is a member; members lead a little."""
    rng = np.random.default_rng(seed)
    member = (np.arange(n) < members).astype(np.uint8)
    return np.round(rng.random(n) * kinds + lead * kinds * member * rng.random(n)) / kinds, member


SCORED = {
    "few": scored(25, 10, 3, 1),
    "too few": scored(22, 9, 4, 2),
    "ties": scored(130, 37, 5, 3),
    "apart": (np.repeat([3.0, 1.0], [12, 20]), np.repeat([1, 0], [12, 20]).astype(np.uint8)),
    "turned": (np.repeat([1.0, 3.0], [12, 20]), np.repeat([1, 0], [12, 20]).astype(np.uint8)),
    "alike": (np.ones(40), np.repeat([1, 0], [10, 30]).astype(np.uint8)),
    "one apart": (np.append(np.repeat([2.0, 1.0], [11, 100]), 2.5), np.repeat([1, 0], [11, 101]).astype(np.uint8)),
    "distinct": scored(400, 90, 10**6, 4),
}


def curves() -> NamedValues:
    for name, (score, member) in SCORED.items():
        false, true = counts_above(score, member)
        places = [0, 0.5, 1, 1.25, 2, 3.75, 7, false[-1] - 1, false[-1], false[-1] + 0.5, false[-1] + 1]
        yield f"{name}.above", [float(members_above(position, false, true)) for position in places]
        for fpr in (0.004, 0.05, 0.1, 0.5, 0.98, 1.0):
            yield f"{name}.tpr {fpr:g} at 0.95", tpr_estimate(fpr, false, true)
        curve = roc(score, member)
        yield name, curve
        for fpr in (0.025, 0.1, 10 / 30, 0.5):
            yield f"{name}.at {fpr:g}", (curve.resolution_reason(fpr), curve.tpr_at(fpr))
        for verdict in (None, (score > 1).astype(np.uint8)):
            yield f"{name}.advantage", advantage(score, member, seed=7, verdict=verdict)
    yield "not finite", refused(lambda: roc([1.0, math.nan, 2.0], [1, 0, 1]))
    for count in (9, 10, 50, 51):
        estimate = tpr_estimate(0.3, np.array([0, 0, 20, 30]), np.array([0, count, count, 60]))
        varied = area(np.append(np.ones(40), np.arange(count) / 60), np.append(np.zeros(50), np.arange(30) / 30))
        yield f"few found {count} 0.95", (estimate.low, estimate.high, varied.low, varied.high)
    for value, half in product((1e-3, 0.5, 0.97), (1e-5, 0.3, 900.0)):
        yield f"interval {value} {half}", _logit_interval(value, half)


def tallies() -> Iterator[tuple[str, disparity.Tally]]:
    for number, (rates, sizes) in enumerate(
        (
            ([[0.2, 0.5], [0.3, 0.8]], [[40, 31], [23, 57]]),
            ([[0.0, 1.0], [0.0, 1.0]], [[10, 10], [12, 15]]),
            ([[0.5, 0.5], [0.5, 0.5]], [[200, 90], [31, 40]]),
            ([[0.1, 0.1], [0.6, 0.9]], [[10, 300], [60, 10]]),
        )
    ):
        yield f"{number}", sampled_tally(rates, sizes, np.random.default_rng(number))


def gaps() -> NamedValues:
    for name, counts in tallies():
        verdict, group, member = verdict_arrays(counts)
        yield name, disparity.vulnerability_disparity(verdict, group, member, bootstraps=90, permutations=70, seed=3)
    rng = np.random.default_rng(11)
    for names in (("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")):
        groups = rng.choice(len(names), 260, p=[0.05] + [0.95 / (len(names) - 1)] * (len(names) - 1))
        member = rng.integers(0, 2, 260)
        verdict = (rng.random(260) < 0.2 + 0.5 * member * (groups == 1)).astype(int)
        yield (
            f"{len(names)} groups",
            disparity.disparities(verdict, groups, member, names=names, bootstraps=50, permutations=199),
        )
    for hits, complement_hits in product((9, 10, 11), (30, 50, 51)):
        estimate = disparity.gap_estimate(
            (1, -1), (hits, complement_hits), (60, 60), np.full(2, (hits - complement_hits) / 60)
        )
        yield f"few flagged {hits} {complement_hits}", (estimate.low, estimate.high)
    for drawn in ([], [0.5, -0.5, 0.2], [0.5 - 1e-12, 0.4]):
        yield f"extreme {drawn}", disparity.share_as_extreme(-0.5, np.array(drawn))
    for sizes in ([[10, 10], [10, 10]], [[9, 30], [30, 30]], [[30, 9], [30, 30]], [[30, 30], [9, 8]], [[1, 2], [3, 4]]):
        yield f"too small {sizes}", disparity._too_small(np.array(sizes), ("one", "other"))


def low_rates() -> NamedValues:
    rng = np.random.default_rng(13)
    for kinds, names in product((4, 10**6), (("a", "b"), ("a", "b", "c"))):
        n, k = 420, len(names)
        groups = rng.choice(k, n, p=[0.3, 0.7] if k == 2 else [0.1, 0.3, 0.6]).astype(np.uint8)
        member = (rng.random(n) < 0.4).astype(np.uint8)
        score = np.round((rng.random(n) + member * (groups == 1) * rng.random(n)) * kinds) / kinds
        key = f"{k} groups, {kinds} kinds"
        for fpr in (0.1, 0.25):
            more = {"names": names, "fpr": fpr, "bootstraps": 80, "permutations": 60, "seed": 2}
            yield f"{key}, {fpr}", tpr_gaps.tpr_gaps(score, groups, member, **more)
    side, member = np.repeat([0, 1, 0, 1], [100, 99, 10, 9]), np.repeat([0, 0, 1, 1], [100, 99, 10, 9])
    for selection in (slice(None), slice(0, -9), side == 0, np.arange(218) != 0):
        yield (
            f"too few {selection if isinstance(selection, slice) else int(selection.sum())}",
            [
                tpr_gaps._too_few(side[selection], member[selection], ("one", "other"), fpr)
                for fpr in (0.1, 10 / 99, 0.5)
            ],
        )


def splits() -> NamedValues:
    every = attack.judging_everybody(np.array([5, 3, *range(20, 40)]), np.arange(10, 20), aside=np.array([50, 45]))
    yield "everybody", (every, every.judged_records, every.population)
    yield (
        "too few",
        [
            refused(lambda a=a, b=b: attack.judging_everybody(np.arange(a), np.arange(50, 50 + b)).judged_rows)
            for a, b in ((9, 10), (10, 9), (10, 10))
        ],
    )
    yield "logits", attack.logit(np.array([0.0, 0.01, 0.0101, 0.3, 0.99, 0.995, 1.0]))
    yield "shadows", [refused(lambda n=n: attack.check_shadows(n, least="0 or ")) for n in (0, 2, 3, 4, 5, 6)]


def deletions() -> NamedValues:
    yield "apart 0.4", refused(lambda: fairpick.fairpick_counts([[9, 0], [0, 4]], 0.4))
    yield (
        "whole",
        [
            fairpick.rounded_deletions(x, np.full(np.shape(x), most))
            for x in ([[0.5], [0.5], [0.5]], [[1.2, 0.3], [2.9, 0.7], [3 - 1e-12, 1.0]], [[0.4], [0.4], [0.1]])
            for most in (2, 9)
        ],
    )
    cell, order = np.array([0, 1, -1, 0, 2, 2, 1, 0, -1]), np.array([8, 3, 0, 7, 5, 4, 2, 1, 6])
    yield "chosen", [fairpick.chosen(cell, np.array(gone), order) for gone in ([2, 0, 1], [0, 2, 0], [3, 9, 2])]
    rng = np.random.default_rng(19)
    features = np.column_stack([rng.integers(0, 4, 330), np.zeros(330), rng.integers(0, 2, 330) * 5]).astype(float)
    sides = fairpick.Sides(
        features=features,
        labels=(rng.random(330) < 0.45).astype(np.uint8),
        groups=(rng.random(330) < 0.2 + 0.15 * features[:, 0]).astype(np.uint8),
        names=("others", "group"),
    )
    members, outsiders = np.split(rng.permutation(330), [190])
    clustering = fairpick.clusters(sides, members, seed=4)
    yield "clusters", (clustering, np.bincount(clustering.cluster), clustering.nearest(sides, outsiders))
    for theta in (0.3, 0.8, 1.0):
        picked = fairpick.fairpick(sides, members, clustering, theta=theta, seed=2)
        left = fairpick.like_outsiders(sides, outsiders, like=picked, clustering=clustering, seed=2)
        yield f"picked {theta}", (picked, left)
    yield (
        "at random",
        (fairpick.random_deletion(members, 33, seed=3), fairpick.outsiders_at_random(outsiders, 40, seed=3)),
    )
    yield (
        "few distinct",
        [
            refused(lambda selection=selection: fairpick._largest(features[selection], sides.groups[selection], 0))
            for selection in (slice(0, 40), slice(0, 70), features[:, 2] == 0, features[:, 0] == 1)
        ],
    )
    yield "too few", refused(lambda: fairpick.clusters(sides, members[:30], seed=4))
    yield "no features", refused(lambda: fairpick.clusters(replace(sides, features=features[:, :0]), members, seed=4))


def records() -> NamedValues:
    rng, n = np.random.default_rng(23), 330
    frame = pd.DataFrame(
        {
            "age": rng.choice([20, 26, 30, 45, 70, np.nan], n),
            "town": rng.choice(["a", "b", "c", None], n),
            "origin": rng.choice(list("nsew"), n, p=[0.4, 0.2, 0.15, 0.25]),
            "same": (np.arange(n) > n - 5).astype(int),
            "sex": rng.choice(["f", "m", None], n, p=[0.3, 0.6, 0.1]),
            "hired": rng.choice(["yes", "no", None], n, p=[0.5, 0.4, 0.1]),
        }
    )
    frame.loc[n - 4 :, "hired"] = None
    roles = Roles(label="hired", positive="yes", favourable="yes", sensitive="sex", group=("f",), excluded=("same",))
    table = Table(name="t", title="T", frame=frame, source="Made.")
    ways = {"two": roles, "many": replace(roles, sensitive="origin", group=(), each=True)}
    for name, how in ways.items():
        dataset = build_dataset(table, how)
        for column in result.grouping_columns(dataset):
            yield f"{name}.{column}", result.column_grouping(dataset, column)
        by = replace(roles, sensitive="origin", group=("n", "e"), first_name="nearer", other_name="")
        yield f"{name}.by origin", result.table_grouping(table, how, by)


CASES: dict[str, Callable[[], NamedValues]] = {
    "roc": curves,
    "gaps": gaps,
    "low_rates": low_rates,
    "splits": splits,
    "fairpick": deletions,
    "groupings": records,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str) -> None:
    compare_numbers(f"membership_{case}", CASES[case]())
