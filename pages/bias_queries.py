"""Bias queries: what answers to fairness queries reveal, and what noise does to the leak and to the answers."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

from dataclasses import replace
from html import escape

import numpy as np
import streamlit as st

from core.base.errors import InputError
from core.stats.estimates import count
from pages._bias_queries.bias_queries_analyses import (
    answer_numbers,
    answers_slider,
    controls,
    draw_noise,
    draw_targeted_query,
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
    BiasQueriesResult,
    BiasQueriesSettings,
    curve_finding,
)
from core.studies.bias_queries.charts import draw_leakage, draw_values
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
curves = [StudyCurve(STUDY, subject, changes, store)]
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
    curves.append(StudyCurve(STUDY, subject, noiseless, store))
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


look_every = None
if busy:
    look_every = 3.0


@st.fragment(run_every=look_every)
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
    compared = ""
    if result.largest:
        compared = f"Of {result.n_groups} groups the largest, {result.largest}, stands against everybody else."
    needed = curve_finding(list(results.values()), now, complete=len(results) == len(numbers))
    panels.notes(compared, needed.text)
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


def _targeted() -> None:
    """Draw the curves over epsilon."""
    draw_targeted_query(trials, settings)


@st.fragment
def _noise() -> None:
    """Draw the table of scales and the list of guarantees."""
    draw_noise(trials, settings, settings_now().questions)


_SECTIONS = {
    "values": ("Recovered values", _values),
    "targeted": ("Targeted query", _targeted),
    "noise": ("How much noise, and why", _noise),
}

draw(busy)
if further := panels.further(_SECTIONS, key="further_queries"):
    further[1]()
