"""AttriGuard on a table: the audit's own splits, settings, where the noise sits, attackers, the audited model on it."""

from dataclasses import replace

import numpy as np
import pytest

from core.base.errors import InputError
from core.stats.fairness import METRICS, difference_between_groups, row_sets, unfairness, unfairness_estimate
from core.studies.attriguard import AttriGuardSettings, TableDefense, concentration, table_columns, table_utility
from core.studies.attriguard.allocation import changes_per_entry
from core.studies.attriguard.attackers import LEARNERS, fit_on_table
from core.studies.attriguard.table import audit_people
from core.studies.attriguard.utility import utility_of
from core.studies.subject import AuditConfig
from tests import samples
from tests.table_people import people

SETTINGS = AttriGuardSettings(trained_budgets=(0.2, 0.6))
CONFIG = AuditConfig(dataset="sample", seed=3)


@pytest.fixture(scope="module")
def village():
    return people(3, n=1500, u=200, leak=0.7, seed=3)


@pytest.fixture(scope="module")
def guard(village):
    return TableDefense(village, AttriGuardSettings(budget=0.5))


def test_plausibility_counts_pairs_unseen_among_everybody(village):
    free = TableDefense(village, AttriGuardSettings(rules=False))
    everybody = np.vstack([village.attacker_records, village.public])[:, :4]
    seen = {(a, b, row[a], row[b]) for row in everybody for a in range(4) for b in range(a)}
    changed = free.noise.noisy[(free.noise.size > 0).ravel()]
    odd = [any((a, b, row[a], row[b]) not in seen for a in range(4) for b in range(a)) for row in changed]
    assert free.plausible.value == pytest.approx(1 - np.mean(odd))


def test_rules_make_changed_records_plausible(village):
    guard = TableDefense(village, AttriGuardSettings(frozen=("pay", "rooms")))
    assert guard.plausible.value > 0.99
    assert not guard.noise.reached.all()


def test_concentration_is_where_the_noise_sits(village, guard):
    used = guard.mechanism(9.0)
    changed = (guard.noise.noisy != np.repeat(village.public, 3, axis=0)).reshape(*used.shape, 5)
    changes = np.einsum("ki,kij->j", used, changed)
    assert changes_per_entry(village.public, guard.noise, used) == pytest.approx(changes)
    carried = concentration(village.public, guard.noise, used)
    assert carried.share == pytest.approx(np.sort(changes[changes > 0])[::-1] / changes.sum())
    for share in (0.1, 0.5, 0.9):
        k = carried.n_entries - carried.without(share).size
        assert carried.share[:k].sum() >= share - 1e-9
        assert k == 1 or carried.share[: k - 1].sum() < share


def test_card_holds_what_is_changed_of_a_record_the_most_often_first(guard, village):
    person = int(guard.noise.size.sum(axis=1).argmax())
    changed = guard.noise.noisy[3 * person : 3 * person + 3] != village.public[person]
    often = {name: int(values.sum()) for name, values in zip(village.names, changed.T, strict=True) if values.any()}
    card = guard.card(person)
    assert set(card[guard.entry]) == set(often) and len(often) > 1
    assert [often[name] for name in card[guard.entry]] == sorted(often.values(), reverse=True)
    assert (card[list(village.values)] != "").sum(axis=1).tolist() == [often[name] for name in card[guard.entry]]


@pytest.mark.parametrize("nobody", [-1, 200, 0.5, "5", True])
def test_card_refuses_who_is_not_protected(guard, nobody):
    with pytest.raises(InputError, match=f"one of 0 to 199, got {nobody!r}"):
        guard.card(nobody)


@pytest.fixture(scope="module")
def data():
    return samples.dataset(1600, leak=2.0, seed=1)


@pytest.fixture(scope="module")
def audited(data):
    return TableDefense(audit_people(CONFIG, data), SETTINGS)


@pytest.mark.parametrize("learner", LEARNERS)
def test_attackers_name_every_value_and_unseen_cells_are_no_obstacle(learner):
    village = people(4, leak=2.0)
    attacker = fit_on_table(learner, village.attacker_records, village.known_truth, table_columns(village), seed=1)
    guess = attacker.guess(village.public)
    assert set(guess) == {0, 1, 2, 3} and (guess == village.truth).mean() > 0.5
    assert attacker.guess(np.array([[-1.0, 40.0, 1.0, 1e6, -1e6]])).shape == (1,)


# The audited model on noisy records: expectations against draws, unfairness against the metric itself.


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
    assert point.budget is None


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
