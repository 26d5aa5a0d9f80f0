"""Section "Tune the attack": a search for better hyper-parameters of the attacker's forest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from core.adversaries.adversary import PINNED
from core.auditing.subprocess_jobs import ReportProgress
from core.base.fingerprint import fingerprint
from core.stats.quantities import Row
from core.studies.correction import charts, findings
from pages._correction.correction_audit import CorrectionAudit, current
from pages.shell import cached, panels, shell, state
from pages.shell.background import Background, Job, pace


def search_of(audit: CorrectionAudit) -> Background:
    """Return the search for better parameters of the attacker's forest."""
    config = audit.config
    dataset = audit.dataset
    evaluations = int(st.session_state.get("evaluations") or 30)
    if audit.settings.adversary == "predictions":
        kind = "predictions"
    else:
        kind = "features"

    def tuned(report: ReportProgress) -> Any:
        from core.adversaries import tune_forest
        from core.datasets.splits import split
        from core.studies.subject import train_model

        splits = split(dataset, train_share=config.train_share, seed=config.seed)
        rows = splits.attacker_rows
        if kind == "predictions":
            drawn = train_model(config, dataset, splits).predictions[rows]
        else:
            drawn = None
        people = (dataset.features[rows], dataset.labels[rows], dataset.sensitive[rows], drawn)
        return tune_forest(kind, *people, evaluations=evaluations, seed=config.seed, report=report)

    def work(job: Job) -> Any:
        return job.in_subprocess(tuned, about=dataset)

    key = fingerprint(
        "tuning", dataset.fingerprint, replace(config, forest=None), kind, evaluations
    )
    store = cached.store_of(config.dataset)
    return Background("sweep", store, key, work, lane="sweep", total=evaluations, widget="tuning")


def draw(audit: CorrectionAudit, running: bool) -> None:
    """Draw the search, with its control."""
    config = audit.config
    table = audit.table
    left, _ = st.columns([2, 3], vertical_alignment="bottom")
    help_text = (
        "The published experiments used up to 100 of a tree-structured Parzen estimator, as here."
    )
    panels.pick(
        "Evaluations", [10, 30, 100], key="evaluations", default=30, help=help_text, container=left
    )
    work = current(search_of(audit), running)
    search = work.result
    if search is None and not work.busy:
        if audit.settings.adversary == "predictions":
            name = "A′"
        else:
            name = "A"
        st.caption(
            f"Tuned is the published attack, {name}, whichever is chosen. The attacker tries forests on their own "
            "records, four fifths to choose and one fifth to judge; nobody under attack is looked at."
        )
    work.show(
        lambda job: f"{job.done} of {job.total} forests tried, {pace(job)}",
        "Search",
        icon=":material/tune:",
    )
    if config.forest is not None and st.button(
        "Attack with the published hyper-parameters again", key="use_pinned"
    ):
        state.keep_forest(table, None)
        st.rerun()
    if search is None:
        return
    best = findings.tuning(search)
    shell.whisper(best.point, best.evidence)
    drawing = charts.draw_search(search)
    left, right = st.columns([3, 2], gap="large")
    with left:
        panels.chart(drawing, key="search_chart")
    with right:
        st.dataframe(panels.frame(_forest_rows(search)), hide_index=True, height="content")
        parameters = tuple(sorted(search.parameters.items()))
        if config.forest != parameters and st.button("Attack with this forest", key="use_tuned"):
            state.keep_forest(table, parameters)
            st.rerun()
    panels.numbers({"Forests tried": drawing.table}, key="search")


def _forest_rows(search: Any) -> list[Row]:
    """Return the parameters found beside the published ones."""
    names = {
        "n_estimators": "trees",
        "max_depth": "depth",
        "min_samples_split": "fewest to split",
        "min_samples_leaf": "fewest in a leaf",
        "max_features": "features a split sees",
        "criterion": "criterion",
    }
    return [
        {
            "Parameter": name,
            "Found": str(search.parameters.get(key) or "all"),
            "Published": str(PINNED[key] or "all"),
        }
        for key, name in names.items()
    ]
