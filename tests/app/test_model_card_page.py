"""Model card page in-process: whatever the controls say, the page says what the study finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.datasets.roles import Roles
from core.studies.model_card import ModelCardResult, ModelCardSettings
from core.studies.model_card.study import STUDY
from tests import expected
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard

PEOPLE, COUNT = 200, 5


@pytest.fixture
def card_page(start: Start) -> Dashboard:
    """The page with a card of five models about 200 people."""
    test = expected.subject().splits.test.size
    link = {f"release_people_{test}": str(PEOPLE), "release_count_models": str(COUNT)}
    return start(link).open("model_card")


def card(**changes: Any) -> ModelCardResult:
    """Card of the demo with the page's settings but for some changes."""
    values = {"family": "mixed", "people": PEOPLE, "count": COUNT, "seed": 42} | changes
    *_, result = STUDY.run(expected.subject(), ModelCardSettings(**values))
    return result


def assert_tells(dashboard: Dashboard, result: ModelCardResult) -> None:
    """Check that the page says all that the study found."""
    headline, *statements = STUDY.findings(result, result.settings)
    assert dashboard.plain_finding.startswith(f"## {headline.point}"), dashboard.plain_finding
    assert headline.evidence in dashboard.plain_finding and headline.to_do in dashboard.page_text
    for statement in statements:
        assert statement.text.removeprefix(statement.point) in dashboard.page_text


def test_precision_statistics_and_number_of_models_move_the_finding(card_page: Dashboard):
    card_page.choose(release_precision="2 decimals", release_statistics=["sp_gap", "tpr_rate"])
    statistics = ("sp_gap", "tpr_rate")
    assert_tells(card_page, card(decimals=2, statistics=statistics, sizes=False))
    card_page.choose(release_precision="noise, ε = 0.1")
    noisy = card(epsilon=0.1, statistics=statistics)
    assert_tells(card_page, noisy)
    assert noisy.draws is not None and (noisy.most_pinned, noisy.draws.count) == (0, 20)
    card_page.choose(release_statistics=["sizes"])
    assert "this card says nothing" in card_page.plain_problem() and not card_page.findings


def test_the_slider_of_models_adds_variants(card_page: Dashboard):
    assert_tells(card_page, card())
    card_page.choose(release_count=10)
    ten = card(count=10)
    assert_tells(card_page, ten)
    assert [fewer.n_models for fewer in ten.fewer] == [1, 2, 5]
    assert card_page.test.get("download_button")


def own_table() -> bytes:
    """Return a table of 900 people in three regions with the predictions of a model, which 40 people lack."""
    rng = np.random.default_rng(8)
    rows = ["town,years,region,hired,predicted"]
    for i in range(900):
        years = int(rng.integers(0, 40))
        town = "*Up*" if rng.random() < 0.2 + years / 80 else "<b>Down</b>"
        region = rng.choice(["a", "b", "c"], p=[0.25, 0.2, 0.55])
        predicted = "" if 100 <= i < 140 else rng.integers(0, 2)
        rows.append(f"{town},{years},{region},{rng.integers(0, 2)},{predicted}")
    return "\n".join(rows).encode()


@pytest.mark.long
def test_predictions_brought_along_are_what_the_page_opens_on(dashboard: Dashboard):
    roles = Roles(
        label="hired", positive="1", favourable="1", sensitive="town", group=("*Up*",), prediction="predicted"
    )
    dashboard.bring("towns.csv", own_table(), roles).open("model_card")
    assert dashboard.widget("release_family").value == "audited"
    assert "(models: 1) make " in dashboard.plain_finding and "<b>Down</b>" in dashboard.page_text
    assert "Records of the table: 900. Left out without an answer of the model: 40." in dashboard.page_text
    regions = replace(roles, sensitive="region", group=(), each=True, excluded=("town",))
    dashboard.bring("regions.csv", own_table(), regions).open("model_card")
    assert dashboard.widget("release_group_").value == "c"  # of several groups the largest
