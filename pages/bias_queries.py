"""Bias queries: what answers to fairness queries give away, and what noise does to the leak and to the answers."""

from pages.common import shell

shell.guard()

import streamlit as st

from core.errors import InputError
from core.estimates import count
from core.queries import Answering, AnswersLeak
from core.settings import params
from pages.common import bias_queries_trials as asked
from pages.common import cached, panels, wording
from pages.common.background import want
from pages.common.controls import control

with shell.head():
    published = control(
        params(Answering)["as_published"],
        "answers_as_published",
        help="Noise scales as printed. Where they differ from ours they promise more than they keep: groups are not "
        "sorted by size, a group of one breaks the formula, and the absolute gap moves by more than a half. The grey "
        "line says what differs.",
    )
config, table = cached.audited()
dataset = cached.dataset_of(table, config.roles)
if dataset.n_groups != 2:
    panels.problem(
        f"Bias queries compare two groups, and this attribute is split in {dataset.n_groups}. Choose an attribute in "
        "two groups in the sidebar, or split it in two on the Data page."
    )
    st.stop()
pool = asked.pool_of(config, dataset)

from core.charts.queries import draw_answer_errors, draw_leakage
from core.queries import NOISES, Exact, answers_leak, curve_finding, findings, noise_text
from core.queries.tables import tables
from pages.common import bias_queries_sections as sections

attribute = shell.escape(wording.attribute(config))
opening = st.empty()
answering = asked.answering(published)
asking = asked.asking(pool, config.seed)
try:
    people = asked.query_trials(config, dataset, pool, asking)
except InputError as error:
    panels.problem(str(error))
    st.stop()
mechanism = answering.mechanism()
exact = Exact(absolute=answering.absolute)
curves = [people.background(one) for one in dict.fromkeys([mechanism, exact])]
busy = want(*curves)


def say(found: AnswersLeak) -> None:
    """Write the finding, and whether anybody can use the answers."""
    headline, *unusable = findings(found, answering)
    grey = " ".join((headline.evidence, *headline.caveats))
    with opening:
        shell.finding(headline.point, f"{grey}\n\n**So what.** {headline.so_what}\n\n**What to do.** {headline.to_do}")
    for one in unusable:
        panels.problem(one.evidence, point=one.point)


@st.fragment(run_every=1.0 if busy else None)
def draw(running: bool) -> None:
    """Draw everything that follows the number of answers."""
    if running and not any(curve.busy for curve in curves):
        st.rerun()
    chosen = asked.number_of_answers(people)
    m = people.marked(chosen, mechanism)
    found = answers_leak(people, m, answering, attribute=attribute, noises=asked.ERROR_ROWS)
    now, prior = found.best, found.prior or found.best.leakage
    errors = [(NOISES[noise], found.errors[noise]) for noise in asked.ERROR_ROWS]
    left, right = st.columns([3, 2], gap="large")
    with left:
        bound = people.bound(mechanism)
        panels.titled(
            "Leakage by number of answers",
            f"Balanced accuracy of inferring the {attribute} of people among {count(asking.n)}, mean of "
            f"{asking.repeats} draws of people, queries and noise",
            draw_leakage(
                people.curves(mechanism),
                people.curves(exact) if answering.noise != "exact" else {},
                now,
                last=people.numbers[-1],
                prior=prior,
                limit=None if bound is None else ("Bound for this prior and group sizes", bound),
                attribute=attribute,
            ),
            key="leakage_chart",
        )
        asked.answers_slider(people, chosen)
        asked.show(curves)
    with right:
        budget = f", all together at ε = {answering.epsilon:g}" if answering.private else ""
        panels.titled(
            "Error of the answers (utility)",
            f"Absolute error of each of {count(max(m, 1))} answers{budget}: median and 95th percentile",
            draw_answer_errors(errors, NOISES[answering.noise]),
            key="errors_chart",
        )
        curve = people.curves(mechanism)["strongest"]
        whole = len(curve) == len(people.numbers)
        st.caption(shell.escape(curve_finding(people, curve, answering, whole=whole).text))
    say(found)
    sections.inferred(people, now, mechanism, attribute)
    leaks = {
        how: [leak for of_one in people.curves(one).values() for leak in of_one]
        for how, one in {noise_text(answering): mechanism, "exact": exact}.items()
    }
    panels.foot(sections.guide(pool, attribute), panels.frames(tables(leaks, found.errors)), key="bias-queries")


draw(busy)
sections.draw(people, answering)
