"""``report brief``, ``card``, ``sign``: only of a report that holds, who signed which bytes; keys are never shown."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from core.__main__ import main
from core.cli.audit import check_folder, write_audit
from core.report import Reports, report_document, summary_markdown, to_json
from core.report.brief import DECISIONS
from core.report.brief_files import brief_html, brief_pdf
from core.report.page import to_html
from core.report.verification import private_key
from core.store.events import DECISIONS as SIGN_OFF
from core.store.history import History
from tests.samples_report import judged_audit

Capture = pytest.CaptureFixture[str]
AUDIT = judged_audit()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The folder of an audit."""
    assert write_audit(Reports(AUDIT), tmp_path / "out") == ""
    return tmp_path / "out"


BRIEFS = ("brief.html", "brief.pdf")


def test_report_brief_writes_what_an_audit_writes(out: Path, tmp_path: Path, capsys: Capture):
    folder = out / "internal"
    contents = {name: (folder / name).read_bytes() for name in BRIEFS}
    document = Reports(AUDIT).document
    assert contents == {"brief.html": brief_html(document).encode(), "brief.pdf": brief_pdf(document)}
    check_folder(out, force=True)  # they are no stranger's files
    for name in BRIEFS:
        (folder / name).unlink()
    assert main(["report", "brief", str(out)]) == 0
    assert {name: (folder / name).read_bytes() for name in BRIEFS} == contents
    assert capsys.readouterr().out.count("is the decision brief of the internal report.") == 2
    for report in (folder, folder / "report.html"):
        for name in BRIEFS:
            output = tmp_path / f"own-{name}"
            assert main(["report", "brief", str(report), "-o", str(output)]) == 0
            assert output.read_bytes() == contents[name]


def test_report_brief_without_the_extra(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture):
    for module in ("core.report.brief_files", "core.cli.report"):
        monkeypatch.setattr(f"{module}.has_typst", lambda: False)
    assert "install what requirements-pdf.txt lists" in write_audit(Reports(AUDIT), tmp_path / "bare")
    written = {path.name for path in (tmp_path / "bare" / "internal").iterdir()}
    assert {"report.json", "brief.html"} <= written and "brief.pdf" not in written
    assert main(["report", "brief", str(tmp_path / "bare")]) == 0
    assert not list((tmp_path / "bare").rglob("brief.pdf"))
    capsys.readouterr()
    assert main(["report", "brief", str(out), "-o", str(tmp_path / "output.pdf")]) == 3
    assert "install what requirements-pdf.txt lists" in capsys.readouterr().err


def test_report_brief_refuses_bad_input(out: Path, tmp_path: Path, capsys: Capture):
    assert main(["report", "brief", str(tmp_path)]) == 3
    assert "REPORT must be a report or a folder that holds one" in capsys.readouterr().err
    report = out / "internal" / "report.json"
    assert main(["report", "brief", str(report), "-o", str(tmp_path / "output.doc")]) == 3
    assert "--output must end in .html or .pdf, got" in capsys.readouterr().err
    document = json.loads(report.read_text(encoding="utf-8"))
    document["verdict"]["overall"] = "pass"
    report.write_text(json.dumps(document), encoding="utf-8")
    assert main(["report", "brief", str(report)]) == 3
    assert "Only a report that holds gets a brief: " in capsys.readouterr().err


def test_history_show_brief_has_signatures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FAIRLEAK_HISTORY", str(tmp_path / "history.sqlite"))
    reports = Reports(AUDIT)
    with_history = History.open(tmp_path / "history.sqlite")
    entry = with_history.keep(reports.document, model="Loans", version="1.0", who="A. Auditor")
    signed = with_history.sign(entry, decision="do_not_release", name="A. Officer", role="DPO")
    assert main(["history", "show", "Loans", "1.0", "--brief", str(tmp_path / "brief.pdf")]) == 0
    assert (tmp_path / "brief.pdf").read_bytes() == brief_pdf(reports.document, (signed,))
    assert main(["history", "show", "Loans", "1.0", "--brief", str(tmp_path / "brief.html")]) == 0
    assert "A. Officer" in (tmp_path / "brief.html").read_text(encoding="utf-8")
    assert tuple(SIGN_OFF.values()) == DECISIONS


def test_the_summary_for_a_model_card_in_a_file(out: Path, tmp_path: Path):
    expected = summary_markdown(Reports(AUDIT).summary)
    assert main(["report", "card", str(out / "internal" / "report.html"), "-o", str(tmp_path / "section.md")]) == 0
    assert (tmp_path / "section.md").read_text(encoding="utf-8") == expected


# Signatures


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a report, two pairs of keys, and the first one's signature."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.json").write_text(to_json(report_document(AUDIT)), encoding="utf-8")
    for name in ("officer", "other"):
        assert main(["report", "sign", "--new-key", f"{name}.pem"]) == 0
    assert main(["report", "sign", "report.json", "--key", "officer.pem"]) == 0
    return tmp_path


def verify(capsys, *more: str, report: str = "report.json") -> tuple[int, str]:
    capsys.readouterr()
    code = main(["report", "verify", report, *more])
    output = capsys.readouterr()
    return code, output.out + output.err


def test_who_signed_what_and_whether_it_changed_by_a_byte(folder, capsys):
    code, output = verify(capsys, "--signer", "officer.public.pem")
    assert code == 0 and "holds   Signature holds: the owner of officer.public.pem signed exactly this file." in output
    code, output = verify(capsys, "--signer", "other.public.pem")
    assert code == 1 and "BROKEN  Signed by another key: by " in output
    code, output = verify(capsys)
    assert code == 0 and "whose key that is, it does not tell: anybody can make one" in output
    path = folder / "report.json"
    path.write_bytes(path.read_bytes() + b"\n")  # the same content, and so the same fingerprint
    for more in ([], ["--signer", "officer.public.pem"]):
        code, output = verify(capsys, *more)
        assert code == 1 and "BROKEN  Signature does not hold: the file is not what the owner of the key " in output
    (folder / "report.json.sig").unlink()
    code, output = verify(capsys)
    assert (
        code == 0 and "NOTE    Not signed: anybody could have written this report, its numbers and its fing" in output
    )
    code, output = verify(capsys, "--signer", "officer.public.pem")
    assert code == 1 and "BROKEN  Not signed: " in output


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(signature="AAAA"),
        lambda content: content.update(public_key="AAAA"),
        lambda content: content.update(public_key=3),
        lambda content: content.update(kind="other"),
        lambda content: content.pop("signature"),
        lambda content: content.update(signature="é"),
    ],
)
def test_a_signature_that_is_none(folder, capsys, change):
    path = folder / "report.json.sig"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    code, output = verify(capsys)
    assert code == 1 and "BROKEN  Signature does not hold: " in output and output.count("Signature") == 1


def test_keys_are_private_never_printed_and_never_overwritten(folder, capsys):
    key = (folder / "officer.pem").read_text()
    assert stat.S_IMODE((folder / "officer.pem").stat().st_mode) == 0o600
    (folder / "link.pem").symlink_to(folder / "elsewhere.pem")
    capsys.readouterr()
    for again in ("officer.pem", "link.pem", "none/key.pem"):
        assert main(["report", "sign", "--new-key", again]) == 3
    assert main(["report", "sign", "report.json", "--key", "officer.pem"]) == 3  # there is a signature
    output = capsys.readouterr()
    assert output.err.count("\n") == 4 and key.splitlines()[1] not in output.out + output.err
    assert (folder / "officer.pem").read_text() == key and not (folder / "elsewhere.pem").exists()


@pytest.mark.parametrize("wrong", ["officer.public.pem", "report.json", "none.pem", "ec.pem", "locked.pem"])
def test_a_key_must_be_an_ed25519_key(folder, capsys, wrong):
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    pem, pkcs8 = form.Encoding.PEM, form.PrivateFormat.PKCS8
    (folder / "ec.pem").write_bytes(
        ec.generate_private_key(ec.SECP256R1()).private_bytes(pem, pkcs8, form.NoEncryption())
    )
    key = private_key((folder / "officer.pem").read_bytes(), name="it")
    (folder / "locked.pem").write_bytes(key.private_bytes(pem, pkcs8, form.BestAvailableEncryption(b"word")))
    (folder / "report.json.sig").unlink()
    capsys.readouterr()
    assert main(["report", "sign", "report.json", "--key", wrong]) == 3
    assert main(["report", "verify", "report.json", "--signer", wrong.replace("officer.public", "officer")]) == 3
    output = capsys.readouterr()
    assert output.err.count("\n") == 2 and output.out == "" and not (folder / "report.json.sig").exists()


def test_an_audit_signs_what_it_writes(folder, capsys):
    key = private_key((folder / "officer.pem").read_bytes(), name="it")
    out = folder / "out"
    write_audit(Reports(AUDIT), out, key=key)
    for name in ("report.json", "report.html"):
        assert verify(capsys, "--signer", "officer.public.pem", report=str(out / "internal" / name))[0] == 0
    assert not list((out / "public").glob("*.sig"))
    check_folder(out, force=True)  # signatures are no strangers' files


def test_a_missing_package_is_one_sentence(folder, capsys, monkeypatch):
    for part in [name for name in sys.modules if name.startswith("cryptography")]:
        monkeypatch.setitem(sys.modules, part, None)
    code, output = verify(capsys)
    assert code == 1 and "BROKEN  Signature cannot be checked: A signature needs the package cryptography;" in output
    (folder / "report.json.sig").unlink()
    assert verify(capsys)[0] == 0
    assert main(["report", "sign", "report.json", "--key", "officer.pem"]) == 3
    assert "install what requirements-signing.txt lists" in capsys.readouterr().err


def test_only_a_report_that_holds_is_signed(folder, capsys):
    document = json.loads(to_json(report_document(AUDIT)))
    document["verdict"]["overall"] = "pass"
    (folder / "forged.json").write_text(json.dumps(document))
    capsys.readouterr()
    assert main(["report", "sign", "forged.json", "--key", "officer.pem"]) == 3
    assert "Only a report that holds is signed: " in capsys.readouterr().err
    (folder / "altered").write_text(
        to_html(report_document(AUDIT)).replace("Do not release", "Release", 1), encoding="utf-8"
    )
    assert main(["report", "sign", "altered", "--key", "officer.pem"]) == 3
    assert verify(capsys, report="altered")[0] == 1
