"""Where nothing differs between the groups seldom is a gap called significant; where one is remembered it is found.

Each run is the real thing from end to end: people, a DP-ID3 tree, the quick attack, gaps with their tests.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest

from core.membership import MemberPeople, MembershipSettings, attacked, disparities, loss_attack, target_of
from core.membership.disparity import Disparities

Codes = npt.NDArray[np.int64]

PEOPLE = 1200
NULL_RUNS, PLANTED_RUNS = 200, 100
MOST_FALSE = 0.05 + 2 * math.sqrt(0.05 * 0.95 / NULL_RUNS)
SIZES = {"street": 40, "job": 5, "sign": 3}
DRAWS = {"bootstraps": 100, "permutations": 999}


def people_of(columns: dict[str, Codes], sizes: tuple[int, ...], labels: Codes, groups: Codes) -> MemberPeople:
    """Return people with these codes."""
    return MemberPeople(
        title="Made",
        source="Made.",
        codes=np.column_stack(list(columns.values())),
        names=tuple(columns),
        values=tuple(tuple(str(code) for code in range(size)) for size in sizes),
        labels=labels.astype(np.uint8),
        groups=groups.astype(np.uint8),
        group_names=("others", "group") if groups.max() < 2 else tuple(f"group {code}" for code in range(3)),
        attribute="group",
    )


def without_cause(seed: int, n_groups: int) -> MemberPeople:
    """Return people whose labels and groups have nothing to do with their columns, which a tree still remembers."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, size, PEOPLE) for name, size in SIZES.items()}
    groups = rng.choice(n_groups, PEOPLE, p=(0.6, 0.4) if n_groups == 2 else (0.4, 0.35, 0.25))
    return people_of(columns, tuple(SIZES.values()), rng.integers(0, 2, PEOPLE), groups)


def one_remembered(seed: int, remembered: int) -> MemberPeople:
    """Return two groups: of one the label is noise beside an address hardly anybody shares, of the other a rule."""
    rng = np.random.default_rng(seed)
    groups = (rng.random(PEOPLE) < 0.4).astype(np.int64)
    marked, noise = groups == remembered, rng.integers(0, 2, PEOPLE)
    rule = rng.integers(0, 2, PEOPLE)
    address = np.where(marked, rng.integers(1, 400, PEOPLE), 0)
    labels = np.where(marked, noise, rule)
    return people_of({"address": address, "rule": rule}, (400, 2), labels, groups)


def gaps(people: MemberPeople, seed: int, epsilon: float = math.inf) -> Disparities:
    """Return the gaps of the quick attack on a tree."""
    settings = MembershipSettings(epsilon=epsilon, max_depth=3, seed=seed)
    target = attacked(people, settings, target_of(people, settings))
    guess = loss_attack(target.probability, people.labels, target.split)
    assert guess.verdict is not None
    member = target.inside[guess.rows]
    return disparities(guess.verdict, people.groups[guess.rows], member, names=people.group_names, seed=seed, **DRAWS)


@pytest.mark.parametrize(("n_groups", "epsilon"), [(2, math.inf), (2, 1.0), (3, math.inf)])
def test_where_nothing_differs_a_gap_is_seldom_called_significant(n_groups: int, epsilon: float):
    called: Counter[str] = Counter()
    for seed in range(NULL_RUNS):
        found = gaps(without_cause(seed, n_groups), seed, epsilon).results
        assert len(found) == (1 if n_groups == 2 else 3)
        for name in ("vd", "fpr_gap", "advantage_gap"):
            called[name] += any(result.tests[name].significant for result in found)
    assert max(called.values()) <= MOST_FALSE * NULL_RUNS, called


@pytest.mark.parametrize("remembered", [1, 0])
def test_a_group_that_the_model_remembers_is_found(remembered: int):
    sign, found, misled = (1 if remembered == 1 else -1), 0, 0
    for seed in range(PLANTED_RUNS):
        (result,) = gaps(one_remembered(seed, remembered), seed).results
        test = result.tests["advantage_gap"]
        found += test.significant and sign * result.advantage_gap.value > 0
        misled += sign * result.vd.value < 0
    assert found >= 0.95 * PLANTED_RUNS, found
    assert misled > 0.5 * PLANTED_RUNS  # by the share of members called members it seems to be the other group
