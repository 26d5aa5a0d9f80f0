"""What could be released instead: the first narrower release that passes is named, and no other is."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from core.auditing import AuditPlan, DataPlan, ModelPlan, ReleaseAudit, run_audit
from core.auditing.policy import Limit, Policy, Status, judge
from core.base.errors import InputError
from core.datasets import read_table
from core.models import GIVEN_PREDICTIONS
from core.report.codec import from_json, report_document
from core.report.page import to_html
from core.report.report import to_json
from core.studies.registry import STUDIES
from core.studies.subject import AuditConfig
from tests import samples

POLICY = Policy(
    name="Test",
    version="1",
    limits=(
        Limit(check="membership_auc", value=0.56, required=True),
        Limit(check="attribute_excess", value=0.05, required=True),
    ),
)


@cache
def audit(leak: str, policy: Policy = POLICY) -> ReleaseAudit:
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
    return run_audit(plan, read_table(frame.to_csv(index=False).encode(), "people.csv"), policy)


def tried(result: ReleaseAudit) -> list[str]:
    """Return what was tried."""
    return [alternative.title for alternative in result.alternatives]


def test_scores_with_one_decimal_pass_where_the_third_leaks() -> None:
    result = audit("third decimal")
    assert tried(result) == ["scores with 1 decimal"]
    assert result.verdict.headline.endswith(" Scores with 1 decimal would pass.")
    document = report_document(result)
    assert from_json(to_json(document)) == document
    assert "Scores with 1 decimal would pass." in to_html(document)


def test_a_report_whose_tries_were_altered_is_refused_in_one_sentence() -> None:
    altered = json.loads(to_json(report_document(audit("third decimal"))))
    altered["alternatives"][0]["tries"] = 0
    with pytest.raises(InputError, match=r"alternatives/0/tries"):
        from_json(json.dumps(altered))


def test_labels_alone_pass_where_the_first_decimal_leaks() -> None:
    result = audit("first decimal")
    assert tried(result) == ["scores with 1 decimal", "labels alone"]
    assert result.verdict.headline.endswith(" Labels alone would pass.")
    assert "scores with 1 decimal: fail; labels alone: pass" in result.verdict.detail


def test_nothing_passes_where_labels_leak() -> None:
    result = audit("label")
    assert result.verdict.overall == Status.FAIL
    assert "would pass" not in result.verdict.headline
    assert tried(result) == ["labels alone"] or "labels alone: fail" in result.verdict.detail


def test_a_release_that_passes_tries_nothing() -> None:
    assert audit("none").alternatives == ()


def test_nothing_is_tried_where_another_required_check_fails() -> None:
    strict = replace(POLICY, limits=(*POLICY.limits, Limit(check="unfairness", value=0.001, required=True)))
    assert audit("third decimal", strict).alternatives == ()


def test_an_alternative_is_judged_more_strictly_than_the_release() -> None:
    result = audit("third decimal")
    (alternative,) = result.alternatives
    twice = replace(alternative, tries=40)
    verdict = judge(POLICY, result.measurements, attribute="origin", alternatives=(twice,))
    assert "adjusted for 40 steps" in verdict.detail
    assert verdict.overall == result.verdict.overall


def package_text(study: object) -> str:
    """Return the source of a study's folder."""
    folder = Path(inspect.getfile(type(study))).parent
    return "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))


@pytest.mark.parametrize("name", [name for name, study in STUDIES.items() if study.declared])
def test_studies_that_read_what_is_released_say_so(name: str) -> None:
    study = STUDIES[name]
    text = package_text(study)
    assert study.reads_outputs == ("released_scores" in text or "subject.outputs" in text)
