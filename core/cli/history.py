"""``fairleak history``: the audits kept of projects, their signatures, and what was deleted."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from ..auditing.policy import VERDICT_TITLES
from ..base.errors import InputError
from ..base.files import check_writable, write_file
from ..report import to_json
from ..report.one_page import one_page
from ..store.events import DECISIONS, Entry, Signature
from ..store.history import History
from .arguments import Action, add_history_argument, add_path, login_name, report_that_holds
from .console import Console, table

DESCRIPTION = """\
The audits of a project, kept with their verdicts and signatures: the reports' findings, plans and policies, never the
table. fairleak audit --project NAME keeps one, and so does Keep on the Report page."""

EPILOG = """\
an example:
  fairleak audit plan.toml --out audit --project Loans
  fairleak history list --project Loans
  fairleak history sign 2 --decision accept_risk --name "A. Officer" --role DPO --reason "A pilot with 40 people."
  fairleak history delete 2 --reason "asked by the owner"
  fairleak history expire --days 730

A signature covers the fingerprint of one report. It is void as soon as another one is kept or signed in the project.
AUDIT is a number of the list, or the first 8 or more digits of a fingerprint.

Deleting takes the report away. Its fingerprint, its verdict, who kept, signed and deleted it, when and why stay.

exit codes: 0 done, 3 input that cannot be used."""


def _add_keep(parser: argparse.ArgumentParser) -> None:
    add_path(parser, "report", metavar="REPORT", help="JSON or HTML file of an internal report.")
    parser.add_argument("--project", required=True, metavar="NAME", help="Project to keep it in.")
    _add_who(parser)
    add_history_argument(parser)


def _add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", metavar="NAME", help="One project (default: all of them).")
    parser.add_argument("--deleted", action="store_true", help="Deleted audits too.")
    add_history_argument(parser)


def _add_show(parser: argparse.ArgumentParser) -> None:
    _add_audit(parser)
    add_path(parser, "--report", help="New file for its report.json, as it was kept.")
    help_text = (
        "New file for its one-page summary (PDF) with its signatures; needs requirements-pdf.txt."
    )
    add_path(parser, "--page", help=help_text)
    add_history_argument(parser)


def _add_sign(parser: argparse.ArgumentParser) -> None:
    _add_audit(parser)
    decisions = ", ".join(DECISIONS)
    parser.add_argument(
        "--decision",
        required=True,
        choices=tuple(DECISIONS),
        metavar="WORD",
        help=f"One of {decisions}.",
    )
    parser.add_argument("--name", required=True, metavar="NAME", help="Who signs.")
    parser.add_argument("--role", required=True, metavar="ROLE", help="Role in which they sign.")
    help_text = "Reason; required for accept_risk, and for another decision than one that stands."
    parser.add_argument("--reason", default="", metavar="TEXT", help=help_text)
    add_history_argument(parser)


def _add_delete(parser: argparse.ArgumentParser) -> None:
    _add_audit(parser, nargs="+")
    parser.add_argument("--reason", default="", metavar="TEXT", help="Reason, for the record.")
    _add_who(parser)
    add_history_argument(parser)


def _add_expire(parser: argparse.ArgumentParser) -> None:
    help_text = (
        "Reports kept more than N days ago are deleted, but for those whose sign-off stands."
    )
    parser.add_argument("--days", type=int, required=True, metavar="N", help=help_text)
    parser.add_argument("--project", metavar="NAME", help="One project (default: all of them).")
    _add_who(parser)
    add_history_argument(parser)


def _add_audit(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    parser.add_argument(
        "audit", nargs=nargs, metavar="AUDIT", help="Number of an audit, or its fingerprint."
    )


def _add_who(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--who", metavar="NAME", help="Who does it, for the record (default: your login name)."
    )


def _opened(arguments: argparse.Namespace) -> History:
    return History.open(arguments.history, create=False)


def _with_project(arguments: argparse.Namespace) -> History:
    """Return the history, which has the project that the arguments name, if they name one."""
    history = _opened(arguments)
    name = arguments.project
    projects = history.projects()
    if name is not None and name not in projects:
        if projects:
            has = f"it has {', '.join(map(repr, projects))}"
        else:
            has = "nothing is kept in it yet"
        raise InputError(f"There is no project {name!r} in the history {history.location}; {has}.")
    return history


def _who(arguments: argparse.Namespace) -> str:
    if arguments.who is None:
        return login_name()
    return str(arguments.who)


def _keep(arguments: argparse.Namespace, console: Console) -> None:
    _, document = report_that_holds(arguments.report, what="is kept")
    history = History.open(arguments.history)
    entry = history.keep(document, project=arguments.project, who=_who(arguments))
    console.result(
        f"It is kept in the project {entry.project!r} of the history {history.location}, as audit {entry.id}."
    )


def _list(arguments: argparse.Namespace, console: Console) -> None:
    history = _with_project(arguments)
    signed = history.signatures()
    rows = [
        {
            "audit": str(entry.id),
            "project": entry.project,
            "kept": entry.when[:10],
            "verdict": VERDICT_TITLES[entry.verdict],
            "fingerprint": entry.short,
            "dataset": entry.dataset,
            "by": entry.who,
            "sign-off": _sign_off(entry, signed),
        }
        for entry in history.entries(arguments.project, deleted=arguments.deleted)
    ]
    if rows:
        console.result(table(rows, left=8))
    else:
        console.result("Nothing is kept.")


def _sign_off(entry: Entry, signatures: Iterable[Signature]) -> str:
    """Return the decisions on an audit that stand; "void" where it has only others, or that it is deleted."""
    if entry.deleted:
        return "deleted"
    covering = [signature for signature in signatures if signature.covers(entry)]
    valid = [signature for signature in covering if not signature.void]
    if covering and not valid:
        return "void"
    return "; ".join(dict.fromkeys(signature.title for signature in valid))


def _show(arguments: argparse.Namespace, console: Console) -> None:
    history = _opened(arguments)
    entry = history.find(arguments.audit)
    if arguments.report is not None:
        check_writable(arguments.report, what="--report")
        content = to_json(history.document(entry)).encode("utf-8")
        write_file(arguments.report, content, what="--report", new=True)
        console.note(f"The report is in {arguments.report}; fairleak report verify checks it.")
    if arguments.page is not None:
        check_writable(arguments.page, what="--page")
        page = one_page(history.document(entry), history.signatures(entry))
        write_file(arguments.page, page, what="--page", new=True)
        console.note(f"The one-page summary is in {arguments.page}.")
    lines = {
        "audit": f"{entry.id} of the project {entry.project}",
        "fingerprint": entry.fingerprint,
        "verdict": VERDICT_TITLES[entry.verdict],
        "about": f"{entry.dataset}, {entry.attribute}",
        "policy": entry.policy,
        "kept": f"{entry.when} by {entry.who}",
    }
    if entry.deleted is not None:
        lines["deleted"] = (
            f"{entry.deleted.when} by {entry.deleted.who}. {entry.deleted.reason}".strip()
        )
    console.results(f"{name:<13}{text}" for name, text in lines.items())
    for signed in history.signatures(entry):
        console.result(f"{'signed':<13}{signed.sentence}")


def _sign(arguments: argparse.Namespace, console: Console) -> None:
    history = _opened(arguments)
    options = {name: getattr(arguments, name) for name in ("decision", "name", "role", "reason")}
    console.result(history.sign(history.find(arguments.audit), **options).sentence)


def _delete(arguments: argparse.Namespace, console: Console) -> None:
    history = _opened(arguments)
    entries = [history.find(audit) for audit in dict.fromkeys(arguments.audit)]
    _gone(history.delete(*entries, who=_who(arguments), reason=arguments.reason), console)


def _expire(arguments: argparse.Namespace, console: Console) -> None:
    history = _with_project(arguments)
    _gone(
        history.expire(days=arguments.days, project=arguments.project, who=_who(arguments)), console
    )


def _gone(entries: tuple[Entry, ...], console: Console) -> None:
    for entry in entries:
        console.result(
            f"Deleted the report of audit {entry.id} of the project {entry.project!r}, {entry.short}."
        )
    if not entries:
        console.result("Nothing was deleted.")


COMMANDS = {
    "keep": Action("Keep a report that lies in a file.", _add_keep, _keep),
    "list": Action("Print the audits kept, newest first.", _add_list, _list),
    "show": Action(
        "Print one audit and its signatures, and write its report to a file.", _add_show, _show
    ),
    "sign": Action(
        "Sign an audit: release it, accept the risk, or do not release it.", _add_sign, _sign
    ),
    "delete": Action("Delete the reports of audits.", _add_delete, _delete),
    "expire": Action("Delete the reports that were kept long ago.", _add_expire, _expire),
}
"""Name -> command of the history."""
