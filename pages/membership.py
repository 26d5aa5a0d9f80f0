"""Membership inference: who was in the training data, for which group it leaks more, and what changes that."""

from pages.common import shell

shell.guard()

import math

import streamlit as st

from pages.common import membership_study as study
from pages.common import panels
from pages.common.background import want

with shell.head():
    published = study.published()
who = study.people()

from core.charts.membership import draw_gaps_between, draw_roc
from core.membership import ATTACKS, REGISTRY, Audit
from core.membership.findings import Reading, findings, strongest_attack
from core.membership.tables import tables
from core.models import GIVEN
from pages.common import membership_sections as sections

_PATIENCE = 1.2  # seconds a moved slider waits for its first attack before it shows progress


def guide(read: Reading) -> str:
    """Explain the page."""
    found, chosen, (group, others) = read.found, read.chosen, map(shell.escape, read.names)
    if chosen.target == "audited":
        source = "The audit's training people train the model, its test people do not"
    elif chosen.target == GIVEN:
        source = "Your table says whom the model was trained on; the test people are the others"
    else:
        source = "Half of the table's people train the model, the other half do not"
    run = ", ".join(REGISTRY[name].title for name in ATTACKS if name not in found.not_run)
    missing = "".join(f" {REGISTRY[name].title}: {reason}" for name, reason in found.not_run.items() if name in ATTACKS)
    return (
        f"**Question.** Who was in the training data? {source}. The attacker knows some of both and judges others.\n\n"
        f"**Attacks.** {run}: see the *Glossary*.{missing}\n\n"
        f"**Group differences.** *VD* is the TPR of {group} minus that of {others}. An attack that flags everybody of "
        "a group has a large VD and has learned nothing. The *advantage gap* is VD minus the same gap among "
        "non-members. Grey: no better than chance.\n\n"
        "**Slider.** Smaller ε: more training noise.\n\n"
        "**What it does not show.** Other attacks may find more. Intervals treat model and seed as given.\n\n"
        "**Sources.** Zhang et al. (2020); Carlini et al. (2022); Yeom et al. (2018); Kulynych et al. (2022)."
    )


@st.fragment
def told() -> None:
    """Draw everything that follows the controls."""
    opening = st.container()
    chosen = study.chosen(who, published)
    work = study.Membership(who, chosen)
    want(work, patience=_PATIENCE)
    grown: Audit = work.first(work.show_progress)
    found, read = grown.found, Reading(grown.found, chosen)
    names = [shell.escape(name) for name in read.names]
    (finding, promise), minus = findings(read, sliders=True), f"{names[0]} − {names[1]}"
    with opening:
        panels.finding(finding, *["model"] * (chosen.target == "audited"))
        if chosen.target == "dp_id3" and who.config.method != "dp_id3":
            st.caption("Attacked here: a private tree, not the audited model; choose that at *Model under attack*.")
    left, right = st.columns([3, 2], gap="large")
    with left:
        panels.titled(
            "Group differences in membership inference",
            f"{minus}, by {read.phrase}; 95% CIs; row 1 − row 2 = row 3",
            draw_gaps_between(found, group=read.place),
            key="member_gaps_chart",
        )
    with right:
        scored = strongest_attack(found).name
        panels.titled(
            f"ROC curve ({REGISTRY[scored].title}, log–log)",
            "TPR against FPR; dotted is random guessing",
            draw_roc(found, attack=scored, group=chosen.group),
            key="member_roc_chart",
        )
    work.watch(work.show_progress, drawn=grown)
    if chosen.theta < 1.0 and math.isfinite(chosen.epsilon):
        panels.problem(promise.point, point="No DP guarantee any more.")
    else:
        st.caption(shell.escape(promise.point))
    for note in who.people.notes:
        st.caption(shell.escape(note))
    panels.foot(guide(read), panels.frames(tables([found])), key="membership")
    sections.draw(work, grown, read)


told()
