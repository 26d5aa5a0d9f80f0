"""``fairleak history`` and ``fairleak audit --project``: a line an audit, one sentence for what cannot be done."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from core.__main__ import main
from core.base.errors import FairLeakError
from core.cli import audit as audit_command
from core.report import from_json, to_json
from core.report.page import to_html
from core.store.history import History
from tests.history_work import report
from tests.refusals import refused
from tests.unit.release_audit.test_audit_command import PLAN

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The history that FAIRLEAK_HISTORY names, which is not there yet."""
    path = tmp_path / "of the team" / "history.sqlite"
    monkeypatch.setenv("FAIRLEAK_HISTORY", str(path))
    return path


def history_output(capsys: Capture, *arguments: object) -> str:
    """Run a command of the history that does what it is asked, and return what it wrote."""
    capsys.readouterr()
    assert main(["history", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def keep_output(capsys: Capture, path: Path, project: str = "Loans") -> str:
    return history_output(capsys, "keep", path, "--project", project, "--who", "A. Auditor")


def test_from_a_report_to_its_deletion(capsys: Capture, tmp_path: Path, location: Path):
    path, page = tmp_path / "report.json", tmp_path / "report.html"
    path.write_text(to_json(report()), encoding="utf-8")
    page.write_text(to_html(report("other")), encoding="utf-8")
    assert keep_output(capsys, path) == f"It is kept in the project 'Loans' of the history '{location}', as audit 2.\n"
    assert report().fingerprint in history_output(capsys, "show", "2", "--report", tmp_path / "kept.json")
    assert (tmp_path / "kept.json").read_bytes() == path.read_bytes()
    history_output(capsys, "sign", "2", "--name", "A. Officer", "--role", "DPO", "--decision", "do_not_release")
    keep_output(capsys, page)
    assert "Void: the audit changed since (data)." in history_output(capsys, "show", "2")
    history_output(capsys, "delete", "2", "--reason", "asked")
    assert "asked" in history_output(capsys, "show", "2") and "Void" in history_output(capsys, "show", "2")
    assert "audit 4" in history_output(capsys, "expire", "--days", "0", "--project", "Loans")
    assert history_output(capsys, "list") == "Nothing is kept.\n"


def test_what_cannot_be_done_is_one_sentence(capsys: Capture, tmp_path: Path):
    History.open().keep(report(), project="Loans", who="A")
    (letter := tmp_path / "letter").write_text("Dear officer")
    forged = tmp_path / "forged.json"
    forged.write_text(to_json(replace(report(), fingerprint="0" * 64)), encoding="utf-8")
    for arguments, phrases in (
        (("expire", "--days", "-1"), ("days must be", "-1")),
        (("delete", "2", "99"), ("There is no audit '99'",)),
        (
            ("sign", "2", "--decision", "maybe"),
            ("--decision must be one of release, accept_risk",),
        ),
        (("list", "--history", str(letter)), ("is not a FairLeak history and was left as it is",)),
        (("list", "--history", "postgresql://me:secret@127.0.0.1:9/x?connect_timeout=2"), ("cannot be used",)),
        (("keep", str(forged), "--project", "Loans"), ("Only a report that holds is kept", "does not hold")),
        (("keep", str(letter), "--project", "Loans"), ("must be a report of FairLeak",)),
    ):
        message = refused(capsys, "history", *arguments)
        assert all(word in message for word in phrases), message
        assert "secret" not in message
    assert len(History.open().entries()) == 1


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plan whose audit is done already."""
    from core.auditing import plan_text
    from tests.judged_report import judged_audit

    monkeypatch.setattr(audit_command, "run_audit", lambda plan, *rest, **options: judged_audit())
    path = tmp_path / "plan.toml"
    path.write_text(plan_text(replace(PLAN, policy="")), encoding="utf-8")
    return path


def test_an_audit_is_kept_after_it_ended(plan: Path, tmp_path: Path, location: Path, capsys: Capture):
    out = tmp_path / "out"
    assert main(["audit", str(plan), "--out", str(out), "--no-self-test", "--project", "Loans"]) == 1
    message = capsys.readouterr().err
    assert f"It is kept in the project 'Loans' of the history '{location}', as audit 2.\n" in message
    (entry,) = History.open().entries()
    assert History.open().document(entry) == from_json((out / "internal/report.json").read_text(encoding="utf-8"))


def test_an_audit_remains_when_its_history_fails(
    plan: Path, tmp_path: Path, location: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
):
    out = tmp_path / "out"
    location.parent.mkdir()
    location.write_text("Dear officer")
    command = ("audit", str(plan), "--out", str(out), "--no-self-test", "--project")
    assert "is not a FairLeak history" in refused(capsys, *command, "Loans")
    assert "--project must be 1 to 80 printable characters" in refused(capsys, *command, " ")
    assert not out.exists()  # refused before the work
    location.unlink()

    def full(*_: object, **__: object) -> None:
        raise FairLeakError("The disk is full.")

    monkeypatch.setattr(History, "keep", full)
    assert main([*command, "Loans"]) == 3
    output = capsys.readouterr()
    assert "was not kept: The disk is full. Keep it later with fairleak history keep" in output.err
    assert json.loads((out / "internal/report.json").read_text(encoding="utf-8"))["kind"] == "fairleak release audit"
    assert output.out.startswith("Do not release")
