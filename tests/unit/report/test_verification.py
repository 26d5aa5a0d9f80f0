"""Verification: untouched reports hold, and every kind of change is told apart."""

from __future__ import annotations

import json

import pytest

from core.__main__ import main
from core.errors import InputError
from core.report import document, report_fingerprint, to_html, to_json, verify_report
from core.report.canonical import json_text
from tests.judged_report import judged

AUDIT = judged()
JSON, PAGE = to_json(document(AUDIT)), to_html(document(AUDIT))


def failed(text: str, **told: str) -> list[str]:
    return [finding.name for finding in verify_report(text, **told).findings if not finding.holds]


def altered(change, *, sealed: bool = False) -> str:
    found = json.loads(JSON)
    change(found)
    if sealed:
        found["fingerprint"] = report_fingerprint(found)
    return json_text(found)


def set_limit(found):
    found["policy"]["limits"][0]["value"] = 0.2


@pytest.mark.parametrize("edition", ["internal", "disclosure"])
def test_an_untouched_report_holds(edition):
    assert failed(to_json(document(AUDIT, edition=edition))) == []
    assert failed(to_html(document(AUDIT, edition=edition))) == []
    assert failed("\ufeff" + to_json(document(AUDIT, edition=edition))) == []


def test_a_report_that_was_laid_out_anew_or_timed_anew_holds():
    found = json.loads(JSON)
    assert failed(json.dumps(found, indent=4)) == []
    found["times"]["seconds"] = 1
    assert failed(json.dumps(found)) == []


@pytest.mark.parametrize("edition", ["internal", "disclosure"])
def test_times_run_forward_on_days_there_are_and_nothing_stands_beside_them(edition: str):
    def timed(**times: object) -> list[str]:
        return failed(json.dumps({**json.loads(to_json(document(AUDIT, edition=edition))), "times": times}))

    assert timed() == timed(started="2026-03-01T10:00:00+00:00", seconds=0) == timed(started="2024-02-29") == []
    for wrong in (
        {"seconds": -5},
        {"finished": "2020-01-01"},
        {"started": "soon"},
        {"started": None},
        {"seconds": "9"},
    ):
        assert timed(**{"started": "2026-03-01", **wrong}) == ["schema", "policy", "verdict", "numbers", "code"]
    assert timed(started="2026-02-30") == timed(started="2026-01-01T25:00:00Z") == ["numbers"]


def test_changes_are_told_apart():
    assert set(failed(altered(set_limit))) == {"content", "policy", "verdict", "words"}
    assert set(failed(altered(set_limit, sealed=True))) == {"policy", "verdict", "words"}
    assert failed(altered(lambda f: f["verdict"].update(overall="pass"))) == ["content", "verdict"]
    assert failed(altered(lambda f: f["verdict"].update(overall="pass"), sealed=True)) == ["verdict"]
    assert failed(altered(lambda f: f.update(more=1), sealed=True)) == [
        "schema", "policy", "verdict", "numbers", "code",
    ]  # fmt: skip
    assert failed(altered(lambda f: f["provenance"].update(code="0" * 64), sealed=True)) == ["code"]


def test_a_forged_fingerprint_is_caught_by_the_signed_one():
    signed = json.loads(JSON)["fingerprint"]
    forged = altered(lambda f: f["verdict"].update(overall="pass"), sealed=True)
    assert failed(JSON, signed=f"{signed[:8].upper()} {signed[8:16]}") == []
    assert failed(forged, signed=signed[:16]) == ["verdict", "signed"]
    with pytest.raises(InputError, match="at least 8 of the digits"):
        verify_report(JSON, signed="9f2c")


def test_a_page_that_shows_something_else_than_its_findings():
    assert failed(PAGE.replace("Do not release", "Release", 1)) == ["page"]
    assert failed(PAGE.replace("&lt;/td&gt;", "&lt;/tr&gt;", 1)) == ["page"]
    inside = PAGE.rindex('"headline": "Do not')
    assert failed(PAGE[:inside] + PAGE[inside:].replace("Do not release", "Release", 1)) == [
        "content", "verdict", "page",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"person,sex\np1,F\n", "report.html, got something else."),
        (b"\xff\xfe\x00", "report.html, got no text."),
        (b'{"kind": "fairleak', "report.html; a report must be JSON, got something else."),
        (b'{"kind": 1, "kind": 2}', "report.html; a report must hold each key once, got 'kind' twice."),
        (
            b"<!doctype html><title>x</title>",
            "report.html; the page must hold its findings as text, got a page without",
        ),
        (b"{}", "report.html, got one that does not call itself that."),
    ],
)
def test_what_is_no_report_is_named_without_the_parsers_words(content, words, tmp_path, capsys):
    (tmp_path / "people.csv").write_bytes(content)
    assert main(["report", "verify", str(tmp_path / "people.csv")]) == 3
    told = capsys.readouterr().err
    assert told.startswith("fairleak report verify: 'people.csv' must be a report of FairLeak, ") and words in told
    assert "line 1" not in told and "column" not in told and "char" not in told


def test_the_command(tmp_path, capsys):
    paths = {name: tmp_path / name for name in ("a.json", "a.html", "b.json", "c.json")}
    paths["a.json"].write_text(JSON, encoding="utf-8")
    paths["a.html"].write_text(PAGE, encoding="utf-8")
    paths["b.json"].write_text(altered(set_limit), encoding="utf-8")
    paths["c.json"].write_text(altered(lambda f: f["provenance"].update(code="0" * 64), sealed=True), encoding="utf-8")
    assert main(["report", "verify", str(paths["a.json"])]) == 0
    assert main(["report", "verify", str(paths["a.html"]), "--fingerprint", json.loads(JSON)["fingerprint"][:8]]) == 0
    told = capsys.readouterr().out
    assert (
        "BROKEN" not in told
        and "judged again, the numbers in the report give the same verdicts" in told
        and "Page holds" in told
    )
    assert main(["report", "verify", str(paths["b.json"])]) == 1
    assert "the report was altered after it was written" in capsys.readouterr().out
    assert main(["report", "verify", str(paths["c.json"])]) == 1
    assert main(["report", "verify", str(paths["c.json"]), "--any-code"]) == 0


def test_nothing_in_a_report_steers_the_terminal(tmp_path, capsys):
    path = tmp_path / "r.json"
    path.write_text(altered(lambda f: f["data"].update({"\x1b[31m\u202e": 1})), encoding="utf-8")
    assert main(["report", "verify", str(path)]) == 1
    told = capsys.readouterr().out
    assert "\x1b" not in told and "\u202e" not in told
