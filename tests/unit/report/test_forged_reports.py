"""Reports that hold, changes and forgeries that are noticed, and commands that take only a report that holds."""

import contextlib
import json
import random
import stat
import sys

import pytest

from core.base.errors import InputError
from core.cli.audit import write_audit
from core.report import Reports, report_document, to_json, verify_report
from core.report.brief_files import brief_html, brief_pdf
from core.report.codec import report_of
from core.report.page import to_html
from core.report.report import parse_json, report_fingerprint
from core.report.verification import private_key
from core.store.history import History
from tests.refusals import exit_code, refused
from tests.samples_report import judged_audit, places

CAUGHT = "membership_caught"
AUDIT = judged_audit()
REPORT = to_json(report_document(AUDIT))
PAGE = to_html(report_document(AUDIT))


def failed(text, **options):
    return {finding.name for finding in verify_report(text, **options).findings if not finding.holds}


def forged(change, *, sealed=True):
    """Return the report with a change, and where it is sealed with the fingerprint that a forger would compute."""
    document = json.loads(REPORT)
    change(document)
    if sealed:
        document["fingerprint"] = report_fingerprint(document)
    return to_json(document)


def row(rows, check):
    return next(row for row in rows if row["check"] == check)


def all_pass(document):
    document["verdict"].update(overall="pass", headline="Every required limit is kept: Pass 7 of 7.", detail="")
    for check_row in document["verdict"]["checks"]:
        if check_row["limit"]:
            check_row.update(verdict="pass", blocks=False)


def drop_check(document):
    for part in (document["policy"]["limits"], document["verdict"]["checks"], document["measurements"]):
        part.remove(row(part, CAUGHT))


def test_an_untouched_report_holds_and_has_the_noted_fingerprint():
    for same in (REPORT, f"\ufeff{REPORT}", PAGE, json.dumps(json.loads(REPORT), indent=4)):
        assert failed(same) == set()
    signed = json.loads(REPORT)["fingerprint"]
    assert failed(REPORT, signed=f"{signed[:8].upper()} {signed[8:16]}") == set()
    assert failed(forged(all_pass), signed=signed[:16]) == {"verdict", "signed"}
    with pytest.raises(InputError, match="at least 8 of the digits"):
        verify_report(REPORT, signed="9f2c")


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (lambda f: f["policy"]["limits"][0].update(value=0.2), {"verdict"}),
        (lambda f: f.update(more=1), {"schema"}),
        (lambda f: f["times"].update(started="2020-01-01T00:00:00Z"), set()),
        (lambda f: f["provenance"].update(code="0" * 64), set()),
        (lambda f: f["verdict"].update(headline="All is well."), set()),
    ],
    ids=["limit", "key", "times", "code", "sentence"],
)
def test_every_change_breaks_an_unsealed_fingerprint(change, broken, sealed):
    assert failed(forged(change, sealed=sealed)) == broken | (set() if sealed else {"content"})


def test_an_altered_page_or_one_of_another_report_does_not_hold():
    assert failed(PAGE.replace("Do not release", "Release", 1)) == {"page"}
    inside = PAGE.rindex('"headline": "Do not')
    assert failed(PAGE[:inside] + PAGE[inside:].replace("Do not release", "Release", 1)) == {"content", "page"}


@pytest.mark.parametrize(
    ("content", "phrase"),
    [
        (b"person,sex\np1,F\n", "report.html, got something else."),
        (b"\xff\xfe\x00", "report.html, got no text."),
        (b'{"kind": "fairleak', "report.html; a report must be JSON, got something else."),
        (b'{"kind": 1, "kind": 2}', "report.html; a report must hold each key once, got 'kind' twice."),
        (b"<!doctype html><title>x</title>", "report.html; the page must hold its findings as text, got a page"),
        (b"{}", "report.html, got one that does not call itself that."),
    ],
    ids=["csv", "bytes", "half", "twice", "page", "empty"],
)
def test_what_is_no_report(content, phrase, tmp_path, capsys):
    (tmp_path / "people.csv").write_bytes(content)
    message = refused(capsys, "report", "verify", tmp_path / "people.csv")
    assert message.startswith("fairleak report verify: 'people.csv' must be a report of FairLeak, ")
    assert phrase in message


def test_the_command_says_what_holds(tmp_path, capsys):
    path = tmp_path / "report"
    for text in (REPORT, PAGE):
        path.write_text(text, "utf-8")
        code, output = verify(capsys, report=path)
        assert code == 0 and "BROKEN" not in output and ("Page holds" in output) == (text == PAGE)
    foreign = json.loads(forged(lambda f: f["provenance"].update(code="0" * 64)))
    path.write_text(to_html(report_of(foreign)).replace("Do not release", "Release", 1), "utf-8")
    code, output = verify(capsys, report=path)
    assert code == 1 and "Page cannot be verified: another FairLeak drew it." in output


FORGERIES = {
    "every verdict a pass": all_pass,
    "overall alone": lambda f: f["verdict"].update(overall="pass"),
    "an estimate": lambda f: row(f["measurements"], CAUGHT)["estimate"].update(value=0.01, low=0.008, high=0.012),
    "a measurement not run": lambda f: row(f["measurements"], "answers_excess").update(
        outcome="not_run", estimate=None, control=None, control_name=""
    ),
    "a measurement away": lambda f: f["measurements"].remove(row(f["measurements"], CAUGHT)),
    "a limit": lambda f: row(f["policy"]["limits"], CAUGHT).update(value=0.5),
    "a limit no longer required": lambda f: row(f["policy"]["limits"], CAUGHT).update(required=False),
    "a required check dropped": drop_check,
    "a level": lambda f: f["policy"].update(level=0.8),
    "a p-value": lambda f: row(f["verdict"]["checks"], CAUGHT).update(p_adjusted=0.2),
    "a freedom": lambda f: row(f["measurements"], "correction_gain").update(freedom=400),
    "an interval": lambda f: row(f["verdict"]["checks"], CAUGHT)["decided"].update(low=0.051),
    "a row twice": lambda f: f["verdict"]["checks"].append(row(f["verdict"]["checks"], CAUGHT)),
}
"""What a forger changes -> how; each leaves a verdict that the numbers do not give."""


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_report_is_refused(forgery):
    assert failed(forged(FORGERIES[forgery])) == {"verdict"}


VALUE = '"value": 0.098'
BROKEN_VALUES = ("NaN", "-Infinity", "1e999", f"1{'0' * 400}", f"{'[' * 900}{']' * 900}", '"inf"', "null", '"0.098"')
BROKEN_TEXTS = {
    **{new[:9]: lambda text, new=new: text.replace(VALUE, f'"value": {new}') for new in BROKEN_VALUES},
    "truncated": lambda text: text[: len(text) // 2],
    "a key twice": lambda text: text.replace('"overall"', '"overall": "pass",\n  "overall"'),
    "half a character": lambda text: text.replace('"A. Officer"', '"\\ud800"'),
    "a list": lambda text: text.replace('"verdict": {', '"verdict": [], "other": {'),
    "a limit beyond its unit": lambda text: text.replace('"value": 0.75', '"value": 7.5'),
    "a level beyond all": lambda text: text.replace('"level": 0.95,\n  "limits"', '"level": 1.5,\n  "limits"'),
}


@pytest.mark.parametrize("damage", BROKEN_TEXTS)
def test_what_no_report_holds_is_refused_in_sentences(damage, tmp_path, capsys):
    text = BROKEN_TEXTS[damage](REPORT)
    assert text != REPORT
    with contextlib.suppress(InputError, ValueError, RecursionError):  # otherwise nobody can compute its fingerprint
        document = parse_json(text)
        text = to_json({**document, "fingerprint": report_fingerprint(document)})
    path = tmp_path / "report.json"
    path.write_text(text, "utf-8")
    assert exit_code("report", "verify", path) in (1, 3)
    output = capsys.readouterr()
    assert "Traceback" not in output.out + output.err and (output.err.count("\n") == 1 or "BROKEN" in output.out)


def test_no_wrong_value_anywhere_ends_in_a_traceback(tmp_path, capsys):
    rng = random.Random(3)
    strange = [None, True, -1, 0, 1e308, 10**30, "", "\ud800", "x" * 5000, "inf", [], {}, [[]], {"value": None}]
    path = tmp_path / "report.json"
    for _ in range(12):
        document = json.loads(REPORT)
        holder, key, _ = rng.choice(list(places(document)))
        holder[key] = rng.choice(strange)
        path.write_text(json.dumps(document), "utf-8")
        assert exit_code("report", "verify", path) in (0, 1, 3)
        assert "Traceback" not in capsys.readouterr().err


def test_report_brief_writes_what_an_audit_writes(tmp_path):
    out, folder = tmp_path / "out", tmp_path / "out" / "internal"
    assert write_audit(Reports(AUDIT), out) == ""
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


def test_report_brief_refuses_bad_input(tmp_path, capsys):
    sound, broken = tmp_path / "sound.json", tmp_path / "broken.json"
    sound.write_text(REPORT, "utf-8")
    broken.write_text(forged(all_pass), "utf-8")
    for arguments, phrase in (
        ((tmp_path,), "REPORT must be a report or a folder that holds one"),
        ((sound, "-o", tmp_path / "output.doc"), "--output must end in .html or .pdf, got"),
        ((broken,), "Only a report that holds gets a brief: "),
    ):
        assert phrase in refused(capsys, "report", "brief", *arguments)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a report, two pairs of keys, and the first one's signature."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.json").write_text(REPORT, "utf-8")
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

    pem = (form.Encoding.PEM, form.PrivateFormat.PKCS8)
    key = private_key((folder / "officer.pem").read_bytes(), name="it")
    (folder / "locked.pem").write_bytes(key.private_bytes(*pem, form.BestAvailableEncryption(b"word")))
    foreign = ec.generate_private_key(ec.SECP256R1())
    (folder / "ec.pem").write_bytes(foreign.private_bytes(*pem, form.NoEncryption()))
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


def test_only_a_report_that_holds_is_signed(folder, capsys):
    (folder / "forged.json").write_text(forged(all_pass), "utf-8")
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
