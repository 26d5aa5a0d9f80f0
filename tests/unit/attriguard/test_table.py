"""AttriGuard on a table: what may change, least noise by trying every change, attackers, the audited model on it."""

from dataclasses import replace

import numpy as np
import pytest

from core.base.errors import InputError
from core.stats.fairness import METRICS, difference_between_groups, row_sets, unfairness, unfairness_estimate
from core.studies.attriguard import AttriGuardSettings, TableDefense, concentration, table, table_columns, table_utility
from core.studies.attriguard.allocation import changes_per_entry
from core.studies.attriguard.attackers import LEARNERS, fit_on_table
from core.studies.attriguard.table_search import TableSearch, fit_defender
from core.studies.attriguard.utility import utility_of
from core.studies.subject import AuditConfig
from tests import samples
from tests.table_people import broken, least_columns, people

SMITH_ON_A_BOAT = ("job", "smith", "home", "boat")
NURSE_IN_A_HOUSE = ("job", "nurse", "home", "house")


@pytest.fixture(scope="module")
def village():
    return people(n=2000, leak=0.2)


@pytest.fixture(scope="module")
def columns(village):
    return table_columns(village)


def with_column(j, values):
    village = people(n=500)
    records = village.attacker_records.copy()
    records[:, j] = values
    return replace(village, attacker_records=records)


def test_numbers_stay_in_the_middle_98_percent_on_values_seen():
    values = np.arange(500) * 0.5
    domain = table_columns(with_column(4, values))[4].domain
    assert (domain[0], domain[-1], domain.size) == (2.0, 247.0, 11) and np.isin(domain, values).all()


@pytest.mark.parametrize(("share", "domain"), [(0.0, [0, 1, 2, 3]), (0.01, [1, 2, 3]), (0.5, [3])])
def test_categories_need_their_share(share, domain, monkeypatch):
    monkeypatch.setattr("core.studies.attriguard.table._LEAST_SHARE", share)
    column = table_columns(with_column(0, np.repeat([0.0, 1.0, 2.0, 3.0], [4, 5, 200, 291])))[0]
    assert column.domain.tolist() == domain
    assert column.listed.tolist() == [0, 1, 2, 3]


def test_find_rules_are_absent_pairs_with_what_was_expected(village, columns):
    absent_rules = table.find_rules(village.attacker_records, columns)
    strong = {pair: expected for pair, expected in absent_rules.items() if pair[::2] == ("job", "home")}
    assert set(strong) == {SMITH_ON_A_BOAT, NURSE_IN_A_HOUSE}
    job, home = village.attacker_records[:, 0], village.attacker_records[:, 1]
    assert strong[SMITH_ON_A_BOAT] == pytest.approx((job == 2).sum() * (home == 2).sum() / 2000)
    assert list(absent_rules.values()) == sorted(absent_rules.values(), reverse=True)
    assert not broken(columns, table.pair_rules(columns, absent_rules), village.attacker_records).any()


def test_rules_are_taken_away_and_added_by_name(village, columns):
    cook, house = ("club", "choir", "job", "cook"), ("home", "house", "job", "nurse")
    absent_rules = table.find_rules(village.attacker_records, columns)
    rules = table.pair_rules(columns, absent_rules, forbidden=(cook, SMITH_ON_A_BOAT), allowed=(house,))
    pairs = list(rules)
    assert pairs[0] == cook and NURSE_IN_A_HOUSE not in pairs and pairs.count(SMITH_ON_A_BOAT) == 1
    assert np.isnan(rules[cook])
    assert broken(columns, rules, np.array([[0.0, 0.0, 1.0, 2.0, 0.0], [1.0, 1.0, 0.0, 2.0, 0.0]])).tolist() == [1, 0]
    forbidden = table.forbidden_values(columns, rules)
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
        table.pair_rules(columns, **{way: (pair,)})


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


@pytest.mark.parametrize(("m", "most"), [(2, 1.0), (4, 1.15)])
def test_noise_takes_the_fewest_columns_or_nearly(m, most):
    village = people(m, u=50 // m, leak=1.5 if m == 2 else 1.0)
    columns = table_columns(village)
    defender = fit_defender(village.attacker_records, village.known_truth, columns)
    noise = TableSearch(columns, defender, {}).noise(village.public)
    taken, fewest = [], []
    for k, i in np.argwhere(noise.size > 0):
        best = least_columns(village.public[k], columns, defender, i, {}, most=3)
        if best is None:
            assert noise.size[k, i] > 3
        else:
            taken.append(noise.size[k, i])
            fewest.append(best)
    assert (np.array(taken) >= fewest).all()
    assert {1, 2} <= set(fewest)
    assert sum(taken) <= most * sum(fewest)


def noise_of(village, *, frozen=()):
    """Return the noise where each of two jobs is bound to a home."""
    columns = table_columns(village)
    rules = table.pair_rules(columns, forbidden=[("job", "cook", "home", "house"), ("job", "nurse", "home", "flat")])
    defender = fit_defender(village.attacker_records, village.known_truth, columns)
    return TableSearch(table_columns(village, frozen=frozen), defender, rules).noise(village.public)


def test_two_columns_in_each_others_way_change_together_or_neither_does():
    """Of people whom the job alone gives away."""
    rng, everyone = np.random.default_rng(0), np.arange(8)
    job, _, club, rooms = (rng.integers(0, k, 408).astype(float) for k in (2, 2, 2, 3))
    records = np.column_stack([job, job, club, rooms, rng.normal(size=408)])
    (attacker_records, public), (known_truth, truth) = np.split(records, [400]), np.split(job.astype(int), [400])
    arrays = {"attacker_records": attacker_records, "known_truth": known_truth, "public": public, "truth": truth}
    village = replace(people(n=400, u=8), **arrays)
    noise, without = noise_of(village), noise_of(village, frozen=("home",))
    targets = 1 - noise.predicted
    assert noise.reached.all() and (noise.size[everyone, targets] == 2).all()
    changed = noise.noisy[2 * everyone + targets] != public
    assert (changed == [True, True, False, False, False]).all()
    assert not without.reached[everyone, targets].any() and not without.size.any()
    np.testing.assert_array_equal(without.noisy, np.repeat(public, 2, axis=0))
    assert without.reached[everyone, noise.predicted].all()


def test_the_records_are_cut_into_pieces_without_a_trace(monkeypatch):
    expected = noise_of(people(3))
    monkeypatch.setattr("core.studies.attriguard.table_search._CELLS", 7 * 3 * 20)
    pieces = noise_of(people(3))
    np.testing.assert_array_equal(expected.noisy, pieces.noisy)
    np.testing.assert_array_equal(expected.reached, pieces.reached)


CONFIG = AuditConfig(dataset="sample", seed=3)


@pytest.fixture(scope="module")
def creeds():
    return people(3, n=1500, u=200, leak=0.7, seed=3)


@pytest.fixture(scope="module")
def guard(creeds):
    return TableDefense(creeds, AttriGuardSettings(budget=0.5))


def test_plausibility_counts_pairs_unseen_among_everybody(creeds):
    free = TableDefense(creeds, AttriGuardSettings(rules=False))
    everybody = np.vstack([creeds.attacker_records, creeds.public])[:, :4]
    seen = {(a, b, row[a], row[b]) for row in everybody for a in range(4) for b in range(a)}
    changed = free.noise.noisy[(free.noise.size > 0).ravel()]
    odd = [any((a, b, row[a], row[b]) not in seen for a in range(4) for b in range(a)) for row in changed]
    assert free.plausible.value == pytest.approx(1 - np.mean(odd))


def test_concentration_is_where_the_noise_sits(creeds, guard):
    used = guard.mechanism(9.0)
    changed = (guard.noise.noisy != np.repeat(creeds.public, 3, axis=0)).reshape(*used.shape, 5)
    changes = np.einsum("ki,kij->j", used, changed)
    assert changes_per_entry(creeds.public, guard.noise, used) == pytest.approx(changes)
    carried = concentration(creeds.public, guard.noise, used)
    assert carried.share == pytest.approx(np.sort(changes[changes > 0])[::-1] / changes.sum())
    for share in (0.1, 0.5, 0.9):
        k = carried.n_entries - carried.without(share).size
        assert carried.share[:k].sum() >= share - 1e-9
        assert k == 1 or carried.share[: k - 1].sum() < share


def test_card_holds_what_is_changed_of_a_record_the_most_often_first(guard, creeds):
    person = int(guard.noise.size.sum(axis=1).argmax())
    changed = guard.noise.noisy[3 * person : 3 * person + 3] != creeds.public[person]
    often = {name: int(values.sum()) for name, values in zip(creeds.names, changed.T, strict=True) if values.any()}
    card = guard.card(person)
    assert set(card[guard.entry]) == set(often) and len(often) > 1
    assert [often[name] for name in card[guard.entry]] == sorted(often.values(), reverse=True)
    assert (card[list(creeds.values)] != "").sum(axis=1).tolist() == [often[name] for name in card[guard.entry]]


@pytest.mark.parametrize("nobody", [-1, 200, 0.5, "5", True])
def test_card_refuses_who_is_not_protected(guard, nobody):
    with pytest.raises(InputError, match=f"one of 0 to 199, got {nobody!r}"):
        guard.card(nobody)


@pytest.fixture(scope="module")
def data():
    return samples.dataset(1600, leak=2.0, seed=1)


@pytest.fixture(scope="module")
def audited(data):
    return TableDefense(table.audit_people(CONFIG, data), AttriGuardSettings(trained_budgets=(0.2, 0.6)))


@pytest.mark.parametrize("learner", LEARNERS)
def test_attackers_name_every_value_and_unseen_cells_are_no_obstacle(learner):
    village = people(4, leak=2.0)
    attacker = fit_on_table(learner, village.attacker_records, village.known_truth, table_columns(village), seed=1)
    guess = attacker.guess(village.public)
    assert set(guess) == {0, 1, 2, 3} and (guess == village.truth).mean() > 0.5
    assert attacker.guess(np.array([[-1.0, 40.0, 1.0, 1e6, -1e6]])).shape == (1,)


@pytest.fixture(scope="module")
def utility(audited, data):
    return table_utility(audited, data, replace(CONFIG, method="unmitigated"))


@pytest.mark.parametrize("metric", METRICS)
def test_without_noise_it_is_the_audits_own_measure(audited, utility, metric):
    point = replace(utility, metric=metric).without_noise()
    drawn, s, y = utility.clean.astype(int), audited.people.truth, utility.labels
    expected = unfairness_estimate(drawn, s, metric=metric, labels=y)
    assert point.unfairness.value == pytest.approx(unfairness(drawn, s, metric=metric, labels=y))
    assert (point.unfairness.low, point.unfairness.high) == pytest.approx((expected.low, expected.high), abs=0.02)
    assert point.accuracy.value == pytest.approx((drawn == y).mean())
    assert point.gap == pytest.approx(difference_between_groups(drawn, s, metric=metric, labels=y))


def test_expectations_are_the_mean_over_draws(audited, utility):
    point, used = utility.at(0.3), audited.mechanism(0.3)
    rng = np.random.default_rng(0)
    everyone = np.arange(utility.labels.size)
    right, rates = [], []
    for _ in range(400):
        value = (rng.random((everyone.size, 1)) >= used.cumsum(axis=1)[:, :-1]).sum(axis=1)
        drawn = utility.noisy[everyone, value]
        right.append((drawn == utility.labels).mean())
        rates.append([drawn[audited.people.truth == group].mean() for group in (0, 1)])
    assert point.accuracy.value == pytest.approx(np.mean(right), abs=0.003)
    assert point.gap == pytest.approx(abs(np.subtract(*np.mean(rates, axis=0))), abs=0.008)


@pytest.mark.parametrize("metric", METRICS)
def test_unfairness_changes_as_in_samples_of_the_same_people(audited, utility, metric):
    point = replace(utility, metric=metric).at(0.5)
    clean = replace(utility, metric=metric).without_noise()
    assert point.change.value == pytest.approx(point.unfairness.value - clean.unfairness.value)
    assert clean.change.low == clean.change.value == clean.change.high == 0.0
    rng, n = np.random.default_rng(0), utility.labels.size
    s, y, noisy = audited.people.truth, utility.labels, np.einsum("ki,ki->k", audited.mechanism(0.5), utility.noisy)
    rows = [selection if selection is not None else np.full(n, True) for _, selection in row_sets(metric, y, n)]

    def distance(values, drawn):
        parts = [drawn[selected[drawn]] for selected in rows]
        return max(abs(values[p[s[p] == g]].mean() - values[p].mean()) for p in parts for g in np.unique(s[p]))

    drawn = [rng.integers(0, n, n) for _ in range(400)]
    spread = np.std([distance(noisy, some) - distance(utility.clean, some) for some in drawn])
    error = (point.change.high - point.change.low) / 3.92
    assert 0.75 * spread < error < (1.4 if len(rows) > 1 else 1.25) * spread  # the larger of two is spread less


def test_utility_of_models_by_hand(audited, data):
    labels = data.labels[audited.people.rows]
    coin = utility_of(audited, lambda records, groups: np.full(len(records), 0.25), labels=labels).at(0.4)
    assert coin.unfairness.value == coin.gap == 0
    assert coin.accuracy.value == pytest.approx(0.75 - 0.5 * labels.mean())
    assert utility_of(audited, lambda records, groups: (groups == 1).astype(float), labels=labels).at(0.4).gap == 1.0
    everybody = utility_of(audited, lambda records, groups: np.ones(len(records)), labels=labels).at(0.4)
    assert everybody.unfairness.value == 0.0 < everybody.unfairness.high  # all alike, and yet in doubt


@pytest.mark.parametrize(
    ("metric", "n", "message"),
    [
        ("parity", None, "metric must be one of"),
        ("statistical_parity", 5, "same length"),
        ("equal_opportunity", None, "two groups with label 1"),
    ],
)
def test_utility_of_refuses(audited, data, metric, n, message):
    labels = np.where(audited.people.truth == 0, data.labels[audited.people.rows], 0).astype(np.uint8)
    with pytest.raises(InputError, match=message):
        utility_of(audited, lambda records, groups: np.zeros(len(records)), labels=labels[:n], metric=metric)
