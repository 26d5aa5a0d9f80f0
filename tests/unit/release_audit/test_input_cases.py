"""Tables as people bring them, by command: what init guesses, asks and writes, and what audit then refuses or reads."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core.__main__ import main
from core.auditing import AuditPlan, MissingAnswers, read_plan, suggested_plan
from core.auditing.inputs import terminal_line
from core.auditing.run import audited_of
from core.auditing.suggestion import SuggestedAudit
from core.datasets import Table, build_dataset, read_table
from core.datasets.checked_table import Fact, Severity
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


def init(case: str, folder: Path, capsys: Capture) -> tuple[Any, str]:
    """Run init on a case's file; return the plan it writes and what it prints."""
    (folder / "people.csv").write_bytes(csv_of(CASES[case].frame()))
    assert main(["init", "--file", str(folder / "people.csv"), "-o", str(folder / "plan.toml")]) == 0
    return read_plan((folder / "plan.toml").read_text("utf-8")), capsys.readouterr().err


def kinds(facts: tuple[Fact, ...], severity: Severity) -> set[str]:
    return {fact.kind for fact in facts if fact.severity == severity}


@pytest.mark.long
@pytest.mark.parametrize("case", READABLE)
def test_init_guesses_and_asks_what_the_check_finds(case: str, tmp_path: Path, capsys: Capture):
    right = CASES[case]
    plan, printed = init(case, tmp_path, capsys)
    for role, value in right.roles.items():
        assert getattr(plan.config.roles, role) == value, role
    assert set(right.left_out) <= set(plan.config.roles.excluded)
    facts = suggested_plan(table_of(case), f"{case}.csv").facts()
    assert right.blocking == kinds(facts, Severity.BLOCKING)
    assert right.questions | {"favourable"} == kinds(facts, Severity.QUESTION)
    assert right.guesses <= kinds(facts, Severity.GUESS)
    assert {terminal_line(fact) for fact in facts} <= {*printed.splitlines()}


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


def test_a_label_of_letters_and_predictions_of_digits_agree_as_words_do():
    rates = {}
    for case in ("base", "letters_and_digits"):
        roles = suggestion_of(case).plan.config.roles
        assert roles is not None
        dataset = build_dataset(table_of(case), roles)
        assert dataset.predictions is not None
        rates[case] = accuracy(dataset.labels, dataset.predictions).value
    assert rates["base"] == rates["letters_and_digits"] > 0.65
