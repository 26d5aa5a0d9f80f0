"""Every document, database and plan of another format version is refused in one sentence, by one rule."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.auditing import read_plan
from core.auditing.policy import default_policy, policy_text, read_policy
from core.base.errors import FORMAT, FormatError, InputError, check_format
from core.desk import open_ledger, verify_export
from core.experiments.engine import FileStore
from core.report import from_json, report_document, to_json
from core.report.page import to_html
from core.report.verification import verify_report
from core.store.history import History
from tests.samples_report import altered_report, sample

PLAN = '[data]\ndataset = "demo"\n'
FOREIGN_FORMAT = 2


def report_json(folder: Path) -> None:
    from_json(to_json(replace(report_document(sample()), schema=FOREIGN_FORMAT)))


def report_to_verify(folder: Path) -> None:
    verify_report(to_json(replace(report_document(sample()), schema=FOREIGN_FORMAT)), name="The report")


def page_to_verify(folder: Path) -> None:
    verify_report(to_html(replace(report_document(sample()), schema=FOREIGN_FORMAT)), name="The report")


def plan_in_a_report(folder: Path) -> None:
    altered_report(report_document(sample()), lambda document: document["plan"].update(schema=FOREIGN_FORMAT))


def policy_in_a_report(folder: Path) -> None:
    altered_report(report_document(sample()), lambda document: document["policy"].update(schema=FOREIGN_FORMAT))


def plan_file(folder: Path) -> None:
    read_plan(f"schema = {FOREIGN_FORMAT}\n{PLAN}", name="The plan")


def policy_file(folder: Path) -> None:
    read_policy(policy_text(default_policy()).replace("schema = 1", f"schema = {FOREIGN_FORMAT}"), name="The policy")


def altered(path: Path) -> Path:
    """Return a SQLite file whose header has another version."""
    content = bytearray(path.read_bytes())
    content[63] = FOREIGN_FORMAT
    foreign = path.with_name("other")
    foreign.write_bytes(content)
    return foreign


def ledger(folder: Path) -> None:
    open_ledger(folder / "ledger", create=True)
    open_ledger(altered(folder / "ledger"))


def history(folder: Path) -> None:
    History.open(folder / "history")
    History.open(altered(folder / "history"))


def ledger_export(folder: Path) -> None:
    content, _ = open_ledger(folder / "ledger", create=True).record()
    verify_export(content.replace(b'"version":1', b'"version":2'))


def stored_points(folder: Path) -> None:
    FileStore(folder / "points")
    FileStore(altered(folder / "points"))


FORMATS: list[tuple[Callable[[Path], None], str]] = [
    (report_json, "A report"),
    (report_to_verify, "The report"),
    (page_to_verify, "The report"),
    (plan_in_a_report, "The report's plan"),
    (policy_in_a_report, "The report's policy"),
    (plan_file, "The plan: The file"),
    (policy_file, "The policy: The file"),
    (ledger, "The ledger "),
    (history, "The history "),
    (ledger_export, "The export "),
    (stored_points, "The store "),
]


@pytest.mark.parametrize(("read", "thing"), FORMATS, ids=lambda value: getattr(value, "__name__", None))
def test_another_format_is_refused(read: Callable[[Path], None], thing: str, tmp_path: Path):
    with pytest.raises(InputError) as refusal:
        read(tmp_path)
    sentence = str(refusal.value)
    assert sentence.startswith(thing)
    assert re.search(rf"must be of format {FORMAT}, got format {FOREIGN_FORMAT}\.$", sentence)
    assert "\n" not in sentence


@pytest.mark.parametrize("version", [None, 0, 2, 1.5, "1", True, [1], "x" * 99])
def test_check_format_refuses_all_but_its_version(version: object):
    with pytest.raises(FormatError, match=r"^The plan must be of format 1, got (none|format .{1,40})\.$"):
        check_format(version, thing="The plan")
    check_format(FORMAT, thing="The plan")
