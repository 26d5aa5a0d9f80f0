"""AttriGuard in-process: the page says what core says, studies grow and are stopped, ratings of one's own."""

from dataclasses import replace
from functools import cache
from unittest.mock import Mock

import numpy as np
import pytest

from core.studies.attriguard import AttriGuardSettings, RatingsDefense, TableDefense, defense_of, ratings_subject
from core.studies.attriguard.study import STUDY
from pages._attriguard import attriguard_controls as controls
from tests import expected, ratings_samples
from tests.unit.datasets.bad_tables import assert_one_sentence


@cache
def few_ratings():
    """Return ratings of 80 hidden people of three cities, the last of whom rated nothing."""
    sample = ratings_samples.ratings(people=320, items=30, values=3)
    hidden = sample.people_test.tolil()
    hidden[-1] = 0.0
    return replace(sample, people_test=hidden.tocsr(), values=("Aville", "B & C", "D_*ville*"))


FEW_ATTACKERS = ("logistic", "network", "adversarial", "dropping")
FEW_BUDGETS = {"table": (0.25,), "ratings": (1.0,)}
_EXPOSE = TableDefense.expose


@cache
def studies_of_demo(settings):
    """Return the growing study of the demo, computed once for all tests."""
    return list(_EXPOSE(defense_of(expected.demo(), expected.audit().config, settings)))


def study_of(**changes):
    settings = {"budget": 0.5, "trained_budgets": FEW_BUDGETS["table"], **changes}
    return studies_of_demo(AttriGuardSettings(**settings))[-1]


@pytest.fixture
def studies(monkeypatch):
    """Few attackers, and studies of the demo that are computed once for all tests; it counts which were begun."""
    begun = Mock(side_effect=studies_of_demo)

    def expose(defense, report=None):
        if defense.people.attribute == "sex":
            return iter(begun(defense.settings))
        return _EXPOSE(defense, report)

    monkeypatch.setattr(controls, "TRAINED_BUDGETS", FEW_BUDGETS)
    monkeypatch.setattr(RatingsDefense, "every_attacker", FEW_ATTACKERS)
    monkeypatch.setattr(TableDefense, "expose", expose)
    monkeypatch.setattr("core.datasets.demo_ratings", few_ratings)
    return begun


def assert_tells(dashboard, study, budget):
    """Check finding and notes against core: who infers how much, what the noise costs, and how much there is of it."""
    _, *remaining = dashboard.assert_says(STUDY, study, AttriGuardSettings(budget=budget, trained_budgets=(1.0,)))
    assert all(finding.text in dashboard.page_text for finding in remaining)


def test_ratings_and_their_sections(dashboard, studies):
    settings = AttriGuardSettings(
        attackers=FEW_ATTACKERS, budget=0.5, trained_budgets=FEW_BUDGETS["ratings"], target="train_shares"
    )
    *_, study = STUDY.run(ratings_subject(few_ratings()), settings)
    dashboard.test.session_state["guard_data"] = "invented"
    dashboard.open("attriguard").choose(guard_budget=1.5)
    assert_tells(dashboard, study, 1.5)
    is_partial = study.reached.sum() < study.reached.size
    assert ("None was found" in dashboard.page_text) == is_partial
    for section, sentence in (
        ("transfer", "is fooled least: by"),
        ("person", "Inferred as"),
        ("where", "Half of the noise is in"),
        ("cost", "Baseline: "),
        ("others", f"AttriGuard changes {study.spent(1.5).value:.1f} ratings"),
    ):
        dashboard.choose(further_guard=section)
        assert sentence in dashboard.page_text
        if section == "person":
            dashboard.choose(guard_person=80)  # who rated nothing
            assert "Inferred as" in dashboard.page_text


@pytest.mark.long
def test_frozen_columns_and_rules_make_another_study_and_bad_ones_are_one_sentence(dashboard, studies):
    study_of()
    study = study_of(frozen=("sector",))
    dashboard.open("attriguard").choose(further_guard_table="changes", guard_frozen=["sector"])
    assert studies.call_count == 1  # nothing happens before the button is pressed
    dashboard.click("guard_use_rules")
    assert_tells(dashboard, study, controls.first_budget(study))
    columns = dashboard.test.dataframe[0].value
    assert list(columns[columns["may change"] == "frozen"]["column"]) == ["sector"]
    every_column = list(expected.demo().feature_names)
    for frozen, added, phrase in (
        ([], "purpose: car + origin: nowhere", "nowhere"),
        ([], "purposse: car + origin: nowhere", "“purposse”"),
        ([], "purpose", "must read “column: value + column: value”"),
        (every_column, "", "At least one column must be free to change"),
    ):
        dashboard.choose(guard_frozen=frozen, guard_added=added).click("guard_use_rules")
        assert phrase in dashboard.plain_problem()
        assert_tells(dashboard, study, controls.first_budget(study))  # all is as it was


@pytest.mark.long
def test_ratings_of_ones_own_stay_in_the_session(dashboard, studies):
    def give(content):
        dashboard.test.file_uploader(key="guard_upload").set_value([("films.csv", content, "text/csv")])
        dashboard.settle()

    study_of()
    rng = np.random.default_rng(3)
    rows = ["person,item,rating,attribute"]
    for k in range(60):
        town = "Up" if k % 3 else "Down"
        liked = rng.permutation(12)[:5] + (0 if town == "Up" else 6)
        rows += [f"u{k},film {item},{rng.integers(1, 6)},{town}" for item in liked]
    dashboard.test.session_state["guard_data"] = "own_ratings"
    dashboard.open("attriguard")
    assert not dashboard.findings and not dashboard.test.warning
    give("\n".join(rows).encode())
    before = dashboard.finding
    assert "inferring the attribute" in before
    give(b"person,item\n1,2\n")
    assert_one_sentence(dashboard.plain_problem())
    assert dashboard.finding == before  # what was computed is not lost
    dashboard.click("guard_remove")
    assert not dashboard.findings  # though its file is still in the box
    dashboard.choose(guard_data="table")
    assert "inferring the sex" in dashboard.finding
