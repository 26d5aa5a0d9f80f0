"""People: the records and groups of an audit, public domains, other groups; and the sets they are split into."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets import build_dataset
from core.errors import InputError
from core.membership import (
    MembershipSplit,
    column_grouping,
    grouped_by,
    judging_everybody,
    member_people,
    member_split,
    split_between,
    table_grouping,
)
from core.membership.people import Grouping
from tests.unit.membership.samples import ROLES, frame, table, villagers


@pytest.mark.parametrize("missing", ["keep", "drop"])
def test_records_and_groups_are_those_of_an_audit(missing):
    roles = replace(ROLES, missing=missing)
    people, audit = member_people(table(), roles), build_dataset(table(), roles)
    assert np.array_equal(people.labels, audit.labels) and np.array_equal(people.groups, audit.sensitive)
    assert people.group_names == audit.group_names and people.n == audit.n
    assert set(people.names) == {*audit.feature_names, "origin"}


def test_the_sensitive_column_is_a_feature_unless_left_out():
    assert villagers().names == ("skill", "town", "guild", "origin")
    without = member_people(table(), replace(ROLES, excluded=("origin", "town")))
    assert without.names == ("skill", "guild") and np.array_equal(without.groups, villagers().groups)


def test_values_are_what_the_cells_say():
    people, cells = villagers(), frame()
    for place, name in enumerate(people.names):
        assert people.codes[:, place].min() >= 0 and people.codes[:, place].max() < people.n_values[place]
        told = np.array(people.values[place])[people.codes[:, place]]
        absent = cells[name].isna().to_numpy()
        assert np.array_equal(told == "missing", absent)
        if name != "skill":
            assert np.array_equal(told[~absent], cells[name].to_numpy()[~absent])
            assert list(people.values[place][:-1]) == sorted(people.values[place][:-1])


def test_numbers_go_into_ten_bins_of_equal_width():
    people, numbers = villagers(), frame()["skill"].to_numpy()
    there = ~np.isnan(numbers)
    limits = np.linspace(np.nanmin(numbers), np.nanmax(numbers), 11)
    expected = np.array([sum(x >= edge for edge in limits[1:10]) for x in numbers[there]])
    assert people.n_values[0] == 11 and np.array_equal(people.codes[there, 0], expected)
    assert (people.codes[~there, 0] == 10).all()


def test_a_column_that_becomes_constant_is_left_out():
    cells = frame()
    cells["town"] = np.where(cells["skill"].isna(), "hill", "port")
    shown = replace(table(), frame=cells)
    assert "town" in member_people(shown, ROLES).names
    dropped = member_people(shown, replace(ROLES, missing="drop"))
    assert "town" not in dropped.names and any("town" in note for note in dropped.notes)


def test_groups_by_a_column():
    people = villagers()
    towns = grouped_by(people, column_grouping(people, "town"))
    assert towns.group_names == ("hill", "lake", "port") and towns.attribute == "town"
    assert np.array_equal(towns.groups, people.codes[:, 1]) and np.array_equal(towns.codes, people.codes)
    assert towns.fingerprint != people.fingerprint


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_groups_by_a_column_the_smaller_comes_first(turned):
    cells = frame()
    if turned:
        cells["origin"] = cells["origin"].map({"north": "south", "south": "north"})
    grouping = column_grouping(member_people(replace(table(), frame=cells), ROLES), "origin")
    rarer = cells["origin"].value_counts().idxmin()
    assert grouping.names[1] == rarer and np.array_equal(grouping.codes == 1, cells["origin"] == rarer)


def test_groups_by_a_pair():
    people, cells = villagers(), frame()
    own = Grouping(codes=people.groups, names=people.group_names, attribute=people.attribute)
    both = grouped_by(people, own, column_grouping(people, "town"))
    assert both.n_groups == 6 and both.attribute == "origin and town"
    for code, name in enumerate(both.group_names):
        origin, town = name.split(", ")
        assert np.array_equal(both.groups == code, (cells["origin"] == origin) & (cells["town"] == town))


def test_pairs_that_nobody_has_make_no_group():
    first = Grouping(codes=np.array([0, 0, 1, 1], dtype=np.uint8), names=("a", "b"), attribute="x")
    second = Grouping(codes=np.array([0, 1, 1, 1], dtype=np.uint8), names=("c", "d"), attribute="y")
    both = grouped_by(villagers(), first, second)
    assert both.group_names == ("a, c", "a, d", "b, d") and both.groups.tolist() == [0, 1, 2, 2]


def test_groups_by_other_roles_keep_the_people():
    cells = frame()
    cells.loc[:4, "town"] = None
    shown = replace(table(), frame=cells)
    people = member_people(shown, ROLES)
    by = replace(ROLES, sensitive="town", group=("port",), first_name="people of the port", other_name="others")
    grouping = table_grouping(shown, ROLES, by)
    assert grouping.names == ("others", "people of the port", "town missing")
    assert np.array_equal(grouping.codes == 1, cells["town"] == "port")
    assert np.flatnonzero(grouping.codes == 2).tolist() == [0, 1, 2, 3, 4]
    assert grouped_by(people, grouping).n == people.n


def test_a_pair_needs_two_attributes():
    people = villagers()
    towns = column_grouping(people, "town")
    with pytest.raises(InputError, match="two different attributes, got 'town' twice"):
        grouped_by(people, towns, towns)


# Splits: disjoint sets of the sizes asked for, the same for the same seed.


def check(split: MembershipSplit) -> None:
    """Nobody is in two sets that must not share people, and every set lies where it must."""
    known, judged = split.known[0], split.judged[0]
    for rows in (split.members, split.outsiders, known, judged):
        assert np.unique(rows).size == rows.size
    assert not np.isin(split.members, split.outsiders).any() and not np.isin(known, judged).any()
    for rows, member in (split.known, split.judged):
        assert np.isin(rows[member == 1], split.members).all() and np.isin(rows[member == 0], split.outsiders).all()


@given(n=st.integers(200, 2000), seed=st.integers(0, 2**32 - 1), known=st.floats(0.1, 0.4), judged=st.floats(0.1, 0.6))
def test_sets_are_disjoint_and_sized(n, seed, known, judged):
    split = member_split(n, seed=seed, known_share=known, judged_share=judged)
    check(split)
    assert split.members.size == split.outsiders.size == n // 2
    for (_, member), share in ((split.known, known), (split.judged, judged)):
        assert (member == 1).sum() == (member == 0).sum() == int(share * (n // 2))


@given(seed=st.integers(0, 1000), inside=st.integers(100, 300), outside=st.integers(100, 300))
def test_given_sides_stay(seed, inside, outside):
    rows = np.random.default_rng(seed).permutation(1000)
    members, outsiders = rows[:inside], rows[500 : 500 + outside]
    split = split_between(members, outsiders, seed=seed)
    check(split)
    assert set(split.members) == set(members) and set(split.outsiders) == set(outsiders)
    assert split.judged[1].sum() == split.judged_rows.size / 2 == int(0.2 * min(inside, outside))


@given(seed=st.integers(0, 1000), shares=st.tuples(st.floats(0.3, 1.0), st.floats(0.3, 1.0)))
def test_deleted_members_and_outsiders_left_aside_are_nowhere(seed, shares):
    split = member_split(1000, seed=seed)
    rng = np.random.default_rng(seed)
    sides = (split.members, split.outsiders)
    kept, outside = (
        rng.choice(rows, int(share * rows.size), replace=False) for rows, share in zip(sides, shares, strict=True)
    )
    left = split.keeping(kept, outsiders=outside)
    check(left)
    gone = np.setdiff1d(np.concatenate(sides), np.concatenate([kept, outside]))
    assert set(left.members) == set(kept) and set(left.outsiders) == set(outside)
    assert not np.isin(gone, np.concatenate([left.members, left.outsiders, left.known[0], left.judged[0]])).any()
    assert np.array_equal(left.unseen, split.outsiders) and np.array_equal(split.unseen, split.outsiders)


def test_everybody_judged():
    split = judging_everybody(np.arange(10, 30), np.arange(10))
    rows, member = split.judged
    assert (
        sorted(rows) == list(range(30)) and member.sum() == 20 and not np.isin(rows[member == 0], split.members).any()
    )
    with pytest.raises(InputError, match="needs at least 10 non-members, got 9"):
        judging_everybody(np.arange(20), np.arange(20, 29))


def test_too_few_are_refused():
    split = member_split(1000, seed=0)
    known, judged = split.known_rows, split.judged_rows
    for words, make in (
        ("must know at least 10 members, got 7", lambda: member_split(100, seed=0)),
        ("must judge at least 10 members, got 5", lambda: member_split(1000, seed=0, judged_share=0.01)),
        ("must know at least 10 members, got 0", lambda: split.keeping(judged[:100], outsiders=split.outsiders)),
        ("must judge at least 10 outsiders, got 0", lambda: split.keeping(split.members, outsiders=known[75:])),
    ):
        with pytest.raises(InputError, match=words):
            make()
