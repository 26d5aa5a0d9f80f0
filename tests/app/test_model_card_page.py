"""Model card page in-process: whatever the controls say, the page says what core says.

Small families, trained once for all tests.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import core.studies.model_card
from core.auditing.card_plan import read_release, release_text, study_of
from core.base.fingerprint import fingerprint
from core.datasets import demo_table
from core.datasets.dataset import AuditDataset
from core.datasets.roles import Roles
from core.studies.config import AuditConfig
from core.studies.model_card import (
    ModelCardResult,
    ModelCardSettings,
    ReleasedPeople,
    drawn_again,
    findings,
    measure_card,
    released_people,
)
from pages._model_card import card_controls
from pages._model_card.card_controls import Card
from pages.shell import cached, state
from tests import expected
from tests.app.dashboard import Dashboard
from tests.unit.datasets.bad_tables import assert_one_sentence

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
    monkeypatch.setattr(card_controls, "COUNTS", COUNTS)
    monkeypatch.setattr(card_controls, "_SWEEP", 2)
    monkeypatch.setattr(card_controls, "FIRST", FIRST)
    monkeypatch.setattr(card_controls, "_FIRST_PEOPLE", PEOPLE)
    monkeypatch.setattr(core.studies.model_card, "released_people", once)


def once(config: AuditConfig, dataset: AuditDataset, settings: ModelCardSettings, **more: Any) -> ReleasedPeople:
    """Return the people like `core.studies.model_card.released_people`, or those that another test has made ready."""
    report: Callable[[int, int], None] = more.pop("report", lambda done, total: None)
    more["audited"] = expected.model().predictions if dataset.n == expected.demo().n else None  # one for all
    key = fingerprint(dataset.fingerprint, config, settings, [(name, more[name]) for name in sorted(more)])
    if key not in _people:
        _people[key] = released_people(config, dataset, settings, report=report, **more)
    report(1, 1)
    return _people[key]


def people(family: str = "mixed", most: int = PEOPLE, *, models_count: int = FIRST) -> ReleasedPeople:
    """Return the demo's people as the page makes them ready."""
    everybody = once(CONFIG, expected.demo(), ModelCardSettings(family=family, count=models_count))
    return everybody.some(most, seed=CONFIG.seed)


def card(family: str = "mixed", most: int = PEOPLE, models_count: int = FIRST, **settings: Any) -> ModelCardResult:
    """Return the card of the demo with the page's settings but for these."""
    options = {"family": family, "people": most, "count": FIRST, "decimals": None, "seed": 42} | settings
    return drawn_again(measure_card(people(family, most, models_count=models_count), ModelCardSettings(**options)))


def assert_tells(dashboard: Dashboard, study: ModelCardResult) -> None:
    """Check that the page says what core found: the headline, and whether chance explains the gain."""
    headline, gain = findings.headline(study), findings.information_gain(study)
    assert dashboard.plain_finding.startswith(f"## {headline.point}"), dashboard.plain_finding
    assert (
        headline.evidence in dashboard.plain_finding
        and headline.so_what in dashboard.page_text
        and (headline.to_do in dashboard.page_text)
    )
    assert gain.evidence in dashboard.page_text and gain.so_what in dashboard.page_text


def test_precision_and_statistics_move_the_finding(dashboard: Dashboard, family: None):
    dashboard.open("model_card").choose(release_precision="2 decimals")
    assert_tells(dashboard, card(decimals=2))
    dashboard.choose(release_statistics=["sp_gap", "tpr_rate"])
    assert_tells(dashboard, card(decimals=2, statistics=("sp_gap", "tpr_rate"), sizes=False))
    dashboard.choose(release_precision="noise, ε = 0.1")
    noisy = card(epsilon=0.1, statistics=("sp_gap", "tpr_rate"))
    assert_tells(dashboard, noisy)
    assert noisy.draws is not None and (noisy.most_pinned, noisy.draws.count) == (0, 20)
    assert "In the worst of 20 draws of the noise: 0." in dashboard.plain_finding
    assert (
        "What disclosed people have in common" not in dashboard.page_text
        and "Near-certain inference" in dashboard.page_text
    )
    dashboard.choose(release_statistics=["sizes"])
    assert "this card says nothing" in dashboard.plain_problem() and not dashboard.findings


def test_more_models_are_trained_beside_the_page(dashboard: Dashboard, family: None, monkeypatch: pytest.MonkeyPatch):
    gate = threading.Event()

    def waiting(config: Any, dataset: Any, settings: ModelCardSettings, *, report: Any, **more: Any) -> Any:
        while settings.count > FIRST and not gate.wait(0.02):
            report(0, settings.count)
        return once(config, dataset, settings, report=report, **more)

    monkeypatch.setattr(core.studies.model_card, "released_people", waiting)
    dashboard.open("model_card")
    dashboard.widget("release_count").set_value(COUNTS[-1])
    dashboard.test.run()
    assert f"(models: {FIRST})" in dashboard.plain_finding  # what is there stays
    dashboard.button("cancel_family").click()
    dashboard.until(lambda: dashboard.has_button("start_family"))
    assert dashboard.button("start_family").label == f"Stopped. Go on training {COUNTS[-1]} models"
    gate.set()
    dashboard.click("start_family")
    dashboard.settle()
    assert_tells(dashboard, card(models_count=COUNTS[-1], count=COUNTS[-1]))
    assert not dashboard.has_button("start_family") and not dashboard.has_button("cancel_family")


def own_table(models: int) -> bytes:
    """Return a table of 900 people with the predictions of models that differ from the first in one person each."""
    rng = np.random.default_rng(8)
    names = [f"pred_{i}" for i in range(models)]
    rows = [",".join(["town", "years", "hired", *names])]
    base = rng.integers(0, 2, 900)
    for i in range(900):
        years = int(rng.integers(0, 40))
        town = "*Up*" if rng.random() < 0.2 + years / 80 else "<b>Down</b>"
        predictions = [str(base[i] if i != 7 * m else 1 - base[i]) for m in range(models)]
        rows.append(",".join([town, str(years), str(rng.integers(0, 2)), *predictions]))
    return "\n".join(rows).encode()


def test_prediction_columns_of_ones_own_table(dashboard: Dashboard, family: None):
    roles = Roles(label="hired", positive="1", favourable="1", sensitive="town", group=("*Up*",))
    dashboard.bring("towns.csv", own_table(5), roles).open("model_card")
    dashboard.choose(release_family="given")
    assert dashboard.widget("release_columns").value == [f"pred_{i}" for i in range(5)]
    assert "(models: 5) make " in dashboard.plain_finding
    assert "*Up*" in dashboard.page_text and not dashboard.test.warning
    dashboard.choose(release_columns=["pred_1"])
    assert "(models: 1) make " in dashboard.plain_finding
    dashboard.choose(release_columns=[])
    assert_one_sentence(dashboard.plain_problem())
    shared = cached.store_of("demo")
    assert not [result for result in shared._results.values() if "Release" in type(result).__name__]


def test_of_several_groups_the_largest_is_compared_first(dashboard: Dashboard, family: None):
    regions = np.random.default_rng(8).choice(["a", "b", "c"], 900, p=[0.25, 0.2, 0.55])
    lines = own_table(1).decode().splitlines()
    rows = [f"{line},{region}" for line, region in zip(lines, ["region", *regions], strict=True)]
    roles = Roles(label="hired", positive="1", favourable="1", sensitive="region", each=True, excluded=("town",))
    dashboard.bring("regions.csv", "\n".join(rows).encode(), roles).open("model_card")
    assert dashboard.widget("release_group_").value == "c"


def test_predictions_brought_along_are_what_the_page_opens_on(dashboard: Dashboard, family: None):
    lines = own_table(2).decode().splitlines()
    holes = [line.rsplit(",", 2)[0] + ",," if 100 <= i < 140 else line for i, line in enumerate(lines)]
    roles = Roles(
        label="hired",
        positive="1",
        favourable="1",
        sensitive="town",
        group=("*Up*",),
        prediction="pred_0",
        excluded=("pred_1",),
    )
    dashboard.bring("towns.csv", "\n".join(holes).encode(), roles).open("model_card")
    assert dashboard.widget("release_family").value == "audited"
    assert "These models are variants of one table" not in dashboard.page_text  # which the page of several says
    assert "(models: 1) make " in dashboard.plain_finding
    assert "Records of the table: 900. Left out without an answer of the model: 40." in dashboard.page_text


def test_the_card_as_a_file_is_the_plan_of_the_page(dashboard: Dashboard, family: None):
    dashboard.open("model_card").choose(release_precision="2 decimals")
    labels = [button.proto.label for button in dashboard.test.get("download_button")]
    assert labels.count("Card (TOML)") == 1
    settings = ModelCardSettings(family="mixed", people=PEOPLE, decimals=2, seed=CONFIG.seed)
    plan = Card(CONFIG, demo_table(), expected.demo(), settings).plan(FIRST)
    assert plan is not None
    read = read_release(release_text(plan))
    assert read.source.config == plan.source.config and read.source.data == plan.source.data
    assert study_of(read, people()).to_dict() == card(decimals=2).to_dict()
    sweep = Card(CONFIG, demo_table(), expected.demo(), replace(settings, family="tolerances"))
    assert sweep.plan(sweep.most - 1) is None
