"""What the tests of the membership page share: audits of core with few shadow models and repeats."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import core.membership
from core.datasets import demo_table
from core.estimates import gap
from core.membership import (
    ATTACKS,
    Attacked,
    DisparityResult,
    MemberGuess,
    MemberPeople,
    MembershipFindings,
    MembershipSettings,
    attacked,
    attacked_audit,
    default_depth,
    guesses,
    judge,
    member_people,
    target_of,
)
from pages.common import membership_sections as sections
from pages.common import membership_study as study
from tests import expected
from tests.app.dashboard import Dashboard
from tests.patience import PATIENT

EPSILONS = (0.1, float("inf"))
SHADOWS = 4


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Few shadow models and repeats, and attacks that come only as far as a test allows."""
    monkeypatch.setattr(study, "MOST_SHADOWS", SHADOWS)
    monkeypatch.setattr(study, "SHADOWS", {})
    monkeypatch.setattr(sections, "REPEATS", 1)
    monkeypatch.setattr(sections, "EPSILONS", EPSILONS)
    monkeypatch.setattr(sections, "THETAS", (0.4, 1.0))
    made = Gate()
    monkeypatch.setattr(core.membership, "guesses", made.guesses)
    return made


class Gate:
    """Attacks that come only as far as a test allows."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.reached = threading.Event()
        self.asked: list[tuple[str, ...]] = []

    def guesses(self, target: Attacked, *, there: Collection[str] = (), report: Any = None) -> Iterator[MemberGuess]:
        """Yield the first attack, the others once the gate is open."""
        self.asked.append(tuple(there))
        for i, guess in enumerate(guesses_once(target), 1):
            if guess.name in there:
                continue
            yield guess
            self.reached.set()
            assert self.open.wait(PATIENT)
            if report is not None:
                report(i, len(ATTACKS))


_guesses: dict[Any, list[MemberGuess]] = {}


def guesses_once(target: Attacked) -> list[MemberGuess]:
    """Return all attacks' guesses, computed once for all tests: they do not depend on the groups."""
    key = (target.settings, target.people.title, target.people.n)
    if key not in _guesses:
        _guesses[key] = list(guesses(target))
    return _guesses[key]


@cache
def people(roles: int = 0) -> MemberPeople:
    """Return the demo's people in the groups of one of its roles."""
    table = demo_table()
    return member_people(table, table.roles[roles])


@cache
def found(roles: int = 0, **changes: Any) -> MembershipFindings:
    """Return the whole audit of the demo, with the page's settings but for these changes."""
    own = people(roles)
    settings = replace(MembershipSettings(max_depth=default_depth(own), shadows=SHADOWS), **changes)
    if settings.target != "audited":
        target = attacked(own, settings, target_of(own, settings))
    else:
        target = attacked_audit(own, settings, config=expected.audit().config, dataset=expected.demo())
    return replace(target.findings, attacks={g.name: judge(target, g) for g in guesses_once(target)})


def result(audit: MembershipFindings, group: str = "", attack: str = "network") -> DisparityResult:
    """Return the gaps of a group, or of the only comparison."""
    measured = audit.attacks[attack].disparities
    assert measured is not None
    return next(one for one in measured.results if one.group == (group or one.group))


def widget(dashboard: Dashboard, key: str) -> Any:
    return dashboard.widget(key)


def choose(dashboard: Dashboard, **controls: object) -> Dashboard:
    return dashboard.choose(**controls)


def told(dashboard: Dashboard) -> str:
    return dashboard.told


def finding(dashboard: Dashboard) -> str:
    return dashboard.plain_finding


def assert_tells(dashboard: Dashboard, audit: MembershipFindings, group: str = "") -> None:
    """Check that finding and grey line are those of core, and that they hold core's numbers."""
    words, attack = finding(dashboard), audit.attacks["network"]
    gaps = result(audit, group)
    for name in ("network", "lira", "rmia"):
        auc = audit.attacks[name].roc.auc
        assert f"AUC {auc.value:.3f} (95% CI {auc.low:.3f} to {auc.high:.3f})." in words, words
    if attack.muted:
        assert "not significantly better than random guessing" in words
        assert f"VD would read {gap(gaps.vd.value)}" in words and "Membership-advantage gap" not in words
        return
    real = gaps.advantage_gap
    assert f": {gap(real.value)} (95% CI {gap(real.low)} to {gap(real.high)})" in words, words
    assert f"of {sum(rate.n for rate in gaps.false_alarms):,} non-members" in words
    assert (real.low > 0 or real.high < 0) == ("reveals more about" in words.split("\n")[0])
