"""Every document, database and plan of another format version is refused in one sentence, by one rule."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from core.auditing import read_plan
from core.auditing.policy import default_policy, policy_text, read_policy
from core.base.errors import FORMAT, FormatError, InputError, check_format
from core.desk import open_ledger, verify_export
from core.experiments.engine import FileStore
from core.report import from_json, report_document, to_json, verify_report
from core.report.page import to_html
from core.store.history import History
from tests.samples_report import altered_report, sample

PLAN = '[data]\ndataset = "demo"\n'
FOREIGN_FORMAT = 2


def report_text() -> str:
    """Return a report of another format."""
    return to_json(replace(report_document(sample()), schema=FOREIGN_FORMAT))


def report_page() -> str:
    """Return the page of a report of another format."""
    return to_html(replace(report_document(sample()), schema=FOREIGN_FORMAT))


def report_with_foreign(part: str) -> None:
    """Read a report with a part of another format."""
    altered_report(report_document(sample()), lambda document: document[part].update(schema=FOREIGN_FORMAT))


def foreign_policy() -> str:
    return policy_text(default_policy()).replace("schema = 1", f"schema = {FOREIGN_FORMAT}")


def altered(path: Path) -> Path:
    """Return a SQLite file whose header has another version."""
    content = bytearray(path.read_bytes())
    content[63] = FOREIGN_FORMAT
    foreign = path.with_name("other")
    foreign.write_bytes(content)
    return foreign


def ledger_export(folder: Path) -> bytes:
    content, _ = open_ledger(folder / "ledger", create=True).record()
    return content.replace(b'"version":1', b'"version":2')


def foreign_file(make: Callable[[Path], object], folder: Path) -> Path:
    """Return a database of another format, made by this version but for its header."""
    make(folder / "database")
    return altered(folder / "database")


FORMATS = {
    "report": (lambda folder: from_json(report_text()), "A report"),
    "report to verify": (lambda folder: verify_report(report_text(), name="The report"), "The report"),
    "page to verify": (lambda folder: verify_report(report_page(), name="The report"), "The report"),
    "plan in a report": (lambda folder: report_with_foreign("plan"), "The report's plan"),
    "policy in a report": (lambda folder: report_with_foreign("policy"), "The report's policy"),
    "plan": (lambda folder: read_plan(f"schema = {FOREIGN_FORMAT}\n{PLAN}", name="The plan"), "The plan: The file"),
    "policy": (lambda folder: read_policy(foreign_policy(), name="The policy"), "The policy: The file"),
    "ledger": (lambda folder: open_ledger(foreign_file(partial(open_ledger, create=True), folder)), "The ledger "),
    "history": (lambda folder: History.open(foreign_file(History.open, folder)), "The history "),
    "export": (lambda folder: verify_export(ledger_export(folder)), "The export "),
    "points": (lambda folder: FileStore(foreign_file(FileStore, folder)), "The store "),
}


@pytest.mark.parametrize(("read", "thing"), FORMATS.values(), ids=FORMATS)
def test_another_format_is_refused(read, thing, tmp_path):
    with pytest.raises(InputError) as refusal:
        read(tmp_path)
    sentence = str(refusal.value)
    assert sentence.startswith(thing) and "\n" not in sentence
    assert re.search(rf"must be of format {FORMAT}, got format {FOREIGN_FORMAT}\.$", sentence)


@pytest.mark.parametrize("version", [None, 0, 2, 1.5, "1", True, [1], "x" * 99])
def test_check_format_refuses_all_but_its_version(version):
    with pytest.raises(FormatError, match=r"^The plan must be of format 1, got (none|format .{1,40})\.$"):
        check_format(version, thing="The plan")
    check_format(FORMAT, thing="The plan")
