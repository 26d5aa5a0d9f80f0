"""AttriGuard on a table: the audit's own splits, settings, where the noise sits, attackers, the audited model on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.base.errors import InputError
from core.datasets import AuditDataset
from core.datasets.splits import split
from core.stats.fairness import METRICS, difference_between_groups, row_sets, unfairness, unfairness_estimate
from core.studies.attriguard import (
    AttriGuardSettings,
    Exposure,
    TableDefense,
    concentration,
    table_columns,
    table_utility,
)
from core.studies.attriguard.allocation import Concentration, changes_per_entry
from core.studies.attriguard.attackers import LEARNERS, fit_on_table
from core.studies.attriguard.table import TablePeople, audit_people
from core.studies.attriguard.utility import TableUtility, utility_of
from core.studies.subject import AuditConfig
from tests import samples
from tests.table_people import people

SETTINGS = AttriGuardSettings(trained_budgets=(0.2, 0.6))
CONFIG = AuditConfig(dataset="sample", seed=3)


@pytest.fixture(scope="module")
def village() -> TablePeople:
    return people(3, n=1500, u=200, leak=0.7, seed=3)


@pytest.fixture(scope="module")
def guard(village: TablePeople) -> TableDefense:
    return TableDefense(village, AttriGuardSettings(budget=0.5))


def test_rules_make_changed_records_plausible(village: TablePeople) -> None:
    numbers = ("pay", "rooms")
    guard, free = (TableDefense(village, AttriGuardSettings(frozen=numbers, rules=rules)) for rules in (True, False))
    assert guard.rules.rules == guard.found_rules == free.found_rules and not free.rules.rules
    assert free.plausibility.plausible.value < 0.9 and guard.plausibility.plausible.value > 0.99
    assert guard.plausibility.changed == (guard.noise.size > 0).sum() == guard.plausibility.unseen.n
    assert guard.plausibility.without_solution == (~guard.noise.reached).sum() > 0


def test_unseen_pairs_are_counted_by_hand(village: TablePeople) -> None:
    free = TableDefense(village, AttriGuardSettings(rules=False))
    everybody = np.vstack([village.attacker_records, village.public])[:, :4]
    seen = {(a, b, row[a], row[b]) for row in everybody for a in range(4) for b in range(a)}
    changed = free.noise.noisy[(free.noise.size > 0).ravel()]
    odd = [any((a, b, row[a], row[b]) not in seen for a in range(4) for b in range(a)) for row in changed]
    assert free.plausibility.unseen.value == pytest.approx(np.mean(odd))
    assert free.plausibility.plausible.value == pytest.approx(1 - np.mean(odd))


def _carried(guard: TableDefense, budget: float) -> Concentration:
    return concentration(guard.people.public, guard.noise, guard.mechanism(budget))


def test_where_the_noise_sits(village: TablePeople, guard: TableDefense) -> None:
    changes = changes_per_entry(village.public, guard.noise, np.full(guard.noise.size.shape, 1 / 3))
    changed = guard.noise.noisy != np.repeat(village.public, 3, axis=0)
    assert changes == pytest.approx(changed.sum(axis=0) / 3)
    used = guard.mechanism(0.2)
    assert changes_per_entry(village.public, guard.noise, used).sum() == pytest.approx((used * guard.noise.size).sum())
    carried = _carried(guard, 9.0)
    assert carried.share.sum() == pytest.approx(1) and (np.diff(carried.share) <= 0).all()
    for share in (0.1, 0.5, 0.9):
        k = carried.n_entries - carried.without(share).size
        assert carried.share[:k].sum() >= share - 1e-9 and (k == 1 or carried.share[: k - 1].sum() < share)
    assert carried.without(1.0).size  # one is left
    assert not _carried(guard, 0.0).share.size and _carried(guard, 0.0).without(0.5).size == 5


def test_a_card_tells_her_columns_before_and_after(village: TablePeople, guard: TableDefense) -> None:
    card = guard.card(5)
    changed_cells = guard.noise.noisy[15:18] != village.public[5]
    assert set(card["column"]) == {
        name for name, some in zip(village.names, changed_cells.any(axis=0), strict=True) if some
    }
    for value, size in zip(village.values, guard.noise.size[5], strict=True):
        assert (card[value] != "").sum() == size
    assert guard.noise.size[5, guard.noise.predicted[5]] == 0 and card.shape[1] == 2 + 3
    record = dict(zip(village.names, village.public[5], strict=True))
    for name, cell in zip(card["column"], card["without noise"], strict=True):
        assert cell == guard.columns[village.names.index(name)].text(record[name])
    for nobody in (-1, 200, 0.5, "5", True):
        with pytest.raises(InputError, match=f"one of 0 to 199, got {nobody!r}"):
            guard.card(nobody)  # type: ignore[arg-type]


def test_nobody_one_person_and_a_constant_column(village: TablePeople, guard: TableDefense) -> None:
    known_records, public = village.attacker_records.copy(), village.public[:1].copy()
    known_records[:, 2] = public[:, 2] = 1.0
    alone = replace(
        village, attacker_records=known_records, public=public, truth=village.truth[:1], rows=village.rows[:1]
    )
    noise = TableDefense(alone, AttriGuardSettings(budget=0.5)).noise
    assert (noise.noisy[:, 2] == 1.0).all() and noise.reached.any()
    nobody = guard.noise_of(village.public[:0])
    assert nobody.size.shape == (0, 3) and nobody.noisy.shape == (0, 5)


@pytest.fixture(scope="module")
def data() -> AuditDataset:
    return samples.dataset(1600, leak=2.0, seed=1)


@pytest.fixture(scope="module")
def audited(data: AuditDataset) -> TableDefense:
    return TableDefense(audit_people(CONFIG, data), SETTINGS)


@pytest.fixture(scope="module")
def grown(audited: TableDefense) -> list[Exposure]:
    return [exposure for exposure in audited.expose() if exposure.guesses]


def test_known_and_protected_people_are_the_audits(
    audited: TableDefense, grown: list[Exposure], data: AuditDataset
) -> None:
    splits = split(data, train_share=CONFIG.train_share, seed=CONFIG.seed)
    np.testing.assert_array_equal(audited.people.rows, splits.test)
    np.testing.assert_array_equal(grown[-1].truth, data.sensitive[splits.test])
    np.testing.assert_array_equal(audited.people.attacker_records, data.features[splits.attacker_rows])
    shares = np.bincount(data.sensitive[splits.attacker_rows]) / splits.attacker_rows.size
    np.testing.assert_allclose(grown[-1].shares, shares)


def test_the_defenders_own_attacker_reads_what_the_noise_wants(audited: TableDefense, grown: list[Exposure]) -> None:
    guesses = grown[0].guesses[0]
    assert guesses.attacker == "logistic"
    np.testing.assert_array_equal(guesses.clean, audited.noise.predicted)
    np.testing.assert_array_equal(guesses.noisy == np.arange(2), audited.noise.reached)


def test_the_dropping_attacker_does_not_see_what_carries_the_noise(
    audited: TableDefense, grown: list[Exposure]
) -> None:
    guesses = next(g for g in grown[-1].guesses if g.attacker == "dropping")
    most = concentration(audited.people.public, audited.noise, np.full(audited.noise.size.shape, 0.5)).entries[0]
    changed = audited.noise.noisy != np.repeat(audited.people.public, 2, axis=0)
    only = changed.sum(axis=1) == changed[:, most]
    same = guesses.noisy.ravel() == np.repeat(guesses.clean, 2)
    assert only.sum() > 100 and same[only].all()


@pytest.mark.parametrize("learner", LEARNERS)
def test_attackers_name_every_value_and_unseen_cells_are_no_obstacle(learner: str) -> None:
    village = people(4, leak=2.0)
    attacker = fit_on_table(learner, village.attacker_records, village.known_truth, table_columns(village), seed=1)
    guess = attacker.guess(village.public)
    assert set(guess) == {0, 1, 2, 3} and (guess == village.truth).mean() > 0.5
    assert attacker.guess(np.array([[-1.0, 40.0, 1.0, 1e6, -1e6]])).shape == (1,)


def test_noise_hurts_the_naive_and_training_against_it_helps(grown: list[Exposure]) -> None:
    clean = {p.attacker: p.accuracy.value for p in grown[-1].undefended()}
    noisy = {p.attacker: p.accuracy.value for p in grown[-1].at(0.6)}
    for naive in LEARNERS:
        assert clean[naive] > grown[-1].majority.value + 0.1
        assert noisy[naive] < clean[naive] - 0.1
    assert noisy["adversarial"] > noisy["boosting"] + 0.05
    assert noisy["adversarial_logistic"] > noisy["logistic"] + 0.05


# The audited model on noisy records: expectations against draws, unfairness against the metric itself.


@pytest.fixture(scope="module")
def utility(audited: TableDefense, data: AuditDataset) -> TableUtility:
    return table_utility(audited, data, replace(CONFIG, method="unmitigated"))


@pytest.mark.parametrize("metric", METRICS)
def test_without_noise_it_is_the_audits_own_measure(audited: TableDefense, utility: TableUtility, metric: str) -> None:
    point = replace(utility, metric=metric).without_noise()
    drawn, s, y = utility.clean.astype(int), audited.people.truth, utility.labels
    expected = unfairness_estimate(drawn, s, metric=metric, labels=y)
    assert point.unfairness.value == pytest.approx(unfairness(drawn, s, metric=metric, labels=y))
    assert (point.unfairness.low, point.unfairness.high) == pytest.approx((expected.low, expected.high), abs=0.02)
    assert point.accuracy.value == pytest.approx((drawn == y).mean())
    assert point.gap == pytest.approx(difference_between_groups(drawn, s, metric=metric, labels=y))
    assert point.budget is None


def test_expectations_are_the_mean_over_draws(audited: TableDefense, utility: TableUtility) -> None:
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
def test_unfairness_changes_as_in_samples_of_the_same_people(
    audited: TableDefense, utility: TableUtility, metric: str
) -> None:
    point = replace(utility, metric=metric).at(0.5)
    clean = replace(utility, metric=metric).without_noise()
    assert point.change.value == pytest.approx(point.unfairness.value - clean.unfairness.value)
    assert clean.change.low == clean.change.value == clean.change.high == 0.0
    rng, n = np.random.default_rng(0), utility.labels.size
    s, y, noisy = audited.people.truth, utility.labels, np.einsum("ki,ki->k", audited.mechanism(0.5), utility.noisy)
    rows = [selection if selection is not None else np.full(n, True) for _, selection in row_sets(metric, y, n)]

    def distance(values: np.ndarray, drawn: np.ndarray) -> float:
        parts = [drawn[selected[drawn]] for selected in rows]
        return max(abs(values[p[s[p] == g]].mean() - values[p].mean()) for p in parts for g in np.unique(s[p]))

    drawn = [rng.integers(0, n, n) for _ in range(400)]
    spread = np.std([distance(noisy, some) - distance(utility.clean, some) for some in drawn])
    error = (point.change.high - point.change.low) / 3.92
    assert 0.75 * spread < error < (1.4 if len(rows) > 1 else 1.25) * spread  # the larger of two is spread less


def test_utility_of_any_model(audited: TableDefense, data: AuditDataset) -> None:
    labels = data.labels[audited.people.rows]
    coin = utility_of(audited, lambda records, groups: np.full(len(records), 0.25), labels=labels)
    point = coin.at(0.4)
    assert point.unfairness.value == point.gap == 0
    assert point.accuracy.value == pytest.approx(0.75 - 0.5 * labels.mean())
    insider = utility_of(audited, lambda records, groups: (groups == 1).astype(float), labels=labels)
    assert insider.at(0.4).gap == 1.0 and insider.at(0.4).unfairness.high <= 1.0
    everybody = utility_of(audited, lambda records, groups: np.ones(len(records)), labels=labels).at(0.4)
    assert everybody.unfairness.value == 0.0 < everybody.unfairness.high  # all alike, and yet in doubt


def test_bad_metric_or_labels(audited: TableDefense, data: AuditDataset) -> None:
    def nobody(records: np.ndarray, groups: np.ndarray) -> np.ndarray:
        return np.zeros(len(records))

    labels = data.labels[audited.people.rows]
    with pytest.raises(InputError, match="metric must be one of"):
        utility_of(audited, nobody, labels=labels, metric="parity")
    with pytest.raises(InputError, match="same length"):
        utility_of(audited, nobody, labels=labels[:5])
    only = np.where(audited.people.truth == 0, labels, 0).astype(np.uint8)
    with pytest.raises(InputError, match="two groups with label 1"):
        utility_of(audited, nobody, labels=only, metric="equal_opportunity")
