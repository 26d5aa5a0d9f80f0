"""How often intervals of the correction hold the truth on Adult: sex and race, tolerance fixed and raised until true.

Exponentiated gradient, seed 42; the 15,375 training people are everybody there is. 400 times, 4,000 of them are drawn
with replacement under a seed fixed beforehand, corrected, and given an interval as an audit does. Two things may be
called the truth: the number of everybody, and the mean number of so many people. They differ where a tolerance is
raised, because on fewer people chance adds to the unfairness. Both are held: measured, by .918 to .988 of redraws.
Taking the changes as given held the mean of 200 redraws .24 to .89 of times.
"""

from functools import cache

import numpy as np
import pytest

from core.datasets import build_dataset
from core.datasets.splits import split
from core.studies.correction import attack_model, disclose
from core.studies.correction.disclosure import gain_of_best
from core.studies.subject import AuditConfig, train_model
from tests.reference.data import needs_adult, table_of
from tests.unit.correction.test_disclosure import some

pytestmark = [pytest.mark.long, needs_adult]

KINDS = ("features", "predictions", "strong", "strong_predictions")
CELLS = {"fixed at 0.005": (0.005, False), "fixed at 0.05": (0.05, False), "raised from 0": (0.0, True)}


@cache
def attackers(attribute):
    """Return what each attacker says of the training people of a fair model."""
    roles = next(candidate for candidate in table_of("adult").roles if candidate.attribute == attribute)
    data = build_dataset(table_of("adult"), roles)
    config = AuditConfig(dataset="adult", roles=roles, method="exponentiated_gradient", tolerance=0.005)
    splits = split(data, train_share=config.train_share, seed=config.seed)
    drawn = train_model(config, data, splits).predictions
    return {kind: attack_model(kind, "held_out", data, splits, drawn, config=config) for kind in KINDS}


def published(attribute, rows, cell):
    """Return what the published attacker reaches on these people."""
    tolerance, raised = CELLS[cell]
    attacked, held_out = attackers(attribute)["features"]
    disclosure = disclose(some(attacked, rows), held_out, tolerance=tolerance, raise_until_true=raised)
    return {"after": disclosure.after, "change": disclosure.gain}


def best(attribute, rows):
    """Return what the promise adds to the best attacker on these people."""
    people = {kind: some(attacked, rows) for kind, (attacked, _) in attackers(attribute).items()}
    disclosures = {
        kind: disclose(people[kind], held_out, tolerance=0.005, raise_until_true=True, draws=0)
        for kind, (_, held_out) in attackers(attribute).items()
    }
    return {"best": gain_of_best(people, disclosures)}


@pytest.mark.parametrize("cell", [*CELLS, "best"])
@pytest.mark.parametrize("attribute", ["sex", "race"])
def test_intervals_hold_the_truth(attribute, cell):
    """And a check whose limit is the mean number of so many people fails at most as often as its level allows."""
    n = attackers(attribute)["features"][0].truth.size

    def measure(rows):
        return best(attribute, rows) if cell == "best" else published(attribute, rows, cell)

    rng = np.random.default_rng(20260)
    runs = [measure(rng.integers(0, n, 4000)) for _ in range(400)]
    for name, everybody in measure(np.arange(n)).items():
        value, low, high = np.array([(run[name].value, run[name].low, run[name].high) for run in runs]).T
        for truth in (everybody.value, value.mean()):
            assert np.mean((low <= truth) & (truth <= high)) >= 0.90
        assert cell != "best" or np.mean(value.mean() < low) <= 0.05
