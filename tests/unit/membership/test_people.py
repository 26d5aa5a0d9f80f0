"""People: the audit's records and groups, public domains, and other groups of the same people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.datasets import build_dataset
from core.errors import InputError
from core.membership import column_grouping, grouped_by, member_people, table_grouping
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
