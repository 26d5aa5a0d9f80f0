"""More disclosed than a bound: what holds between the corrections, whatever the people."""

from __future__ import annotations

import numpy as np
import pytest

from core.config import AuditConfig
from core.correction import CorrectionResult, MoreDisclosed, correct, disclose_more, run
from core.correction.knowledge import KNOWLEDGE
from core.fairness import METRICS, unfairness
from tests.samples import ROLES, dataset


@pytest.fixture(scope="module", params=METRICS)
def findings(request: pytest.FixtureRequest) -> CorrectionResult:
    config = AuditConfig(dataset="sample", roles=ROLES, metric=request.param, tolerance=0.02, seed=3)
    return run(config, dataset=dataset(1500, seed=5))


def test_knowing_more_never_makes_the_correction_cheaper(findings: CorrectionResult) -> None:
    found: dict[str, MoreDisclosed] = {more.known: more for more in findings.disclose_more(0.02)}
    assert tuple(found) == KNOWLEDGE
    objective = {}
    for known, more in found.items():
        assert more.certificate.status == "optimal" and more.certificate.residual == 0
        assert more.after is not None and more.gain is not None
        assert more.gain.value == pytest.approx(more.after.value - more.before.value)
        assert more.certificate.objective is not None
        objective[known] = more.certificate.objective
    assert objective["bound"] <= objective["bound_shares"] * (1 + 1e-9) + 1e-12
    assert objective["exact"] <= objective["exact_shares"] * (1 + 1e-9) + 1e-12
    attacked = findings.attacks["features", "held_out"].attacked
    truth = unfairness(attacked.predictions, attacked.truth, metric=findings.config.metric, labels=attacked.labels)
    if truth <= 0.02:  # the bound is true, so that the exact value is one of those it allows
        assert objective["bound"] <= objective["exact"] * (1 + 1e-9) + 1e-12


def test_the_bound_alone_is_the_disclosure(findings: CorrectionResult) -> None:
    (bound, *_), told = findings.disclose_more(0.02, cost="count"), findings.disclose(0.02, cost="count")
    assert bound.after is not None and told.after is not None and bound.gain is not None and told.gain is not None
    assert (bound.after.value, bound.gain.value) == (told.after.value, told.gain.value)
    assert bound.n_changed == told.n_changed


def test_three_groups() -> None:
    people = dataset(1500, seed=5)
    attacked = run(AuditConfig(dataset="sample", roles=ROLES, seed=3), dataset=people).attacks["features", "held_out"]
    rng = np.random.default_rng(0)

    def three(records):  # type: ignore[no-untyped-def]
        from dataclasses import replace

        probability = rng.dirichlet((2, 2, 1), records.truth.size)
        truth = rng.integers(0, 3, records.truth.size).astype(np.uint8)
        return replace(records, probability=probability, calibrated=probability, truth=truth)

    found = disclose_more(three(attacked.attacked), three(attacked.held_out), tolerance=0.02, cost="count")
    assert all(more.certificate.status == "optimal" for more in found)


def test_many_equal_costs_do_not_end_the_proof() -> None:
    """An instance on which HiGHS fails in its presolve: the answer must still be the proved optimum."""
    rng = np.random.default_rng(178)
    guess = rng.choice(5, 15_375, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    predictions = (rng.random(guess.size) < 0.25 - 0.03 * guess).astype(int)
    exact, program = (
        correct(guess, predictions, tolerance=0.001, n_groups=5, solver=solver) for solver in ("exact", "ilp")
    )
    assert exact.certificate.status == program.certificate.status == "optimal"
    assert exact.objective == program.objective
