"""Points over a setting, one after the other in the background; stopped and resumed without losing any."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core.estimates import Estimate
from core.fingerprint import fingerprint
from core.membership import CurveBand
from pages.common import panels
from pages.common.jobs import Job
from pages.common.members.choice import People

__all__ = ["REPEATS", "Curve", "steady"]

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
