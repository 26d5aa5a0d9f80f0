"""A study that no line of the product knows has a table in plans, a command, a chapter, a limit and experiment rows."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.__main__ import main
from core.auditing import (
    catalogue_plan,
    check_plan,
    commented_plan,
    plan_text,
    read_plan,
    run_audit,
)
from core.auditing.policy import CHECKS, policy_text, read_policy
from core.auditing.run import self_test, trials
from core.report import Reports, from_json, to_json, verify_report
from core.report.page import to_html
from core.report.tables import csv_files
from core.studies.registry import STUDIES
from tests import samples
from tests.policy_samples import policy
from tests.toy_study.study import STUDY, UniquenessSettings

POLICY = policy(score_uniqueness=0.5)
PLAN = replace(samples.plan(), studies=(("uniqueness", UniquenessSettings(fewest=3)),))


@pytest.fixture(scope="module", autouse=True)
def registered():
    """The toy is a study."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(STUDIES, STUDY.name, STUDY)
        yield


def test_plans_have_a_table_for_it_and_policies_a_limit():
    written = plan_text(PLAN)
    assert "[uniqueness]\nfewest = 3" in written and read_plan(written) == PLAN
    assert "[uniqueness]\n# Fewest people who must share a score.\nfewest = 5" in commented_plan(catalogue_plan("demo"))
    assert read_plan(written.partition("[uniqueness]")[0]).studies == ()
    with pytest.raises(Exception, match=r"uniqueness\.fewest must be from 2 to 1,000, got 1"):
        read_plan(written.replace("fewest = 3", "fewest = 1"))
    assert list(CHECKS)[-1] == "score_uniqueness" and read_policy(policy_text(POLICY), name="p") == POLICY


def test_the_command_runs_it(tmp_path, capsys):
    files = [f"csv={tmp_path / 'a.csv'}", f"json={tmp_path / 'a.json'}"]
    settings = [word for key in ("method=unmitigated", "fewest=4", *files) for word in ("--set", key)]
    assert main(["attack", "uniqueness", *settings]) == 0
    assert "share their score with fewer than 4 others." in capsys.readouterr().out
    assert (tmp_path / "a.csv").read_text("utf-8-sig").count(STUDY.title) == 3
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    (check,) = content["tables"]["Checks"]
    assert content["settings"] == {"fewest": 4} and check["check"] == "score_uniqueness"
    assert main(["attack", "uniqueness", "--set", "fewest=1"]) == 3


@pytest.mark.long
def test_an_audit_judges_it_and_the_report_has_its_chapter():
    reports = Reports(run_audit(PLAN, samples.table(600), POLICY))
    document = from_json(to_json(reports.document))
    check_plan(document.plan)
    assert document.plan == PLAN
    (row,) = [row for row in document.rows if row.check == "score_uniqueness"]
    assert row.verdict in ("pass", "fail", "inconclusive")
    (chapter,) = [entry for entry in document.findings if entry.study == STUDY.name]
    assert chapter.title == STUDY.title and "Release fewer decimals." in to_html(document)
    assert "table-people-singled-out-by-their-score.csv" in csv_files(document)
    assert all(finding.holds for finding in verify_report(to_json(document)).findings)
    assert [row.value for row in reports.summary.settings if row.part == STUDY.title] == ["3"]


def test_its_self_test():
    (tested,) = self_test(runs=10, tried=[trial for trial in trials() if trial[0].name == "uniqueness"])
    assert tested.passed and tested.detected.value == 1.0 and tested.false_alarms.value == 0.0
