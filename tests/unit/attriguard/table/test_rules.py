"""Pair rules: found where they should be, edited by name, counted in records."""

from __future__ import annotations

import numpy as np
import pytest

from core.attriguard.table_people import Column, PairRule, TablePeople, find_rules, pair_rules, table_columns
from core.errors import InputError
from tests.table_people import broken, people

SMITH_ON_A_BOAT = ("job", "smith", "home", "boat")
NURSE_IN_A_HOUSE = ("job", "nurse", "home", "house")


@pytest.fixture(scope="module")
def village() -> TablePeople:
    return people(n=2000, leak=0.2)


@pytest.fixture(scope="module")
def columns(village: TablePeople) -> tuple[Column, ...]:
    return table_columns(village)


@pytest.fixture(scope="module")
def found(village: TablePeople, columns: tuple[Column, ...]) -> tuple[PairRule, ...]:
    return find_rules(village.known, columns)


def test_absent_pairs_are_found_with_what_was_expected(village: TablePeople, found: tuple[PairRule, ...]) -> None:
    strong = {rule.pair: rule.expected for rule in found if {rule.first, rule.second} == {"job", "home"}}
    assert set(strong) == {SMITH_ON_A_BOAT, NURSE_IN_A_HOUSE}
    job, home = village.known[:, 0], village.known[:, 1]
    assert strong[SMITH_ON_A_BOAT] == pytest.approx((job == 2).sum() * (home == 2).sum() / 2000)
    assert [rule.expected for rule in found] == sorted((rule.expected for rule in found), reverse=True)


def test_nobody_known_breaks_a_rule_found(
    village: TablePeople, columns: tuple[Column, ...], found: tuple[PairRule, ...]
) -> None:
    assert not broken(pair_rules(columns, found), village.known).any()


def test_the_bound_decides_what_is_a_rule(village: TablePeople, columns: tuple[Column, ...]) -> None:
    bounds = (0.0, 1.0, 20.0, 1e6)
    sizes = [len(find_rules(village.known, columns, least_expected=bound)) for bound in bounds]
    assert sizes[0] >= sizes[1] >= sizes[2] >= 2 and sizes[3] == 0
    for bound in bounds:
        assert all(rule.expected >= bound for rule in find_rules(village.known, columns, least_expected=bound))


def test_broken_pairs_are_counted(columns: tuple[Column, ...], found: tuple[PairRule, ...]) -> None:
    rules = pair_rules(columns, found)
    boat = np.array([[2.0, 2.0, 0.0, 2.0, 0.0], [2.0, 0.0, 0.0, 2.0, 0.0], [1.0, 1.0, 0.0, 2.0, 99.0]])
    assert broken(rules, boat).tolist() == [1, 0, 1]
    assert broken(pair_rules(columns), boat).tolist() == [0, 0, 0]


def test_values_nobody_known_has_break_nothing(columns: tuple[Column, ...], found: tuple[PairRule, ...]) -> None:
    assert broken(pair_rules(columns, found), np.array([[17.0, 2.0, -1.0, 55.0, 0.0]])).tolist() == [0]


def test_rules_are_taken_away_and_added_by_name(columns: tuple[Column, ...], found: tuple[PairRule, ...]) -> None:
    cook = ("club", "choir", "job", "cook")
    rules = pair_rules(columns, found, added=(cook, SMITH_ON_A_BOAT), removed=(("home", "house", "job", "nurse"),))
    pairs = [rule.pair for rule in rules.rules]
    assert pairs[0] == cook and NURSE_IN_A_HOUSE not in pairs and pairs.count(SMITH_ON_A_BOAT) == 1
    assert np.isnan(rules.rules[0].expected)
    assert broken(rules, np.array([[0.0, 0.0, 1.0, 2.0, 0.0], [1.0, 1.0, 0.0, 2.0, 0.0]])).tolist() == [1, 0]
    assert (rules.forbidden == rules.forbidden.T).all()


def test_whole_numbers_take_part(columns: tuple[Column, ...]) -> None:
    rules = pair_rules(columns, added=(("rooms", "3", "job", "cook"),))
    assert broken(rules, np.array([[0.0, 0.0, 0.0, 3.0, 0.0], [0.0, 0.0, 0.0, 2.0, 0.0]])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        (("age", "3", "job", "cook"), "must name columns of the table, got 'age'"),
        (("job", "king", "home", "boat"), "known people have in column 'job', got 'king'"),
        (("job", "cook", "job", "nurse"), "two different columns, got 'job' twice"),
        (("job", "cook", "pay", "1"), "few whole numbers, got 'pay'"),
        (("job", "cook", "home"), "its value, got"),
    ],
)
@pytest.mark.parametrize("way", ["added", "removed"])
def test_bad_pairs(columns: tuple[Column, ...], way: str, pair: tuple[str, ...], told: str) -> None:
    with pytest.raises(InputError, match=told):
        pair_rules(columns, **{way: (pair,)})  # type: ignore[arg-type]
