"""Candidates whose true accuracy and leaks are known, measured by chance as attacks would measure them."""

from dataclasses import replace

import numpy as np

from core.experiments.choose import CandidatePoint
from core.experiments.choose.candidates import Half
from core.stats.estimates import certain, paired_gain, proportion
from core.studies.subject import AuditConfig
from tests.policy_samples import done, policy

N = 2_000
"""Test records of a half."""

MAJORITY = 0.6
"""Accuracy of one answer for everybody."""

ERRORS = {"attribute_excess": 0.004, "membership_auc": 0.009, "unfairness": 0.004}
"""Check -> standard error on one half."""

CHANCE = {"attribute_excess": 0.0, "membership_auc": 0.5, "unfairness": 0.0}
SAFE = {"attribute_excess": 0.0, "membership_auc": 0.505, "unfairness": 0.02}
POLICY = policy(attribute_excess=0.02, membership_auc=0.55, unfairness=0.05)


def half(accuracy, truth, rng):
    right = rng.random(N) < accuracy
    majority = np.arange(N) < MAJORITY * N
    checks = {}
    for name, value in truth.items():
        drawn = value + ERRORS[name] * rng.standard_normal()
        checks[name] = done(name, drawn, 1.96 * ERRORS[name], control=certain(CHANCE[name], N))
    return Half(
        accuracy=proportion(int(right.sum()), N),
        majority=proportion(int(majority.sum()), N),
        gain=paired_gain(int((right & ~majority).sum()), int((majority & ~right).sum()), N),
        right=np.packbits(right).tobytes().hex(),
        checks=checks,
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
