"""Candidates whose true accuracy and leaks are known, measured by chance as attacks would measure them."""

from dataclasses import replace

import numpy as np

from core.auditing.policy import Limit, Policy
from core.experiments.choose import CandidatePoint
from core.experiments.choose.candidates import Half
from core.stats.estimates import Estimate, certain, paired_gain, proportion
from core.studies.study import Measurement
from core.studies.subject import AuditConfig

N = 2_000
"""Test records of a half."""

MAJORITY = 0.6
"""Accuracy of one answer for everybody."""

ERRORS = {"attribute_excess": 0.004, "membership_auc": 0.009, "unfairness": 0.004}
"""Check -> standard error on one half."""

LIMITS = {"attribute_excess": 0.02, "membership_auc": 0.55, "unfairness": 0.05}
CHANCE = {"attribute_excess": 0.0, "membership_auc": 0.5, "unfairness": 0.0}
SAFE = {"attribute_excess": 0.0, "membership_auc": 0.505, "unfairness": 0.02}
_SET = tuple(Limit(check=name, value=value) for name, value in LIMITS.items())
POLICY = Policy(name="test", version="1", limits=_SET)


def estimate(value, error, rng, n=N):
    drawn = value + error * rng.standard_normal()
    return Estimate(value=drawn, low=drawn - 1.96 * error, high=drawn + 1.96 * error, n=n)


def measurement(name, value, rng):
    control = certain(CHANCE[name], N)
    return Measurement(check=name, estimate=estimate(value, ERRORS[name], rng), control=control)


def half(accuracy, truth, rng, *, n=N):
    right = rng.random(n) < accuracy
    majority = np.arange(n) < MAJORITY * n
    return Half(
        accuracy=proportion(int(right.sum()), n),
        majority=proportion(int(majority.sum()), n),
        gain=paired_gain(int((right & ~majority).sum()), int((majority & ~right).sum()), n),
        right=np.packbits(right).tobytes().hex(),
        checks={name: measurement(name, value, rng) for name, value in truth.items()},
    )


def point(number, accuracy, truth, rng, *, seed=1, **changes):
    """Return a candidate, told apart from others by its tolerance."""
    return CandidatePoint(
        config=replace(AuditConfig(), seed=seed, **{"tolerance": number / 1000, **changes}),
        name="",
        choosing=half(accuracy, truth, rng),
        judging=half(accuracy, truth, rng),
        majority=proportion(int(MAJORITY * 2 * N), 2 * N),
    )
