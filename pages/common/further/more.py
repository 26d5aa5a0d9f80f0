"""More disclosed: what the attacker gains from knowing more than a bound; no model is trained anew."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.audit import AuditFindings
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from pages.common import attack_words, cached, panels, shell, wording
from pages.common.further import words

__all__ = ["draw"]


def draw(config: AuditConfig, dataset: AuditDataset, findings: AuditFindings, settings: dict[str, Any]) -> None:
    """Draw the corrections beside each other; ends the page while they are computed."""
    from core.figures import draw_more

    told = attack_words.first_told(findings)
    found = cached.more_disclosed(findings, dataset, told, **settings)
    drawing = draw_more(found, shell.palette())
    left, right = st.columns([3, 2], gap="large")
    with left:
        shell.whisper(
            words.more_heading(found),
            f"People whose {shell.escape(wording.attribute(config))} is recovered, before ○ and after ●, by what is "
            "disclosed",
        )
        panels.chart(drawing, key="more_chart")
    with right:
        for sentence in words.more_sentences(found, told):
            st.markdown(sentence)
        panels.numbers({"More disclosed": drawing.table}, key="more")
