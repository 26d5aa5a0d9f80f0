"""Where the noise sits: how much of it in how few columns or items."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.wording import count
from pages.common import panels, shell
from pages.common.guarding.work import Grown, Guarding

__all__ = ["draw"]


def draw(work: Guarding, grown: Grown, budget: float) -> None:
    """Draw the shares of all changes that a budget without limit would make."""
    from core.figures import draw_where

    study = grown.study
    found = work.need("where", "Counting changes", lambda report: _carried(grown))
    names, shares, entries = found
    unit = "columns" if study.unit == "columns" else "items"
    if not shares.size:
        st.info("No noise changes anything here.")
        return
    half = int(np.searchsorted(np.cumsum(shares), 0.5 - 1e-9)) + 1
    one = unit[:-1] if half == 1 else unit
    shell.whisper(
        f"{count(half)} of {count(entries)} {one if entries == 1 else unit} "
        f"{'carries' if half == 1 else 'carry'} half of the noise",
        "Share of all changes, each noise drawn as often as the goal asks. Few places make it easy to leave "
        "them out, as the attacker “drops noisy” does",
    )
    drawn = draw_where(names, shares, shell.palette(), entries=entries, unit=unit)
    panels.chart(drawn, key="where_chart")
    panels.numbers({"Where the noise sits": drawn.table}, key="guard-where")


def _carried(grown: Grown) -> tuple[list[str], Any, int]:
    """Return names, shares (most used first) and the number of all columns or items."""
    study, guard = grown.study, grown.guard
    goal = study.mechanism(float(study.size.max()))
    if study.unit == "columns":
        from core.attriguard.table.concentration import column_noise

        found = column_noise(guard.people.names, guard.people.public, guard.noise, goal)
        some = found.shares > 0
        return [name for name, is_some in zip(found.names, some, strict=True) if is_some], found.shares[some], some.size
    from core.attriguard import concentration

    ratings = guard.ratings
    carried = concentration(ratings.people_test, guard.noise, goal, ratings.items)
    return list(carried.entries), carried.share, carried.n_entries
