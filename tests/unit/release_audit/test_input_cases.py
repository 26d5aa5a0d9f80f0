"""Tables as people bring them, by command: what init guesses, asks and writes, and what audit then refuses or reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core.__main__ import main
from core.auditing import AuditPlan, MissingAnswers, read_plan, suggested_plan
from core.auditing.inputs import TITLES, terminal_line
from core.auditing.run import audited_of, measured
from core.auditing.suggestion import SuggestedAudit
from core.base.errors import InputError
from core.datasets import Roles, Table, build_dataset, read_table
from core.datasets.checked_table import REFUSED, Fact, Severity
from core.datasets.input_check import check_input
from core.stats.estimates import accuracy
from tests.input_cases import CASES, csv_of

Capture = pytest.CaptureFixture[str]

READABLE = [name for name in CASES if name != "without_true_label"]
"""Cases of which a plan can be written."""


@cache
def table_of(case: str) -> Table:
    return read_table(csv_of(CASES[case].frame()), f"{case}.csv")


@cache
def suggestion_of(case: str) -> SuggestedAudit:
    roles = suggested_plan(table_of(case), f"{case}.csv").plan.config.roles
    assert roles is not None
    return suggested_plan(table_of(case), f"{case}.csv", favourable=roles.positive)


@dataclass(frozen=True)
class Written:
    """What init wrote and printed."""

    folder: Path
    plan: AuditPlan
    text: str
    printed: str

    @property
    def roles(self) -> Roles:
        assert self.plan.config.roles is not None
        return self.plan.config.roles


def init(case: str, folder: Path, capsys: Capture, *flags: str) -> Written:
    """Run init on a case's file; exit code 0 is taken for granted."""
    (folder / "people.csv").write_bytes(csv_of(CASES[case].frame()))
    plan = folder / "plan.toml"
    assert main(["init", "--file", str(folder / "people.csv"), "-o", str(plan), *flags]) == 0
    text = plan.read_text("utf-8")
    return Written(folder=folder, plan=read_plan(text), text=text, printed=capsys.readouterr().err)


def audit(folder: Path, capsys: Capture) -> tuple[int, list[str]]:
    """Run audit on the plan of a folder, return its exit code and what it says."""
    code = main(["audit", str(folder / "plan.toml"), "--out", str(folder / "out"), "--no-self-test", "-q"])
    return code, capsys.readouterr().err.splitlines()


def kinds(facts: tuple[Fact, ...], severity: Severity) -> set[str]:
    return {fact.kind for fact in facts if fact.severity == severity}


@pytest.mark.long
@pytest.mark.parametrize("case", READABLE)
def test_init_guesses_asks_and_prints_in_the_words_of_the_check(case: str, tmp_path: Path, capsys: Capture):
    right = CASES[case]
    written = init(case, tmp_path, capsys)
    for role, value in right.roles.items():
        assert getattr(written.roles, role) == value, role
    assert set(right.left_out) <= set(written.roles.excluded)
    facts = suggested_plan(table_of(case), f"{case}.csv").facts()
    assert right.blocking == kinds(facts, Severity.BLOCKING)
    assert right.questions | {"favourable"} == kinds(facts, Severity.QUESTION)
    assert right.guesses <= kinds(facts, Severity.GUESS)
    comments = [line.removeprefix("# ") for line in written.text.splitlines() if line.startswith("# ")]
    for fact in facts:
        assert terminal_line(fact) in written.printed.splitlines()
        if fact.severity != Severity.NOTE:
            assert f"{TITLES[fact.severity]}: {fact.text}" in comments
    assert "favourable =   (required)" in comments
    assert not any(line.startswith("favourable") for line in written.text.splitlines())


@pytest.mark.long
@pytest.mark.parametrize("case", READABLE)
def test_audit_ends_in_3_and_names_each_key_without_an_answer(case: str, tmp_path: Path, capsys: Capture):
    init(case, tmp_path, capsys)
    code, lines = audit(tmp_path, capsys)
    assert code == 3 and not (tmp_path / "out").exists()
    suggestion = suggested_plan(table_of(case), f"{case}.csv")
    facts = check_input(suggestion.source.table.frame, suggestion.source.roles)  # what a plan writes is no guess
    keys = [fact.key for fact in facts if fact.severity in REFUSED]
    if len(keys) == 1:
        (line,) = lines
        assert line.startswith("fairleak audit: data.favourable: ")
    else:
        headline, *lines = lines
        assert headline == f"fairleak audit: Answers missing before an audit: {len(keys)}."
        assert sorted(line.split(": ")[0] for line in lines) == sorted(f"- {key}" for key in keys)


@pytest.mark.long
@pytest.mark.parametrize("case", [name for name in READABLE if name != "reversed_score"])
def test_with_the_one_answer_that_has_no_default_the_audit_begins(case: str):
    suggestion = suggestion_of(case)
    audited = audited_of(suggestion.plan, table_of(case))
    assert not kinds(audited.facts, Severity.BLOCKING)
    left_out = {*CASES[case].left_out, *(value for value in CASES[case].roles.values() if isinstance(value, str))}
    assert not left_out & set(audited.dataset.feature_names)


def test_a_reversed_score_stops_before_the_verdict_until_it_is_turned_or_confirmed():
    suggestion = suggestion_of("reversed_score")
    table, plan = table_of("reversed_score"), suggestion.plan
    with pytest.raises(MissingAnswers) as caught:
        audited_of(plan, table)
    assert {fact.kind for fact in caught.value.facts} == CASES["reversed_score"].blocking
    assert 'data.positive = "no"' in str(caught.value)
    for changes in ({"positive": "no"}, {"confirmed": tuple(CASES["reversed_score"].blocking)}):
        assert not kinds(audited_of(changed(plan, **changes), table).facts, Severity.BLOCKING)


def changed(plan: AuditPlan, **changes: Any) -> AuditPlan:
    assert plan.config.roles is not None
    return replace(plan, config=replace(plan.config, roles=replace(plan.config.roles, **changes)))


def test_a_table_without_the_true_outcome_is_told_what_is_missing(tmp_path: Path, capsys: Capture):
    (tmp_path / "people.csv").write_bytes(csv_of(CASES["without_true_label"].frame()))
    assert main(["init", "--file", str(tmp_path / "people.csv")]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "true outcome" in line and "--label" in line


def test_nobody_with_two_rows_is_in_training_and_test():
    suggestion = suggestion_of("two_rows_a_person")
    roles = suggestion.plan.config.roles
    assert roles is not None
    dataset = build_dataset(table_of("two_rows_a_person"), roles)
    assert dataset.n == 800 and dataset.rows_read == 1_600
    assert "student_id" not in dataset.feature_names
    assert any("800 people" in note for note in dataset.notes)


def test_a_label_of_letters_and_predictions_of_digits_agree_as_words_do():
    rates = {}
    for case in ("base", "letters_and_digits"):
        roles = suggestion_of(case).plan.config.roles
        assert roles is not None
        dataset = build_dataset(table_of(case), roles)
        assert dataset.predictions is not None
        rates[case] = accuracy(dataset.labels, dataset.predictions).value
    assert rates["base"] == rates["letters_and_digits"] > 0.65


def test_the_same_people_and_model_leak_the_same_however_the_label_is_written():
    values = {}
    for case in ("weak_letters", "weak_words"):
        audited = audited_of(suggestion_of(case).plan, table_of(case))
        measurements = [measured(check, audited) for check in ("membership_auc", "membership_advantage")]
        values[case] = [measurement.estimate and measurement.estimate.value for measurement in measurements]
    assert values["weak_letters"] == values["weak_words"]
    auc, advantage = values["weak_words"]
    assert auc is not None and auc > 0.55 and advantage is not None and advantage > 0.1


def test_a_group_without_a_positive_label_is_refused_where_its_rate_is_audited():
    plan = changed(suggestion_of("group_without_positive").plan, sensitive="region", at_most=None, each=True)
    audited = audited_of(plan, table_of("group_without_positive"))
    assert "east" in audited.dataset.group_names
    metric = replace(plan, config=replace(plan.config, metric="equal_opportunity"))
    with pytest.raises(InputError, match="needs at least 3 people of each group with label 1"):
        audited_of(metric, table_of("group_without_positive"))
