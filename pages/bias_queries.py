"""Bias queries: what answers to fairness queries reveal, and what noise does to the leak and to the answers."""

from pages.common import shell

shell.guard()

import streamlit as st

from core.errors import InputError
from core.estimates import count
from core.queries import answers_leak
from pages.common import bias_queries_trials as asked
from pages.common import cached, panels, wording
from pages.common.background import want

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
pool = asked.pool_of(config, dataset)

from core.charts.queries import draw_answer_errors, draw_leakage
from core.queries import NOISES, Exact, curve_finding, findings, noise_text
from core.queries.findings import tables
from pages.common import bias_queries_sections as sections

attribute = shell.escape(wording.attribute(config))
top = st.container()
answering, asking = asked.controls(pool, config.seed)
try:
    people = asked.query_trials(config, dataset, pool, asking)
except InputError as error:
    panels.problem(str(error))
    st.stop()
mechanism = answering.mechanism()
exact = Exact(absolute=answering.absolute)
curves = [people.background(one) for one in dict.fromkeys([mechanism, exact])]
busy = want(*curves)
wanted = asked.number_of_answers(people)
curves[0].hold(lambda: people.marked(wanted, mechanism) == wanted)
opening = top.empty()  # no earlier, so that the finding before stays while this one is computed


@st.fragment(run_every=3.0 if busy else None)
def draw(running: bool) -> None:
    """Draw everything that follows the number of answers."""
    if running and not any(curve.busy for curve in curves):
        st.rerun()
    chosen = asked.number_of_answers(people)
    m = people.marked(chosen, mechanism)
    found = answers_leak(people, m, answering, attribute=wording.attribute(config), noises=asked.ERROR_ROWS)
    with opening:
        (headline,) = findings(found, answering)
        panels.finding(headline, "desk")
    now, prior = found.best, found.prior or found.best.leakage
    left, right = st.columns([3, 2], gap="large")
    with left:
        bound = people.bound(mechanism)
        panels.titled(
            "Leakage by number of answers",
            f"Balanced accuracy of inferring {attribute}, mean of {asking.repeats} repetitions, 95% CI",
            draw_leakage(
                people.curves(mechanism),
                people.curves(exact) if answering.noise != "exact" else {},
                now,
                last=people.numbers[-1],
                prior=prior,
                limit=None if bound is None else ("Bound for this prior and group sizes", bound),
                attribute=wording.attribute(config),
            ),
            key="leakage_chart",
        )
        asked.answers_slider(people)
        asked.show(curves)
    with right:
        panels.titled(
            "Error per answer",
            f"Median and 95th percentile; m = {count(max(m, 1))}, ε = {answering.epsilon:g} for all answers",
            draw_answer_errors(
                [(NOISES[noise], found.errors[noise]) for noise in asked.ERROR_ROWS], NOISES[answering.noise]
            ),
            key="errors_chart",
        )
        sections.inferred(people, now, mechanism, attribute)
    curve = people.curves(mechanism)["strongest"]
    whole = len(curve) == len(people.numbers)
    st.caption(shell.escape(curve_finding(people, curve, answering, whole=whole).text))
    leaks = {
        how: [leak for of_one in people.curves(one).values() for leak in of_one]
        for how, one in {noise_text(answering): mechanism, "exact": exact}.items()
    }
    panels.foot(sections.guide(pool, attribute), panels.frames(tables(leaks, found.errors)), key="bias-queries")


draw(busy)
sections.draw(people, answering)
