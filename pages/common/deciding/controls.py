"""What the page asks beyond the sidebar: planned answers, shadow models, AttriGuard, the report's title."""

from __future__ import annotations

import streamlit as st

from core.config import AuditConfig
from core.datasets.dataset import Table
from core.decision import GuardPlan, MembershipPlan, OutputsPlan, PlannedAnswers
from core.fingerprint import fingerprint
from core.models import GIVEN
from pages.common import shell
from pages.common.deciding import words
from pages.common.deciding.subject import Asked, asked, keep_asked

__all__ = ["SECTIONS", "attacks", "section"]

SECTIONS = {
    "judged": "Policy and limits",
    "attacked": "What is attacked",
    "edition": "Edition for others",
    "self_test": "Self-test",
    "numbers": "Numbers",
    "guide": "How the verdict is reached",
}

_MECHANISMS = {
    "exact": "Exact answers",
    "rounded": "Rounded answers",
    "laplace": "Laplace noise",
    "cauchy": "Cauchy noise, smooth",
    "noisy_sums": "Noisy sums",
}

_MOST_DECIMALS = 6
_SHADOWS = (0, 4, 8, 16, 32, 64, 128)


def section() -> str | None:
    """Choose what is shown below the verdict; nothing, until somebody chooses."""
    return st.segmented_control(
        "Look further",
        list(SECTIONS),
        key="further_release",
        format_func=SECTIONS.__getitem__,
        persist_state="session",
        label_visibility="collapsed",
    )


def attacks(config: AuditConfig, table: Table) -> None:
    """Draw the form of what is attacked; its button starts the attacks anew."""
    now = asked(config, table)
    answers, mark = now.answers, fingerprint("asked", now)[:8]
    shell.whisper(
        "What is attacked", "The model and its promise are in the sidebar; what else is planned with it, here"
    )
    with st.form(f"attacks_{mark}"):
        left, right = st.columns(2, vertical_alignment="bottom")
        title = left.text_input(
            "Title of the report", value=now.title, key=f"asked_title_{mark}", max_chars=200, placeholder="the table's"
        )
        offered = _outputs(config, now.outputs)
        outputs = right.selectbox(
            "What is released about each person",
            offered,
            index=offered.index(now.outputs),
            key=f"asked_outputs_{mark}",
            format_func=words.released,
            help="Attacks use all of it: scores with the decimals they are released with, and the labels.",
        )
        first, second, third, fourth = st.columns(4, vertical_alignment="bottom")
        questions = first.number_input(
            "Answers to bias questions",
            0,
            1000,
            answers.questions,
            key=f"asked_questions_{mark}",
            help="How many are planned in all; 0 promises to answer none. More than 100 take long.",
        )
        people = second.number_input("People they are about", 4, 5000, answers.people, key=f"asked_people_{mark}")
        mechanism = third.selectbox(
            "How they are answered",
            list(_MECHANISMS),
            index=list(_MECHANISMS).index(answers.mechanism),
            key=f"asked_mechanism_{mark}",
            format_func=_MECHANISMS.__getitem__,
        )
        epsilon = fourth.number_input(
            "ε of all together",
            0.01,
            1000.0,
            max(0.01, answers.epsilon),
            step=0.1,
            key=f"asked_epsilon_{mark}",
            help="Not used by exact and rounded answers. Rounded answers have three decimals.",
        )
        left, right = st.columns(2, vertical_alignment="bottom")
        shadows = left.select_slider(
            "Shadow models of LiRA",
            sorted({*_SHADOWS, now.membership.shadows}),
            value=now.membership.shadows,
            key=f"asked_shadows_{mark}",
            disabled=config.method == GIVEN,
            help="Models trained like the audited one, with and without each person; 0 leaves LiRA out. Given "
            "predictions cannot be trained again.",
        )
        budget = right.number_input(
            "AttriGuard: columns changed per person",
            0.0,
            1000.0,
            now.guard.budget,
            step=0.5,
            key=f"asked_budget_{mark}",
            help="On average; 0 if records are published as they are. The default policy sets no limit to it.",
        )
        if not st.form_submit_button("Attack by this plan", key=f"asked_keep_{mark}", type="primary"):
            return
    planned = PlannedAnswers(
        questions=int(questions),
        people=int(people),
        mechanism=str(mechanism),
        epsilon=float(epsilon),
        decimals=answers.decimals,
        repeats=answers.repeats,
    )
    keep_asked(
        config,
        table,
        Asked(
            title=(title or "").strip(),
            outputs=outputs,
            answers=planned,
            membership=MembershipPlan(shadows=int(shadows)),
            guard=GuardPlan(budget=float(budget)),
        ),
    )
    st.rerun()


def _outputs(config: AuditConfig, now: OutputsPlan) -> list[OutputsPlan]:
    """Return what can be released: of given labels without scores only these."""
    labels = OutputsPlan(released="labels")
    if config.method == GIVEN and not (config.roles and config.roles.score):
        return [labels]
    rounded = [OutputsPlan(decimals=places) for places in range(1, _MOST_DECIMALS + 1)]
    offered = [OutputsPlan(), *rounded, labels]
    return offered if now in offered else [now, *offered]
