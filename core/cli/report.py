"""Commands about reports: ``fairleak report`` and ``fairleak compare``.

A report is verified, replayed or signed, or its decision brief or its public summary made. Two audits are compared
side by side, for people and as a gate.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..auditing import (
    AuditPlan,
    SelfTest,
    cached_self_test,
    check_plan,
    data_fingerprint,
    dataset_of,
    load_table,
    run_audit,
)
from ..auditing.policy import estimate_text
from ..base.caveats import CaveatKind
from ..base.errors import FairLeakError, InputError
from ..base.files import check_writable, content_of, write_file
from ..datasets import Table, read_table
from ..datasets.catalog import default_cache_folder
from ..datasets.columns import quoted
from ..experiments.choose.findings import SECTION
from ..models.model_files import ModelFile, read_model
from ..report import (
    Report,
    from_json,
    public_summary,
    report_document,
    summary_markdown,
    to_json,
    verify_report,
)
from ..report.brief_files import HTML_NAME, PDF_NAME, brief_file, has_typst
from ..report.changes import Changed, Replay, compare_runs
from ..report.comparison import (
    NO_PROOF,
    CheckChange,
    Comparison,
    change_range,
    change_text,
    compare,
    comparison_html,
)
from ..report.report import strict
from ..report.verification import (
    ENDING,
    VerificationIssue,
    document_in,
    new_key,
    private_key,
    readable,
    signature_finding,
    signature_of,
)
from ..stats.estimates import Estimate
from ..store.events import BAN, Entry, name_key
from ..store.history import History, today
from .arguments import (
    Action,
    add_data_argument,
    add_file_arguments,
    add_history_argument,
    add_path,
    check_brief,
    data_folder_of,
    read_report,
    report_in,
    report_that_holds,
)
from .console import Console, aligned, write_json

# Compare --------------------------------------------------------------------------------------------------------------

_AUDIT = "a folder of fairleak audit, or a report.json or report.html"

_MODEL_AUDIT = "one of its versions, released (the version last released), latest, or a fingerprint of its list"


def _add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = (
        "exit codes: 0 better or not distinguishable; 1 worse (a required check); 2 inconclusive: a required check "
        "cannot be compared though it had a number or fails now, no required check can be compared, or one may be "
        "worse by --margin; 3 input that cannot be used. Without --margin, exit code 0 says that nothing was shown to "
        "be worse, not that nothing is."
    )
    parser.add_argument(
        "before",
        metavar="BEFORE",
        help=f"The earlier audit: {_AUDIT}; with --model also {_MODEL_AUDIT}.",
    )
    parser.add_argument("after", metavar="AFTER", help="The later audit, named in the same way.")
    parser.add_argument(
        "--model", metavar="NAME", help="Model of the register with an audit that is no file."
    )
    add_history_argument(parser)
    help_text = (
        "Ask for proof that no required check is worse by so much, in its unit (0.01: one point)."
    )
    parser.add_argument("--margin", type=float, metavar="SHARE", help=help_text)
    add_file_arguments(parser, "html", "json")


def _compare(arguments: argparse.Namespace, console: Console) -> str:
    """Compare, write and print."""
    before, after = (_document(arguments, name, console) for name in ("before", "after"))
    comparison = compare(before, after, margin=arguments.margin)
    console.results(_comparison_lines(comparison))
    if arguments.html is not None:
        write_file(arguments.html, comparison_html(comparison).encode(), what="--html")
        console.note(f"The comparison is in {arguments.html}.")
    write_json(comparison, arguments, console)
    return comparison.verdict


def _document(arguments: argparse.Namespace, argument: str, console: Console) -> Report:
    """Return the report of the audit that an argument names: a path, or else an audit of the model."""
    path = Path(getattr(arguments, argument))
    name = argument.upper()
    if arguments.model is not None and not os.path.lexists(path):
        history = History.open(arguments.history, create=False)
        entry = _entry(history, str(path), arguments.model)
        signed = history.signatures(entry)
        sentence = signed[-1].sentence if signed else "It is not signed."
        console.note(f"{name} is {entry.title}, {entry.short}. {sentence}")
        return readable(to_json(history.document(entry)), name=name)
    path = report_in(path, what=name)
    _, text = read_report(path, what=name)
    return readable(text, name=f"{name} ({path})")


def _entry(history: History, audit: str, name: str) -> Entry:
    """Return an audit of a model: of a version, the latest, the last one released, or by its fingerprint."""
    model = history.model(name)
    if audit == "latest":
        return history.find(name)
    if audit != "released":
        is_mark = re.fullmatch("[0-9a-fA-F]{8,64}", audit)
        versions = map(name_key, model.versions)
        if is_mark and name_key(audit) not in versions:
            return history.find(name, audit=audit)
        return history.find(name, audit)
    for signature in model.current_decisions(today()):
        if signature.decision != BAN:
            covered = [entry for entry in model.entries if signature.covers(entry)]
            return next((entry for entry in covered if entry.deleted is None), covered[0])
    raise InputError(f"No version of {quoted(model.name)} is released in {history.location}.")


def _comparison_lines(comparison: Comparison) -> Iterator[str]:
    """Yield the verdict, the checks, and what changed."""
    yield comparison.headline
    if comparison.detail:
        yield comparison.detail
    yield ""
    yield f"Before: {comparison.before.title}, {comparison.before.name}: {comparison.before.headline}"
    yield f"After:  {comparison.after.title}, {comparison.after.name}: {comparison.after.headline}"
    yield ""
    header = ["verdict", "check", "before", "after", "change", "95% CI", "adjusted"]
    yield aligned(header, [_row(check) for check in comparison.checks], left=range(2))
    reasons = [
        f"{check.title}: {check.turn}. {check.why}" for check in comparison.checks if check.why
    ]
    if reasons:
        yield ""
        yield from reasons
    yield ""
    yield NO_PROOF
    yield comparison.people
    yield ""
    if not comparison.changed:
        yield comparison.nothing_changed
        return
    cells = [
        [change.part, change.what, str(change.before), str(change.after)]
        for change in comparison.changed
    ]
    yield aligned(["changed", "what", "before", "after"], cells, left=range(4))


def _row(change: CheckChange) -> list[str]:
    verdict = str(change.turn)
    if change.within is not None:
        margin_text = "within the margin" if change.within else "may exceed the margin"
        verdict += f" ({margin_text})"
    if not change.required:
        verdict += " (for information)"
    adjusted = ""
    if change.decided:
        adjusted = change_range(change, decided=True)
    return [
        verdict,
        change.title,
        _number(change.check, change.before),
        _number(change.check, change.after),
        change_text(change),
        change_range(change),
        adjusted,
    ]


def _number(check: str, estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    return estimate_text(check, estimate)[0]


# One report -----------------------------------------------------------------------------------------------------------

_MOST_CHANGES = 20
"""Values that differ which are printed."""


def _add_report(parser: argparse.ArgumentParser, help_text: str, nargs: str | None = None) -> None:
    add_path(parser, "report", nargs=nargs, metavar="REPORT", help=help_text)


def _add_verify(parser: argparse.ArgumentParser) -> None:
    _add_report(parser, "JSON or HTML file of a report; its signature is in REPORT.sig.")
    help_text = "First 8 or more digits of the signed fingerprint."
    parser.add_argument("--fingerprint", default="", metavar="DIGITS", help=help_text)
    add_path(parser, "--signer", metavar="PUBLIC.pem", help="Public key of the required signer.")


def _verify(arguments: argparse.Namespace, console: Console) -> str:
    """Verify and print each finding."""
    path = arguments.report
    content, text = read_report(path)
    signer = None
    if arguments.signer is not None:
        signer = content_of(arguments.signer, what="--signer")
    verification = verify_report(text, signed=arguments.fingerprint, name=repr(path.name))
    findings = [*verification.findings, _signature(path, content, signer, str(arguments.signer))]
    if verification.fingerprint:
        console.result(f"Fingerprint {verification.fingerprint[:64]}")
    for finding in findings:
        if not finding.holds:
            label = "BROKEN "
        elif finding.note:
            label = "NOTE   "
        else:
            label = "holds  "
        console.result(f"{label} {finding.sentence}")
    if all(finding.holds for finding in findings):
        return "pass"
    return "fail"


def _signature(path: Path, content: bytes, signer: bytes | None, name: str) -> VerificationIssue:
    beside = path.with_name(f"{path.name}{ENDING}")
    signature = None
    if os.path.lexists(beside):
        signature = content_of(beside, what="The signature")
    try:
        return signature_finding(content, signature, signer=signer, name=name)
    except InputError:
        raise
    except FairLeakError as error:
        return VerificationIssue("signature", False, f"Signature cannot be checked: {error}")


def _add_replay(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "exit codes: 0 pass, the same; 1 fail, not the same; 3 input that cannot be "
        "used, such as another table."
    )
    _add_report(parser, "The report.json of an internal report.")
    add_data_argument(parser)
    add_path(parser, "--file", metavar="TABLE", help="Table of the audit, if it was a file.")
    add_path(parser, "--model", help="Model file of the audit, if there was one.")


def _replay(arguments: argparse.Namespace, console: Console) -> str:
    """Run again, compare and print."""
    old = from_json(_report_text(arguments.report))
    plan = old.plan
    check_plan(plan)
    table = _table(plan, arguments)
    model_file = _model(plan, arguments)
    _check_table(plan, table, model_file, old.data.fingerprint)
    tests: tuple[SelfTest, ...] = ()
    if old.self_tests:
        beside = console.counting("models of the self-test", every=200)
        tests = cached_self_test(default_cache_folder().parent / "self-test", report=beside)
    steps = console.counting("steps", every=4)
    audit = run_audit(
        plan, table, old.policy, model_file=model_file, self_tests=tests, report=steps
    )
    replayed = _without_choice(old)
    comparison = compare_runs(strict(replayed), strict(report_document(audit)))
    console.results(_printed(comparison))
    if len(replayed.findings) < len(old.findings):
        console.result(
            "How the model was chosen was not run again, and that section was not compared."
        )
    if comparison.same:
        return "pass"
    return "fail"


def _without_choice(old: Report) -> Report:
    """Return a report without section and caveat of a choice, which is not run again."""
    chosen = CaveatKind.CHOSEN_ON_THESE_RECORDS
    findings = tuple(study for study in old.findings if study.study != SECTION)
    caveats = tuple(caveat for caveat in old.caveats if caveat.kind != chosen)
    return replace(old, findings=findings, caveats=caveats)


def _report_text(path: Path) -> str:
    _, text = read_report(path)
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        raise InputError(
            f"REPORT must be the report.json of an internal report, got {path.name!r}."
        )
    document_in(text, name=repr(path.name))  # a public summary is refused
    return text


def _content(path: Path | None, flag: str, name: str) -> bytes:
    """Return the bytes of a file that the report needs, and knows under its old name."""
    if path is None:
        raise InputError(
            f"{flag} must name the file that was {name!r} in the report; it was left out."
        )
    return content_of(path, what=flag)


def _table(plan: AuditPlan, arguments: argparse.Namespace) -> Table:
    if plan.data.file:  # under its old name, so that both reports have the same
        return read_table(
            _content(arguments.file, "--file", plan.data.file), Path(plan.data.file).name
        )
    if arguments.file is not None:
        raise InputError(
            f"--file is for an audit of a file; this one was of the dataset {plan.data.dataset}."
        )
    return load_table(plan, folder=Path(os.curdir), data_folder=data_folder_of(arguments))


def _model(plan: AuditPlan, arguments: argparse.Namespace) -> ModelFile | None:
    if plan.model.kind == "file":
        return read_model(
            _content(arguments.model, "--model", plan.model.file), Path(plan.model.file).name
        )
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
    rows = [
        [change.what, _value(change.before), _value(change.after)]
        for change in comparison.changes[:_MOST_CHANGES]
    ]
    yield aligned(["where", "report", "now"], rows)
    if len(comparison.changes) > _MOST_CHANGES:
        yield f"and {len(comparison.changes) - _MOST_CHANGES:,} more"


def _change(change: Changed) -> str:
    """Return a difference of what two runs ran on."""
    name = change.what.removeprefix("provenance.")
    before = _value(change.before)
    now = _value(change.after)
    if name == "code":
        return f"{name} {before[:12]}, now {now[:12]}"
    return f"{name} {before}, now {now}"


def _value(value: str | float | int | bool | None) -> str:
    text = "none" if value is None else str(value)
    if len(text) <= 40:
        return text
    return f"{text[:37]}..."


def _add_sign(parser: argparse.ArgumentParser) -> None:
    _add_report(parser, "JSON or HTML file of a report.", "?")
    how = parser.add_mutually_exclusive_group(required=True)
    add_path(
        how,
        "--key",
        metavar="KEY.pem",
        help="Private key; the signature goes beside the report, in REPORT.sig.",
    )
    help_text = "New private key, without a password and readable by you alone; KEY.public.pem is for others."
    add_path(how, "--new-key", metavar="KEY.pem", help=help_text)


def _sign(arguments: argparse.Namespace, console: Console) -> None:
    """Sign, or make a key."""
    if arguments.new_key is not None:
        if arguments.report is not None:
            raise InputError(
                "REPORT must be left out with --new-key; sign it with --key afterwards."
            )
        private = arguments.new_key
        _check_new(private, "--new-key")
        public = private.with_name(f"{private.name.removesuffix('.pem')}.public.pem")
        _check_new(public, "The public key of --new-key")
        private_content, public_content = new_key()
        write_file(private, private_content, what="--new-key", new=True, mode=0o600)
        write_file(public, public_content, what="The public key of --new-key", new=True, mode=0o644)
        console.result(
            f"{private} is the private key: it has no password, so keep it where nobody else can read it."
        )
        console.result(
            f"{public} is the public key: give it to those who verify, by a way they trust."
        )
        return
    if arguments.report is None:
        raise InputError("REPORT must be given with --key, got none.")
    key = private_key(content_of(arguments.key, what="--key"), name="--key")
    content, _ = report_that_holds(arguments.report, what="is signed")
    signature = arguments.report.with_name(f"{arguments.report.name}{ENDING}")
    _check_new(signature, "The signature")
    write_file(
        signature,
        signature_of(content, key).encode("ascii"),
        what="The signature",
        new=True,
        mode=0o644,
    )
    console.result(
        f"{signature} is the signature; keep it beside the report, and change nothing in either."
    )


def _check_new(path: Path, what: str) -> None:
    if os.path.lexists(path):
        raise InputError(f"{what} must be a file that does not exist yet, got {str(path)!r}.")
    check_writable(path, what=what)


def _add_brief(parser: argparse.ArgumentParser) -> None:
    _add_report(parser, "JSON or HTML file of a report, its folder, or an audit's folder.")
    help_text = (
        f"File for the brief, .html or .pdf (default: {HTML_NAME} beside the report, and {PDF_NAME} where "
        "requirements-pdf.txt is installed)."
    )
    add_path(parser, "-o", "--output", help=help_text)


def _brief(arguments: argparse.Namespace, console: Console) -> None:
    """Write the decision brief of a report."""
    report = report_in(arguments.report)
    if arguments.output is not None:
        outputs = [arguments.output]
    elif has_typst():
        outputs = [report.with_name(HTML_NAME), report.with_name(PDF_NAME)]
    else:
        outputs = [report.with_name(HTML_NAME)]
    for output in outputs:
        check_brief(output, what="--output")
    _, document = report_that_holds(report, what="gets a brief")
    for output in outputs:
        write_file(output, brief_file(document, ending=output.suffix), what="--output")
        console.result(f"{output} is the decision brief of the internal report.")


def _add_card(parser: argparse.ArgumentParser) -> None:
    _add_report(
        parser, "JSON or HTML file of an internal report, its folder, or an audit's folder."
    )
    add_path(parser, "-o", "--output", help="File for the summary (default: it is printed).")


def _card(arguments: argparse.Namespace, console: Console) -> None:
    """Print the public summary as Markdown, or write it."""
    _, document = report_that_holds(report_in(arguments.report), what="gets a public summary")
    section = summary_markdown(public_summary(document))
    if arguments.output is None:
        console.results(section.splitlines())
    else:
        write_file(arguments.output, section.encode("utf-8"), what="--output")
        console.note(f"{arguments.output} is the public summary for a model card.")
    console.note(
        "It holds no rates. The Model card page says with which decimals rates of groups expose nobody."
    )


_VERIFY = "Check that a report is unaltered, that its numbers give its verdict, and who signed it."
_REPLAY = "Run the audit of a report again and say whether it gives the same."
_SIGN = "Sign a report (JSON or HTML) with an Ed25519 key, or make the key; needs requirements-signing.txt."
_BRIEF = "Write the decision brief of a report, two pages: HTML, and PDF with requirements-pdf.txt."

COMMANDS = {
    "verify": Action(_VERIFY, _add_verify, _verify),
    "replay": Action(_REPLAY, _add_replay, _replay),
    "sign": Action(_SIGN, _add_sign, _sign),
    "brief": Action(_BRIEF, _add_brief, _brief),
    "card": Action(
        "Write the public summary of a report as Markdown for a model card.", _add_card, _card
    ),
}
"""Name -> command of reports."""

COMPARE = Action("Compare two audits check by check.", _add_compare, _compare)
