"""``fairleak compare`` and the action as gates: exit codes, files, hostile and old reports."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
import yaml

from core.report import to_json
from core.report.report import report_fingerprint
from core.store.history import History
from tests.html_reader import Reader
from tests.patience import entries, finished
from tests.refusals import exit_code, refused
from tests.samples_report import PLAN, estimate, people, report

ROOT = Path(__file__).resolve().parents[3]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """A folder with two versions of a model, of which the later one leaks, and the audit of the first."""
    folder = tmp_path_factory.mktemp("versions")
    for name in ("safe", "leaky"):
        people(name, 700).to_csv(folder / f"{name}.csv", index=False)
        (folder / f"{name}.toml").write_text(PLAN.format(version=name), "utf-8")
    assert exit_code("audit", folder / "safe.toml", "--out", folder / "safe", "--no-self-test") < 3
    return folder


def test_the_same_audit_is_not_distinguishable_and_opens_the_gate(versions, capsys):
    page = versions / "safe" / "internal" / "report.html"
    assert exit_code("compare", versions / "safe" / "internal", page, "-q") == 0
    out, err = capsys.readouterr()
    assert err == "not distinguishable\n" and "Data, model, plan, policy, code and seeds are the same." in out


def test_reports_of_strangers_are_refused_in_one_sentence(tmp_path, capsys):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(to_json(report()), "utf-8")
    altered = json.loads(to_json(report()))
    leak = next(row for row in altered["measurements"] if row["check"] == "correction_gain")["estimate"]
    leak |= {"value": 0.001, "low": 0, "high": 0.002}  # its verdict is still that it fails
    for document in (altered, {**altered, "fingerprint": report_fingerprint(altered)}):
        bad.write_text(to_json(document), "utf-8")
        assert "BEFORE" in refused(capsys, "compare", bad, good)
    for more in ((tmp_path / "none",), (tmp_path,), (good, "--margin", "0"), (good, "--html", tmp_path)):
        refused(capsys, "compare", good, *more)


def test_audits_of_a_model_are_compared_by_their_versions(tmp_path, capsys):
    path = tmp_path / "history.sqlite"
    history = History.open(path)
    loans = {"model": "Loans", "who": "A. Officer"}
    released = history.keep(report(), version="1.0", **loans)
    command = ["compare", "released", "latest", "--model", "Loans", "--history", path, "-q"]
    assert "No version of 'Loans' is released in" in refused(capsys, *command)
    pilot = {"decision": "accept_risk", "reason": "A pilot.", "until": "2999-12-31"}
    history.sign(released, name="A. Officer", role="DPO", **pilot)
    history.keep(report({"membership_caught": estimate(0.3, 0.01)}), version="1.1", **loans)
    assert exit_code(*command) == 1 and capsys.readouterr().err == "worse\n"
    assert exit_code("compare", released.fingerprint[:8], "1.0", *command[3:]) == 0
    assert "There is no audit of version '9.9'" in refused(capsys, "compare", "1.0", "9.9", *command[3:])
    history.delete(released, who="A. Officer", reason="asked by the owner")
    assert f"The document of audit {released.short} of Loans 1.0 was deleted by A. Officer" in refused(capsys, *command)


def filled(text, inputs, outputs):
    """Return a text with GitHub's expressions filled in."""

    def value(match):
        parts = match[1].strip().split(".")
        return inputs[parts[1]] if parts[0] == "inputs" else outputs.get(parts[1], {}).get(parts[3], "")

    return re.sub(r"\$\{\{(.*?)\}\}", value, text)


def act(folder, **arguments):
    """Run the action's steps as GitHub does; return the exit code of the last, its outputs, and the summary."""
    inputs = {name: arguments.get(name.replace("-", "_"), x.get("default", "")) for name, x in ACTION["inputs"].items()}
    bin_ = folder / "bin"
    bin_.mkdir(exist_ok=True)
    command = bin_ / "fairleak"
    quick = 'first=$1; shift; if [ "$first" = audit ]; then set -- --no-self-test "$@"; fi'
    command.write_text(f'#!/bin/sh\n{quick}\nexec "{sys.executable}" -m core "$first" "$@"\n')
    command.chmod(0o755)
    file, summary, outputs, code = folder / "output.txt", folder / "summary.md", {}, 0
    summary.write_text("")
    places = {
        "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{os.environ['PYTHONPATH']}{os.pathsep}{ROOT}",
        **{"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_OUTPUT": str(file)},
        **{"GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(folder)},
    }
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash" and "${{" not in step["run"], "expressions reach bash as variables alone"
        file.write_text("")
        env = os.environ | {name: filled(value, inputs, outputs) for name, value in step["env"].items()} | places
        bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = finished(bash, progress=lambda: entries(folder), cwd=folder, env=env)
        outputs[step["id"]] = dict(line.split("=", 1) for line in file.read_text().splitlines())
        code = done.returncode
        if code:
            break
    action_outputs = {name: filled(x["value"], inputs, outputs) for name, x in ACTION["outputs"].items() if outputs}
    return code, action_outputs, summary.read_text()


@pytest.fixture
def fast(versions, tmp_path):
    """A folder with plans and the baseline, where the action works."""
    for name in ("safe.csv", "safe.toml", "leaky.csv", "leaky.toml"):
        (tmp_path / name).write_bytes((versions / name).read_bytes())
    (tmp_path / "released").symlink_to(versions / "safe")
    return tmp_path


@pytest.mark.long
def test_the_action_stops_a_version_that_leaks_more(fast):
    settings = {"baseline": "released", "install": "false", "fail_on": "worse,inconclusive"}
    code, outputs, summary = act(fast, plan="leaky.toml", **settings)
    assert code == 1 and outputs["verdict"] == "worse" and "    Worse: " in summary
    document = json.loads((fast / "fairleak-report-comparison.json").read_text("utf-8"))
    assert "attribute_excess" in {row["check"] for row in document["checks"] if row["turn"] == "worse"}
    page = Reader((fast / "fairleak-report-comparison.html").read_text("utf-8"))
    assert document["headline"] in page.text and "Hiring, leaky" in page.text
    again, outputs, _ = act(fast, plan="safe.toml", out="again", **settings)
    assert again == 0 and outputs["verdict"] == "not distinguishable"


@pytest.mark.long
def test_the_action_refuses_what_it_cannot_use(fast):
    assert act(fast, plan="safe.toml", install="false", fail_on="wrose")[0] == 3
    assert act(fast, plan="safe.toml", install="false", baseline="out/internal", out="out")[0] == 3
    assert act(fast, plan='none.toml"; touch hacked; "', install="false")[0] == 3
    assert not (fast / "hacked").exists()
