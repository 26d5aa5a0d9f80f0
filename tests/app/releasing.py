"""What the tests of the page on releases share: small families, trained once for all tests."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import core.model_card
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.fingerprint import fingerprint
from core.model_card import ReleasedPeople, ReleaseSettings, ReleaseStudy, drawn_again, measure_card, released_people
from core.model_card.findings import headline as headline_of
from core.model_card.findings import information_gain
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


def once(config: AuditConfig, dataset: AuditDataset, settings: ReleaseSettings, **more: Any) -> ReleasedPeople:
    """Return the people like `core.model_card.released_people`, or those that another test has made ready."""
    report: Callable[[int, int], None] = more.pop("report", lambda done, total: None)
    more["audited"] = expected.model().predictions if dataset.n == expected.demo().n else None  # one for all
    key = fingerprint(dataset.fingerprint, config, settings, [(name, more[name]) for name in sorted(more)])
    if key not in _people:
        _people[key] = released_people(config, dataset, settings, report=report, **more)
    report(1, 1)
    return _people[key]


def people(family: str = "mixed", most: int = PEOPLE, *, models_count: int = FIRST) -> ReleasedPeople:
    """Return the demo's people as the page makes them ready."""
    whole = once(CONFIG, expected.demo(), ReleaseSettings(family=family, count=models_count))
    return whole.some(most, seed=CONFIG.seed)


def card(family: str = "mixed", most: int = PEOPLE, models_count: int = FIRST, **settings: Any) -> ReleaseStudy:
    """Return the card of the demo with the page's settings but for these."""
    told = {"family": family, "people": most, "count": FIRST, "decimals": None, "seed": 42} | settings
    return drawn_again(measure_card(people(family, most, models_count=models_count), ReleaseSettings(**told)))


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
    """Check that the page says what core found: the headline, and whether chance explains the gain."""
    headline, gain = headline_of(found), information_gain(found)
    assert finding(dashboard).startswith(f"## {headline.point}"), finding(dashboard)
    assert headline.evidence in finding(dashboard) and finding(dashboard).endswith(
        headline.so_what or headline.evidence
    )
    assert gain.evidence in told(dashboard) and gain.so_what in told(dashboard)
