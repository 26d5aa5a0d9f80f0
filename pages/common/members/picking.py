"""FairPick: what deleting training records does to the gaps, beside deleting as many at random."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core.membership import (
    DELETION_REMINDER,
    THETAS,
    CurveBand,
    CurvePoint,
    fairpick_curve,
    fairpick_differences,
    summarise_curve,
)
from core.models import GIVEN
from core.wording import count, gap, percent
from pages.common import panels, shell, wording
from pages.common.members import words
from pages.common.members.curve import REPEATS, Curve, steady
from pages.common.members.work import Grown, Membership

__all__ = ["compared", "draw"]

_MEASURES = {"vd": "VD", "fpr_gap": "FPR gap", "advantage_gap": "TPR − FPR gap"}


def draw(work: Membership, grown: Grown) -> None:
    """Draw the gaps over θ as they come, and the rows deleted at the slider's θ."""
    chosen = work.chosen
    if chosen.target == GIVEN:
        st.info(wording.needs_training("FairPick's deletions"))
        return
    if chosen.target == "audited":
        st.info("FairPick is shown with models trained here; choose another model under attack.")
        return
    names = words.group_names(grown.found, chosen.group)
    _deleted(grown, names)
    measure = st.segmented_control(
        "Gap",
        list(_MEASURES),
        default="vd",
        required=True,
        key="member_measure",
        format_func=_MEASURES.__getitem__,
        persist_state="session",
    )
    curve = curve_of(work)

    def show(points: list[CurvePoint]) -> None:
        _show(points, work, measure or "vd", names, len(points) < curve.total)

    curve.grow(show, waiting=work.busy)


def curve_of(work: Membership) -> Curve:
    """Return the curve over θ of the model under attack."""
    chosen, who = work.chosen, work.who
    settings = replace(chosen.settings, theta=1.0, literal=chosen.published, group=chosen.group)
    repeats = REPEATS if chosen.target != "random_forest" else 5

    def make(there: Sequence[CurvePoint]) -> Iterator[CurvePoint]:
        return fairpick_curve(who.people, settings, repeats=repeats, there=there)

    total = 2 * len(THETAS) * repeats
    return Curve(who, "fairpick", total, make, who.people.fingerprint, settings, repeats)


def _deleted(grown: Grown, names: tuple[str, str]) -> None:
    """Say whom FairPick deletes at the slider's θ."""
    from core.figures import draw_deleted

    found = grown.found.fairpick
    if found is None:
        shell.whisper("At θ = 1 FairPick deletes nobody", "Move its slider above to delete rows, and see what changes")
        return
    rows = sum(found.deleted.values())
    ignored = f" {count(found.ignored)} negative deletions were asked for and dropped." if found.ignored else ""
    shell.whisper(
        f"At θ = {found.theta:g} FairPick deletes {count(rows)} of {count(rows + grown.found.n_members)} training rows",
        f"The largest difference between the groups' shares of a cluster falls from {percent(found.largest_before)} to "
        f"{percent(found.largest_after)}.{ignored} {DELETION_REMINDER}",
    )
    drawn = draw_deleted(found, shell.palette(), group_names=list(found.deleted))
    panels.chart(drawn, key="member_deleted_chart")


def _show(points: Sequence[CurvePoint], work: Membership, measure: str, names: tuple[str, str], growing: bool) -> None:
    from core.figures import draw_fairpick

    shell.whisper(
        compared(points, measure, growing=growing),
        f"{_MEASURES[measure]}, {names[0]} minus {names[1]}, by the paper's network; 95% intervals of the mean over "
        "repeats; the top of the page is one seed. Control: as many rows deleted at random. Outsiders are thinned like "
        "the members, so that nothing but the training sets them apart; “right, unseen” counts all outsiders",
    )
    bands = steady(summarise_curve(points))
    drawn = draw_fairpick(bands, shell.palette(), now=work.chosen.theta, measure=measure)
    panels.chart(drawn, key="member_fairpick_chart")
    tables: dict[str, Any] = {"FairPick and its control": drawn.table, "Target": _target(bands)}
    panels.numbers(tables, key="member-fairpick")


def compared(points: Sequence[CurvePoint], measure: str, *, growing: bool = False) -> str:
    """Say what FairPick does at the smallest θ measured, what chance does, and how the two differ within repeats."""
    differences = steady(fairpick_differences(points))
    if not differences:
        return "What FairPick changes"
    theta, repeats, difference = differences[0].at, differences[0].repeats, differences[0].values[measure]
    there = {way: {p.repeat for p in points if p.at == theta and p.variant == way} for way in ("fairpick", "random")}
    both = [p for p in points if p.at == theta and p.repeat in there["fairpick"] & there["random"]]
    by_way = {band.variant: gap(band.values[measure].value) for band in summarise_curve(both)}
    over = f"mean over {repeats} repeats" if repeats > 1 else "one repeat"
    said = (
        f"{_MEASURES[measure]} {by_way['fairpick']} after FairPick at θ = {theta:g}, {by_way['random']} after deleting "
        f"at random ({over}{' so far' if growing else ''})"
    )
    if math.isnan(difference.low):  # too few repeats to tell
        return said
    told = f"{gap(difference.value)} ({gap(difference.low)} to {gap(difference.high)})"
    if difference.low <= 0.0 <= difference.high:
        return f"{said}: no statistically significant difference, {told} within repeats"
    return f"{said}: {told} within repeats"


def _target(bands: Sequence[CurveBand]) -> Any:
    """Return the target's accuracy over θ as a table."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "rows deleted": {"fairpick": "by FairPick", "random": "at random"}[band.variant],
                "θ": band.at,
                "deleted on average": band.values["deleted"].value,
                "right, training": band.values["accuracy_train"].value,
                "right, unseen": band.values["accuracy_test"].value,
                "repeats": band.repeats,
            }
            for band in bands
        ]
    )
