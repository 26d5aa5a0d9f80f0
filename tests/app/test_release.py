"""Release in-process: whatever the controls say, the page says what core says."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import core.model_card
from core.charts import precision_text
from core.datasets import demo_table
from core.datasets.roles import Roles
from core.model_card import Advice, Draws, ReleaseSettings, ReleaseStudy, Tried, advise, release_of
from core.release_audit.card_plan import read_release, release_text, study_of
from pages.common import cached
from pages.common import release_words as words
from pages.common.release_card import Models, card_plan
from tests import expected
from tests.app.dashboard import Dashboard
from tests.app.releasing import (
    CONFIG,
    COUNTS,
    FIRST,
    PEOPLE,
    assert_tells,
    card,
    choose,
    family,
    finding,
    once,
    people,
    told,
    widget,
)
from tests.release_samples import people as made_up
from tests.unit.datasets.bad_tables import assert_one_sentence

__all__ = ["family"]


def test_opens_with_a_family_metered_and_measured(dashboard: Dashboard, family: None):
    dashboard.open("release")
    found = card()
    assert_tells(dashboard, found)
    assert finding(dashboard).startswith("## With exact numbers, a card of 4 models about 200 people")
    assert any("synthetic" in text.lower() for text in dashboard.texts)
    assert not dashboard.test.warning and not dashboard.test.error
    assert [text.value for text in dashboard.test.sidebar.markdown] == ["#### What is audited"]
    advice = advise(people().posterior, release_of(people(), found.settings), sensitive=people().sensitive, seed=42)
    wanted = "even exact numbers" if advice.exact else precision_text(advice.decimals, None)
    assert "**Advice:**" in told(dashboard) and (wanted in told(dashboard) or advice.decimals is None)
    assert "safe" not in told(dashboard).lower()


def test_precision_and_statistics_move_the_finding(dashboard: Dashboard, family: None):
    dashboard.open("release")
    choose(dashboard, release_way="rounded", release_decimals=2)
    assert_tells(dashboard, card(decimals=2))
    assert finding(dashboard).startswith("## Rounded to 2 decimals, a card")
    choose(dashboard, release_statistics=["sp_gap", "tpr_rate"])
    assert_tells(dashboard, card(decimals=2, statistics=("sp_gap", "tpr_rate"), sizes=False))
    choose(dashboard, release_way="noise", release_epsilon=1.0)
    assert_tells(dashboard, card(epsilon=1.0, statistics=("sp_gap", "tpr_rate")))
    assert finding(dashboard).startswith("## With noise of ε = 1, a card")
    choose(dashboard, release_statistics=["sizes"])
    assert "this card says nothing" in dashboard.plain_problem() and not dashboard.findings


def test_more_models_are_trained_beside_the_page(dashboard: Dashboard, family: None, monkeypatch: pytest.MonkeyPatch):
    gate = threading.Event()

    def waiting(*args: Any, count: int, report: Any, **more: Any) -> Any:
        while count > FIRST and not gate.wait(0.02):
            report(0, count)
        return once(*args, count=count, report=report, **more)

    monkeypatch.setattr(core.model_card, "released_people", waiting)
    dashboard.open("release")
    widget(dashboard, "release_count").set_value(COUNTS[-1])
    dashboard.test.run()
    assert f"a card of {FIRST} models" in finding(dashboard)  # what is there stays
    dashboard.button("cancel_family").click()
    dashboard.until(lambda: dashboard.has_button("start_family"))
    assert dashboard.button("start_family").label == f"Stopped. Go on training {COUNTS[-1]} models"
    gate.set()
    dashboard.button("start_family").click()
    dashboard.settle()
    dashboard.settle()
    assert_tells(dashboard, card(models_count=COUNTS[-1], count=COUNTS[-1]))
    assert not dashboard.has_button("start_family") and not dashboard.has_button("cancel_family")


@pytest.mark.parametrize("models", ["audited", "depths", "tolerances"])
def test_other_models(dashboard: Dashboard, family: None, models: str):
    dashboard.open("release")
    choose(dashboard, release_family=models)
    count = {"audited": 1, "tolerances": 2}.get(models, FIRST)
    assert_tells(dashboard, card(models, models_count=count, count=count))


def test_a_problem_of_core_is_one_sentence(dashboard: Dashboard, family: None, monkeypatch: pytest.MonkeyPatch):
    from core.errors import InputError

    def broken(*args: Any, **more: Any) -> Any:
        raise InputError("tpr_gap needs people of both groups with label 1, got none of women.")

    monkeypatch.setattr(core.model_card, "study", broken)
    dashboard.open("release")
    assert "got none of women" in dashboard.plain_problem() and not dashboard.findings


def test_a_card_that_cannot_be_read_is_not_said_to_pin_nobody():
    certain = replace(made_up(), posterior=(1 - made_up().sensitive).astype(float))  # of the wrong group of everybody
    found = core.model_card.study(certain, ReleaseSettings(count=2, decimals=None))
    assert found.status == "infeasible" and found.reason
    point, _ = words.finding(found, certain)
    assert point.endswith("what it gives away is not known.") and "nobody" not in point + words.nobody(found)


def noisy(pinned: int, worst: int, *, count: int = 20) -> ReleaseStudy:
    """Return a card with noise of which one draw pins so many and the worst so many."""
    found = core.model_card.study(made_up(), ReleaseSettings(count=12, decimals=None, epsilon=10.0))
    some = replace(
        found.pinned,
        people=np.arange(pinned),
        count=pinned,
        said=np.arange(pinned, dtype=np.uint8) % 2,
        right=None if not pinned else replace(found.measured.majority, value=1.0),
    )
    return replace(found, pinned=some, draws=Draws(count=count, pinned=worst, known=True))


@pytest.mark.parametrize(
    ("pinned", "worst", "count", "words_expected"),
    [
        (0, 0, 20, " and pins nobody down in any of 20 draws of it."),
        (0, 1, 4, " pins down nobody in this draw, one person in the worst of 4 draws, and gives away "),
        (0, 3, 3, " pins down nobody in this draw, three of them in the worst of 3 draws, and gives away "),
        (2, 5, 3, " pins down two of them, all rightly (five in the worst of 3 draws), and gives away "),
        (2, 2, 3, " pins down two of them, all rightly, and gives away "),
    ],
)
def test_the_finding_goes_by_the_worst_draw(pinned: int, worst: int, count: int, words_expected: str):
    found = noisy(pinned, worst, count=count)
    point, _ = words.finding(found, made_up())
    assert words_expected.replace(" gives away ", "") in point.replace(" gives away ", ""), point
    if worst and not pinned:
        assert "pins nobody" not in point and f"In the worst of {count} draws" in words.nobody(found)
        assert words.nobody(found).startswith("In this draw of the noise nobody is pinned down: ")


@pytest.mark.parametrize("pinned", [0, 1])
def test_noise_that_misleads_is_no_contradiction_to_the_advice(pinned: int):
    rows = (
        Tried(decimals=None, epsilon=None, pinned=0, df_bits=1.0),
        Tried(decimals=None, epsilon=10.0, pinned=pinned, df_bits=0.5, draws=20 - 11 * pinned),
    )
    found = Advice(exact=True, decimals=None, epsilon=None, tried=rows)
    told = words.advice(found, noisy(0, pinned))
    assert "even exact numbers pin nobody down here" in told and ("noise does in some draws" in told) == bool(pinned)


def test_a_draw_that_is_not_known_is_not_nobody():
    found = replace(noisy(0, 0), draws=Draws(count=3, pinned=0, known=False))
    point, _ = words.finding(found, made_up())
    assert point.endswith("; whom it pins down is not known in all of 3 draws.") and "nobody" not in point


def settled(said: list[int], right: float, *, other: str = "everybody else", share: float = 0.1) -> str:
    """Return the finding of a card that settles people so, where so many are in the group."""
    found = core.model_card.study(made_up(), ReleaseSettings(count=12, decimals=None))
    some = replace(
        found.pinned,
        people=np.arange(len(said)),
        count=len(said),
        said=np.array(said, dtype=np.uint8),
        right=replace(found.measured.majority, value=right),
    )
    whose = replace(made_up(), sensitive=(np.arange(300) < 300 * share).astype(np.uint8), other=other)
    return " ".join(words.finding(replace(found, pinned=some, other=other), whose))


def test_all_pinned_as_what_most_people_are():
    most = " as “everybody else”, as 90% of people are, and "
    assert f"pins down three of them, all rightly and all{most}" in settled([0, 0, 0], 1.0)
    assert f"pins down three of them, two rightly, all{most}" in settled([0, 0, 0], 2 / 3)
    assert f"pins down one person, rightly{most}" in settled([0], 1.0)
    assert "Baseline: calling nobody “north” is right for" in settled([0], 1.0)
    assert "pins down two of them, all rightly, and" in settled([0, 1], 1.0)
    assert "pins down two of them, all rightly, and" in settled([1, 1], 1.0)
    assert "all as “north”, as 80% of people are" in settled([1, 1], 1.0, share=0.8)
    assert "Baseline: calling everybody “south” is right for" in settled([0], 1.0, other="south")


def test_records_left_out_are_told():
    whose = replace(made_up(), left_out=("40 records without *pred* are left out.",), rows_read=3000)
    assert words.left_out(whose) == r"Of 3,000 records of the table\: 40 records without \*pred\* are left out."
    assert words.left_out(made_up()) == ""


def own_table(models: int) -> bytes:
    """Return a table of 900 people with the predictions of models that differ from the first in one person each."""
    rng = np.random.default_rng(8)
    names = [f"pred_{i}" for i in range(models)]
    rows = [",".join(["town", "years", "hired", *names])]
    base = rng.integers(0, 2, 900)
    for i in range(900):
        years = int(rng.integers(0, 40))
        town = "*Up*" if rng.random() < 0.2 + years / 80 else "<b>Down</b>"
        said = [str(base[i] if i != 7 * m else 1 - base[i]) for m in range(models)]
        rows.append(",".join([town, str(years), str(rng.integers(0, 2)), *said]))
    return "\n".join(rows).encode()


def test_prediction_columns_of_ones_own_table(dashboard: Dashboard, family: None):
    dashboard.open("data").upload("towns.csv", own_table(5))
    roles = Roles(label="hired", positive="1", sensitive="town", group=("*Up*",))
    dashboard.test.session_state["own_roles_upload"] = [roles]
    dashboard.test.session_state["attribute"] = roles.key
    dashboard.settle()
    dashboard.open("release")
    choose(dashboard, release_family="given")
    assert widget(dashboard, "release_columns").value == [f"pred_{i}" for i in range(5)]
    assert "a card of 5 models" in finding(dashboard)
    assert "*Up*" in told(dashboard) and not dashboard.test.warning
    choose(dashboard, release_columns=["pred_1"])
    assert "a card of one model" in finding(dashboard)
    choose(dashboard, release_columns=[])
    assert_one_sentence(dashboard.plain_problem())
    shared = cached.store_of("demo")
    assert not [one for one in shared._results.values() if "Release" in type(one).__name__]


def test_predictions_brought_along_are_what_the_page_opens_on(dashboard: Dashboard, family: None):
    lines = own_table(2).decode().splitlines()
    holes = [line.rsplit(",", 2)[0] + ",," if 100 <= i < 140 else line for i, line in enumerate(lines)]
    dashboard.open("data").upload("towns.csv", "\n".join(holes).encode())
    roles = Roles(
        label="hired", positive="1", sensitive="town", group=("*Up*",), prediction="pred_0", excluded=("pred_1",)
    )
    dashboard.test.session_state["own_roles_upload"] = [roles]
    dashboard.test.session_state["attribute"] = roles.key
    dashboard.settle()
    dashboard.open("release")
    assert widget(dashboard, "release_family").value == "audited"
    assert "a card of one model about" in finding(dashboard)
    assert "Of 900 records of the table: 40 records without pred_0 are left out." in told(dashboard)


def test_noise_is_drawn_again_before_nobody_is_said_to_be_pinned(dashboard: Dashboard, family: None):
    dashboard.open("release")
    choose(dashboard, release_way="noise", release_epsilon=0.1)
    found = card(epsilon=0.1)
    assert found.draws is not None and (found.most_pinned, found.draws.count) == (0, 20)
    assert "and pins nobody down in any of 20 draws of it." in finding(dashboard)


def test_the_card_as_a_file_is_the_plan_of_what_is_shown(dashboard: Dashboard, family: None):
    dashboard.open("release")
    choose(dashboard, release_way="rounded", release_decimals=2)
    labels = [button.proto.label for button in dashboard.test.get("download_button")]
    assert labels.count("Card (TOML)") == 1
    models = Models(family="mixed", columns=(), people=PEOPLE, group=1)
    precision = ReleaseSettings(decimals=2, seed=CONFIG.seed)
    shown = (CONFIG, demo_table(), expected.demo(), models)
    plan = card_plan(*shown, precision, FIRST)
    assert plan is not None
    read = read_release(release_text(plan))
    assert read.source.config == plan.source.config and read.source.data == plan.source.data
    assert study_of(read, people()).to_dict() == card(decimals=2).to_dict()
    sweep = Models(family="tolerances", columns=(), people=PEOPLE, group=1)
    assert card_plan(*shown[:3], sweep, precision, sweep.most - 1) is None
