"""Membership inference in-process: the page says what a notebook has, attack by attack."""

import math
import re
from dataclasses import replace
from functools import cache

import pytest

from core.base.serialize import fingerprint
from core.models import METHOD_TITLES
from core.stats.estimates import count
from core.studies.correction import audit_key
from core.studies.membership import MembershipSettings, most_caught
from core.studies.membership.curves import accountings, picked_from
from core.studies.membership.findings import guarantee
from core.studies.membership.study import STUDY, MembershipStudy
from core.studies.subject import AuditConfig, subject_of
from pages._membership import membership_analyses
from tests import expected, samples
from tests.app.dashboard import Gate, RecordedJob

pytestmark = pytest.mark.filterwarnings("ignore::core.base.errors.PrivacyLeakWarning")

SHADOWS = 4
SETTINGS = MembershipSettings(shadows=SHADOWS)

_results = {}
_run = MembershipStudy.run


class Coming(Gate):
    """A study whose attacks come only as far as a test allows, each computed once for all tests."""

    def run(self, subject, settings, report=None):
        key = fingerprint(audit_key(subject.config, subject.dataset), subject.splits.train, settings)
        if key not in _results:
            _results[key] = list(_run(STUDY, subject, settings))
        for result in _results[key]:
            yield result
            self.wait()
            if report is not None:
                report(0, SHADOWS)


@pytest.fixture
def gate(monkeypatch):
    """Few repeats of curves, and attacks that come only as far as a test allows."""
    monkeypatch.setattr(membership_analyses, "REPEATS", 1)
    monkeypatch.setattr(membership_analyses, "FEW_REPEATS", 1)
    monkeypatch.setattr(membership_analyses, "EPSILONS", (0.1, math.inf))
    monkeypatch.setattr(membership_analyses, "THETAS", (0.4, 1.0))
    coming = Coming()
    monkeypatch.setattr(MembershipStudy, "run", lambda self, *about, **options: coming.run(*about, **options))
    return coming


@pytest.fixture
def page(start, gate):
    """The page of a model that is trained fast, attacked with few shadow models."""
    return start({"method": METHOD_TITLES["unmitigated"], "member_shadows": str(SHADOWS)})


@cache
def result(**changes):
    *_, last = Coming().run(expected.subject(**{"method": "unmitigated"} | changes), SETTINGS)
    return last


def test_the_private_tree_stands_below_and_its_slider_moves_it(page):
    page.open("membership")
    for epsilon in (1.0, 0.1):
        page.choose(member_epsilon=epsilon)
        tree = result(method="dp_id3", epsilon=epsilon)
        headline, *_ = STUDY.findings(tree, SETTINGS)
        assert headline.point in page.page_text and guarantee(tree) in page.page_text
        page.assert_says(STUDY, result(), SETTINGS)  # which the slider leaves as it is
    jobs = len(RecordedJob.started)
    page.choose(member_epsilon=1.0)
    assert len(RecordedJob.started) == jobs  # nothing is computed twice


@pytest.mark.long
def test_sections(page):
    page.open("membership").choose(further_members="ranges")
    assert "VD by predicted probability" in page.page_text
    page.choose(further_members="picking", member_theta=0.4)
    picked = picked_from(result().subject.config, expected.demo(), group=1, theta=0.4)
    text = f"At θ = 0.4 FairPick deletes {count(picked.deleted.size)} of 4,080 training rows"
    page.until(lambda: text in page.page_text)
    page.choose(further_private="accuracy")
    page.until(lambda: "Attacks use the gap between" in page.page_text)
    page.choose(further_members="others", member_by="roles:origin")
    assert "Smallest gap that a sample of this size finds" in page.page_text
    page.assert_says(STUDY, result(), SETTINGS)  # the rest of the page stands
    page.choose(further_private="accounting", member_epsilon=1.0)
    config = replace(result().subject.config, method="dp_id3", epsilon=1.0)
    naive = accountings(config, expected.demo())[-1].ledger
    assert f"{naive.counts_total:,.4g} on its counts" in page.plain_problem()
    tables = [frame.value for frame in page.test.dataframe]
    (three,) = (table for table in tables if "private" in table)
    assert list(three["private"]) == ["yes", "yes", "no"]
    page.choose(member_epsilon=math.inf)
    assert "Without a privacy budget there is nothing to account for" in page.page_text
    page.choose(attribute="age/ranges")
    assert "largest difference between groups" in page.page_text.lower()


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 2.0])
def test_the_guarantee_is_twice_epsilon_for_a_replaced_person(epsilon):
    subject = subject_of(AuditConfig(method="dp_id3", epsilon=epsilon, depth=4), samples.dataset(600))
    *_, last = STUDY.run(subject, MembershipSettings(shadows=0, attacks=("loss",)))
    guarantee_text = guarantee(last)
    assert "somebody else takes the person's place, which doubles ε" in guarantee_text
    factors = re.findall(r"more than ([\d.,]+) times as", guarantee_text)
    once, twice = (float(number.replace(",", "")) for number in factors)
    assert math.exp(epsilon) <= once < math.exp(epsilon) + 0.11
    assert math.exp(2 * epsilon) <= twice < math.exp(2 * epsilon) + 0.11
    alarms = float(last.verdicts["loss"][last.member == 0].mean())
    (most,) = re.findall(r"a TPR of at most ([\d.]+)%", guarantee_text)
    assert 0 <= float(most) - 100 * most_caught(alarms, epsilon) < 0.1 + 1e-9


def test_attacks_come_one_after_the_other_and_can_be_stopped(page, gate):
    gate.open.clear()
    page.open("membership", settled=False)
    page.until(lambda: bool(page.findings))
    assert "by the loss threshold, the best of 1 attacks" in page.plain_finding
    page.press("cancel_member")
    gate.open.set()
    page.settle()
    assert "RMIA" not in page.plain_finding
    page.click("start_member").assert_says(STUDY, result(), SETTINGS)
