"""The controls of the bias queries: how answers are made, who is asked about, and how many questions."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.queries import NOISES, Answering, Asking, QueryPool, RevealSettings, repeats_for
from core.settings import params
from pages.common import panels
from pages.common.bias_queries_trials import QueryTrials
from pages.common.controls import control

EPSILONS = (0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 7, 10, 20, 50, 100, 200, 500)

_PEOPLE = (20, 30, 50, 100, 150, 200, 300, 500, 1000, 2000)

_ANSWERING, _ASKING, _REVEAL = params(Answering), params(Asking), params(RevealSettings)


def answering(as_published: bool) -> Answering:
    """Choose the noise and, beside it, how strong it is."""
    left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
    noise = panels.pick(
        _ANSWERING["noise"].param.title,
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
            control(_ANSWERING["decimals"], "decimals", "select_slider", options=range(7), help=None)
        elif noise != "exact":
            control(
                _ANSWERING["epsilon"],
                "answer_epsilon",
                "select_slider",
                options=EPSILONS,
                help="Smaller is more private. Smooth Laplace also fails with probability δ = 0.00001 at most.",
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
    value = 100 if 100 in there else there[-1]
    n = int(control(_ASKING["n"], "people_asked", "select_slider", place=left, options=there, value=value, help=None))
    kind = panels.pick(
        "Gap",
        {"signed": "Signed", "absolute": "Absolute"},
        key="gap_kind",
        default="signed",
        help="Without its sign a gap still splits the people in two (theorem 4), with questions about one person.",
        place=right,
    )
    if kind == "absolute":
        label = _ASKING["design"].param.title
        middle.selectbox(label, ["One person accepted at a time"], disabled=True, key="question_single")
        return Asking(n=n, design="single", repeats=repeats_for(n), seed=seed)
    design = control(
        _ASKING["design"],
        "question_design",
        place=middle,
        help=(
            "Each question is a model, that is a score for each person. Jittered: the audited model's scores, moved by "
            "up to 0.1. One person changed: the audited model, with one score turned round. Fifty packed: scores 1/2, "
            "1/4, 1/8 and so on, which an exact answer gives away like binary digits."
        ),
    )
    return Asking(n=n, design=design, repeats=repeats_for(n), seed=seed)


def number_of_questions(people: QueryTrials) -> int:
    """Return the number of answered questions; the slider that sets it stands under its chart."""
    last = people.trials.numbers[-1]
    first = round(last * 25 / 60) if last > 4 else last
    return min(int(st.session_state.get(f"answered_{last}", first if people.live else _nearest(people, first))), last)


def questions_slider(people: QueryTrials, value: int) -> None:
    """Draw the slider of the number of answered questions."""
    numbers = people.trials.numbers
    told: dict[str, Any] = {"kind": "select_slider", "options": numbers, "value": _nearest(people, value)}
    if people.live:
        told = {"kind": "slider", "max_value": numbers[-1], "value": value}
    control(_REVEAL["questions"], f"answered_{numbers[-1]}", help=None, **told)


def _nearest(people: QueryTrials, value: int) -> int:
    return min(people.trials.numbers, key=lambda m: abs(m - value))
