"""What every study keeps to, whatever it is asked about.

Each is run on models that leak or do not, on few people, on many groups, and with every budget infinite. It either says
in one sentence what is missing, or keeps the contract of `core.studies.study.Study`.
"""

import json
import math
from dataclasses import fields, replace
from functools import cache
from unittest.mock import Mock

import numpy as np
import pytest

from core.auditing import catalogue_plan, check_plan, commented_plan, plan_text, read_plan, run_audit
from core.auditing.policy import CHECKS, UNITS, policy_text, read_policy
from core.auditing.run import audited_of, self_test, trials
from core.base.errors import Cancelled, InputError
from core.base.object_files import pack, unpack
from core.base.serialize import plain
from core.charts import DARK, LIGHT
from core.datasets import Table
from core.report import Reports, from_json, to_json, verify_report
from core.report.page import to_html
from core.report.tables import csv_files
from core.stats.estimates import plain_row
from core.studies.registry import STUDIES
from core.studies.study import Outcome
from tests import samples
from tests.policy_samples import policy
from tests.toy_study.study import STUDY, UniquenessSettings
from tests.unit.test_vocabulary import long_sentences

SMALL = {
    "attriguard": {"budget": 0.5, "attackers": ("logistic",)},
    "bias_queries": {"questions": 5, "people": 30, "repeats": 2},
    "measured_epsilon": {"canaries": 100, "repeats": 400},
    "membership": {"shadows": 4},
    "model_card": {"count": 4},
    "two_models": {"companion": "counterpart"},
}
"""Study -> settings by which it is quick."""

TRAINED = {"trained": {"method": "unmitigated"}, "infinite budgets": {"method": "private_fair", "epsilon": math.inf}}


def plan_of(case):
    """Return what is audited: answers that were given, or a model that is trained."""
    if case in TRAINED:
        return samples.plan(**TRAINED[case])
    groups = {"group": (), "each": True} if case == "many groups" else {}
    return samples.given_plan(score="chance", sets="set", **groups)


def table_of(case, **columns):
    """Return people with a model's answers about them, and which of them trained it."""
    n = {"few people": 150, "many groups": 600}.get(case, 400)
    frame, rng = samples.frame(n), np.random.default_rng(1)
    score = 0.4 + 0.1 * frame["skill"].to_numpy() + 0.3 * rng.random(n)
    if case == "planted":
        score += 0.3 * (frame["origin"] == "north").to_numpy()
    if case == "constant":
        score = np.full(n, 0.7)
    if case == "many groups":
        frame["origin"] = [f"district {district}" for district in rng.integers(0, 5, n)]
    if case not in TRAINED:
        frame["chance"] = score.clip(0.0, 1.0).round(2)
        frame["set"] = np.where(rng.random(n) < 0.5, "train", "test")
    frame, roles = frame.assign(**columns), plan_of(case).config.roles
    return Table(name="sample", title="Sample", frame=frame, source="Made.", roles=(roles,))


@cache
def subject_of(case):
    return audited_of(plan_of(case), table_of(case), guesses=("score", "outcome"))


def settings_of(study, case):
    """Return settings by which a study is quick; with infinite budgets where a case is about them."""
    quick = SMALL.get(study.name, {})
    if case != "infinite budgets":
        return study.settings(**quick)
    budgets = {field.name: math.inf for field in fields(study.settings) if field.name in ("epsilon", "budget")}
    try:
        return study.settings(**(quick | budgets))
    except InputError:  # this study's budget is finite
        return study.settings(**quick)


@cache
def answer_of(name, case, repeat=0):
    """Run a study on a case: why not, its growing results, its steps; `repeat` only says which of several runs."""
    study, subject = STUDIES[name], subject_of(case)
    settings = settings_of(study, case)
    if reason := study.unavailable(subject, settings):
        return reason, [], []
    report = Mock()
    try:
        results = list(study.run(replace(subject), settings, report))
    except InputError as error:
        return str(error), [], []
    return "", results, [step.args for step in report.mock_calls]


def every_case(function):
    """Run a test for each study on each case."""
    slower = ("harmless", "infinite budgets", "many groups", "trained")
    cases = ["planted", "constant", "few people", *(pytest.param(case, marks=pytest.mark.long) for case in slower)]
    return pytest.mark.parametrize("name", STUDIES)(pytest.mark.parametrize("case", cases)(function))


def answered(name, case):
    """Return a study, its settings, and its results; a test ends here where something is missing."""
    refusal, results, _ = answer_of(name, case)
    if refusal:
        pytest.skip(f"{name}, {case}: {refusal}")
    return STUDIES[name], settings_of(STUDIES[name], case), results


@every_case
def test_unavailable_is_one_sentence(name, case):
    refusal, results, _ = answer_of(name, case)
    if refusal:
        assert refusal.endswith(".") and refusal[0].isupper()
        assert "Traceback" not in refusal and len(refusal) < 400
    else:
        assert results


@every_case
def test_run_repeats_itself_and_can_be_stored(name, case):
    study, settings, results = answered(name, case)
    first = outcome(study, results[-1], settings)
    _, again, _ = answer_of(name, case, repeat=1)
    assert outcome(study, again[-1], settings) == first
    assert outcome(study, unpack(pack(results[-1])), settings) == first


def outcome(study, result, settings):
    """Return all that a study says and lists of a result, as text; its tables have titles and are strict JSON."""
    findings, checks = study.findings(result, settings), study.checks(result, settings)
    tables = {title: [plain_row(row) for row in rows] for title, rows in study.tables(result, settings).items()}
    assert all(tables)
    return json.dumps(plain([findings, checks])) + json.dumps(plain(tables), allow_nan=False)


@every_case
def test_run_reports_steps_and_ends_when_cancelled(name, case):
    study, settings, _ = answered(name, case)
    _, _, reported = answer_of(name, case)
    assert all(0 <= done <= total for done, total in reported)
    assert [done for done, _ in reported] == sorted(done for done, _ in reported)
    if reported:
        assert reported[-1][0] == reported[-1][1]
        with pytest.raises(Cancelled):
            list(study.run(replace(subject_of(case)), settings, Mock(side_effect=Cancelled("Stopped."))))


@every_case
def test_checks_are_those_declared_and_in_range(name, case):
    study, settings, results = answered(name, case)
    checks = study.checks(results[-1], settings)
    declared = {check.name: check for check in study.declared}
    assert set(checks) == set(declared)
    for check, measurement in checks.items():
        estimate, unit = measurement.estimate, UNITS[declared[check].unit]
        assert measurement.check == check
        assert (estimate is None) == (measurement.outcome != Outcome.DONE)
        if estimate is None:
            assert measurement.reason.endswith(".")
            continue
        assert unit.least <= estimate.value <= unit.most and estimate.n >= 0
        assert math.isnan(estimate.low) or estimate.low - 1e-9 <= estimate.value <= estimate.high + 1e-9


@every_case
def test_findings_of_growing_results_are_short(name, case):
    study, settings, results = answered(name, case)
    for result in results:
        findings = study.findings(result, settings)
        assert findings or result is not results[-1]
        for finding in findings:
            assert finding.point.strip() and "nan" not in finding.text.split()
            sentences = (finding.point, finding.so_what, finding.to_do, *finding.caveats)
            assert not [sentence for text in sentences for sentence in long_sentences(text)]


@every_case
def test_charts_of_growing_results_are_drawn_on_both_grounds(name, case):
    study, settings, results = answered(name, case)
    for result in results:
        for title, drawing in study.charts(result, settings).items():
            assert drawing.alt.strip(), title
            assert len(drawing.table.columns) > 1 or "n/a" in drawing.alt, title
            for palette in (LIGHT, DARK):
                json.loads(drawing.figure(palette, check=True).to_json())


def test_a_table_of_one_group_is_refused():
    with pytest.raises(InputError, match="origin"):
        audited_of(plan_of("harmless"), table_of("harmless", origin="north"), guesses=("score", "outcome"))


POLICY = policy(score_uniqueness=0.5)
PLAN = replace(samples.plan(), studies=(("uniqueness", UniquenessSettings(fewest=3)),))


@pytest.fixture(scope="module", autouse=True)
def registered():
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
