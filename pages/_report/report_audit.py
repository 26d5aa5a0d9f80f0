"""The attacks of a release audit in the background, what is shown of them, and the reports as files.

People at risk are attacked as the Report audits them, in a run of their own.

The policy, and how the model was chosen by it, are no part of the attacks: a changed limit needs no new attack.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import streamlit as st

from core.auditing import (
    RegisterPlan,
    SelfTest,
    failed_tests,
    provenance,
    verdict_caveats,
)
from core.auditing.plausible_attackers import AttackersPlan
from core.auditing.policy import Policy, judge
from core.auditing.subprocess_jobs import ReportProgress
from core.base.serialize import code_fingerprint, fingerprint, short_fingerprint
from core.report import Reports
from core.report.brief_files import MISSING, brief_file, has_typst
from core.report.tables import self_test_table
from core.studies.people import PEOPLE, PeopleAtRisk, PeopleSettings
from pages._report import report_history
from pages._report.report_plan import AuditRequest
from pages.shell import cached, panels, shell, state
from pages.shell.background import Background, Job, pace, stop, time_left
from pages.shell.study_jobs import StudyRun


class Attacks(Background):
    """The attacks on one subject; a `trial` is of a model beside the audited one."""

    def __init__(self, subject: AuditRequest, *, trial: bool = False) -> None:
        self.subject = subject
        if subject.model_file:
            model = subject.model_file.fingerprint
        else:
            model = ""
        attacks = replace(subject.plan, title="", policy="", register=RegisterPlan())
        attacks = attacks.with_attackers(AttackersPlan())
        key = fingerprint(
            "release audit", subject.table.fingerprint, attacks, model, subject.tried_for
        )
        store = cached.store_of(subject.table.name)
        name = "release_trial" if trial else "release"
        widget = f"{name}_{key[:8]}" if trial else name
        super().__init__(name, store, key, self._attack, lane="decision", widget=widget)

    def _attack(self, job: Job) -> Reports:
        """Return the audit's reports, judged by the policy of the moment."""
        return job.in_subprocess(partial(_reports, self.subject))  # type: ignore[no-any-return]

    def show_progress(self) -> None:
        """Show progress, a problem, or an offer to start again."""
        options = {"again": "Try again", "icon": ":material/refresh:"}
        self.show(
            lambda job: f"{100 * job.share:.0f}% of the attacks, {pace(job)}",
            "Start again",
            **options,
        )


def _reports(subject: AuditRequest, report: ReportProgress) -> Reports:
    """Audit of a subject, judged by the policy of the moment."""
    from core.auditing import run_audit

    audit = run_audit(
        subject.plan,
        subject.table,
        subject.policy,
        model_file=subject.model_file,
        report=report,
    )
    return Reports(audit)


class PeopleRun(StudyRun):
    """People at risk of the model that the Report audits, with what it releases."""

    def __init__(self, request: AuditRequest, settings: PeopleSettings) -> None:
        self.request = request
        self.settings = settings
        model = request.model_file and request.model_file.fingerprint
        plan = request.plan.fingerprint
        key = fingerprint("people", request.table.fingerprint, plan, model, settings)
        store = cached.store_of(request.table.name)
        Background.__init__(
            self, "people", store, key, self._run, lane="questions", total=settings.steps
        )

    def _run(self, job: Job) -> PeopleAtRisk:
        return job.in_subprocess(partial(_attacked, self.request, self.settings))  # type: ignore[no-any-return]


def _attacked(
    request: AuditRequest, settings: PeopleSettings, report: ReportProgress
) -> Iterator[PeopleAtRisk]:
    """Yield whom the attacks find of the subject that the Report audits."""
    from core.auditing.run import audited_of

    audited = audited_of(request.plan, request.table, model_file=request.model_file)
    yield from PEOPLE.run(audited, settings, report)


class SelfTests(Background):
    """The test of FairLeak itself, kept for everybody, and in the user's cache folder; made by a process of its own."""

    def __init__(self) -> None:
        store = cached.store_of(state.default("dataset"))
        key = fingerprint("self-test", code_fingerprint())
        super().__init__("self_test", store, key, self._test, lane="self_test")

    @property
    def results(self) -> tuple[SelfTest, ...]:
        """The results; none until all are there."""
        return self.result or ()

    def _test(self, job: Job) -> tuple[SelfTest, ...]:
        from core.auditing import self_test_in_subprocess
        from core.datasets.catalog import default_cache_folder

        return self_test_in_subprocess(
            default_cache_folder().parent / "self-test", report=job.report
        )

    def show_progress(self) -> None:
        """Show how far the test is, in one line; not where it was stopped, though others may have begun it again."""
        if self.job is not None and self.job.busy and not self.stopped:
            with st.container(horizontal=True, vertical_alignment="center"):
                done = f"{100 * self.job.share:.0f}%, {time_left(self.job)}"
                st.caption(f"Self-test {done}; it enters reports made after it ends")
                st.button(
                    "Stop", key="cancel_self_test", on_click=stop, args=(self,), type="tertiary"
                )

    def warn(self) -> None:
        """Say which attacks failed the test."""
        for test in self.results:
            if not test.passed:
                panels.problem(
                    f"{test.attack}: {test.told}",
                    point="Self-test failed: the attack missed a planted leak, or flagged a model without one.",
                )

    def draw(self) -> None:
        """Draw the results."""
        import pandas as pd

        shell.whisper(
            "Self-test",
            "False-positive rate on models with no leak, detection rate of planted leaks; 95% CI in brackets",
        )
        if self.results:
            results_table = self_test_table(self.results).formatted
            st.table(
                pd.DataFrame(results_table.rows, columns=list(results_table.columns)).map(
                    shell.escape
                ),
                hide_index=True,
            )
        elif self.busy:
            st.caption(
                "Under way; the results will stand here and in every report made after that."
            )
        else:
            self.show(time_left, "Run the self-test")


def judged_reports(work: Attacks, policy: Policy, tests: tuple[SelfTest, ...]) -> Reports:
    """Judge by a policy what finished attacks have found; FairLeak's tests of itself count as far as they are there."""
    assert work.result is not None
    reports: Reports = work.result
    base_audit = reports.audit
    planned = work.subject.plan
    plan = replace(base_audit.plan, title=planned.title, register=planned.register)
    plan = plan.with_attackers(planned.attackers)
    chosen = work.subject.chosen
    attribute = base_audit.data.attribute
    failed = failed_tests(tests)
    key = fingerprint(
        "reports",
        work.key,
        plan.title,
        plan.register,
        plan.attackers,
        policy,
        chosen,
        work.subject.picked,
        list(tests),
    )

    def again() -> Reports:
        caveats = verdict_caveats(base_audit.caveats, chosen=work.subject.picked, self_tests=tests)
        verdict = judge(
            policy,
            base_audit.measurements,
            attribute=attribute,
            failed_tests=failed,
            caveats=caveats,
            alternatives=base_audit.alternatives,
        )
        origin = provenance(plan, policy)
        audit = replace(base_audit, plan=plan, self_tests=tests, verdict=verdict, provenance=origin)
        return Reports(replace(audit, findings=(*base_audit.findings, *filter(None, [chosen]))))

    policy_reports: Reports = work.store.remember(key, again)
    return policy_reports


FILES = {
    "report.html": ("HTML", "text/html", ":material/description:"),
    "report.json": ("JSON", "application/json", ":material/data_object:"),
    "tables.zip": ("CSV", "application/zip", ":material/table:"),
    "policy.toml": ("Policy (TOML)", "application/toml", ":material/rule:"),
    "plan.toml": ("Plan (TOML)", "application/toml", ":material/checklist:"),
}
"""File of the internal report -> label, type and icon."""

PUBLIC_FILES = {
    "summary.html": ("HTML", "text/html", ":material/description:"),
    "summary.json": ("JSON", "application/json", ":material/data_object:"),
    "model-card.md": ("Markdown for a model card", "text/markdown", ":material/badge:"),
}
"""File of the public summary -> label, type and icon."""

_DATE = (1980, 1, 1, 0, 0, 0)
"""Time of every file in an archive, so that the same tables make the same archive."""


def file(reports: Reports, name: str) -> bytes:
    """Content of a file, by its name in `FILES`."""
    files = reports.internal_files
    if name != "tables.zip":
        return files[name]
    archive_bytes = io.BytesIO()
    with zipfile.ZipFile(archive_bytes, "w", zipfile.ZIP_DEFLATED) as archive:
        for csv, content in files.items():
            if csv.endswith(".csv"):
                archive.writestr(zipfile.ZipInfo(csv, _DATE), content, zipfile.ZIP_DEFLATED)
    return archive_bytes.getvalue()


_INTERNAL = "fairleak-internal"
"""Name of the downloaded files of the internal report, without ending."""


def file_button(reports: Reports, name: str) -> None:
    """Draw the button of one file of the internal report."""
    label, mime, icon = FILES[name]
    kind, ending = name.split(".")
    stem = {"report": _INTERNAL, "tables": f"{_INTERNAL}-tables"}.get(kind, kind)
    key = ending if kind == "report" else kind
    panels.download(
        label,
        partial(file, reports, name),
        f"{stem}.{ending}",
        key=f"download_internal_{key}",
        mime=mime,
        icon=icon,
    )


def _public_button(reports: Reports, name: str) -> None:
    label, mime, icon = PUBLIC_FILES[name]
    panels.download(
        label,
        lambda: reports.public_files[name],
        f"fairleak-{name}",
        key=f"download_public_{name.rpartition('.')[2]}",
        mime=mime,
        icon=icon,
    )


_BRIEF_FORMS = {
    ".html": ("text/html", ":material/description:"),
    ".pdf": ("application/pdf", ":material/picture_as_pdf:"),
}
"""Ending of a brief -> its type and icon."""


NOT_TESTED = "Self-test still running: what is made or signed now says that it was not run."


def brief_button(
    reports: Reports, *, testing: bool = False, key: str = "download_internal_brief"
) -> None:
    """Offer the decision brief to sign, as PDF, or as HTML where the packages that set a PDF are missing."""
    ending = ".html"
    hint: str | None = MISSING
    if has_typst():
        ending = ".pdf"
        hint = None
    mime, icon = _BRIEF_FORMS[ending]
    if testing:
        hint = " ".join(filter(None, (NOT_TESTED, hint)))
    panels.download(
        f"Decision brief ({ending[1:].upper()})",
        _brief(reports, ending),
        f"fairleak-internal-brief{ending}",
        key=key,
        mime=mime,
        icon=icon,
        type="primary",
        help=hint,
    )


def _brief(reports: Reports, ending: str) -> Callable[[], bytes]:
    """Return what sets the brief; the signatures on it are read here, as no session is there when a file is made."""
    document = reports.document
    signatures = report_history.signatures_of(document.fingerprint)
    review = report_history.next_review(signatures)
    options: dict[str, str] = {"ending": ending, "review": review, "annex": _INTERNAL}
    return partial(brief_file, document, signatures, **options)


def downloads(reports: Reports, tested: SelfTests) -> None:
    """Draw the files of the internal report and of the public summary side by side, and which report it is."""
    document = reports.document
    left, right = st.columns(2)
    with left, st.container(border=True, height="stretch", gap="small"):
        shell.whisper(
            ":material/lock: Internal report",
            "All numbers, seeds and small cells. Do not send outside.",
        )
        with st.container(horizontal=True, gap="small"):
            for name in ("report.html", "report.json", "tables.zip"):
                file_button(reports, name)
            panels.download(
                "Brief (HTML)",
                _brief(reports, ".html"),
                "fairleak-internal-brief.html",
                key="download_internal_brief_html",
                mime="text/html",
                icon=":material/article:",
            )
    with right, st.container(border=True, height="stretch", gap="small"):
        shell.whisper(
            ":material/public: Public summary",
            shell.escape(public_note(reports, testing=tested.busy)),
        )
        with st.container(horizontal=True, gap="small"):
            for name in PUBLIC_FILES:
                _public_button(reports, name)
    day = document.started_on
    mark = short_fingerprint(document.fingerprint)
    version = f"FairLeak {document.provenance.fairleak}"
    notes = [f"Fingerprint of the internal report {mark} · {day} · {version}."]
    if tested.busy:
        notes.append("It changes once more when the self-test has ended.")
    if not document.plan.register.version:
        notes.append("It changes when model and version get a name (Decide and sign).")
    st.caption(" ".join(notes))


def public_note(reports: Reports, *, testing: bool) -> str:
    """Note over the public summary; `testing` says that the self-test still runs."""
    notes = ["Settings, limits, verdict words and caveats; no number measured on people."]
    if testing:
        notes.append(NOT_TESTED)
    plan = reports.audit.plan
    has_name = plan.title or plan.register.model_version
    if not has_name and plan.config.dataset == state.UPLOAD:
        notes.append(
            "Give it a title under Audit plan: without one its reader does not know which model it is about."
        )
    return " ".join(notes)
