"""Verification: untouched reports hold, every kind of change or forgery is told, no file ends in a traceback."""

import contextlib
import json
import random
from functools import partial

import pytest

from core.base.errors import InputError
from core.report import report_document, to_json, verify_report
from core.report.codec import report_of
from core.report.page import to_html
from core.report.report import parse_json, report_fingerprint
from tests.refusals import exit_code, refused
from tests.samples_report import judged_audit, places

RUNS = 12
CAUGHT = "membership_caught"
AUDIT = judged_audit()
REPORT = to_json(report_document(AUDIT))
PAGE = to_html(report_document(AUDIT))


def failed(text, **options):
    return {finding.name for finding in verify_report(text, **options).findings if not finding.holds}


def altered(change, *, sealed=False):
    """Return the report with a change; sealed, with the fingerprint of what it says now."""
    document = json.loads(REPORT)
    change(document)
    if sealed:
        document["fingerprint"] = report_fingerprint(document)
    return to_json(document)


forged = partial(altered, sealed=True)
"""Return the report with a change and the fingerprint that a forger would compute for it."""


def row(document, check, rows=None):
    """Return the row of a check, of the verdict or of other rows."""
    return next(row for row in rows or document["verdict"]["checks"] if row["check"] == check)


def measurement(document, check):
    return row(document, check, document["measurements"])


def limit(document, check):
    return row(document, check, document["policy"]["limits"])


def all_pass(document):
    document["verdict"].update(overall="pass", headline="Every required limit is kept: Pass 7 of 7.", detail="")
    for check_row in document["verdict"]["checks"]:
        if check_row["limit"]:
            check_row.update(verdict="pass", blocks=False)


def drop_check(document):
    for part in (document["policy"]["limits"], document["verdict"]["checks"], document["measurements"]):
        part.remove(next(entry for entry in part if entry["check"] == CAUGHT))


def test_an_untouched_report_holds_however_it_is_laid_out():
    for same in (REPORT, f"\ufeff{REPORT}", PAGE, json.dumps(json.loads(REPORT), indent=4)):
        assert failed(same) == set()


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
    assert failed(altered(change, sealed=sealed)) == broken | (set() if sealed else {"content"})


def test_an_altered_page_or_one_of_another_report_does_not_hold():
    assert failed(PAGE.replace("Do not release", "Release", 1)) == {"page"}
    inside = PAGE.rindex('"headline": "Do not')
    assert failed(PAGE[:inside] + PAGE[inside:].replace("Do not release", "Release", 1)) == {"content", "page"}


def test_a_noted_fingerprint_is_that_of_the_report():
    signed = json.loads(REPORT)["fingerprint"]
    assert failed(REPORT, signed=f"{signed[:8].upper()} {signed[8:16]}") == set()
    assert failed(forged(all_pass), signed=signed[:16]) == {"verdict", "signed"}
    with pytest.raises(InputError, match="at least 8 of the digits"):
        verify_report(REPORT, signed="9f2c")


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
    def verify(text):
        (tmp_path / "report").write_text(text, "utf-8")
        return exit_code("report", "verify", tmp_path / "report"), capsys.readouterr().out

    for text in (REPORT, PAGE):
        code, output = verify(text)
        assert code == 0 and "BROKEN" not in output and ("Page holds" in output) == (text == PAGE)
    foreign = json.loads(forged(lambda f: f["provenance"].update(code="0" * 64)))
    code, output = verify(to_html(report_of(foreign)).replace("Do not release", "Release", 1))
    assert code == 1 and "Page cannot be verified: another FairLeak drew it." in output


FORGERIES = {
    "every verdict a pass": all_pass,
    "one verdict a pass": lambda f: row(f, CAUGHT).update(verdict="pass", blocks=False),
    "overall alone": lambda f: f["verdict"].update(overall="pass"),
    "does not block": lambda f: row(f, CAUGHT).update(blocks=False),
    "an estimate": lambda f: measurement(f, CAUGHT)["estimate"].update(value=0.01, low=0.008, high=0.012),
    "a measurement not run": lambda f: measurement(f, "answers_excess").update(
        outcome="not_run", estimate=None, control=None, control_name=""
    ),
    "a measurement away": lambda f: f["measurements"].remove(measurement(f, CAUGHT)),
    "a limit": lambda f: limit(f, CAUGHT).update(value=0.5),
    "a limit no longer required": lambda f: limit(f, CAUGHT).update(required=False),
    "the row's limit": lambda f: row(f, CAUGHT)["limit"].update(value=0.5),
    "a required check dropped": drop_check,
    "a row dropped": lambda f: f["verdict"]["checks"].remove(row(f, CAUGHT)),
    "a row twice": lambda f: f["verdict"]["checks"].append(row(f, CAUGHT)),
}
"""What a forger changes -> how; each leaves a verdict that the numbers do not give."""


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_report_is_refused(forgery):
    assert failed(forged(FORGERIES[forgery])) == {"verdict"}


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f["policy"].update(level=0.8),
        lambda f: row(f, CAUGHT).update(p_adjusted=0.2),
        lambda f: measurement(f, "correction_gain").update(freedom=400),
        lambda f: row(f, CAUGHT)["decided"].update(low=0.051),
    ],
    ids=["level", "p-value", "freedom", "interval"],
)
def test_levels_p_values_and_intervals_are_judged_too(change):
    assert "verdict" in failed(forged(change))


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
    for _ in range(RUNS):
        document = json.loads(REPORT)
        holder, key, _ = rng.choice(list(places(document)))
        holder[key] = rng.choice(strange)
        path.write_text(json.dumps(document), "utf-8")
        assert exit_code("report", "verify", path) in (0, 1, 3)
        assert "Traceback" not in capsys.readouterr().err
