"""Reports for the history's tests, and a process that keeps them, to be started many times and killed."""

from dataclasses import replace
from functools import cache

from core.auditing.policy import CHECKS
from core.base.errors import FairLeakError
from core.base.serialize import content_fingerprint
from core.report import report_document
from core.store.history import History
from tests.samples_report import POLICY, judged_audit, sample
from tests.workers import Killer, steps

MODEL, VERSION, WHO = "Loans", "1.0", "A. Auditor"

STEPS = ("locked", "entry written", "head moved", "document written", "committing", "committed")
"""Every step of keeping an audit, in order."""


@cache
def report(data="data", *, policy="3", releasable=False):
    """Return an internal report that holds, of other data with other answers, or under another version of the policy.

    One that is releasable passes, and all its limits have sources.
    """
    audit, limits = sample(), replace(POLICY, version=policy)
    audit = replace(
        audit,
        data=replace(audit.data, fingerprint=content_fingerprint(data)),
        model=replace(audit.model, fingerprint=content_fingerprint("answers", data)),
    )
    return report_document(judged_audit(audit, policy=_wide(audit, limits) if releasable else limits))


def _wide(audit, policy):
    """Return a policy that the audit passes: wide limits with sources, none required that cannot pass."""
    limits = [
        replace(limit, value=float(not CHECKS[limit.check].at_least), source="Law, § 3") for limit in policy.limits
    ]
    rows = judged_audit(audit, policy=replace(policy, limits=tuple(limits))).verdict.rows
    passed = {row.check for row in rows if row.verdict == "pass"}
    return replace(policy, limits=tuple(replace(limit, required=limit.check in passed) for limit in limits))


def work(location, mode, seed, step, sent):
    """Keep audits in a process of its own, and send the number and fingerprint of each that was kept.

    The mode is "create" (the history), "keep" (one) or "same" (the one that everybody keeps). At the step the process
    kills itself with SIGKILL; "none" lets it live.
    """
    try:
        killer = Killer(step)
        killer.armed = mode == "create"
        with steps(killer):
            history = History.open(location, create=mode == "create")
            killer.armed = True
            if mode != "create":
                data = "everybody's" if mode == "same" else f"{seed} 0"
                entry = history.keep(report(data), model=MODEL, version=VERSION, who=f"process {seed}")
                sent.send({"id": entry.id, "fingerprint": entry.fingerprint})
    except FairLeakError as error:
        sent.send(str(error))
