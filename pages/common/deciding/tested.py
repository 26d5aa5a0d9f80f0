"""FairLeak's test of itself: once for this code in the background, after the verdict; the same for every audit."""

from __future__ import annotations

import streamlit as st

from core.decision import SelfTest
from core.fingerprint import code_fingerprint, fingerprint
from pages.common import cached, panels, shell, state
from pages.common.deciding.passed import board
from pages.common.jobs import Job

__all__ = ["Tested"]

_STOPPED = "self_test_stopped"


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
        stopped = st.session_state.get(_STOPPED, False)
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
        st.session_state[_STOPPED] = True
        if self.job is not None:
            self.job.cancel()

    def _go_on(self) -> None:
        st.session_state.pop(_STOPPED, None)
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
        st.html(board(self.found))

    def _missing(self) -> None:
        if self.busy:
            st.caption("Under way; the results will stand here and in every report made after that.")
            return
        if self.job is not None and self.job.state == "failed":
            panels.problem(self.job.error)
        st.button("Test FairLeak on itself", key="start_self_test", on_click=self._go_on, icon=":material/play_arrow:")
