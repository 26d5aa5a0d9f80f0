"""The attacks of a release audit in the background, whatever page is looked at; kept in the store of their table.

The policy is no part of it: whoever changes a limit is judged anew without an attack.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import streamlit as st

from core.decision import ReleaseAudit, audit_steps
from core.fingerprint import fingerprint
from pages.common import cached, panels
from pages.common.deciding.subject import Subject
from pages.common.jobs import Job

if TYPE_CHECKING:
    from core.report import AttackedPeople

__all__ = ["Found", "Work"]

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
        from core.report import meter_of

        audit, people = audit_with_people(
            self.subject.plan,
            self.subject.table,
            default_policy(),
            model_file=self.subject.model_file,
            report=job.report,
            meter=meter_of,
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
