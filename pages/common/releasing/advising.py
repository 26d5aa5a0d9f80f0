"""The adviser: how precise a card may be, worked out in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.figures import draw_precisions
from core.release import Advice, ReleaseStudy
from pages.common import panels, shell
from pages.common.releasing import words
from pages.common.releasing.work import Card

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]


def draw(card: Card, study: ReleaseStudy) -> dict[str, pandas.DataFrame]:
    """Draw the advice, or how far it is; returns the tables behind it."""
    work = card.advice(study.n_models)
    work.want()
    shell.whisper(*words.advice_chart(study))
    found: Advice | None = work.result
    if found is None:
        work.watch("Trying precisions", "Stopped. Go on with the advice")
        return {}
    settings = study.settings
    drawn = draw_precisions(found, (settings.decimals, settings.epsilon), shell.palette())
    panels.chart(drawn, key="release_advice_chart")
    st.markdown(words.advice(found, study))
    return {"Precisions tried": drawn.table}
