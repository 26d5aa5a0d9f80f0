"""``fairleak audit``: a release audit from a plan to a decision, with its reports.

The reports lie in a folder each, written whole or not at all. The self-test runs beside the audit, in a process of its
own: with two cores an audit hardly waits for it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .. import auditing as decision
from ..auditing import (
    AuditPlan,
    SelfTest,
    fitting_policy,
    load_model,
    load_policy_text,
    load_table,
    read_plan,
    run_audit,
)
from ..auditing.policy import (
    VERDICT_TITLES,
    CheckVerdict,
    Policy,
    default_policy,
    predictions_policy,
    read_policy,
)
from ..auditing.result import StudyFindings
from ..base.errors import Cancelled, FairLeakError, InputError
from ..base.files import check_writable, content_of, why
from ..base.serialize import content_fingerprint, loads
from ..datasets.catalog import default_cache_folder
from ..report import FOLDERS, Reports
from ..report.brief_files import PDF_NAME, brief_pdf
from ..report.public_summary import SUMMARY_KIND
from ..report.report import KIND
from ..report.verification import ENDING, private_key, signature_of
from ..store.history import History
from ..studies.correction import false_promise
from ..studies.study import Outcome, ReportProgress
from .arguments import (
    Action,
    add_data_argument,
    add_history_argument,
    add_path,
    add_policy_argument,
    data_folder_of,
    login_name,
)
from .console import Console, aligned
from .history import kept_sentence

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_INTERNAL = re.compile(
    r"report\.(json|html)(\.sig)?|brief\.(html|pdf)|(plan|policy)\.toml|(checks|groups|policy|provenance|self-test|table-.*|people-.*)\.csv"
)
_PUBLIC = re.compile(r"summary\.(json|html)|model-card\.md")
"""Names of the files of an internal report, and of a public summary."""


def check_folder(out: Path, *, force: bool) -> None:
    """Refuse a folder that holds anything an audit did not write, before the work rather than after."""
    check_writable(out, what="--out", folder=True)
    names = []
    if out.is_dir():
        names = sorted(path.name for path in out.iterdir())
    if not names:
        return
    if not force:
        raise InputError(
            f"--out must be a new or an empty folder, got {str(out)!r}; --force replaces an earlier report."
        )
    foreign = _foreign(out, names)
    if foreign:
        raise InputError(
            f"--force replaces a folder that holds an earlier report and nothing else, got {str(out)!r} with "
            f"{foreign!r}."
        )


def write_audit(
    reports: Reports, out: Path, *, force: bool = False, key: Ed25519PrivateKey | None = None
) -> str:
    """Write internal report and public summary; an earlier audit in the folder goes when the new one is complete.

    With a key the internal report is signed. Returned is why it has no brief as PDF; "" where it has one.
    """
    pdf_files, reason = _brief_files(reports)
    internal = reports.internal_files | pdf_files
    if key is not None:
        for name in ("report.json", "report.html"):
            internal[f"{name}{ENDING}"] = signature_of(internal[name], key).encode("utf-8")
    files = {"internal": internal, "public": reports.public_files}
    out = Path(
        os.path.realpath(out)
    )  # where a link leads, so that what is made beside it can be moved there
    try:
        with tempfile.TemporaryDirectory(
            prefix=".fairleak-", dir=out.absolute().parent
        ) as temporary:
            for folder in FOLDERS:
                (Path(temporary) / folder).mkdir()
                for name, content in files[folder].items():
                    (Path(temporary) / folder / name).write_bytes(content)
            check_folder(out, force=force)
            out.mkdir(exist_ok=True)
            for folder in FOLDERS:
                if (out / folder).exists():
                    shutil.rmtree(out / folder)
                (Path(temporary) / folder).rename(out / folder)
    except OSError as error:
        raise InputError(
            f"--out must be a folder that can be written, got {str(out)!r}: {why(error)}."
        ) from None
    return reason


def _brief_files(reports: Reports) -> tuple[dict[str, bytes], str]:
    """Decision brief of the internal report as PDF by its name, or why there is none."""
    try:
        return {PDF_NAME: brief_pdf(reports.document)}, ""
    except FairLeakError as error:
        return {}, str(error)


def _foreign(out: Path, names: list[str]) -> str:
    """Name of something in the folder that is no part of an earlier audit; "" if there is nothing."""
    for name in names:
        folder = out / name
        if name not in FOLDERS or folder.is_symlink() or not folder.is_dir():
            return name
        written = _INTERNAL if name == "internal" else _PUBLIC
        for path in sorted(folder.iterdir()):
            if not written.fullmatch(path.name) or path.is_symlink() or not path.is_file():
                return f"{name}/{path.name}"
        document, kind = (
            ("report.json", KIND) if name == "internal" else ("summary.json", SUMMARY_KIND)
        )
        if _kind_of(folder / document) != kind:
            return f"{name} without a {document} of ours"
    return ""


def _kind_of(path: Path) -> str:
    """Kind that a JSON document calls itself; "" where it cannot be read."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["kind"])
    except (OSError, ValueError, TypeError, KeyError):
        return ""


@contextmanager
def self_test_beside(report: ReportProgress) -> Iterator[Callable[[], tuple[SelfTest, ...]]]:
    """Run the self-test beside the work inside; yielded is what waits for its results. It ends when the work breaks."""
    left = threading.Event()
    latest = 0

    def progress(done: int, total: int) -> None:
        nonlocal latest
        if left.is_set():
            raise Cancelled
        if done > latest:  # this runs several times a second
            latest = done
            report(done, total)

    folder = default_cache_folder().parent / "self-test"
    with ThreadPoolExecutor(1, thread_name_prefix="fairleak-self-test") as pool:
        tests = pool.submit(decision.self_test_in_subprocess, folder, report=progress)
        try:
            yield tests.result
        finally:
            left.set()


SHIPPED = {"default": default_policy, "predictions": predictions_policy}
"""FairLeak's own policies, by their names for --policy."""


def _add_audit(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = (
        "exit codes: 0 pass, 1 fail (a required check), 2 inconclusive or not run, 3 input that cannot be used. "
        "fairleak init writes a plan to start from."
    )
    add_path(
        parser,
        "plan",
        metavar="PLAN",
        help="TOML file of the plan; the files in it lie in the same folder.",
    )
    add_path(
        parser,
        "--out",
        metavar="FOLDER",
        required=True,
        help="New or empty folder for the reports.",
    )
    parser.add_argument(
        "--force", action="store_true", help="An earlier report in --out is replaced."
    )
    add_policy_argument(parser)
    add_data_argument(parser)
    help_text = "Private key to sign the internal report with; fairleak report sign makes one."
    add_path(parser, "--sign", metavar="KEY.pem", help=help_text)
    add_path(
        parser,
        "--choice",
        help="File of fairleak choose --json: the report says how it was chosen.",
    )
    help_text = (
        "The audit is kept in the register, as the model and version of the plan's [register]."
    )
    parser.add_argument("--keep", action="store_true", help=help_text)
    add_history_argument(parser)
    parser.add_argument("--no-self-test", action="store_true", help="No self-test in the report.")


def _audit(arguments: argparse.Namespace, console: Console) -> str:
    """Audit, write and print."""
    plan = read_plan(content_of(arguments.plan, what="PLAN"), name=arguments.plan.name)
    folder = arguments.plan.absolute().parent
    policy = applied_policy(arguments.policy, plan, folder)
    # no file that a report must not name
    if plan.policy in SHIPPED:
        plan = replace(plan, policy="")
    check_folder(arguments.out, force=arguments.force)
    chosen = None
    if arguments.choice is not None:
        chosen = _chosen(arguments.choice, plan, policy)
    key = None
    if arguments.sign is not None:
        key = private_key(content_of(arguments.sign, what="--sign"), name="--sign")
    history = None
    if arguments.keep:  # refused before the work, not after it
        if not plan.register.model:
            raise InputError(
                f"{arguments.plan.name} must name model and version under [register] where --keep is given."
            )
        history = History.open(arguments.history)
    table = load_table(plan, folder=folder, data_folder=data_folder_of(arguments))
    model_file = load_model(plan, folder=folder)
    steps = console.counting("steps", every=4)
    audited = partial(run_audit, plan, table, policy, model_file=model_file, chosen=chosen)
    if arguments.no_self_test:
        audit = audited(report=steps)
    else:
        with self_test_beside(console.counting("models of the self-test", every=200)) as tests:
            audit = audited(self_tests=tests, report=steps)
        for test in (test for test in audit.self_tests if not test.passed):
            console.alert(f"Warning: self-test failed for {test.attack}: {test.told}")
    reports = Reports(audit)
    missing = write_audit(reports, arguments.out, force=arguments.force, key=key)
    console.results(_printed(reports))
    console.note(
        f"The report is in {arguments.out}/internal; {arguments.out}/public is a summary for others."
    )
    if missing:
        console.note(missing)
    if history is not None:
        _keep(reports, history, arguments, console)
    return VERDICT_TITLES[audit.verdict.overall].lower()


def _keep(
    reports: Reports, history: History, arguments: argparse.Namespace, console: Console
) -> None:
    try:
        entry = history.keep(reports.document, who=login_name())
    except FairLeakError as error:
        message = (
            f"The report is in {arguments.out} and was not kept: {error} Keep it later "
            "with fairleak history keep."
        )
        raise FairLeakError(message) from None
    console.note(kept_sentence(entry, history))


def _chosen(path: Path, plan: AuditPlan, policy: Policy) -> StudyFindings:
    """Return how the plan's model was chosen by this policy, as `fairleak choose --json` wrote it."""
    try:
        document = json.loads(content_of(path, what="--choice"))
        model = document["model"]
        same = document["plan"] == plan.fingerprint
        findings = loads(document["record"], StudyFindings)
        same_policy = document["policy"] == content_fingerprint(policy)
    except (ValueError, KeyError, TypeError):  # RecordError is a ValueError
        raise InputError(
            f"--choice must be a file of fairleak choose --json, got {path.name!r}."
        ) from None
    if not same:
        raise InputError(
            f"--choice must be about the data, model and outputs that PLAN says, got others: {str(model)[:80]}."
        )
    if not same_policy:
        raise InputError(
            f"--choice must be by the audit's policy ({policy.name}), got one by another policy."
        )
    return findings


def applied_policy(
    name: str | None, plan: AuditPlan, folder: Path, *, what: str = "--policy"
) -> Policy:
    """Return the policy that is named, or else the plan's, whose files lie in `folder`; else the one that fits it."""
    if (shipped := name or plan.policy) in SHIPPED:
        return SHIPPED[shipped]()
    if name is not None:
        path = Path(name)
        return read_policy(content_of(path, what=what), name=path.name)
    content = load_policy_text(plan, folder=folder)
    if content is None:
        return fitting_policy(plan)
    return read_policy(content, name=Path(plan.policy).name)


def _printed(reports: Reports) -> Iterator[str]:
    """Yield the decision, every check in the policy's words, caveats, and what studies found."""
    audit = reports.audit
    verdict = audit.verdict
    data = audit.data
    yield verdict.headline
    yield verdict.detail
    yield ""
    yield f"{data.title}: {data.n:,} records; {data.attribute}: {', '.join(group.group for group in audit.groups)}"
    yield f"{audit.model.title}; policy: {verdict.policy.name}, version {verdict.policy.version}"
    yield ""
    header = ["verdict", "check", "", "value", "interval", "limit", "control"]
    yield aligned(header, [_row(row) for row in verdict.rows], left=range(3))
    open_rows = [row for row in verdict.rows if row.limit is not None and row.verdict != "pass"]
    if open_rows:
        yield ""
        yield "What would settle it"
    for row in open_rows:
        reason = f"{row.why} " if row.verdict == "not_run" else ""
        yield f"{row.title}: {reason}{row.settling}"
    if verdict.caveats:
        yield ""
        yield "Caveats"
    for caveat in verdict.caveats:
        yield f"- {caveat.text}"
    yield ""
    untrue = false_promise(audit.plan.config.tolerance, audit.model.achieved)
    for row in verdict.rows:
        if row.check == "unfairness" and row.measurement is not None:
            yield f"{row.title}: {row.measurement.attacked}"
        if untrue and row.check == "correction_gain" and row.attempt.outcome == Outcome.DONE:
            yield f"{row.title}: {untrue}"
    for study in audit.findings:
        yield ""
        yield f"{study.title}: {study.findings[0].point}"


def _row(row: CheckVerdict) -> list[str]:
    verdict = VERDICT_TITLES[row.display_verdict]
    if row.limit is not None and not row.limit.required:
        verdict += " (for information)"
    basis = "" if row.attempt.estimate is None else row.attempt.basis
    value = row.value if row.measured else ""
    return [
        verdict,
        row.title,
        basis,
        value,
        row.interval,
        row.limit_label,
        row.control,
    ]


AUDIT = Action(
    "Run all attacks of a plan, judge by a policy, write the reports.", _add_audit, _audit
)
