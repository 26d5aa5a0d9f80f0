"""``python -m core audit``: a release audit from a plan to a decision, with both editions of its report."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from core.commands.arguments import data_folder_of
from core.commands.audit_files import check_folder, write_audit
from core.commands.console import Console
from core.commands.self_tests_beside import SelfTestsBeside
from core.commands.text_tables import aligned
from core.datasets.catalog import default_cache_folder
from core.decision import (
    AuditPlan,
    ReleaseAudit,
    audit_with_people,
    false_promise,
    load_model,
    load_policy_text,
    load_table,
    read_plan,
)
from core.files import content_of
from core.policy import (
    VERDICT_TITLES,
    CheckVerdict,
    Outcome,
    Policy,
    control_text,
    default_policy,
    estimate_text,
    limit_text,
    predictions_policy,
    read_policy,
)
from core.report import meter_of
from core.report.signing import private_key

__all__ = ["HELP", "NAME", "add_arguments", "run"]

NAME = "audit"
HELP = "audit a model by a plan, judge it by a policy, and write the report; exit code 0 pass, 1 fail, 2 undecided"

_SHIPPED = {"default": default_policy, "predictions": predictions_policy}
"""Policies FairLeak brings along, by the name --policy calls them."""

_STEPS_PER_NOTE = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = (
        "exit codes: 0 pass, 1 a required check fails, 2 inconclusive or not run, 3 input that cannot be used. "
        "python -m core gen-config prints a plan to start from."
    )
    parser.add_argument("plan", type=Path, metavar="PLAN", help="a TOML file; its own files lie in the same folder")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="a new or empty folder for the report"
    )
    parser.add_argument("--force", action="store_true", help="replace the earlier report in --out")
    parser.add_argument(
        "--policy",
        metavar="FILE",
        help=f"a policy file, or {' or '.join(_SHIPPED)}; the plan's when left out, and the default one without any",
    )
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="of the catalogue; $FAIRLEAK_DATA when left out")
    parser.add_argument(
        "--sign", type=Path, metavar="KEY.pem", help="sign the reports with this private key; see python -m core sign"
    )
    parser.add_argument("--no-self-test", action="store_true", help="leave FairLeak's test of itself out of the report")


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Audit, write and print."""
    plan = read_plan(content_of(arguments.plan, what="PLAN"), name=arguments.plan.name)
    folder = arguments.plan.absolute().parent
    policy = _policy(arguments, plan, folder)
    plan = replace(plan, policy="") if plan.policy in _SHIPPED else plan  # no file that a report must not name
    check_folder(arguments.out, force=arguments.force)
    key = None if arguments.sign is None else private_key(content_of(arguments.sign, what="--sign"), name="--sign")
    table = load_table(plan, folder=folder, data_folder=data_folder_of(arguments), cache_folder=default_cache_folder())
    model_file = load_model(plan, folder=folder)
    steps = _told_now_and_then(console, "steps")
    if arguments.no_self_test:
        audit, people = audit_with_people(plan, table, policy, model_file=model_file, report=steps, meter=meter_of)
    else:
        with SelfTestsBeside(_told_now_and_then(console, "models of the self-test", 200)) as tests:
            audit, people = audit_with_people(
                plan,
                table,
                policy,
                model_file=model_file,
                self_tests=tests,
                report=tests.begun_by(steps),
                meter=meter_of,
            )
        for test in (test for test in audit.self_tests if not test.passed):
            console.note(f"Warning: self-test failed for {test.attack}: {test.told}")
    write_audit(audit, arguments.out, people=people, force=arguments.force, key=key)
    for line in _printed(audit):
        console.result(line)
    console.note(f"The report is in {arguments.out}: internal for you, disclosure for others.")
    return audit.verdict.exit_code


def _policy(arguments: argparse.Namespace, plan: AuditPlan, folder: Path) -> Policy:
    if (name := arguments.policy or plan.policy) in _SHIPPED:
        return _SHIPPED[name]()
    if arguments.policy is not None:
        path = Path(arguments.policy)
        return read_policy(content_of(path, what="--policy"), name=path.name)
    content = load_policy_text(plan, folder=folder)
    return default_policy() if content is None else read_policy(content, name=Path(plan.policy).name)


def _told_now_and_then(console: Console, noun: str, every: int = _STEPS_PER_NOTE) -> Callable[[int, int], None]:
    """Return what writes progress every few steps, with a clock of its own."""
    own = Console(out=console.out, err=console.err)

    def report(done: int, total: int) -> None:
        if done % every == 0 or done == total:
            own.progress(done, total, noun=noun)

    return report


def _printed(audit: ReleaseAudit) -> Iterator[str]:
    """Yield the decision, then every check in the policy's words."""
    verdict, data = audit.verdict, audit.data
    yield verdict.headline
    yield verdict.detail
    yield ""
    yield f"{data.title}: {data.n:,} records; {data.attribute}: {', '.join(group.group for group in audit.groups)}"
    yield f"{audit.model.title}; policy: {verdict.policy.name}, version {verdict.policy.version}"
    yield ""
    header = ["verdict", "check", "", "value", "interval", "limit", "control"]
    yield aligned(header, [_row(row) for row in verdict.rows], left=3)
    reasons = [row for row in verdict.rows if row.verdict == "not_run"]
    for row in reasons:
        yield f"{row.title}: {row.why}"
    for row in verdict.rows:
        if row.check == "unfairness" and row.measurement is not None:
            yield f"{row.title}: {row.measurement.attacked}"
        told = false_promise(audit.plan.config.tolerance, audit.model.achieved)
        if told and row.check == "correction_gain" and row.measurement and row.measurement.outcome == Outcome.DONE:
            yield f"{row.title}: {told}"
    if audit.release_meter is not None:
        yield ""
        yield audit.release_meter.told
        if audit.release_meter.forms:
            yield audit.release_meter.control


def _row(row: CheckVerdict) -> list[str]:
    found, limit = row.measurement, row.limit
    estimate = None if found is None else found.estimate
    value, interval = (
        ("", "") if estimate is None else estimate_text(row.check, estimate, limit=limit.value if limit else None)
    )
    optional = "" if limit is None or limit.required else " (not required)"
    control = "" if found is None or found.control is None else control_text(row.check, found.control)
    return [
        VERDICT_TITLES[row.verdict] + optional,
        row.title,
        "" if found is None or found.estimate is None else found.basis,
        value,
        interval,
        "" if limit is None else limit_text(row.check, limit.value),
        f"{found.control_name}: {control}" if found and control else "",
    ]
