"""The study of membership on what a model releases: the planted leak is found, a harmless model is let go."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.errors import InputError
from core.membership import MembershipPlan
from core.membership.checks import JudgedMembers
from core.membership.study import STUDY
from core.studies import STUDIES
from core.subject import OutputsPlan, Subject

PLAN = MembershipPlan(shadows=0)


def studied(subject: Subject) -> JudgedMembers:
    *_, result = STUDY.run(subject, PLAN)
    return result


def test_it_is_on_the_list_and_measures_what_it_declares():
    assert STUDIES["membership"] is STUDY
    result = studied(STUDY.harmless(1))
    assert list(STUDY.checks(result, PLAN)) == [check.name for check in STUDY.declared]
    rows = STUDY.tables(result, PLAN)["Membership attacks"]
    assert [row["people"] for row in rows] == 2 * ["everybody", "group 1", "group 0"]


@pytest.mark.parametrize("seed", range(3))
def test_the_planted_leak_is_found_and_none_in_a_harmless_model(seed: int):
    for subject, leaks in ((STUDY.planted(seed), True), (STUDY.harmless(seed), False)):
        result = studied(subject)
        caught = STUDY.checks(result, PLAN)["membership_caught"].estimate
        assert caught is not None and (caught.low > 0.01) == leaks
        headline, *others = STUDY.findings(result, PLAN)
        assert headline.point.startswith("Membership inference succeeds") == leaks
        assert len(others) == 1 and "at 1% FPR" in others[0].point  # groups of 500 are too small for a gap
        assert all(one.redacted and one.attacker_knows and one.estimate and one.baseline for one in (headline, *others))


def test_labels_alone_have_an_area_and_no_rate():
    subject = STUDY.harmless(1)
    subject.outputs = OutputsPlan(released="labels")
    result = studied(subject)
    assert list(result.guesses) == ["gap", "released"]
    found = STUDY.checks(result, PLAN)
    assert found["membership_auc"].estimate is not None
    assert "the plan releases labels alone" in found["membership_caught"].reason


def test_nobody_knows_the_training_records():
    subject = STUDY.harmless(1)
    subject.dataset = replace(subject.dataset, sets=None)
    with pytest.raises(InputError, match="no column tells which they are"):
        studied(subject)
