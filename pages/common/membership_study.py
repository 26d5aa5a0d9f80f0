"""The audit of one model, attack after attack in the background, and curves over a setting, point after point.

Everything is kept in the store of the table it comes from. A moved slider cancels the attacks on the model before it;
what they had found stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from core.fingerprint import fingerprint
from core.membership import ATTACK_TITLES, ATTACKS, Attacked, CurveBand, MemberGuess, MembershipFindings, study_steps
from core.models import GIVEN
from pages.common.background import Background, Job, need, pace, want_instead
from pages.common.membership_controls import Chosen, People


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """An audit as far as it has come.

    Attributes
    ----------
    guesses : mapping of str to MemberGuess
        What each attack says about whom.
    """

    found: MembershipFindings
    target: Attacked = field(repr=False)
    guesses: Mapping[str, MemberGuess] = field(repr=False)


class Membership(Background):
    """The attacks on one model."""

    def __init__(self, who: People, chosen: Chosen) -> None:
        self.who, self.chosen, self.settings = who, chosen, chosen.settings
        audit = [who.dataset.fingerprint, who.config] if who.dataset is not None else []
        self.whose = (who.people.fingerprint, *audit)
        key, total = fingerprint("membership", *self.whose, self.settings), study_steps(self.settings)
        super().__init__("member", who.store, key, self._grow, lane="questions", total=total, widget="members")

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

    def wait_for_first(self) -> Grown:
        """Return what is there; ends the page, with progress, a problem or an offer to go on, while nothing is."""
        grown: Grown = self.first(self.show_progress)
        return grown

    def show_progress(self) -> None:
        """Show how far the attacks are, with a button that stops them, or that lets them go on."""
        grown: Grown | None = self.latest
        there, runs = (0, 0) if grown is None else (len(grown.guesses), len(grown.found.not_run))
        label = f"Stopped after {there} of {len(ATTACKS) - runs} attacks. Go on"
        self.show(self._doing, label, again="Try again")

    def _doing(self, job: Job) -> str:
        if job.stopping:
            return "Stopping"
        there = job.partial[-1].guesses if job.partial else ()
        coming = next((name for name in ATTACKS if name not in there), ATTACKS[-1])
        return f"{ATTACK_TITLES[coming]} comes next" if there else "Training the model"

    def need(self, name: str, label: str, make: Callable[[], Any], *more: Any) -> Any:
        """Return something else about these people; waits while it is computed."""
        return need(self.store, fingerprint(name, *self.whose, *more), label, lambda job: make(), lane="questions")


REPEATS = 25
"""Repeats of the curves, as in the paper."""

_FEWEST = 5
"""Repeats from which on an interval over them is drawn; one over two is wider than any chart."""


def steady(bands: Iterable[CurveBand]) -> tuple[CurveBand, ...]:
    """Return the bands, without the intervals of those with too few repeats to draw one."""
    return tuple(
        band
        if band.repeats >= _FEWEST
        else replace(band, values={n: replace(v, low=math.nan, high=math.nan) for n, v in band.values.items()})
        for band in bands
    )


class Curve(Background):
    """Points over a setting, one after the other; stopped and gone on with without losing any.

    Parameters
    ----------
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
        key = fingerprint("membership curve", name, *parts)

        def work(job: Job) -> list[Any]:
            return job.collect(make(list(job.partial)))

        super().__init__("member_curve", who.store, key, work, lane="sweep", total=total, widget=name)

    def grow(self, draw: Callable[[list[Any]], None], *, waiting: bool) -> None:
        """Draw the points as they come, with progress and buttons; start them unless something else comes first."""
        if not waiting:
            want_instead(self)
            self.begin()
        st.fragment(self._grow, run_every=1.5 if self.busy else None)(draw, self.busy)

    def _grow(self, draw: Callable[[list[Any]], None], running: bool) -> None:
        if running and not self.busy:
            st.rerun()
        points = self.partial
        if points:
            draw(points)
        if not self.begun():
            st.caption("This begins when the attacks above are done.")
        else:
            done = f"{len(points)} of {self.total} models"
            self.show(lambda job: f"{done} attacked, {pace(job)}", f"Stopped after {done}. Go on")
