"""Bias queries in-process: whatever the controls say, the page says what core says, and in one sentence what cannot be.

Four repeats are drawn instead of fifty, and of every curve the ends alone.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import pytest

from core.datasets import build_dataset, demo_table
from core.stats.estimates import percent
from core.studies.bias_queries import (
    Asking,
    Exact,
    NoisySums,
    QueryPool,
    Rounded,
    SmoothCauchy,
    SmoothLaplace,
    Trials,
    query_pool,
)
from core.studies.bias_queries.mechanisms import Mechanism
from core.studies.config import AuditConfig
from tests import expected
from tests.app.dashboard import Dashboard
from tests.unit.datasets.bad_tables import assert_one_sentence

FEW = 4


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few repeats, pools that earlier tests have made, and of every curve the ends alone."""
    monkeypatch.setattr("pages._bias_queries.bias_queries_trials.repeats_for", lambda n: FEW)
    monkeypatch.setattr("core.studies.bias_queries.query_pool", lambda config, dataset, model=None: pool_of(config))
    curve = Trials.curve
    monkeypatch.setattr(Trials, "curve", lambda *arguments: islice(curve(*arguments), 2 * len(arguments[1])))


@cache
def pool_of(config: AuditConfig) -> QueryPool:
    table = demo_table()
    return query_pool(config, build_dataset(table, config.roles or table.roles[0]))


@cache
def trials(n: int = 100, *, design: str = "jitter", repeats: int = FEW, **changes: object) -> Trials:
    """Return what the page asks with these controls."""
    config = expected.audit().config if not changes else expected._config(dict(changes))
    return Trials(pool_of(config), Asking(n=n, design=design, repeats=repeats, seed=config.seed))


def assert_tells(dashboard: Dashboard, runs: Trials, m: int, mechanism: Mechanism) -> None:
    """Check finding and grey line against core."""
    leak, prior = runs.leak(m, mechanism, "strongest").leakage, runs.leak(0, Exact(), "strongest").leakage
    best = f"Best decoder: {percent(leak)} balanced accuracy"
    assert best in dashboard.plain_finding and re.search(rf"(?i)answers: {m}\b", dashboard.plain_finding)
    assert f"Features alone give {percent(prior)}, random guessing 50%." in dashboard.plain_finding
    base = f"of the audited model: {percent(runs.accuracy(runs.numbers[-1]).base)}."
    assert (base in dashboard.page_text) != mechanism.absolute


_CASES: list[tuple[dict[str, object], dict[str, Any], int, Mechanism]] = [
    ({"noise": "smooth_laplace", "answer_epsilon": 20}, {}, 60, SmoothLaplace(20.0, 1e-5)),
    ({"noise": "rounded", "decimals": 2, "answered_60": 1}, {}, 1, Rounded(2)),
    ({"noise": "exact", "question_design": "random_binary"}, {"design": "random_binary"}, 60, Exact()),
    ({"noise": "exact", "question_design": "targeted"}, {"design": "targeted"}, 101, Exact()),
    ({"noise": "noisy_sums", "question_design": "bits", "answered_2": 1}, {"design": "bits"}, 1, NoisySums(5.0)),
    ({"noise": "cauchy", "gap_kind": "absolute"}, {"design": "single"}, 100, replace(SmoothCauchy(5.0), absolute=True)),
    ({"metric": "equalized_odds", "noise": "exact"}, {"metric": "equalized_odds"}, 25, Exact()),
    ({"metric": "predictive_equality", "noise": "exact"}, {"metric": "predictive_equality"}, 25, Exact()),
]
"""Controls -> how core asks, how many answers, and how they are made."""


@pytest.mark.parametrize(("controls", "question", "m", "mechanism"), _CASES, ids=str)
def test_the_page_says_what_core_says(
    dashboard: Dashboard,
    ends: None,
    controls: dict[str, object],
    question: dict[str, object],
    m: int,
    mechanism: Mechanism,
):
    dashboard.open("bias_queries").choose(**controls)
    if (last := f"answered_{m}") not in controls and m != 25 and m != 1:
        dashboard.choose(**{last: m})
    assert_tells(dashboard, trials(**question), m, mechanism)
    everybody = trials(**question).leak(m, mechanism, "strongest").complete == 1.0
    assert everybody or mechanism.noise != "none" or m < trials(**question).numbers[-1]
    assert ("everybody's sex" in dashboard.finding) == everybody
    if "metric" in question:
        label = 0 if question["metric"] == "predictive_equality" else 1
        assert any(f"Only people with label {label} enter the gap" in text for text in dashboard.texts)
    single = [box.disabled for box in dashboard.test.selectbox if box.key == "question_single"]
    assert single == [True] * (controls.get("gap_kind") == "absolute")


SECTIONS = {
    "values": "balanced accuracy for these 100 people",
    "targeted": "One targeted query",
    "noise": "What is guaranteed",
}


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section(dashboard: Dashboard, ends: None, section: str):
    dashboard.open("bias_queries").choose(further_queries=section)
    for noise in ("exact", "noisy_sums", "cauchy"):
        dashboard.choose(noise=noise)
        assert SECTIONS[section] in dashboard.page_text
    tables = [list(frame.value.columns) for frame in dashboard.test.dataframe]
    if section == "values":
        for decoder in ("published", "without_prior", "strongest"):
            dashboard.choose(decoder=decoder)
            assert SECTIONS[section] in dashboard.page_text
    if section == "noise":
        assert [names[:3] for names in tables] == [["noise", "scale", "ε spent"]]
        dashboard.choose(noise="smooth_laplace")
        assert "Nothing at this ε: the theorem behind smooth Laplace noise" in dashboard.page_text
        dashboard.choose(noise="exact")
        assert "Nothing: the answers carry no noise" in dashboard.page_text


def test_a_tiny_group_is_refused_in_one_sentence(dashboard: Dashboard, ends: None, monkeypatch: pytest.MonkeyPatch):
    pool = pool_of(expected.audit().config)
    rare = pool.people.sensitive == 1
    rare[(pool.people.sensitive == 0).nonzero()[0][:90]] = True
    people = type(pool.people)(
        **{name: getattr(pool.people, name)[rare] for name in ("sensitive", "base", "prior", "labels")}
    )
    tiny = QueryPool(people=people, advantaged="men", disadvantaged="women", metric=pool.metric)
    monkeypatch.setattr("core.studies.bias_queries.query_pool", lambda *_: tiny)
    dashboard.open("bias_queries")
    assert "%" in dashboard.finding
    dashboard.choose(people_asked=20)
    texts = ("at least 2 people of each group", "a sample of 20 holds 1 of women")
    assert_one_sentence(dashboard.plain_problem(), texts)
    assert not dashboard.findings
    dashboard.choose(people_asked=100)
    assert "%" in dashboard.finding
