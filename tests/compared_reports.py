"""Reports to compare: the judged sample with other numbers, and audits of two versions of a model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pandas as pd

from core.auditing.policy import Policy
from core.report import Report, report_document
from core.stats.estimates import Estimate
from core.studies.study import Measurement
from tests.judged_report import judged_audit
from tests.samples_report import POLICY, sample


def estimate(value: float, half: float, n: int = 4000) -> Estimate:
    """Return a value with a symmetric interval."""
    return Estimate(value=value, low=value - half, high=value + half, n=n)


def report(
    replacements: Mapping[str, Estimate | Measurement | None] | None = None,
    *,
    policy: Policy = POLICY,
    started: str = "2026-11-08T09:00:00Z",
    seed: int = 42,
) -> Report:
    """Return the sample's report; `found` gives checks another estimate, another measurement, or takes them out."""
    audit, changes = sample(), replacements or {}
    retained = [m for m in audit.measurements if changes.get(m.check, m) is not None]
    measurements = tuple(_with(m, changes.get(m.check)) for m in retained)
    config = dataclasses.replace(audit.plan.config, seed=seed)
    audit = dataclasses.replace(
        audit,
        plan=dataclasses.replace(audit.plan, config=config),
        measurements=measurements,
        times={**audit.times, "started": started},
    )
    return report_document(judged_audit(audit, policy=policy))


def with_failed_tests(document: Report) -> Report:
    """Return a report whose self-tests, of which there are some, all failed."""
    assert document.self_tests
    tests = tuple(dataclasses.replace(test, passed=False) for test in document.self_tests)
    return dataclasses.replace(document, self_tests=tests)


def _with(measurement: Measurement, replacement: Estimate | Measurement | None) -> Measurement:
    if isinstance(replacement, Estimate):
        return dataclasses.replace(measurement, estimate=replacement)
    return replacement or measurement


PLAN = """\
schema = 1
title = "Hiring, {version}"
policy = "predictions"
[data]
file = "{version}.csv"
label = "hired"
positive = "yes"
favourable = "yes"
sensitive = "origin"
group = ["north"]
prediction = "said"
confirmed = ["copy:skill"]
[model]
kind = "predictions"
tolerance = 0.1
seed = 3
"""
"""Of an audit of given predictions, which takes seconds."""


def people(version: str, n: int = 1200) -> pd.DataFrame:
    """Return people with the answers of a version of a model: "safe" follows skill, "leaky" nearly always origin."""
    rng = np.random.default_rng(7)
    origin, skill = rng.integers(0, 2, n), rng.normal(size=n)
    safe, leaky = (skill > 0.0).astype(int), np.where(rng.random(n) < 0.95, origin, 1 - origin)
    return pd.DataFrame(
        {
            "skill": skill.round(3),
            "age": rng.integers(20, 60, n),
            "origin": np.where(origin == 1, "south", "north"),
            "hired": np.where(skill + rng.normal(size=n) > 0.0, "yes", "no"),
            "said": np.where((safe if version == "safe" else leaky) == 1, "yes", "no"),
        }
    )
