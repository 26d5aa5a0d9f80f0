"""Invented studies of AttriGuard, to draw."""

from functools import cache

import numpy as np

from core.studies.attriguard.result import Guesses
from tests.unit.attriguard.conftest import exposure

HOSTILE = ("<b>women</b> & others of a very long name", "=men|`x`")
ATTACKERS = ("logistic", "forest", "network", "boosting", "adversarial", "distillation", "region", "dropping")


@cache
def study(values=2, people=200, attackers=ATTACKERS, seed=1):
    """Return a study of invented guesses; an attacker further down the list is moved less by the noise."""
    rng = np.random.default_rng(seed)
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
