"""Group fairness metrics against hand counts and a plain reading of their definition."""

import numpy as np
import pytest

from core.errors import InputError
from core.fairness import METRICS, group_rates, unfairness

PREDICTIONS = [1, 1, 0, 0, 1, 0, 0, 0]
SENSITIVE = [1, 1, 1, 0, 0, 0, 0, 0]
LABELS = [1, 0, 1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("statistical_parity", 2 / 3 - 3 / 8),  # 2 of 3 and 1 of 5, 3 of 8 overall
        ("predictive_equality", 3 / 4),  # label 0: 1 of 1 and 0 of 3, 1 of 4 overall
        ("equal_opportunity", 0.0),  # label 1: 1 of 2 and 1 of 2
        ("equalized_odds", 3 / 4),
    ],
)
def test_hand_counts(metric, expected):
    assert unfairness(PREDICTIONS, SENSITIVE, metric=metric, labels=LABELS) == pytest.approx(expected, abs=1e-15)


def plain(predictions, sensitive, metric, labels):
    """The definition, one group after the other."""
    worst = 0.0
    values = {"predictive_equality": (0,), "equal_opportunity": (1,), "equalized_odds": (0, 1)}
    for value in values.get(metric, (None,)):
        rows = [i for i in range(len(labels)) if value is None or labels[i] == value]
        overall = sum(predictions[i] for i in rows) / len(rows)
        for group in {sensitive[i] for i in rows}:
            mine = [predictions[i] for i in rows if sensitive[i] == group]
            worst = max(worst, abs(sum(mine) / len(mine) - overall))
    return worst


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("groups", [2, 5])
@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float64, str, bool])
def test_definition_for_all_kinds_of_groups(metric, groups, kind):
    rng = np.random.default_rng(groups)
    predictions, labels = rng.integers(0, 2, (2, 200))
    sensitive = rng.integers(0, groups, 200).astype(kind)
    expected = plain(predictions.tolist(), sensitive.tolist(), metric, labels.tolist())
    assert unfairness(predictions, sensitive, metric=metric, labels=labels) == pytest.approx(expected, abs=1e-15)


def test_one_group_is_fair():
    assert unfairness([1, 0, 0], [1, 1, 1], metric="statistical_parity") == 0.0


def test_a_group_missing_from_a_row_set_is_left_out():
    value = unfairness([1, 0, 1, 0], [0, 0, 1, 1], metric="equalized_odds", labels=[1, 1, 0, 1])
    assert value == pytest.approx(1 / 3)  # label 1: 1 of 2 and 0 of 1; label 0: one group only


def test_group_rates_count_and_agree_with_unfairness():
    rates = group_rates(PREDICTIONS, np.where(SENSITIVE, "a", "b"), metric="equalized_odds", labels=LABELS)
    told = [(rate.part, rate.group, rate.count, rate.rate.value, rate.overall.value) for rate in rates]
    assert told == [
        ("label 0", "a", 1, 1.0, 0.25),
        ("label 0", "b", 3, 0.0, 0.25),
        ("label 1", "a", 2, 0.5, 0.5),
        ("label 1", "b", 2, 0.5, 0.5),
    ]
    assert all(rate.rate.low <= rate.rate.value <= rate.rate.high and rate.rate.n == rate.count for rate in rates)
    worst = max(abs(rate.rate.value - rate.overall.value) for rate in rates)
    assert worst == unfairness(PREDICTIONS, SENSITIVE, metric="equalized_odds", labels=LABELS)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metric": "parity"}, "metric must be one of"),
        ({"labels": None}, "labels must be given for equal_opportunity"),
        ({"labels": [0, 1]}, "labels must have one value a record"),
        ({"labels": [0] * 8}, "at least one record in each row set, got none in 'label 1'"),
        ({"predictions": [2] * 8}, "predictions must hold only 0 and 1"),
        ({"sensitive": [1, 0]}, "same length"),
        ({"sensitive": [[1]] * 8}, "sensitive must be one-dimensional"),
        ({"sensitive": np.array([None, "a"] * 4, dtype=object)}, "sensitive must hold values of one kind"),
    ],
)
def test_bad_input_is_told_in_one_sentence(changed, message):
    arguments = {"predictions": PREDICTIONS, "sensitive": SENSITIVE, "metric": "equal_opportunity", "labels": LABELS}
    with pytest.raises(InputError, match=message) as caught:
        unfairness(**(arguments | changed))
    assert str(caught.value).count(". ") == 0
