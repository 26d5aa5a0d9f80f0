"""How often intervals of the correction hold the truth on Adult: sex and race, tolerance fixed and raised until true.

Exponentiated gradient, seed 42; the 15,375 training people are everybody there is. 400 times, 4,000 of them are drawn
with replacement under a seed fixed beforehand, corrected, and given an interval as an audit does. Attackers, model and
the records the exponent is chosen on stay as they are; the exponent is chosen anew. Two things may be called the truth:
the number of everybody, and the mean number of so many people. They differ where a tolerance is raised, because on
fewer people chance adds to the unfairness and what is true of them is looser. Both are held.

Measured when these tests were written, share of 400 redraws in which everybody's number / the mean is held (with 64
blocks a cell, in `core.studies.correction.bootstrap`):

| cell            | sex, after  | sex, change | race, after | race, change |
|-----------------|-------------|-------------|-------------|--------------|
| fixed at 0.005  | .965 / .963 | .930 / .930 | .948 / .945 | .945 / .940  |
| fixed at 0.05   | .953 / .950 | .935 / .930 | .955 / .955 | .948 / .948  |
| raised from 0   | .978 / .983 | .960 / .968 | .975 / .988 | .965 / .985  |
| best of four    |             | .923 / .933 |             | .918 / .953  |

The interval of the best of four attackers lies wholly above the mean in .018 (sex) and .028 (race) of redraws, where
half of what its level leaves is .025. It lies above everybody's number in .053 and .073: the tolerance is raised until
it is true, which makes it looser for fewer people. An audit estimates the number of as many people as it attacks, so
its check is held to the mean.

Taking the changes as given held the mean of 200 redraws of sex .88, .89 (0.005), .83, .24 (0.05) and .88, .86 (raised).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from core.adversaries.adversary import AttackedRecords
from core.datasets import build_dataset, load
from core.datasets.splits import split
from core.stats.estimates import Estimate
from core.studies.correction import attack_model, disclose
from core.studies.correction.attribute_attacks import AdversaryResult
from core.studies.correction.disclosure import gain_of_best
from core.studies.subject import AuditConfig, train_model
from tests.reference.data import FOLDER, needs_adult

pytestmark = [pytest.mark.long, needs_adult]

REDRAWS, PEOPLE, SEED = 400, 4000, 20260
KINDS = ("features", "predictions", "strong", "strong_predictions")
CELLS: dict[str, tuple[float, bool]] = {
    "fixed at 0.005": (0.005, False),
    "fixed at 0.05": (0.05, False),
    "raised from 0": (0.0, True),
}


@dataclass(frozen=True)
class Cover:
    """The number of everybody, its mean over redraws, how often either is held, and lies below the interval."""

    everybody: float
    mean: float
    held: tuple[float, float]
    below: tuple[float, float]


@cache
def attackers(attribute: str) -> dict[str, AdversaryResult]:
    """Return what each attacker says of the training people of a fair model."""
    table = load("adult", data_folder=FOLDER)
    roles = next(candidate for candidate in table.roles if candidate.attribute == attribute)
    data = build_dataset(table, roles)
    config = AuditConfig(dataset="adult", roles=roles, method="exponentiated_gradient", tolerance=0.005)
    splits = split(data, train_share=config.train_share, seed=config.seed)
    drawn = train_model(config, data, splits).predictions
    return {kind: attack_model(kind, "held_out", data, splits, drawn, config=config) for kind in KINDS}


def some(records: AttackedRecords, rows: np.ndarray) -> AttackedRecords:
    """Return some of the records."""
    names: Any = ("probability", "calibrated", "predictions", "labels", "truth")
    return replace(records, **{name: getattr(records, name)[rows] for name in names})


def published(attribute: str, rows: np.ndarray, cell: str) -> dict[str, Estimate]:
    """Return what the published attacker reaches on these people."""
    tolerance, raised = CELLS[cell]
    attacker = attackers(attribute)["features"]
    disclosure = disclose(
        some(attacker.attacked, rows), attacker.held_out, tolerance=tolerance, raise_until_true=raised
    )
    assert disclosure.after is not None and disclosure.gain is not None
    return {"after": disclosure.after, "change": disclosure.gain}


def best(attribute: str, rows: np.ndarray, tolerance: float = 0.005) -> dict[str, Estimate]:
    """Return what the promise adds to the best attacker on these people."""
    people = {kind: some(attacker.attacked, rows) for kind, attacker in attackers(attribute).items()}
    disclosures = {
        kind: disclose(people[kind], attacker.held_out, tolerance=tolerance, raise_until_true=True, draws=0)
        for kind, attacker in attackers(attribute).items()
    }
    return {"best": gain_of_best(people, disclosures)}


def cover(attribute: str, cell: str, redraws: int = REDRAWS) -> dict[str, Cover]:
    """Return how often the intervals of one cell hold the truth."""
    n = attackers(attribute)["features"].attacked.truth.size

    def measure(rows: np.ndarray) -> dict[str, Estimate]:
        return best(attribute, rows) if cell == "best" else published(attribute, rows, cell)

    everybody = measure(np.arange(n))
    rng = np.random.default_rng(SEED)
    runs = [measure(rng.integers(0, n, PEOPLE)) for _ in range(redraws)]
    covers = {}
    for name, estimate in everybody.items():
        value, low, high = np.array([(run[name].value, run[name].low, run[name].high) for run in runs]).T
        truths = (estimate.value, float(value.mean()))
        covers[name] = Cover(
            everybody=truths[0],
            mean=truths[1],
            held=tuple(float(np.mean((low <= true) & (true <= high))) for true in truths),  # type: ignore[arg-type]
            below=tuple(float(np.mean(true < low)) for true in truths),  # type: ignore[arg-type]
        )
    return covers


@pytest.mark.parametrize("cell", [*CELLS, "best"])
@pytest.mark.parametrize("attribute", ["sex", "race"])
def test_intervals_hold_the_truth(attribute: str, cell: str) -> None:
    """And a check whose limit is the mean number of so many people fails at most as often as its level allows."""
    for coverage in cover(attribute, cell).values():
        assert min(coverage.held) >= 0.90
        assert coverage.below[1] <= 0.05 or cell != "best"
