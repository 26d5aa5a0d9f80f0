"""Section "Compare methods": models of every fair learning method, and what their tolerance reveals."""

from __future__ import annotations

import streamlit as st

from core.experiments import attacked_charts
from core.experiments.attacked_models import (
    MEASURES,
    attacked_by,
    attacked_by_all,
    method_points,
    method_rows,
)
from core.experiments.experiment import GridPoint
from core.experiments.summary import summarise, summary_frame
from core.stats.estimates import epsilon_text
from core.stats.fairness import METRICS
from pages._correction.correction_audit import CorrectionAudit, current
from pages.shell import panels, shell, state
from pages.shell.experiments import ModelsJob

_THIS = "this metric"
_ALL = "all four metrics"


def models(audit: CorrectionAudit) -> ModelsJob:
    """Return models trained by every method."""
    plan = audit.plan
    seeds = audit.seeds("methods_seeds")
    epsilon = state.epsilon()
    metrics = _metrics(audit)

    def points() -> tuple[GridPoint, ...]:
        return attacked_by_all(_points(audit))

    return ModelsJob("methods", plan, audit.dataset, MEASURES, points, metrics, seeds, epsilon)


def _metrics(audit: CorrectionAudit) -> tuple[str, ...]:
    if st.session_state.get("methods_metrics") == _ALL:
        return METRICS
    return (audit.config.metric,)


def _points(audit: CorrectionAudit) -> tuple[GridPoint, ...]:
    seeds = audit.seeds("methods_seeds")
    return method_points(audit.plan, metrics=_metrics(audit), seeds=seeds, epsilon=state.epsilon())


def draw(audit: CorrectionAudit, running: bool) -> None:
    """Draw the comparison of methods, with its controls."""
    left, right, _ = st.columns([2, 2, 3])
    panels.pick("Metrics", [_THIS, _ALL], key="methods_metrics", default=_THIS, container=left)
    panels.pick("Seeds", [1, 3, 5], key="methods_seeds", default=1, container=right)
    work = current(models(audit), running)
    if not work.offer():
        st.caption(
            "Exponentiated gradient (in-processing), threshold optimizer (post-processing), correlation remover "
            "(pre-processing), no constraint, and a tree with DP training noise "
            f"(ε = {epsilon_text(state.epsilon())}; to change it choose the private tree on the Model page). All have "
            "the same people and seeds."
        )
        return
    summaries = summarise(work.rows(attacked_by(_points(audit), audit.settings)))
    every = panels.frame(method_rows(summaries))
    drawing = panels.titled(
        "Before and after, by method",
        f"Accuracy at inferring {audit.attribute}: before disclosure ○, after ●",
        attacked_charts.draw_methods(
            [
                summary
                for summary in summaries
                if summary.values["model.metric"] == audit.config.metric
            ]
        ),
        key="methods_chart",
    )
    shell.whisper(
        "The models and what they reveal",
        "Accuracy in %, on unseen people for the model. On the training people: unfairness (largest deviation of a "
        "group from the overall rate) and difference between groups (Fairlearn's)",
    )
    table = every
    if every["Metric"].nunique() == 1:
        table = every.drop(columns="Metric")
    st.dataframe(table, hide_index=True, height="content")
    number_tables = {
        "Methods": drawing.table,
        "All methods and metrics": every,
        "Numbers": summary_frame(summaries),
    }
    panels.numbers(number_tables, key="methods")
