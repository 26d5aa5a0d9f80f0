"""``fairleak audit`` and ``fairleak init``: from table to plan to report, exit codes, folders, and bad input."""

import json
from dataclasses import replace

import numpy as np
import pytest
import skops.io

from core.__main__ import main
from core.auditing import (
    BiasQueriesSettings,
    MembershipSettings,
    OutputsPlan,
    catalogue_plan,
    load_model,
    load_table,
    plan_text,
    read_plan,
    run_audit,
)
from core.auditing.policy import default_policy, judge, policy_text
from core.auditing.result import StudyFindings
from core.auditing.run import audited_of
from core.base.errors import InputError
from core.base.serialize import content_fingerprint, dumps
from core.cli.audit import _chosen
from core.report import from_json
from tests import model_samples, samples
from tests.policy_samples import policy as limits
from tests.refusals import refused
from tests.samples_report import sample

PLAN = catalogue_plan("demo")
PLAN = replace(PLAN, config=replace(PLAN.config, method="unmitigated", tolerance=0.05))
SMALL = replace(
    PLAN,
    config=replace(PLAN.config, roles=samples.ROLES),
    bias_queries=BiasQueriesSettings(questions=4, people=40, repeats=2),
    membership=MembershipSettings(shadows=0),
)


@pytest.fixture(scope="module")
def audit():
    return run_audit(SMALL, samples.table(600), default_policy())


def test_two_runs_differ_in_their_times_alone(audit):
    steps = []
    again = run_audit(SMALL, samples.table(600), default_policy(), report=lambda *step: steps.append(step))
    first, second = (json.dumps({**run.to_dict(), "times": None}) for run in (audit, again))
    assert first == second
    done, total = steps[-1]
    assert done == total > 1
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)


@pytest.fixture
def command(audit, tmp_path, monkeypatch):
    """Return the command for "ours.toml"; the measurements are made once, and each policy judges them."""

    def rejudged(plan, table, policy, **_):
        return replace(audit, verdict=judge(policy, audit.measurements, attribute="origin"))

    monkeypatch.setattr("core.cli.audit.run_audit", rejudged)
    (tmp_path / "plan.toml").write_text('policy = "ours.toml"\n[data]\ndataset = "demo"', encoding="utf-8")
    return ["audit", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out"), "--no-self-test"]


@pytest.fixture
def small_demo(tmp_path, monkeypatch):
    """Return the command for an audit of a small table under the demo's name."""
    monkeypatch.setattr("core.auditing.inputs.load", lambda name, **_: samples.table(800))
    config, data = replace(SMALL.config, roles=None), replace(SMALL.data, attribute="")
    plan = replace(SMALL, bias_queries=BiasQueriesSettings(), config=config, data=data)
    (tmp_path / "plan.toml").write_text(plan_text(plan), encoding="utf-8")
    return ["audit", str(tmp_path / "plan.toml"), "--policy", str(tmp_path / "ours.toml"), "--out"]


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
    (tmp_path / "ours.toml").write_text(policy_text(limits(unfairness=0.9, **more)), encoding="utf-8")
    assert main(command) == code
    output = capsys.readouterr().out
    assert phrase in output and "policy: P, version 1" in output
    assert output.startswith("Do not release") == bool(code)


def test_a_folder_that_is_taken_is_written_to_by_force_and_only_over_reports(command, tmp_path, capsys):
    (tmp_path / "ours.toml").write_text(policy_text(limits(unfairness=0.9)), encoding="utf-8")
    assert [main(command), main(command)] == [0, 3]
    assert main([*command, "--force", "--policy", "default"]) == 1  # epsilon 1 lets one person be told at 88%
    assert "policy: FairLeak default" in capsys.readouterr().out
    stranger = tmp_path / "out" / "internal" / "mine.txt"
    stranger.write_text("keep me")
    assert main([*command, "--force"]) == 3
    assert stranger.read_text() == "keep me"


@pytest.mark.long
def test_a_failed_self_test_blocks_the_release(small_demo, tmp_path, monkeypatch, capsys):
    failed = replace(sample().self_tests[0], passed=False)
    monkeypatch.setattr("core.auditing.self_test_in_subprocess", lambda folder, report=None: (failed,))
    monkeypatch.setattr("core.auditing.run.CHECKS", ("unfairness",))
    (tmp_path / "ours.toml").write_text(policy_text(limits(unfairness=0.9)), encoding="utf-8")
    assert main([*small_demo, str(tmp_path / "out")]) == 2
    assert capsys.readouterr().out.startswith("Do not release yet: the self-test failed.\n")
    report = (tmp_path / "out" / "internal" / "report.json").read_text(encoding="utf-8")
    assert from_json(report).verdict.overall == "inconclusive"


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
        (
            "audit empty.toml --out out",
            "empty.toml: [data] must name a dataset of the catalogue or a file, got neither.",
        ),
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
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    assert message in refused(capsys, *command.split(), *["--no-self-test"] * command.startswith("audit"))
    assert not (tmp_path / "out").exists()


@pytest.fixture
def init(tmp_path, capsys):
    """Write people and perhaps a model of them, and return the plan for them, as it is printed, and the notes."""

    def of(people, *arguments, model=None):
        people.to_csv(tmp_path / "people.csv", index=False)
        if model is not None:
            (tmp_path / "model.skops").write_bytes(skops.io.dumps(model))
            arguments = (*arguments, "--model", str(tmp_path / "model.skops"))
        assert main(["init", "--file", str(tmp_path / "people.csv"), *arguments]) == 0
        output = capsys.readouterr()
        return read_plan(output.out), output.out, output.err

    return of


def test_init_promises_what_the_predictions_keep_to(init, tmp_path):
    """And the audit by that plan finds the promise true, one step below it false."""
    people = samples.frame(900)
    prefers = 1.5 * people["skill"] + (people["origin"] == "north") > 0  # one group
    plan, _, _ = init(people.assign(prediction=np.where(prefers, "yes", "no")), "--favourable", "yes")
    table = load_table(plan, folder=tmp_path, data_folder=None, cache_folder=None)
    achieved, promised = audited_of(plan, table).model.unfairness_train, plan.config.tolerance
    assert achieved > 0.05 and promised - 0.001 < achieved <= promised == round(promised, 3)


def test_a_model_file_promises_what_its_answers_keep_to(init, tmp_path, capsys):
    people = model_samples.people()
    people = people.assign(sex=["F" if i % 3 else "M" for i in range(len(people))])
    plan, text, _ = init(people, "--label", "approved", "--favourable", "yes", model=model_samples.pipeline())
    table = load_table(plan, folder=tmp_path, data_folder=None, cache_folder=None)
    achieved = audited_of(plan, table, model_file=load_model(plan, folder=tmp_path)).model.unfairness_train
    assert plan.config.tolerance - 0.001 < achieved <= plan.config.tolerance
    assert (plan.outputs, plan.bias_queries.questions) == (OutputsPlan(), 0)
    text = text.replace('kind = "file"', 'kind = "file"\npositive = "maybe"')  # the model answers with words
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    message = refused(capsys, "audit", tmp_path / "plan.toml", "--out", tmp_path / "out")
    assert "one of the model's ('no', 'yes'), got 'maybe'" in message


def test_a_plan_names_its_file_from_its_own_folder_or_is_refused(tmp_path, capsys):
    for name in ("data", "plans"):
        (tmp_path / name).mkdir()
    table, plan, elsewhere = (tmp_path / name for name in ("data/people.csv", "plan.toml", "plans/plan.toml"))
    samples.frame(300).to_csv(table, index=False)
    assert main(["init", "--file", str(table), "-o", str(plan)]) == 0
    assert read_plan(plan.read_text(encoding="utf-8")).data.file == "data/people.csv"
    message = refused(capsys, "init", "--file", table, "-o", elsewhere)
    assert "--file must be a file in the folder of the plan, or below it" in message
    assert not elsewhere.exists()


def test_a_choice_is_of_the_same_plan_by_the_same_policy(tmp_path):
    findings = StudyFindings(study="choose", title="Choice", findings=())
    policy, lax = limits(unfairness=0.1), limits(unfairness=0.2)
    choice = {"model": "m", "record": dumps(findings), "plan": PLAN.fingerprint, "policy": content_fingerprint(policy)}
    path = tmp_path / "choice.json"
    path.write_text(json.dumps(choice), encoding="utf-8")
    assert _chosen(path, PLAN, policy) == findings
    with pytest.raises(InputError, match=r"must be by the audit's policy \(P\)"):
        _chosen(path, PLAN, lax)
    with pytest.raises(InputError, match="must be about the data, model and outputs that PLAN says, got others: m"):
        _chosen(path, SMALL, policy)
