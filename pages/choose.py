"""Choose a model: many models compared under one policy, the best within all limits, judged on fresh people."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.base.errors import InputError
from core.base.files import csv_of_frame
from core.base.serialize import fingerprint
from core.models import GIVEN_PREDICTIONS
from pages._report import report_policy
from pages.shell import cached, panels, state
from pages.shell.background import ensure_started

shell.head()
opening = st.container()
config, table = cached.audited()
if st.session_state.pop("choose_report", False):  # before anything that may stop the page
    st.switch_page(
        "pages/report.py", query_params={}
    )  # without a mapping it refuses to drop bound ones

from core.experiments.choose import Choice, ChoiceOutcome, choose
from core.experiments.choose.charts import draw_choice
from core.experiments.choose.findings import choice_reason, finding, numbers, rows
from core.studies.registry import STUDIES
from core.studies.study import Finding
from pages._choose.choose_candidates import (
    ChooseRun,
    choose_audited,
    draw_table,
    offer_command,
    requested_choice,
)

_WHY = {
    ChoiceOutcome.RECOMMENDED: "Why this one",
    ChoiceOutcome.NOT_CONFIRMED: "Why not confirmed",
    ChoiceOutcome.NONE: "Why none",
}

GUIDE = (
    "**Question.** Which of many models is the most accurate that meets the policy with its whole interval?\n\n"
    "**Two halves.** One half of the people chooses a model, the other judges it. So the verdict is that of one model, "
    "however many were compared; intervals are wider than in the Report.\n\n"
    "**Worst leak.** The largest gain of an attack over chance, relative to its limit. On grey steps no model is "
    "better in both.\n\n"
    "**Accuracy.** A model is recommended only if it is more accurate than one answer for everybody on both halves "
    "(95%), whatever accuracy is accepted.\n\n"
    "**Prefer.** Balanced: the smallest leak within one standard error of the best accuracy. Without models within "
    "all limits: the nearest to them, or the least leak.\n\n"
    "**Attacks.** LiRA, bias queries and AttriGuard run in the Report alone.\n\n"
    "**Seeds** are replicates, never models to choose from. Private trees that are compared on the same records add "
    "up their ε."
)


def progress_note(work: ChooseRun, choice: Choice) -> str:
    """Return what is missing while models are still to come; nothing of a whole result."""
    if work.result is not None:
        return ""
    note = f"Not finished: {work.progress}. "
    if len({len(candidate.points) for candidate in choice.candidates}) > 1:
        note += "Some models have fewer seeds, so their order can change. "
    return note


def draw_left(choice: Choice, result: Finding) -> None:
    """Draw accuracy against the worst leak, and what the comparison leaves open."""
    marks = "Each mark is a model, attacked on the half of the people that chooses"
    panels.titled("Accuracy against the worst leak", marks, draw_choice(choice), key="choose_chart")
    st.caption(
        "Green: the measured values are allowed; a model passes if its whole interval is. Cross: 95% CIs of the one "
        "named. Hollow: unfairness above its limit. Larger: looser. Grey steps: none is better in both."
    )
    panels.notes(*result.caveats[:1])
    if more := result.caveats[1:]:
        with st.expander("What this comparison leaves open", icon=":material/info:"):
            st.markdown("\n".join(f"- {shell.escape(caveat)}" for caveat in more))
    if choice.fair_and_biased:
        shell.link("two_models", STUDIES["two_models"].title)


def draw_right(choice: Choice, work: ChooseRun) -> None:
    """Draw why this model, the button that audits one, files, and the list of candidates."""
    st.markdown(f"**{_WHY[choice.outcome]}.** {shell.escape(choice_reason(choice))}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choose_audited(choice, work.candidate_sets, policy, table.fingerprint)
        panels.download(
            f"All {len(choice.candidates)} (CSV)",
            partial(csv_of_frame, panels.frame(rows(choice))),
            "models.csv",
            key="choose_all",
        )
        if config.method != GIVEN_PREDICTIONS:
            effect = "finds the same model"
            if not work.result:
                effect = f"trains all {work.total}, and may find another model than now"
            offer_command(work.candidate_sets[0], policy, settings, effect)
    draw_table(choice)


policy = report_policy.current_policy(config)
try:
    candidate_sets, settings = requested_choice(config, table, policy)
except InputError as error:
    panels.problem(str(error))
    st.stop()
work = ChooseRun(candidate_sets, settings.minutes, config.dataset)
work.recall()
ensure_started(work)
latest = work.first(work.show_progress)
points = work.result or work.partial
key = fingerprint("choice", work.key, len(points), policy, settings)
options: dict[str, Any] = {"attribute": state.attribute_of(config), "planned": work.total}
try:
    choice: Choice = work.store.remember(key, lambda: choose(points, policy, settings, **options))
except InputError as error:
    panels.problem(str(error))
    st.stop()
result = finding(choice, running=work.busy)
with opening:
    panels.finding(
        replace(result, evidence=progress_note(work, choice) + result.evidence, caveats=())
    )
work.watch(work.show_progress, drawn=latest)
left, right = st.columns([13, 11], gap="medium")
with left:
    draw_left(choice, result)
with right:
    draw_right(choice, work)
tables = {"Models": panels.frame(rows(choice)), "All numbers": panels.frame(numbers(choice))}
panels.foot(GUIDE, tables, key="choose")
