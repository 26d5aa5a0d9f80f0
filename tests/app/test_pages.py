"""Every page, in-process: it renders with its sidebar, follows its settings and says what must be said."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import core.experiments.sweep.landscape
from core.datasets.dataset import AuditDataset
from core.experiments.sweep.landscape import KEPT_MAP, Landscape, LandscapePlan, landscape_steps, read_landscape
from core.models import METHOD_TITLES, METHODS
from core.stats.estimates import percent, tolerance_text
from core.stats.fairness import METRIC_TITLES
from core.studies.correction.findings import first_tolerance
from pages.shell import shell
from tests import expected
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard
from tests.patience import PATIENT


def headings(dashboard: Dashboard) -> list[str]:
    """Return the third-level headings of the page."""
    return [text.split("\n")[0] for text in dashboard.texts if text.startswith("### ")]


def test_the_map_of_other_settings_is_made_when_asked_for_and_can_be_stopped(
    start: Start, monkeypatch: pytest.MonkeyPatch
):
    plans, go_on = [], threading.Event()

    def recorded_landscape(
        dataset: AuditDataset, plan: LandscapePlan, *, report: Callable[[int, int], None]
    ) -> Landscape:
        plans.append(plan)
        report(1, landscape_steps(plan))
        assert go_on.wait(PATIENT)
        report(2, landscape_steps(plan))
        return read_landscape(KEPT_MAP)

    monkeypatch.setattr(core.experiments.sweep.landscape, "landscape", recorded_landscape)
    dashboard = start({"metric": METRIC_TITLES["equal_opportunity"]}).open("overview")
    assert dashboard.has_button("start_map") and not plans and "%" in dashboard.finding
    dashboard.button("start_map").click()
    dashboard.until(lambda: dashboard.has_button("cancel_map"))
    dashboard.press("cancel_map")
    go_on.set()
    dashboard.until(lambda: dashboard.has_button("start_map"))
    assert dashboard.button("start_map").label.startswith("Stopped")
    dashboard.button("start_map").click()
    dashboard.until(lambda: any("membership inference" in heading for heading in headings(dashboard)))
    assert {plan.metric for plan in plans} == {"equal_opportunity"} and not dashboard.has_button("start_map")


@pytest.mark.parametrize("content", [None, "{}"])
def test_start_does_without_the_kept_map(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
):
    path = tmp_path / "map.json"
    if content is not None:
        path.write_text(content)
    monkeypatch.setattr("core.experiments.sweep.landscape.KEPT_MAP", path)
    dashboard = start().open("overview")
    assert dashboard.has_button("start_map") and "%" in dashboard.finding and not dashboard.test.warning


@pytest.mark.parametrize("method", METHODS)
def test_every_method(start: Start, method: str):
    dashboard = start().open("correction").open("model")
    dashboard.choose(method=method)
    model = expected.model(method=method)
    assert percent(model.accuracy_test) in dashboard.finding
    assert tolerance_text(model.unfairness_train) in dashboard.finding
    text = " ".join(box.value for box in dashboard.test.info)
    assert ("method needs each person" in text) == model.needs_sensitive
    assert ("not used" in text) == (method != "exponentiated_gradient")
    assert [slider.key for slider in dashboard.test.select_slider] == ["epsilon"] * (method == "dp_id3")
    dashboard.open("correction")
    assert "%" in dashboard.finding
    assert dashboard.test.slider(key="told").value == first_tolerance(expected.audit(method=method))
    assert ("Trained with DP training noise, ε = 10." in dashboard.page_text) == (method == "dp_id3")


def test_a_link_restores_an_audit_and_the_private_trees_budget(start: Start):
    link = {"seed": "7", "tolerance": "0.02", "train_share": "0.4", "method": METHOD_TITLES["dp_id3"], "epsilon": "5"}
    dashboard = start(link).open("model")
    slider = dashboard.test.select_slider(key="epsilon")
    assert slider.value == 5.0 and dashboard.test.number_input(key="seed").value == 7
    restored = partial(expected.model, seed=7, tolerance=0.02, train_share=0.4, method="dp_id3")
    assert percent(restored(epsilon=5.0).accuracy_test) in dashboard.finding
    assert any("differentially private" in box.value for box in dashboard.test.info)
    assert "trained with ε = 5." in dashboard.finding
    slider.set_value(math.inf)
    dashboard.settle()
    assert percent(restored(epsilon=math.inf).accuracy_test) in dashboard.finding
    assert any("no noise is added" in box.value for box in dashboard.test.info)
    dashboard.open("correction", settled=False)
    assert dashboard.test.select_slider(key="epsilon").value == math.inf


@pytest.mark.parametrize(
    "link",
    [
        {"tolerance": "nan", "seed": "1e99", "train_share": "0.99", "metric": "<b>none</b>", "attribute": "savings"},
        {"dataset": "upload"},
    ],
    ids=str,
)
def test_a_nonsensical_link_cannot_leave_the_ranges(start: Start, link: dict[str, str]):
    dashboard = start(link).open("data")
    test = dashboard.test
    assert 0.0 <= test.number_input(key="tolerance").value <= 1.0
    assert 0 <= test.number_input(key="seed").value < 2**32
    assert 0.1 <= test.slider(key="train_share").value <= 0.8
    assert test.selectbox(key="dataset").value == "demo"
    assert test.selectbox(key="attribute").value in ("sex", "origin")
    assert not test.warning and "%" in dashboard.finding


def test_a_setting_put_back_stays_so_on_the_next_page(dashboard: Dashboard):
    dashboard.open("overview", settled=False)
    dashboard.test.selectbox(key="metric").set_value("equal_opportunity").run()
    dashboard.open("model", settled=False)
    assert dashboard.test.selectbox(key="metric").value == "equal_opportunity"
    dashboard.test.selectbox(key="metric").set_value("statistical_parity")
    dashboard.test.number_input(key="seed").set_value(7).run()
    dashboard.open("overview", settled=False)
    assert dashboard.test.selectbox(key="metric").value == "statistical_parity"
    assert dashboard.test.number_input(key="seed").value == 7


def test_the_slider_adds_points_that_are_not_precomputed(dashboard: Dashboard):
    dashboard.open("correction")
    for tolerance in (0.137, 0.0, 0.2):
        dashboard.choose(told=tolerance)
        now = expected.audit().disclose(tolerance)
        assert now.after is not None
        assert f"after disclosure of {tolerance_text(tolerance)} (95% CI" in dashboard.plain_finding
        assert percent(now.after) in dashboard.finding


def test_attacker_and_protocol(dashboard: Dashboard):
    dashboard.open("correction")
    findings = expected.audit()
    for adversary, published, cost in (
        ("predictions", False, "count"),
        ("strong", True, "published"),
        ("features", True, "log_odds"),
    ):
        dashboard.test.selectbox(key="adversary").set_value(adversary)
        dashboard.test.toggle(key="as_published").set_value(published)
        dashboard.choose(cost=cost)
        now = findings.disclose(0.005, adversary=adversary, cost=cost, as_published=published)
        assert now.after is not None and percent(now.after) in dashboard.finding


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "*a*_b_", "[x](javascript:alert(1))", ":red[x] $5$ `c`"])
def test_escape_leaves_no_character_that_markdown_obeys(text: str):
    escaped = shell.escape(text)
    assert re.sub(r"\\(.)", r"\1", escaped) == text
    assert not re.search(r"(?<!\\)[*_<>\[\]`$:()]", escaped)
