"""The attacks of a release audit in the background, what is shown of them, and the reports as files.

The policy is no part of the attacks: whoever changes a limit is judged anew without one.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.audit import AuditConfig
from core.csv_table import csv_of_frame
from core.datasets.dataset import Table
from core.decision import ReleaseAudit, SelfTest, audit_steps, failed_tests, plan_text, provenance
from core.fingerprint import code_fingerprint, fingerprint
from core.policy import Policy, judge, policy_text, verdict_frame
from core.report import CheckRow, check_rows, csv_files, document, to_html, to_json
from pages.common import cached, panels, report_plan, shell, state
from pages.common import report_policy as policies
from pages.common.background import Job, Store
from pages.common.report_board import self_test_board
from pages.common.report_plan import Subject

if TYPE_CHECKING:
    from core.report import AttackedPeople


_STOPPED, _WANTED = "release_stopped", "release_wanted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the attacks found.

    Attributes
    ----------
    audit : ReleaseAudit
        Judged by FairLeak's own policy; `core.policy.judge` judges its measurements by another.
    people : AttackedPeople or None
        Whom an edition for others is attacked on.
    """

    audit: ReleaseAudit
    people: AttackedPeople | None = field(repr=False)


class Work:
    """The audit of one subject."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.store = cached.store_of(subject.table.name)
        model = subject.model_file.fingerprint if subject.model_file else ""
        attacks = replace(subject.plan, title="", policy="")
        self.key = fingerprint("release audit", subject.table.fingerprint, attacks, model)

    @property
    def job(self) -> Job | None:
        """The job that attacks."""
        return self.store.job(self.key)

    @property
    def busy(self) -> bool:
        """Whether attacks are under way."""
        return self.job is not None and self.job.busy

    @property
    def stopped(self) -> bool:
        """Whether this session has stopped the attacks."""
        return bool(st.session_state.get(_STOPPED) == (self.store, self.key))

    @property
    def found(self) -> Found | None:
        """What was found; None until all attacks are done."""
        found: Found | None = self.store.get(self.key)
        return found

    def fill(self) -> None:
        """Attack unless it is done or this session has stopped it; stop what the session wanted before."""
        before = st.session_state.get(_WANTED)
        wanted = (self.store, self.key)
        if before is not None and before != wanted:
            other = before[0].job(before[1])
            if other is not None and other.busy:
                other.cancel()
        st.session_state[_WANTED] = wanted
        if self.found is not None or self.stopped:
            return
        st.session_state.pop(_STOPPED, None)
        if self.job is None or self.job.state in ("cancelled", "finished"):
            total = audit_steps(self.subject.plan)
            self.store.start(self.key, self._attack, lane="decision", total=total).wait(0.15)

    def _attack(self, job: Job) -> Found:
        from core.decision import audit_with_people
        from core.policy import default_policy

        audit, people = audit_with_people(
            self.subject.plan,
            self.subject.table,
            default_policy(),
            model_file=self.subject.model_file,
            report=job.report,
        )
        return Found(audit=audit, people=people)

    def stop(self) -> None:
        """Stop after the step that is under way."""
        st.session_state[_STOPPED] = (self.store, self.key)
        if self.job is not None:
            self.job.cancel()

    def go_on(self) -> None:
        """Let stopped attacks, or those that failed, be started again by the next `fill`."""
        st.session_state.pop(_STOPPED, None)
        if self.job is not None and not self.job.busy:
            self.store.forget(self.key)

    @property
    def status(self) -> str:
        """Return "attacking", "stopped", "failed" or "finished"."""
        if self.found is not None:
            return "finished"
        if self.job is not None and self.job.state == "failed":
            return "failed"
        return "stopped" if self.stopped else "attacking"

    def watch(self) -> None:
        """Show progress, a problem, or an offer to start again; the page is drawn anew when the attacks are over."""
        st.fragment(self._watch, run_every=0.6 if self.busy else None)(self.busy)

    def _watch(self, running: bool) -> None:
        if running and not self.busy:
            st.rerun()
        job = self.job
        if job is not None and job.busy:
            bar, button = st.columns([5, 1], vertical_alignment="center")
            bar.progress(job.share, text=_stage(job))
            button.button("Cancel", key="cancel_release", on_click=self.stop, width="stretch", disabled=job.stopping)
        elif job is not None and job.state == "failed":
            panels.problem(job.error)
            self._again("Try again", "again_release")
        elif self.stopped:
            self._again("Start again", "start_release")

    def _again(self, label: str, key: str) -> None:
        if st.button(label, key=key, icon=":material/refresh:"):
            self.go_on()
            st.rerun()


def _stage(job: Job) -> str:
    if job.stopping:
        return "Stopping after this step"
    if job.state == "waiting":
        return "Waiting for another audit on this server"
    return f"Attacking the model: step {min(job.done + 1, job.total)} of {job.total}, {panels.time_left(job)}"


_TEST_STOPPED = "self_test_stopped"


class Tested:
    """The test of FairLeak itself, kept for everybody, and in the user's cache folder; made by a process of its own."""

    def __init__(self) -> None:
        self.store = cached.store_of(state.default("dataset"))
        self.key = fingerprint("self-test", code_fingerprint())

    @property
    def job(self) -> Job | None:
        """The job that tests."""
        return self.store.job(self.key)

    @property
    def busy(self) -> bool:
        """Whether the test is under way."""
        return self.job is not None and self.job.busy

    @property
    def found(self) -> tuple[SelfTest, ...]:
        """The results; none until all are there."""
        return self.store.get(self.key) or ()

    def fill(self) -> None:
        """Test, unless it is done, has failed, or was stopped by this session."""
        stopped = st.session_state.get(_TEST_STOPPED, False)
        if not self.found and not stopped and (self.job is None or self.job.state in ("cancelled", "finished")):
            self.store.start(self.key, self._test, lane="self_test").wait(0.15)

    def _test(self, job: Job) -> tuple[SelfTest, ...]:
        from core.datasets.catalog import default_cache_folder
        from core.decision import self_test_apart

        return self_test_apart(default_cache_folder().parent / "self-test", report=job.report)

    def watch(self) -> None:
        """Show how far the test is, in one line; the page is drawn anew when it is done."""
        st.fragment(self._watch, run_every=2.0 if self.busy else None)(self.busy)

    def _watch(self, running: bool) -> None:
        if running and not self.busy:
            st.rerun()
        if self.job is not None and self.job.busy:
            left = "stopping" if self.job.stopping else panels.time_left(self.job)
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(f"FairLeak tests itself, for reports made from then on: {100 * self.job.share:.0f}%, {left}")
                st.button("Stop", key="cancel_self_test", on_click=self._stop, type="tertiary")

    def _stop(self) -> None:
        st.session_state[_TEST_STOPPED] = True
        if self.job is not None:
            self.job.cancel()

    def _go_on(self) -> None:
        st.session_state.pop(_TEST_STOPPED, None)
        if self.job is not None and not self.job.busy:
            self.store.forget(self.key)

    def warn(self) -> None:
        """Say which attacks failed the test."""
        for test in self.found:
            if not test.passed:
                panels.problem(
                    f"{test.attack}: {test.told}",
                    point="Self-test failed: the attack missed a planted leak, or flagged a model without one.",
                )

    def draw(self) -> None:
        """Draw the results."""
        shell.whisper(
            "FairLeak, tested on itself",
            "How often it calls a leak where there is none by construction, and how often it catches a planted one; "
            "in brackets 95%. Judged are the shares",
        )
        if not self.found:
            self._missing()
            return
        st.html(self_test_board(self.found))

    def _missing(self) -> None:
        if self.busy:
            st.caption("Under way; the results will stand here and in every report made after that.")
            return
        if self.job is not None and self.job.state == "failed":
            panels.problem(self.job.error)
        st.button("Test FairLeak on itself", key="start_self_test", on_click=self._go_on, icon=":material/play_arrow:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An audit as it is judged now.

    Attributes
    ----------
    audit : ReleaseAudit
    people : AttackedPeople or None
        Whom an edition for others is attacked on.
    store : Store
        Where its documents are kept.
    key : str
        Fingerprint of all of it.
    """

    audit: ReleaseAudit
    people: AttackedPeople | None = field(repr=False)
    store: Store = field(repr=False)
    key: str

    def document(self, edition: str = "internal") -> dict[str, Any]:
        """Return the report of an edition, made once."""
        made: dict[str, Any] = self.store.remember(
            fingerprint("release document", self.key, edition),
            lambda: document(self.audit, edition=edition, people=self.people),
        )
        return made

    def rows(self) -> tuple[CheckRow, ...]:
        """Return the checks with everything a reader is told of them."""
        return check_rows(self.document())


def judged(work: Work, policy: Policy, tests: tuple[SelfTest, ...]) -> Shown:
    """Judge what was found by a policy; no attack is run.

    Parameters
    ----------
    work : Work
        Finished.
    policy : Policy
    tests : tuple of SelfTest
        FairLeak's tests of itself as far as they are there.
    """
    found = work.found
    assert found is not None
    plan = replace(found.audit.plan, title=work.subject.plan.title)
    attribute, failed = found.audit.data.attribute, failed_tests(tests)
    audit = replace(
        found.audit,
        plan=plan,
        verdict=judge(policy, found.audit.measurements, attribute=attribute, failed_tests=failed),
        self_tests=tests,
        provenance=provenance(plan, policy),
    )
    key = fingerprint("release", work.key, plan.title, policy, list(tests))
    return Shown(audit=audit, people=found.people, store=work.store, key=key)


FILES = {
    "html": ("Report (HTML)", "html", "text/html", ":material/download:"),
    "json": ("Findings (JSON)", "json", "application/json", ":material/data_object:"),
    "csv": ("Tables (CSV)", "zip", "application/zip", ":material/table:"),
    "policy": ("Policy (TOML)", "toml", "application/toml", ":material/rule:"),
    "plan": ("Plan (TOML)", "toml", "application/toml", ":material/checklist:"),
}
"""Kind -> label, ending, type and icon."""

_DATE = (1980, 1, 1, 0, 0, 0)
"""Time of every file in an archive, so that the same tables make the same archive."""


def file(shown: Shown, kind: str, edition: str = "internal") -> bytes:
    """Return a file of an edition; plan and policy are the same for all.

    Parameters
    ----------
    shown : Shown
    kind : str
        A key of `FILES`.
    edition : {"internal", "disclosure"}
    """
    if kind == "policy":
        return policy_text(shown.audit.verdict.policy).encode("utf-8")
    if kind == "plan":
        return plan_text(replace(shown.audit.plan, policy="policy.toml")).encode("utf-8")
    told = shown.document(edition)
    if kind == "csv":
        return _archive(csv_files(told, edition=edition))
    return (to_html if kind == "html" else to_json)(told, edition=edition).encode("utf-8")


def _archive(files: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _button(shown: Shown, kind: str, edition: str, *, first: bool) -> None:
    label, ending, mime, icon = FILES[kind]
    name = {"policy": "policy", "plan": "plan", "csv": f"fairleak-{edition}-tables"}.get(kind, f"fairleak-{edition}")
    st.download_button(
        label,
        data=partial(file, shown, kind, edition),
        file_name=f"{name}.{ending}",
        mime=mime,
        key=f"download_{edition}_{kind}",
        icon=icon,
        type="primary" if first else "secondary",
        on_click="ignore",
    )


def internal_files(shown: Shown) -> None:
    """Draw the buttons of the internal edition, and which report it is."""
    told = shown.document()
    mark, made = str(told["fingerprint"]), str(told["times"].get("started", ""))[:10]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for kind in FILES:
            _button(shown, kind, "internal", first=kind == "html")
        st.caption(
            f"Fingerprint {mark[:4]} {mark[4:8]} · {made} · FairLeak {told['provenance']['fairleak']}", width="content"
        )


def _edition(shown: Shown) -> None:
    """Draw the edition for others: what an attack and the meter read in it, what it withholds, and its files."""
    shell.whisper(
        "An edition for others",
        "Small cells withheld; no seeds, paths or details; attacked and metered before it is written",
    )
    with st.spinner("Writing the edition, and attacking it"):
        told = shown.document("disclosure")
    st.markdown(f"**What its own numbers give away:** {shell.escape(told['edition_attack']['told'])}")
    if metered := shown.document().get("release_meter"):
        st.markdown(f"**Read by the release meter:** {shell.escape(metered['told'])}")
        if metered["control"]:
            st.caption(shell.escape(metered["control"]))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for kind in ("html", "json", "csv"):
            _button(shown, kind, "disclosure", first=kind == "html")
    for note in told["withheld"]["notes"]:
        st.caption(shell.escape(note))


def draw(name: str | None, config: AuditConfig, table: Table, tested: Tested, shown: Shown | None) -> None:
    """Draw a section.

    Parameters
    ----------
    name : str or None
        A key of `controls.SECTIONS`.
    config : AuditConfig
    table : Table
    tested : Tested
    shown : Shown or None
        None while there is no verdict; what needs one says so.
    """
    if name == "judged":
        _policy(config)
    elif name == "attacked":
        report_plan.attacks(config, table)
    elif name == "self_test":
        tested.draw()
    elif name == "guide":
        st.markdown(GUIDE)
    elif name is not None and shown is None:
        st.caption("There is no verdict yet.")
    elif name == "edition" and shown is not None:
        _edition(shown)
    elif name == "numbers" and shown is not None:
        _numbers(shown)


def _policy(config: AuditConfig) -> None:
    attribute = config.roles.attribute if config.roles else "the attribute"
    left, right = st.columns([2, 3], gap="large")
    with left:
        shell.whisper("The policy", "What a release must keep to")
        policies.choose(config)
    with right:
        shell.whisper("Its limits", "A change is judged by at once; nothing is attacked again")
        policies.editor(config, attribute)


def _numbers(shown: Shown) -> None:
    import pandas as pd

    tables = {"Checks": verdict_frame(shown.audit.verdict)}
    tables |= {title: pd.DataFrame(list(rows)) for title, rows in shown.audit.tables.items() if rows}
    shell.whisper("The numbers", "Shares as they are; the same tables are in the reports")
    title = st.selectbox("Table", list(tables), key="release_table", persist_state="session") or "Checks"
    table = tables[title]
    st.dataframe(table, hide_index=True, height="content" if len(table) <= 10 else 380)
    st.download_button(
        "CSV",
        data=lambda: csv_of_frame(table),
        file_name="fairleak-release.csv",
        mime="text/csv",
        key="csv_release",
        icon=":material/download:",
        on_click="ignore",
    )


GUIDE = (
    "**The scale.** Every bar runs from 0 to twice the limit, the limit in the middle; green is allowed. The dot is "
    "the measured number, the thick line the interval it is judged by; ▸ means that it goes on beyond the bar. Open "
    "a row to read what was attacked, what the attacker knows, and against which control.\n\n"
    "**Pass and fail** are said only where the whole interval is on one side of the limit. All limits are decided "
    "together (Holm's correction), so that the chance that any number exactly at its limit is called kept or broken "
    "is at most what the confidence leaves, 5% as a rule. The interval judged by is therefore wider than the 95% one "
    "written below the bar.\n\n"
    "**Inconclusive** means that the interval holds the limit: more people would tell. **Not run** means that there is "
    "no number, with the reason; an attack that broke is not run either. Both block a release that requires the check. "
    "A check that is not required is shown and never blocks.\n\n"
    "**Measured, declared, combined.** A measured number comes from an attack that was run, or from counting. A "
    "declared one follows from what is planned, such as a privacy budget, and nothing was attacked. A combined one "
    "rests on both.\n\n"
    "**Limits** are the policy's. But for the four-fifths rule, FairLeak's own are starting points with no standard "
    "behind them, and are marked so; replace them by yours. A limit changed here is judged by at once, without "
    "attacking again, and says that it was changed until you say who set it and why.\n\n"
    "**What it does not say.** A pass holds for these attacks on this model and this table. It is no statement about "
    "attacks nobody has tried. `python -m core audit plan.toml` repeats the audit on the command line, with the plan "
    "and the policy downloaded here beside your table; `verify` and `replay` check a report later."
)
