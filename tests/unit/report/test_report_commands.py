"""``report brief``, ``card``, ``sign``: only of a report that holds, who signed which bytes; keys are never shown."""

import json
import stat
import sys

import pytest

from core.cli.audit import write_audit
from core.report import Reports, report_document, to_json
from core.report.brief_files import brief_html, brief_pdf
from core.report.verification import private_key
from core.store.history import History
from tests.refusals import exit_code, refused
from tests.samples_report import judged_audit

AUDIT = judged_audit()


@pytest.fixture
def out(tmp_path):
    assert write_audit(Reports(AUDIT), tmp_path / "out") == ""
    return tmp_path / "out"


def test_report_brief_writes_what_an_audit_writes(out, tmp_path):
    folder = out / "internal"
    document = Reports(AUDIT).document
    contents = {"brief.html": brief_html(document).encode(), "brief.pdf": brief_pdf(document)}
    assert {name: (folder / name).read_bytes() for name in contents} == contents
    for name, content in contents.items():
        (folder / name).unlink()
        output = tmp_path / f"own-{name}"
        assert exit_code("report", "brief", folder / "report.html", "-o", output) == 0
        assert output.read_bytes() == content
    assert exit_code("report", "brief", out) == 0
    assert {name: (folder / name).read_bytes() for name in contents} == contents


def test_report_brief_without_the_extra(tmp_path, monkeypatch, capsys):
    for module in ("core.report.brief_files", "core.cli.report"):
        monkeypatch.setattr(f"{module}.has_typst", lambda: False)
    assert "install what requirements-pdf.txt lists" in write_audit(Reports(AUDIT), tmp_path / "bare")
    assert exit_code("report", "brief", tmp_path / "bare") == 0
    assert [path.name for path in (tmp_path / "bare").rglob("brief.*")] == ["brief.html"]
    capsys.readouterr()
    message = refused(capsys, "report", "brief", tmp_path / "bare", "-o", tmp_path / "output.pdf")
    assert "install what requirements-pdf.txt lists" in message


def test_report_brief_refuses_bad_input(out, tmp_path, capsys):
    report = out / "internal" / "report.json"
    broken = tmp_path / "broken.json"
    broken.write_text(altered(report.read_text("utf-8")))
    for arguments, phrase in (
        ((tmp_path,), "REPORT must be a report or a folder that holds one"),
        ((report, "-o", tmp_path / "output.doc"), "--output must end in .html or .pdf, got"),
        ((broken,), "Only a report that holds gets a brief: "),
    ):
        assert phrase in refused(capsys, "report", "brief", *arguments)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a report, two pairs of keys, and the first one's signature."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.json").write_text(to_json(report_document(AUDIT)), "utf-8")
    for name in ("officer", "other"):
        assert exit_code("report", "sign", "--new-key", f"{name}.pem") == 0
    assert exit_code("report", "sign", "report.json", "--key", "officer.pem") == 0
    return tmp_path


def verify(capsys, *more, report="report.json"):
    capsys.readouterr()
    code = exit_code("report", "verify", report, *more)
    output = capsys.readouterr()
    return code, output.out + output.err


SIGNER = ("--signer", "officer.public.pem")


@pytest.mark.parametrize(
    ("change", "more", "code", "phrase"),
    [
        ("", SIGNER, 0, "holds   Signature holds: the owner of officer.public.pem signed exactly this file."),
        ("", ("--signer", "other.public.pem"), 1, "BROKEN  Signed by another key: by "),
        ("", (), 0, "whose key that is, it does not tell: anybody can make one"),
        ("a byte", (), 1, "BROKEN  Signature does not hold: the file is not what the owner of the key "),
        ("a byte", SIGNER, 1, "BROKEN  Signature does not hold: the file is not what the owner of the key "),
        ("no signature", (), 0, "NOTE    Not signed: anybody could have written this report"),
        ("no signature", SIGNER, 1, "BROKEN  Not signed: "),
    ],
)
def test_who_signed_what_and_whether_it_changed_by_a_byte(change, more, code, phrase, folder, capsys):
    if change == "a byte":  # the same content, and so the same fingerprint
        (folder / "report.json").write_bytes((folder / "report.json").read_bytes() + b"\n")
    elif change:
        (folder / "report.json.sig").unlink()
    status, output = verify(capsys, *more)
    assert status == code and phrase in output


def test_keys_are_private_never_printed_and_never_overwritten(folder, capsys):
    path, elsewhere = folder / "officer.pem", folder / "elsewhere.pem"
    key = path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (folder / "link.pem").symlink_to(elsewhere)
    capsys.readouterr()
    for again in ("officer.pem", "link.pem", "none/key.pem"):
        assert exit_code("report", "sign", "--new-key", again) == 3
    assert exit_code("report", "sign", "report.json", "--key", "officer.pem") == 3  # there is a signature
    output = capsys.readouterr()
    assert output.err.count("\n") == 4 and key.splitlines()[1] not in output.out + output.err
    assert path.read_text() == key and not elsewhere.exists()


@pytest.mark.parametrize("wrong", ["officer.public.pem", "report.json", "none.pem", "ec.pem", "locked.pem"])
def test_a_key_must_be_an_ed25519_key(folder, capsys, wrong):
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    key = private_key((folder / "officer.pem").read_bytes(), name="it")
    open_form = form.NoEncryption()
    for name, pair, secret in (
        ("ec.pem", ec.generate_private_key(ec.SECP256R1()), open_form),
        ("locked.pem", key, form.BestAvailableEncryption(b"word")),
    ):
        (folder / name).write_bytes(pair.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, secret))
    (folder / "report.json.sig").unlink()
    capsys.readouterr()
    assert exit_code("report", "sign", "report.json", "--key", wrong) == 3
    assert exit_code("report", "verify", "report.json", "--signer", wrong.replace("officer.public", "officer")) == 3
    output = capsys.readouterr()
    assert output.err.count("\n") == 2 and output.out == "" and not (folder / "report.json.sig").exists()


def test_a_missing_package_is_one_sentence(folder, capsys, monkeypatch):
    for part in [name for name in sys.modules if name.startswith("cryptography")]:
        monkeypatch.setitem(sys.modules, part, None)
    code, output = verify(capsys)
    assert code == 1 and "BROKEN  Signature cannot be checked: A signature needs the package cryptography;" in output
    (folder / "report.json.sig").unlink()
    assert verify(capsys)[0] == 0
    message = refused(capsys, "report", "sign", "report.json", "--key", "officer.pem")
    assert "install what requirements-signing.txt lists" in message


def altered(report):
    """Return a report with another verdict than its numbers give."""
    document = json.loads(report)
    document["verdict"]["overall"] = "pass"
    return json.dumps(document)


def test_only_a_report_that_holds_is_signed(folder, capsys):
    (folder / "forged.json").write_text(altered((folder / "report.json").read_text("utf-8")))
    message = refused(capsys, "report", "sign", "forged.json", "--key", "officer.pem")
    assert "Only a report that holds is signed: " in message


@pytest.mark.parametrize(
    "change",
    [
        *({name: "AAAA"} for name in ("signature", "public_key")),
        {"public_key": 3},
        {"kind": "other"},
        {"signature": "é"},
    ],
)
def test_a_signature_that_is_none(folder, capsys, change):
    path = folder / "report.json.sig"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    code, output = verify(capsys)
    assert code == 1 and "BROKEN  Signature does not hold: " in output and output.count("Signature") == 1


def test_history_show_brief_has_signatures(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRLEAK_HISTORY", str(tmp_path / "history.sqlite"))
    document, history = Reports(AUDIT).document, History.open(tmp_path / "history.sqlite")
    entry = history.keep(document, model="Loans", version="1.0", who="A. Auditor")
    signed = history.sign(entry, decision="do_not_release", name="A. Officer", role="DPO", reason="Unfair.")
    assert exit_code("history", "show", "Loans", "1.0", "--brief", tmp_path / "brief.pdf") == 0
    assert (tmp_path / "brief.pdf").read_bytes() == brief_pdf(document, (signed,))
