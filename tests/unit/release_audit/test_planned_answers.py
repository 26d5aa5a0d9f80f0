"""The planned answers to bias questions: none at all, more than two groups, and predictions without scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.config import AuditConfig
from core.datasets import Roles, Table
from core.models import GIVEN
from core.policy import Limit, Policy, judge
from core.queries import query_pool
from core.release_audit import AuditPlan, MembershipPlan, ModelPlan, PlannedAnswers, audit_with_people
from core.release_audit.answer_checks import planned_trials, two_sided
from core.release_audit.inputs import Audited
from core.release_audit.run import audited_of, measured
from tests import samples

ROLES = Roles(label="hired", positive="yes", sensitive="region", each=True)
PLAN = AuditPlan(
    config=AuditConfig(dataset="sample", roles=ROLES, method="unmitigated", tolerance=0.05, seed=7),
    answers=PlannedAnswers(questions=6, people=40, mechanism="exact", repeats=4),
    membership=MembershipPlan(shadows=0),
)


def regions() -> Table:
    """Return people of one origin and of two kinds of another, of 35%, about 33% and 33%."""
    table = samples.table(1500, seed=8)
    east = np.arange(len(table.frame)) % 2 == 0
    region = np.where(table.frame["origin"] == "north", "north", np.where(east, "east", "west"))
    return replace(table, frame=table.frame.drop(columns="origin").assign(region=region), roles=(ROLES,))


@pytest.fixture(scope="module")
def three() -> Audited:
    return audited_of(PLAN, regions())


def policy(**limits: float) -> Policy:
    signed = {"author": "We", "date": "2026-01-31", "rationale": "For a test."}
    made = tuple(Limit(check=check, value=value, **signed) for check, value in limits.items())
    return Policy(name="Ours", version="1", limits=made, **signed)


def test_of_three_groups_the_largest_stands_against_everybody_else(three: Audited):
    two = two_sided(three.dataset)
    counts = np.bincount(three.dataset.sensitive, minlength=3)
    largest = int(counts.argmax())
    assert two.group_names == ("everybody else", three.dataset.group_names[largest])
    assert (two.sensitive == (three.dataset.sensitive == largest)).all() and two.sensitive.sum() == counts[largest]
    assert (two.features == three.dataset.features).all()
    found = measured("answers_excess", three)
    assert found.outcome == "done" and found.basis == "measured" and found.estimate is not None
    assert found.estimate.value > 0.05  # six exact answers about forty people
    assert f"Whether the region is {two.group_names[1]}, of 40 test people" in found.attacked
    assert any(
        f"of 3 the largest, {two.group_names[1]}, stands against everybody" in told for told in found.assumptions
    )
    pool = query_pool(three.config, two, three.model, three.splits)
    assert pool.people.n == three.splits.test.size  # asked about nobody the model was trained on
    assert (pool.people.base == three.model.scores[three.splits.test]).all()
    assert sum(pool.people.sizes) == pool.people.n and 0 < planned_trials(three).n_disadvantaged < 40


def test_two_groups_stay_as_they_are():
    dataset = samples.dataset(300)
    assert two_sided(dataset) is dataset


@pytest.mark.parametrize("scores", [True, False])
def test_no_answers_are_a_statement(scores: bool, three: Audited):
    """Whoever plans none declares that none are given; with labels alone as well."""
    plan = replace(PLAN, answers=PlannedAnswers(questions=0))
    model = three.model if scores else replace(three.model, scores_given=False)
    audited = Audited(three.config, three.dataset, three.splits, model, three.progress, plan=plan)
    excess, named = measured("answers_excess", audited), measured("targeted_leakage", audited)
    for found, value in ((excess, 0.0), (named, 0.5)):
        assert (found.outcome, found.basis, found.reason) == ("done", "declared", "")
        assert found.estimate is not None
        assert (found.estimate.value, found.estimate.low, found.estimate.high) == (value, value, value)
        assert found.attacked == "Nothing: no answers to bias questions are planned."
        assert "was not measured" in found.assumptions[0]
    assert excess.control is None and named.control is not None and named.control.value == 0.5
    kept = judge(policy(answers_excess=0.05, targeted_leakage=0.75), (excess, named), attribute="region")
    rows = {row.check: row for row in kept.rows if row.limit is not None}
    assert [row.verdict for row in rows.values()] == ["pass", "pass"] and kept.exit_code == 0
    assert "Computed from what was declared" in rows["answers_excess"].why
    strict = judge(policy(targeted_leakage=0.5), (named,), attribute="region")
    assert strict.exit_code == 0  # a coin keeps to a coin's limit


def test_an_audit_without_answers_asks_nothing():
    people = samples.frame(600, seed=3)
    people["said"] = np.where(people["skill"] > 0, "yes", "no")
    table = replace(samples.table(600, seed=3), frame=people)
    roles = replace(samples.ROLES, prediction="said")
    plan = AuditPlan(
        model=ModelPlan(kind="predictions"),
        config=AuditConfig(dataset="upload", roles=roles, method=GIVEN, tolerance=0.1),
        membership=MembershipPlan(shadows=0),
    )
    audit = audit_with_people(plan, table, policy(answers_excess=0.05, targeted_leakage=0.75))[0]
    assert audit.verdict.exit_code == 0
    assert not audit.tables.get("answers")
