"""Bias queries: what answers to fairness queries reveal, and what noise does to the leak and to the answers."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from html import escape

import numpy as np
import streamlit as st

from core.base.errors import InputError
from core.stats.estimates import count
from core.stats.quantities import Row
from pages._bias_queries.bias_queries_controls import (
    EPSILONS,
    answer_numbers,
    answers_slider,
    controls,
    nearest,
    number_of_answers,
    planned_answers,
    queried_subject,
)
from pages.shell import cached, panels, state
from pages.shell.background import Job, ensure_started, show_works
from pages.shell.study_jobs import StudyCurve

shell.head()
config, table = cached.audited()
subject = queried_subject(config, table)
store = cached.store_of(config.dataset)

from core.studies import bias_queries as queries
from core.studies.bias_queries import (
    NOISES,
    BiasQueriesResult,
    BiasQueriesSettings,
    curve_finding,
    error_text,
)
from core.studies.bias_queries.charts import draw_leakage, draw_targeted, draw_values
from core.studies.bias_queries.mechanisms import AdditiveNoise, Mechanism, NoisySums
from core.studies.bias_queries.study import STUDY, trials_of
from core.studies.bias_queries.trials import coarse_first

attribute = shell.escape(state.attribute_of(config))
top = st.container()
try:
    pool = queries.query_pool(subject)
    planned = planned_answers(config, table)
    settings = controls(pool, planned)
    numbers = answer_numbers(settings, planned)
    trials = trials_of(pool, replace(settings, questions=numbers[-1]), seed=config.seed)
except InputError as error:
    panels.problem(str(error))
    st.stop()
mechanism = settings.answer_mechanism
order = dict.fromkeys([number_of_answers(numbers, planned), *coarse_first(numbers)])
changes = [replace(settings, questions=m) for m in order]
curves = [StudyCurve(STUDY, subject, changes, store, name="curves")]
if settings.mechanism != "exact":
    # one curve without noise, whatever noise it is compared with
    exact = replace(
        planned,
        mechanism="exact",
        people=settings.people,
        repeats=settings.repeats,
        design=settings.design,
    )
    noiseless = [replace(exact, questions=m) for m in order]
    curves.append(StudyCurve(STUDY, subject, noiseless, store, name="curves"))
busy = ensure_started(*curves)


def show_progress() -> None:
    """Show how far the curves are, with a button that stops them, or that goes on with them."""

    def doing(jobs: list[Job]) -> str:
        done = sum(job.done for job in jobs)
        total = sum(job.total for job in jobs)
        return f"{done} of {total} points of the curves. Grey: not computed yet."

    show_works(curves, doing, "Stopped. Go on with the curves", again="Try again")


def settings_now() -> BiasQueriesSettings:
    """Return the settings with that number of answers which is computed and nearest to the slider's."""
    computed = [change.questions for change in curves[0].results]
    return replace(settings, questions=nearest(computed, number_of_answers(numbers, planned)))


requested = replace(settings, questions=number_of_answers(numbers, planned))
curves[0].hold(lambda: requested in curves[0].results)
curves[0].first(show_progress)
opening = top.empty()  # no earlier, so that the finding before stays while this one is computed


@st.fragment(run_every=3.0 if busy else None)
def draw(running: bool) -> None:
    """Draw everything that follows the number of answers."""
    if running and not any(curve.busy for curve in curves):
        st.rerun()
    now = settings_now()
    results = curves[0].results
    result: BiasQueriesResult = results[now]
    with opening:
        (headline,) = STUDY.findings(result, now)
        panels.finding(headline, "desk")
    charts = dict(STUDY.charts(result, now))
    hero, errors = charts
    noiseless_results = [result for curve in curves[1:] for result in curve.results.values()]
    charts[hero] = draw_leakage(
        [result, *results.values()], now, exact=noiseless_results, numbers=numbers
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        quantity = f"Balanced accuracy of inferring {attribute}, mean of {settings.repeats} repetitions, 95% CI"
        panels.titled(hero, quantity, charts[hero], key="leakage_chart")
        answers_slider(numbers, planned)
        show_progress()
    with right:
        quantity = f"Median and 95th percentile; m = {count(now.questions)}, ε = {now.epsilon:g} for all answers"
        panels.titled(errors, quantity, charts[errors], key="errors_chart")
        inferred(result)
    compared = (
        f"Of {result.n_groups} groups the largest, {result.largest}, stands against everybody else."
    )
    needed = curve_finding(list(results.values()), now, complete=len(results) == len(numbers))
    panels.notes(compared if result.largest else "", needed.text)
    tables = {title: drawing.table for title, drawing in charts.items()}
    panels.foot(guide(), panels.frames(STUDY.tables(result, now)) | tables, key="bias-queries")


_MOST_SQUARES = 400


def inferred(result: BiasQueriesResult) -> None:
    """Draw one square a person of one repetition: filled where the attribute was inferred correctly."""
    best = result.best
    someone, decoded = trials.decoding(best.m, mechanism, best.decoder, best.typical)
    per_square = -(-someone.n // _MOST_SQUARES)
    if per_square == 1:
        square = "one person"
    else:
        square = f"{per_square} people"
    scale = f"Each square is {square}, in the repetition nearest to the mean; filled: inferred correctly"
    shell.whisper(f"People whose {attribute} was inferred", scale)
    right = decoded.recovered == someone.sensitive
    strips = ""
    for group, name in ((0, pool.disadvantaged), (1, pool.advantaged)):
        inside = someone.sensitive == group
        strips += _strip(name, int(inside.sum()), int(np.count_nonzero(right & inside)), per_square)
    st.html(strips, width="stretch")


def _strip(name: str, size: int, correct: int, per_square: int) -> str:
    filled = round(correct / per_square)
    squares = -(-size // per_square)
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
    if asked_label is None:
        among = ""
    else:
        among = f" Only people with label {asked_label} enter the gap."
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
    offered = {
        name: title
        for name, title in queries.DECODER_TITLES.items()
        if exactly or name not in queries.PROGRAMS
    }
    if st.session_state.get("decoder") not in offered:
        st.session_state["decoder"] = "strongest"
    decoder = panels.pick("Decoder", offered, key="decoder", default=None) or "strongest"
    (leak,) = (
        leak for leak in curves[0].results[settings_now()].leaks if leak.decoder == "strongest"
    )
    someone, decoded = trials.decoding(leak.m, mechanism, decoder, leak.typical)
    accuracy = queries.leakage(someone.sensitive, decoded.recovered)
    names = pool.advantaged, pool.disadvantaged
    drawn = panels.titled(
        f"{100 * accuracy:.0f}% balanced accuracy for these {count(someone.n)} people (m = {count(leak.m)})",
        "Recovered value of each person: 0 speaks for the larger group, 1 for the smaller. Filled: correct; "
        "hollow: wrong. Random guessing reaches 50%",
        draw_values(someone, decoded, names=names, advantaged=pool.advantaged_code),
        key="values_chart",
    )
    panels.numbers({"Recovered values": drawn.table}, key="recovered-values")


_NOISES = ("noisy_sums", "laplace", "smooth_laplace", "cauchy")


def _targeted() -> None:
    """Draw the curves over epsilon."""
    sizes = trials.n_advantaged, trials.n_disadvantaged
    epsilons = sorted(
        {*np.geomspace(EPSILONS[0], EPSILONS[-1], 60).tolist(), *EPSILONS, settings.epsilon}
    )
    curves = {}
    for noise in _NOISES:
        answers = [replace(settings, mechanism=noise, epsilon=e) for e in epsilons]
        rates = [
            float(queries.targeted_leakage(answer.answer_mechanism, *sizes)) for answer in answers
        ]
        curves[NOISES[noise]] = list(zip(epsilons, rates, strict=True))
    limits = {
        "Bound, sizes unknown": [(e, queries.accuracy_limit(e)) for e in epsilons],
        "Bound, sizes known": [(e, queries.accuracy_limit(e, with_sizes=True)) for e in epsilons],
    }
    epsilon = settings.epsilon
    accuracies = {name: dict(points)[epsilon] for name, points in curves.items()}
    worst = max(accuracies, key=lambda name: accuracies[name])
    drawn = panels.titled(
        f"One targeted query: {worst} allows {100 * accuracies[worst]:.1f}% balanced accuracy at ε = {epsilon:g}",
        "The whole budget on one answer about a model that accepts only them, no prior. Random guessing reaches 50%. "
        "The bounds are for noise that keeps its ε",
        draw_targeted(curves, limits, NOISES[settings.mechanism], epsilon),
        key="targeted_chart",
    )
    panels.numbers({"Targeted query": drawn.table}, key="targeted")


@st.fragment
def _noise() -> None:
    """Draw the table of scales and the list of guarantees."""
    m = settings_now().questions
    n1 = trials.n_advantaged
    n0 = trials.n_disadvantaged
    left, right = st.columns(2, gap="large")
    with left:
        shell.whisper(
            f"Noise for {m:,} answers at ε = {settings.epsilon:g}",
            f"Groups of {n1:,} and {n0:,}. The scale of Cauchy noise is also its median error. What is spent is what "
            "these people can lose at most (?: no bound); noise that spends less than ε is larger than ε asks for",
        )
        st.dataframe(panels.frame(_noise_rows(m)), hide_index=True)
        for noise in _NOISES:
            st.caption(f"**{NOISES[noise]}.** {shell.escape(mechanism_with(noise).why)}")
    with right:
        shell.whisper("What is guaranteed", "Largest balanced accuracy of any attacker")
        st.markdown(_guarantees())


def mechanism_with(noise: str) -> Mechanism:
    """Return another kind of noise with the same settings."""
    return replace(settings, mechanism=noise).answer_mechanism


def _noise_rows(m: int) -> Iterator[Row]:
    sizes = trials.n_advantaged, trials.n_disadvantaged
    for noise in _NOISES:
        answer_mechanism = mechanism_with(noise)
        if isinstance(answer_mechanism, NoisySums):
            scales = answer_mechanism.scales(trials.ask(m, answer_mechanism, [0]).scores[0])
            scale = f"{error_text(scales.sums)} a sum, {error_text(scales.count)} the count"
        elif isinstance(answer_mechanism, AdditiveNoise):
            scale = error_text(answer_mechanism.scale(*sizes, m))
        spent = queries.largest_loss(answer_mechanism, *sizes, m)
        loss = "?" if spent is None else f"{spent:.2g}"
        yield {"noise": NOISES[noise], "scale": scale, "ε spent": loss}


def _guarantees() -> str:
    epsilon = settings.epsilon
    if not mechanism.noisy:
        return "Nothing: the answers carry no noise, so no privacy budget limits what they reveal."
    if trials.bound(mechanism) is None:
        return "Nothing at this ε: the theorem behind smooth Laplace noise is stated for ε below 1 only."
    if settings.mechanism == "smooth_laplace":
        delta = settings.delta
    else:
        delta = 0.0
    limits = (
        partial(queries.accuracy_limit, epsilon, delta=delta),
        partial(trials.limit, epsilon, delta=delta),
    )
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
