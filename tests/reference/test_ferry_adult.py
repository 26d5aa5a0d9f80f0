"""Ferry et al. (SaTML 2023) on Adult: the published protocol, seed 42, held to independently measured figures.

The authors' published run of this setting goes from 0.7655 to 0.8300 with exponent 6. An independent re-run with
today's libraries found 0.7588 to 0.8290, exponent 6, tolerance raised to 0.001. Measured here, when the tests were
written: adversary A 0.7629 to 0.8279, A' 0.7540 to 0.8252, exponent 6 for both, tolerance 0.001; strong adversary
0.855 without being told anything; the calibrated forest with the log-odds cost 0.840 before and 0.840 after.
"""

import pytest

from core.studies.correction import correct
from core.studies.correction.disclosure import published_cost
from tests.reference.data import needs_adult

pytestmark = [needs_adult, pytest.mark.long]


def test_records_splits_and_model_are_those_of_the_paper(adult, findings):
    assert adult.n == 45_222
    assert len(adult.feature_names) == 13
    splits = findings.subject.splits
    assert splits.train.size == 15_375
    assert splits.attacker_rows.size == 14_923
    assert splits.test.size == 14_924
    assert findings.model.unfairness_train <= 0.001
    assert 0.80 <= findings.model.accuracy_test.value <= 0.86
    assert findings.model.accuracy_test.low > findings.model.majority_test.high


@pytest.mark.parametrize("adversary", ["features", "predictions"])
def test_published_protocol(findings, adversary):
    disclosure = findings.disclose(0.0, adversary=adversary, as_published=True)
    assert disclosure.used == pytest.approx(0.001)
    assert disclosure.certificate.status == "optimal"
    assert 0.74 <= disclosure.before.value <= 0.79
    assert 0.045 <= disclosure.gain.value <= 0.085
    assert disclosure.after.value == pytest.approx(0.829, abs=0.03)


def test_the_calibrated_forest_gains_nothing_from_the_promise(findings):
    """Calibration alone brings what the correction seems to bring; the independent figure for it is 0.838."""
    disclosure = findings.disclose(0.001, cost="log_odds")
    assert disclosure.before.value == pytest.approx(0.838, abs=0.03)
    assert abs(disclosure.gain.value) < 0.01


def test_both_solvers_agree(findings):
    exact, attacked = findings.disclose(0.001, adversary="features"), findings.attack("features")[0]
    cost = published_cost(attacked.confidence, exact.exponent)
    ilp = correct(attacked.guess, attacked.predictions, tolerance=0.001, cost=cost, solver="ilp")
    assert ilp.certificate.status == "optimal"
    assert exact.certificate.objective == pytest.approx(ilp.certificate.objective, rel=1e-9)
    assert max(exact.certificate.residual, ilp.certificate.residual) <= 1e-9
