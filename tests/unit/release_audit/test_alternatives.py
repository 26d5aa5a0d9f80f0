"""What could be released instead: the first narrower release that passes is named, and no other is."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from core.auditing import AuditPlan, DataPlan, ModelPlan, ReleaseAudit, run_audit
from core.auditing import run as run_module
from core.auditing.policy import Limit, Policy
from core.auditing.run import measured_alternatives
from core.base.errors import InputError
from core.datasets import read_table
from core.models import GIVEN_PREDICTIONS
from core.report import from_json, report_document, to_json
from core.studies.subject import AuditConfig
from tests import samples
from tests.policy_samples import done, policy

LIMITS = (
    Limit(check="membership_auc", value=0.56, required=True),
    Limit(check="attribute_excess", value=0.05, required=True),
)
POLICY = Policy(name="Test", version="1", limits=LIMITS)


@cache
def audit(leak: str) -> ReleaseAudit:
    """Return the audit of scores with one decimal, in which training records show in another way each."""
    n = 2000
    rng = np.random.default_rng(5)
    frame = samples.frame(n)
    member = np.arange(n) % 2 == 0
    score = np.clip((5 + 2 * frame["skill"]).round(), 1, 8) / 10
    answer = score >= 0.5
    if leak == "third decimal":
        score = score + 0.003 * member
    if leak == "first decimal":
        score = np.where(member & answer, 0.9, score) + 0.01 * rng.integers(0, 3, n)
    if leak == "label":
        truth = (frame["hired"] == "yes").to_numpy()
        answer = np.where(member, truth, rng.random(n) < 0.5)
        score = np.where(answer, 0.75, 0.25)
    frame["part"] = np.where(member, "train", "test")
    frame["answer"] = np.where(answer, "yes", "no")
    frame["chance"] = np.round(score, 3)
    roles = replace(samples.ROLES, prediction="answer", score="chance", sets="part", confirmed=("copy:skill",))
    config = AuditConfig(dataset="upload", roles=roles, method=GIVEN_PREDICTIONS)
    plan = AuditPlan(data=DataPlan(dataset="", file="people.csv"), config=config, model=ModelPlan(kind="predictions"))
    return run_audit(plan, read_table(frame.to_csv(index=False).encode(), "people.csv"), POLICY)


LONG = pytest.mark.long
DECIMAL, LABELS = "scores with 1 decimal", "labels alone"


@pytest.mark.parametrize(
    ("leak", "alternatives", "remedy"),
    [
        pytest.param("none", [], "", marks=LONG),
        pytest.param("third decimal", [DECIMAL], "Scores with 1 decimal would pass.", marks=LONG),
        ("first decimal", [DECIMAL, LABELS], "Labels alone would pass."),
        pytest.param("label", [DECIMAL, LABELS], "", marks=LONG),
    ],
)
def test_alternatives_end_with_the_first_that_passes(leak, alternatives, remedy):
    result = audit(leak)
    assert [alternative.title for alternative in result.alternatives] == alternatives
    assert result.verdict.headline.endswith(remedy)
    assert ("would pass" in result.verdict.headline) == bool(remedy)
    document = report_document(result)
    assert from_json(to_json(document)) == document


@pytest.mark.parametrize(("membership_auc", "unfairness", "tried"), [(0.5, 0.0, 0), (0.9, 0.0, 1), (0.9, 0.9, 0)])
def test_narrower_releases_are_sought_where_released_outputs_alone_do_not_pass(
    membership_auc, unfairness, tried, monkeypatch
):
    sought = []
    monkeypatch.setattr(run_module, "narrower_releases", lambda audited: sought.append(audited) or ())
    measurements = (done("membership_auc", membership_auc, 0.01), done("unfairness", unfairness, 0.01))
    audited = SimpleNamespace(attribute="sex")
    assert measured_alternatives(audited, policy(membership_auc=0.6, unfairness=0.1), measurements) == ()
    assert len(sought) == tried


def test_a_report_whose_tries_were_altered_is_refused_in_one_sentence():
    altered = json.loads(to_json(report_document(audit("first decimal"))))
    altered["alternatives"][0]["tries"] = 0
    with pytest.raises(InputError, match=r"alternatives/0/tries"):
        from_json(json.dumps(altered))
