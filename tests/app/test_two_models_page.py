"""Two models of one table on its page, and where the page of model cards warns of it."""

from __future__ import annotations

import pytest

from core.model_card.settings import FAMILIES
from core.two_models import TwoModelsSettings
from core.two_models.study import STUDY
from pages.common.shell import escape
from tests import expected
from tests.app.dashboard import Dashboard
from tests.app.test_model_card_page import family as family  # a fixture

WARNING = "These models are variants of one table"


def test_its_page_says_what_the_study_found(dashboard: Dashboard):
    dashboard.open("two_models")
    assert "No second model is released" in dashboard.plain_problem()
    dashboard.choose(two_models_companion="counterpart")
    settings = TwoModelsSettings(companion="counterpart")
    *_, result = STUDY.run(expected.audit().subject, settings)
    for finding in STUDY.findings(result, settings):
        assert escape(finding.point) in "\n".join(dashboard.texts)
    assert not dashboard.test.error and len(dashboard.test.get("plotly_chart")) == 1


@pytest.mark.usefixtures("family")
def test_cards_of_variants_warn_of_releasing_two_of_them(dashboard: Dashboard):
    dashboard.open("model_card")
    assert WARNING in dashboard.told
    (link,) = [one for one in dashboard.test.get("page_link") if one.proto.page == "two_models"]
    assert STUDY.title in link.proto.label
    assert {"mixed", "audited"} <= set(FAMILIES)
    dashboard.choose(release_family="audited")
    assert WARNING not in dashboard.told
