"""What may change in a table, which pairs may not meet, and noise on its raw columns, against trying every change."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from core.base.errors import InputError
from core.studies.attriguard.allocation import RepresentativeNoise
from core.studies.attriguard.table import (
    Column,
    Pair,
    PairRule,
    PairRules,
    TablePeople,
    find_rules,
    fit_encoder,
    pair_rules,
    table_columns,
)
from core.studies.attriguard.table_search import TABLE_DEFENDERS, Defender, TableSearch, fit_defender
from tests.table_people import broken, least_columns, people

SMITH_ON_A_BOAT = ("job", "smith", "home", "boat")
NURSE_IN_A_HOUSE = ("job", "nurse", "home", "house")


@pytest.fixture(scope="module")
def village() -> TablePeople:
    return people(n=2000, leak=0.2)


@pytest.fixture(scope="module")
def columns(village: TablePeople) -> tuple[Column, ...]:
    return table_columns(village)


@pytest.fixture(scope="module")
def absent_rules(village: TablePeople, columns: tuple[Column, ...]) -> tuple[PairRule, ...]:
    return find_rules(village.attacker_records, columns)


def with_column(j: int, values: object) -> TablePeople:
    village = people(n=500)
    records = village.attacker_records.copy()
    records[:, j] = values
    return replace(village, attacker_records=records)


def test_kinds(columns: tuple[Column, ...]) -> None:
    assert [c.kind for c in columns] == ["category", "category", "category", "integer", "number"]
    constant = table_columns(with_column(2, 0.0), frozen=("pay",))
    assert [c.name for c in constant if c.frozen] == ["club", "pay"] and not any(c.frozen for c in columns)


def test_a_category_needs_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    rare = with_column(0, np.repeat([0.0, 1.0, 2.0, 3.0], [4, 5, 200, 291]))

    def first_column(share: float) -> Column:
        monkeypatch.setattr("core.studies.attriguard.table._LEAST_SHARE", share)
        return table_columns(rare)[0]

    domains = {share: first_column(share).domain.tolist() for share in (0.0, 0.01, 0.5)}
    assert domains == {0.0: [0, 1, 2, 3], 0.01: [1, 2, 3], 0.5: [3]}
    assert first_column(0.5).listed.tolist() == [0, 1, 2, 3]
    shares = (291 / 500, 292 / 500)  # with nowhere to move to it is frozen
    assert [first_column(share).frozen for share in shares] == [False, True]


def test_numbers_stay_in_the_middle_98_percent_on_values_seen() -> None:
    values = np.arange(500) * 0.5
    pay = table_columns(with_column(4, values))[4]
    assert pay.domain[0] == np.quantile(values, 0.01, method="inverted_cdf") == 2.0
    assert pay.domain[-1] == np.quantile(values, 0.99, method="inverted_cdf") == 247.0
    assert np.isin(pay.domain, values).all() and pay.domain.size == 11 and not pay.listed.size
    few = table_columns(with_column(3, np.repeat([-5.0, 1.0, 2.0, 7.0, 90.0], [3, 200, 94, 200, 3])))[3]
    assert few.kind == "integer" and few.domain.tolist() == [1, 2, 7] and few.listed.tolist() == [-5, 1, 2, 7, 90]
    many = table_columns(with_column(3, np.arange(500.0)))[3]
    assert many.kind == "integer" and (many.domain % 1 == 0).all() and not many.listed.size


def test_absent_pairs_are_found_with_what_was_expected(
    village: TablePeople,
    columns: tuple[Column, ...],
    absent_rules: tuple[PairRule, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    strong = {rule.pair: rule.expected for rule in absent_rules if rule.pair[::2] == ("job", "home")}
    assert set(strong) == {SMITH_ON_A_BOAT, NURSE_IN_A_HOUSE}
    job, home = village.attacker_records[:, 0], village.attacker_records[:, 1]
    assert strong[SMITH_ON_A_BOAT] == pytest.approx((job == 2).sum() * (home == 2).sum() / 2000)
    assert [rule.expected for rule in absent_rules] == sorted((rule.expected for rule in absent_rules), reverse=True)
    assert not broken(pair_rules(columns, absent_rules), village.attacker_records).any()
    sizes = []
    for bound in (0.0, 1.0, 20.0, 1e6):
        monkeypatch.setattr("core.studies.attriguard.table.LEAST_EXPECTED", bound)
        rules = find_rules(village.attacker_records, columns)
        assert all(rule.expected >= bound for rule in rules)
        sizes.append(len(rules))
    assert sizes[0] >= sizes[1] >= sizes[2] >= 2 and sizes[3] == 0


def test_rules_are_taken_away_and_added_by_name(
    columns: tuple[Column, ...], absent_rules: tuple[PairRule, ...]
) -> None:
    cook = ("club", "choir", "job", "cook")
    rules = pair_rules(
        columns, absent_rules, forbidden=(cook, SMITH_ON_A_BOAT), allowed=(("home", "house", "job", "nurse"),)
    )
    pairs = [rule.pair for rule in rules.rules]
    assert pairs[0] == cook and NURSE_IN_A_HOUSE not in pairs and pairs.count(SMITH_ON_A_BOAT) == 1
    assert np.isnan(rules.rules[0].expected)
    assert broken(rules, np.array([[0.0, 0.0, 1.0, 2.0, 0.0], [1.0, 1.0, 0.0, 2.0, 0.0]])).tolist() == [1, 0]
    assert (rules.forbidden == rules.forbidden.T).all()


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
def test_bad_pairs(columns: tuple[Column, ...], way: str, pair: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        pair_rules(columns, **{way: (pair,)})  # type: ignore[arg-type]


def test_bad_columns_and_people(village: TablePeople) -> None:
    with pytest.raises(InputError, match=r"Frozen columns must be columns of the table, got 'age'\."):
        table_columns(village, frozen=("age",))
    with pytest.raises(InputError, match="all 5 are frozen, constant or without a value that 1% of"):
        table_columns(village, frozen=village.names)
    with pytest.raises(InputError, match="records of at least two columns, those of Village have 1"):
        replace(village, names=("job",), attacker_records=village.attacker_records[:, :1], public=village.public[:, :1])
    for names in (("all",), tuple(map(str, range(21)))):
        with pytest.raises(InputError, match=f"2 to 20 values, creed has {len(names)}"):
            replace(village, values=names)
    assert [people(m=m).shares.size for m in (2, 20)] == [2, 20]
    with pytest.raises(InputError, match="every value of creed, got nobody with creed 2"):
        replace(village, values=(*village.values, "creed 2"))


@pytest.mark.parametrize("kind", TABLE_DEFENDERS)
@pytest.mark.parametrize("m", [2, 4])
def test_terms_add_up_to_the_classifiers_scores(kind: str, m: int) -> None:
    village = people(m)
    defender = fit_defender(village.attacker_records, village.known_truth, table_columns(village), kind=kind)
    records = village.public.copy()
    records[0] = [-1.0, 9.0, 0.0, 100.0, 1e3]  # values nobody known has
    scores = defender.all_terms(records).sum(axis=2) + defender.offsets[:, None]
    decisions = defender.classifier.decision_function(defender.encoder.transform(records))
    np.testing.assert_allclose(scores[1] - scores[0] if m == 2 else scores.T, decisions, atol=1e-9)
    np.testing.assert_array_equal(scores.argmax(axis=0), defender.predict(records))


def test_inputs_by_hand() -> None:
    village = people()
    records = np.array([[0.0, 2.0, 1.0, 3.0, 0.5], [9.0, 0.0, 0.0, 0.0, 0.0]])
    inputs = fit_encoder(village.attacker_records, table_columns(village)).transform(records).toarray()
    assert inputs.shape == (2, 4 + 3 + 2 + 2)
    assert inputs[0, :9].tolist() == [1, 0, 0, 0, 0, 0, 1, 0, 1]
    assert inputs[1, :4].tolist() == [0, 0, 0, 0]  # a category nobody known has
    numbers = village.attacker_records[:, 3:]
    np.testing.assert_allclose(inputs[:, 9:], (records[:, 3:] - numbers.mean(axis=0)) / numbers.std(axis=0))
    ranges = fit_encoder(village.attacker_records, table_columns(village), ranges=True)
    inputs = ranges.transform(village.public).toarray()
    assert set(np.unique(inputs)) == {0.0, 1.0} and (inputs.sum(axis=1) == 5).all()
    np.testing.assert_allclose(ranges.block(4, village.attacker_records[:, 4]).mean(axis=0), 0.1, atol=0.02)
    constant = with_column(4, 7.0)
    assert np.isfinite(
        fit_encoder(constant.attacker_records, table_columns(constant)).transform(constant.attacker_records).toarray()
    ).all()


@dataclass(frozen=True)
class Case:
    village: TablePeople
    columns: tuple[Column, ...]
    rules: PairRules
    defender: Defender

    def noise(self) -> RepresentativeNoise:
        return TableSearch(self.columns, self.defender, self.rules).noise(self.village.public)


def case(m: int = 2, *, pairs: tuple[Pair, ...] = (), **settings: float) -> Case:
    village = people(m, **settings)  # type: ignore[arg-type]
    columns = table_columns(village)
    return Case(
        village=village,
        columns=columns,
        rules=pair_rules(columns, forbidden=pairs),
        defender=fit_defender(village.attacker_records, village.known_truth, columns),
    )


def least(table_case: Case, person: int, value: int) -> int | None:
    return least_columns(
        table_case.village.public[person], table_case.columns, table_case.defender, value, table_case.rules, most=3
    )


def test_two_values_without_rules_take_the_least_columns() -> None:
    taken = []
    for seed in range(4):
        table_case = case(seed=seed, leak=1.5, u=25)
        noise = table_case.noise()
        for k, value in enumerate(1 - noise.predicted):
            best = least(table_case, k, value)
            if best is None:
                assert noise.size[k, value] > 3 or not noise.reached[k, value]
            else:
                assert noise.reached[k, value] and noise.size[k, value] == best
            taken.append(best)
    assert {1, 2} <= set(taken)


def test_several_values_are_near_the_least_columns() -> None:
    table_case = case(4, u=25)
    noise, taken, fewest = table_case.noise(), 0, 0
    for k, i in np.argwhere(noise.size > 0):
        best = least(table_case, k, i)
        assert best is not None or noise.size[k, i] > 3
        if best is not None:
            assert noise.size[k, i] >= best
            assert best > 1 or noise.size[k, i] == 1
            taken, fewest = taken + noise.size[k, i], fewest + best
    assert fewest and taken <= 1.15 * fewest


RULES: tuple[Pair, ...] = (
    ("job", "cook", "home", "flat"),
    ("job", "nurse", "home", "house"),
    ("job", "smith", "home", "boat"),
    ("job", "clerk", "club", "chess"),
    ("home", "house", "club", "choir"),
    ("rooms", "2", "job", "clerk"),
)


def blocked() -> Case:
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


def test_two_columns_in_each_others_way_change_together_or_neither_does() -> None:
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


def test_the_records_are_cut_into_pieces_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    table_case = case(3, pairs=RULES)
    expected = table_case.noise()
    monkeypatch.setattr("core.studies.attriguard.table_search._CELLS", 7 * 3 * 20)
    pieces = table_case.noise()
    np.testing.assert_array_equal(expected.noisy, pieces.noisy)
    np.testing.assert_array_equal(expected.reached, pieces.reached)
