"""The page of a study that nobody wrote a page for, such as two models, and controls made from its settings alone."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.base.settings import params
from core.studies.registry import STUDIES
from pages.shell.shell import escape
from tests import expected
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard
from tests.toy_study.study import STUDY, UniquenessSettings, UniquenessStudy


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy is a study."""
    monkeypatch.setitem(STUDIES, STUDY.name, STUDY)


@pytest.mark.usefixtures("toy")
def test_a_study_has_a_page_without_a_line_about_it(start: Start, monkeypatch: pytest.MonkeyPatch):
    dashboard = start({"uniqueness_fewest": "7"}).open("uniqueness")
    assert dashboard.texts[0].startswith(f"# {STUDY.title}")
    test, subject = dashboard.test, expected.subject()
    assert test.number_input(key="uniqueness_fewest").value == 7
    for fewest in (7, 50):
        test.number_input(key="uniqueness_fewest").set_value(fewest)
        dashboard.settle()
        *_, result = STUDY.run(subject, UniquenessSettings(fewest=fewest))
        (finding,) = STUDY.findings(result, UniquenessSettings(fewest=fewest))
        for text in (finding.point, finding.evidence, finding.so_what, finding.to_do, *finding.caveats):
            assert escape(text) in "\n".join(dashboard.texts)
    assert len(test.get("plotly_chart")) == 1 and not test.warning and not test.error
    test.session_state["numbers_uniqueness"] = True
    dashboard.settle()
    drawn, table = (element.value for element in test.dataframe)
    assert drawn["estimate"].tolist() == [result.by_score.value] and drawn["control"].tolist() == [
        result.by_label.value
    ]
    assert table["people"].tolist() == [size for _, size in result.sizes]
    monkeypatch.setattr(UniquenessStudy, "unavailable", lambda *_: "There are no *scores*.")
    dashboard.settle()
    assert dashboard.plain_problem() == "There are no *scores*." and not dashboard.findings


def test_studies_without_a_page(dashboard: Dashboard):
    dashboard.open("glossary")
    registered = {page["url_pathname"] for page in dashboard.test._registered_pages.values()}
    expected_pages = {
        "attribute",
        "attriguard",
        "bias_queries",
        "correction",
        "measured_epsilon",
        "membership",
        "model_card",
        "two_models",
    }
    assert registered & set(STUDIES) == expected_pages


def drawn_settings() -> None:
    """A page of nothing but a study's settings."""
    import streamlit as st

    from core.studies.registry import STUDIES
    from pages.shell.controls import settings_of

    study = STUDIES[st.query_params["study"]]
    st.session_state["made"] = settings_of(study.settings, study.name)


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_s_settings_can_be_drawn_and_start_at_their_defaults(name: str):
    page = AppTest.from_function(drawn_settings)
    page.query_params["study"] = name
    page.run()
    assert not page.exception
    cls = STUDIES[name].settings
    values = page.session_state["made"]
    assert {key: getattr(values, key) for key in params(cls)} == {
        key: param.default for key, param in params(cls).items()
    }
    kinds = ("selectbox", "multiselect", "number_input", "select_slider", "toggle", "text_input", "text_area")
    assert not any("{options}" in (element.help or "") for kind in kinds for element in getattr(page, kind))
