"""Release: what the fairness numbers of a model card give away, and whom they pin down."""

from pages.common import shell

shell.guard()

import streamlit as st

from core.errors import InputError
from pages.common import cached, panels, state, wording
from pages.common import release_card as cards
from pages.common import release_words as words

shell.head("release", badge=wording.synthetic_badge(state.dataset_name()))
config, table = cached.audited()
dataset = cached.dataset_of(table, config.roles or table.roles[0])

from core.charts import draw_fullness, draw_pinned, draw_release_bits
from core.model_card import unpredicted

colours = shell.palette()
opening = st.empty()
try:
    row = st.columns([25, 23, 24, 18], gap="small", vertical_alignment="bottom")
    models = cards.models(row, config, table, dataset)
    precision = cards.precision(row[2:], config.seed)
    audited = cards.ReleaseWork(config, table, dataset, models)
except InputError as error:
    panels.problem(str(error))
    st.stop()
if not precision.statistics:
    panels.problem("Choose at least one statistic: this card says nothing.")
    st.stop()


@st.fragment
def told() -> None:
    """Draw everything that follows the number of models."""
    wanted = cards.number_of_models(models)
    people = audited.people(wanted)
    card = cards.Card(audited, people, precision)
    now = card.drawn(wanted)
    with opening:
        shell.finding(*words.finding(now, people))
    if now.status != "converged":
        panels.problem(now.reason, point="Not to be relied on.")
    group = f"“{shell.escape(now.group)}” ({shell.escape(now.attribute)})"
    left, right = st.columns([3, 2], gap="large")
    with left:
        moved = panels.titled(
            "Who is pinned down",
            f"Everybody's probability of {group}; on the dotted line nothing was learned; shaded: unsure before, "
            "settled after",
            draw_pinned(people, now, colours),
            key="release_people_chart",
        )
        st.caption(words.distance())
        if sentence := words.left_out(people):
            st.caption(sentence)
    with right:
        bits = panels.titled(
            "More models, more bits",
            "Gain of the attacker in bits: measured (95% interval) and predicted",
            draw_release_bits(card.studies, now, colours, counts=models.counts),
            key="release_bits_chart",
        )
        cards.number_slider(models, wanted)
        if sentence := unpredicted(now):
            st.caption(sentence)
        if now.n_models < wanted:
            cards.watch(audited.whole, f"Training {wanted} models", f"Stopped. Go on training {wanted} models")
    tables = {"People pinned down": moved.table, "By the number of models": bits.table}
    left, right = st.columns([3, 2], gap="large")
    with left:
        tables |= cards.advice_part(card, now)
    with right:
        fullness = draw_fullness(card.studies, now, colours, counts=models.counts)
        panels.titled(*words.fullness_chart(now), fullness, key="release_fullness_chart")
    left, right = st.columns([3, 2], gap="large")
    with left:
        tables |= cards.in_common_part(now)
    with right:
        tables |= cards.recognised_part(now)
    left, right = st.columns(2, gap="large")
    with left:
        panels.how_to_read(words.guide(now))
    with right:
        tables |= {words.numbers(now): now.published.to_frame(), "Every figure": now.to_frame()}
        panels.numbers(tables, key="release")
        cards.download(cards.card_plan(config, table, dataset, models, precision, now.n_models))


told()
