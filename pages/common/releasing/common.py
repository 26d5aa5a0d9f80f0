"""What the people who are pinned down have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.figures import draw_in_common
from core.release import ReleaseStudy
from pages.common import panels, shell
from pages.common.releasing import words

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]


def draw(study: ReleaseStudy) -> dict[str, pandas.DataFrame]:
    """Draw what they share, and return the tables behind it."""
    import pandas as pd

    if not study.pinned.count:
        shell.whisper("What the pinned have in common", words.nobody(study))
        return {}
    found = study.in_common
    shell.whisper(*words.common_chart(found, study))
    drawn = draw_in_common(study, shell.palette())
    panels.chart(drawn, key="release_common_chart")
    st.caption(words.cells(found))
    sizes = pd.DataFrame(found.cell_sizes, columns=["cell size", "pinned people"])
    return {"What the pinned have in common": drawn.table, "Cells of identical predictions": sizes}
