"""Verification: untouched reports hold, every kind of change or forgery is told, no file ends in a traceback."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import random
from typing import Any

import pytest

from core.__main__ import main
from core.auditing.policy import CHECKS
from core.base.errors import InputError
from core.report import report_document, report_fingerprint, to_json, verify_report
from core.report.codec import report_of
from core.report.page import to_html
from core.report.report import parse_json
from tests.refusals import refused
from tests.samples_report import POLICY, judged_audit, sample

RUNS = 20


AUDIT = judged_audit()
REPORT = to_json(report_document(AUDIT))
PAGE = to_html(report_document(AUDIT))


def failed(text: str, **options: str) -> set[str]:
    return {finding.name for finding in verify_report(text, **options).findings if not finding.holds}


def altered(change, *, sealed: bool = False) -> str:
    """Return the report with a change; sealed, with the fingerprint of what it says now."""
    document = json.loads(REPORT)
    change(document)
    if sealed:
        document["fingerprint"] = report_fingerprint(document)
    return to_json(document)


def forged(change) -> str:
    """Return the report with a change and the fingerprint that a forger would compute for it."""
    return altered(change, sealed=True)


def row(document: dict[str, Any], check: str) -> dict[str, Any]:
    return next(row for row in document["verdict"]["checks"] if row["check"] == check)


def measurement(document: dict[str, Any], check: str) -> dict[str, Any]:
    return next(m for m in document["measurements"] if m["check"] == check)


def estimate(document: dict[str, Any], check: str) -> dict[str, Any]:
    return measurement(document, check)["estimate"]


def limit(document: dict[str, Any], check: str) -> dict[str, Any]:
    return next(limit for limit in document["policy"]["limits"] if limit["check"] == check)


def all_pass(document):
    document["verdict"].update(overall="pass", headline="Every required limit is kept: Pass 7 of 7.", detail="")
    for check_row in document["verdict"]["checks"]:
        if check_row["limit"]:
            check_row.update(verdict="pass", blocks=False)


def drop(check):
    def change(document):
        document["policy"]["limits"] = [x for x in document["policy"]["limits"] if x["check"] != check]
        document["verdict"]["checks"] = [x for x in document["verdict"]["checks"] if x["check"] != check]
        document["measurements"] = [x for x in document["measurements"] if x["check"] != check]

    return change


def lenient(document):
    for limit_entry in document["policy"]["limits"]:
        limit_entry["value"] = 0.0 if CHECKS[limit_entry["check"]].at_least else 1.0


def own_row(document, check, **changes):
    row(document, check).update(changes)


def set_limit(document):
    document["policy"]["limits"][0]["value"] = 0.2


def all_overall(document):
    document["verdict"].update(overall="pass")


def test_an_untouched_report_holds_however_it_is_laid_out():
    for same in (REPORT, f"\ufeff{REPORT}", PAGE, json.dumps(json.loads(REPORT), indent=4)):
        assert failed(same) == set()


def test_whole_numbers_in_python_give_the_report_of_those_in_a_file():
    first, *rest = POLICY.limits
    audit, texts = sample(), []
    for number in (int, float):
        answers = dataclasses.replace(audit.plan.bias_queries, epsilon=number(3))
        plan = dataclasses.replace(audit.plan, bias_queries=answers)
        policy = dataclasses.replace(POLICY, limits=(dataclasses.replace(first, value=number(1)), *rest))
        texts.append(to_json(report_document(judged_audit(dataclasses.replace(audit, plan=plan), policy=policy))))
    assert texts[0] == texts[1] and failed(texts[0]) == set()


def test_times_run_forward_on_days_there_are_and_nothing_stands_beside_them():
    def timed(*, sealed: bool = True, **times: object) -> set[str]:
        return failed(altered(lambda document: document.update(times=times), sealed=sealed))

    assert timed(started="2024-02-29", sealed=False) == {"content"}
    assert timed() == timed(started="2026-03-01T10:00:00+00:00", seconds=0) == timed(started="2024-02-29") == set()
    for wrong in (
        {"seconds": -5},
        {"finished": "2020-01-01"},
        {"started": "soon"},
        {"started": None},
        {"seconds": "9"},
    ):
        assert timed(**{"started": "2026-03-01", **wrong}) == {"schema"}


def test_changes_forged_fingerprints_and_altered_pages():
    for sealed, content in ((False, {"content"}), (True, set())):
        for change, broken in (
            (set_limit, {"verdict"}),
            (all_overall, {"verdict"}),
            (lambda f: f.update(more=1), {"schema"}),
            (lambda f: f["times"].update(started="2020-01-01T00:00:00Z"), set()),
            (lambda f: f["provenance"].update(code="0" * 64), set()),
        ):
            assert failed(altered(change, sealed=sealed)) == broken | content
    signed = json.loads(REPORT)["fingerprint"]
    assert failed(REPORT, signed=f"{signed[:8].upper()} {signed[8:16]}") == set()
    assert failed(altered(all_overall, sealed=True), signed=signed[:16]) == {"verdict", "signed"}
    with pytest.raises(InputError, match="at least 8 of the digits"):
        verify_report(REPORT, signed="9f2c")
    assert failed(PAGE.replace("Do not release", "Release", 1)) == {"page"}
    assert failed(PAGE.replace("&lt;/td&gt;", "&lt;/tr&gt;", 1)) == {"page"}
    inside = PAGE.rindex('"headline": "Do not')
    assert failed(PAGE[:inside] + PAGE[inside:].replace("Do not release", "Release", 1)) == {"content", "page"}


@pytest.mark.parametrize(
    ("content", "phrase"),
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
def test_what_is_no_report(content, phrase, tmp_path, capsys):
    (tmp_path / "people.csv").write_bytes(content)
    message = refused(capsys, "report", "verify", tmp_path / "people.csv")
    assert (
        message.startswith("fairleak report verify: 'people.csv' must be a report of FairLeak, ") and phrase in message
    )
    assert "line 1" not in message and "column" not in message and "char" not in message


def test_the_command(tmp_path, capsys):
    def verify(text: str, *more: str) -> tuple[int, str]:
        (tmp_path / "report").write_text(text, encoding="utf-8")
        return main(["report", "verify", str(tmp_path / "report"), *more]), capsys.readouterr().out

    for text in (REPORT, PAGE):
        code, output = verify(text, "--fingerprint", json.loads(REPORT)["fingerprint"][:8])
        assert code == 0 and "BROKEN" not in output and ("Page holds" in output) == (text == PAGE)
        assert "judged again, the numbers in the report give the same verdicts" in output
    code, output = verify(altered(set_limit))
    assert code == 1 and "the report was altered after it was written" in output
    foreign = json.loads(altered(lambda f: f["provenance"].update(code="0" * 64), sealed=True))
    assert verify(to_json(foreign))[0] == 0
    code, output = verify(to_html(report_of(foreign)).replace("Do not release", "Release", 1))
    assert code == 1 and "Page cannot be verified: another FairLeak drew it." in output


def test_nothing_in_a_report_steers_the_terminal(tmp_path, capsys):
    path = tmp_path / "r.json"
    path.write_text(altered(lambda f: f["data"].update({"\x1b[31m\u202e": 1})), encoding="utf-8")
    assert main(["report", "verify", str(path)]) == 1
    output = capsys.readouterr().out
    assert "\x1b" not in output and "\u202e" not in output


FORGERIES = {
    "every verdict a pass": all_pass,
    "one verdict a pass": lambda f: own_row(f, "membership_caught", verdict="pass", blocks=False),
    "overall alone": all_overall,
    "does not block": lambda f: own_row(f, "membership_caught", blocks=False),
    "an estimate": lambda f: estimate(f, "membership_caught").update(value=0.01, low=0.008, high=0.012),
    "an interval": lambda f: estimate(f, "membership_caught").update(low=0.0, high=0.2),
    "a measurement not run": lambda f: measurement(f, "answers_excess").update(
        outcome="not_run", estimate=None, control=None, control_name=""
    ),
    "a measurement away": lambda f: f["measurements"].remove(measurement(f, "membership_caught")),
    "a limit": lambda f: limit(f, "membership_caught").update(value=0.5),
    "a limit no longer required": lambda f: limit(f, "membership_caught").update(required=False),
    "the row's limit": lambda f: row(f, "membership_caught")["limit"].update(value=0.5),
    "another policy": lenient,
    "a required check dropped": drop("membership_caught"),
    "a row dropped": lambda f: f["verdict"]["checks"].remove(row(f, "membership_caught")),
    "a row twice": lambda f: f["verdict"]["checks"].append(row(f, "membership_caught")),
}
"""What a forger changes -> how; each leaves a verdict that the numbers do not give."""


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_report_is_refused(forgery, tmp_path, capsys):
    text = forged(FORGERIES[forgery])
    assert failed(text) == {"verdict"}
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")
    assert main(["report", "verify", str(path)]) == 1
    output = capsys.readouterr().out
    assert "BROKEN  Verdict does not hold: " in output


def test_levels_p_values_and_intervals_are_judged_too():
    for change in (
        lambda f: f["policy"].update(level=0.8),
        lambda f: own_row(f, "membership_caught", p_adjusted=0.2),
        lambda f: measurement(f, "correction_gain").update(freedom=400),
        lambda f: row(f, "membership_caught")["decided"].update(low=0.051),
    ):
        assert "verdict" in failed(forged(change))


def test_sentences_and_sizes_are_covered_by_the_fingerprint_alone():
    for change in (
        lambda f: f["verdict"].update(headline="All is well."),
        lambda f: f["groups"][0].update(count=14690),
        lambda f: own_row(f, "membership_caught", why="All is well."),
    ):
        assert failed(altered(change)) == {"content"} and failed(forged(change)) == set()


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
        document["fingerprint"] = report_fingerprint(document)
        text = to_json(document)
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")
    assert main(["report", "verify", str(path)]) in (1, 3)
    output = capsys.readouterr()
    assert "Traceback" not in output.out + output.err and (output.err.count("\n") == 1 or "BROKEN" in output.out)


def test_no_wrong_value_anywhere_ends_in_a_traceback(tmp_path, capsys):
    rng = random.Random(3)
    strange = [None, True, -1, 0, 1e308, 10**30, "", "\ud800", "x" * 5000, "inf", [], {}, [[]], {"value": None}]
    path = tmp_path / "report.json"
    for _ in range(RUNS):
        document = json.loads(REPORT)
        holder, key = rng.choice(list(_places(document)))
        holder[key] = rng.choice(strange)
        path.write_text(json.dumps(document), encoding="utf-8")
        assert main(["report", "verify", str(path)]) in (0, 1, 3)
        assert "Traceback" not in capsys.readouterr().err


def _places(value):
    for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(inside, (dict, list)):
            yield from _places(inside)
