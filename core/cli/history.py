"""``fairleak history``: the register of models, with the audits and decisions of their versions."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..auditing.policy import VERDICT_TITLES
from ..base.errors import InputError
from ..base.files import check_writable, write_file
from ..datasets.columns import quoted
from ..report import to_json
from ..report.brief_files import brief_file
from ..report.report import DECISIONS
from ..store.events import BAN, DecisionState, Entry, RegisteredModel, Signature
from ..store.history import History, today
from ..store.register import answers_text, decided
from .arguments import (
    Action,
    add_history_argument,
    add_path,
    check_brief,
    login_name,
    report_that_holds,
)
from .console import Console, table

DESCRIPTION = """\
The register: models by name with their versions, the audits of each, and what was decided about them. The reports'
findings, plans and policies are kept, never the table. fairleak audit --keep keeps an audit, and so does Keep on the
Report page."""

EPILOG = """\
an example:
  fairleak history register "Vendor default" --purpose "Whom to call first" --owner "Retail risk" --review 2027-05-28
  fairleak history keep report.json --model "Vendor default" --version 2.0
  fairleak history sign "Vendor default" 2.0 --decision do_not_release --name "A. Officer" --role DPO \\
      --reason "Scores reveal the attribute."
  fairleak history list
  fairleak compare 2.0 2.1 --model "Vendor default"
  fairleak history revoke "Vendor default" 2.0 --name "A. Officer" --role DPO --reason "Only labels are released now."

A decision is about the version that was audited. "Do not release" stands until somebody revokes it, whatever else is
audited, decided or deleted; the others until a later one about the version, or a revocation.

Deleting takes the report away. Its fingerprint, its verdict, who kept, signed and deleted it, when and why stay.

exit codes: 0 done, 3 input that cannot be used."""


def _add_register(parser: argparse.ArgumentParser) -> None:
    _add_model(parser)
    parser.add_argument("--purpose", required=True, metavar="TEXT", help="What it is used for.")
    parser.add_argument("--owner", required=True, metavar="NAME", help="Who answers for it.")
    help_text = "Day by which it is looked at again, YYYY-MM-DD (default: none)."
    parser.add_argument("--review", default="", metavar="DAY", help=help_text)
    _add_who(parser)
    add_history_argument(parser)


def _add_keep(parser: argparse.ArgumentParser) -> None:
    add_path(parser, "report", metavar="REPORT", help="JSON or HTML file of an internal report.")
    help_text = "Model it is of (default: what its plan says under [register])."
    parser.add_argument("--model", default="", metavar="NAME", help=help_text)
    help_text = "Version of the model (default: what its plan says)."
    parser.add_argument("--version", default="", metavar="VERSION", help=help_text)
    _add_who(parser)
    add_history_argument(parser)


def _add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", nargs="?", metavar="MODEL", help="Its audits (default: models).")
    parser.add_argument("--deleted", action="store_true", help="Deleted audits too.")
    add_history_argument(parser)


def _add_show(parser: argparse.ArgumentParser) -> None:
    _add_model(parser)
    _add_version(parser, nargs="?")
    _add_audit(parser)
    add_path(parser, "--report", help="New file for the audit's report.json, as it was kept.")
    help_text = "New file for its decision brief with its decisions: .html, or .pdf (needs requirements-pdf.txt)."
    add_path(parser, "--brief", help=help_text)
    add_history_argument(parser)


def _add_sign(parser: argparse.ArgumentParser) -> None:
    _add_model(parser)
    _add_version(parser)
    _add_audit(parser)
    decisions = ", ".join(DECISIONS)
    parser.add_argument(
        "--decision",
        required=True,
        choices=tuple(DECISIONS),
        metavar="WORD",
        help=f"One of {decisions}.",
    )
    _add_signer(parser)
    help_text = "Reason; required for accept_risk, and for another decision than one that stands."
    parser.add_argument("--reason", default="", metavar="TEXT", help=help_text)
    help_text = "Condition under which it is decided, such as: no scores to partners."
    parser.add_argument("--condition", default="", metavar="TEXT", help=help_text)
    help_text = (
        "Last day on which it stands, YYYY-MM-DD; required for accept_risk, and not of a ban."
    )
    parser.add_argument("--until", default="", metavar="DAY", help=help_text)
    add_history_argument(parser)


def _add_revoke(parser: argparse.ArgumentParser) -> None:
    _add_model(parser)
    _add_version(parser)
    decisions = ", ".join(DECISIONS)
    parser.add_argument(
        "--decision",
        default=BAN,
        choices=tuple(DECISIONS),
        metavar="WORD",
        help=f"Which decision on the version: one of {decisions} (default: {BAN}, a ban).",
    )
    _add_signer(parser)
    parser.add_argument("--reason", required=True, metavar="TEXT", help="Why it is revoked.")
    add_history_argument(parser)


def _add_delete(parser: argparse.ArgumentParser) -> None:
    _add_model(parser)
    _add_version(parser)
    _add_audit(parser)
    parser.add_argument("--reason", default="", metavar="TEXT", help="Reason, for the record.")
    _add_who(parser)
    add_history_argument(parser)


def _add_expire(parser: argparse.ArgumentParser) -> None:
    help_text = "Reports kept more than N days ago are deleted, but for those that a standing decision is on."
    parser.add_argument("--days", type=int, required=True, metavar="N", help=help_text)
    parser.add_argument("--model", metavar="NAME", help="One model (default: all of them).")
    _add_who(parser)
    add_history_argument(parser)


def _add_verify(parser: argparse.ArgumentParser) -> None:
    help_text = "Hash printed earlier: everything up to it must be as it was then."
    parser.add_argument("--hash", default="", metavar="HASH", help=help_text)
    add_history_argument(parser)


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="Name of a model of the register.")


def _add_version(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    default = " (default: all of them, and the last audit)" if nargs else ""
    parser.add_argument(
        "version", nargs=nargs, metavar="VERSION", help=f"One of its versions{default}."
    )


def _add_audit(parser: argparse.ArgumentParser) -> None:
    help_text = "Another audit of the version than the last: 8 or more digits of its fingerprint."
    parser.add_argument("--audit", default="", metavar="FINGERPRINT", help=help_text)


def _add_signer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", required=True, metavar="NAME", help="Who signs.")
    parser.add_argument("--role", required=True, metavar="ROLE", help="Role in which they sign.")


def _add_who(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--who", metavar="NAME", help="Who does it, for the record (default: your login name)."
    )


def _opened(arguments: argparse.Namespace) -> History:
    return History.open(arguments.history, create=False)


def _who(arguments: argparse.Namespace) -> str:
    if arguments.who is None:
        return login_name()
    return str(arguments.who)


def _audit_entry(arguments: argparse.Namespace, history: History) -> Entry:
    return history.find(arguments.model, arguments.version or "", audit=arguments.audit)


def _register(arguments: argparse.Namespace, console: Console) -> None:
    history = History.open(arguments.history)
    statement = {name: getattr(arguments, name) for name in ("purpose", "owner", "review")}
    model = history.register(arguments.model, who=_who(arguments), **statement)
    console.results(_model_lines(model, history))


def _keep(arguments: argparse.Namespace, console: Console) -> None:
    _, document = report_that_holds(arguments.report, what="is kept")
    history = History.open(arguments.history)
    entry = history.keep(
        document, model=arguments.model, version=arguments.version, who=_who(arguments)
    )
    console.result(kept_sentence(entry, history))


def kept_sentence(entry: Entry, history: History) -> str:
    """Return where an audit is kept, as a sentence."""
    return f"It is kept as {entry.title}, {entry.short}, in the history {history.location}."


def _list(arguments: argparse.Namespace, console: Console) -> None:
    history = _opened(arguments)
    if arguments.model is not None:
        rows = _audit_rows(history.model(arguments.model), deleted=arguments.deleted)
    else:
        rows = [_model_row(model) for model in history.models()]
    if rows:
        console.result(table(rows, left=9))
    else:
        console.result("Nothing is kept.")


def _model_row(model: RegisteredModel) -> dict[str, str]:
    day = today()
    last = model.last
    verdict = ""
    if last is not None:
        verdict = f"{VERDICT_TITLES[last.verdict]}, {last.version}, {last.when[:10]}"
    return {
        "model": model.name,
        "newest": next(iter(model.versions), ""),
        "versions": str(len(model.versions)),
        "purpose": model.purpose,
        "owner": model.owner,
        "last verdict": verdict,
        "decisions that stand": decisions_text(model.current_decisions(day)),
        "next review": model.next_review,
    }


def decisions_text(signatures: Sequence[Signature]) -> str:
    """Return decisions by their words, each with its versions: "Do not release: 2.0, 1.0"."""
    return "; ".join(
        f"{DECISIONS[decision]}: {', '.join(signature.version for signature in signed)}"
        for decision, signed in decided(signatures)
    )


def _audit_rows(model: RegisteredModel, *, deleted: bool) -> list[dict[str, str]]:
    return [
        {
            "version": entry.version,
            "kept": entry.when[:10],
            "verdict": VERDICT_TITLES[entry.verdict],
            "released": entry.outputs,
            "attribute": entry.attribute,
            "dataset": entry.dataset,
            "fingerprint": entry.short,
            "by": entry.who,
            "decision": _decision(entry, model.signatures),
        }
        for entry in model.entries
        if deleted or entry.deleted is None
    ]


def _decision(entry: Entry, signatures: Sequence[Signature]) -> str:
    """Return the decisions that were signed on an audit and what has become of them, or that it is deleted."""
    parts = []
    if entry.deleted is not None:
        parts.append("deleted")
    for signature in signatures:
        if signature.covers(entry):
            state = signature.state(today())
            ended = "" if state == DecisionState.STANDS else f" ({state})"
            parts.append(f"{signature.title}{ended}")
    return "; ".join(dict.fromkeys(parts))


def _show(arguments: argparse.Namespace, console: Console) -> None:
    history = _opened(arguments)
    model = history.model(arguments.model)
    if arguments.version is None and not arguments.audit:
        console.results(_model_lines(model, history))
        if model.last is None:
            return
        console.result("")
    entry = _audit_entry(arguments, history)
    if arguments.report is not None:
        check_writable(arguments.report, what="--report")
        content = to_json(history.document(entry)).encode("utf-8")
        write_file(arguments.report, content, what="--report", new=True)
        console.note(f"The report is in {arguments.report}; fairleak report verify checks it.")
    if arguments.brief is not None:
        check_brief(arguments.brief, what="--brief")
        brief = brief_file(
            history.document(entry),
            history.signatures(entry),
            ending=arguments.brief.suffix,
            review=model.next_review,
        )
        write_file(arguments.brief, brief, what="--brief", new=True)
        console.note(f"The decision brief is in {arguments.brief}.")
    lines = {
        "audit": f"{entry.title}, {entry.outputs}",
        "fingerprint": entry.fingerprint,
        "verdict": VERDICT_TITLES[entry.verdict],
        "about": f"{entry.dataset}, {entry.attribute}",
        "policy": entry.policy,
        "kept": f"{entry.when} by {entry.who}",
    }
    if entry.deleted is not None:
        lines["deleted"] = entry.deleted.sentence
    console.results(f"{name:<13}{text}" for name, text in lines.items())
    for signed in model.signatures:
        if signed.version == entry.version:
            console.result(f"{'decided':<13}{signed.sentence}")


def _model_lines(model: RegisteredModel, history: History) -> list[str]:
    lines = {
        "model": model.name,
        "purpose": model.purpose or "not said",
        "owner": model.owner or "not said",
        "next review": model.next_review or "none",
        "versions": ", ".join(model.versions) or "none audited yet",
        "stands": decisions_text(model.current_decisions(today())) or "no decision",
        "registered": f"{model.when} by {model.who}, in {history.location}",
    }
    if same := model.banned_answers():
        lines["answers"] = "; ".join(answers_text(*pair) for pair in same)
    return [f"{name:<13}{text}" for name, text in lines.items()]


def _sign(arguments: argparse.Namespace, console: Console) -> None:
    history = _opened(arguments)
    names = ("decision", "name", "role", "reason", "condition", "until")
    options = {name: getattr(arguments, name) for name in names}
    console.result(history.sign(_audit_entry(arguments, history), **options).sentence)


def _revoke(arguments: argparse.Namespace, console: Console) -> None:
    history = _opened(arguments)
    model = history.model(arguments.model)
    version = history.find(arguments.model, arguments.version).version
    signatures = [
        signature
        for signature in model.signatures
        if signature.stands
        and signature.version == version
        and signature.decision == arguments.decision
    ]
    if not signatures:
        raise InputError(
            f"No decision {quoted(arguments.decision)} stands on {model.name} {version} in {history.location}."
        )
    options = {name: getattr(arguments, name) for name in ("name", "role", "reason")}
    console.results(signature.sentence for signature in history.revoke(*signatures, **options))


def _delete(arguments: argparse.Namespace, console: Console) -> None:
    history = _opened(arguments)
    entry = _audit_entry(arguments, history)
    _gone(history.delete(entry, who=_who(arguments), reason=arguments.reason), console)


def _expire(arguments: argparse.Namespace, console: Console) -> None:
    history = _opened(arguments)
    if arguments.model is not None:
        history.model(arguments.model)
    _gone(history.expire(days=arguments.days, model=arguments.model, who=_who(arguments)), console)


def _gone(entries: tuple[Entry, ...], console: Console) -> None:
    for entry in entries:
        console.result(f"Deleted the report {entry.short} of {entry.title}.")
    if not entries:
        console.result("Nothing was deleted.")


def _verify(arguments: argparse.Namespace, console: Console) -> None:
    history = _opened(arguments)
    number, mark = history.verify()
    if arguments.hash and not history.has_hash(arguments.hash):
        raise InputError(
            f"--hash must be of an entry of the history {history.location}, got {quoted(arguments.hash)}: "
            "the history was replaced, or is another one."
        )
    console.result(f"All {number} entries of {history.location} hold, and every report kept.")
    console.result(f"hash of the last entry: {mark}")


COMMANDS = {
    "register": Action("Register a model, or change what is said of it.", _add_register, _register),
    "keep": Action("Keep a report that lies in a file.", _add_keep, _keep),
    "list": Action("Print the models, or the audits of one.", _add_list, _list),
    "show": Action(
        "Print a model or a version of it, with decisions, and write a report to a file.",
        _add_show,
        _show,
    ),
    "sign": Action(
        "Decide on a version: release it, accept the risk, or do not release it.",
        _add_sign,
        _sign,
    ),
    "revoke": Action("Revoke a ban, or another decision.", _add_revoke, _revoke),
    "delete": Action("Delete the report of an audit.", _add_delete, _delete),
    "expire": Action("Delete the reports that were kept long ago.", _add_expire, _expire),
    "verify": Action("Check that nothing in the history was changed.", _add_verify, _verify),
}
"""Name -> command of the history."""
