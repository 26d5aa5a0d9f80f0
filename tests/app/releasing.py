"""What the tests of the page on releases share: small families, trained once for all tests."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import core.model_card
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.estimates import count, percent
from core.fingerprint import fingerprint
from core.model_card import ReleasedPeople, ReleaseSettings, ReleaseStudy, drawn_again, released_people, study
from core.release_audit.card_plan import some_people
from pages.common import release_card, state
from tests import expected
from tests.app.dashboard import Dashboard

COUNTS = (1, 2, 4, 6)
FIRST = 4
PEOPLE = 200

_SETTINGS = ("method", "metric", "tolerance", "train_share", "seed")
CONFIG = AuditConfig(dataset="demo", roles=expected.demo().roles, **{name: state.default(name) for name in _SETTINGS})
"""The audit that the page opens with."""

_people: dict[str, ReleasedPeople] = {}


@pytest.fixture
def family(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most six models, of which four are trained at first, about 200 people."""
    monkeypatch.setattr(release_card, "COUNTS", COUNTS)
    monkeypatch.setattr(release_card, "_SWEEP", 2)
    monkeypatch.setattr(release_card, "FIRST", FIRST)
    monkeypatch.setattr(release_card, "_FIRST_PEOPLE", PEOPLE)
    monkeypatch.setattr(core.model_card, "released_people", once)


def once(config: AuditConfig, dataset: AuditDataset, **more: Any) -> ReleasedPeople:
    """Return the people like `core.model_card.released_people`, or those that another test has made ready."""
    report: Callable[[int, int], None] = more.pop("report", lambda done, total: None)
    more["audited"] = expected.model().predictions if dataset.n == expected.demo().n else None  # one for all
    key = fingerprint(dataset.fingerprint, config, [(name, more[name]) for name in sorted(more)])
    if key not in _people:
        _people[key] = released_people(config, dataset, report=report, **more)
    report(1, 1)
    return _people[key]


def people(models: str = "mixed", most: int = PEOPLE, *, group: int = 1, models_count: int = FIRST) -> ReleasedPeople:
    """Return the demo's people as the page makes them ready."""
    whole = once(CONFIG, expected.demo(), models=models, count=models_count, group=group)
    return some_people(whole, most, seed=CONFIG.seed)


def card(models: str = "mixed", most: int = PEOPLE, models_count: int = FIRST, **settings: Any) -> ReleaseStudy:
    """Return the card of the demo with the page's settings but for these."""
    told = {"count": FIRST, "decimals": None, "seed": 42} | settings
    whose = people(models, most, models_count=models_count)
    return drawn_again(study(whose, ReleaseSettings(**told)), whose)


def widget(dashboard: Dashboard, key: str) -> Any:
    """Return the control whose key begins like this."""
    test = dashboard.test
    for widgets in (test.selectbox, test.select_slider, test.button_group, test.toggle, test.multiselect):
        for one in widgets:
            if (one.key or "").startswith(key):
                return one
    raise AssertionError(f"no control {key}")


def choose(dashboard: Dashboard, **chosen: object) -> Dashboard:
    """Set controls by the beginning of their key, and look at the page after each."""
    for key, value in chosen.items():
        widget(dashboard, key).set_value(value)
        dashboard.settle()
    return dashboard


def told(dashboard: Dashboard) -> str:
    """Return all text but the explanations, as it is read."""
    words = " ".join([*dashboard.texts, *(caption.value for caption in dashboard.test.caption)])
    return re.sub(r"\\(.)", r"\1", words)


def finding(dashboard: Dashboard) -> str:
    """Return the finding with its grey line, as it is read."""
    return re.sub(r"\\(.)", r"\1", dashboard.finding)


def assert_tells(dashboard: Dashboard, found: ReleaseStudy) -> None:
    """Check finding and grey line against core: bits, who is pinned down, recognition, the control."""
    words, bits = finding(dashboard), found.measured.bits
    for number in (bits.value, bits.low, bits.high, found.prediction.bits.value):
        assert f"{number:.1f}".replace("-", "−") in words, words
    assert f"about {count(found.n)} people" in words
    measured = found.measured
    assert f"{percent(measured.accuracy_before)} before, {percent(measured.accuracy_after)} after" in words
    assert words.endswith(f"is right for {percent(measured.majority)}.")
    assert ("pins nobody down" in words) == (found.most_pinned == 0), words
    if found.draws is not None:
        assert f" {found.draws.count} draws" in words or found.most_pinned == found.pinned.count, words
    whole = told(dashboard)
    assert ("More was gained than chance gives" in whole) == (found.unpredicted > 0), whole
