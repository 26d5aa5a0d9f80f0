"""The sections below the correction's slider, in-process, with real models where they are few; and many groups."""

from __future__ import annotations

import pytest

from core.models import METHODS
from core.stats.estimates import percent
from tests import expected
from tests.app.dashboard import Dashboard, PointsOnDemand, sweep_job


def finish(dashboard: Dashboard) -> None:
    """Wait for a section's job and draw what it made."""
    job = sweep_job()
    job.end()
    assert job.state == "finished", job.error
    dashboard.settle()


@pytest.mark.long
def test_other_methods_are_compared(dashboard: Dashboard, points: PointsOnDemand):
    dashboard.open("correction").choose(further="methods").click("start_methods")
    points.allow(100)
    finish(dashboard)
    (frame,) = (f.value for f in dashboard.test.dataframe)
    assert len(frame) == len(METHODS) and frame["Method"].iloc[0] == "Exponentiated gradient"
    assert list(frame.columns)[:4] == ["Method", "Model accuracy", "Before / after disclosure", "Unfairness"]


def test_more_disclosed_is_computed_without_new_models(dashboard: Dashboard):
    dashboard.open("correction").choose(further="more")
    assert "Answers proved optimal: 5 of 5" in dashboard.page_text


@pytest.mark.long
def test_a_tuned_attacker_is_found_and_used(dashboard: Dashboard):
    dashboard.open("correction").choose(further="tuning", evaluations=10).click("start_tuning")
    finish(dashboard)
    (frame,) = (f.value for f in dashboard.test.dataframe)
    assert list(frame["Parameter"])[:2] == ["trees", "depth"]
    dashboard.click("use_tuned")
    chosen = dashboard.test.session_state["forest"][1]
    assert str(dict(chosen)["max_depth"]) == frame["Found"][1]
    now = expected.audit(forest=chosen).disclose(0.005)
    assert now.after is not None and percent(now.after) in dashboard.finding and "tuned" in dashboard.finding
    dashboard.click("use_pinned")
    assert percent(expected.audit().disclose(0.005).before) in dashboard.finding and "tuned" not in dashboard.finding
