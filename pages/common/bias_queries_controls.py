"""The controls of the bias queries: how answers are made, who is asked about, and how many questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.queries import Asking, repeats_for
from core.questions import QueryPool
from pages.common import panels
from pages.common.bias_queries_trials import QueryTrials

_KEPT: dict[str, Any] = {"persist_state": "session"}

NOISES = {
    "exact": "None",
    "rounded": "Rounded",
    "laplace": "Laplace",
    "cauchy": "Cauchy",
    "smooth_laplace": "Smooth Laplace",
    "noisy_sums": "Noisy sums",
}
"""Ways to answer, and what to call them."""

EPSILONS = (0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 7, 10, 20, 50, 100, 200, 500)

_PEOPLE = (20, 30, 50, 100, 150, 200, 300, 500, 1000, 2000)

_DESIGNS = {
    "jitter": "Audited model, slightly jittered",
    "random_binary": "Random yes and no",
    "targeted": "One person changed at a time",
    "bits": "Fifty people packed in one score",
}

DELTA = 1e-5
"""Probability with which smooth Laplace noise may fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """How answers are made."""

    noise: str  # a key of `NOISES`
    epsilon: float  # privacy budget of all answers together; unused without noise
    decimals: int  # of rounded answers
    absolute: bool
    as_published: bool

    @property
    def private(self) -> bool:
        """Whether a privacy budget applies."""
        return self.noise not in ("exact", "rounded")


def mechanism(answering: Answering, noise: str | None = None, *, epsilon: float | None = None) -> Any:
    """Return the mechanism of these settings, or another kind of noise with the same settings."""
    from core import queries

    told: dict[str, Any] = {"absolute": answering.absolute, "as_published": answering.as_published}
    budget = answering.epsilon if epsilon is None else epsilon
    make: dict[str, Callable[[], Any]] = {
        "exact": lambda: queries.Exact(absolute=answering.absolute),
        "rounded": lambda: queries.Rounded(answering.decimals, absolute=answering.absolute),
        "laplace": lambda: queries.LaplaceGlobal(budget, **told),
        "cauchy": lambda: queries.SmoothCauchy(budget, **told),
        "smooth_laplace": lambda: queries.SmoothLaplace(budget, DELTA, **told),
        "noisy_sums": lambda: queries.NoisySums(budget, absolute=answering.absolute),
    }
    return make[noise or answering.noise]()


def answering(as_published: bool) -> Answering:
    """Choose the noise and, beside it, how strong it is."""
    left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
    noise = panels.pick(
        "Noise on the answers",
        NOISES,
        key="noise",
        default="cauchy",
        help="Laplace: for the largest change one person could ever make. Cauchy and Smooth Laplace "
        "(Attribute-Conceal): for groups of about these sizes. Noisy sums: noise on the smaller group's sums, "
        "from which the gap is computed.",
        place=left,
    )
    with right:
        if noise == "rounded":
            st.select_slider("Decimals of an answer", [0, 1, 2, 3, 4, 5, 6], value=3, key="decimals", **_KEPT)
        elif noise != "exact":
            st.select_slider(
                "Privacy budget ε (all answers together)",
                EPSILONS,
                value=5,
                key="answer_epsilon",
                help="Smaller is more private. Smooth Laplace also fails with probability δ = 0.00001 at most.",
                **_KEPT,
            )
    epsilon = st.session_state.get("answer_epsilon") or 5
    decimals = st.session_state.get("decimals")
    return Answering(
        noise=noise,
        epsilon=float(epsilon),
        decimals=3 if decimals is None else int(decimals),
        absolute=st.session_state.get("gap_kind") == "absolute",
        as_published=as_published,
    )


def asking(pool: QueryPool, seed: int) -> Asking:
    """Choose how many people are asked about, with which questions, and which gap."""
    left, middle, right = st.columns([2, 3, 2], gap="medium", vertical_alignment="bottom")
    there = [n for n in _PEOPLE if n <= pool.people.n] or [pool.people.n]
    most = 100 if 100 in there else there[-1]
    n = int(left.select_slider("People", there, value=most, key="people_asked", **_KEPT))
    kind = panels.pick(
        "Gap",
        {"signed": "Signed", "absolute": "Absolute"},
        key="gap_kind",
        default="signed",
        help="Without its sign a gap still splits the people in two (theorem 4), with questions about one person.",
        place=right,
    )
    if kind == "absolute":
        middle.selectbox("Questions", ["One person accepted at a time"], disabled=True, key="question_single")
        return Asking(n=n, design="single", repeats=repeats_for(n), seed=seed)
    design = panels.choose(
        "Questions",
        _DESIGNS,
        key="question_design",
        help=(
            "Each question is a model, that is a score for each person. Jittered: the audited model's scores, moved by "
            "up to 0.1. One person changed: the audited model, with one score turned round. Fifty packed: scores 1/2, "
            "1/4, 1/8 and so on, which an exact answer gives away like binary digits."
        ),
        place=middle,
    )
    return Asking(n=n, design=design, repeats=repeats_for(n), seed=seed)


def number_of_questions(people: QueryTrials) -> int:
    """Return the number of answered questions; the slider that sets it stands under its chart."""
    last = people.trials.numbers[-1]
    first = round(last * 25 / 60) if last > 4 else last
    return min(int(st.session_state.get(f"answered_{last}", first if people.live else _nearest(people, first))), last)


def questions_slider(people: QueryTrials, value: int) -> None:
    """Draw the slider of the number of answered questions."""
    label, numbers = "Answered questions", people.trials.numbers
    key = f"answered_{numbers[-1]}"
    if people.live:
        st.slider(label, 0, numbers[-1], value=value, key=key, **_KEPT)
    else:
        st.select_slider(label, numbers, value=_nearest(people, value), key=key, **_KEPT)


def _nearest(people: QueryTrials, value: int) -> int:
    return min(people.trials.numbers, key=lambda m: abs(m - value))
