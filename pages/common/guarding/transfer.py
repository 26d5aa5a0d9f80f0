"""Which noise fools whom: the share of noisy records that each attacker reads as the noise wants."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from core.attriguard import Study
from core.figures import Drawing
from core.figures.guard import attacker_label
from core.wording import percent
from pages.common import panels, shell
from pages.common.guarding.work import Grown, Guarding

__all__ = ["draw"]

_MOST_VALUES = 3  # that get a column each

_MAKERS = {"logistic": "Logistic", "logistic_margin": "… with margin", "network": "Network"}


def draw(work: Guarding, grown: Grown, budget: float) -> None:
    """Draw the heat map of attackers and wanted values; of ratings also that of other noise."""
    if not _changed(grown.study).any():
        shell.whisper("No noise was found", "So there is none that could fool anybody")
        return
    if grown.study.unit == "columns":
        drawings = {"This noise": _this(grown.study, work.finished)}
    else:
        left, right = st.columns(2, gap="large")
        with left:
            drawings = {"This noise": _this(grown.study, work.finished)}
        with right:
            drawings["Other noise"] = _other(work, grown)
    panels.numbers({name: drawing.table for name, drawing in drawings.items()}, key="guard-transfer")


def _this(study: Study, finished: bool) -> Drawing:
    from core.figures import draw_transfer

    columns, fooled = _fooled(study)
    shell.whisper(_least(study, fooled[:, 0], finished), "Records with noise that an attacker reads as the noise wants")
    rows = [attacker_label(name) for name in study.attackers]
    drawn = draw_transfer(rows, columns, fooled, shell.palette(), corner="attacker")
    panels.chart(drawn, key="transfer_chart")
    return drawn


def _least(study: Study, fooled: npt.NDArray[np.float64], finished: bool) -> str:
    """Say who is fooled least, of two attackers or more."""
    least = int(np.argmin(fooled))
    name, share = attacker_label(study.attackers[least]), percent(float(fooled[least]), decimals=0)
    if len(fooled) < 2:
        return f"“{name}” is fooled by {share} of this noise"
    return f"“{name}” is fooled least{'' if finished else ' so far'}: by {share} of this noise"


def _changed(study: Study) -> npt.NDArray[np.bool_]:
    """Return for which people there is noise for which value (people, values)."""
    return np.asarray(study.found & (study.predicted[:, None] != np.arange(len(study.values))))


def _fooled(study: Study) -> tuple[list[str], npt.NDArray[np.float64]]:
    """Return the columns' names and the shares (attackers, columns): all noise, and that for each of few values.

    An attacker trained at several budgets is the one trained at the largest.
    """
    last = {guess.attacker: guess for guess in study.guesses}
    values = np.arange(len(study.values))
    changed = _changed(study)
    few = len(values) <= _MOST_VALUES
    parts = [changed, *((changed & (values == i)) for i in values if few)]
    names = ["all noise", *(f"for {value}" for value in study.values if few)]
    reads = [guess.noisy == values for guess in last.values()]
    fooled = [[float(read[part].mean()) if part.any() else float("nan") for part in parts] for read in reads]
    return names, np.array(fooled)


def _margin_helps(plain: float, margin: float) -> str:
    """Say how much noise against logistic regression fools a network, without and with a margin; nan for no noise."""
    if np.isnan(plain):
        return "No noise was found against logistic regression"
    more = "no noise was found" if np.isnan(margin) else percent(margin, decimals=0)
    return (
        f"{percent(plain, decimals=0)} of the noise against logistic regression fools a network; with a margin {more}"
    )


def _other(work: Guarding, grown: Grown) -> Drawing:
    from core.attriguard import transfer
    from core.figures import draw_transfer

    made: Any = work.need("transfer", "Showing noise to attackers", lambda report: transfer(grown.guard, report=report))
    fooled = np.array([[made.share[maker, name].value for maker in made.makers] for name in made.attackers])
    sizes = [made.size[maker].value for maker in made.makers]
    changes = ", ".join(f"{size:.1f}" if np.isfinite(size) else "no" for size in sizes)
    shell.whisper(
        _margin_helps(*(made.share[maker, "network"].value for maker in ("logistic", "logistic_margin"))),
        f"The same for noise made against each classifier; it changes {changes} ratings",
    )
    rows, columns = [attacker_label(name) for name in made.attackers], [_MAKERS.get(m, m) for m in made.makers]
    drawn = draw_transfer(rows, columns, fooled, shell.palette(), corner="attacker")
    panels.chart(drawn, key="other_transfer_chart")
    return drawn
