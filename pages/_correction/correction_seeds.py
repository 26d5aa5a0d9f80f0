"""Section "Seeds and controls": the attribution of the leak over seeds, with and without mitigation."""

from __future__ import annotations

import streamlit as st

from core.experiments.experiment import GridPoint, rows_frame
from core.experiments.leak_over_seeds import (
    MEASURED,
    LeakOverSeeds,
    attribution_of,
    control_findings,
    leak_points,
    leak_tables,
    mitigation_rows,
    mitigation_truth,
)
from core.experiments.summary import summary_frame
from core.models import METHOD_TITLES
from core.studies.correction import KINDS, charts
from core.studies.correction.findings import constraint_effect
from pages._correction.correction_audit import IMPUTATION, CorrectionAudit, current
from pages.shell import panels, shell
from pages.shell.experiments import ModelsJob

_SEEDS = (3, 5, 10)


def models(audit: CorrectionAudit) -> ModelsJob:
    """Return the model and its twin without mitigation for every seed."""
    plan = audit.plan
    seeds = audit.seeds("leak_seeds", _SEEDS[0])

    def points() -> tuple[GridPoint, ...]:
        return leak_points(plan, seeds)

    return ModelsJob("seeds", plan, audit.dataset, MEASURED, points, seeds)


def draw(audit: CorrectionAudit, running: bool) -> None:
    """Draw the attribution over seeds, with its control."""
    panels.pick("Seeds", _SEEDS, key="leak_seeds", default=_SEEDS[0])
    work = current(models(audit), running)
    work.offer()
    leak = LeakOverSeeds(work.rows(), audit.config)
    summaries = leak.summaries
    method = audit.config.method
    if (method, "features") not in summaries:
        st.caption(
            "Splits, model and attackers are drawn again for every seed, with the chosen method and without "
            "mitigation. Intervals are then over seeds."
        )
        return
    attributions = [
        attribution_of(summaries[method, adversary], kind, audit.config)
        for kind, (adversary, _) in KINDS.items()
    ]
    n_seeds = attributions[0].n_seeds
    if n_seeds > 1:
        over = f"Means and 95% intervals over {n_seeds} seeds"
    else:
        over = "One seed: 95% intervals over people"
    imputation = summaries[method, "strong"].numbers["accuracy_features"]
    for container, attribution in zip(st.columns(2, gap="large"), attributions, strict=True):
        kind = attribution.attacker
        panels.titled(
            f"What each piece of knowledge adds, {kind} attacker",
            f"Accuracy at inferring {audit.attribute}; each row adds one thing. {over}",
            charts.draw_waterfall(
                attribution, imputation, label=IMPUTATION, attribute=audit.result.subject.attribute
            ),
            key=f"seeds_{kind[:5]}_chart",
            container=container,
        )
        panels.notes(constraint_effect(attribution).text, container=container)
    left, right = st.columns(2, gap="large")
    with left:
        _draw_mitigation(leak)
    with right:
        shell.whisper("The controls", "What does not come from what the model says about somebody")
        for finding in control_findings(leak):
            panels.statement(finding)
    number_tables = panels.frames(leak_tables(leak, attributions)) | {
        "Every number over seeds": summary_frame(tuple(summaries.values())),
        "Every number of every seed": rows_frame(leak.rows),
    }
    panels.numbers(number_tables, key="seeds")


def _draw_mitigation(leak: LeakOverSeeds) -> None:
    """Draw what mitigation changes, paired by seed."""
    method = leak.config.method
    if method == "unmitigated":
        mitigation = "mitigation"
    else:
        mitigation = METHOD_TITLES[method].lower()
    shell.whisper(
        f"With and without {mitigation}", "The same people and seeds; differences paired by seed"
    )
    rows = mitigation_rows(leak)
    if not rows:
        st.caption("The chosen model is the one without mitigation.")
        return
    st.dataframe(panels.worded(rows), hide_index=True, height="content")
    panels.notes(mitigation_truth(leak).text)
