"""Facts of the input check in a plan, on a terminal and as the refusal of an audit; before any detector."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.__main__ import main
from core.auditing import (
    MissingAnswers,
    commented_plan,
    inputs,
    read_plan,
)
from core.auditing.inputs import FAVOURABLE, answer_line, plan_comments, require_answers
from core.auditing.plan import ModelPlan
from core.auditing.result import data_caveats
from core.auditing.run import audited_of
from core.base.caveats import CaveatKind
from core.datasets import read_table
from core.datasets.checked_table import Fact, Repair, Severity
from core.datasets.input_check import check_input
from tests import samples

PLAN = samples.plan()
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


@pytest.mark.parametrize("facts", [(REVERSED,), (FAVOUR, REVERSED)], ids=["one", "two"])
def test_each_missing_answer_is_a_line(facts: tuple[Fact, ...], monkeypatch: pytest.MonkeyPatch):
    answering(monkeypatch, *facts, NOTE)
    with pytest.raises(MissingAnswers) as caught:
        require_answers(samples.table(100), samples.ROLES)
    lines = str(caught.value).splitlines()
    headline = ["Answers missing before an audit: 2."] * (len(facts) - 1)
    assert lines == [*headline, *map(answer_line, facts)]


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
    assert capsys.readouterr().err.splitlines()[1:] == [f"- {answer_line(FAVOUR)}", f"- {answer_line(REVERSED)}"]
    assert not (tmp_path / "out").exists()


def test_open_questions_are_commented_keys_of_a_plan():
    comments = plan_comments((FAVOUR, REVERSED, ANSWER, NOTE))
    assert set(comments) == {FAVOURABLE, "data.positive", "data.score"}
    roles = replace(samples.ROLES, favourable="")
    plan = replace(PLAN, config=replace(PLAN.config, roles=roles))
    text = commented_plan(plan, notes=comments, instead=comments)
    lines = text.splitlines()
    assert {f"# Question: {FAVOUR.text}", "# favourable =   (required)"} <= {*lines}
    assert '# positive = "no"   (It predicts no)' in lines[: lines.index('positive = "yes"')]
    assert read_plan(text).config.roles == roles


def test_answer_line_is_what_is_written_in_the_plan():
    assert answer_line(REVERSED) == (
        "data.positive: 'score' is lower where 'hired' is 'yes': AUC 0.132. "
        'Write data.positive = "no" (It predicts no) or data.confirmed = ["reversed_score"] (It is right so).'
    )
    assert 'data.score = "risk_score" and model.threshold = "0.4"' in answer_line(ANSWER)


def test_data_caveats_tell_a_confirmed_block_from_a_note():
    frame = samples.frame(600)
    frame["score"] = np.where(frame["hired"] == "yes", 0.2, 0.8) + 0.15 * frame["skill"].rank(pct=True).round(2)
    table = read_table(frame.to_csv(index=False).encode(), "people.csv")
    roles = replace(samples.ROLES, score="score")
    blocking = [fact for fact in check_input(table.frame, roles) if fact.severity is Severity.BLOCKING]
    roles = replace(roles, confirmed=tuple(fact.kind for fact in blocking))
    config = replace(PLAN.config, roles=roles)
    audited = audited_of(replace(PLAN, config=config, model=ModelPlan(kind="predictions")), table)
    texts = [caveat.text for caveat in data_caveats(audited, table) if caveat.kind is CaveatKind.INPUT_CONFIRMED]
    assert len(texts) == len(blocking) > 1
    assert all(text.startswith(fact.point) for text, fact in zip(texts, blocking, strict=True))
