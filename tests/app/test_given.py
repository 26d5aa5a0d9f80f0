"""Predictions that come with a table, in-process: map the columns, and no page trains, fails or promises too much."""

from __future__ import annotations

import numpy as np
import pytest

from core.datasets import build_dataset, read_table
from core.datasets.roles import Roles
from core.estimates import accuracy, percent
from pages.common import bias_queries_trials as controls
from tests.app.dashboard import Dashboard
from tests.app.test_attriguard import FEW_OF_TABLES
from tests.app.test_membership import Gate, gate
from tests.unit.datasets.bad_tables import assert_one_sentence

__all__ = ["gate"]

PAGES = ("start", "data", "model", "correction", "bias_queries", "attriguard", "membership")
TRAINING = ("methods", "seeds", "trained")  # last the one that stays open
ROLES = Roles(
    label="hired",
    positive="yes",
    sensitive="sex",
    group=("M",),
    prediction="predicted",
    score="probability",
    sets="split",
)


def scored(count: int = 600) -> bytes:
    """Return a CSV of people with a model's decision, its probability and the set each was in."""
    rng = np.random.default_rng(3)
    man = rng.random(count) < 0.55
    hours = np.where(man, rng.normal(39, 5, count), rng.normal(33, 6, count)).round().astype(int)
    hired = rng.random(count) < 0.2 + 0.4 * man + 0.01 * (hours - 36)
    score = np.clip(0.25 + 0.3 * man + 0.2 * hired + rng.normal(0, 0.1, count), 0, 1).round(3)
    columns = {
        "age": rng.integers(20, 61, count),
        "hours": hours,
        "sex": np.where(man, "M", "F"),
        "hired": np.where(hired, "yes", "no"),
        "predicted": (score >= 0.5).astype(int),
        "probability": score,
        "split": np.array(["train", "attack", "test"])[np.arange(count) % 3],
    }
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)), ""]
    return "\n".join(lines).encode()


def bring(dashboard: Dashboard, **columns: str) -> None:
    """Upload the table, choose what is not suggested, and press the button."""
    dashboard.open("data").upload("scored.csv", scored())
    for name, value in {"label": "hired", "positive": "yes", "sensitive": "sex", **columns}.items():
        dashboard.widget(f"{name}_").set_value(value)
        dashboard.test.run()
        assert not dashboard.test.exception
    dashboard.click("use_roles")


def boxes(dashboard: Dashboard) -> list[str]:
    """Return what the boxes for prediction, score and sets hold."""
    own = ("prediction_", "score_", "sets_")
    return [box.value for start in own for box in dashboard.test.selectbox if (box.key or "").startswith(start)]


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch, gate: Gate) -> None:
    """Few repeats, few attackers, and few shadow models."""
    monkeypatch.setattr(controls, "repeats_for", lambda n: 2)
    monkeypatch.setattr("pages.common.attriguard_controls.TableSettings", FEW_OF_TABLES)


def test_no_page_trains_and_none_fails(dashboard: Dashboard, brief: None):
    bring(dashboard)
    assert boxes(dashboard) == ["predicted", "probability", "split"]  # suggested
    dataset = build_dataset(read_table(scored(), "scored.csv"), ROLES)
    assert dataset.predictions is not None
    assert f"positive for {percent(float(dataset.predictions.mean()))}" in dashboard.told
    assert "200 train, 200 attack, 200 test" in dashboard.told
    test = np.arange(dataset.n) % 3 == 2
    for page in PAGES:
        dashboard.open(page)
        assert not dashboard.test.error
        widgets = {widget.key for widget in (*dashboard.test.selectbox, *dashboard.test.slider)}
        assert not widgets & {"method", "train_share"}, page
        if page not in ("correction", "bias_queries"):  # their warnings are about the tolerance and the noise
            assert not dashboard.test.warning, page
        if page == "model":
            right = accuracy(dataset.labels[test], dataset.predictions[test])
            assert percent(right) in dashboard.finding and "The predictions in your table" in dashboard.told
        for section in ("tuning", "more", *TRAINING) if page == "correction" else ():
            dashboard.choose(further=section)
            says = [info.value for info in dashboard.test.info if "trained here" in info.value]
            assert len(says) == (section in TRAINING), section
    dashboard.choose(member_target="given")
    assert "LiRA needs a model that can be trained again" in dashboard.finding
    assert "nothing is known of how this model was trained" in dashboard.told
    for section in ("over_epsilon", "accuracy", "picking", "others", "accounting"):
        dashboard.choose(further_members=section)
        assert not dashboard.test.error and not dashboard.test.warning, section


def test_labels_alone_and_no_sets_leave_out_what_needs_them(dashboard: Dashboard, brief: None):
    bring(dashboard, score="", sets="")
    assert "No column says whom the model was trained on" in dashboard.told
    dashboard.open("model")
    assert "on the people attacked" in dashboard.finding
    cautions = [info.value for info in dashboard.test.info]
    assert len(cautions) == 2 and "drawn with the seed" in cautions[0] and "without scores" in cautions[1]
    dashboard.open("bias_queries")
    assert_one_sentence(dashboard.plain_problem(), ("scores",))
    dashboard.open("membership")
    dashboard.choose(member_target="given")
    assert_one_sentence(dashboard.plain_problem(), ("scores",))


def test_scores_with_a_threshold_and_back_to_training(dashboard: Dashboard, brief: None):
    bring(dashboard, prediction="")
    (threshold,) = [box for box in dashboard.test.number_input if (box.key or "").startswith("threshold_")]
    assert threshold.value == 0.5
    threshold.set_value(0.7)
    dashboard.settle()
    dashboard.click("use_roles")
    assert "a score of at least 0.7 is positive" in dashboard.told
    dashboard.choose(dataset="demo")
    dashboard.open("model")
    assert dashboard.test.selectbox(key="method").value == "exponentiated_gradient"
