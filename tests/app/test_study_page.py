"""Pages of studies: one that nobody wrote a page for, a grid of settings, people at risk; controls from settings."""

from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core import experiment
from core.auditing import catalogue_plan
from core.base.settings import params
from core.experiments.experiment import grid_finding, measurable, summarise
from core.studies.people import PEOPLE
from core.studies.people.people_study import fix_text, without_fix
from core.studies.registry import STUDIES
from pages.shell.shell import escape
from tests import expected, samples
from tests.toy_study.study import STUDY, UniquenessSettings, UniquenessStudy


def test_a_study_has_a_page_without_a_line_about_it(start, monkeypatch):
    monkeypatch.setitem(STUDIES, STUDY.name, STUDY)
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
    assert drawn["estimate"].tolist() == [result.by_score.value]
    assert drawn["control"].tolist() == [result.by_label.value]
    assert table["people"].tolist() == [size for _, size in result.sizes]
    monkeypatch.setattr(UniquenessStudy, "unavailable", lambda *_: "There are no *scores*.")
    dashboard.settle()
    assert dashboard.plain_problem() == "There are no *scores*." and not dashboard.findings


def drawn_settings():
    """A page of nothing but a study's settings."""
    import streamlit as st

    from core.studies.registry import STUDIES
    from pages.shell.controls import settings_of

    study = STUDIES[st.query_params["study"]]
    st.session_state["made"] = settings_of(study.settings, study.name)


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_s_settings_can_be_drawn_and_start_at_their_defaults(name):
    page = AppTest.from_function(drawn_settings)
    page.query_params["study"] = name
    page.run()
    assert not page.exception
    cls = STUDIES[name].settings
    values = page.session_state["made"]
    for key, param in params(cls).items():
        assert getattr(values, key) == param.default, key
    kinds = ("selectbox", "multiselect", "number_input", "select_slider", "toggle", "text_input", "text_area")
    assert not any("{options}" in (element.help or "") for kind in kinds for element in getattr(page, kind))


def measured(dashboard):
    dashboard.click("start_experiment")
    dashboard.until(lambda: "Settings measured" in dashboard.page_text)
    dashboard.until(lambda: not dashboard.has_button("cancel_experiment"))
    return dashboard


def test_page_command_and_notebook_measure_one_grid(start):
    controls = {"experiment_method": ["unmitigated"], "experiment_studies": ["fairness"], "experiment_seeds": 3}
    dashboard = start().open("experiment").choose(**controls)
    assert "Models in the grid: 3." in dashboard.plain_finding
    (command,) = [code.value for code in dashboard.test.code if "fairleak experiment" in code.value]
    assert "--vary data.attribute=sex --vary model.method=unmitigated" in command
    measured(dashboard)
    vary = {"membership.shadows": [0]}
    result = experiment("demo", methods=["unmitigated"], seeds=[42, 43, 44], studies=["fairness"], vary=vary)
    name = next(name for name, (study, _) in measurable().items() if study == "fairness")
    finding = grid_finding(summarise(result.rows), name)
    assert finding.point in dashboard.page_text and finding.evidence in dashboard.page_text
    dashboard.choose(experiment_seeds=1, experiment_attribute=["sex", "origin"])
    assert "Models in the grid: 2." in dashboard.plain_finding
    assert "attribute sex" in measured(dashboard).page_text


def test_a_given_model_trains_nothing(start):
    frame = samples.frame(600).rename(columns={"score": "points"})
    wrong = np.random.default_rng(1).random(600) < 0.2
    frame["answer"] = np.where((frame["skill"] > 0) != wrong, "yes", "no")
    dashboard = start().open("data").upload("people.csv", frame.to_csv(index=False).encode())
    values = {"positive": "yes", "favourable": "yes", "group": ["north"]}
    dashboard.assign(label="hired", sensitive="origin", prediction="answer", **values)
    dashboard.open("experiment").choose(experiment_studies=["fairness"])
    assert "The model is given: nothing is trained." in dashboard.plain_finding
    assert not dashboard.widgets("experiment_method")
    measured(dashboard)


CHANGES = {"people": 120, "answers": 40, "noise": "exact", "shadows": 0}
LINK = {f"people_{name}": str(value) for name, value in CHANGES.items()} | {"people_noise": "None"}
"""In a link a choice has the word that the page shows."""


def table(dashboard):
    """Return the table of people; there is none where nobody is shown."""
    return "".join(element.body for element in dashboard.test.get("html") if "fl-people" in element.body)


def records(dashboard):
    rows = table(dashboard).split("<tr>")[2:]
    return [int(row.removeprefix("<td>").partition("<")[0]) for row in rows]


@pytest.mark.long
def test_the_page_lists_whom_core_finds_by_group_and_by_record(start):
    settings = replace(catalogue_plan("demo").people_settings, **CHANGES)
    *_, result = PEOPLE.run(expected.subject(), settings)
    assert result.at_least(1) and result.identified.sum() > result.leaks.sum()  # or this test says nothing
    dashboard = start(LINK).open("people")
    dashboard.assert_says(PEOPLE, result, settings)
    assert "Not as your audit plan has it" in dashboard.plain_finding
    assert "No model card is planned." in dashboard.page_text
    assert records(dashboard) == result.rows[result.chosen()].tolist()
    for index in result.chosen():
        assert fix_text(result, index)[1:] in table(dashboard)
    assert without_fix(result, result.chosen()) in dashboard.page_text
    record = int(result.rows[3])
    assert records(dashboard.choose(people_record=str(record))) == [record]
    dashboard.choose(people_record="x<b>")
    assert dashboard.plain_problem() == "Record must be of one of the 120 people drawn, got x<b>."
    everybody = dashboard.choose(people_record="", people_hidden=False)
    assert records(everybody) == result.rows[result.chosen(hide_imputed=False)].tolist()
    assert "found, imputation too" in table(everybody)
    group = result.group_names[0]
    group_page = everybody.choose(people_group=group)
    assert records(group_page) == result.rows[result.chosen(group=group, hide_imputed=False)].tolist()
    several = group_page.choose(people_at_least=3)
    assert records(several) == result.rows[result.chosen(at_least=3, group=group, hide_imputed=False)].tolist()


def test_a_bad_link_is_one_sentence(start):
    dashboard = start({**LINK, "people_shadows": "3"}).open("people")
    assert dashboard.plain_problem() == "shadows must be 0 or an even number of at least 4, got 3."
