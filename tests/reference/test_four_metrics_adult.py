"""Ferry et al. (SaTML 2023, figures 2 to 4) on Adult: four metrics, A, A′ and the strong adversary.

Exponentiated gradient trained for tolerance 0, the published protocol (tolerance raised in steps of 0.001 until true,
exponent chosen on the test records, learning from all known records); means over seeds 42, 0 and 1. Recorded when the
tests were written, with `fairleak sweep --dataset adult --metrics all --seeds 42,0,1 --tolerances 0`: `MEASURED`.

Independent runs of the first line's A at other seeds: .763 → .823, .766 → .829, .765 → .824. The paper's text has lost
its numbers for the other metrics; its figures show the same order. The strong adversary is this project's own.
Repeated here with seed 42 alone. Bands: accuracies ± .03; the strong adversary's gain lies within ± .01 of nothing.
"""

from __future__ import annotations

import pytest

from core.datasets import AuditDataset
from core.experiments.engine import measured_points
from core.experiments.sweep import SweepPoint, SweepRow, grid, measure, summarise
from core.stats.fairness import METRICS
from core.studies.config import AuditConfig
from tests.reference.data import needs_adult

pytestmark = [needs_adult, pytest.mark.long]

MEASURED = {
    ("statistical_parity", "features"): (0.7644, 0.8271),
    ("statistical_parity", "predictions"): (0.7642, 0.8269),
    ("predictive_equality", "features"): (0.7644, 0.8296),
    ("predictive_equality", "predictions"): (0.7629, 0.8299),
    ("equal_opportunity", "features"): (0.7644, 0.7669),
    ("equal_opportunity", "predictions"): (0.7614, 0.7641),
    ("equalized_odds", "features"): (0.7644, 0.8228),
    ("equalized_odds", "predictions"): (0.7641, 0.8230),
} | {(metric, "strong"): (0.8522, 0.852) for metric in METRICS}


@pytest.fixture(scope="module")
def rows(adult: AuditDataset) -> dict[tuple[str, str], SweepRow]:
    base = AuditConfig(dataset="adult", roles=adult.roles)
    configs = grid(base, tolerances=[0.0], metrics=METRICS, seeds=[42])
    summary = summarise(list(measured_points(configs, adult, measure=measure, result=SweepPoint)))
    return {
        (row.metric, row.adversary): row for row in summary if (row.protocol, row.cost) == ("as_published", "published")
    }


@pytest.mark.parametrize(("metric", "adversary"), MEASURED)
def test_before_and_after(rows: dict[tuple[str, str], SweepRow], metric: str, adversary: str) -> None:
    row, (before, after) = rows[metric, adversary], MEASURED[metric, adversary]
    assert row.after is not None and row.gain is not None and row.seeds == (42,) and row.after.seeds == 1
    assert row.n_true == 1  # raised until true
    assert row.before.value == pytest.approx(before, abs=0.03)
    assert row.after.value == pytest.approx(after, abs=0.03)
    if adversary == "strong":
        assert abs(row.gain.value) < 0.01
    assert row.majority.value == pytest.approx(0.672, abs=0.01)


def test_what_helps_the_papers_attacker(rows: dict[tuple[str, str], SweepRow]) -> None:
    """The promise helps it measurably with every metric but equal opportunity, and never as far as the strong one."""
    for (metric, adversary), row in rows.items():
        if adversary in ("features", "predictions"):
            assert row.gain is not None and row.after is not None
            assert (row.gain.value > 0.045) == (metric != "equal_opportunity")
            assert row.after.value < rows[metric, "strong"].before.value
