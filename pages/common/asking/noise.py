"""How much noise each mechanism adds, why, and what exactly it guarantees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.figures.answers import error_words
from core.queries import accuracy_limit, largest_loss
from pages.common import query_controls, query_words, shell
from pages.common.asked import Asked
from pages.common.query_controls import DELTA, NOISES, Answering

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

_NOISES = ("laplace", "smooth_laplace", "cauchy", "noisy_sums")


def draw(people: Asked, answering: Answering) -> None:
    """Draw the table of scales and the list of guarantees."""
    st.fragment(_draw)(people, answering)


def _draw(people: Asked, answering: Answering) -> None:
    numbers = people.trials.numbers
    m = max(query_controls.number_of_questions(numbers, live=people.live), 1)
    n1, n0 = people.trials.n_advantaged, people.trials.n_disadvantaged
    left, right = st.columns(2, gap="large")
    with left:
        shell.whisper(
            f"Noise for {m:,} answers at ε = {answering.epsilon:g}",
            f"Groups of {n1:,} and {n0:,}. The scale of Cauchy noise is also its median error. What is spent is what "
            "these people can lose at most (?: no bound); noise that spends less than ε is larger than ε asks for",
        )
        table = _table(people, answering, m)
        st.dataframe(table, hide_index=True)
        for noise in _NOISES:
            made = query_controls.mechanism(answering, noise)
            st.caption(f"**{NOISES[noise]}.** {shell.escape(made.why(answering.as_published))}")
    with right:
        shell.whisper("What is guaranteed", "Largest balanced accuracy, whatever the attacker computes")
        st.markdown(_guarantees(people, answering))


def _table(people: Asked, answering: Answering, m: int) -> pandas.DataFrame:
    import pandas as pd

    trials = people.trials
    rows = []
    for noise in _NOISES:
        corrected, printed = (
            query_controls.mechanism(query_controls.as_published(answering, switch), noise) for switch in (False, True)
        )
        if noise == "noisy_sums":
            scales = corrected.scales(trials.ask(m, corrected, [0]).scores[0])
            here, paper = f"{error_words(scales.sums)} a sum, {error_words(scales.count)} the count", "not in the paper"
        else:
            sizes = trials.n_advantaged, trials.n_disadvantaged, m
            here, paper = error_words(corrected.scale(*sizes)), error_words(printed.scale(*sizes))
        spent = largest_loss(corrected, trials.n_advantaged, trials.n_disadvantaged, m)
        rows.append(
            {
                "noise": NOISES[noise],
                "scale": here,
                "as published": paper,
                "ε spent": "?" if spent is None else f"{spent:.2g}",
            }
        )
    return pd.DataFrame(rows)


def _guarantees(people: Asked, answering: Answering) -> str:
    epsilon = answering.epsilon
    if not answering.private:
        return "Nothing: the answers carry no noise, so no privacy budget limits what they tell."
    if not query_words.holds(people, answering):
        if answering.as_published:
            return (
                "Nothing at this ε: as published this noise does not keep its promise for these groups or this gap. "
                "Switch “As published” off."
            )
        return "Nothing at this ε: the theorem behind smooth Laplace noise is stated for ε below 1 only."
    known = accuracy_limit(epsilon, sizes_known=True), people.limit(epsilon, sizes_known=True)
    rows = [
        ("Knows nothing but the answers", accuracy_limit(epsilon), "e^ε/(1+e^ε)"),
        ("Has the prior", people.limit(epsilon, sizes_known=False), "posterior odds move by at most e^ε"),
        ("Knows the group sizes", known[0], "e^2ε/(1+e^2ε): people are linked"),
        ("Has the prior, knows the sizes", known[1], "posterior odds move by at most e^2ε"),
    ]
    lines = [f"| {who} | **{100 * rate:.1f}%** | {why} |" for who, rate, why in rows]
    also = (
        f"\n\nSmooth Laplace noise may fail with probability δ = {DELTA:g}, by which each limit is larger."
        if answering.noise == "smooth_laplace"
        else ""
    )
    return "\n".join(["| An attacker who … | at most | because |", "|:--|--:|:--|", *lines]) + also
