"""What privacy noise costs: the private tree's accuracy on its training people and on others, over ε."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.membership import CurveBand, CurvePoint, summarise_curve
from core.wording import interval, percent
from pages.common import panels, shell
from pages.common.members.curve import steady
from pages.common.members.over_epsilon import accuracy_heading, curve_of, tree
from pages.common.members.work import Grown, Membership

__all__ = ["draw"]


def draw(work: Membership, grown: Grown) -> None:
    """Draw both accuracies as the points come."""
    curve = curve_of(work)

    def show(points: list[CurvePoint]) -> None:
        _show(steady(summarise_curve(points)), work, grown)

    curve.grow(show, waiting=work.busy)


def _show(bands: Sequence[CurveBand], work: Membership, grown: Grown) -> None:
    from core.figures import draw_accuracy_by_epsilon

    majority = grown.found.target.majority_test
    now = work.chosen.epsilon if work.chosen.target == "dp_id3" else math.inf
    shell.whisper(
        accuracy_heading(bands),
        f"{tree(work)}, bands over repeats. An attack lives on the distance between training and unseen people. "
        f"Baseline: always the more frequent label is right for {percent(majority)} (95% {interval(majority)})",
    )
    drawn = draw_accuracy_by_epsilon(bands, shell.palette(), now=now, majority=majority)
    panels.chart(drawn, key="member_accuracy_chart")
    panels.numbers({"Accuracy over ε": drawn.table}, key="member-accuracy")
