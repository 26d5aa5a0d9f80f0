"""What is said of attribute inference from outputs; that plants are found is the test of the self-test."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.attribute.study import STUDY, AttributeSettings, closing_precision, closing_sentence
from core.estimates import Estimate, percent

SETTINGS = AttributeSettings()


@pytest.mark.parametrize("leaks", [True, False])
def test_findings_say_what_the_checks_measured(leaks: bool):
    told: list[tuple[int, int]] = []
    subject, _ = STUDY.plants[1].make(1, leaks)
    (found,) = STUDY.run(subject, SETTINGS, lambda done, total: told.append((done, total)))
    assert told == [(1, 1)]
    checks = STUDY.checks(found, SETTINGS)
    assert list(checks) == [check.name for check in STUDY.declared]
    headline, bits = STUDY.findings(found, SETTINGS)
    assert headline.estimate == checks["attribute_excess"].estimate
    assert headline.baseline == checks["attribute_excess"].control
    assert bits.estimate == checks["attribute_bits"].estimate
    if leaks:
        assert headline.so_what.endswith(f"{found.attribute} better than without the outputs.")
        assert not found.closing or headline.to_do in checks["attribute_bits"].assumptions
    else:
        assert all(check.estimate is not None and check.estimate.low <= 0 for check in checks.values())
        assert "which is not statistically significant" in headline.point
        assert not headline.to_do and not headline.so_what and not found.closing
        worse = Estimate(value=-0.03, low=-0.05, high=-0.01, n=900)
        found = replace(found, gains=dict.fromkeys(found.gains, ("outside", worse)))
        headline, bits = STUDY.findings(found, SETTINGS)
        assert headline.point.startswith(f"What is released adds −3.0 points to inferring the {found.attribute} (")
        assert f"features and label alone: {percent(checks['attribute_excess'].control)})" in headline.point
        assert "−0.030 bits" in bits.point and bits.evidence == "95% CI −0.050 to −0.010 bits." and not headline.so_what


def test_the_first_significant_gain_leads():
    subject, _ = STUDY.plants[1].make(13, True)  # a minority
    (found,) = STUDY.run(subject, SETTINGS)
    headline, _ = STUDY.findings(found, SETTINGS)
    balanced = STUDY.checks(found, SETTINGS)["attribute_balanced"]
    assert found.gains["accuracy"][1].low <= 0 < balanced.estimate.low
    assert (headline.estimate, headline.baseline) == (balanced.estimate, balanced.control)
    assert " points in balanced accuracy to inferring" in headline.point and headline.so_what
    assert headline.evidence.startswith("Balanced accuracy on 900 people is ")
    none = replace(balanced.estimate, value=0.0, low=-0.01, high=0.01)
    found = replace(found, gains={**dict.fromkeys(found.gains, ("outside", none)), "bits": found.gains["bits"]})
    headline, bits = STUDY.findings(found, SETTINGS)
    assert headline.estimate == bits.estimate and " bits a person to inferring" in headline.point
    assert headline.so_what.endswith("of their guesses this was not shown.")


def test_a_coarser_release_is_tried_only_where_the_gains_are_not_small_already():
    subject, _ = STUDY.plants[1].make(1, True)
    (found,) = STUDY.run(subject, AttributeSettings(closed=1.0))
    gains = [found.gains[measure][1] for measure in ("accuracy", "balanced_accuracy")]
    assert min(gain.low for gain in gains) > 0
    most = max(gain.high for gain in gains)
    assert not closing_precision(subject, closed=most) and closing_precision(subject, closed=most - 1e-9)
    assert closing_sentence(found, AttributeSettings(closed=most)).startswith("On average the gains are small, ")
    assert not closing_sentence(found, AttributeSettings(closed=most - 1e-9))
