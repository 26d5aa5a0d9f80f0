"""Bias queries: what answers to fairness questions give away, and what noise does to the leak and to the answers."""

from pages.common import shell

shell.guard()

import streamlit as st

from core.errors import InputError
from pages.common import asked, cached, panels, query_controls, query_words, state, wording

with shell.head("bias_queries", badge=wording.synthetic_badge(state.dataset_name())):
    published = query_controls.published()
config, table = cached.audited()
query_controls.two_groups(cached.dataset_of(table, config.roles or table.roles[0]))
pool = asked.pool_of(config, table)

from core.figures import draw_answer_errors, draw_leakage
from core.queries import Exact

colours = shell.palette()
attribute = shell.escape(wording.attribute(config))
opening = st.empty()
answering = query_controls.answering(published)
asking = query_controls.asking(pool, config.seed)
try:
    people = asked.asked(config, table, pool, asking)
except InputError as error:
    panels.problem(str(error))
    st.stop()
mechanism = query_controls.mechanism(answering)
exact = Exact(absolute=answering.absolute)
busy = asked.fill(people, list(dict.fromkeys([mechanism, exact])))


@st.fragment(run_every=1.0 if busy else None)
def told(running: bool) -> None:
    """Draw everything that follows the number of answers."""
    jobs = [people.job(exact), people.job(mechanism)]
    if running and not any(job is not None and job.busy for job in jobs):
        st.rerun()
    numbers = people.trials.numbers
    m = query_controls.number_of_questions(numbers, live=people.live)
    now = people.marker(m, mechanism)
    prior = people.leak(0, exact).leakage
    errors = query_words.errors(people, answering, m)
    limit = query_words.limit(people, answering)
    left, right = st.columns([3, 2], gap="large")
    with left:
        shell.whisper(f"How many answers until {attribute} is known?", query_words.leakage_axis(asking, attribute))
        chart = draw_leakage(
            people.curves(mechanism),
            people.curves(exact) if answering.noise != "exact" else {},
            now,
            colours,
            last=numbers[-1],
            prior=prior,
            limit=limit,
            attribute=attribute,
        )
        panels.chart(chart, key="leakage_chart")
        query_controls.questions_slider(numbers, m, live=people.live)
        if running:
            panels.growing(jobs, stop=asked.stop)
        elif asked.stopped():
            panels.stopped_curves(asked.go_on)
    with right:
        shell.whisper("Is the answer still worth having?", query_words.error_axis(m, answering))
        drawn = draw_answer_errors(errors, query_controls.NOISES[answering.noise], colours)
        panels.chart(drawn, key="errors_chart")
        st.caption(query_words.needed_answers(people, exact, mechanism, answering))
    with opening:
        shell.finding(*query_words.finding(people, now, prior, errors, answering, config))
    warning = query_words.useless(errors, answering)
    if warning:
        panels.problem(warning, point="This answer cannot be used.")
    query_words.found_out(people, pool, now, mechanism, attribute)
    left, right = st.columns(2, gap="large")
    with left:
        panels.how_to_read(query_words.guide(pool, asking, attribute))
    with right:
        panels.numbers(
            {"Recovered people by answers": chart.table, "Error of an answer": drawn.table}, key="bias-queries"
        )


told(busy)
section = query_controls.section()
if section == "values":
    from pages.common.asking import values

    values.draw(people, pool, mechanism)
elif section == "noise":
    from pages.common.asking import noise

    noise.draw(people, answering)
elif section == "targeted":
    from pages.common.asking import targeted

    targeted.draw(people, answering)
elif section == "published":
    from pages.common.asking import table_one

    table_one.draw()
