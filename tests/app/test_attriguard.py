"""AttriGuard in-process: the page says what core says, studies grow and are stopped, ratings of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from core.datasets.ratings import Ratings, build_ratings
from core.studies.attriguard import (
    AttriGuardSettings,
    Exposure,
    RatingsDefense,
    TableDefense,
    defense_of,
    ratings_subject,
)
from core.studies.attriguard.study import STUDY
from core.studies.study import ReportProgress
from pages._attriguard import attriguard_controls as controls
from tests import expected
from tests.app.dashboard import Dashboard, Gate, RecordedJob
from tests.unit.datasets.bad_tables import assert_one_sentence


@cache
def few_ratings() -> Ratings:
    """Return ratings of 240 invented people of three cities, each of which has apps of its own."""
    from scipy import sparse

    rng = np.random.default_rng(7)
    city = rng.choice(3, 240, p=(0.5, 0.3, 0.2))
    liked = np.where(np.arange(30)[None, :] // 10 == city[:, None], 0.35, 0.1)
    stars = (rng.random((240, 30)) < liked) * rng.choice((0.4, 0.8, 1.0), (240, 30))
    stars[0] = 0.0  # somebody who rated nothing
    stars[-1] = 0.0
    names = ("Aville", "B & C", "D_*ville*")
    table = sparse.csr_array(stars)
    return build_ratings(
        (table[:160], table[160:]),
        ([names[i] for i in city[:160]], [names[i] for i in city[160:]]),
        title="Few ratings",
        source="Invented.",
        attribute="city",
        items=[f"app {i}" for i in range(30)],
        synthetic=True,
    )


FEW_ATTACKERS = ("logistic", "network", "adversarial", "dropping")
"""Attackers of a study on ratings."""

FEW_BUDGETS = {"table": (0.25,), "ratings": (1.0,)}
"""Few budgets to train against."""

_EXPOSE = TableDefense.expose
_STUDIES: dict[AttriGuardSettings, list[Exposure]] = {}


def table_settings(**changes: Any) -> AttriGuardSettings:
    """Return what the page sets on the demo, but for the budget of the slider."""
    return AttriGuardSettings(**{"budget": 0.5, "trained_budgets": FEW_BUDGETS["table"], **changes})


def studies_of_demo(settings: AttriGuardSettings) -> list[Exposure]:
    """Return the growing study of the demo, computed once for all tests."""
    if settings not in _STUDIES:
        defense = defense_of(expected.demo(), expected.audit().config, settings)
        _STUDIES[settings] = list(_EXPOSE(defense))
    return _STUDIES[settings]


class Growing(Gate):
    """Studies that grow only as far as a test allows."""

    def __init__(self) -> None:
        super().__init__()
        self.free, self.begun = 10**6, 0

    def studies(self, settings: AttriGuardSettings, report: ReportProgress) -> Iterator[Exposure]:
        self.begun += 1
        grown = studies_of_demo(settings)
        for i, study in enumerate(grown):
            if i >= self.free:
                self.wait()
            report(i, len(grown))
            yield study


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Growing:
    """Few attackers, and studies that are made before a page waits for them."""
    studies_of_demo(table_settings())
    growing = Growing()
    monkeypatch.setattr(controls, "TRAINED_BUDGETS", FEW_BUDGETS)
    monkeypatch.setattr(RatingsDefense, "every_attacker", FEW_ATTACKERS)
    monkeypatch.setattr(
        TableDefense,
        "expose",
        lambda defense, report=None: (
            growing.studies(defense.settings, report) if defense.people.attribute == "sex" else _EXPOSE(defense, report)
        ),
    )
    monkeypatch.setattr("core.datasets.demo_ratings", few_ratings)
    return growing


def study_of(**changes: Any) -> Exposure:
    """Return the whole study of the demo with these settings."""
    return studies_of_demo(table_settings(**changes))[-1]


@cache
def study_of_ratings(**changes: Any) -> Exposure:
    """Return the whole study of the few ratings with these settings."""
    settings = {"budget": 0.5, "trained_budgets": FEW_BUDGETS["ratings"], "target": "train_shares", **changes}
    attackers = AttriGuardSettings(attackers=FEW_ATTACKERS, **settings)
    *_, study = STUDY.run(ratings_subject(few_ratings()), attackers)
    return study


def assert_tells(dashboard: Dashboard, study: Exposure, budget: float) -> None:
    """Check finding and notes against core: who infers how much, what the noise costs, and how much there is of it."""
    headline, *remaining = STUDY.findings(study, AttriGuardSettings(budget=budget, trained_budgets=(1.0,)))
    assert headline.point in dashboard.plain_finding and headline.evidence in dashboard.plain_finding, dashboard.finding
    assert all(finding.text in dashboard.page_text for finding in remaining)


@pytest.mark.long
def test_the_slider_moves_the_finding_and_computes_nothing_anew(dashboard: Dashboard, gate: Growing):
    dashboard.open("attriguard")
    study = study_of()
    jobs = len(RecordedJob.started)
    last = study.last_budget
    for budget in (0.0, 0.1, last):
        dashboard.choose(guard_budget=budget)
        assert_tells(dashboard, study, budget)
    assert len(RecordedJob.started) == jobs and gate.begun == 1


@pytest.mark.parametrize(
    "changes",
    [
        {},
        pytest.param({"noise_policy": "add_new"}, marks=pytest.mark.long),
        pytest.param({"defender": "network"}, marks=pytest.mark.long),
        pytest.param({"target": "uniform", "margin": 1.0}, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_ratings(dashboard: Dashboard, gate: Growing, changes: dict[str, Any]):
    dashboard.open("attriguard")
    keys = {name: f"guard_{name}" for name in ("defender", "target", "margin")} | {"noise_policy": "guard_policy"}
    dashboard.choose(guard_data="invented", **{keys[name]: value for name, value in changes.items()})
    study = study_of_ratings(**changes)
    if changes.get("defender") == "network":
        assert "Network: " in dashboard.page_text
    else:
        dashboard.choose(guard_budget=1.5)
        assert_tells(dashboard, study, 1.5)
    is_partial = study.reached.sum() < study.reached.size
    assert ("None was found" in dashboard.page_text) == is_partial
    assert not dashboard.test.warning


SECTIONS = {
    "transfer": "is fooled least: by",
    "person": "Inferred as",
    "where": "Half of the noise is in",
    "cost": "Baseline: ",
}


@pytest.mark.long
def test_every_section_of_a_table(dashboard: Dashboard, gate: Growing):
    dashboard.open("attriguard")
    study, texts = study_of(), {}
    sentences = {**SECTIONS, "changes": "of the changed records hold only pairs of values that somebody has"}
    for section, sentence in sentences.items():
        dashboard.choose(further_guard_table=section)
        texts[section] = dashboard.page_text
        assert sentence in texts[section]
        if section == "person":
            for budget in (0.0, 0.3):
                dashboard.choose(guard_budget=budget, guard_person=7)
                k = 6
                expected_size = float(study.mechanism(budget)[k] @ study.size[k])
                assert f"“{study.values[study.predicted[k]]}”" in dashboard.page_text
                assert f"on average {expected_size:.2f} columns change" in dashboard.page_text
            (frame,) = (f.value for f in dashboard.test.dataframe)
            assert list(frame.columns)[:2] == ["column", "without noise"] and len(frame) == study.size[k].max()
        if section == "cost":
            assert "no fairness method" in texts[section]
            dashboard.choose(guard_budget=0.0)
            assert dashboard.page_text != texts[section]
    rule = study_of().defense.found_rules
    example = dashboard.widget("guard_added").placeholder
    assert example == (" + ".join(f"{a}: {b}" for a, b in (rule[0].pair[:2], rule[0].pair[2:])) if rule else "")


@pytest.mark.long
def test_every_section_of_ratings(dashboard: Dashboard, gate: Growing):
    dashboard.open("attriguard").choose(guard_data="invented")
    texts = {}
    for section, sentence in {**SECTIONS, "others": "AttriGuard changes"}.items():
        dashboard.choose(further_guard=section)
        texts[section] = dashboard.page_text
        assert sentence in texts[section]
        if section == "person":
            people_ = few_ratings().people_test.shape[0]
            assert f"Person, 1 to {people_}" in [w.label for w in dashboard.test.number_input]
            dashboard.choose(guard_person=80)  # who rated nothing
            assert "Inferred as" in dashboard.page_text
    assert "of the noise against logistic regression fools a network" in texts["transfer"]
    assert "of the 10 items recommended are right" in texts["cost"]
    for budget in (0.0, 1.5):  # other defences are compared at the slider's budget
        dashboard.choose(guard_budget=budget)
        assert f"AttriGuard changes {study_of_ratings().spent(budget).value:.1f} ratings" in dashboard.page_text


@pytest.mark.long
def test_frozen_columns_and_rules_make_another_study(dashboard: Dashboard, gate: Growing):
    dashboard.open("attriguard").choose(further_guard_table="changes", guard_frozen=["sector"])
    assert gate.begun == 1  # nothing happens before the button is pressed
    dashboard.click("guard_use_rules")
    study = study_of(frozen=("sector",))
    assert_tells(dashboard, study, controls.first_budget(study))
    columns = dashboard.test.dataframe[0].value
    assert list(columns[columns["may change"] == "frozen"]["column"]) == ["sector"]
    dashboard.choose(guard_frozen=[], guard_added="purpose: car + origin: nowhere")
    dashboard.click("guard_use_rules")
    assert_one_sentence(dashboard.plain_problem(), ("nowhere",))
    assert_tells(dashboard, study, controls.first_budget(study))  # all is as it was
    dashboard.choose(guard_added="purposse: car + origin: nowhere")
    dashboard.click("guard_use_rules")
    problem = dashboard.plain_problem()
    assert "“purposse”" in problem and ", ".join(expected.demo().feature_names[:5]) in problem
    dashboard.choose(guard_added="", guard_frozen=list(expected.demo().feature_names))
    dashboard.click("guard_use_rules")
    assert "At least one column must be free to change" in dashboard.plain_problem() and "%" in dashboard.finding
    dashboard.choose(guard_frozen=[])
    dashboard.click("guard_use_rules")
    study = study_of()
    assert_tells(dashboard, study, controls.first_budget(study))
    dashboard.choose(guard_added="purpose")
    dashboard.click("guard_use_rules")
    assert "must read “column: value + column: value”" in dashboard.plain_problem() and "%" in dashboard.finding


@pytest.mark.long
def test_attackers_come_one_after_the_other_and_can_be_stopped(dashboard: Dashboard, gate: Growing):
    gate.free = 2
    gate.open.clear()
    dashboard.open("attriguard", settled=False)
    while not gate.reached.wait(0.1):  # the table is being prepared
        dashboard.test.run()
    dashboard.test.run()
    assert "Adversarial training is not trained yet" in dashboard.finding
    dashboard.widget("further_guard_table").set_value("transfer")
    dashboard.test.run()
    assert "is fooled least so far: by" in dashboard.page_text
    dashboard.press("cancel_attriguard")
    gate.open.set()
    dashboard.settle()
    assert "Adversarial training is not trained yet" in dashboard.finding
    assert dashboard.button("start_attriguard").label == "Start again"
    dashboard.choose(guard_budget=0.1)
    assert "is not trained yet" in dashboard.finding  # the slider starts nothing
    dashboard.choose(further_guard_table="cost")  # other work does not lose what is there
    assert "is not trained yet" in dashboard.finding and "no fairness method" in dashboard.page_text
    assert dashboard.has_button("start_attriguard")
    dashboard.click("start_attriguard")
    study = study_of()
    assert_tells(dashboard, study, 0.1)


def long_table(people_: int = 60) -> bytes:
    """Return ratings of one's own as one long table."""
    rng = np.random.default_rng(3)
    rows = ["person,item,rating,attribute"]
    for k in range(people_):
        town = "Up" if k % 3 else "Down"
        liked = rng.permutation(12)[:5] + (0 if town == "Up" else 6)
        rows += [f"u{k},film {item},{rng.integers(1, 6)},{town}" for item in liked]
    return "\n".join(rows).encode()


@pytest.mark.long
def test_ratings_of_ones_own_stay_in_the_session(dashboard: Dashboard, gate: Growing):
    dashboard.open("attriguard").choose(guard_data="own_ratings")
    assert not dashboard.findings and not dashboard.test.warning
    box = dashboard.test.file_uploader(key="guard_upload")
    box.set_value([("films.csv", long_table(), "text/csv")])
    dashboard.settle()
    assert "inferring the attribute" in dashboard.finding
    dashboard.click("guard_remove")
    assert not dashboard.findings  # though its file is still in the box
    box = dashboard.test.file_uploader(key="guard_upload")
    box.set_value([("films.csv", long_table(), "text/csv")])
    dashboard.settle()
    before = dashboard.finding
    box = dashboard.test.file_uploader(key="guard_upload")
    box.set_value([("films.csv", b"person,item\n1,2\n", "text/csv")])
    dashboard.settle()
    assert_one_sentence(dashboard.plain_problem())
    assert dashboard.finding == before  # what was computed is not lost
    dashboard.click("guard_remove")
    assert not dashboard.findings
    dashboard.choose(guard_data="table")
    assert "inferring the sex" in dashboard.finding
