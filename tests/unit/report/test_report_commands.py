"""``report page`` and ``report card``: from a file or a folder, and only of a report that holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.__main__ import main
from core.cli.audit import check_folder, write_audit
from core.history import DECISIONS as SIGN_OFF
from core.history import History
from core.report import Reports
from core.report.card_section import card_section
from core.report.one_page import DECISIONS, one_page
from tests.judged_report import judged

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The folder of an audit."""
    assert write_audit(Reports(judged()), tmp_path / "out") == ""
    return tmp_path / "out"


def test_an_audit_writes_the_page_of_both_editions(out: Path):
    for edition in ("internal", "disclosure"):
        assert (out / edition / "summary.pdf").read_bytes() == one_page(Reports(judged()).document(edition))
    check_folder(out, force=True)  # it is no stranger's file


def test_an_audit_without_the_package_writes_the_rest_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.report.one_page.can_be_made", lambda: False)
    assert "install what requirements-pdf.txt lists" in write_audit(Reports(judged()), tmp_path / "out")
    assert (tmp_path / "out" / "internal" / "report.json").exists()
    assert not list(tmp_path.rglob("summary.pdf"))


def test_the_page_of_a_report_that_is_there(out: Path, tmp_path: Path, capsys: Capture):
    pages = {path: path.read_bytes() for path in out.rglob("summary.pdf")}
    for path in pages:
        path.unlink()
    assert main(["report", "page", str(out)]) == 0
    assert {path: path.read_bytes() for path in out.rglob("summary.pdf")} == pages and len(pages) == 2
    assert "is the summary of the external report." in capsys.readouterr().out
    for report in (out / "internal", out / "internal" / "report.html"):
        assert main(["report", "page", str(report), "-o", str(tmp_path / "own.pdf")]) == 0
        assert (tmp_path / "own.pdf").read_bytes() == pages[out / "internal" / "summary.pdf"]


def test_bad_input_of_the_page(out: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    assert main(["report", "page", str(out), "-o", str(tmp_path / "own.pdf")]) == 3
    assert "--output is for one report" in capsys.readouterr().err
    assert main(["report", "page", str(tmp_path)]) == 3
    assert "REPORT must be a report or a folder that holds one" in capsys.readouterr().err
    report = out / "internal" / "report.json"
    found = json.loads(report.read_text(encoding="utf-8"))
    found["verdict"]["overall"] = "pass"
    report.write_text(json.dumps(found), encoding="utf-8")
    assert main(["report", "page", str(report)]) == 3
    assert "Only a report that holds gets a summary: " in capsys.readouterr().err
    monkeypatch.setattr("core.report.one_page.can_be_made", lambda: False)
    assert main(["report", "page", str(out / "disclosure")]) == 3
    assert "install what requirements-pdf.txt lists" in capsys.readouterr().err


def test_the_page_of_a_kept_audit_has_its_signatures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FAIRLEAK_HISTORY", str(tmp_path / "history.sqlite"))
    reports = Reports(judged())
    with_history = History.open(tmp_path / "history.sqlite")
    kept = with_history.keep(reports.document(), project="Loans", who="A. Auditor")
    signed = with_history.sign(kept, decision="do_not_release", name="A. Officer", role="DPO")
    assert main(["history", "show", str(kept.id), "--page", str(tmp_path / "page.pdf")]) == 0
    assert (tmp_path / "page.pdf").read_bytes() == one_page(reports.document(), (signed,))
    assert tuple(SIGN_OFF.values()) == DECISIONS


def test_the_section_of_a_model_card(out: Path, tmp_path: Path, capsys: Capture):
    expected = card_section(Reports(judged()).document("disclosure"))
    assert main(["report", "card", str(out)]) == 0
    assert capsys.readouterr().out.strip() == expected.strip()
    place = tmp_path / "section.md"
    assert main(["report", "card", str(out / "disclosure" / "report.json"), "--output", str(place)]) == 0
    assert place.read_text(encoding="utf-8") == expected
    assert main(["report", "card", str(out / "internal")]) == 3
    assert "REPORT must be the external report" in capsys.readouterr().err
