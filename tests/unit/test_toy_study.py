"""A study that no line of the product knows has a table in plans, a command, a chapter, a limit and experiment rows."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from core.__main__ import main
from core.auditing import (
    AuditPlan,
    DataPlan,
    MembershipSettings,
    ModelPlan,
    audit_steps,
    catalogue_plan,
    check_plan,
    commented_plan,
    plan_text,
    read_plan,
    run_audit,
)
from core.auditing.policy import CHECKS, policy_text, read_policy
from core.auditing.run import audited_of, measured, self_test, trials
from core.experiments.engine import MemoryStore
from core.experiments.experiment import grid_of, in_grid_order, run_experiment
from core.report import Reports, from_json, to_json, verify_report
from core.report.page import to_html
from core.report.tables import csv_files
from core.studies.registry import STUDIES
from core.studies.subject import AuditConfig
from tests import samples
from tests.policy_samples import policy
from tests.toy_study.study import STUDY, UniquenessSettings

POLICY = policy(score_uniqueness=0.5)
PLAN = AuditPlan(
    data=DataPlan(dataset="", file="people.csv"),
    model=ModelPlan(),
    config=AuditConfig(dataset="upload", roles=samples.ROLES, method="unmitigated", tolerance=0.05, seed=3),
    membership=MembershipSettings(shadows=0),
    studies=(("uniqueness", UniquenessSettings(fewest=3)),),
)


@pytest.fixture(scope="module", autouse=True)
def registered():
    """The toy is a study."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(STUDIES, STUDY.name, STUDY)
        yield


def test_it_is_one_file_of_at_most_300_lines():
    files = list((Path(__file__).resolve().parents[1] / "toy_study").glob("*.py"))
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= 300
    assert not [path for path in Path("core").rglob("*.py") if "uniqueness" in path.read_text(encoding="utf-8")]


def test_plans_have_a_table_for_it_and_policies_a_limit():
    written = plan_text(PLAN)
    assert "[uniqueness]\nfewest = 3" in written and read_plan(written) == PLAN
    assert "[uniqueness]\n# Fewest people who must share a score.\nfewest = 5" in commented_plan(catalogue_plan("demo"))
    assert read_plan(written.partition("[uniqueness]")[0]).studies == ()
    with pytest.raises(Exception, match=r"uniqueness\.fewest must be from 2 to 1,000, got 1"):
        read_plan(written.replace("fewest = 3", "fewest = 1"))
    assert list(CHECKS)[-1] == "score_uniqueness" and read_policy(policy_text(POLICY), name="p") == POLICY


def test_the_command_runs_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    files = [f"csv={tmp_path / 'a.csv'}", f"json={tmp_path / 'a.json'}"]
    settings = [word for key in ("method=unmitigated", "fewest=4", *files) for word in ("--set", key)]
    assert main(["attack", "uniqueness", *settings]) == 0
    output = capsys.readouterr().out
    assert "share their score with fewer than 4 others." in output and "share a score with" in output
    with open(tmp_path / "a.csv", encoding="utf-8-sig", newline="") as file:
        assert [row["table"] for row in csv.DictReader(file)].count(STUDY.title) == 3
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    (check,) = content["tables"]["Checks"]
    assert content["settings"] == {"fewest": 4} and check["check"] == "score_uniqueness"
    assert main(["attack", "uniqueness", "--set", "fewest=1"]) == 3


@pytest.mark.long
def test_an_audit_judges_it_and_the_report_has_its_chapter():
    steps: list[tuple[int, int]] = []
    audit = run_audit(PLAN, samples.table(600), POLICY, report=lambda done, total: steps.append((done, total)))
    assert steps[-1] == (audit_steps(PLAN), audit_steps(PLAN))
    reports = Reports(audit)
    document = from_json(to_json(reports.document))
    check_plan(document.plan)
    assert document.plan == PLAN and "[uniqueness]" in plan_text(document.plan)
    (row,) = [row for row in document.rows if row.check == "score_uniqueness"]
    assert row.verdict in ("pass", "fail", "inconclusive") and row.attempt.estimate is not None
    (chapter,) = [entry for entry in document.findings if entry.study == STUDY.name]
    assert chapter.title == STUDY.title and chapter.findings[0].to_do == "Release fewer decimals."
    page = to_html(document)
    assert f'<h2 id="study-uniqueness">{STUDY.title}</h2>' in page and "Release fewer decimals." in page
    assert "table-people-singled-out-by-their-score.csv" in csv_files(document)
    assert all(finding.holds for finding in verify_report(to_json(document)).findings)
    told_settings = {row.setting: row.value for row in reports.summary.settings if row.part == STUDY.title}
    assert list(told_settings.values()) == ["3"]
    labels = replace(PLAN, outputs=replace(PLAN.outputs, released="labels"))
    unscored = measured("score_uniqueness", audited_of(labels, samples.table(600)))
    assert (unscored.outcome, unscored.reason) == ("not_run", "Scores are needed; labels alone are released.")


def test_its_self_test():
    (tested,) = self_test(runs=10, tried=[trial for trial in trials() if trial[0].name == "uniqueness"])
    assert tested.passed and tested.detected.value == 1.0 and tested.false_alarms.value == 0.0


def test_an_experiment_has_rows_of_it():
    points = grid_of([PLAN], {"uniqueness.fewest": (2, 50), "model.seed": (1, 2)})
    measured_rows = list(run_experiment(points, samples.table(600), studies=("uniqueness",), store=MemoryStore()))
    rows = in_grid_order(measured_rows, points)
    assert [row.values for row in rows] == [point.values for point in points]
    values = {(row.values["uniqueness.fewest"], row.seed): row.measurement.estimate.value for row in rows}
    assert values[2, 1] < values[50, 1] and values[2, 2] < values[50, 2]
    audited = measured("score_uniqueness", audited_of(points[0].plan, samples.table(600)))
    assert rows[0].measurement == audited
