"""Sentences about people: their numbers are those of the checks, each beside its baseline."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.auditing.policy import CHECKS, Policy, judge
from core.base.caveats import Caveat, CaveatKind
from core.report import Report, people_sentences, report_document
from core.report.people_sentences import PeopleSentence
from core.stats.estimates import Estimate, proportion
from core.studies.study import Measurement
from tests.policy_samples import done, measurements, policies, policy
from tests.samples_report import GROUPS, group, sample

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
def test_people_sentences_agree_with_the_measurements(limits, measured, control):
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


NOT_OF_PEOPLE = {"measured_epsilon", "targeted_leakage"}
NOT_OF_PEOPLE |= {name for name, check in CHECKS.items() if check.unit in ("bits", "columns", "nats")}


@pytest.mark.parametrize("check", sorted(set(CHECKS) - NOT_OF_PEOPLE))
def test_every_leak_has_a_sentence_of_25_words_in_whole_people(check):
    sentence = one_sentence(done(check, 0.62, 0.01), limit=0.5)
    assert len(sentence.text.split()) <= 25
    assert not math.isnan(sentence.share)


def test_a_failing_gain_below_one_in_100_is_counted_in_1000():
    failing, passing = (one_sentence(done("membership_auc", 0.504, 0.001), limit=limit) for limit in (0.501, 0.6))
    assert numbers(failing.text) == [504, 1000, 500]
    assert numbers(passing.text) == [50, 100, 50]


def unanswered_report(absence: float) -> Report:
    """Return a report on 100 women, of whom 77 have an answer, and 100 men, of whom 93 have one."""
    women = replace(group("women", (70, 7, 0, 0), 77, 100), all_rate=proportion(70, 100))
    men = replace(group("men", (81, 12, 0, 0), 93, 100), all_rate=proportion(81, 100))
    measured = (done("four_fifths", 0.96, 0.02), done("absence", absence, 0.01))
    verdict = judge(policy(four_fifths=0.8, absence=0.05), measured, attribute="sex")
    caveat = Caveat(CaveatKind.ANSWERS_ABSENT, "Some have none.", count=30, total=200)
    audit = replace(sample((women, men)), measurements=measured, verdict=replace(verdict, caveats=(caveat,)))
    return report_document(audit)


def test_people_sentences_where_some_have_no_answer():
    absent, fairness = people_sentences(unanswered_report(0.16))
    assert absent.check == "absence" and absent.verdict == "fail"
    assert "with an answer, 87 get" in fairness.text and ("81 and 70" in fairness.text) and "turns" in fairness.text
    assert [sentence.check for sentence in people_sentences(unanswered_report(0.0))][-1] == "four_fifths"
