"""``fairleak report replay``: run a report's audit again, and say whether it gives the same."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..auditing import (
    AuditPlan,
    ChangedValue,
    Replay,
    SelfTest,
    cached_self_test,
    check_plan,
    compare_runs,
    data_fingerprint,
    dataset_of,
    load_table,
    run_audit,
)
from ..base.caveats import CaveatKind
from ..base.errors import InputError
from ..base.files import content_of
from ..datasets import Table, read_table
from ..datasets.catalog import default_cache_folder
from ..experiments.choose.findings import SECTION
from ..models.model_files import ModelFile, read_model
from ..report import Report, from_json, report_document
from ..report.canonical import strict
from ..report.verification import document_in
from .arguments import add_data_argument, add_path, data_folder_of, read_report
from .console import Console, aligned

HELP = "Run the audit of a report again and say whether it gives the same."

_MOST_CHANGES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = (
        "exit codes: 0 pass, the same; 1 fail, not the same; 3 input that cannot be used, such as another table."
    )
    add_path(parser, "report", metavar="REPORT", help="The report.json of an internal report.")
    add_data_argument(parser)
    add_path(parser, "--file", metavar="TABLE", help="Table of the audit, if it was a file.")
    add_path(parser, "--model", help="Model file of the audit, if there was one.")


def run(arguments: argparse.Namespace, console: Console) -> str:
    """Run again, compare and print."""
    old = from_json(_text(arguments.report))
    plan = old.plan
    check_plan(plan)
    table, model_file = _table(plan, arguments), _model(plan, arguments)
    _check_table(plan, table, model_file, old.data.fingerprint)
    tests: tuple[SelfTest, ...] = ()
    if old.self_tests:
        beside = console.counting("models of the self-test", every=200)
        tests = cached_self_test(default_cache_folder().parent / "self-test", report=beside)
    steps = console.counting("steps", every=4)
    audit = run_audit(plan, table, old.policy, model_file=model_file, self_tests=tests, report=steps)
    replayed = _without_choice(old)
    comparison = compare_runs(strict(replayed), strict(report_document(audit)))
    console.results(_printed(comparison))
    if len(replayed.findings) < len(old.findings):
        console.result("How the model was chosen was not run again, and that section was not compared.")
    return "pass" if comparison.same else "fail"


def _without_choice(old: Report) -> Report:
    """Return a report without section and caveat of a choice, which is not run again."""
    chosen = CaveatKind.CHOSEN_ON_THESE_RECORDS
    findings = tuple(study for study in old.findings if study.study != SECTION)
    caveats = tuple(caveat for caveat in old.caveats if caveat.kind != chosen)
    return replace(old, findings=findings, caveats=caveats)


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
    fingerprint = data_fingerprint(dataset, answers=plan.model.kind != "file")
    if fingerprint != digits:
        raise InputError(
            f"The table must be the one the report is about, whose fingerprint begins with {digits[:12]}, got one that "
            f"begins with {fingerprint[:12]}."
        )


def _printed(comparison: Replay) -> Iterator[str]:
    """Yield whether the runs gave the same, what they ran on otherwise, and the values that differ."""
    if comparison.same:
        yield f"The same: the run has the fingerprint {comparison.now[:16]} again."
    else:
        yield (
            f"Not the same: the run has the fingerprint {comparison.now[:16]}, in the report {comparison.before[:16]}; "
            f"{len(comparison.changes):,} of its values differ."
        )
    if comparison.environment:
        changes = "; ".join(map(_change, comparison.environment))
        yield f"Run on something else than the report: {changes}."
    if not comparison.changes:
        return
    yield ""
    rows = [[change.path, _value(change.before), _value(change.now)] for change in comparison.changes[:_MOST_CHANGES]]
    yield aligned(["where", "report", "now"], rows)
    if len(comparison.changes) > _MOST_CHANGES:
        yield f"and {len(comparison.changes) - _MOST_CHANGES:,} more"


def _change(change: ChangedValue) -> str:
    """Return a difference of what two runs ran on."""
    name = change.path.removeprefix("provenance.")
    before = _value(change.before)
    now = _value(change.now)
    if name == "code":
        return f"{name} {before[:12]}, now {now[:12]}"
    return f"{name} {before}, now {now}"


def _value(value: str | float | int | bool | None) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
