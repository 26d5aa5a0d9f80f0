"""What is said of attribute inference from outputs; that plants are found is the test of the self-test."""

from __future__ import annotations

import pytest

from core.attribute.study import STUDY, AttributeSettings

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
