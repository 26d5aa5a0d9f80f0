"""``fairleak audit`` and ``fairleak init``: from table to plan to report, exit codes, folders, and bad input."""

import json
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
import skops.io

from core.auditing import BiasQueriesSettings, OutputsPlan, catalogue_plan, load_model, load_table, read_plan, run_audit
from core.auditing.policy import default_policy, judge, policy_text
from core.auditing.result import StudyFindings, data_caveats
from core.auditing.run import audited_of
from core.base.errors import InputError
from core.base.serialize import content_fingerprint, dumps
from core.cli.audit import _chosen
from core.studies.registry import STUDIES
from tests import model_samples, samples
from tests.policy_samples import policy as limits
from tests.refusals import exit_code, refused
from tests.samples_report import sample

PLAN = catalogue_plan("demo")
PLAN = replace(PLAN, config=replace(PLAN.config, method="unmitigated", tolerance=0.05))
SMALL = replace(samples.plan(), bias_queries=BiasQueriesSettings(questions=4, people=40, repeats=2))
FAILED = replace(sample().self_tests[0], passed=False)


@pytest.fixture(scope="module")
def audit():
    return run_audit(SMALL, samples.table(600), default_policy(), self_tests=(FAILED,))


def test_two_runs_differ_in_their_times_alone(audit):
    report = Mock()
    again = run_audit(SMALL, samples.table(600), default_policy(), self_tests=lambda: (FAILED,), report=report)
    first, second = (json.dumps({**run.to_dict(), "times": None}) for run in (audit, again))
    assert first == second
    steps = [step.args for step in report.mock_calls]
    done, total = steps[-1]
    assert done == total > 1
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)


def test_a_study_that_cannot_count_its_steps_does_not_stop_the_audit(audit, monkeypatch):
    monkeypatch.setattr(type(STUDIES["correction"]), "steps", Mock(side_effect=ValueError("no steps")))
    broken_audit = run_audit(SMALL, samples.table(600), default_policy())
    outcomes = {measurement.check: measurement.outcome for measurement in broken_audit.measurements}
    assert outcomes["correction_gain"] == "failed"
    assert outcomes["attribute_excess"] == {x.check: x.outcome for x in audit.measurements}["attribute_excess"]


@pytest.fixture
def command(audit, tmp_path, monkeypatch):
    """Return the command for "ours.toml"; the measurements are made once, and each policy judges them."""

    def rejudged(plan, table, policy, **_):
        return replace(audit, verdict=judge(policy, audit.measurements, attribute="origin"))

    monkeypatch.setattr("core.cli.audit.run_audit", rejudged)
    (tmp_path / "plan.toml").write_text('policy = "ours.toml"\n[data]\ndataset = "demo"', "utf-8")
    return ["audit", tmp_path / "plan.toml", "--out", tmp_path / "out", "--no-self-test"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "code", "phrase"),
    [
        ({"targeted_leakage": 0.99}, 0, "Pass"),
        ({"targeted_leakage": 0.6}, 1, "Fail"),
        ({"membership_caught": 0.05}, 2, "needs at least 1,000 non-members"),
    ],
)
def test_exit_codes(more, code, phrase, command, tmp_path, capsys):
    (tmp_path / "ours.toml").write_text(policy_text(limits(unfairness=0.9, **more)), "utf-8")
    assert exit_code(*command) == code
    output = capsys.readouterr().out
    assert phrase in output and "policy: P, version 1" in output
    assert output.startswith("Do not release") == bool(code)


def test_a_folder_that_is_taken_is_written_to_by_force_and_only_over_reports(command, tmp_path, capsys):
    (tmp_path / "ours.toml").write_text(policy_text(limits(unfairness=0.9)), "utf-8")
    assert [exit_code(*command) for _ in range(2)] == [0, 3]
    assert exit_code(*command, "--force", "--policy", "default") == 1  # epsilon 1 lets one person be told at 88%
    assert "policy: FairLeak default" in capsys.readouterr().out
    stranger = tmp_path / "out" / "internal" / "mine.txt"
    stranger.write_text("keep me")
    assert exit_code(*command, "--force") == 3
    assert stranger.read_text() == "keep me"


ROLES = 'positive = "yes"\nfavourable = "yes"\nsensitive = "origin"\ngroup = ["north"]\n'
PLANS = {
    "plan": '[data]\ndataset = "demo"',
    "empty": "",
    "missing": f'[data]\nfile = "people.csv"\nlabel = "hired"\n{ROLES}',
    "leaving": f'[data]\nfile = "link.csv"\nlabel = "hired"\n{ROLES}',
    "policy": 'policy = "absent.toml"\n[data]\ndataset = "demo"',
}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("audit nowhere.toml --out out", "PLAN must be a file that can be read, got 'nowhere.toml'"),
        ("audit plan.toml --out no/out", "--out must be a folder inside one that exists"),
        ("audit plan.toml --out out --policy plan.toml", "plan.toml"),
        ("audit missing.toml --out out", "data.file must be a file that can be read, got 'people.csv'"),
        ("audit leaving.toml --out out", "data.file must be a file inside the plan's folder, got the link"),
        ("audit empty.toml --out out", "[data] must name a dataset of the catalogue or a file, got neither."),
        ("audit policy.toml --out out", "policy must be a file that can be read, got 'absent.toml'"),
        ("init --file people2.csv --dataset demo", "--dataset must be left out with --file"),
        ("init --file nobody.csv", "name yours with --attribute COLUMN."),
        ("init --file unlabelled.csv", "could be the label; name yours with --label COLUMN."),
        ("init --file people2.csv --label origin --attribute origin", "must be two columns"),
    ],
)
def test_unusable_input_is_one_sentence(command, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    people = samples.frame(200)
    people.to_csv(tmp_path / "people2.csv", index=False)
    people.drop(columns=["hired", "town"]).to_csv(tmp_path / "unlabelled.csv", index=False)
    people.rename(columns={"origin": "colour"}).to_csv(tmp_path / "nobody.csv", index=False)
    (tmp_path / "link.csv").symlink_to("/etc/hostname")
    for name, text in PLANS.items():
        (tmp_path / f"{name}.toml").write_text(text, "utf-8")
    assert message in refused(capsys, *command.split(), *["--no-self-test"] * command.startswith("audit"))
    assert not (tmp_path / "out").exists()


def printed_plan(folder, capsys, people, *arguments):
    """Return what init prints for these people, the plan in it, and their table."""
    people.to_csv(folder / "people.csv", index=False)
    assert exit_code("init", "--file", folder / "people.csv", "--favourable", "yes", *arguments) == 0
    text = capsys.readouterr().out
    plan = read_plan(text)
    return text, plan, load_table(plan, folder=folder, data_folder=None)


def test_init_promises_what_the_predictions_keep_to(tmp_path, capsys):
    """And the audit by that plan finds the promise true, one step below it false."""
    people = samples.frame(900)
    prefers = 1.5 * people["skill"] + (people["origin"] == "north") > 0  # one group
    _, plan, table = printed_plan(tmp_path, capsys, people.assign(prediction=np.where(prefers, "yes", "no")))
    achieved, promised = audited_of(plan, table).model.unfairness_train, plan.config.tolerance
    assert achieved > 0.05 and promised - 0.001 < achieved <= promised == round(promised, 3)


def test_a_model_file_promises_what_its_answers_keep_to_and_is_audited(tmp_path, capsys):
    people = model_samples.people()
    people = people.assign(sex=["F" if i % 3 else "M" for i in range(len(people))])
    (tmp_path / "model.skops").write_bytes(skops.io.dumps(model_samples.pipeline()))
    arguments = ("--label", "approved", "--model", tmp_path / "model.skops")
    text, plan, table = printed_plan(tmp_path, capsys, people, *arguments)
    audited = audited_of(plan, table, model_file=load_model(plan, folder=tmp_path))
    assert plan.config.tolerance - 0.001 < audited.model.unfairness_train <= plan.config.tolerance
    assert not [caveat for caveat in data_caveats(audited, table) if "Answered" in caveat.text]
    assert (plan.outputs, plan.bias_queries.questions) == (OutputsPlan(), 0)
    (tmp_path / "plan.toml").write_text(text, "utf-8")
    (tmp_path / "policy.toml").write_text(policy_text(limits(unfairness=0.9)), "utf-8")
    audit = ("audit", tmp_path / "plan.toml", "--policy", tmp_path / "policy.toml", "--no-self-test", "--out")
    assert exit_code(*audit, tmp_path / "out") == 0
    text = text.replace('kind = "file"', 'kind = "file"\npositive = "maybe"')  # the model answers with words
    (tmp_path / "plan.toml").write_text(text, "utf-8")
    assert "one of the model's ('no', 'yes'), got 'maybe'" in refused(capsys, *audit, tmp_path / "other")


def test_a_plan_names_its_file_from_its_own_folder_or_is_refused(tmp_path, capsys):
    (tmp_path / "data" / "plans").mkdir(parents=True)
    table, plan, elsewhere = (tmp_path / name for name in ("data/people.csv", "plan.toml", "data/plans/plan.toml"))
    samples.frame(300).to_csv(table, index=False)
    assert exit_code("init", "--file", table, "-o", plan) == 0
    assert read_plan(plan.read_text("utf-8")).data.file == "data/people.csv"
    message = refused(capsys, "init", "--file", table, "-o", elsewhere)
    assert "--file must be a file in the folder of the plan, or below it" in message
    assert not elsewhere.exists()


def test_a_choice_is_of_the_same_plan_by_the_same_policy(tmp_path):
    findings = StudyFindings(study="choose", title="Choice", findings=())
    policy, lax = limits(unfairness=0.1), limits(unfairness=0.2)
    choice = {"model": "m", "record": dumps(findings), "plan": PLAN.fingerprint, "policy": content_fingerprint(policy)}
    path = tmp_path / "choice.json"
    path.write_text(json.dumps(choice), "utf-8")
    assert _chosen(path, PLAN, policy) == findings
    with pytest.raises(InputError, match=r"must be by the audit's policy \(P\)"):
        _chosen(path, PLAN, lax)
    with pytest.raises(InputError, match="must be about the data, model and outputs that PLAN says, got others: m"):
        _chosen(path, SMALL, policy)
