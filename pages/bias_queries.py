"""Bias queries: what answers to fairness queries reveal, and what noise does to the leak and to the answers."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

from collections.abc import Iterator
from functools import partial
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from core.base.errors import InputError
from core.stats.estimates import count
from core.stats.quantities import Row
from pages._bias_queries import bias_queries_trials as trials
from pages.shell import cached, panels, state
from pages.shell.background import ensure_started

shell.head()
config, table = cached.audited()
dataset = cached.dataset_of(table, config.roles)
if dataset.n_groups != 2:
    panels.problem(
        f"Bias queries compare two groups, and this attribute is split in {dataset.n_groups}. Choose an attribute in "
        "two groups in the sidebar, or split it in two on the Data page."
    )
    shell.link("data")
    st.stop()
pool = trials.pool_of(config, dataset)

from core.studies import bias_queries as queries
from core.studies.bias_queries import NOISES, Exact, Leak, answers_leak, curve_finding, error_text, findings, noise_text
from core.studies.bias_queries.charts import draw_answer_errors, draw_leakage, draw_targeted, draw_values
from core.studies.bias_queries.findings import tables

attribute_name = state.attribute_of(config)
attribute = shell.escape(attribute_name)
top = st.container()
answering, asking = trials.controls(pool, config.seed)
try:
    people = trials.query_trials(config, dataset, pool, asking)
except InputError as error:
    panels.problem(str(error))
    st.stop()
mechanism = answering.mechanism()
exact = Exact(absolute=answering.absolute)
curves = [people.background(noise) for noise in dict.fromkeys([mechanism, exact])]
busy = ensure_started(*curves)
requested = trials.number_of_answers(people)
curves[0].hold(lambda: people.marked(requested, mechanism) == requested)
opening = top.empty()  # no earlier, so that the finding before stays while this one is computed


@st.fragment(run_every=3.0 if busy else None)
def draw(running: bool) -> None:
    """Draw everything that follows the number of answers."""
    if running and not any(curve.busy for curve in curves):
        st.rerun()
    chosen = trials.number_of_answers(people)
    m = people.marked(chosen, mechanism)
    result = answers_leak(
        people, m, answering, attribute=attribute_name, decoders=trials.CURVES, noises=trials.ERROR_ROWS
    )
    with opening:
        (headline,) = findings(result, answering)
        panels.finding(headline, "desk")
    now, prior = result.best, result.prior or result.best.leakage
    left, right = st.columns([3, 2], gap="large")
    with left:
        bound = people.bound(mechanism)
        leaking = draw_leakage(
            people.curves(mechanism),
            people.curves(exact) if answering.noise != "exact" else {},
            result.leaks,
            numbers=people.numbers,
            prior=prior,
            limit=None if bound is None else ("Bound for this prior and group sizes", bound),
            attribute=attribute_name,
        )
        quantity = f"Balanced accuracy of inferring {attribute}, mean of {asking.repeats} repetitions, 95% CI"
        panels.titled("Leakage by number of answers", quantity, leaking, key="leakage_chart")
        trials.answers_slider(people)
        trials.show(curves)
    with right:
        errors = [(NOISES[noise], result.errors[noise]) for noise in trials.ERROR_ROWS]
        quantity = f"Median and 95th percentile; m = {count(max(m, 1))}, ε = {answering.epsilon:g} for all answers"
        drawn = draw_answer_errors(errors, NOISES[answering.noise])
        panels.titled("Error per answer", quantity, drawn, key="errors_chart")
        inferred(now)
    curve = [leak for points in people.curves(mechanism).values() for leak in points]
    is_complete = len(curve) == len(trials.CURVES) * len(people.numbers)
    panels.notes(curve_finding(people, curve, answering, complete=is_complete).text)
    leaks = {
        how: [leak for points in people.curves(noise).values() for leak in points]
        for how, noise in {noise_text(answering): mechanism, "exact": exact}.items()
    }
    panels.foot(guide(), panels.frames(tables(leaks, result.errors)), key="bias-queries")


_MOST_SQUARES = 400


def inferred(now: Leak) -> None:
    """Draw one square a person of one repetition: filled where the attribute was inferred correctly."""
    someone, decoded = people.decoding(now.m, mechanism, now.decoder, now.typical)
    per_square = -(-someone.n // _MOST_SQUARES)
    scale = f"People per square: {per_square}, in a typical repetition. Filled: correct"
    shell.whisper(f"People whose {attribute} was inferred", scale)
    right = decoded.recovered == someone.sensitive
    strips = ""
    for group, name in ((0, pool.disadvantaged), (1, pool.advantaged)):
        inside = someone.sensitive == group
        strips += _strip(name, int(inside.sum()), int(np.count_nonzero(right & inside)), per_square)
    st.html(strips, width="stretch")


def _strip(name: str, size: int, correct: int, per_square: int) -> str:
    filled, squares = round(correct / per_square), -(-size // per_square)
    box = "display:inline-block;width:11px;height:11px;margin:0 3px 3px 0;border:1.5px solid "
    full = f'<span style="{box}var(--fl-leak);background:var(--fl-leak)"></span>'
    hollow = f'<span style="{box}var(--fl-grey)"></span>'
    description = f"{count(size)} {escape(name)}: {count(correct)} correct"
    return (
        f'<div style="margin:0 0 10px">'
        f'<div style="margin-bottom:4px">{description.replace(": ", ": <b>")}</b></div>'
        f'<div role="img" aria-label="{description}" style="line-height:0;max-width:{14 * min(squares, 62)}px">'
        f"{full * filled}{hollow * (squares - filled)}</div></div>"
    )


def guide() -> str:
    """Explain the page."""
    asked_label = {"equal_opportunity": 1, "predictive_equality": 0}.get(pool.metric)
    among = "" if asked_label is None else f" Only people with label {asked_label} enter the gap."
    groups = f"{shell.escape(pool.advantaged)} and {shell.escape(pool.disadvantaged)}"
    return (
        f"**Question.** How much do answers about a model's fairness gap between {groups} reveal about individuals?\n\n"
        f"**Attacker knows.** Features, labels, group sizes, every queried score and how answers are made; not "
        f"{attribute}.\n\n"
        f"**How to read the chart.** Each answer is an equation in everybody's {attribute}.{among} Bold: best decoder; "
        "faint: the same without noise. The *bound* holds for any attacker with this prior; missing where the "
        "noise does not provably keep its ε.\n\n"
        "**The slider.** Number of answers. With noise they share the budget ε: more answers, each noisier.\n\n"
        "**What counts as a leak.** The distance to *features only*, not the height.\n\n"
        "**What it does not show.** Other queries or decoders may reveal more.\n\n"
        "**Source.** Hamman, Chen and Dutta, *Can Querying for Bias Leak Protected Attributes?*, FAccT 2023."
    )


# More analyses --------------------------------------------------------------------------------------------------------


@st.fragment
def _values() -> None:
    """Draw the recovered vector of one repetition."""
    exactly = mechanism.noise in ("none", "rounding") and not mechanism.absolute
    offered = {name: title for name, title in queries.DECODER_TITLES.items() if exactly or name not in queries.PROGRAMS}
    if st.session_state.get("decoder") not in offered:
        st.session_state["decoder"] = "strongest"
    decoder = panels.pick("Decoder", offered, key="decoder", default=None) or "strongest"
    m = people.marked(trials.number_of_answers(people), mechanism)
    now = people.leak(m, mechanism, "strongest")
    someone, decoded = people.decoding(now.m, mechanism, decoder, now.typical)
    accuracy = queries.leakage(someone.sensitive, decoded.recovered)
    names = pool.advantaged, pool.disadvantaged
    drawn = panels.titled(
        f"{100 * accuracy:.0f}% balanced accuracy for these {count(someone.n)} people (m = {count(now.m)})",
        "Recovered value of each person: 0 speaks for the larger group, 1 for the smaller. Filled: correct; "
        "hollow: wrong. Random guessing reaches 50%",
        draw_values(someone, decoded, names=names, advantaged=pool.advantaged_code),
        key="values_chart",
    )
    panels.numbers({"Recovered values": drawn.table}, key="recovered-values")


_NOISES = ("noisy_sums", "laplace", "smooth_laplace", "cauchy")


def _targeted() -> None:
    """Draw the curves over epsilon."""
    n1, n0 = people.n_advantaged, people.n_disadvantaged
    epsilons = sorted({*np.geomspace(trials.EPSILONS[0], trials.EPSILONS[-1], 60).tolist(), *trials.EPSILONS})
    curves = {
        NOISES[noise]: [
            (e, float(queries.targeted_leakage(answering.mechanism(noise, epsilon=e), n1, n0))) for e in epsilons
        ]
        for noise in _NOISES
    }
    limits = {
        "Bound, sizes unknown": [(e, queries.accuracy_limit(e)) for e in epsilons],
        "Bound, sizes known": [(e, queries.accuracy_limit(e, with_sizes=True)) for e in epsilons],
    }
    epsilon = answering.epsilon
    accuracies = {name: dict(points)[epsilon] for name, points in curves.items()}
    worst = max(accuracies, key=lambda name: accuracies[name])
    drawn = panels.titled(
        f"One targeted query: {worst} allows {100 * accuracies[worst]:.1f}% balanced accuracy at ε = {epsilon:g}",
        f"The whole budget on one answer about a model that accepts only them; groups of {n1:,} and {n0:,}, no prior. "
        "Random guessing reaches 50%. The bounds are for noise that keeps its ε",
        draw_targeted(curves, limits, NOISES[answering.noise], epsilon),
        key="targeted_chart",
    )
    panels.numbers({"Targeted query": drawn.table}, key="targeted")


@st.fragment
def _noise() -> None:
    """Draw the table of scales and the list of guarantees."""
    m = max(trials.number_of_answers(people), 1)
    n1, n0 = people.n_advantaged, people.n_disadvantaged
    left, right = st.columns(2, gap="large")
    with left:
        shell.whisper(
            f"Noise for {m:,} answers at ε = {answering.epsilon:g}",
            f"Groups of {n1:,} and {n0:,}. The scale of Cauchy noise is also its median error. What is spent is what "
            "these people can lose at most (?: no bound); noise that spends less than ε is larger than ε asks for",
        )
        st.dataframe(panels.frame(_noise_rows(m)), hide_index=True)
        for noise in _NOISES:
            mechanism_text = answering.mechanism(noise)
            st.caption(f"**{NOISES[noise]}.** {shell.escape(mechanism_text.why)}")
    with right:
        shell.whisper("What is guaranteed", "Largest balanced accuracy of any attacker")
        st.markdown(_guarantees())


def _noise_rows(m: int) -> Iterator[Row]:
    noise_mechanism: Any
    for noise in _NOISES:
        noise_mechanism = answering.mechanism(noise)
        if noise == "noisy_sums":
            scales = noise_mechanism.scales(people.ask(m, noise_mechanism, [0]).scores[0])
            scale = f"{error_text(scales.sums)} a sum, {error_text(scales.count)} the count"
        else:
            scale = error_text(noise_mechanism.scale(people.n_advantaged, people.n_disadvantaged, m))
        spent = queries.largest_loss(noise_mechanism, people.n_advantaged, people.n_disadvantaged, m)
        loss = "?" if spent is None else f"{spent:.2g}"
        yield {"noise": NOISES[noise], "scale": scale, "ε spent": loss}


def _guarantees() -> str:
    epsilon = answering.epsilon
    if not answering.private:
        return "Nothing: the answers carry no noise, so no privacy budget limits what they reveal."
    if people.bound(answering.mechanism()) is None:
        return "Nothing at this ε: the theorem behind smooth Laplace noise is stated for ε below 1 only."
    delta = answering.delta if answering.noise == "smooth_laplace" else 0.0
    limits = partial(queries.accuracy_limit, epsilon, delta=delta), partial(people.limit, epsilon, delta=delta)
    accuracies = [limit(with_sizes=True) for limit in limits]
    rows = [
        ("Knows the answers alone", limits[0](with_sizes=False), "e^ε/(1+e^ε)"),
        ("Has the prior", limits[1](with_sizes=False), "posterior odds move by at most e^ε"),
        ("Knows the group sizes", accuracies[0], "e^2ε/(1+e^2ε): people are linked"),
        ("Has the prior, knows the sizes", accuracies[1], "posterior odds move by at most e^2ε"),
    ]
    lines = [f"| {who} | **{100 * rate:.1f}%** | {why} |" for who, rate, why in rows]
    fails = f"Smooth Laplace noise may fail with probability δ = {delta:g}, with which each bound is larger."
    also = f"\n\n{fails}" if delta else ""
    return "\n".join(["| An attacker who … | at most | because |", "|:--|--:|:--|", *lines]) + also


_SECTIONS = {
    "values": ("Recovered values", _values),
    "targeted": ("Targeted query", _targeted),
    "noise": ("How much noise, and why", _noise),
}

draw(busy)
if further := panels.further(_SECTIONS, key="further_queries"):
    further[1]()
