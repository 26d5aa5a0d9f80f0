"""Every page, in-process: it renders with its sidebar, follows its settings and says what must be said."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import core.sweep.landscape
from core.correction.findings import first_tolerance
from core.datasets.dataset import AuditDataset
from core.errors import InputError
from core.estimates import percent, points, tolerance_text
from core.fairness import METRIC_TITLES, METRICS
from core.models import METHOD_TITLES, METHODS
from core.sweep.findings import tension
from core.sweep.landscape import Landscape, LandscapePlan, landscape_steps, read_landscape
from pages.common import shell, start_map, state
from tests import expected
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard, RecordedJob
from tests.patience import PATIENT

PAGES = ("start", "data", "model", "correction")
SETTINGS = {"dataset", "attribute", "metric", "method", "tolerance", "seed", "train_share"}


def plain(text: str) -> str:
    """Return Markdown as it is read."""
    return re.sub(r"\\(.)", r"\1", text)


def settings_on(dashboard: Dashboard) -> set[str]:
    """Return the keys of the settings that are on the page or in its sidebar."""
    test = dashboard.test
    return {w.key for w in (*test.selectbox, *test.number_input, *test.slider) if w.key in SETTINGS}


def test_every_page_renders_with_its_sidebar(dashboard: Dashboard):
    for page in PAGES:
        dashboard.open(page)
        assert [text.value for text in dashboard.test.sidebar.markdown] == ["#### What is audited"], page
        assert settings_on(dashboard) == SETTINGS, page
        assert "%" in dashboard.finding, page
        assert len([text for text in dashboard.texts if text.startswith("# ")]) == 1, page
        assert not dashboard.test.warning and not dashboard.test.error and not dashboard.test.exception, page


def test_start_is_a_finished_audit_that_says_it_is_invented(dashboard: Dashboard):
    dashboard.open("start")
    now = expected.audit().disclose(state.default("tolerance"))
    assert now.after is not None
    assert percent(now.after) in dashboard.finding and percent(now.before) in dashboard.finding
    assert percent(expected.audit().strong) in dashboard.finding
    assert any("synthetic" in text.lower() for text in dashboard.texts)
    assert any("invented" in text.value for text in dashboard.test.caption)


def headings(dashboard: Dashboard) -> list[str]:
    """Return the third-level headings of the page."""
    return [text.split("\n")[0] for text in dashboard.texts if text.startswith("### ")]


def test_start_has_three_doors_and_the_map(dashboard: Dashboard):
    dashboard.open("start")
    doors = [text for text in dashboard.texts if re.match(r":material/\w+: \*\*", text)]
    assert [re.findall(r"\*\*(.+)\*\*", door)[0] for door in doors] == ["Check a model", "Learn by example", "Explore"]
    kept = read_landscape(start_map.KEPT_MAP)
    assert f"### {tension(kept).point}" in headings(dashboard)
    assert shell.escape(tension(kept).evidence) in " ".join(dashboard.texts)
    assert not dashboard.has_button("start_map") and not [job for job in RecordedJob.started if job.lane == "sweep"]


def test_the_map_of_other_settings_is_made_when_asked_for_and_can_be_stopped(
    start: Start, monkeypatch: pytest.MonkeyPatch
):
    asked, go_on = [], threading.Event()

    def made(dataset: AuditDataset, plan: LandscapePlan, *, report: Callable[[int, int], None]) -> Landscape:
        asked.append(plan)
        report(1, landscape_steps(plan))
        assert go_on.wait(PATIENT)
        report(2, landscape_steps(plan))
        return read_landscape(start_map.KEPT_MAP)

    monkeypatch.setattr(core.sweep.landscape, "landscape", made)
    dashboard = start({"metric": METRIC_TITLES["equal_opportunity"]}).open("start")
    assert dashboard.has_button("start_map") and not asked and "%" in dashboard.finding
    dashboard.button("start_map").click()
    dashboard.until(lambda: dashboard.has_button("cancel_map"))
    dashboard.press("cancel_map")
    go_on.set()
    dashboard.until(lambda: dashboard.has_button("start_map"))
    assert dashboard.button("start_map").label.startswith("Stopped")
    dashboard.button("start_map").click()
    dashboard.until(lambda: any("membership inference" in heading for heading in headings(dashboard)))
    assert {plan.metric for plan in asked} == {"equal_opportunity"} and not dashboard.has_button("start_map")


def test_start_says_why_a_map_could_not_be_made(start: Start, monkeypatch: pytest.MonkeyPatch):
    def fails(dataset: AuditDataset, plan: LandscapePlan, *, report: Callable[[int, int], None]) -> Landscape:
        raise InputError("The table is too small.")

    monkeypatch.setattr(core.sweep.landscape, "landscape", fails)
    dashboard = start({"metric": METRIC_TITLES["equal_opportunity"]}).open("start")
    dashboard.button("start_map").click()
    dashboard.until(lambda: dashboard.test.warning)
    assert dashboard.plain_problem() == "The table is too small." and dashboard.has_button("start_map")


@pytest.mark.parametrize("content", [None, "{}"])
def test_start_does_without_the_kept_map(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
):
    path = tmp_path / "map.json"
    if content is not None:
        path.write_text(content)
    monkeypatch.setattr("pages.common.start_map.KEPT_MAP", path)
    dashboard = start().open("start")
    assert dashboard.has_button("start_map") and "%" in dashboard.finding and not dashboard.test.warning


@pytest.mark.parametrize("method", METHODS)
def test_every_method(start: Start, method: str):
    dashboard = start().open("model")
    dashboard.test.selectbox(key="method").set_value(method)
    dashboard.settle()
    found = expected.model(method=method)
    assert percent(found.accuracy_test) in dashboard.finding
    assert tolerance_text(found.unfairness_train) in dashboard.finding
    said = plain(" ".join(box.value for box in dashboard.test.info))
    assert ("must be told each person's sex to predict" in said) == found.needs_sensitive
    assert ("not used" in said) == (method != "exponentiated_gradient")
    assert [slider.key for slider in dashboard.test.select_slider] == ["epsilon"] * (method == "dp_id3")
    dashboard.open("correction")
    assert "%" in dashboard.finding
    noise = [text for text in dashboard.texts if text.startswith("**Trained with DP training noise, ε = 10.**")]
    assert len(noise) == (method == "dp_id3")


def test_the_private_trees_budget_is_kept_told_and_in_links(start: Start):
    dashboard = start({"method": METHOD_TITLES["dp_id3"], "epsilon": "5"}).open("model")
    slider = dashboard.test.select_slider(key="epsilon")
    assert slider.value == 5.0
    found = expected.model(method="dp_id3", epsilon=5.0)
    assert percent(found.accuracy_test) in dashboard.finding
    assert any("5-differentially private" in plain(box.value) for box in dashboard.test.info)
    assert "trained with ε = 5." in dashboard.finding
    slider.set_value(math.inf)
    dashboard.settle()
    found = expected.model(method="dp_id3", epsilon=math.inf)
    assert percent(found.accuracy_test) in dashboard.finding
    assert any("no noise is added" in box.value for box in dashboard.test.info)
    dashboard.open("correction")
    assert dashboard.test.select_slider(key="epsilon").value == math.inf
    assert any(text.startswith("**Trained without DP training noise") for text in dashboard.texts)


def test_the_correction_says_what_privacy_noise_did(start: Start):
    dashboard = start({"method": METHOD_TITLES["dp_id3"], "epsilon": "5"}).open("correction")
    findings = expected.audit(method="dp_id3", epsilon=5.0)
    now = findings.disclose(first_tolerance(findings))
    assert now.gain is not None
    (said,) = (text for text in dashboard.texts if "**Trained with DP training noise, ε = 5.**" in text)
    said = plain(said)
    assert percent(findings.strong) in said and points(now.gain) in said
    assert ("no statistically significant effect" in said) == (now.gain.low <= 0 <= now.gain.high)


def test_a_budget_outside_those_on_offer_cannot_come_by_link(start: Start):
    dashboard = start({"method": METHOD_TITLES["dp_id3"], "epsilon": "-3"}).open("model")
    assert dashboard.test.select_slider(key="epsilon").value == state.default("epsilon")
    assert not dashboard.test.exception and "%" in dashboard.finding


@pytest.mark.parametrize(
    "metric", [METRICS[1], *(pytest.param(one, marks=pytest.mark.long) for one in METRICS if one != METRICS[1])]
)
def test_every_metric(start: Start, metric: str):
    dashboard = start({"metric": METRIC_TITLES[metric]}).open("model")
    found = expected.model(metric=metric)
    assert dashboard.test.selectbox(key="metric").value == metric
    assert tolerance_text(found.unfairness_train) in dashboard.finding
    dashboard.open("correction")
    now = expected.audit(metric=metric).disclose(state.default("tolerance"))
    shown = now.after or now.before
    assert percent(shown) in dashboard.finding


def test_a_link_restores_an_audit(start: Start):
    dashboard = start({"seed": "7", "tolerance": "0.02", "train_share": "0.4"}).open("start")
    now = expected.audit(seed=7, tolerance=0.02, train_share=0.4).disclose(0.02)
    assert now.after is not None and percent(now.after) in dashboard.finding
    assert dashboard.test.number_input(key="seed").value == 7


@pytest.mark.parametrize(
    "link",
    [
        {"tolerance": "7"},
        {"tolerance": "-1"},
        {"tolerance": "nan"},
        {"seed": "1e99"},
        {"seed": "-4"},
        {"train_share": "0.99"},
        {"metric": "<b>none</b>"},
        {"method": ""},
        {"dataset": "upload"},
        {"dataset": "Your table"},
        {"attribute": "savings"},
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


@pytest.mark.parametrize("value", [1.4, -0.1])
def test_a_tolerance_outside_its_range_cannot_be_set(dashboard: Dashboard, value: float):
    dashboard.open("data")
    dashboard.test.number_input(key="tolerance").set_value(value)
    dashboard.settle()
    assert 0.0 <= dashboard.test.number_input(key="tolerance").value <= 1.0
    assert "%" in dashboard.finding


def test_a_setting_put_back_stays_so_on_the_next_page(dashboard: Dashboard):
    dashboard.open("start")
    dashboard.test.selectbox(key="metric").set_value("equal_opportunity")
    dashboard.settle()
    dashboard.open("model")
    assert dashboard.test.selectbox(key="metric").value == "equal_opportunity"
    dashboard.test.selectbox(key="metric").set_value("statistical_parity")
    dashboard.test.number_input(key="seed").set_value(7)
    dashboard.settle()
    dashboard.open("start")
    assert dashboard.test.selectbox(key="metric").value == "statistical_parity"
    assert dashboard.test.number_input(key="seed").value == 7


def test_the_slider_adds_points_that_are_not_precomputed(dashboard: Dashboard):
    dashboard.open("correction")
    for told in (0.137, 0.0, 0.2):
        dashboard.test.slider(key="told").set_value(told)
        dashboard.settle()
        now = expected.audit().disclose(told)
        assert now.after is not None
        assert f"after disclosure of {tolerance_text(told)} (95% CI" in plain(dashboard.finding)
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
        dashboard.test.selectbox(key="cost").set_value(cost)
        dashboard.settle()
        now = findings.disclose(0.005, adversary=adversary, cost=cost, as_published=published)
        assert now.after is not None and percent(now.after) in dashboard.finding


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "*a*_b_", "[x](javascript:alert(1))", ":red[x] $5$ `c`"])
def test_escape_leaves_no_character_that_markdown_obeys(text: str):
    escaped = shell.escape(text)
    assert re.sub(r"\\(.)", r"\1", escaped) == text
    assert not re.search(r"(?<!\\)[*_<>\[\]`$:()]", escaped)
