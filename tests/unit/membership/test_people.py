"""People: the records and groups of an audit, public domains, other groups; and the sets they are split into."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets import build_dataset
from core.studies.membership import (
    MembershipSplit,
    grouped_by,
    member_people,
    member_split,
    split_between,
)
from core.studies.membership.people import Grouping
from tests.unit.membership.samples import ROLES, frame, table, villagers


@pytest.mark.parametrize("missing", ["keep", "drop"])
def test_records_and_groups_are_those_of_an_audit(missing):
    roles = replace(ROLES, missing=missing)
    people, audit = member_people(table(), roles), build_dataset(table(), roles)
    assert np.array_equal(people.labels, audit.labels) and np.array_equal(people.groups, audit.sensitive)
    assert people.group_names == audit.group_names and people.n == audit.n
    assert set(people.names) == {*audit.feature_names, "origin"}


def test_values_are_what_the_cells_say():
    people, cells = villagers(), frame()
    for index, name in enumerate(people.names):
        assert people.codes[:, index].min() >= 0 and people.codes[:, index].max() < people.n_values[index]
        texts = np.array(people.values[index])[people.codes[:, index]]
        absent = cells[name].isna().to_numpy()
        assert np.array_equal(texts == "missing", absent)
        if name != "skill":
            assert np.array_equal(texts[~absent], cells[name].to_numpy()[~absent])
            assert list(people.values[index][:-1]) == sorted(people.values[index][:-1])


def test_numbers_go_into_ten_bins_of_equal_width():
    people, numbers = villagers(), frame()["skill"].to_numpy()
    present = ~np.isnan(numbers)
    limits = np.linspace(np.nanmin(numbers), np.nanmax(numbers), 11)
    expected = np.array([sum(x >= edge for edge in limits[1:10]) for x in numbers[present]])
    assert people.n_values[0] == 11 and np.array_equal(people.codes[present, 0], expected)
    assert (people.codes[~present, 0] == 10).all()


def test_pairs_that_nobody_has_make_no_group():
    first = Grouping(codes=np.array([0, 0, 1, 1], dtype=np.uint8), names=("a", "b"), attribute="x")
    second = Grouping(codes=np.array([0, 1, 1, 1], dtype=np.uint8), names=("c", "d"), attribute="y")
    people = villagers()
    both = grouped_by(people, first, second)
    assert both.group_names == ("a, c", "a, d", "b, d") and both.groups.tolist() == [0, 1, 2, 2]
    assert both.attribute == "x and y" and both.fingerprint != people.fingerprint


# Splits: disjoint sets of the sizes asked for, the same for the same seed.


def check(split: MembershipSplit) -> None:
    """Nobody is in two sets that must not share people, and every set lies where it must."""
    known_rows, judged_rows = split.known_records[0], split.judged_records[0]
    for rows in (split.members, split.outsiders, known_rows, judged_rows):
        assert np.unique(rows).size == rows.size
    assert not np.isin(split.members, split.outsiders).any() and not np.isin(known_rows, judged_rows).any()
    for rows, member in (split.known_records, split.judged_records):
        assert np.isin(rows[member == 1], split.members).all() and np.isin(rows[member == 0], split.outsiders).all()


@given(
    n=st.integers(200, 2000),
    seed=st.integers(0, 2**32 - 1),
    known_share=st.floats(0.1, 0.4),
    judged_share=st.floats(0.1, 0.6),
)
def test_sets_are_disjoint_and_sized(n, seed, known_share, judged_share):
    split = member_split(n, seed=seed, known_share=known_share, judged_share=judged_share)
    check(split)
    assert split.members.size == split.outsiders.size == n // 2
    for (_, member), share in ((split.known_records, known_share), (split.judged_records, judged_share)):
        assert (member == 1).sum() == (member == 0).sum() == int(share * (n // 2))


@given(seed=st.integers(0, 1000), inside=st.integers(100, 300), outside=st.integers(100, 300))
def test_given_sides_stay(seed, inside, outside):
    rows = np.random.default_rng(seed).permutation(1000)
    members, outsiders = rows[:inside], rows[500 : 500 + outside]
    split = split_between(members, outsiders, seed=seed)
    check(split)
    assert set(split.members) == set(members) and set(split.outsiders) == set(outsiders)
    assert split.judged_records[1].sum() == split.judged_rows.size / 2 == int(0.2 * min(inside, outside))


@given(seed=st.integers(0, 1000), shares=st.tuples(st.floats(0.3, 1.0), st.floats(0.3, 1.0)))
def test_deleted_members_and_outsiders_left_aside_are_nowhere(seed, shares):
    split = member_split(1000, seed=seed)
    rng = np.random.default_rng(seed)
    sides = (split.members, split.outsiders)
    remaining, outside = (
        rng.choice(rows, int(share * rows.size), replace=False) for rows, share in zip(sides, shares, strict=True)
    )
    left = split.keeping(remaining, outsiders=outside)
    check(left)
    gone = np.setdiff1d(np.concatenate(sides), np.concatenate([remaining, outside]))
    assert set(left.members) == set(remaining) and set(left.outsiders) == set(outside)
    assert not np.isin(
        gone, np.concatenate([left.members, left.outsiders, left.known_records[0], left.judged_records[0]])
    ).any()
    assert np.array_equal(left.unseen, split.outsiders) and np.array_equal(split.unseen, split.outsiders)
