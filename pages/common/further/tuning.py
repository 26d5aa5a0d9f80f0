"""Tune the attacker: a bounded search for better forest parameters on the attacker's own records."""

from __future__ import annotations

import streamlit as st

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from pages.common import measured, panels, shell, state
from pages.common.further import words

__all__ = ["draw"]


def draw(config: AuditConfig, dataset: AuditDataset, adversary: str) -> None:
    """Draw the search with its controls, progress and cancel."""
    kind = adversary if adversary in ("features", "predictions") else "features"
    job = measured.tuning_job(config, dataset, kind, _evaluations())
    busy = job is not None and job.busy
    st.fragment(_draw, run_every=1.0 if busy else None)(config, dataset, kind, busy)


def _evaluations() -> int:
    return int(st.session_state.get("evaluations") or 30)


def _draw(config: AuditConfig, dataset: AuditDataset, kind: str, running: bool) -> None:
    from core.figures import draw_search

    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        st.segmented_control(
            "Evaluations",
            [10, 30, 100],
            default=30,
            required=True,
            key="evaluations",
            help="The published experiments used up to 100 of a tree-structured Parzen estimator, as here.",
            persist_state="session",
        )
    job = measured.tuning_job(config, dataset, kind, _evaluations())
    if running != (job is not None and job.busy):
        st.rerun()
    if job is not None and job.busy:
        panels.sweep_progress(job, f"{job.done} of {job.total} forests tried", key="cancel_tuning")
    elif job is None or job.state != "finished":
        if job is not None and job.state == "failed":
            panels.problem(job.error)
        st.caption(
            f"Tuned is the paper's forest, {'A′' if kind == 'predictions' else 'A'}, whichever attacker is chosen. "
            "The attacker tries forests on her own records, four fifths to choose and one fifth to judge; nobody under "
            "attack is looked at."
        )
        if st.button("Search", key="start_tuning", icon=":material/tune:"):
            measured.tuning_job(config, dataset, kind, _evaluations(), start=True)
            st.rerun()
    if config.forest is not None and st.button("Attack with the pinned forest again", key="use_pinned"):
        state.keep_forest(None)
        st.rerun()
    found = measured.tuned(config, dataset, kind, _evaluations())
    if found is None:
        return
    shell.whisper(*words.tuned(found))
    drawing = draw_search(found, shell.palette())
    left, right = st.columns([3, 2], gap="large")
    with left:
        panels.chart(drawing, key="search_chart")
    with right:
        st.dataframe(words.forest_table(found), hide_index=True, height="content")
        parameters = tuple(sorted(found.parameters.items()))
        if config.forest != parameters and st.button("Attack with this forest", key="use_tuned"):
            state.keep_forest(parameters)
            st.rerun()
    panels.numbers({"Forests tried": drawing.table}, key="search")
