"""What is said of membership attacks prints the intervals that decide, and names the attacks they were adjusted for."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from core.learn.examples import example
from core.models import GIVEN_PREDICTIONS
from core.stats.estimates import Estimate, strongest
from core.studies.membership import MembershipSettings
from core.studies.membership.findings import (
    NO_BETTER,
    MembershipSummary,
    best_auc,
    headline,
    release_findings,
    succeeds,
)
from core.studies.membership.inference import AttackResult, MembershipFindings
from core.studies.study import Measurement, not_run
from tests.unit.charts import membership_samples as samples

ATTACKS = ("loss", "confidence", "network", "quantile", "lira", "rmia")


def attack(name: str, value: float, half: float) -> AttackResult:
    """Return an attack with this AUC and half width."""
    auc = Estimate(value=value, low=value - half, high=value + half, n=2000)
    attack_result = samples.attack(name, disparities=None, muted=auc.low <= 0.5)
    return replace(attack_result, roc=replace(attack_result.roc, auc=auc))


def several(best: float) -> MembershipFindings:
    """Return six attacks, the last of which has the best AUC, each with the same half width."""
    weak = [attack(name, 0.505, 0.023) for name in ATTACKS[:-1]]
    return samples.findings([*weak, attack(ATTACKS[-1], best, 0.023)])


def ends(text: str) -> tuple[float, float]:
    """Return the first interval in a text."""
    low, high = re.findall(r"95% CI ([\d.]+) to ([\d.]+)", text)[0]
    return float(low), float(high)


@pytest.mark.parametrize(("best", "better"), [(0.530, False), (0.580, True)])
def test_the_interval_beside_a_verdict_on_several_attacks_is_the_one_that_decides(best: float, better: bool):
    """The plain interval of .530 is .507 to .553: above it "not significantly better" is true after adjusting alone."""
    findings = several(best)
    finding = headline(MembershipSummary(findings, MembershipSettings()))
    areas = {name: attack_result.roc.auc for name, attack_result in findings.attacks.items()}
    decides = strongest(areas)[1]
    assert succeeds(findings) == better == (NO_BETTER not in finding.point)
    assert ends(finding.evidence) == (round(decides.low, 3), round(decides.high, 3))
    assert (ends(finding.evidence)[0] > 0.5) == better
    assert "after adjusting for 6 attacks" in finding.evidence
    assert finding.estimate == best_auc(findings) and finding.estimate.low == pytest.approx(decides.low)


def test_one_attack_alone_is_not_adjusted():
    findings = samples.findings([attack("rmia", 0.530, 0.023)])
    finding = headline(MembershipSummary(findings, MembershipSettings()))
    assert succeeds(findings) and "adjusting" not in finding.evidence
    assert ends(finding.evidence) == (0.507, 0.553)


def test_a_report_says_for_how_many_attacks_its_interval_was_adjusted():
    auc = Estimate(value=0.53, low=0.495, high=0.556, n=2000)
    details = {"the loss threshold": 0.51, "quantile regression": 0.53, "boosting on everything released": 0.5}
    measurements = {
        "membership_auc": Measurement(check="membership_auc", estimate=auc, attacked="Who.", details=details),
        **{name: not_run(name, "No.") for name in ("membership_caught", "membership_gap")},
    }
    (finding,) = release_findings(measurements)
    assert "0.495 to 0.556 after adjusting for 3 attacks" in finding.evidence


@pytest.mark.parametrize(("target", "mentioned"), [("audited", True), (GIVEN_PREDICTIONS, True), ("dp_id3", False)])
def test_of_a_model_that_a_report_attacks_too_the_page_says_that_another_attack_may_lead(target: str, mentioned: bool):
    findings = several(0.58)
    finding = headline(MembershipSummary(findings, MembershipSettings(target=target)))
    assert ("another one may be the best there" in finding.evidence) == mentioned
    assert f"{findings.n_targets:,} people" in finding.evidence or not mentioned


def test_the_example_of_two_gaps_says_the_interval_of_the_gap_it_answers_by():
    case = example("gaps")
    low, high = case.numbers["advantage_low"], case.numbers["advantage_high"]
    assert low < case.numbers["advantage_gap"] < 0 < high  # so that the answer is about these people alone
    interval_text = "−0.8 to +0.24"
    assert interval_text in case.answer.why and "these 40 people" in case.answer.why
    assert "these 40 people" in case.question
    assert interval_text in case.steps[2].result and interval_text in case.steps[3].computation
