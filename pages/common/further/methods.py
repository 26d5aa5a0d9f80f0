"""Other ways to train: all methods beside each other, for one metric or for all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from core.attack import PROTOCOLS
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.fairness import METRICS
from core.models import GIVEN
from core.wording import epsilon_text
from pages.common import measured, panels, shell, state, wording
from pages.common.further import words

__all__ = ["draw"]


def draw(config: AuditConfig, dataset: AuditDataset, settings: dict[str, Any]) -> None:
    """Draw the comparison with its controls, progress and cancel."""
    if config.method == GIVEN:
        st.info(wording.needs_training("Other methods"))
        return
    job = measured.points_job("methods", _asked(config), dataset)
    busy = job is not None and job.busy
    st.fragment(_draw, run_every=1.0 if busy else None)(config, dataset, settings, busy)


def _asked(config: AuditConfig) -> list[AuditConfig]:
    from core.models import METHODS
    from core.sweep import grid

    metrics = METRICS if st.session_state.get("methods_metrics") == "all four metrics" else (config.metric,)
    seeds = range(config.seed, config.seed + int(st.session_state.get("methods_seeds") or 1))
    asked = replace(config, epsilon=state.epsilon())  # the private tree's; grid keeps it from the others
    return grid(asked, tolerances=[config.tolerance], methods=METHODS, metrics=metrics, seeds=list(seeds))


def _draw(config: AuditConfig, dataset: AuditDataset, settings: dict[str, Any], running: bool) -> None:
    from core.figures import draw_methods
    from core.sweep import table_three

    _controls()
    configs = _asked(config)
    job = measured.points_job("methods", configs, dataset)
    if running != (job is not None and job.busy):
        st.rerun()
    points = panels.job_state(
        job, "methods", len(configs), lambda: measured.points_job("methods", configs, dataset, start=True)
    )
    if not points:
        st.caption(
            "Exponentiated gradient (in-processing), threshold optimizer (post-processing), correlation remover "
            "(pre-processing), the model without mitigation and a tree trained with privacy noise "
            f"(ε = {epsilon_text(state.epsilon())}, chosen on the Model page), on the same people with the same seeds."
        )
        return
    attribute = shell.escape(wording.attribute(config))
    rows = measured.sweep_rows(points, settings["adversary"], PROTOCOLS[settings["as_published"]], settings["cost"])
    drawing = draw_methods([row for row in rows if row.metric == config.metric], shell.palette())
    left, right = st.columns([3, 2], gap="large", vertical_alignment="center")
    with left:
        shell.whisper("Before and after, by method", f"People whose {attribute} is recovered: before ○, after ●")
        panels.chart(drawing, key="methods_chart")
    with right:
        shell.whisper(
            "The models and what they give away",
            "Accuracy in %, on unseen people for the model. On the training people: unfairness (largest deviation of a "
            "group from the overall rate) and difference between groups (Fairlearn's)",
        )
        st.dataframe(words.methods_table(rows), hide_index=True, height="content")
    tables = {"Methods": drawing.table, "All methods and metrics": words.methods_table(rows)}
    if any(row.method == "threshold_optimizer" for row in rows):
        tables["Table III of Ferry et al. (threshold optimizer), here"] = table_three(
            measured.summary_of(points), protocol=PROTOCOLS[settings["as_published"]], cost=settings["cost"]
        )
    panels.numbers(tables, key="methods")


def _controls() -> None:
    left, right, _ = st.columns([2, 2, 3])
    with left:
        st.segmented_control(
            "Metrics",
            ["this metric", "all four metrics"],
            default="this metric",
            required=True,
            key="methods_metrics",
            persist_state="session",
        )
    with right:
        st.segmented_control("Seeds", [1, 3, 5], default=1, required=True, key="methods_seeds", persist_state="session")
