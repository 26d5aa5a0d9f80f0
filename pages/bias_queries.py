"""Bias queries: what answers to fairness questions give away, and what noise does to the leak and to the answers."""

from pages.common import shell

shell.guard()

import streamlit as st

from core.errors import InputError
from core.estimates import count
from core.queries import Answering
from core.settings import params
from pages.common import bias_queries_controls as controls
from pages.common import bias_queries_trials, cached, panels, state, wording
from pages.common import bias_queries_words as words
from pages.common.background import want
from pages.common.controls import control

with shell.head("bias_queries", badge=wording.synthetic_badge(state.dataset_name())):
    published = control(
        params(Answering)["as_published"],
        "answers_as_published",
        help="Noise scales as printed. Where they differ from ours, the printed ones promise more than they keep: the "
        "groups are not sorted by size, a group of one person breaks the formula, and the absolute gap moves by more "
        "than a half. The grey line says what differs.",
    )
config, table = cached.audited()
dataset = cached.dataset_of(table, config.roles or table.roles[0])
if dataset.n_groups != 2:
    panels.problem(
        f"Bias queries compare two groups, and this attribute is split in {dataset.n_groups}. Choose an attribute in "
        "two groups in the sidebar, or split it in two on the Data page."
    )
    st.stop()
pool = bias_queries_trials.pool_of(config, dataset)

from core.charts import draw_answer_errors, draw_leakage
from core.queries import NOISES, Exact
from pages.common import bias_queries_sections as sections

colours = shell.palette()
attribute = shell.escape(wording.attribute(config))
opening = st.empty()
answering = controls.answering(published)
asking = controls.asking(pool, config.seed)
try:
    people = bias_queries_trials.query_trials(config, dataset, pool, asking)
except InputError as error:
    panels.problem(str(error))
    st.stop()
mechanism = answering.mechanism()
exact = Exact(absolute=answering.absolute)
curves = [people.background(one) for one in dict.fromkeys([mechanism, exact])]
busy = want(*curves)


@st.fragment(run_every=1.0 if busy else None)
def told(running: bool) -> None:
    """Draw everything that follows the number of answers."""
    if running and not any(curve.busy for curve in curves):
        st.rerun()
    m = controls.number_of_questions(people)
    now = people.marker(m, mechanism)
    prior = people.leak(0, exact, "strongest").leakage
    errors = words.errors(people, answering, m)
    left, right = st.columns([3, 2], gap="large")
    with left:
        limit = None  # where nothing is guaranteed
        if answering.private and words.holds(people, answering):
            limit = "Limit with prior and group sizes", people.limit(answering.epsilon, sizes_known=True)
        chart = panels.titled(
            f"How many answers until {attribute} is known?",
            f"Balanced accuracy of inferring the {attribute} of people among {count(asking.n)}, mean of "
            f"{asking.repeats} draws of people, questions and noise",
            draw_leakage(
                people.curves(mechanism),
                people.curves(exact) if answering.noise != "exact" else {},
                now,
                colours,
                last=people.trials.numbers[-1],
                prior=prior,
                limit=limit,
                attribute=attribute,
            ),
            key="leakage_chart",
        )
        controls.questions_slider(people, m)
        bias_queries_trials.show(curves)
    with right:
        budget = f", all together at ε = {answering.epsilon:g}" if answering.private else ""
        drawn = panels.titled(
            "Is the answer still worth having?",
            f"Error of each of {count(max(m, 1))} answers{budget}: median and 95th percentile",
            draw_answer_errors(list(errors.items()), NOISES[answering.noise], colours),
            key="errors_chart",
        )
        st.caption(words.needed_answers(people, mechanism, answering))
    with opening:
        shell.finding(*words.finding(people, now, prior, errors, answering, config))
    if warning := words.useless(errors, answering):
        panels.problem(warning, point="This answer cannot be used.")
    words.found_out(people, now, mechanism, attribute)
    left, right = st.columns(2, gap="large")
    with left:
        panels.how_to_read(words.guide(pool, attribute))
    with right:
        panels.numbers(
            {"Recovered people by answers": chart.table, "Error of an answer": drawn.table}, key="bias-queries"
        )


told(busy)
sections.draw(people, answering)
