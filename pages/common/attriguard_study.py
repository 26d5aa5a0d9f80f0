"""The study of a defence, attacker by attacker in the background, and its curves, computed where the attacker is.

Everything is kept in the store of the people it comes from. A move of the slider weighs guesses that are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from core.attriguard import Point, Study
from core.fingerprint import fingerprint
from pages.common import panels
from pages.common.attriguard_controls import Defence, last_budget, ratings_settings, table_settings
from pages.common.attriguard_people import People
from pages.common.background import Job

_POINTS = 25  # steps of a curve


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """A study as far as it has come.

    Attributes
    ----------
    study : Study
    curves : mapping of attacker to its points
    guard : core.attriguard.TableGuard or core.attriguard.Guarded
        What the noise was found with.
    learning : str
        An attacker who is there but not trained at all budgets yet; empty if there is none.
    """

    study: Study
    curves: Mapping[str, tuple[Point, ...]]
    guard: Any
    learning: str


class _Steps(Iterator[Grown]):
    """The study step by step; a job that stops between two steps leaves it where it is, for the next to go on."""

    def __init__(self, steps: Iterator[Grown]) -> None:
        self._steps = steps

    def __next__(self) -> Grown:
        return next(self._steps)


class Guarding:
    """One defence of some people."""

    def __init__(self, who: People, defence: Defence) -> None:
        self.who, self.defence = who, defence
        self.key = fingerprint("attriguard", *who.fingerprint, replace(defence, balanced=False))

    @property
    def job(self) -> Job | None:
        """The job that lets the study grow."""
        return self.who.store.job(self.key)

    @property
    def busy(self) -> bool:
        """Whether the study is growing."""
        return self.job is not None and self.job.busy

    @property
    def finished(self) -> bool:
        """Whether every attacker is there."""
        return self.job is not None and self.job.state == "finished"

    @property
    def grown(self) -> Grown | None:
        """What is there of the study; None while no attacker is."""
        job = self.job
        last: Grown | None = job.partial[-1] if job is not None and job.partial else None
        return last if last is not None and last.study.guesses else None

    def fill(self) -> bool:
        """Let the study grow unless this session has stopped it, stop the one it wanted before; return if it grows."""
        wanted = (self.who.store, self.key)
        before = st.session_state.get("guard_wanted")
        if before is not None and before != wanted:
            other = before[0].job(before[1])
            if other is not None and other.busy:
                other.cancel()
        st.session_state["guard_wanted"] = wanted
        if not self.stopped:
            st.session_state.pop("guard_stopped", None)
            if self.job is None or self.job.state in ("cancelled", "finished"):
                self._start().wait(0.15)
        return self.busy

    def _start(self) -> Job:
        key = fingerprint("steps", self.key)
        steps, there = self.who.store.get(key), [] if self.job is None else list(self.job.partial)
        if steps is None or not there:  # one without the other is of no use
            steps, there = _Steps(self._grow()), []
            self.who.store.put(key, steps)
        return self.who.store.start(
            self.key, lambda job: job.collect(steps), lane="questions", total=self._total(), partial=there
        )

    @property
    def stopped(self) -> bool:
        """Whether this session has stopped the study."""
        return bool(st.session_state.get("guard_stopped") == (self.who.store, self.key))

    def stop(self) -> None:
        """Stop the study after the attacker it is at."""
        st.session_state["guard_stopped"] = (self.who.store, self.key)
        if self.job is not None:
            self.job.cancel()

    def go_on(self) -> None:
        """Let a stopped study, or one that failed, be started again by the next `fill`."""
        st.session_state.pop("guard_stopped", None)
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
        """Show progress, by itself while the study grows; the page is drawn anew when there is more than was drawn."""
        st.fragment(self._watch, run_every=1.0 if running else None)(running, drawn)

    def _watch(self, running: bool, drawn: Grown) -> None:
        if running and (self.grown is not drawn or not self.busy):
            st.rerun()
        self._show_progress()

    def _show_progress(self) -> None:
        """Show how far the study is, with a button that stops it, or that lets it go on."""
        job = self.job
        if job is not None and job.busy:
            self._progress(job)
        elif job is not None and job.state == "failed":
            panels.problem(job.error)
            st.button("Try again", key="again_attackers", icon=":material/refresh:", on_click=self.go_on)
        elif self.stopped:
            label = f"Stopped after {self._attackers()}. Go on"
            go_on = st.button(label, key="start_attackers", icon=":material/play_arrow:")
            if go_on:
                self.go_on()
                st.rerun()

    def _progress(self, job: Job) -> None:
        bar, button = st.columns([5, 1], vertical_alignment="center")
        doing = "Looking for the noise" if self.grown is None else f"{self._attackers()} drawn"
        left = "stopping after this attacker" if job.stopping else panels.time_left(job, but_first=True)
        bar.progress(job.share, text=f"{doing}, {left}")
        button.button("Cancel", key="cancel_attackers", on_click=self.stop, width="stretch", disabled=job.stopping)

    def need(self, name: str, label: str, make: Callable[[Callable[[int, int], None]], Any]) -> Any:
        """Return something else about these people, made by a function that reports; waits while it is computed."""
        key = fingerprint(name, self.key, repr(self.who.config))
        return panels.need(self.who.store, key, label, lambda job: make(job.report))

    def _attackers(self) -> str:
        """Say how many attackers are drawn; one trained at several budgets is one."""
        there = 0 if self.grown is None else len(self.grown.study.attackers)
        return f"{there} of {self._total(budgets=1)} attackers"

    def _total(self, budgets: int | None = None) -> int:
        """Return the number of steps, if attackers are trained at so many budgets only."""
        from core.attriguard import study_steps

        if self.who.ratings is None:
            of_table = table_settings(self.defence)
            return study_steps(replace(of_table, trained_budgets=of_table.trained_budgets[:budgets]))
        settings = ratings_settings(self.defence)
        return len(settings.attackers) + len(settings.trained_at[:budgets]) - 1

    def _studies(self) -> Iterator[tuple[Any, Study]]:
        """Yield the study as it grows, with what the noise was found with."""
        from core.attriguard import Guarded, study_ratings, study_table, table_guard

        who = self.who
        if who.ratings is not None:
            guarded = Guarded(who.ratings, ratings_settings(self.defence))
            study = next(study_ratings(guarded))  # nobody attacks yet
            for name in guarded.settings.attackers:
                for guesses in guarded.guesses(name):  # one for each budget somebody is trained at
                    study = replace(study, guesses=(*study.guesses, guesses))
                    yield guarded, study
            return
        assert who.dataset is not None and who.config is not None
        guard = table_guard(who.dataset, who.config, table_settings(self.defence))
        yield from ((guard, study) for study in study_table(guard))

    def _grow(self) -> Iterator[Grown]:
        """Yield the study after each attacker, with the curves."""
        curves: dict[str, tuple[Point, ...]] = {}
        for guard, study in self._studies():
            newest = study.guesses[-1].attacker
            budgets = np.linspace(0.0, last_budget(study), _POINTS + 1).tolist()
            own = tuple(guess for guess in study.guesses if guess.attacker == newest)
            curves[newest] = replace(study, guesses=own).curves(budgets)[newest]
            budgets_left = {guess.trained_at for guess in own} != set(_trained_at(guard))
            learning = newest if own[0].trained_at is not None and budgets_left else ""
            yield Grown(study=study, curves=dict(curves), guard=guard, learning=learning)


def _trained_at(guard: Any) -> tuple[float, ...]:
    """Return the budgets that some attackers are trained against."""
    settings = guard.settings
    return tuple(settings.trained_budgets if hasattr(settings, "trained_budgets") else settings.trained_at)
