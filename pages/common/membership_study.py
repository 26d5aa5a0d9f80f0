"""The audit of one model, attack after attack in the background, and curves over a setting, point after point.

Everything is kept in the store of the table it comes from. A moved slider cancels the attacks on the model before it;
what they had found stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from core.fingerprint import fingerprint
from core.membership import (
    ATTACK_TITLES,
    ATTACKS,
    Attacked,
    CurveBand,
    CurvePoint,
    MemberGuess,
    MembershipFindings,
    MembershipSettings,
    study_steps,
)
from core.models import GIVEN
from pages.common import cached
from pages.common.background import Background, Job, pace, want_instead
from pages.common.membership_controls import People, attacked_with


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """An audit as far as it has come, and what each attack says about whom."""

    found: MembershipFindings
    target: Attacked = field(repr=False)
    guesses: Mapping[str, MemberGuess] = field(repr=False)


class Membership(Background):
    """The attacks on one model."""

    def __init__(self, who: People, chosen: MembershipSettings) -> None:
        self.who, self.chosen, self.settings = who, chosen, attacked_with(chosen)
        config, own = who.config, chosen.target in ("audited", GIVEN)
        self._dataset = cached.dataset_of(who.table, config.roles or who.table.roles[0]) if own else None
        audit = [] if self._dataset is None else [self._dataset.fingerprint, config]
        self.whose = (who.people.fingerprint, *audit)
        key, total = fingerprint("membership", *self.whose, self.settings), study_steps(self.settings)
        super().__init__("member", who.store, key, self._grow, lane="questions", total=total, widget="members")

    def _grow(self, job: Job) -> Grown:
        """Attack the model; what an earlier job has found is not sought again."""
        from core.membership import findings_of, guesses, judge

        if job.partial:
            now: Grown = job.partial[-1]
        else:
            target = self._target()
            now = Grown(found=findings_of(target), target=target, guesses={})
        for guess in guesses(now.target, report=job.report, there=tuple(now.guesses)):
            attacks = {**now.found.attacks, guess.name: judge(now.target, guess)}
            now = replace(now, found=replace(now.found, attacks=attacks), guesses={**now.guesses, guess.name: guess})
            job.partial.append(now)
        return now

    def _target(self) -> Attacked:
        """Train the model; the audited or given one has the audit's own training and test people."""
        from core.datasets.splits import split
        from core.membership import attacked, audited_target, given_target, split_between, target_of

        people, config, dataset = self.who.people, self.who.config, self._dataset
        if dataset is None:
            return attacked(people, self.settings, target_of(people, self.settings))
        audit = split(dataset, train_share=config.train_share, seed=config.seed)
        between = split_between(audit.train, audit.test, seed=config.seed)
        train = given_target(dataset) if self.settings.target == GIVEN else audited_target(config, dataset)
        return attacked(people, self.settings, train, split=between)

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


Draw = Callable[[list[CurvePoint], bool], None]
"""Draws the points of a curve, which may be growing."""


class Curve(Background):
    """Points over a setting, one after the other; stopped and gone on with without losing any.

    `make` goes from the points that are there to an iterator of the others; `parts` are what the curve depends on.
    """

    def __init__(
        self, work: Membership, name: str, total: int, make: Callable[..., Iterator[CurvePoint]], *parts: Any
    ) -> None:
        def points(job: Job) -> list[CurvePoint]:
            return job.collect(make(there=list(job.partial)))

        self._waiting, people = work.busy, work.who.people
        key = fingerprint("membership curve", name, people.fingerprint, *parts)
        super().__init__("member_curve", work.store, key, points, lane="sweep", total=total, widget=name)

    def grow(self, draw: Draw) -> None:
        """Draw the points as they come, with progress and buttons; start them once the attacks are done."""
        if not self._waiting:
            want_instead(self)
            self.begin()
        st.fragment(self._grow, run_every=1.5 if self.busy else None)(draw, self.busy)

    def _grow(self, draw: Draw, running: bool) -> None:
        if running and not self.busy:
            st.rerun()
        points = self.partial
        if points:
            draw(points, len(points) < self.total)
        if not self.begun():
            st.caption("This begins when the attacks above are done.")
        else:
            done = f"{len(points)} of {self.total} models"
            self.show(lambda job: f"{done} attacked, {pace(job)}", f"Stopped after {done}. Go on")
