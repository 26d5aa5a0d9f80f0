"""What may change in a table, which pairs may not meet, and noise on its raw columns, against trying every change."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from core.base.errors import InputError
from core.studies.attriguard.table import (
    Column,
    Pair,
    TablePeople,
    find_rules,
    forbidden_values,
    pair_rules,
    table_columns,
)
from core.studies.attriguard.table_search import Defender, TableSearch, fit_defender
from tests.table_people import broken, least_columns, people

SMITH_ON_A_BOAT = ("job", "smith", "home", "boat")
NURSE_IN_A_HOUSE = ("job", "nurse", "home", "house")


@pytest.fixture(scope="module")
def village():
    return people(n=2000, leak=0.2)


@pytest.fixture(scope="module")
def columns(village):
    return table_columns(village)


@pytest.fixture(scope="module")
def absent_rules(village, columns):
    return find_rules(village.attacker_records, columns)


def with_column(j, values):
    village = people(n=500)
    records = village.attacker_records.copy()
    records[:, j] = values
    return replace(village, attacker_records=records)


def test_numbers_stay_in_the_middle_98_percent_on_values_seen():
    values = np.arange(500) * 0.5
    pay = table_columns(with_column(4, values))[4]
    assert (pay.domain[0], pay.domain[-1]) == (2.0, 247.0)
    assert np.isin(pay.domain, values).all()
    assert pay.domain.size == 11


@pytest.mark.parametrize(("share", "domain"), [(0.0, [0, 1, 2, 3]), (0.01, [1, 2, 3]), (0.5, [3])])
def test_categories_need_their_share(share, domain, monkeypatch):
    monkeypatch.setattr("core.studies.attriguard.table._LEAST_SHARE", share)
    column = table_columns(with_column(0, np.repeat([0.0, 1.0, 2.0, 3.0], [4, 5, 200, 291])))[0]
    assert column.domain.tolist() == domain
    assert column.listed.tolist() == [0, 1, 2, 3]


def test_find_rules_are_absent_pairs_with_what_was_expected(village, columns, absent_rules):
    strong = {pair: expected for pair, expected in absent_rules.items() if pair[::2] == ("job", "home")}
    assert set(strong) == {SMITH_ON_A_BOAT, NURSE_IN_A_HOUSE}
    job, home = village.attacker_records[:, 0], village.attacker_records[:, 1]
    assert strong[SMITH_ON_A_BOAT] == pytest.approx((job == 2).sum() * (home == 2).sum() / 2000)
    assert list(absent_rules.values()) == sorted(absent_rules.values(), reverse=True)
    assert not broken(columns, pair_rules(columns, absent_rules), village.attacker_records).any()


def test_rules_are_taken_away_and_added_by_name(columns, absent_rules):
    cook = ("club", "choir", "job", "cook")
    rules = pair_rules(
        columns, absent_rules, forbidden=(cook, SMITH_ON_A_BOAT), allowed=(("home", "house", "job", "nurse"),)
    )
    pairs = list(rules)
    assert pairs[0] == cook and NURSE_IN_A_HOUSE not in pairs and pairs.count(SMITH_ON_A_BOAT) == 1
    assert np.isnan(rules[cook])
    assert broken(columns, rules, np.array([[0.0, 0.0, 1.0, 2.0, 0.0], [1.0, 1.0, 0.0, 2.0, 0.0]])).tolist() == [1, 0]
    forbidden = forbidden_values(columns, rules)
    assert (forbidden == forbidden.T).all()


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("age", "3", "job", "cook"), "got '3' in 'age'"),
        (("job", "king", "home", "boat"), "values that known people have in columns of .*, got 'king' in 'job'"),
        (("job", "cook", "job", "nurse"), "two different columns, got 'job' twice"),
        (("job", "cook", "pay", "1"), "few whole numbers, got '1' in 'pay'"),
        (("job", "cook", "home"), "its value, got"),
    ],
)
@pytest.mark.parametrize("way", ["forbidden", "allowed"])
def test_bad_pairs(columns, way, pair, message):
    with pytest.raises(InputError, match=message):
        pair_rules(columns, **{way: (pair,)})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda village: table_columns(village, frozen=("age",)), "Frozen columns must be columns of the table"),
        (lambda village: table_columns(village, frozen=village.names), "all 5 are frozen, constant or without a value"),
        (
            lambda village: replace(
                village, names=("job",), attacker_records=village.attacker_records[:, :1], public=village.public[:, :1]
            ),
            "records of at least two columns",
        ),
        (lambda village: replace(village, values=("all",)), "2 to 20 values, creed has 1"),
        (lambda village: people(m=21), "2 to 20 values, creed has 21"),
        (lambda village: replace(village, values=(*village.values, "x")), "every value of creed, got nobody with x"),
    ],
)
def test_table_people_refuse(make, message, village):
    with pytest.raises(InputError, match=message):
        make(village)


@dataclass(frozen=True)
class Case:
    village: TablePeople
    columns: tuple[Column, ...]
    rules: dict[Pair, float]
    defender: Defender

    def noise(self):
        return TableSearch(self.columns, self.defender, self.rules).noise(self.village.public)


def case(m=2, *, pairs=(), **settings):
    village = people(m, **settings)
    columns = table_columns(village)
    return Case(
        village=village,
        columns=columns,
        rules=pair_rules(columns, forbidden=pairs),
        defender=fit_defender(village.attacker_records, village.known_truth, columns),
    )


def fewest_of(table_case, person, value):
    record = table_case.village.public[person]
    return least_columns(record, table_case.columns, table_case.defender, value, table_case.rules, most=3)


@pytest.mark.parametrize(("m", "most"), [(2, 1.0), (4, 1.15)])
def test_noise_takes_the_fewest_columns_or_nearly(m, most):
    table_case = case(m, u=50 // m, leak=1.5 if m == 2 else 1.0)
    noise = table_case.noise()
    taken, fewest = [], []
    for k, i in np.argwhere(noise.size > 0):
        best = fewest_of(table_case, k, i)
        if best is None:
            assert noise.size[k, i] > 3
        else:
            taken.append(noise.size[k, i])
            fewest.append(best)
    assert (np.array(taken) >= fewest).all()
    assert {1, 2} <= set(fewest)
    assert sum(taken) <= most * sum(fewest)


RULES = (
    ("job", "cook", "home", "flat"),
    ("job", "nurse", "home", "house"),
    ("job", "smith", "home", "boat"),
    ("job", "clerk", "club", "chess"),
    ("home", "house", "club", "choir"),
    ("rooms", "2", "job", "clerk"),
)


def blocked():
    """Return people whom the job alone gives away, and each job bound to a home."""
    village = people(n=400, u=8)
    rng = np.random.default_rng(0)
    records = [rng.integers(0, k, 408).astype(float) for k in (2, 2, 2, 3)]
    known_records = np.column_stack([records[0], records[0], *records[2:], rng.normal(size=408)])
    truth = records[0].astype(int)
    village = replace(
        village,
        attacker_records=known_records[:400],
        known_truth=truth[:400],
        public=known_records[400:],
        truth=truth[400:],
        rows=np.arange(8),
    )
    columns = table_columns(village)
    rules = pair_rules(columns, forbidden=(("job", "cook", "home", "house"), ("job", "nurse", "home", "flat")))
    defender = fit_defender(village.attacker_records, village.known_truth, columns)
    return Case(village, columns, rules, defender)


def test_two_columns_in_each_others_way_change_together_or_neither_does():
    table_case = blocked()
    noise, everyone = table_case.noise(), np.arange(8)
    targets = 1 - noise.predicted
    assert noise.reached.all() and (noise.size[everyone, targets] == 2).all()
    changed = noise.noisy[2 * everyone + targets] != table_case.village.public
    assert (changed == [True, True, False, False, False]).all()
    without = replace(table_case, columns=table_columns(table_case.village, frozen=("home",))).noise()
    assert not without.reached[everyone, targets].any() and not without.size.any()
    np.testing.assert_array_equal(without.noisy, np.repeat(table_case.village.public, 2, axis=0))
    assert without.reached[everyone, noise.predicted].all()


def test_the_records_are_cut_into_pieces_without_a_trace(monkeypatch):
    table_case = case(3, pairs=RULES)
    expected = table_case.noise()
    monkeypatch.setattr("core.studies.attriguard.table_search._CELLS", 7 * 3 * 20)
    pieces = table_case.noise()
    np.testing.assert_array_equal(expected.noisy, pieces.noisy)
    np.testing.assert_array_equal(expected.reached, pieces.reached)
