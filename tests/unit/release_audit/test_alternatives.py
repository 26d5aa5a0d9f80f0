"""What could be released instead: the first narrower release that passes is named, and no other is."""

import re
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

from core.auditing import MissingAnswers, commented_plan, inputs, plan_text, read_plan, run_audit, suggested_plan
from core.auditing import run as run_module
from core.auditing.inputs import answer_line, plan_comments, require_answers
from core.auditing.policy import default_policy, judge, predictions_policy, unchanged_rows
from core.auditing.result import data_caveats, input_answers
from core.auditing.run import audited_of, measured_alternatives
from core.auditing.suggestion import sets_missing
from core.base.caveats import CaveatKind
from core.base.errors import InputError
from core.datasets import build_dataset, read_table
from core.datasets.checked_table import Fact, Repair, Severity
from core.datasets.input_check import check_input
from core.report import from_json, report_document, to_json
from core.stats.estimates import accuracy
from core.studies.subject import OutputsPlan, Progress
from tests import samples
from tests.input_cases import CASES, csv_of
from tests.policy_samples import done, policy
from tests.refusals import exit_code


def audit(leak):
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
    plan = samples.given_plan(prediction="answer", score="chance", sets="part", confirmed=("copy:skill",))
    table = read_table(frame.to_csv(index=False).encode(), "people.csv")
    return run_audit(plan, table, policy(membership_auc=0.56, attribute_excess=0.05))


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


@pytest.mark.parametrize(("auc", "unfairness", "tried"), [(0.5, 0.0, 0), (0.5, 0.9, 0), (0.9, 0.0, 1), (0.9, 0.9, 1)])
def test_narrower_releases_are_sought_where_released_outputs_do_not_pass(auc, unfairness, tried, monkeypatch):
    sought = Mock(return_value=())
    monkeypatch.setattr(run_module, "narrower_releases", sought)
    measurements = (done("membership_auc", auc, 0.01), done("unfairness", unfairness, 0.01))
    limits = policy(membership_auc=0.6, unfairness=0.1)
    assert measured_alternatives(SimpleNamespace(attribute="sex"), limits, measurements) == ()
    assert sought.call_count == tried


@pytest.mark.parametrize("unfairness", [0.0, 0.9])
def test_releases_are_measured_until_nothing_is_open_but_what_none_changes(unfairness, monkeypatch):
    measured_auc = {1: done("membership_auc", 0.9, 0.01), None: done("membership_auc", 0.5, 0.01)}
    releases = (OutputsPlan(decimals=1), OutputsPlan(released="labels"), OutputsPlan(decimals=1))
    monkeypatch.setattr(run_module, "narrower_releases", lambda audited: releases)
    monkeypatch.setattr(run_module, "measured", lambda check, audited: measured_auc[audited.outputs.decimals])
    monkeypatch.setattr(run_module, "output_checks", lambda: frozenset({"membership_auc"}))
    audited = SimpleNamespace(attribute="sex", progress=Progress(1))
    audited.releasing = lambda outputs: SimpleNamespace(outputs=outputs)
    measurements = (measured_auc[1], done("unfairness", unfairness, 0.01))
    limits = policy(membership_auc=0.6, unfairness=0.1)
    alternatives = measured_alternatives(audited, limits, measurements)
    assert [alternative.outputs for alternative in alternatives] == [*releases[:2]]
    verdict = judge(limits, measurements, attribute="sex", alternatives=alternatives)
    assert ("would pass" in verdict.headline) == (not unfairness)
    assert [row.check for row in unchanged_rows(verdict.rows)] == ["unfairness"] * bool(unfairness)


def fact(kind, severity, key, point, *repairs):
    """Return a fact with its repairs, each a title and what it changes."""
    repairs = tuple(Repair(title=title, changes=changes) for title, changes in repairs)
    return Fact(kind=kind, severity=severity, point=point, more="1 of 2.", key=key, repairs=repairs)


REVERSED = fact(
    *("reversed_score", Severity.BLOCKING, "data.positive"),
    "'score' is lower where 'hired' is 'yes': AUC 0.132.",
    ("It predicts no", {"positive": "no"}),
    ("It is right so", {"confirmed": ("reversed_score",)}),
)
YES = ("yes is good", {"favourable": "yes"})
FAVOUR = fact("favourable", Severity.QUESTION, "data.favourable", "Which value is good for the person?", YES)
SCORE = ("It is the score", {"score": "risk_score", "threshold": "0.4"})
ANSWER = fact("possible_answers", Severity.GUESS, "data.score", "risk_score may be a model's answer.", SCORE)
NOTE = fact("repeated_records", Severity.NOTE, "", "12 of 900 records equal another one.")


def test_a_single_missing_answer_is_the_only_line(monkeypatch):
    monkeypatch.setattr(inputs, "check_input", lambda frame, roles, guesses=(): (REVERSED, NOTE))
    with pytest.raises(MissingAnswers) as caught:
        require_answers(samples.table(100), samples.ROLES)
    assert str(caught.value) == answer_line(REVERSED)


def test_the_command_ends_in_3_with_a_line_for_each_answer(monkeypatch, tmp_path, capsys):
    samples.frame(300).to_csv(tmp_path / "people.csv", index=False)
    plan = tmp_path / "plan.toml"
    plan.write_text(plan_text(samples.plan()), "utf-8")
    monkeypatch.setattr(inputs, "check_input", lambda frame, roles, guesses=(): (FAVOUR, REVERSED, NOTE))
    assert exit_code("audit", plan, "--out", tmp_path / "out", "--no-self-test", "-q") == 3
    headline, *lines = capsys.readouterr().err.splitlines()
    assert headline.endswith("Answers missing before an audit: 2.")
    assert lines == [f"- {answer_line(FAVOUR)}", f"- {answer_line(REVERSED)}"]
    assert not (tmp_path / "out").exists()


def test_open_questions_are_commented_keys_of_a_plan():
    comments = plan_comments((FAVOUR, REVERSED, ANSWER, NOTE))
    assert set(comments) == {"data.favourable", "data.positive", "data.score"}
    plan = samples.given_plan(prediction="town", favourable="")
    text = commented_plan(plan, notes=comments, instead=comments)
    lines = text.splitlines()
    assert {f"# Question: {FAVOUR.text}", "# favourable =   (required)"} <= {*lines}
    assert '# positive = "no"   (It predicts no)' in lines[: lines.index('positive = "yes"')]
    assert read_plan(text).config.roles == plan.config.roles


def test_answer_line_is_what_is_written_in_the_plan():
    assert answer_line(REVERSED) == (
        "data.positive: 'score' is lower where 'hired' is 'yes': AUC 0.132. 1 of 2. "
        'Write data.positive = "no" (It predicts no) or data.confirmed = ["reversed_score"] (It is right so).'
    )
    assert 'data.score = "risk_score" and model.threshold = "0.4"' in answer_line(ANSWER)


def test_data_caveats_tell_a_confirmed_block_from_a_note():
    frame = samples.frame(600)
    frame["score"] = np.where(frame["hired"] == "yes", 0.2, 0.8) + 0.15 * frame["skill"].rank(pct=True).round(2)
    table = read_table(frame.to_csv(index=False).encode(), "people.csv")
    facts = check_input(table.frame, replace(samples.ROLES, score="score"))
    blocking = [fact for fact in facts if fact.severity is Severity.BLOCKING]
    confirmed = tuple(fact.kind for fact in blocking)
    audited = audited_of(samples.given_plan(score="score", confirmed=confirmed), table)
    texts = [caveat.text for caveat in data_caveats(audited, table) if caveat.kind is CaveatKind.INPUT_CONFIRMED]
    assert len(texts) == len(blocking) > 1
    assert all(text.startswith(fact.point) for text, fact in zip(texts, blocking, strict=True))


@cache
def table_of(case):
    return read_table(csv_of(CASES[case].frame()), f"{case}.csv")


def suggestion_of(case):
    """Return what is suggested for a case, whose positive value is good for the person."""
    roles = suggested_plan(table_of(case), f"{case}.csv").plan.config.roles
    return suggested_plan(table_of(case), f"{case}.csv", favourable=roles.positive)


@pytest.mark.long
@pytest.mark.parametrize("case", [name for name in CASES if name not in ("without_true_label", "reversed_score")])
def test_with_the_one_answer_that_has_no_default_the_audit_begins(case):
    suggestion = suggestion_of(case)
    assert {role: getattr(suggestion.plan.config.roles, role) for role in CASES[case].roles} == dict(CASES[case].roles)
    audited = audited_of(suggestion.plan, table_of(case))
    assert Severity.BLOCKING not in {fact.severity for fact in audited.facts}
    assert not {*CASES[case].left_out} & set(audited.dataset.feature_names)


def test_a_reversed_score_stops_before_the_verdict_until_it_is_turned_or_confirmed():
    plan, table, expected = suggestion_of("reversed_score").plan, table_of("reversed_score"), CASES["reversed_score"]
    with pytest.raises(MissingAnswers) as caught:
        audited_of(plan, table)
    assert {fact.kind for fact in caught.value.facts} == expected.blocking
    assert 'data.positive = "no"' in str(caught.value)
    for changes in ({"positive": "no"}, {"confirmed": tuple(expected.blocking)}):
        roles = replace(plan.config.roles, **changes)
        audited = audited_of(replace(plan, config=replace(plan.config, roles=roles)), table)
        assert Severity.BLOCKING not in {fact.severity for fact in audited.facts}


def test_a_label_of_letters_and_predictions_of_digits_agree_as_words_do():
    rates = {}
    for case in ("base", "letters_and_digits"):
        dataset = build_dataset(table_of(case), suggestion_of(case).plan.config.roles)
        rates[case] = accuracy(dataset.labels, dataset.predictions).value
    assert rates["base"] == rates["letters_and_digits"] > 0.65


def test_sets_missing_counts_the_checks_that_decide_without_a_column_of_the_sets():
    with_sets = suggested_plan(table_of("base"), "people.csv")
    assert "sets_missing" not in {fact.kind for fact in with_sets.policy_facts()}
    people = CASES["base"].frame()
    people["zq"] = people.pop("set").replace({"train": "A", "test": "B"})
    table = read_table(csv_of(people), "people.csv")
    suggestion = suggested_plan(table, "people.csv")
    (fact,) = (fact for fact in suggestion.policy_facts() if fact.kind == "sets_missing")
    assert (fact.severity, fact.key) == (Severity.CAUTION, "data.sets")
    policy, numbers = predictions_policy(), []
    for shipped in (policy, default_policy()):
        assert shipped.name in fact.more
        numbers.append(sum(limit.required and limit.if_not_run == "blocks" for limit in shipped.limits))
    numbers.append(sum(limit.check.startswith("membership") for limit in policy.limits))
    assert [int(text) for text in re.findall(r"\b\d+\b", fact.more)] == numbers
    requiring = replace(policy, limits=tuple(replace(limit, if_not_run="blocks") for limit in policy.limits))
    (fact,) = sets_missing(table, replace(suggestion.roles, sensitive="dept"), requiring)
    assert "block the release" in fact.more
    assert [repair.changes for repair in fact.repairs] == [{"sets": "zq"}]  # sex has two values as well


def test_a_column_of_bare_codes_says_who_was_in_training():
    """The same records and numbers as where the column says train and test."""
    people = CASES["base"].frame()
    people["zq"] = people.pop("set").replace({"train": "A", "test": "B"})
    table = read_table(csv_of(people), "people.csv")
    roles = replace(suggested_plan(table, "people.csv").roles, favourable="yes", sets="zq")
    (question,) = (fact for fact in check_input(table.frame, roles) if fact.severity is Severity.QUESTION)
    assert question.kind == "training_value"
    assert {repair.changes["training_value"] for repair in question.repairs} == {"A", "B"}
    with pytest.raises(InputError, match=r"data\.training_value"):
        build_dataset(table, replace(roles, training_value="C"))
    roles = replace(roles, training_value="A")
    assert not {fact.kind for fact in check_input(table.frame, roles)} & {"training_value", "sets"}
    named_roles = replace(suggested_plan(table_of("base"), "people.csv").roles, favourable="yes")
    expected = build_dataset(table_of("base"), named_roles)
    assert build_dataset(table, roles).sets.tolist() == expected.sets.tolist()
    assert "Answered: the model was trained where zq is A." in input_answers(table.frame, roles)


def test_what_was_answered_at_the_gate_stands_among_the_caveats():
    people = CASES["base"].frame().drop(columns="predicted")
    people["score"] = (1 - people["score"]).round(3)
    table = read_table(csv_of(people), "people.csv")
    plan = suggested_plan(table, "people.csv", favourable="yes", attribute="sex").plan
    assert input_answers(table.frame, plan.config.roles) == ()
    turned = replace(plan.config.roles, positive="no", excluded=("dept", "income"))
    audited = audited_of(replace(plan, config=replace(plan.config, roles=turned)), table)
    texts = [caveat.text for caveat in data_caveats(audited, table) if caveat.kind is CaveatKind.INPUT_CHECK]
    direction, left_out = input_answers(table.frame, turned)
    assert {direction, left_out} <= {*texts}
    assert "score" in direction and "= no" in direction
    assert "dept, income" in left_out
