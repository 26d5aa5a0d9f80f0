"""Section "Tolerance and ε": private fair trees by tolerance and privacy budget."""

from __future__ import annotations

import streamlit as st

from core.experiments.experiment import GridPoint
from core.experiments.tolerance_map import MEASURES, draw_map, map_finding, map_points
from pages._correction.correction_audit import CorrectionAudit, current
from pages.shell import panels
from pages.shell.experiments import ModelsJob


def models(audit: CorrectionAudit) -> ModelsJob:
    """Return private fair trees over tolerance and privacy budget."""
    plan = audit.plan
    seeds = audit.seeds("map_seeds")

    def points() -> tuple[GridPoint, ...]:
        return map_points(plan, seeds)

    return ModelsJob("map", plan, audit.dataset, MEASURES, points, seeds)


def draw(audit: CorrectionAudit, running: bool) -> None:
    """Draw the map of tolerance and privacy budget, with its control."""
    panels.pick("Seeds", [1, 3, 5], key="map_seeds", default=1)
    work = current(models(audit), running)
    if not work.offer():
        st.caption(
            "Private fair trees: DP-ID3 with noisy counts, changed at random within each group until the rates meet "
            "the tolerance. Each is audited: what its disclosed tolerance adds, and whether training records show."
        )
        return
    rows = work.rows()
    finding = map_finding(rows)
    drawing = panels.titled(
        finding.point.rstrip("."),
        f"Gain by correction in inferring {audit.attribute}, in points, against the best attacker before disclosure; "
        "bold: the 95% CI excludes 0",
        draw_map(rows),
        key="map_chart",
    )
    panels.notes(" ".join((finding.evidence, *finding.caveats)))
    panels.numbers({"Tolerance and ε": drawing.table}, key="map")
