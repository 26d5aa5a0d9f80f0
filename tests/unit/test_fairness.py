"""Group fairness: rates and distances against hand counts, Fairlearn and the definition, and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from fairlearn import metrics as fairlearn

from core.auditing.policy.decisions import interval_at_level
from core.base.errors import InputError
from core.stats.fairness import (
    METRICS,
    difference_between_groups,
    difference_of_rates,
    group_rates,
    unfairness,
    unfairness_estimate,
)

PREDICTIONS = [1, 1, 0, 0, 1, 0, 0, 0]
SENSITIVE = [1, 1, 1, 0, 0, 0, 0, 0]
LABELS = [1, 0, 1, 1, 1, 0, 0, 0]


def plain(predictions, sensitive, metric, labels):
    """The definition, one group after the other."""
    parts = {"predictive_equality": [{0}], "equal_opportunity": [{1}], "equalized_odds": [{0}, {1}]}
    worst = 0.0
    for part in parts.get(metric, [{0, 1}]):
        rows = [i for i in range(len(labels)) if labels[i] in part]
        overall = sum(predictions[i] for i in rows) / len(rows)
        for group in {sensitive[i] for i in rows}:
            mine = [predictions[i] for i in rows if sensitive[i] == group]
            worst = max(worst, abs(sum(mine) / len(mine) - overall))
    return worst


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("groups", [2, 5])
@pytest.mark.parametrize("kind", [np.uint8, np.float64, str])
def test_definition_for_all_kinds_of_groups(metric, groups, kind):
    rng = np.random.default_rng(groups)
    predictions, labels = rng.integers(0, 2, (2, 200))
    sensitive = rng.integers(0, groups, 200).astype(kind)
    expected = plain(predictions.tolist(), sensitive.tolist(), metric, labels.tolist())
    assert unfairness(predictions, sensitive, metric=metric, labels=labels) == pytest.approx(expected, abs=1e-15)


def test_group_rates_count_and_agree_with_unfairness():
    rates = group_rates(PREDICTIONS, np.where(SENSITIVE, "a", "b"), metric="equalized_odds", labels=LABELS)
    counted = {(rate.part, rate.group): (rate.count, rate.rate.value, rate.overall.value) for rate in rates}
    assert counted == {
        **{("label 0", "a"): (1, 1.0, 0.25), ("label 0", "b"): (3, 0.0, 0.25)},
        **{("label 1", "a"): (2, 0.5, 0.5), ("label 1", "b"): (2, 0.5, 0.5)},
    }
    assert all(rate.rate.low <= rate.rate.value <= rate.rate.high and rate.rate.n == rate.count for rate in rates)
    worst = max(abs(rate.rate.value - rate.overall.value) for rate in rates)
    assert worst == unfairness(PREDICTIONS, SENSITIVE, metric="equalized_odds", labels=LABELS)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metric": "parity"}, "metric must be one of"),
        ({"labels": None}, "labels must be given for equal_opportunity"),
        ({"labels": [0] * 8}, "at least one record in each row set, got none in 'label 1'"),
        ({"predictions": [2] * 8}, "predictions must hold only 0 and 1"),
        ({"sensitive": [1, 0]}, "same length"),
        ({"sensitive": np.array([None, "a"] * 4, dtype=object)}, "sensitive must hold values of one kind"),
    ],
)
def test_bad_input_is_told_in_one_sentence(changed, message):
    arguments = {"predictions": PREDICTIONS, "sensitive": SENSITIVE, "metric": "equal_opportunity", "labels": LABELS}
    with pytest.raises(InputError, match=message):
        unfairness(**(arguments | changed))


@pytest.mark.parametrize(
    ("rates", "sizes", "most"),
    [
        ((0.3, 0.3), (600, 300), 0.985),
        ((0.3, 0.4), (600, 300), 0.985),
        ((0.4, 0.4, 0.3, 0.6), (500, 300, 150, 50), 1.0),
        ((0.2, 0.2, 0.35, 0.35), (300,) * 4, 1.0),
    ],
)
def test_intervals_cover_the_truth(rates, sizes, most):
    """Of the unfairness, and of the difference between groups."""
    rng, s = np.random.default_rng(1), np.repeat(np.arange(len(rates)), sizes)
    rate = np.asarray(rates)[s]
    unfair, gap = float(np.abs(rate - rate.mean()).max()), max(rates) - min(rates)
    hits = np.zeros(2)
    for p in (rng.random((400, s.size)) < rate).astype(np.uint8):
        deviation = unfairness_estimate(p, s, metric="statistical_parity")
        difference = difference_of_rates(group_rates(p, s, metric="statistical_parity"))
        hits += [deviation.low <= unfair <= deviation.high, difference.low <= gap <= difference.high]
    assert (hits / 400 >= 0.92).all() and hits[0] / 400 <= most


def test_the_small_groups_that_hide_behind_a_sure_gap_count_at_every_step_of_holms_procedure():
    """Equalized odds at a limit of 0.2: a gap of 0.19 that is sure, and one of 0.2 between 150 people each."""
    rng, draws = np.random.default_rng(4), 1200
    sure, small = (1000, 4800), (150, 150)  # accepted of 10,000 each
    s = np.concatenate([np.repeat([0, 1], 10_000), np.repeat([0, 1], small)])
    y = np.repeat([0, 1], [20_000, 300])
    lead = np.concatenate([np.arange(10_000) < accepted for accepted in sure])
    wrong = {1: 0, 2: 0, 5: 0, 10: 0}
    for accepted in rng.binomial(small, (0.3, 0.7), size=(draws, 2)):
        p = np.concatenate([lead, *(np.arange(n) < k for n, k in zip(small, accepted, strict=True))])
        estimate = unfairness_estimate(p, s, metric="equalized_odds", labels=y)
        for share in wrong:
            wrong[share] += interval_at_level(estimate, 0.05 / share).high < 0.2  # a wrong pass
    for share, passes in wrong.items():
        nominal = 0.025 / share
        assert passes / draws <= nominal + 3 * np.sqrt(nominal / draws), share


THEIRS = {
    "statistical_parity": fairlearn.demographic_parity_difference,
    "predictive_equality": fairlearn.false_positive_rate_difference,
    "equal_opportunity": fairlearn.equal_opportunity_difference,
    "equalized_odds": fairlearn.equalized_odds_difference,
}


@pytest.mark.parametrize("metric", METRICS)
def test_it_is_fairlearns_and_never_below_the_unfairness(metric):
    rng = np.random.default_rng(0)
    for k in (2, 2, 2, 3, 5):
        s, y, p = (rng.integers(0, m, 150).astype(np.uint8) for m in (k, 2, 2))
        ours = difference_between_groups(p, s, metric=metric, labels=y)
        assert ours == pytest.approx(THEIRS[metric](y, p, sensitive_features=s), abs=1e-12)
        assert ours >= unfairness(p, s, metric=metric, labels=y)
        estimate = difference_of_rates(group_rates(p, s, metric=metric, labels=y))
        assert estimate.value == pytest.approx(ours) and 0 <= estimate.low <= ours <= estimate.high <= 1
