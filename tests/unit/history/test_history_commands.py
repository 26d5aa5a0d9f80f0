"""``fairleak history`` and ``fairleak audit --keep``: a line an audit, one sentence for what cannot be done."""

import json
import re
from dataclasses import replace
from unittest.mock import Mock

import pytest

from core.auditing import RegisterPlan, plan_text
from core.base.errors import FairLeakError
from core.base.serialize import short_fingerprint
from core.cli import audit as audit_command
from core.report import from_json, to_json
from core.report.page import to_html
from core.store.history import History
from tests.history_work import report
from tests.refusals import exit_code, refused
from tests.samples_report import judged_audit
from tests.unit.release_audit.test_audit_command import PLAN


@pytest.fixture(autouse=True)
def location(tmp_path, monkeypatch):
    """The history that FAIRLEAK_HISTORY names, which is not there yet."""
    path = tmp_path / "of the team" / "history.sqlite"
    monkeypatch.setenv("FAIRLEAK_HISTORY", str(path))
    return path


@pytest.fixture
def run(capsys):
    """A function that runs a command of the history and returns what it wrote."""

    def printed(*arguments):
        capsys.readouterr()
        assert exit_code("history", *map(str, arguments)) == 0
        return capsys.readouterr().out

    return printed


NAME = "Vendor default"
KEEP = ("--model", NAME, "--who", "A. Auditor", "--version")


def test_from_a_report_to_its_deletion(run, tmp_path, location):
    path, page = tmp_path / "report.json", tmp_path / "report.html"
    path.write_text(to_json(report()), "utf-8")
    page.write_text(to_html(report("other")), "utf-8")
    mark = short_fingerprint(report().fingerprint)
    assert run("keep", path, *KEEP, "1.0") == f"It is kept as {NAME} 1.0, {mark}, in the history '{location}'.\n"
    assert report().fingerprint in run("show", NAME, "1.0", "--report", tmp_path / "kept.json")
    assert (tmp_path / "kept.json").read_bytes() == path.read_bytes()
    officer = ("--name", "A. Officer", "--role", "DPO")
    run("sign", NAME, "1.0", *officer, "--decision", "do_not_release", "--reason", "Unfair.")
    run("keep", page, *KEEP, "1.1")
    assert "Do not release: 1.0" in run("list")
    printed = run("show", NAME.lower())
    assert "versions     1.1, 1.0" in printed and "stands       Do not release: 1.0" in printed
    run("delete", NAME, "1.0", "--reason", "asked")
    printed = run("show", NAME, "1.0")
    assert "asked" in printed and "Do not release: 1.0" in printed and "Revoked" not in printed
    assert f"of {NAME} 1.1" in run("expire", "--days", "0", "--model", NAME)
    assert "Do not release: 1.0" in run("list")  # no report is left, and the ban stands
    revoked = run("revoke", NAME, "1.0", *officer, "--reason", "Withdrawn.")
    assert "Revoked by A. Officer, DPO on" in revoked and "Withdrawn" in revoked
    assert "Do not release" not in run("list")


def test_verify_prints_the_last_hash_and_refuses_another_hash(run, capsys):
    run("register", NAME, "--purpose", "p", "--owner", "o")
    printed = run("verify")
    mark = printed.split()[-1]
    run("register", NAME, "--purpose", "q", "--owner", "o")
    assert mark not in run("verify", "--hash", mark)
    assert "the history was replaced" in refused(capsys, "history", "verify", "--hash", "0" * 64)


def test_what_cannot_be_done_is_one_sentence(capsys, tmp_path):
    History.open().keep(report(), model=NAME, version="1.0", who="A")
    (letter := tmp_path / "letter").write_text("Dear officer")
    forged = tmp_path / "forged.json"
    forged.write_text(to_json(replace(report(), fingerprint="0" * 64)), "utf-8")
    officer = ("--name", "A", "--role", "DPO", "--reason", "x")
    for arguments, phrase in (
        (("expire", "--days", "1", "--model", "Cards"), f"There is no model 'Cards' .*{NAME}"),
        (("delete", NAME, "1.0", "--audit", "00000000"), "There is no audit '00000000'"),
        (("revoke", NAME, "1.0", *officer), "No decision 'do_not_release' stands on .*1.0"),
        (("sign", NAME, "1.0", "--decision", "maybe"), "--decision must be one of release, accept_risk"),
        (("list", "--history", letter), "is not a FairLeak history and was left as it is"),
        (("keep", forged, "--model", NAME), "Only a report that holds is kept.*does not hold"),
        (("keep", letter, "--model", NAME), "must be a report of FairLeak"),
    ):
        assert re.search(phrase, refused(capsys, "history", *arguments)), phrase
    assert len(History.open().entries()) == 1


@pytest.fixture
def plan(tmp_path, monkeypatch):
    def audited(plan, *rest, **options):
        return replace(judged_audit(), plan=replace(judged_audit().plan, register=plan.register))

    monkeypatch.setattr(audit_command, "run_audit", audited)
    path = tmp_path / "plan.toml"
    register = RegisterPlan(model=NAME, version="2.1", purpose="Whom to call", owner="Risk")
    path.write_text(plan_text(replace(PLAN, policy="", register=register)), "utf-8")
    return path


def test_an_audit_is_kept_after_it_ended(plan, tmp_path, location, capsys):
    out = tmp_path / "out"
    assert exit_code("audit", plan, "--out", out, "--no-self-test", "--keep") == 1
    message = capsys.readouterr().err
    (entry,) = History.open().entries()
    assert f"It is kept as {NAME} 2.1, {entry.short}, in the history '{location}'.\n" in message
    assert History.open().model(NAME).owner == "Risk"
    assert History.open().document(entry) == from_json((out / "internal/report.json").read_text("utf-8"))


def test_an_audit_remains_when_its_history_fails(plan, tmp_path, location, capsys, monkeypatch):
    out = tmp_path / "out"
    location.parent.mkdir()
    location.write_text("Dear officer")
    options = ("--out", out, "--no-self-test", "--keep")
    assert "is not a FairLeak history" in refused(capsys, "audit", plan, *options)
    unnamed = plan.with_name("unnamed.toml")
    unnamed.write_text(plan_text(replace(PLAN, policy="")), "utf-8")
    assert "must name model and version under [register]" in refused(capsys, "audit", unnamed, *options)
    assert not out.exists()  # refused before the work
    location.unlink()
    monkeypatch.setattr(History, "keep", Mock(side_effect=FairLeakError("The disk is full.")))
    assert exit_code("audit", plan, *options) == 3
    output = capsys.readouterr()
    assert "was not kept: The disk is full. Keep it later with fairleak history keep" in output.err
    assert json.loads((out / "internal/report.json").read_text("utf-8"))["kind"] == "fairleak release audit"
    assert output.out.startswith("Do not release")
