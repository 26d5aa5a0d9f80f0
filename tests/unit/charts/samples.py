"""Invented findings of membership audits and studies of AttriGuard, to draw."""

from functools import cache
from types import SimpleNamespace

import numpy as np

from core.stats.estimates import Estimate, not_measured
from core.studies.attriguard.result import Guesses
from core.studies.membership import DisparityResult, GapTest
from core.studies.membership.disparity import RangeTable
from core.studies.membership.findings import CurveBand
from core.studies.membership.roc import Roc
from core.studies.membership.tpr_gaps import GapResult
from tests.unit.attriguard.conftest import exposure

REASON = "n/a, needs at least 1,000 non-members, got 137"


def estimate(value, half=0.018, n=4522):
    return Estimate(value=value, low=value - half, high=value + half, n=n)


def gap_test(value):
    return GapTest(p_value=0.0005, p_adjusted=0.001, smallest_detectable=0.026, significant=abs(value) > 0.03)


def compared(values, *, group, reference, half):
    gaps = dict(zip(("vd", "fpr_gap", "advantage_gap"), values, strict=True))
    rates = {"tpr": (estimate(0.95), estimate(0.95 - values[0])), "fpr": (estimate(0.8), estimate(0.8 - values[1]))}
    tests = {name: gap_test(value) for name, value in gaps.items()}
    estimates = {name: estimate(value, half) for name, value in gaps.items()}
    return DisparityResult(group=group, reference=reference, tests=tests, **estimates, **rates)


def low_fpr(value, *, group, reference, reason):
    return GapResult(
        group=group,
        reference=reference,
        fpr=0.01,
        estimate=not_measured() if reason else estimate(value, 0.013),
        rates=(estimate(0.064), estimate(0.064 - value)),
        test=None if reason else gap_test(value),
        reason=reason,
    )


def roc(lift, n=3000, levels=0, seed=1):
    """Return the curve of scores that are higher for members by `lift`, rounded to few levels if asked."""
    rng = np.random.default_rng(seed)
    ins, outs = rng.exponential(1 + lift, n), rng.exponential(1, n)
    if levels:
        ins, outs = (np.round(levels * (1 - np.exp(-side))) / levels for side in (ins, outs))
    cuts = np.unique(np.concatenate([ins, outs]))[::-1]
    fpr = np.concatenate([[0.0], 1 - np.searchsorted(np.sort(outs), cuts) / n])
    tpr = np.concatenate([[0.0], 1 - np.searchsorted(np.sort(ins), cuts) / n])
    return Roc(fpr=fpr, tpr=tpr, auc=estimate(float(np.trapezoid(tpr, fpr)), 0.008), n_members=n, n_outsiders=n)


def ranges(differences, *, group, reference):
    return RangeTable(
        group=group,
        reference=reference,
        group_shares=tuple(0.05 + max(d, 0) for d in differences),
        reference_shares=tuple(0.05 + max(-d, 0) for d in differences),
    )


def result(attack, names, curve, **changes):
    """Return what is drawn of a result whose strongest attack is this one."""
    subject = SimpleNamespace(dataset=SimpleNamespace(group_names=names, n_groups=len(names)))
    return SimpleNamespace(strongest=attack, curves={attack: curve}, subject=subject, **changes)


def bands(epsilons, *, repeats):
    """Return bands over epsilon that rise with it, one for each number of a curve."""
    names = ("accuracy_train", "accuracy_test", "auc", "vd", "fpr_gap", "advantage_gap")
    curve_bands = []
    for i, epsilon in enumerate(epsilons):
        estimates = {name: estimate(0.1 * k + 0.01 * i) for k, name in enumerate(names)}
        curve_bands.append(CurveBand(at=epsilon, variant="epsilon", repeats=max(1, repeats - i), values=estimates))
    return curve_bands


HOSTILE = ("<b>women</b> & others of a very long name", "=men|`x`")
ATTACKERS = ("logistic", "forest", "network", "boosting", "adversarial", "distillation", "region", "dropping")


@cache
def study(values=2, people=200, attackers=ATTACKERS):
    """Return a study of invented guesses; an attacker further down the list is moved less by the noise."""
    rng = np.random.default_rng(1)
    shares = np.sort(rng.dirichlet(np.full(values, 5.0)))[::-1]
    truth = rng.choice(values, people, p=shares)
    predicted = np.where(rng.random(people) < 0.6, truth, rng.choice(values, people, p=shares))
    size = rng.integers(1, 5, (people, values))
    size[np.arange(people), predicted] = 0
    reachable = rng.random((people, values)) < 0.95
    reachable[np.arange(people), predicted] = True
    guesses = []
    for i, name in enumerate(attackers):
        moved = rng.random((people, values)) < 1 - i / len(attackers)
        noisy = np.where(moved & reachable, np.arange(values), predicted[:, None])
        guesses.append(Guesses(attacker=name, clean=predicted, noisy=noisy))
    names = HOSTILE if values == 2 else tuple(f"city {i}" for i in range(values))
    more = {"predicted": predicted, "size": size, "reached": reachable, "target": shares}
    labels = {"values": names, "attribute": "home & <b>city</b>", "unit": "ratings"}
    return exposure(truth, tuple(shares), tuple(guesses), **more, **labels)
