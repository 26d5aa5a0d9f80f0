"""The card as a file for the command line: a click gives what ``python -m core release`` reads."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.config import AuditConfig
from core.datasets import AuditDataset, Table
from core.decision.release_plan import ReleasePlan, release_text
from core.models import GIVEN
from pages.common.deciding.subject import asked, subject
from pages.common.releasing.choice import Models, Precision

__all__ = ["card_plan", "download"]


def card_plan(
    config: AuditConfig, table: Table, dataset: AuditDataset, models: Models, precision: Precision, count: int
) -> ReleasePlan | None:
    """Return what the page shows as a plan; None where the command could not train or find these models.

    Parameters
    ----------
    config : AuditConfig
    table : Table
    dataset : AuditDataset
    models : Models
    precision : Precision
    count : int
        Models shown.
    """
    found = subject(config, table, asked(config, table))
    if models.family == GIVEN and found.model_file is not None:
        return None
    if models.family == "tolerances" and count < models.most:  # a sweep is as fine as its count: others come out
        return None
    return ReleasePlan(
        source=found.plan,
        models=models.family,
        columns=models.columns[:count],
        people=models.people,
        group=dataset.group_names[models.group] if dataset.n_groups > 2 else "",
        settings=precision.settings(count, config.seed),
    )


def download(plan: ReleasePlan | None) -> None:
    """Draw the button."""
    if plan is None:
        return
    st.download_button(
        "Card (TOML)",
        data=partial(_content, plan),
        file_name="card.toml",
        mime="application/toml",
        key="download_card",
        icon=":material/checklist:",
        on_click="ignore",
        help="For python -m core release card.toml: the same card of the same models, about the same people.",
    )


def _content(plan: ReleasePlan) -> bytes:
    return release_text(plan).encode("utf-8")
