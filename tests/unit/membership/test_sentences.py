"""What is said of membership attacks prints the intervals that decide, and names the attacks they were adjusted for."""

from __future__ import annotations

import pytest

from core.learn.examples import example
from core.stats.estimates import Estimate
from core.studies.membership.findings import NO_BETTER, release_findings
from core.studies.study import Measurement, not_run


@pytest.mark.parametrize(("low", "better"), [(0.495, False), (0.504, True)])
def test_a_finding_says_for_how_many_attacks_the_interval_that_decides_was_adjusted(low: float, better: bool):
    auc = Estimate(value=0.53, low=low, high=0.556, n=2000)
    details = {"the loss threshold": 0.51, "quantile regression": 0.53, "boosting on everything released": 0.5}
    measurements = {
        "membership_auc": Measurement(check="membership_auc", estimate=auc, attacked="Who.", details=details),
        **{name: not_run(name, "No.") for name in ("membership_caught", "membership_gap")},
    }
    (finding,) = release_findings(measurements)
    assert (NO_BETTER not in finding.point) == better
    assert f"{low} to 0.556 after adjusting for 3 attacks" in finding.evidence


def test_the_example_of_two_gaps_says_the_interval_of_the_gap_it_answers_by():
    case = example("gaps")
    low, high = case.numbers["advantage_low"], case.numbers["advantage_high"]
    assert low < case.numbers["advantage_gap"] < 0 < high  # so that the answer is about these people alone
    interval_text = "−0.8 to +0.24"
    assert interval_text in case.answer.why and "these 40 people" in case.answer.why
    assert "these 40 people" in case.question
    assert interval_text in case.steps[2].result and interval_text in case.steps[3].computation
