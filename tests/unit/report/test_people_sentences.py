"""Sentences about people: their numbers are those of the checks, each beside its baseline."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.auditing.policy import CHECKS, Policy, Status, judge
from core.report import report_document
from core.report.people_sentences import PeopleSentence, people_sentences
from core.report.report import Report
from core.stats.estimates import Estimate
from core.studies.study import Measurement
from tests.policy_samples import done, measurements, policies, policy
from tests.samples_report import GROUPS, absent_group, sample

LEVELS = ("membership_auc", "membership_caught", "attriguard_exposure")
LARGEST_GROUP = max(group.count for group in GROUPS) / sum(group.count for group in GROUPS)


def report_of(limits: Policy, measured: tuple[Measurement, ...], *, groups=GROUPS) -> Report:
    """Return the sample's report with other measurements, judged by a policy."""
    verdict = judge(limits, measured, attribute="sex")
    return report_document(replace(sample(groups), measurements=measured, verdict=verdict))


def numbers(text: str) -> list[int]:
    """Return the whole numbers in a text."""
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)]


def expected_shares(report: Report, measured: Measurement) -> tuple[float, float]:
    """Return what is reached with the release, and without, by the measurement itself."""
    assert measured.estimate is not None
    baseline = CHECKS[measured.check].chance
    if measured.check == "attriguard_exposure":
        baseline = LARGEST_GROUP
    elif measured.control is not None:
        baseline = measured.control.value
    value = measured.estimate.value
    if measured.check not in LEVELS:
        value += baseline
    return min(1.0, max(baseline, value)), baseline


@settings(max_examples=40)
@given(policies(), measurements(), st.floats(0.0, 1.0))
def test_people_sentences_agree_with_the_measurements(
    limits: Policy, measured: tuple[Measurement, ...], control: float
) -> None:
    without = Estimate(value=control, low=control, high=control, n=1000)
    measured = tuple(replace(item, control=without) if "attribute" in item.check else item for item in measured)
    report = report_of(limits, measured)
    by_check = {item.check: item for item in measured}
    verdicts = {row.check: row.verdict for row in report.rows}
    sentences = people_sentences(report)
    assert len(sentences) <= 3 and len({sentence.check for sentence in sentences}) == len(sentences)
    for sentence in sentences:
        assert sentence.verdict == verdicts[sentence.check]
        assert sentence.text.count(sentence.emphasis) == 1
        if math.isnan(sentence.share) or sentence.check in ("unfairness", "four_fifths"):
            continue
        share, baseline = expected_shares(report, by_check[sentence.check])
        assert sentence.share == pytest.approx(share, abs=0.0101)
        assert sentence.baseline == pytest.approx(baseline, abs=0.0051)
        total = 1000 if 1000 in numbers(sentence.text) else 100
        assert {round(total * sentence.share), round(total * sentence.baseline)} <= set(numbers(sentence.text))


def one_sentence(measured: Measurement, *, limit: float) -> PeopleSentence:
    """Return the one sentence about one measurement with a limit."""
    (sentence,) = people_sentences(report_of(policy(**{measured.check: limit}), (measured,)))
    return sentence


@pytest.mark.parametrize("check", [check for check in CHECKS if CHECKS[check].unit not in ("bits", "columns", "nats")])
def test_every_leak_has_a_sentence_of_25_words_in_whole_people(check):
    if check in ("measured_epsilon", "targeted_leakage"):
        return
    sentence = one_sentence(done(check, 0.62, 0.01), limit=0.5)
    assert len(sentence.text.split()) <= 25
    assert not math.isnan(sentence.share)


def test_an_auc_is_times_in_100_beside_random_guessing():
    sentence = one_sentence(done("membership_auc", 0.576, 0.01), limit=0.55)
    assert (sentence.share, sentence.baseline, sentence.emphasis) == (0.58, 0.5, "58 times in 100")
    assert sentence.verdict == Status.FAIL


def test_an_attack_worse_than_chance_adds_nobody():
    sentence = one_sentence(done("membership_auc", 0.44, 0.01), limit=0.55)
    assert sentence.share == sentence.baseline == 0.5


def test_a_failing_gain_below_one_in_100_is_counted_in_1000():
    failing, passing = (one_sentence(done("membership_auc", 0.504, 0.001), limit=limit) for limit in (0.501, 0.6))
    assert numbers(failing.text) == [504, 1000, 500]
    assert numbers(passing.text) == [50, 100, 50]


def test_what_is_only_declared_has_no_sentence():
    assert (
        people_sentences(report_of(policy(answers_excess=0.1), (done("answers_excess", 0.0, basis="declared"),))) == ()
    )


def test_the_worst_required_check_stands_first():
    measured = (done("unfairness", 0.01, 0.001), done("membership_auc", 0.7, 0.01), done("attribute_excess", 0.0, 0.01))
    limits = policy(unfairness=0.05, membership_auc=0.55, attribute_excess=0.02)
    assert people_sentences(report_of(limits, measured))[0].check == "membership_auc"


def test_fairness_counts_the_favourable_outcome_of_the_worst_and_best_group():
    (sentence,) = people_sentences(report_of(policy(four_fifths=0.8), (done("four_fifths", 0.91, 0.01),)))
    rates = sorted(group.test_rate.value for group in GROUPS)
    assert [sentence.share, sentence.baseline] == pytest.approx(rates, abs=0.0051)


def test_fairness_without_two_groups_says_its_value():
    groups = (GROUPS[0], absent_group("north"))
    (sentence,) = people_sentences(
        report_of(policy(unfairness=0.05), (done("unfairness", 0.01, 0.001),), groups=groups)
    )
    assert math.isnan(sentence.share) and sentence.emphasis.endswith(": 0.010")


@pytest.mark.parametrize("metric,rate", [("equal_opportunity", "test_tpr"), ("predictive_equality", "test_fpr")])
def test_fairness_by_a_metric_compares_whom_it_compares(metric, rate):
    report = report_of(policy(unfairness=0.05), (done("unfairness", 0.01, 0.001),))
    report = replace(report, model=replace(report.model, metric=metric))
    (sentence,) = people_sentences(report)
    assert sentence.share == pytest.approx(min(getattr(group, rate).value for group in GROUPS), abs=0.0051)
