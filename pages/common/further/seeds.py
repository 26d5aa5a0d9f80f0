"""Other seeds: what each piece of knowledge adds, repeated, with and without mitigation and with its controls."""

from __future__ import annotations

import streamlit as st

from core.audit import AuditFindings
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.models import GIVEN
from pages.common import attack_words, measured, panels, shell, wording
from pages.common.further import words

__all__ = ["draw"]

_SEEDS = (3, 5, 10)


def draw(config: AuditConfig, dataset: AuditDataset, findings: AuditFindings) -> None:
    """Draw the attribution over seeds with its controls, progress and cancel."""
    if config.method == GIVEN:
        st.info(wording.needs_training("Other seeds"))
        return
    job = measured.leak_job(config, dataset, _seeds(config))
    busy = job is not None and job.busy
    st.fragment(_draw, run_every=1.0 if busy else None)(config, dataset, findings, busy)


def _seeds(config: AuditConfig) -> list[int]:
    return list(range(config.seed, config.seed + int(st.session_state.get("leak_seeds") or _SEEDS[0])))


def _draw(config: AuditConfig, dataset: AuditDataset, findings: AuditFindings, running: bool) -> None:
    st.segmented_control(
        "Seeds", list(_SEEDS), default=_SEEDS[0], required=True, key="leak_seeds", persist_state="session"
    )
    seeds = _seeds(config)
    job = measured.leak_job(config, dataset, seeds)
    if running != (job is not None and job.busy):
        st.rerun()
    points = panels.job_state(
        job, "seeds", 2 * len(seeds), lambda: measured.leak_job(config, dataset, seeds, start=True)
    )
    own = [point for point in points if point.config.method == config.method]
    if not own:
        st.caption(
            "Splits, model and attackers are drawn anew for every seed, with the chosen method and without mitigation. "
            "Intervals are then over seeds."
        )
        return
    _waterfalls(config, own, findings)
    _sentences(config, points, own)
    panels.numbers(words.leak_tables(points, own, findings), key="seeds")


def _waterfalls(config: AuditConfig, own: list, findings: AuditFindings) -> None:  # type: ignore[type-arg]
    from core.correction import attribute_over_seeds
    from core.figures import draw_waterfall, rows_over_seeds

    attribute = shell.escape(wording.attribute(config))
    for column, name in zip(st.columns(2, gap="large"), ("paper's", "strong"), strict=True):
        leak = attribute_over_seeds([point.attributions[name] for point in own])
        with column:
            shell.whisper(
                f"Where the {name} attacker's knowledge comes from",
                f"People whose {attribute} is named rightly; each row adds one thing. " + words.over(len(own)),
            )
            rows = rows_over_seeds(leak, share=attack_words.share_words(findings))
            drawing = draw_waterfall(
                rows,
                words.strong_over_seeds(own),
                shell.palette(),
                words="Strong attacker, features alone",
                attribute=attribute,
            )
            panels.chart(drawing, key=f"seeds_{name[:5]}_chart")
            st.caption(shell.escape(leak.change("constraint").sentence))


def _sentences(config: AuditConfig, points: list, own: list) -> None:  # type: ignore[type-arg]
    left, right = st.columns(2, gap="large")
    with left:
        shell.whisper(
            f"With and without {words.mitigation(config)}",
            "Right answers, the same people and seeds; differences are paired by seed",
        )
        delta = words.delta_table(points, config)
        if delta is None:
            st.caption("The chosen model is the one without mitigation.")
        else:
            st.dataframe(delta, hide_index=True, height="content")
            st.caption(words.delta_truth(points, config))
    with right:
        shell.whisper("The controls", "What does not come from what the model says about somebody")
        for sentence in words.controls(points, own, config):
            st.markdown(sentence)
