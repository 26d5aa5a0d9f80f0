"""Section "Tolerance sweep": models trained for each tolerance, which is disclosed."""

from __future__ import annotations

import streamlit as st

from core.experiments import attacked_charts
from core.experiments.attacked_models import (
    MEASURES,
    PAPER_TOLERANCES,
    TOLERANCES,
    attacked_by,
    attacked_by_all,
    tolerance_points,
    trained_tolerances,
)
from core.experiments.experiment import GridPoint
from core.experiments.summary import SeedSummary, summarise
from pages._correction.correction_audit import CorrectionAudit, current
from pages.shell import panels, shell
from pages.shell.experiments import ModelsJob


def models(audit: CorrectionAudit) -> ModelsJob:
    """Return models trained for each tolerance; begun by itself with what the controls say at first."""
    plan = audit.plan
    seeds = audit.seeds("sweep_seeds")
    tolerances = _tolerances()

    def points() -> tuple[GridPoint, ...]:
        return attacked_by_all(tolerance_points(plan, tolerances, seeds))

    work = ModelsJob("sweep", plan, audit.dataset, MEASURES, points, tolerances, seeds)
    work.begin("sweeps", audit.dataset.fingerprint, audit.config)
    return work


def _tolerances() -> tuple[float, ...]:
    if st.session_state.get("sweep_tolerances") == 49:
        return PAPER_TOLERANCES
    return TOLERANCES


def draw(audit: CorrectionAudit, running: bool) -> None:
    """Draw the curves over trained tolerances, with their controls."""
    left, right, _ = st.columns([2, 2, 3])
    panels.pick(
        "Tolerances",
        [18, 49],
        key="sweep_tolerances",
        default=18,
        help="49 values from 0 to 0.2, denser near 0, as many as in the published experiments.",
        container=left,
    )
    several = "Several: lines are means, bands 95% intervals over seeds. One: bars are intervals over people."
    panels.pick("Seeds", [1, 3, 5], key="sweep_seeds", default=1, help=several, container=right)
    work = current(models(audit), running)
    is_begun = work.offer("Train", "trained", "Train the rest")
    mine = tolerance_points(audit.plan, _tolerances(), audit.seeds("sweep_seeds"))
    summaries = summarise(work.rows(attacked_by(mine, audit.settings)))
    finding = trained_tolerances(summaries, audit.config, as_published=audit.settings.as_published)
    without = audit.result.disclose(
        0.0, **audit.attacker
    )  # for the majority guess and what the attacker has before
    left, right = st.columns([3, 2], gap="large")
    recovered = attacked_charts.draw_trained(
        summaries,
        (without.majority, without.before, audit.result.strong),
        attribute=audit.result.subject.attribute,
        tolerances=_tolerances(),
    )
    panels.titled(
        finding.point,
        shell.escape(finding.evidence),
        recovered,
        key="trained_chart",
        container=left,
    )
    if summaries:
        with right:
            _draw_models(summaries)
    if is_begun and not running:
        panels.numbers({"Models by trained tolerance": recovered.table}, key="trained")


def _draw_models(summaries: tuple[SeedSummary, ...]) -> None:
    """Draw what the tolerance costs the models, and what they reach."""
    last = max(summaries, key=lambda summary: summary.values["model.tolerance"]).numbers
    reached = (
        "Unfairness (largest deviation of a group), by the tolerance trained for. At the loosest, the difference "
        f"between groups (Fairlearn's) is {last['difference_train'].value:.3f} on training and "
        f"{last['difference_test'].value:.3f} on unseen people"
    )
    accuracy = attacked_charts.draw_models_accuracy(summaries, _tolerances())
    panels.titled(
        "What it costs the model",
        "Accuracy, by the tolerance trained for",
        accuracy,
        key="trained_accuracy",
    )
    unfairness = attacked_charts.draw_models_unfairness(summaries, _tolerances())
    panels.titled("What was reached", reached, unfairness, key="trained_unfairness")
