"""What privacy noise changes: gaps and the attack's precision and recall over ε, with bands over repeats."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

import streamlit as st

from core.membership import EPSILONS, CurveBand, CurvePoint, MembershipSettings, epsilon_curve, summarise_curve
from core.models import GIVEN
from core.wording import gap, percent
from pages.common import panels, shell
from pages.common.members import words
from pages.common.members.controls import epsilon_text
from pages.common.members.curve import REPEATS, Curve, steady
from pages.common.members.work import Grown, Membership

__all__ = ["accuracy_heading", "curve_of", "draw", "heading", "tree"]

_ABOVE = {
    "decision_tree": "decision tree",
    "random_forest": "random forest",
    "logistic": "logistic regression",
    "audited": "audited model",
    GIVEN: "given predictions",
}


def curve_of(work: Membership) -> Curve:
    """Return the curve of the private tree over ε; it depends on the tree's depth, not on the slider of ε."""
    chosen, who = work.chosen, work.who
    settings = MembershipSettings(
        max_depth=chosen.depth,
        accounting="literal" if chosen.published else "savings",
        group=chosen.group,
        seed=chosen.seed,
    )

    def make(there: Sequence[CurvePoint]) -> Iterator[CurvePoint]:
        return epsilon_curve(who.people, settings, epsilons=EPSILONS, repeats=REPEATS, there=there)

    return Curve(
        who, "epsilon", REPEATS * len(EPSILONS), make, who.people.fingerprint, settings, REPEATS, list(EPSILONS)
    )


def draw(work: Membership, grown: Grown) -> None:
    """Draw the gaps and the attack's quality over ε as they come."""
    curve = curve_of(work)
    names = words.group_names(grown.found, work.chosen.group)

    def show(points: list[CurvePoint]) -> None:
        _show(steady(summarise_curve(points)), work, names, len(points) < curve.total)

    curve.grow(show, waiting=work.busy)


def tree(work: Membership) -> str:
    """Name the model the curves are of, and tell it from another one above."""
    target = work.chosen.target
    return "Private tree (DP-ID3)" if target == "dp_id3" else f"Private tree (DP-ID3), not the {_ABOVE[target]} above"


def _show(bands: Sequence[CurveBand], work: Membership, names: tuple[str, str], growing: bool) -> None:
    from core.figures import draw_attack_by_epsilon, draw_epsilon_curve

    now = work.chosen.epsilon if work.chosen.target == "dp_id3" else math.inf
    left, right = st.columns([3, 2], gap="large")
    tables: dict[str, Any] = {}
    with left:
        shell.whisper(heading(bands, names, growing=growing), f"{tree(work)}: {_repeats(bands, names)}")
        drawn = draw_epsilon_curve(bands, shell.palette(), now=now)
        panels.chart(drawn, key="member_epsilon_chart")
        tables["Gaps over ε"] = drawn.table
    with right:
        shell.whisper(
            "Is the attack any good?",
            f"{tree(work)}, the paper's network: members among the flagged, and flagged among the members",
        )
        attack = draw_attack_by_epsilon(bands, shell.palette(), now=now)
        panels.chart(attack, key="member_attack_chart")
        tables["The attack over ε"] = attack.table
    panels.numbers(tables, key="member-epsilon")


def heading(bands: Sequence[CurveBand], names: tuple[str, str], *, growing: bool = False) -> str:
    """Say up to which budget the attack is a coin toss, or what noise does to the gap in what leaks."""
    done = sorted((band for band in bands if band.variant == "epsilon"), key=lambda band: band.at)
    if len(done) < 2 or math.isnan(done[0].values["auc"].low) or math.isnan(done[-1].values["auc"].low):
        return "What privacy noise changes"
    low, high = done[0], done[-1]
    before, after = (band.values["advantage_gap"] for band in (high, low))
    far = " so far" if growing else ""
    tossed = list(takewhile(_coin_toss, done))
    if tossed:
        vd = tossed[-1].values["vd"]
        still = f", though VD still reads {gap(vd.value)} there" if words.tells_apart(vd) else ""
        up_to = "At every ε" if len(tossed) == len(done) else f"Up to ε = {epsilon_text(tossed[-1].at)}"
        return f"{up_to} the attack cannot be told from a coin toss in these repeats{far}{still}"
    return (
        f"What leaks more about {names[0]}{far}: {gap(before.value)} at ε = {epsilon_text(high.at)}, "
        f"{gap(after.value)} at {epsilon_text(low.at)}"
    )


def _coin_toss(band: CurveBand) -> bool:
    return band.values["auc"].low <= 0.5 <= band.values["auc"].high


def _repeats(bands: Sequence[CurveBand], names: tuple[str, str]) -> str:
    fewest = min(band.repeats for band in bands)
    most = max(band.repeats for band in bands)
    told = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    sides = f"{names[0][:1].upper()}{names[0][1:]} minus {names[1]}"
    if most == 1:
        return f"{sides}; one repeat so far, with no interval"
    bands_told = (
        f"bands: 95% intervals of the mean over {told} repeats" if _drawn(bands) else f"means of {told} repeats"
    )
    return f"{sides}; {bands_told} with other splits and noise"


def _drawn(bands: Sequence[CurveBand]) -> bool:
    """Whether some repeats are enough for an interval."""
    return any(not math.isnan(value.low) for band in bands for value in band.values.values())


def accuracy_heading(bands: Sequence[CurveBand]) -> str:
    """Say what noise costs in accuracy."""
    done = sorted((band for band in bands if band.variant == "epsilon"), key=lambda band: band.at)
    low, high = done[0].values["accuracy_test"], done[-1].values["accuracy_test"]
    return (
        f"Right for {percent(high)} of unseen people at ε = {epsilon_text(done[-1].at)}, {percent(low)} at "
        f"{epsilon_text(done[0].at)}"
    )
