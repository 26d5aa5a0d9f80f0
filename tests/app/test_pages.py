"""Every page, in-process: it renders with its sidebar, follows its settings and says what must be said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.models import METHODS, PRIVATE_METHODS, TOLERANCE_METHODS
from core.stats.estimates import change_decimals, percent, tolerance_text
from core.studies.correction.findings import first_tolerance
from pages.shell import shell
from tests import expected
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard


def test_the_overview_draws_the_prepared_leaks_and_does_without_them(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr("core.studies.subject.train_model", None)  # which breaks whatever is computed
    dashboard = start().open("overview")
    for title, before, after in (("Fairness answers", 79, 92), ("Tolerance", 81, 81), ("Training data", 50, 60)):
        dashboard.choose(overview_attack=title)
        text = " ".join(html.value for html in dashboard.test.get("html"))
        assert f"{before} of 100" in text and f"{after} of 100" in text and "built-in demo" in text
    for content in (None, "{}"):
        path = tmp_path / f"leaks {content}.json"
        if content is not None:
            path.write_text(content)
        monkeypatch.setattr("core.experiments.leak_pictures.read_pictures.__defaults__", (path,))
        assert "prepared picture of the demo is missing" in start().open("overview").page_text


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_every_method(start: Start, method: str):
    dashboard = start().open("model").choose(method=method)
    model = expected.model(method=method)
    assert percent(model.accuracy_test) in dashboard.finding
    assert tolerance_text(model.unfairness_train) in dashboard.finding
    text = " ".join(box.value for box in dashboard.test.info)
    assert ("method needs each person" in text) == model.needs_sensitive
    assert ("not used" in text) == (method not in TOLERANCE_METHODS)
    assert bool(dashboard.test.select_slider) == (method in PRIVATE_METHODS)
    dashboard.open("correction")
    assert dashboard.test.slider(key="told").value == first_tolerance(expected.audit(method=method))


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
    for metric in ("equal_opportunity", "statistical_parity"):
        dashboard.test.selectbox(key="metric").set_value(metric).run()
        dashboard.open("model", settled=False)
        assert dashboard.test.selectbox(key="metric").value == metric


def test_the_slider_adds_points_that_are_not_precomputed_and_attackers_are_chosen(dashboard: Dashboard):
    dashboard.open("correction")
    for tolerance in (0.137, 0.0, 0.2):
        dashboard.choose(told=tolerance)
        now = expected.audit().disclose(tolerance)
        assert now.after is not None and now.gain is not None
        assert f"after disclosure of {tolerance_text(tolerance)} (95% CI" in dashboard.plain_finding
        decimals = change_decimals(now.before, now.after, now.gain)
        assert percent(now.after, decimals=decimals) in dashboard.finding
    for adversary, published, cost in (("predictions", False, "count"), ("features", True, "log_odds")):
        dashboard.choose(adversary=adversary, as_published=published, cost=cost)
        now = expected.audit().disclose(0.2, adversary=adversary, cost=cost, as_published=published)
        assert now.after is not None and percent(now.after) in dashboard.finding


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "*a*_b_", "[x](javascript:alert(1))", ":red[x] $5$ `c`"])
def test_escape_leaves_no_character_that_markdown_obeys(text: str):
    escaped = shell.escape(text)
    assert re.sub(r"\\(.)", r"\1", escaped) == text
    assert not re.search(r"(?<!\\)[*_<>\[\]`$:()]", escaped)
