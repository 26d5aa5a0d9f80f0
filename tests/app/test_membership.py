"""Membership inference in-process: whatever the controls say, the page says what core says."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import core.studies.membership
from core.datasets import demo_table
from core.stats.estimates import count
from core.studies.membership import (
    ATTACKS,
    MemberGuess,
    MemberPeople,
    MembershipFindings,
    MembershipSettings,
    TrainedTarget,
    attacked_as,
    default_depth,
    evaluate_attack,
    ledger_of,
    member_people,
    run_attacks,
    target_of,
    train_target,
)
from core.studies.membership.findings import MembershipSummary, findings
from pages._membership import membership_study as study
from tests import expected, samples
from tests.app.dashboard import Dashboard, Gate, RecordedJob

pytestmark = pytest.mark.filterwarnings("ignore::core.base.errors.PrivacyLeakWarning")

EPSILONS = (0.1, float("inf"))
SHADOWS = 4


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Coming:
    """Few shadow models and repeats, and attacks that come only as far as a test allows."""
    monkeypatch.setattr(study, "MOST_SHADOWS", SHADOWS)
    monkeypatch.setattr(study, "SHADOWS", {})
    monkeypatch.setattr(study, "REPEATS", 1)
    monkeypatch.setattr(core.studies.membership, "EPSILONS", EPSILONS)
    monkeypatch.setattr(core.studies.membership, "THETAS", (0.4, 1.0))
    coming = Coming()
    monkeypatch.setattr(core.studies.membership.inference, "run_attacks", coming.guesses)
    return coming


class Coming(Gate):
    """Attacks that come only as far as a test allows."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[tuple[str, ...]] = []

    def guesses(
        self, target: TrainedTarget, *, finished: Collection[str] = (), report: Any = None
    ) -> Iterator[MemberGuess]:
        """Yield the first attack, the others once the gate is open."""
        self.requests.append(tuple(finished))
        for i, guess in enumerate(guesses_once(target), 1):
            if guess.name in finished:
                continue
            yield guess
            self.wait()
            if report is not None:
                report(i, len(ATTACKS))


_guesses: dict[Any, list[MemberGuess]] = {}


def guesses_once(target: TrainedTarget) -> list[MemberGuess]:
    """Return all attacks' guesses, computed once for all tests: they do not depend on the groups."""
    key = (target.settings, target.people.title, target.people.n)
    if key not in _guesses:
        _guesses[key] = list(run_attacks(target))
    return _guesses[key]


@cache
def people(roles: int = 0) -> MemberPeople:
    """Return the demo's people in the groups of one of its roles."""
    table = demo_table()
    return member_people(table, table.roles[roles])


@cache
def audited(roles: int = 0, **changes: Any) -> MembershipFindings:
    """Return the whole audit of the demo, with the page's settings but for these changes."""
    members = people(roles)
    settings = replace(MembershipSettings(max_depth=default_depth(members), shadows=SHADOWS), **changes)
    if settings.target != "audited":
        target = train_target(members, settings, target_of(members, settings))
    else:
        target = attacked_as(members, settings, config=expected.audit().config, dataset=expected.demo())
    return replace(target.findings, attacks={g.name: evaluate_attack(target, g) for g in guesses_once(target)})


def assert_tells(dashboard: Dashboard, audit: MembershipFindings, **chosen: Any) -> None:
    """Check that finding, grey line and promise are those of core."""
    finding, promise = findings(MembershipSummary(audit, replace(audit.settings, **chosen)), sliders=True)
    assert finding.point in dashboard.plain_finding and finding.evidence in dashboard.plain_finding, dashboard.finding
    assert promise.point in dashboard.page_text


def test_the_slider_of_epsilon_moves_the_finding(dashboard: Dashboard, gate: Coming):
    dashboard.open("membership")
    assert audited(epsilon=0.01).attacks["network"].muted
    for epsilon in (0.1, 0.01):
        dashboard.choose(member_epsilon=epsilon)
        assert_tells(dashboard, audited(epsilon=epsilon))
    dashboard.choose(further_members="ranges")
    assert "Greyed out, as VD is" in dashboard.page_text
    jobs = len(RecordedJob.started)
    dashboard.choose(member_epsilon=0.1)
    assert_tells(dashboard, audited(epsilon=0.1))
    assert len(RecordedJob.started) == jobs  # nothing is computed twice


@pytest.mark.parametrize("target", ["decision_tree", "logistic", pytest.param("audited", marks=pytest.mark.long)])
def test_every_target(dashboard: Dashboard, gate: Coming, target: str):
    dashboard.open("membership")
    if target == "audited":
        dashboard.choose(member_theta=0.4)
    dashboard.choose(member_target=target)
    assert dashboard.widget("member_theta").disabled == (target == "audited")  # trained on the audit's own records
    if target == "decision_tree":
        dashboard.choose(member_depth=3)
    assert_tells(dashboard, audited(target=target, max_depth=3 if target == "decision_tree" else 1))
    assert dashboard.widget("member_epsilon").disabled


def test_each_group_of_four(dashboard: Dashboard, gate: Coming):
    dashboard.open("membership")
    dashboard.test.selectbox(key="attribute").set_value("age/ranges")
    dashboard.settle()
    for code in (1, 3):
        dashboard.choose(member_group=code)
        assert_tells(dashboard, audited(2), group=code)


def test_fairpick_deletes_and_voids_the_promise(dashboard: Dashboard, gate: Coming):
    dashboard.open("membership")
    dashboard.choose(member_theta=0.4, further_members="picking")
    audit = audited(theta=0.4)
    assert_tells(dashboard, audit)
    assert audit.fairpick is not None
    rows = sum(audit.fairpick.deleted.values())
    assert f"At θ = 0.4 FairPick deletes {count(rows)} of 6,000 training rows" in dashboard.page_text
    assert not dashboard.test.warning
    dashboard.choose(member_epsilon=5.0)
    assert "does not hold" in dashboard.plain_problem()
    assert "ε = 5 guarantees" not in dashboard.page_text


SECTIONS = {
    "accuracy": "Attacks use the gap between",
    "picking": "At θ = 1 FairPick deletes nobody",
    "accounting": "Without a privacy budget there is nothing to account for",
}


def test_sections_of_the_plain_tree_and_other_groups(dashboard: Dashboard, gate: Coming):
    dashboard.open("membership")
    for section, text in SECTIONS.items():
        dashboard.choose(further_members=section)
        dashboard.until(lambda text=text: text in dashboard.page_text)
        assert not dashboard.test.warning
    dashboard.choose(further_members="others", member_by="roles:origin")
    assert "by origin" in dashboard.page_text
    dashboard.choose(member_and_by="roles:age/ranges")
    assert "by origin and age" in dashboard.page_text
    assert "Smallest gap that a sample of this size finds" in dashboard.page_text
    dashboard.choose(member_and_by="roles:origin")
    assert "two different attributes" in dashboard.plain_problem()
    assert_tells(dashboard, audited())  # the rest of the page stands


def test_accounting_shows_the_ledger_and_the_naive_trees_cost(dashboard: Dashboard, gate: Coming):
    dashboard.open("membership")
    dashboard.choose(member_epsilon=1.0, further_members="accounting")
    naive = ledger_of(people(), audited(epsilon=1.0).settings, "naive")
    problem = dashboard.plain_problem()
    assert "The naive tree is not private" in problem and f"{naive.counts_total:,.4g} on its counts" in problem
    three, ledger = (frame.value for frame in dashboard.test.dataframe[:2])
    assert list(three["private"]) == ["yes", "yes", "no"]
    assert math.isclose(ledger["epsilon"].sum(), 1.0, abs_tol=1e-9)


def test_attacks_come_one_after_the_other_and_can_be_stopped(dashboard: Dashboard, gate: Coming):
    gate.open.clear()
    dashboard.open("membership", settled=False)
    dashboard.until(lambda: bool(dashboard.findings))
    assert "the loss threshold: AUC" in dashboard.plain_finding and "LiRA" not in dashboard.plain_finding
    dashboard.press("cancel_members")
    gate.open.set()
    dashboard.settle()
    assert "LiRA" not in dashboard.plain_finding
    label = dashboard.button("start_members").label
    assert re.fullmatch(rf"Stopped after [1-4] of {len(ATTACKS)} attacks. Go on", label)
    dashboard.choose(further_members="others")  # other work does not lose what is there
    assert "LiRA" not in dashboard.plain_finding
    dashboard.button("start_members").click()
    dashboard.settle()
    assert_tells(dashboard, audited())
    assert "loss" in gate.requests[-1]  # what was there is not attacked again


def test_a_group_too_small_is_answered_in_one_sentence(dashboard: Dashboard, gate: Coming):
    people = samples.frame(800)
    people["origin"] = np.where(people.index < 40, "*Up*", "south")
    people["hired"] = np.where(people.index % 2, "yes", "no")  # which can be learnt by heart alone
    roles = replace(samples.ROLES, group=("*Up*",))
    dashboard.bring("people.csv", people.to_csv(index=False).encode(), roles).open("membership")
    finding_text = dashboard.plain_finding
    assert (
        "the gaps between" in finding_text
        and "*Up*" in finding_text
        and "cannot be measured in this table" in finding_text
    )
    assert "at least 10 members" in finding_text
    dashboard.choose(further_members="others")
    assert not dashboard.test.exception
