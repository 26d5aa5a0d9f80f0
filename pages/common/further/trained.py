"""Models trained tighter and looser: the published figures, one model a tolerance and seed, growing as they finish."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.attack import PROTOCOLS
from core.audit import AuditFindings
from core.config import AuditConfig
from core.correction import Disclosure
from core.datasets.dataset import AuditDataset
from core.models import GIVEN
from pages.common import attack_words, measured, panels, shell, wording
from pages.common.further import words

__all__ = ["draw"]

_SEEDS = (1, 3, 5)


def draw(
    config: AuditConfig,
    dataset: AuditDataset,
    findings: AuditFindings,
    reference: Disclosure,
    settings: dict[str, Any],
) -> None:
    """Draw the curves over trained tolerances with progress and cancel.

    Parameters
    ----------
    reference : Disclosure
        One of the audited model, for the majority guess and what the attacker has before.
    settings : dict
        Attacker, price and protocol, as the page's controls say.
    """
    if config.method == GIVEN:
        st.info(wording.needs_training("Tighter and looser models"))
        return
    job = measured.sweep_job(config, dataset, _asked(config), start="first")
    busy = job is not None and job.busy
    part = st.fragment(_draw, run_every=1.0 if busy else None)
    part(config, dataset, findings, reference, settings, busy)


def _asked(config: AuditConfig) -> list[AuditConfig]:
    """Return the configurations the section's own controls ask for."""
    from dataclasses import replace

    from core.sweep import PAPER_TOLERANCES, TOLERANCES, grid

    tolerances = PAPER_TOLERANCES if st.session_state.get("sweep_tolerances") == 49 else TOLERANCES
    seeds = range(config.seed, config.seed + int(st.session_state.get("sweep_seeds") or 1))
    return grid(replace(config, method="exponentiated_gradient"), tolerances=tolerances, seeds=list(seeds))


def _draw(
    config: AuditConfig,
    dataset: AuditDataset,
    findings: AuditFindings,
    reference: Disclosure,
    settings: dict[str, Any],
    running: bool,
) -> None:
    from core.figures import draw_models_accuracy, draw_models_unfairness, draw_trained

    _controls()
    configs = _asked(config)
    job = measured.sweep_job(config, dataset, configs)
    if running != (job is not None and job.busy):
        st.rerun()
    points = [] if job is None else list(job.partial)
    if job is not None and job.busy:
        panels.sweep_progress(job, f"{len(points)} of {job.total} models trained")
    elif job is None or job.state != "finished":
        _restart(config, dataset, configs, len(points))
    rows = measured.sweep_rows(points, settings["adversary"], PROTOCOLS[settings["as_published"]], settings["cost"])
    colours, attribute = shell.palette(), shell.escape(wording.attribute(config))
    baseline = (reference.majority, reference.before, findings.strong)
    recovered = draw_trained(rows, baseline, colours, attribute=attribute)
    left, right = st.columns([3, 2], gap="large")
    with left:
        shell.whisper(
            words.trained_heading(rows),
            f"People whose {attribute} is recovered; each point is a model trained for that tolerance, and "
            + attack_words.trained_caption(settings["as_published"])
            + ("" if config.method == "exponentiated_gradient" else ". All are trained by exponentiated gradient"),
        )
        panels.chart(recovered, key="trained_chart")
    if rows:
        with right:
            shell.whisper("What it costs the model", "Right predictions, by the tolerance trained for")
            panels.chart(draw_models_accuracy(rows, colours), key="trained_accuracy")
            shell.whisper("What was reached", words.reached(rows))
            panels.chart(draw_models_unfairness(rows, colours), key="trained_unfairness")
    if points and not running:
        panels.numbers({"Models by trained tolerance": recovered.table}, key="trained")


def _controls() -> None:
    left, right, _ = st.columns([2, 2, 3])
    with left:
        st.segmented_control(
            "Tolerances",
            [18, 49],
            default=18,
            required=True,
            key="sweep_tolerances",
            help="49 values from 0 to 0.2, denser near 0, as many as in the published experiments.",
            persist_state="session",
        )
    with right:
        st.segmented_control(
            "Seeds",
            list(_SEEDS),
            default=1,
            required=True,
            key="sweep_seeds",
            help="Several: lines are means, bands 95% intervals over seeds. One: bars are intervals over people.",
            persist_state="session",
        )


def _restart(config: AuditConfig, dataset: AuditDataset, configs: list[AuditConfig], done: int) -> None:
    job = measured.sweep_job(config, dataset, configs)
    if job is not None and job.state == "failed":
        panels.problem(job.error)
    label = f"Stopped after {done} models. Train the rest" if job else f"Train {len(configs)} models"
    if st.button(label, key="start_sweep", icon=":material/play_arrow:"):
        measured.sweep_job(config, dataset, configs, start="again")
        st.rerun()
