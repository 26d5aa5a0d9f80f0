"""Facts of the input check in a plan, on a terminal and as the refusal of an audit; before any detector."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.__main__ import main
from core.auditing import (
    AuditPlan,
    DataPlan,
    MembershipSettings,
    MissingAnswers,
    commented_plan,
    inputs,
    read_plan,
    run_audit,
)
from core.auditing.inputs import FAVOURABLE, answer_line, plan_comments, require_answers, terminal_line
from core.auditing.policy import default_policy
from core.auditing.run import audited_of
from core.base.errors import InputError
from core.datasets.checked_table import Fact, Repair, Severity
from core.studies.subject import AuditConfig
from tests import samples

PLAN = AuditPlan(
    data=DataPlan(dataset="", file="table.csv"),
    config=AuditConfig(dataset="upload", roles=samples.ROLES, method="unmitigated", tolerance=0.05),
    membership=MembershipSettings(shadows=0),
)
REVERSED = Fact(
    kind="reversed_score",
    severity=Severity.BLOCKING,
    point="'score' is lower where 'hired' is 'yes': AUC 0.132.",
    key="data.positive",
    columns=("score",),
    repairs=(
        Repair(title="It predicts no", changes={"positive": "no"}),
        Repair(title="It is right so", changes={"confirmed": ("reversed_score",)}),
    ),
)
FAVOUR = Fact(
    kind="favourable",
    severity=Severity.QUESTION,
    point="Which value of hired is good for the person?",
    more="hired is yes for 51%, no for 49%.",
    key=FAVOURABLE,
    repairs=(Repair(title="yes is good", changes={"favourable": "yes"}),),
)
ANSWER = Fact(
    kind="possible_answers",
    severity=Severity.GUESS,
    point="risk_score may be a model's answer and is left out.",
    key="data.score",
    repairs=(Repair(title="It is the score", changes={"score": "risk_score", "threshold": "0.4"}),),
)
NOTE = Fact(kind="repeated_records", severity=Severity.NOTE, point="12 of 900 records equal another one.")


def answering(monkeypatch: pytest.MonkeyPatch, *facts: Fact) -> None:
    """Let the input check say this of every table."""
    monkeypatch.setattr(inputs, "check_input", lambda frame, roles, guesses=(): facts)


def test_one_missing_answer_is_one_sentence_with_its_key(monkeypatch: pytest.MonkeyPatch):
    answering(monkeypatch, REVERSED, ANSWER, NOTE)
    with pytest.raises(MissingAnswers) as caught:
        require_answers(samples.table(100), samples.ROLES)
    assert str(caught.value) == answer_line(REVERSED) and not caught.value.details
    assert caught.value.key == "data.positive"
    assert str(caught.value) == (
        "data.positive: 'score' is lower where 'hired' is 'yes': AUC 0.132. "
        'Write data.positive = "no" (It predicts no) or data.confirmed = ["reversed_score"] (It is right so).'
    )


def test_several_missing_answers(monkeypatch: pytest.MonkeyPatch):
    answering(monkeypatch, FAVOUR, REVERSED, NOTE)
    with pytest.raises(InputError) as caught:
        require_answers(samples.table(100), samples.ROLES)
    lines = str(caught.value).splitlines()
    assert lines == ["Answers missing before an audit: 2.", answer_line(FAVOUR), answer_line(REVERSED)]


def test_an_audit_keeps_the_facts_that_block_nothing(monkeypatch: pytest.MonkeyPatch):
    table = samples.table(300)
    answering(monkeypatch, ANSWER, NOTE)
    assert audited_of(PLAN, table).facts == (ANSWER, NOTE)
    answering(monkeypatch, FAVOUR)
    with pytest.raises(MissingAnswers, match=r"data\.favourable"):
        run_audit(PLAN, table, default_policy())


def test_the_command_ends_in_3_with_a_line_for_each_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    samples.frame(300).to_csv(tmp_path / "table.csv", index=False)
    plan = tmp_path / "plan.toml"
    arguments = ["--label", "hired", "--attribute", "origin", "--favourable", "yes", "-o", str(plan), "-q"]
    assert main(["init", "--file", str(tmp_path / "table.csv"), *arguments]) == 0
    answering(monkeypatch, FAVOUR, REVERSED)
    capsys.readouterr()
    assert main(["audit", str(plan), "--out", str(tmp_path / "out"), "--no-self-test", "-q"]) == 3
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "fairleak audit: Answers missing before an audit: 2.",
        f"- {answer_line(FAVOUR)}",
        f"- {answer_line(REVERSED)}",
    ]
    assert not (tmp_path / "out").exists()


def test_open_questions_are_commented_keys_of_a_plan():
    comments = plan_comments((FAVOUR, REVERSED, ANSWER, NOTE))
    assert set(comments) == {FAVOURABLE, "data.positive", "data.score"}
    roles = replace(samples.ROLES, favourable="")
    plan = replace(PLAN, config=replace(PLAN.config, roles=roles))
    text = commented_plan(plan, notes=comments, instead=comments)
    lines = text.splitlines()
    assert "# favourable =   (required)" in lines
    assert f"# Question: {FAVOUR.text}" in lines and f"# Blocking: {REVERSED.text}" in lines
    position = lines.index('positive = "yes"')
    assert '# positive = "no"   (It predicts no)' in lines[:position]
    assert '# confirmed = ["reversed_score"]   (It is right so)' in lines[:position]
    assert not any(line.startswith("favourable") for line in lines)
    assert read_plan(text).config.roles == roles


def test_what_changes_another_table_of_a_plan_says_so():
    line = answer_line(ANSWER)
    assert 'data.score = "risk_score" and model.threshold = "0.4"' in line


def test_a_terminal_line():
    assert terminal_line(NOTE) == f"Note: {NOTE.text}"
    assert terminal_line(ANSWER) == f"Guess: {ANSWER.text} (data.score)"
    assert terminal_line(REVERSED) == f"Blocking: {REVERSED.text} (data.positive)"


def test_characters_that_end_a_line_do_not_end_a_comment():
    fact = Fact(
        kind="copy",
        severity=Severity.BLOCKING,
        point="A feature is a copy.",
        key="data.excluded",
        repairs=(Repair(title='Leave "x\nlabel = 1\x85" out', changes={"excluded": ("x\nlabel = 1\x85",)}),),
    )
    text = commented_plan(PLAN, notes=plan_comments((fact,)))
    assert "label = 1" not in text.splitlines()
    assert all(line.startswith("#") for line in text.splitlines() if "label = 1" in line)
    assert read_plan(text).config.roles == PLAN.config.roles
