"""Model card: what an attacker infers from published fairness numbers, and whose attribute is disclosed."""

from pages.shell import shell

shell.guard()

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core.base.errors import InputError
from core.stats.estimates import count
from pages._model_card import card_controls as cards
from pages.shell import cached, panels
from pages.shell.background import Background, ensure_started

shell.head()
config, table = cached.audited()
dataset = cached.dataset_of(table, config.roles)

from core.auditing.card_plan import release_text
from core.models import GIVEN_PREDICTIONS
from core.studies.model_card import DRAWS, Advice, ModelCardResult, findings
from core.studies.model_card.charts import (
    draw_fullness,
    draw_in_common,
    draw_pinned,
    draw_precisions,
    draw_recognised,
    draw_release_bits,
)
from core.studies.model_card.findings import tables
from core.studies.registry import STUDIES
from core.studies.study import Finding
from core.studies.two_models import WARNING

top = st.container()
try:
    row = st.columns([25, 20, 30, 25], gap="small", vertical_alignment="bottom")
    settings = cards.controls(row, config, table, dataset)
    card = cards.Card(config, table, dataset, settings)
except InputError as error:
    panels.problem(str(error))
    st.stop()
if not settings.statistics:
    panels.problem("Choose at least one statistic: this card says nothing.")
    st.stop()


def escaped_text(*sentences: str) -> str:
    """Return sentences as they are shown: names of a user's table are harmless."""
    return shell.escape(" ".join(filter(None, sentences)))


def heading(finding: Finding) -> str:
    """Return a finding as the heading of its chart."""
    return escaped_text(finding.point.rstrip("."))


def advice(now: ModelCardResult, work: Background, tried: Advice | None) -> None:
    """Draw what each precision exposes, or how far the search is."""
    quantity = f"People disclosed (models: {now.n_models}); with noise, the most in up to {DRAWS} draws"
    if tried is None:
        shell.whisper("Published precision", quantity)
        cards.watch(work, "Trying precisions", "Stopped. Go on with the advice")
        return
    drawn = draw_precisions(tried, (settings.decimals, settings.epsilon))
    panels.titled("Published precision", quantity, drawn, key="release_advice_chart")
    advised = findings.advice(tried, now)
    more = advised.caveats[1:] if now.most_pinned else (advised.point, *advised.caveats)  # the finding has the rest
    st.caption(escaped_text(*more))


def in_common(now: ModelCardResult) -> None:
    """Draw what disclosed people share, if there are any."""
    certain = findings.near_certain(now)
    if not now.pinned.count:
        st.caption(escaped_text(certain.point, certain.evidence, *certain.caveats))
        return
    quantity = "Shares among the disclosed (●) and the rest (○)"
    panels.titled("What disclosed people have in common", quantity, draw_in_common(now), key="release_common_chart")
    note = "The numbers treat people with the same label and predictions as one."
    st.caption(escaped_text(certain.point, certain.evidence, certain.so_what, note))


def guide(now: ModelCardResult) -> str:
    """Explain the page."""
    return (
        f"**Setting.** Each published number is a sum over everybody's {shell.escape(now.people.attribute)}: an "
        f"equation with {count(now.n)} unknowns. The attacker knows everybody's features, label and predictions. "
        "Imputation learned from other people gives them a probability for each person; the equations move it.\n\n"
        f"**Near-certain inference.** {escaped_text(findings.DISCLOSED)} Averages hide these people.\n\n"
        "**Information gain.** By how many bits the numbers shorten a description of everybody's attribute.\n\n"
        "**What it does not show.** Attackers may know more. Rounding guarantees nothing. Only DP noise bounds what "
        "others learn, and only if nobody can draw it again: here it comes from the seed, so do not publish these "
        "numbers.\n\n"
        "**Source.** Ours; information projection: Csiszár (1975)."
    )


def resolved(now: ModelCardResult, studies: Sequence[ModelCardResult]) -> None:
    """Draw the share of everybody's uncertainty that the numbers resolve."""
    finding, fullness = findings.uncertainty_resolved(now), draw_fullness(studies, now, counts=card.counts)
    panels.titled(heading(finding), escaped_text(finding.evidence), fullness, key="release_fullness_chart")


def average(now: ModelCardResult, studies: Sequence[ModelCardResult]) -> None:
    """Draw how many people are inferred correctly on average."""
    quantity = "People inferred correctly before (○) and after (●), 95% CI"
    title = heading(findings.average_accuracy(now))
    panels.titled(title, quantity, draw_recognised(now), key="release_named_chart")


FURTHER = {
    "resolved": ("Share of uncertainty resolved", resolved),
    "average": ("Average accuracy", average),
}


@st.fragment
def draw() -> None:
    """Draw everything that follows the number of models."""
    n_models = card.n_models
    people = card.people(n_models)
    studies = card.studies(people)
    now = card.drawn(next((study for study in studies if study.n_models == n_models), studies[-1]))
    headline, gain, work = findings.headline(now), findings.information_gain(now), card.advice(now)
    ensure_started(work, patience=0.0)
    tried: Advice | None = work.result
    if tried is not None and now.most_pinned and headline.to_do:
        headline = findings.with_advice(headline, tried, now)
    with opening:
        panels.finding(replace(headline, caveats=()))
    if now.status != "converged":
        panels.problem(now.reason, point="Not reliable.")
    group = f"“{shell.escape(people.group)}” ({shell.escape(people.attribute)})"
    left, right = st.columns([3, 2], gap="large")
    with left:
        advice(now, work, tried)
    with right:
        moved = draw_pinned(people, now)
        quantity = f"Everybody's probability of {group}; dotted: nothing learned; shaded: near-certain inference"
        panels.titled("Who is exposed", quantity, moved, key="release_people_chart")
        st.caption(escaped_text(*headline.caveats))
    left, right = st.columns([3, 2], gap="large")
    with left:
        bits = draw_release_bits(studies, now, counts=card.counts)
        quantity = "Bits in total: measured (95% CI) and expected"
        panels.titled("Information gain by number of models", quantity, bits, key="release_bits_chart")
        card.slider()
        if gain.evidence:
            st.caption(escaped_text(gain.so_what, gain.evidence))
        if now.n_models < n_models:
            cards.watch(card.training, f"Training {n_models} models", f"Stopped. Go on training {n_models} models")
    with right:
        in_common(now)
    drawn = {"People disclosed": moved.table, "By the number of models": bits.table}
    left, right = st.columns(2, gap="large")
    with left:
        panels.how_to_read(guide(now))
        if settings.family not in ("audited", GIVEN_PREDICTIONS):
            st.caption(WARNING)
            shell.link("two_models", STUDIES["two_models"].title)
    with right:
        if now.published.noise is not None:
            seed = findings.noise_seed(now)
            st.caption(escaped_text(seed.point, seed.so_what, seed.to_do))
        panels.numbers(drawn | panels.frames(tables(now, tried)), key="release")
        if (plan := card.plan(now.n_models)) is not None:
            panels.download(
                "Card (TOML)",
                lambda: release_text(plan).encode("utf-8"),
                "card.toml",
                key="download_card",
                mime="application/toml",
                icon=":material/checklist:",
                help="For fairleak card card.toml: the same card of the same models, about the same people.",
            )
    if further := panels.further(FURTHER, key="further_card"):
        further[1](now, studies)


card.studies(card.people(card.n_models))
opening = top.empty()  # no earlier, so that the finding before stays while this one is computed
draw()
