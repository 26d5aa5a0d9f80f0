"""Membership inference in-process: whatever the controls say, the page says what core says."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from core.estimates import count, gap
from core.membership import TARGETS, ledger_of
from tests.app.dashboard import Dashboard, RecordedJob
from tests.app.members import Gate, assert_tells, choose, finding, found, gate, people, result, told, widget

__all__ = ["gate"]

pytestmark = pytest.mark.filterwarnings("ignore::core.errors.PrivacyLeakWarning")


def test_the_slider_of_epsilon_moves_the_finding(dashboard: Dashboard, gate: Gate):
    dashboard.open("membership")
    assert found(epsilon=0.01).attacks["network"].muted
    for epsilon in (0.1, 20.0, 0.01):
        choose(dashboard, member_epsilon=epsilon)
        assert_tells(dashboard, found(epsilon=epsilon))
        assert f"ε = {epsilon:g} guarantees" in told(dashboard)
    assert "at ε = 0.01" in finding(dashboard) and "Greyed out, as VD is" in told(dashboard)
    jobs = len(RecordedJob.started)
    choose(dashboard, member_epsilon=0.1)
    assert_tells(dashboard, found(epsilon=0.1))
    assert len(RecordedJob.started) == jobs  # nothing is computed twice


@pytest.mark.parametrize("target", [name for name in TARGETS if name != "dp_id3"])
def test_every_target(dashboard: Dashboard, gate: Gate, target: str):
    dashboard.open("membership")
    choose(dashboard, member_target=target)
    deep = {"max_depth": 1}
    if target in ("decision_tree", "random_forest"):
        choose(dashboard, member_depth=3)
        deep = {"max_depth": 3}
    assert_tells(dashboard, found(target=target, **deep))
    assert "trained without a privacy budget" in told(dashboard)
    assert widget(dashboard, "member_epsilon").disabled


def test_as_published(dashboard: Dashboard, gate: Gate):
    dashboard.open("membership")
    choose(dashboard, member_published=True, member_epsilon=100.0)
    vd = result(found(epsilon=100.0, accounting="literal")).vd
    words = finding(dashboard)
    assert f"VD alone, as published, reads {gap(vd.value)} (95% CI {gap(vd.low)} to {gap(vd.high)})" in words


def test_each_group_of_four(dashboard: Dashboard, gate: Gate):
    dashboard.open("membership")
    dashboard.test.selectbox(key="attribute").set_value("age/ranges")
    dashboard.settle()
    names = people(2).group_names
    for code in (1, 3):
        choose(dashboard, member_group=code)
        words = finding(dashboard)
        gaps = result(found(2), names[code]).advantage_gap
        assert f"“{names[code]}”" in told(dashboard)
        assert f"{gap(gaps.value)} (95% CI {gap(gaps.low)} to {gap(gaps.high)})" in words


def test_fairpick_deletes_and_voids_the_promise(dashboard: Dashboard, gate: Gate):
    dashboard.open("membership")
    choose(dashboard, member_theta=0.4, further_members="picking")
    audit = found(theta=0.4)
    assert_tells(dashboard, audit)
    assert audit.fairpick is not None
    rows = sum(audit.fairpick.deleted.values())
    assert f"At θ = 0.4 FairPick deletes {count(rows)} of 6,000 training rows" in told(dashboard)
    assert not dashboard.test.warning
    choose(dashboard, member_epsilon=5.0)
    assert "does not hold" in dashboard.plain_problem()
    assert "ε = 5 guarantees" not in told(dashboard)


SECTIONS = {
    "accuracy": "Attacks use the gap between",
    "picking": "At θ = 1 FairPick deletes nobody",
    "accounting": "Without a privacy budget there is nothing to account for",
}


def test_sections_of_the_plain_tree(dashboard: Dashboard, gate: Gate):
    dashboard.open("membership")
    for section, words in SECTIONS.items():
        choose(dashboard, further_members=section)
        dashboard.until(lambda words=words: words in told(dashboard))
        assert not dashboard.test.warning


def test_other_groups_and_pairs(dashboard: Dashboard, gate: Gate):
    dashboard.open("membership")
    choose(dashboard, further_members="others", member_by="roles:origin")
    assert "By origin" in told(dashboard)
    choose(dashboard, member_and_by="roles:age/ranges")
    assert "By origin and age" in told(dashboard)
    assert "Smallest gap that a sample of this size finds" in told(dashboard)
    choose(dashboard, member_and_by="roles:origin")
    assert "two different attributes" in dashboard.plain_problem()
    assert_tells(dashboard, found())  # the rest of the page stands


def test_accounting_shows_the_ledger_and_the_naive_trees_cost(dashboard: Dashboard, gate: Gate):
    dashboard.open("membership")
    choose(dashboard, member_epsilon=1.0, further_members="accounting")
    naive = ledger_of(people(), found(epsilon=1.0).settings, "naive")
    problem = dashboard.plain_problem()
    assert "The naive tree is not private" in problem and f"{naive.counts_total:,.4g} on its counts" in problem
    three, ledger = (frame.value for frame in dashboard.test.dataframe[:2])
    assert list(three["private"]) == ["yes", "yes", "no"]
    assert math.isclose(ledger["epsilon"].sum(), 1.0, abs_tol=1e-9)


def test_attacks_come_one_after_the_other_and_can_be_stopped(dashboard: Dashboard, gate: Gate):
    gate.open.clear()
    dashboard.open("membership", settled=False)
    dashboard.until(lambda: bool(dashboard.findings))
    assert "the loss threshold: AUC" in finding(dashboard) and "LiRA" not in finding(dashboard)
    dashboard.press("cancel_members")
    gate.open.set()
    dashboard.settle()
    assert "LiRA" not in finding(dashboard)
    assert re.fullmatch(r"Stopped after [1-3] of 5 attacks. Go on", dashboard.button("start_members").label)
    choose(dashboard, further_members="others")  # other work does not lose what is there
    assert "LiRA" not in finding(dashboard)
    dashboard.button("start_members").click()
    dashboard.settle()
    assert_tells(dashboard, found())
    assert "loss" in gate.asked[-1]  # what was there is not attacked again


def own_table(rare: int) -> bytes:
    """Return a table of one's own, with so many people of the first group."""
    rng = np.random.default_rng(5)
    rows = ["town,job,years,hired"]
    for k in range(800):
        town = "*Up*" if k < rare else "<b>Down</b>"
        years = int(rng.integers(0, 40))
        hired = "yes" if rng.random() < 0.3 + years / 80 else "no"
        rows.append(f"{town},{'abcdefgh'[rng.integers(8)]},{years},{hired}")
    return "\n".join(rows).encode()


def bring(dashboard: Dashboard, rare: int) -> None:
    """Upload the table and say what its columns are."""
    from core.datasets.roles import Roles

    roles = Roles(label="hired", positive="yes", sensitive="town", group=("*Up*",))
    dashboard.bring("towns.csv", own_table(rare), roles)


def test_a_group_too_small_is_answered_in_one_sentence(dashboard: Dashboard, gate: Gate):
    bring(dashboard, 40)
    dashboard.open("membership")
    words = finding(dashboard)
    assert "the gaps between" in words and "*Up*" in words and "cannot be measured in this table" in words
    assert "at least 10 members" in words
    choose(dashboard, further_members="others")
    assert not dashboard.test.exception
