"""Bias queries in-process: whatever the controls say, the page says what the study says."""

import re
from dataclasses import replace
from functools import cache

import pytest

from core.datasets import build_dataset, demo_table
from core.studies.bias_queries import BiasQueriesSettings, QueryPool, query_pool
from core.studies.bias_queries.study import STUDY
from core.studies.subject import subject_of
from pages._bias_queries import bias_queries_analyses
from tests import expected
from tests.unit.datasets.bad_tables import assert_one_sentence

START = BiasQueriesSettings(questions=25, repeats=4)


@cache
def subject(config):
    return subject_of(config, build_dataset(demo_table(), config.roles or expected.demo().roles))


@pytest.fixture
def ends(monkeypatch):
    """Few repeats, models that earlier tests have trained, and of every curve the end alone."""
    monkeypatch.setattr(type(STUDY), "command_defaults", {"questions": 25, "repeats": 4})
    monkeypatch.setattr("core.studies.bias_queries.trials.coarse_first", lambda numbers: numbers[-1:])
    monkeypatch.setattr(bias_queries_analyses, "subject_of", lambda config, _: subject(config))


@pytest.mark.long
@pytest.mark.parametrize(
    ("controls", "settings"),
    [
        (
            {"noise": "smooth_laplace", "answer_epsilon": 20.0, "answered_60": 60},
            replace(START, mechanism="smooth_laplace", epsilon=20.0, questions=60),
        ),
        (
            {"noise": "exact", "question_design": "targeted", "answered_101": 101},
            replace(START, mechanism="exact", design="targeted", questions=101),
        ),
        ({"metric": "predictive_equality", "noise": "exact"}, replace(START, mechanism="exact")),
    ],
    ids=str,
)
def test_page_says_what_the_study_finds(dashboard, ends, controls, settings):
    dashboard.open("bias_queries").choose(**controls)
    config = expected.config_of({"metric": controls["metric"]} if "metric" in controls else {})
    *_, result = STUDY.run(subject(config), settings)
    assert len(dashboard.assert_says(STUDY, result, settings)) == 1
    if "metric" in controls:
        assert any("Only people with label 0 enter the gap" in text for text in dashboard.texts)


@pytest.mark.long
def test_every_section_and_more_than_two_groups(dashboard, ends):
    dashboard.open("bias_queries").choose(noise="noisy_sums")
    for section, sentence in (
        ("values", "balanced accuracy for these 100 people"),
        ("targeted", "One targeted query"),
        ("noise", "What is guaranteed"),
    ):
        dashboard.choose(further_queries=section)
        assert sentence in dashboard.page_text
    (columns,) = (list(frame.value.columns)[:3] for frame in dashboard.test.dataframe)
    assert columns == ["noise", "scale", "ε spent"]
    for noise, sentence in (("smooth_laplace", "Nothing at this ε: "), ("exact", "the answers carry no noise")):
        dashboard.choose(noise=noise)
        assert sentence in dashboard.page_text
    dashboard.choose(attribute="age/ranges")
    assert re.search(r"Of 4 groups the largest, .*, stands against everybody else\.", dashboard.page_text)


def test_a_tiny_group_is_refused_in_one_sentence(dashboard, ends, monkeypatch):
    pool = query_pool(subject(expected.config_of({})))
    rare = pool.people.sensitive == 1
    rare[(pool.people.sensitive == 0).nonzero()[0][:90]] = True
    fields = ("sensitive", "base", "prior", "labels")
    people = replace(pool.people, **{name: getattr(pool.people, name)[rare] for name in fields})
    tiny = QueryPool(people=people, advantaged="men", disadvantaged="women", metric=pool.metric)
    monkeypatch.setattr("core.studies.bias_queries.query_pool", lambda _: tiny)
    monkeypatch.setattr("core.studies.bias_queries.study.query_pool", lambda _: tiny)
    dashboard.open("bias_queries").choose(people_asked=20)
    texts = ("at least 2 people of each group", "a sample of 20 holds 1 of women")
    assert_one_sentence(dashboard.plain_problem(), texts)
    assert not dashboard.findings
    dashboard.choose(people_asked=100)
    assert "%" in dashboard.finding
