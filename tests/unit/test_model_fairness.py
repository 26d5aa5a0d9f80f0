"""All four fairness metrics of a model, by group, against counts by hand; what absent answers say of groups."""

import math
from dataclasses import replace

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
from core.studies.correction import true_tolerance
from core.studies.fairness import metric_table
from core.studies.fairness.findings import fairness_metrics, headline
from core.studies.fairness.study import absence, absence_differences, absence_finding
from core.studies.study import draw_people, subject_of
from tests.problem_bank import reached

SIZES = (300, 100, 260)


def subject(metric="statistical_parity", **changes):
    """Return a model that accepts one group more often, on people drawn with a seed."""
    rng = np.random.default_rng(4)
    people = draw_people(sum(SIZES), rng)
    answers = (rng.random(sum(SIZES)) < 0.4 + 0.2 * people.sensitive).astype(np.uint8)
    base_subject = subject_of(people, answers, SIZES, seed=4)
    return replace(base_subject, config=replace(base_subject.config, metric=metric, **changes))


@pytest.mark.parametrize("records", ["training", "test"])
@pytest.mark.parametrize("metric", METRICS)
def test_deviation_and_difference_are_those_of_the_metrics(metric, records):
    audited = subject()
    rows = audited.splits.train if records == "training" else audited.splits.test
    measures = fairness_metrics(audited)
    (measure,) = [measure for measure in measures if (measure.metric, measure.records) == (metric, records)]
    people, labels = (audited.model.predictions[rows], audited.dataset.sensitive[rows]), audited.dataset.labels[rows]
    gaps = [gap(*people, metric=metric, labels=labels) for gap in (unfairness, difference_between_groups)]
    assert [measure.unfairness.value, measure.difference.value] == pytest.approx(gaps)
    assert measure.people == rows.size and measure.difference.value >= measure.unfairness.value
    width = measure.unfairness.high - measure.unfairness.low
    assert width > 0.02 if records == "test" else width == 0.0


def test_a_metric_without_people_is_not_measured():
    audited = subject()
    labels = audited.dataset.labels.copy()
    labels[audited.splits.test] = 1
    audited = replace(audited, dataset=replace(audited.dataset, labels=labels))
    measures = {measure.metric: measure for measure in fairness_metrics(audited) if measure.records == "test"}
    assert math.isnan(measures["predictive_equality"].unfairness.value) and measures["predictive_equality"].rates == ()
    assert metric_table(audited, "test")[-1]["Predictive equality: false-positive rate"] == "not measured"


@pytest.mark.parametrize(
    ("train", "test", "what", "unseen_sign", "means"),
    [
        (0.1, (0.1, 0.1, 0.1), "satisfies", "≤", "The tolerance holds for new people too."),
        (0.1, (0.1, 0.1, 0.11), "satisfies", "≤", "The estimate for new people is within the tolerance, but its CI"),
        (0.1, (0.10004, 0.09, 0.11), "satisfies", ">", "Whether the tolerance holds for new people is unclear"),
        (0.1, (0.12, 0.101, 0.13), "satisfies", ">", "A tolerance you publish should hold for new people too;"),
        (0.11, (0.09, 0.08, 0.1), "violates", "≤", "The constraint does not hold for the people"),
    ],
)
def test_whether_a_tolerance_holds(train, test, what, unseen_sign, means):
    """By the unfairness on the training and on the test set."""
    audited = subject(method="exponentiated_gradient", tolerance=0.1)
    unseen = replace(audited.model.unfairness_test, **dict(zip(("value", "low", "high"), test, strict=True)))
    audited = replace(audited, model=replace(audited.model, unfairness_train=train, unfairness_test=unseen))
    finding = headline(audited)
    assert f"{what} its fairness constraint on the " in finding.point
    assert f"{test[0]:.6g} {unseen_sign} 0.1." in finding.point
    assert finding.so_what.startswith(means) and finding.to_do


@pytest.mark.parametrize("method", ["threshold_optimizer", "unmitigated", "dp_id3"])
def test_a_model_without_a_tolerance(method):
    finding = headline(subject(method=method, tolerance=0.6))
    assert finding.point.startswith("Unfairness is ") and finding.so_what and "Publish no tolerance" in finding.to_do


@pytest.mark.parametrize(
    ("method", "more", "satisfied"), [("given", 0, False), ("given", 0.001, True), ("exponentiated_gradient", 0, True)]
)
def test_a_tolerance_taken_from_given_predictions_is_not_a_constraint_they_satisfy(method, more, satisfied):
    smallest = true_tolerance(0.0, subject(method="given").model.unfairness_train)
    finding = headline(subject(method=method, tolerance=smallest + more))
    assert ("satisfies its fairness constraint" in finding.point) == satisfied
    assert ("is the smallest that holds" in finding.evidence) != satisfied


def test_an_unfairness_equal_to_the_tolerance_but_for_rounding_keeps_to_it():
    people, groups = draw_people(600, np.random.default_rng(4)), np.tile([0, 1], 300).astype(np.uint8)
    predictions = (np.tile(np.repeat(np.arange(100), 2), 3) < np.where(groups, 55, 45)).astype(np.uint8)
    equal = subject_of(replace(people, sensitive=groups), predictions, (200, 200, 200), seed=4)
    assert equal.model.unfairness_train > 0.05  # by 4e-17
    config = replace(equal.config, method="exponentiated_gradient", tolerance=0.05)
    assert "violates" not in headline(replace(equal, config=config)).point


@pytest.mark.parametrize("answer", [0, 1])
def test_a_model_that_gives_everybody_the_same_answer_is_said_to_decide_nothing(answer):
    people = draw_people(sum(SIZES), np.random.default_rng(4))
    constant = subject_of(people, np.full(sum(SIZES), answer, dtype=np.uint8), SIZES, seed=4)
    finding = headline(constant)
    assert f"the same answer ({constant.dataset.roles.label} = {answer})" in finding.point
    assert "fair and private because" in finding.point and constant.model.constant_scores(constant.splits)
    scores = np.linspace(0.0, 1.0, sum(SIZES))
    telling = headline(replace(constant, model=replace(constant.model, scores=scores, has_scores=True)))
    assert "private" not in telling.point and "its scores differ" in telling.so_what
    one_unlike = constant.model.predictions.copy()
    one_unlike[constant.splits.train[0]] = 1 - answer
    assert "same answer" not in headline(replace(constant, model=replace(constant.model, predictions=one_unlike))).point


def unanswered(chance_by_group, *, seed=0):
    """Return a subject whose model leaves people of each group unanswered with these chances."""
    rng = np.random.default_rng(seed)
    people = draw_people(1800, rng)
    predictions = (rng.random(1800) < 0.5).astype(np.uint8)
    subject = subject_of(people, predictions, (600, 600, 600), seed=seed)
    answered = rng.random(1800) >= np.array(chance_by_group)[people.sensitive]
    sides = {"splits": subject.splits.part(answered), "with_unanswered": subject.splits}
    return replace(subject, dataset=replace(subject.dataset, answered=answered), **sides)


def test_absence_of_half_a_group_is_measured_and_by_chance_or_of_nobody_it_is_no_difference():
    subject = unanswered((0.0, 0.5))
    measurement = absence(subject)
    assert measurement.estimate.low > 0.4 and "group 1 beside all others" in measurement.attacked
    assert "names some of them" in absence_finding(subject)[0].point
    low_ends = [absence(unanswered((0.1, 0.1), seed=seed)).estimate.low for seed in range(40)]
    assert sum(low > 0.0 for low in low_ends) <= 3
    nobody = absence(unanswered((0.0, 0.0))).estimate
    assert (nobody.value, nobody.low, nobody.high) == (0.0, 0.0, 0.0)


def test_differences_are_shares_of_the_sides():
    subject = unanswered((0.1, 0.3), seed=4)
    rows = np.concatenate([subject.everyone.train, subject.everyone.test])
    absent, inside = ~subject.dataset.answered[rows], subject.dataset.sensitive[rows] == 1
    difference = absence_differences(subject)["group 1 beside all others"]
    assert difference.value == pytest.approx(absent[inside].mean() - absent[~inside].mean())


PREDICTIONS = [1, 1, 0, 0, 1, 0, 0, 0]
SENSITIVE = [1, 1, 1, 0, 0, 0, 0, 0]
LABELS = [1, 0, 1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("groups", [2, 5])
@pytest.mark.parametrize("kind", [np.uint8, str])
def test_definition_for_all_kinds_of_groups(metric, groups, kind):
    rng = np.random.default_rng(groups)
    predictions, labels = rng.integers(0, 2, (2, 200))
    sensitive = rng.integers(0, groups, 200)
    disclosure = {"predictions": predictions.tolist(), "metric": metric, "labels": labels.tolist()}
    expected = float(reached(disclosure, sensitive.tolist(), groups))
    measured = unfairness(predictions, sensitive.astype(kind), metric=metric, labels=labels)
    assert measured == pytest.approx(expected, abs=1e-15)


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


@pytest.mark.parametrize(
    ("metric", "difference"),
    [
        ("statistical_parity", fairlearn.demographic_parity_difference),
        ("predictive_equality", fairlearn.false_positive_rate_difference),
        ("equal_opportunity", fairlearn.equal_opportunity_difference),
        ("equalized_odds", fairlearn.equalized_odds_difference),
    ],
)
def test_it_is_fairlearns_and_never_below_the_unfairness(metric, difference):
    rng = np.random.default_rng(0)
    for k in (2, 2, 2, 3, 5):
        s, y, p = (rng.integers(0, m, 150).astype(np.uint8) for m in (k, 2, 2))
        ours = difference_between_groups(p, s, metric=metric, labels=y)
        assert ours == pytest.approx(difference(y, p, sensitive_features=s), abs=1e-12)
        assert ours >= unfairness(p, s, metric=metric, labels=y)
        estimate = difference_of_rates(group_rates(p, s, metric=metric, labels=y))
        assert estimate.value == pytest.approx(ours) and 0 <= estimate.low <= ours <= estimate.high <= 1
