"""The audited model on noisy records: expectations against draws, unfairness against the metric itself."""

from __future__ import annotations

import numpy as np
import pytest

from core.attriguard import TableGuard, table_guard, table_utility
from core.attriguard.utility import TableUtility, utility_of
from core.config import AuditConfig
from core.datasets import AuditDataset
from core.errors import InputError
from core.fairness import METRICS, difference_between_groups, unfairness, unfairness_estimate
from tests import samples

CONFIG = AuditConfig(dataset="sample", method="unmitigated", seed=3)


@pytest.fixture(scope="module")
def data() -> AuditDataset:
    return samples.dataset(1600, leak=2.0, seed=1)


@pytest.fixture(scope="module")
def guard(data: AuditDataset) -> TableGuard:
    return table_guard(data, CONFIG)


@pytest.fixture(scope="module")
def utility(guard: TableGuard, data: AuditDataset) -> TableUtility:
    return table_utility(guard, data, CONFIG)


def of_metric(guard: TableGuard, utility: TableUtility, metric: str) -> TableUtility:
    return TableUtility(guard=guard, metric=metric, labels=utility.labels, clean=utility.clean, noisy=utility.noisy)


@pytest.mark.parametrize("metric", METRICS)
def test_without_noise_it_is_the_audits_own_measure(guard: TableGuard, utility: TableUtility, metric: str) -> None:
    point = of_metric(guard, utility, metric).without_noise()
    drawn, s, y = utility.clean.astype(int), guard.people.truth, utility.labels
    own = unfairness_estimate(drawn, s, metric=metric, labels=y)
    assert point.unfairness.value == pytest.approx(unfairness(drawn, s, metric=metric, labels=y))
    assert (point.unfairness.low, point.unfairness.high) == pytest.approx((own.low, own.high), abs=0.02)
    assert point.accuracy.value == pytest.approx((drawn == y).mean())
    assert point.gap == pytest.approx(difference_between_groups(drawn, s, metric=metric, labels=y))
    assert point.budget is None


def test_expectations_are_the_mean_over_draws(guard: TableGuard, utility: TableUtility) -> None:
    point, used = utility.at(0.3), guard.mechanism(0.3)
    rng = np.random.default_rng(0)
    everyone = np.arange(utility.labels.size)
    right, rates = [], []
    for _ in range(400):
        value = (rng.random((everyone.size, 1)) >= used.cumsum(axis=1)[:, :-1]).sum(axis=1)
        drawn = utility.noisy[everyone, value]
        right.append((drawn == utility.labels).mean())
        rates.append([drawn[guard.people.truth == group].mean() for group in (0, 1)])
    assert point.accuracy.value == pytest.approx(np.mean(right), abs=0.003)
    assert point.gap == pytest.approx(abs(np.subtract(*np.mean(rates, axis=0))), abs=0.008)


def test_any_model_can_be_asked(guard: TableGuard, data: AuditDataset) -> None:
    labels = data.labels[guard.people.rows]
    coin = utility_of(guard, lambda records, groups: np.full(len(records), 0.25), labels=labels)
    point = coin.at(0.4)
    assert point.unfairness.value == point.gap == 0
    assert point.accuracy.value == pytest.approx(0.75 - 0.5 * labels.mean())
    insider = utility_of(guard, lambda records, groups: (groups == 1).astype(float), labels=labels)
    assert insider.at(0.4).gap == 1.0 and insider.at(0.4).unfairness.high <= 1.0
    everybody = utility_of(guard, lambda records, groups: np.ones(len(records)), labels=labels).at(0.4)
    assert everybody.unfairness.value == 0.0 < everybody.unfairness.high  # all alike, and yet in doubt


def test_bad_metric_or_labels(guard: TableGuard, data: AuditDataset) -> None:
    def nobody(records: np.ndarray, groups: np.ndarray) -> np.ndarray:
        return np.zeros(len(records))

    labels = data.labels[guard.people.rows]
    with pytest.raises(InputError, match="metric must be one of"):
        utility_of(guard, nobody, labels=labels, metric="parity")
    with pytest.raises(InputError, match="same length"):
        utility_of(guard, nobody, labels=labels[:5])
    only = np.where(guard.people.truth == 0, labels, 0).astype(np.uint8)
    with pytest.raises(InputError, match="two groups with label 1"):
        utility_of(guard, nobody, labels=only, metric="equal_opportunity")
