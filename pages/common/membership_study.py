"""The audit of one model, attack after attack in the background, and curves over a setting, point after point.

Everything is kept in the store of the table it comes from. A moved slider cancels the attacks on the model before it;
what they had found stays.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from core.estimates import Estimate
from core.fingerprint import fingerprint
from core.membership import ATTACK_TITLES, ATTACKS, Attacked, CurveBand, MemberGuess, MembershipFindings, study_steps
from core.models import GIVEN
from pages.common import panels
from pages.common.background import Job
from pages.common.membership_controls import Chosen, People

_PATIENCE = 1.2
"""Seconds a moved slider waits for its first attack before it shows progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """An audit as far as it has come.

    Attributes
    ----------
    found : MembershipFindings
    target : Attacked
    guesses : mapping of str to MemberGuess
        What each attack says about whom.
    """

    found: MembershipFindings
    target: Attacked = field(repr=False)
    guesses: Mapping[str, MemberGuess] = field(repr=False)


class Membership:
    """The attacks on one model."""

    def __init__(self, who: People, chosen: Chosen) -> None:
        self.who, self.chosen, self.settings = who, chosen, chosen.settings
        audit = [who.dataset.fingerprint, who.config] if who.dataset is not None else []
        self.whose = (who.people.fingerprint, *audit)
        self.key = fingerprint("membership", *self.whose, self.settings)

    @property
    def job(self) -> Job | None:
        """The job that lets the audit grow."""
        return self.who.store.job(self.key)

    @property
    def busy(self) -> bool:
        """Whether attacks are under way."""
        return self.job is not None and self.job.busy

    @property
    def stopped(self) -> bool:
        """Whether this session has stopped the attacks."""
        return bool(st.session_state.get("member_stopped") == (self.who.store, self.key))

    @property
    def grown(self) -> Grown | None:
        """What is there; None while no attack is finished."""
        kept: Grown | None = self.who.store.get(self.key)
        job = self.job
        return job.partial[-1] if job is not None and job.partial else kept

    def fill(self) -> bool:
        """Let the audit grow unless this session has stopped it; stop the one it wanted before; return if it grows."""
        wanted = (self.who.store, self.key)
        before = st.session_state.get("member_wanted")
        if before is not None and before != wanted:
            other = before[0].job(before[1])
            if other is not None and other.busy:
                other.cancel()
        st.session_state["member_wanted"] = wanted
        if not self.stopped:
            st.session_state.pop("member_stopped", None)
            if self.job is None or self.job.state in ("cancelled", "finished"):
                self._start()
            self._have_patience()
        return self.busy

    def _start(self) -> None:
        there = [] if self.job is None else list(self.job.partial)
        total = study_steps(self.settings)
        self.who.store.start(self.key, self._grow, lane="questions", total=total, partial=there)

    def _have_patience(self) -> None:
        end = time.monotonic() + _PATIENCE
        while self.busy and self.grown is None and time.monotonic() < end:
            time.sleep(0.02)

    def _grow(self, job: Job) -> Grown:
        """Attack the model; what an earlier job has found is not sought again."""
        from core.membership import attacked, findings_of, guesses, judge

        if job.partial:
            now: Grown = job.partial[-1]
        else:
            target = attacked(self.who.people, self.settings, self._train(), split=self._split())
            now = Grown(found=findings_of(target), target=target, guesses={})
        for guess in guesses(now.target, report=job.report, there=tuple(now.guesses)):
            attacks = {**now.found.attacks, guess.name: judge(now.target, guess)}
            now = replace(now, found=replace(now.found, attacks=attacks), guesses={**now.guesses, guess.name: guess})
            job.partial.append(now)
        return now

    def _train(self) -> Any:
        from core.membership import audited_target, given_target, target_of

        if self.who.dataset is None:
            return target_of(self.who.people, self.settings)
        if self.chosen.target == GIVEN:
            return given_target(self.who.dataset)
        return audited_target(self.who.config, self.who.dataset)

    def _split(self) -> Any:
        """Return the audit's training and test people for the audited or given model; None where they are drawn."""
        if self.who.dataset is None:
            return None
        from core.datasets.splits import split
        from core.membership import split_between

        config = self.who.config
        audit = split(self.who.dataset, train_share=config.train_share, seed=config.seed)
        return split_between(audit.train, audit.test, seed=config.seed)

    def stop(self) -> None:
        """Stop after the attack, or the shadow model, that is under way."""
        st.session_state["member_stopped"] = (self.who.store, self.key)
        if self.job is not None:
            self.job.cancel()

    def go_on(self) -> None:
        """Let stopped attacks, or those that failed, be started again by the next `fill`."""
        st.session_state.pop("member_stopped", None)
        if self.job is not None and self.job.state == "failed":
            self.who.store.forget(self.key)

    def wait_for_first(self) -> Grown:
        """Return what is there; ends the page, with progress, a problem or an offer to go on, while nothing is."""
        if self.grown is None:
            st.fragment(self._wait, run_every=0.4 if self.busy else None)(self.busy)
            st.stop()
        return self.grown

    def _wait(self, running: bool) -> None:
        if self.grown is not None or (running and not self.busy):
            st.rerun()
        self._show_progress()

    def watch(self, running: bool, drawn: Grown) -> None:
        """Show progress, by itself while attacks come in; the page is drawn anew when there is more than was drawn."""
        st.fragment(self._watch, run_every=0.8 if running else None)(running, drawn)

    def _watch(self, running: bool, drawn: Grown) -> None:
        if running and (self.grown is not drawn or not self.busy):
            st.rerun()
        self._show_progress()

    def _show_progress(self) -> None:
        """Show how far the attacks are, with a button that stops them, or that lets them go on."""
        job = self.job
        if job is not None and job.busy:
            self._progress(job)
        elif job is not None and job.state == "failed":
            panels.problem(job.error)
            st.button("Try again", key="again_members", icon=":material/refresh:", on_click=self.go_on)
        elif self.stopped:
            there = 0 if self.grown is None else len(self.grown.guesses)
            runs = len(ATTACKS) if self.grown is None else len(ATTACKS) - len(self.grown.found.not_run)
            label = f"Stopped after {there} of {runs} attacks. Go on"
            if st.button(label, key="start_members", icon=":material/play_arrow:"):
                self.go_on()
                st.rerun()

    def _progress(self, job: Job) -> None:
        bar, button = st.columns([5, 1], vertical_alignment="center")
        there = {} if self.grown is None else self.grown.guesses
        coming = next((name for name in ATTACKS if name not in there), ATTACKS[-1])
        doing = f"{ATTACK_TITLES[coming]} comes next" if there else "Training the model"
        bar.progress(job.share, text="Stopping" if job.stopping else doing)
        button.button("Cancel", key="cancel_members", on_click=self.stop, width="stretch", disabled=job.stopping)

    def need(self, name: str, label: str, make: Callable[[], Any], *more: Any) -> Any:
        """Return something else about these people; waits while it is computed."""
        key = fingerprint(name, *self.whose, *more)
        return panels.need(self.who.store, key, label, lambda job: make(), lane="questions")


REPEATS = 25
"""Repeats of the curves, as in the paper."""

_FEWEST = 5
"""Repeats from which on an interval over them is drawn; one over two is wider than any chart."""


def steady(bands: Iterable[CurveBand]) -> tuple[CurveBand, ...]:
    """Return the bands, without the intervals of those with too few repeats to draw one."""
    return tuple(band if band.repeats >= _FEWEST else replace(band, values=_bare(band)) for band in bands)


def _bare(band: CurveBand) -> dict[str, Estimate]:
    return {name: replace(value, low=math.nan, high=math.nan) for name, value in band.values.items()}


class Curve:
    """One curve.

    Parameters
    ----------
    who : People
    name : str
    total : int
        Number of points.
    make : callable
        From the points that are there to an iterator of the others.
    parts
        What the curve depends on.
    """

    def __init__(
        self, who: People, name: str, total: int, make: Callable[[Sequence[Any]], Iterator[Any]], *parts: Any
    ) -> None:
        self.who, self.name, self.total, self._make = who, name, total, make
        self.key = fingerprint("membership curve", name, *parts)

    @property
    def job(self) -> Job | None:
        """The job that computes the points."""
        return self.who.store.job(self.key)

    @property
    def busy(self) -> bool:
        """Whether points are being computed."""
        return self.job is not None and self.job.busy

    @property
    def points(self) -> list[Any]:
        """The points that are there."""
        if self.job is not None:
            return list(self.job.partial)
        return list(self.who.store.get(self.key) or [])

    def begin(self) -> None:
        """Start it the first time it is wanted; stop the one this session wanted before in its place."""
        wanted = (self.who.store, self.key)
        before = st.session_state.get("member_curve")
        if before is not None and before != wanted:
            other = before[0].job(before[1])
            if other is not None and other.busy:
                other.cancel()
        st.session_state["member_curve"] = wanted
        if not self.begun:
            self.who.store.put(fingerprint("begun", self.key), True)
            self.start()

    @property
    def begun(self) -> bool:
        """Whether it was started before, by anybody."""
        return bool(self.who.store.get(fingerprint("begun", self.key)))

    def start(self) -> None:
        """Start it, or go on with it."""
        there, make = self.points, self._make
        self.who.store.start(
            self.key, lambda job: job.collect(make(there)), lane="sweep", total=self.total, partial=there
        )

    def grow(self, draw: Callable[[list[Any]], None], *, waiting: bool) -> None:
        """Draw the points as they come, with progress and buttons; start them unless something else comes first."""
        if not waiting:
            self.begin()
        st.fragment(self._show, run_every=1.5 if self.busy else None)(draw, self.busy)

    def _show(self, draw: Callable[[list[Any]], None], running: bool) -> None:
        if running and not self.busy:
            st.rerun()
        job, points = self.job, self.points
        if points:
            draw(points)
        if job is not None and job.busy:
            panels.sweep_progress(job, f"{len(points)} of {self.total} models attacked", key=f"cancel_{self.name}")
        elif not self.begun:
            st.caption("This begins when the attacks above are done.")
        elif len(points) < self.total:
            if job is not None and job.state == "failed":
                panels.problem(job.error)
            label = f"Stopped after {len(points)} of {self.total} models. Go on"
            if st.button(label, key=f"start_{self.name}", icon=":material/play_arrow:"):
                self.start()
                st.rerun()
