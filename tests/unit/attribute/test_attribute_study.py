"""Attribute inference from outputs as a study: every planted leak is found, and none where there is none."""

from __future__ import annotations

import pytest

from core.attribute.study import STUDY, AttributeInference, AttributeSettings

SETTINGS = AttributeSettings()


def result(seed: int, *, leaks: bool) -> AttributeInference:
    told: list[tuple[int, int]] = []
    subject, _ = STUDY.plants[1].make(seed, leaks)
    (last,) = STUDY.run(subject, SETTINGS, lambda done, total: told.append((done, total)))
    assert told == [(1, 1)]
    return last


@pytest.mark.parametrize("seed", [1, 3])
def test_a_planted_leak_is_found(seed: int):
    found = result(seed, leaks=True)
    checks = STUDY.checks(found, SETTINGS)
    assert list(checks) == [check.name for check in STUDY.declared]
    gains = [checks[name].estimate for name in ("attribute_excess", "attribute_balanced")]
    assert any(gain is not None and gain.low > 0 for gain in gains)
    headline, bits = STUDY.findings(found, SETTINGS)
    assert (
        headline.estimate == checks["attribute_excess"].estimate and bits.estimate == checks["attribute_bits"].estimate
    )
    assert headline.so_what.endswith(f"{found.attribute} better than without the outputs.")
    assert headline.baseline == checks["attribute_excess"].control
    if found.closing:
        assert "clos" in headline.to_do and headline.to_do in checks["attribute_bits"].assumptions


@pytest.mark.parametrize("seed", [1])
def test_where_nothing_leaks_nothing_is_found(seed: int):
    found = result(seed, leaks=False)
    checks = STUDY.checks(found, SETTINGS)
    assert all(check.estimate is not None and check.estimate.low <= 0 for check in checks.values())
    headline = STUDY.findings(found, SETTINGS)[0]
    assert (
        "which is not statistically significant" in headline.point
        and not headline.to_do
        and not headline.so_what
        and not found.closing
    )
