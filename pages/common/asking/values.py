"""What a decoder recovered for each person, with the threshold it decides at."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.questions import QueryPool
from core.wording import count
from pages.common import panels, query_controls, shell
from pages.common.asked import Asked

__all__ = ["draw"]

_DECODERS = {
    "published": "Paper's l1",
    "nonnegative": "s ≥ 0",
    "box": "Box with known sum",
    "sizes_unknown": "Sizes unknown",
    "without_prior": "Without prior",
    "strongest": "Strongest",
}


def draw(people: Asked, pool: QueryPool, mechanism: Any) -> None:
    """Draw the recovered vector of one draw."""
    st.fragment(_draw)(people, pool, mechanism)


def _draw(people: Asked, pool: QueryPool, mechanism: Any) -> None:
    from core.figures import draw_values
    from core.queries import PROGRAMS, leakage

    exact = mechanism.noise in ("none", "rounding") and not mechanism.absolute
    offered = [name for name in _DECODERS if exact or name not in PROGRAMS]
    if st.session_state.get("decoder") not in offered:
        st.session_state["decoder"] = "strongest"
    decoder = st.segmented_control(
        "Decoder",
        offered,
        required=True,
        key="decoder",
        format_func=_DECODERS.__getitem__,
        persist_state="session",
    )
    numbers = people.trials.numbers
    m = query_controls.number_of_questions(numbers, live=people.live)
    now = people.marker(m, mechanism)
    someone, reading = people.reading(now.m, mechanism, decoder or "strongest", now.typical)
    found = leakage(someone.sensitive, reading.recovered)
    shell.whisper(
        f"{100 * found:.0f}% balanced accuracy in this draw of {count(someone.n)} people, after {count(now.m)} answers",
        "Recovered value of each person: 0 speaks for the larger group, 1 for the smaller. Filled: correct; "
        "hollow: wrong. Baseline: random guessing gives 50%",
    )
    names = pool.advantaged, pool.disadvantaged
    drawn = draw_values(someone, reading, shell.palette(), names=names, advantaged=pool.advantaged_code)
    panels.chart(drawn, key="values_chart")
    panels.numbers({"Recovered values": drawn.table}, key="recovered-values")
