"""``fairleak report replay``: run a report's audit again, and compare every number."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from core.caveats import CaveatKind
from core.choose.findings import SECTION
from core.cli.arguments import add_data_argument, add_path, data_folder_of, read_report
from core.cli.console import Console, aligned
from core.datasets import Table, read_table
from core.datasets.catalog import default_cache_folder
from core.errors import InputError
from core.files import content_of
from core.models.model_files import ModelFile, read_model
from core.release_audit import (
    AuditPlan,
    Comparison,
    Difference,
    Sameness,
    SelfTest,
    cached_self_test,
    data_fingerprint,
    dataset_of,
    load_table,
    plan_of,
    run_audit,
    same_numbers,
)
from core.report import from_json, policy_of, report_document, to_json
from core.report.document import Document
from core.report.verification import document_in

HELP = "Run the audit of a report again and compare every number."

_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = (
        "exit codes: 0 pass, the same to the bit or within the bounds for other versions and machines; 1 fail, not the "
        "same; 3 input that cannot be used, such as another table."
    )
    add_path(parser, "report", metavar="REPORT", help="The report.json of an internal report.")
    add_data_argument(parser)
    add_path(parser, "--file", metavar="TABLE", help="Table of the audit, if it was a file.")
    add_path(parser, "--model", help="Model file of the audit, if there was one.")


def run(arguments: argparse.Namespace, console: Console) -> str:
    """Run again, compare and print."""
    old = from_json(_text(arguments.report))
    plan, policy = plan_of(old), policy_of(old)
    table, model_file = _table(plan, arguments), _model(plan, arguments)
    _check_table(plan, table, model_file, old["data"]["fingerprint"])
    tests: tuple[SelfTest, ...] = ()
    if old["self_tests"]:
        beside = console.counting("models of the self-test", every=200)
        tests = cached_self_test(default_cache_folder().parent / "self-test", report=beside)
    steps = console.counting("steps", every=4)
    audit = run_audit(plan, table, policy, model_file=model_file, self_tests=tests, report=steps)
    findings = old.get("findings", [])
    kept = [one for one in findings if one["study"] != SECTION]
    new = from_json(to_json(report_document(audit)))
    found = same_numbers(_without_choice(old, kept), new)
    console.results(_printed(found))
    if kept != findings:
        console.result("How the model was chosen was not run again, and that section was not compared.")
    return "fail" if found.status == Sameness.DIFFERENT else "pass"


def _without_choice(old: Document, findings: list[Document]) -> Document:
    """Return a report with other findings, and without the caveat of a choice, which is not run again."""
    content = dict(old)
    if content.get("findings"):
        content["findings"] = findings
    if "caveats" in content:
        chosen = CaveatKind.CHOSEN_ON_THESE_RECORDS
        content["caveats"] = [caveat for caveat in content["caveats"] if caveat["kind"] != chosen]
    return content


def _text(path: Path) -> str:
    _, text = read_report(path)
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        raise InputError(f"REPORT must be the report.json of an internal report, got {path.name!r}.")
    document_in(text, name=repr(path.name))  # a public summary is refused
    return text


def _content(path: Path | None, flag: str, name: str) -> bytes:
    """Return the bytes of a file that the report needs, and knows under its old name."""
    if path is None:
        raise InputError(f"{flag} must name the file that was {name!r} in the report; it was left out.")
    return content_of(path, what=flag)


def _table(plan: AuditPlan, arguments: argparse.Namespace) -> Table:
    if plan.data.file:  # under its old name, so that both reports have the same
        return read_table(_content(arguments.file, "--file", plan.data.file), Path(plan.data.file).name)
    if arguments.file is not None:
        raise InputError(f"--file is for an audit of a file; this one was of the dataset {plan.data.dataset}.")
    folder = data_folder_of(arguments)
    return load_table(plan, folder=Path(os.curdir), data_folder=folder, cache_folder=default_cache_folder())


def _model(plan: AuditPlan, arguments: argparse.Namespace) -> ModelFile | None:
    if plan.model.kind == "file":
        return read_model(_content(arguments.model, "--model", plan.model.file), Path(plan.model.file).name)
    if arguments.model is not None:
        raise InputError("--model is for an audit of a model file; this one had none.")
    return None


def _check_table(plan: AuditPlan, table: Table, model_file: ModelFile | None, digits: str) -> None:
    """Refuse a table that is not the report's, before an hour of work rather than after."""
    dataset = dataset_of(plan, table, model_file=model_file)
    found = data_fingerprint(dataset, answers=plan.model.kind != "file")
    if found != digits:
        raise InputError(
            f"The table must be the one the report is about, whose fingerprint begins with {digits[:12]}, got one that "
            f"begins with {found[:12]}."
        )


def _printed(found: Comparison) -> Iterator[str]:
    """Yield the answer, what the two runs differ in, and the values that differ, those beyond their bounds first."""
    yield _answer(found)
    if found.environment:
        changes = "; ".join(
            f"{one.path.removeprefix('provenance.')} {_value(one.old)}, now {_value(one.new)}"
            for one in (_shortened(each) for each in found.environment)
        )
        yield f"Run on something else than the report: {changes}."
    shown = [*found.beyond, *(one for one in found.differences if one.within), *found.wording]
    if not shown:
        return
    yield ""
    yield aligned(["where", "report", "now", "bound", ""], [_row(one) for one in shown[:_SHOWN]])
    if len(shown) > _SHOWN:
        yield f"and {len(shown) - _SHOWN:,} more"


def _answer(found: Comparison) -> str:
    differ, worded = len(found.differences), len(found.wording)
    wording = f" {worded:,} {'is' if worded == 1 else 'are'} worded otherwise." if worded else ""
    if found.status == Sameness.IDENTICAL and worded:
        return f"Same numbers, other wording: of {found.compared:,} values{wording}"
    if found.status == Sameness.IDENTICAL:
        return f"The same to the bit: {found.compared:,} values."
    beyond = f"Not the same: {len(found.beyond):,} of {found.compared:,} values differ beyond their bounds."
    within = f"The same within bounds: {differ:,} of {found.compared:,} values differ, none beyond its bound."
    return (within if found.status == Sameness.WITHIN_BOUNDS else beyond) + wording


def _shortened(one: Difference) -> Difference:
    """Return a difference of digests by their first digits."""
    return replace(one, old=f"{one.old:.12}", new=f"{one.new:.12}") if one.path == "provenance.code" else one


def _row(one: Difference) -> list[str]:
    bound = "" if math.isnan(one.bound) else f"{one.bound:.3g}"
    kind = "wording" if one.kind == "wording" else "within" if one.within else "beyond"
    return [one.path, _value(one.old), _value(one.new), bound, kind]


def _value(value: str | float | int | bool | None) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
