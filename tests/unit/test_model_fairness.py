"""All four fairness metrics of a model, by group, against counts by hand; what absent answers say of groups."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.stats.fairness import METRIC_TITLES, METRICS, difference_between_groups, unfairness
from core.studies.correction import true_tolerance
from core.studies.fairness import STUDY, metric_table, metrics_heading
from core.studies.fairness.findings import fairness_metrics, headline
from core.studies.fairness.study import absence, absence_differences, absence_finding
from core.studies.study import draw_people, subject_of
from core.studies.subject import Subject

SIZES = (300, 100, 260)


def subject(metric: str = "statistical_parity", **changes: object) -> Subject:
    """Return a model that accepts one group more often, on people drawn with a seed."""
    rng = np.random.default_rng(4)
    people = draw_people(sum(SIZES), rng)
    answers = (rng.random(sum(SIZES)) < 0.4 + 0.2 * people.sensitive).astype(np.uint8)
    base_subject = subject_of(people, answers, SIZES, seed=4)
    return replace(base_subject, config=replace(base_subject.config, metric=metric, **changes))


def gaps_of(audited: Subject, metric: str, rows: np.ndarray) -> tuple[float, float]:
    """Return the largest deviation from the overall rate, and the largest difference between groups."""
    predictions, group, label = (
        array[rows] for array in (audited.model.predictions, audited.dataset.sensitive, audited.dataset.labels)
    )
    groups = {"metric": metric, "labels": label}
    return unfairness(predictions, group, **groups), difference_between_groups(predictions, group, **groups)


@pytest.mark.parametrize("records", ["training", "test"])
@pytest.mark.parametrize("metric", METRICS)
def test_deviation_and_difference_are_those_of_the_metrics(metric, records):
    audited = subject()
    rows = audited.splits.train if records == "training" else audited.splits.test
    (measure,) = [
        measure for measure in fairness_metrics(audited) if (measure.metric, measure.records) == (metric, records)
    ]
    assert (measure.unfairness.value, measure.difference.value) == pytest.approx(gaps_of(audited, metric, rows))
    assert measure.people == rows.size and measure.difference.value >= measure.unfairness.value
    width = measure.unfairness.high - measure.unfairness.low
    assert width > 0.02 if records == "test" else width == 0.0


def test_words_hold_the_numbers_of_the_table():
    audited = subject()
    for splits in (audited.splits, replace(audited.splits, train=audited.splits.test, test=audited.splits.train)):
        turned = replace(audited, splits=splits)  # one of the two sets is treated less equally
        gaps = {metric: gaps_of(turned, metric, splits.test)[0] for metric in METRICS}
        largest = max(gaps, key=gaps.get)
        sentence = f"Unfairness on the test set is largest by {METRIC_TITLES[largest].lower()}: {gaps[largest]:.3f} ("
        assert metrics_heading(turned, "test set").startswith(sentence)
    difference = metric_table(audited, "training")[-1]["Equalized odds: larger of both"]
    assert difference == f"{gaps_of(audited, METRICS[3], audited.splits.train)[1]:.3f}"


def test_a_metric_without_people_is_not_measured():
    audited = subject()
    labels = audited.dataset.labels.copy()
    labels[audited.splits.test] = 1
    audited = replace(audited, dataset=replace(audited.dataset, labels=labels))
    measures = {measure.metric: measure for measure in fairness_metrics(audited) if measure.records == "test"}
    assert math.isnan(measures["predictive_equality"].unfairness.value) and measures["predictive_equality"].rates == ()
    assert metric_table(audited, "test")[-1]["Predictive equality: false-positive rate"] == "not measured"


HOLDS = [
    (0.1, (0.1, 0.1, 0.1), "satisfies", "≤", "The tolerance holds for new people too."),
    (0.1, (0.1, 0.1, 0.11), "satisfies", "≤", "The estimate for new people is within the tolerance, but its CI"),
    (0.1, (0.10004, 0.09, 0.11), "satisfies", ">", "Whether the tolerance holds for new people is unclear"),
    (0.1, (0.12, 0.101, 0.13), "satisfies", ">", "A tolerance you publish should hold for new people too;"),
    (0.11, (0.09, 0.08, 0.1), "violates", "≤", "The constraint does not hold for the people"),
]
"""Unfairness on the training and on the test set, at a tolerance of 0.1, and what is said."""


@pytest.mark.parametrize("method", ["given", "exponentiated_gradient"])
@pytest.mark.parametrize(("train", "test", "what", "unseen_sign", "means"), HOLDS)
def test_whether_a_tolerance_holds(method, train, test, what, unseen_sign, means):
    audited = subject(method=method, tolerance=0.1)
    unseen = replace(audited.model.unfairness_test, **dict(zip(("value", "low", "high"), test, strict=True)))
    audited = replace(audited, model=replace(audited.model, unfairness_train=train, unfairness_test=unseen))
    finding = headline(audited)
    smallest = method == "given" and train == 0.1  # the tolerance is what holds, and not asked for
    assert (f"{what} its fairness constraint on the " in finding.point) != smallest
    assert smallest or f"{test[0]:.6g} {unseen_sign} 0.1." in finding.point
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
    scores = np.random.default_rng(4).random(sum(SIZES))
    telling = headline(replace(constant, model=replace(constant.model, scores=scores, has_scores=True)))
    assert "private" not in telling.point and "its scores differ" in telling.so_what
    one_unlike = constant.model.predictions.copy()
    one_unlike[constant.splits.train[0]] = 1 - answer
    assert "same answer" not in headline(replace(constant, model=replace(constant.model, predictions=one_unlike))).point


@pytest.mark.parametrize(("planted", "rates"), [(True, (0.3, 0.7)), (False, (0.5, 0.5))])
def test_accepting_by_chance_or_one_group_much_more_often(planted, rates):
    audited, _ = STUDY.plants[0].make(3, planted)
    for group, rate in enumerate(rates):
        members = audited.dataset.sensitive == group
        deviation = math.sqrt(rate * (1 - rate) / np.count_nonzero(members))
        assert audited.model.predictions[members].mean() == pytest.approx(rate, abs=4 * deviation)


ANSWERED = (600, 600, 600)


def unanswered(chance_by_group: tuple[float, float], *, seed: int = 0) -> Subject:
    """Return a subject whose model leaves people of each group unanswered with these chances."""
    rng = np.random.default_rng(seed)
    people = draw_people(sum(ANSWERED), rng)
    predictions = (rng.random(sum(ANSWERED)) < 0.5).astype(np.uint8)
    subject = subject_of(people, predictions, ANSWERED, seed=seed)
    answered = rng.random(sum(ANSWERED)) >= np.array(chance_by_group)[people.sensitive]
    sides = {"splits": subject.splits.part(answered), "with_unanswered": subject.splits}
    return replace(subject, dataset=replace(subject.dataset, answered=answered), **sides)


def test_absence_is_exactly_zero_where_everybody_has_an_answer():
    estimate = absence(unanswered((0.0, 0.0))).estimate
    assert (estimate.value, estimate.low, estimate.high) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_half_of_a_group_without_an_answer_fails_a_limit_of_five_points(seed):
    subject = unanswered((0.0, 0.5), seed=seed)
    measurement = absence(subject)
    assert measurement.estimate.low > 0.4
    assert "group 1 beside all others" in measurement.attacked
    assert "names some of them" in absence_finding(subject)[0].point


def test_absence_by_chance_is_no_difference():
    low_ends = [absence(unanswered((0.1, 0.1), seed=seed)).estimate.low for seed in range(40)]
    assert sum(low > 0.0 for low in low_ends) <= 3


def test_differences_are_shares_of_the_sides():
    subject = unanswered((0.1, 0.3), seed=4)
    rows = np.concatenate([subject.everyone.train, subject.everyone.test])
    absent = ~subject.dataset.answered[rows]
    inside = subject.dataset.sensitive[rows] == 1
    difference = absence_differences(subject)["group 1 beside all others"]
    assert difference.value == pytest.approx(absent[inside].mean() - absent[~inside].mean())
