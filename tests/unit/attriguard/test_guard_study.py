"""AttriGuard as a study: what it must find, and what it must not."""

from __future__ import annotations

import numpy as np
import pytest

from core.attriguard import ATTACKER_TITLES, Exposure, GuardPlan
from core.attriguard.study import STUDY
from core.estimates import Estimate

PLAN = GuardPlan(budget=0.5)


def result(leaks: bool) -> Exposure:
    subject = STUDY.planted(3) if leaks else STUDY.harmless(3)
    told: list[tuple[int, int]] = []
    *_, last = STUDY.run(subject, PLAN, lambda done, total: told.append((done, total)))
    assert told == [(done, 7) for done in range(1, 8)] and STUDY.steps(subject, PLAN) == 7
    return last


@pytest.mark.parametrize("leaks", [True, False])
def test_what_features_tell_is_found_despite_the_noise_and_nothing_else(leaks: bool):
    exposure = result(leaks)
    checks = STUDY.checks(exposure, PLAN)
    assert list(checks) == [check.name for check in STUDY.declared]
    found, cost = checks["attriguard_exposure"].estimate, checks["attriguard_cost"].estimate
    assert isinstance(found, Estimate) and isinstance(cost, Estimate)
    assert (found.low > exposure.majority.value) == leaks
    assert found.value == max(point.reported.value for point in exposure.at(0.5)) >= exposure.majority.value
    assert float(leaks) * 0.01 <= cost.value <= 0.5 + 1e-9
    (rows,) = STUDY.tables(exposure, PLAN).values()
    assert [row["attacker"] for row in rows] == 2 * [ATTACKER_TITLES[name] for name in exposure.attackers]
    assert {row["budget"] for row in rows} == {0.0, 0.5}
    headline, changed, needed = STUDY.findings(exposure, PLAN)
    assert headline.baseline == exposure.majority and changed.estimate == exposure.spent(0.5)
    assert f"{exposure.n_entries}." in changed.evidence and needed.evidence


def test_it_is_run_only_where_it_is_planned():
    subject = STUDY.harmless(1)
    assert STUDY.unavailable(subject, GuardPlan()) == "AttriGuard is not planned."
    assert STUDY.steps(subject, GuardPlan()) == 0
    assert not STUDY.unavailable(subject, PLAN)
    assert np.bincount(subject.dataset.sensitive).min() > 100
