"""Membership inference: who was in the training data, for which group it leaks more, and what changes that."""

from pages.shell import shell

shell.guard()

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.base.settings import params
from core.stats.estimates import percent
from pages._membership import membership_analyses as analyses
from pages.shell import cached, panels
from pages.shell.background import ensure_started
from pages.shell.controls import bound

shell.head()
config, table = cached.audited()
dataset = cached.dataset_of(table, config.roles)
store = cached.store_of(config.dataset)

from core.models import GIVEN_PREDICTIONS
from core.studies.membership import REGISTRY, MembershipResult, MembershipSettings
from core.studies.membership.findings import gap_rows, guarantee, range_rows
from core.studies.membership.study import STUDY
from core.studies.subject import SETS_UNKNOWN, AuditConfig

_PATIENCE = 1.2  # seconds a moved slider waits for its first attack before it shows progress
_PRIVATE = "What if it were trained privately?"


def guide(result: MembershipResult) -> str:
    """Explain the page."""
    source = "The audit's training records train the model, its test records do not"
    if config.method == GIVEN_PREDICTIONS:
        source = "Your table says which records the model was trained on; the test records are the others"
    tried = ", ".join(REGISTRY[name].title for name in result.guesses)
    return (
        f"**Question.** Who was in the training data? {source}. The attacker judges both.\n\n"
        f"**Attacks.** {tried}: see the *Glossary*. They are those of the report.\n\n"
        "**Group differences.** *VD* is a group's TPR minus that of the others. An attack that flags everybody of a "
        "group has a large VD and has learned nothing. The *advantage gap* is VD minus the same gap among "
        "non-members. Grey: no better than chance.\n\n"
        "**Slider.** Smaller ε: more training noise.\n\n"
        "**What it does not show.** Other attacks may find more.\n\n"
        "**Sources.** Zhang et al. (2020); Carlini et al. (2022); Yeom et al. (2018); Kulynych et al. (2022)."
    )


def draw_charts(result: MembershipResult, settings: MembershipSettings, key: str) -> None:
    """Draw the study's charts of a model beside each other."""
    strongest = REGISTRY[result.strongest]
    quantities = (
        f"By {strongest.phrase}, which has the largest AUC; with their sign, 95% CIs of this attack alone",
        "TPR against FPR, log–log; dotted is random guessing",
    )
    places = st.columns([3, 2], gap="large")
    drawings = STUDY.charts(result, settings).items()
    for column, quantity, (title, drawing) in zip(places, quantities, drawings, strict=True):
        heading = f"{title} ({strongest.title})"
        panels.titled(heading, quantity, drawing, key=f"{key}_{title}", container=column)


def tables_of(result: MembershipResult, settings: MembershipSettings) -> dict[str, Any]:
    """Return the numbers behind the charts of a model."""
    gaps = {
        "Gaps between groups": tuple(gap_rows(result)),
        "VD by predicted probability": tuple(range_rows(result)),
    }
    return panels.frames({**STUDY.tables(result, settings), **gaps})


def draw_audited() -> None:
    """Draw the audited model's result, which is that of the report."""
    ensure_started(run, patience=_PATIENCE)
    result: MembershipResult = run.first(run.show_progress)
    headline, *further = STUDY.findings(result, settings)
    with opening:
        panels.finding(replace(headline, caveats=()), "model")
    draw_charts(result, settings, "member")
    run.watch(run.show_progress, drawn=result)
    for finding in further:
        panels.statement(replace(finding, caveats=()))
    panels.notes(guarantee(result), *headline.caveats)
    panels.foot(guide(result), tables_of(result, settings), key="membership")
    sections = {
        "ranges": ("VD by probability", partial(analyses.draw_ranges, result)),
        "picking": ("FairPick", partial(analyses.draw_picking, run)),
        "others": ("Other groups", partial(analyses.draw_other_groups, run, table, result)),
    }
    if chosen := panels.further(sections, key="further_members"):
        chosen[1]()


@st.fragment
def draw_private() -> None:
    """Attack the private tree on the same records, at the slider's ε."""
    epsilon = bound(
        params(AuditConfig)["epsilon"],
        "member_epsilon",
        options=analyses.SLIDER_EPSILONS,
        value=analyses.FIRST_EPSILON,
        help="Smaller is more private: more noise on the counts the tree is grown from. ∞ is no noise.",
    )
    tree = replace(config, method="dp_id3", epsilon=float(epsilon))
    panels.notes(
        "From here on the model is a private tree (DP-ID3) of the same training records; above it is the audited one."
    )
    private = analyses.MembershipRun("member_private", tree, dataset, settings, store)
    ensure_started(private, patience=_PATIENCE)
    if private.latest is None:
        private.watch(private.show_progress, every=0.5)
        return
    result: MembershipResult = private.latest
    headline, *further = STUDY.findings(result, settings)
    panels.statement(replace(headline, caveats=()))
    draw_charts(result, settings, "member_private")
    private.watch(private.show_progress, drawn=result)
    for finding in further:
        panels.statement(replace(finding, caveats=()))
    model = result.subject.model
    panels.notes(
        guarantee(result),
        f"The private tree's accuracy on unseen people is {percent(model.accuracy_test)} (majority class "
        f"{percent(model.majority_test)}).",
    )
    panels.numbers(tables_of(result, settings), key="member-private")
    sections = {
        "over_epsilon": ("Over ε", partial(analyses.draw_over_epsilon, private)),
        "accuracy": ("Accuracy over ε", partial(analyses.draw_accuracy, private, result)),
        "accounting": ("Accounting", partial(analyses.draw_accounting, private)),
    }
    if chosen := panels.further(sections, key="further_private"):
        chosen[1]()


opening = st.container()
shadows = bound(
    params(MembershipSettings)["shadows"],
    "member_shadows",
    "select_slider",
    options=analyses.SHADOWS,
)
settings = MembershipSettings(shadows=shadows)
run = analyses.MembershipRun("member", config, dataset, settings, store)
if config.method == GIVEN_PREDICTIONS and dataset.sets is None:
    panels.problem(SETS_UNKNOWN)
else:
    draw_audited()
if table.uploaded:
    is_attacked = st.toggle(_PRIVATE, key="member_private_tree", persist_state="session")
else:
    is_attacked = True
    st.subheader(_PRIVATE)
if is_attacked:
    draw_private()
