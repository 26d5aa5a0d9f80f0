"""What page and command line say alike of a study: why more or less was gained than predicted, what typed is untrue."""

from __future__ import annotations

import math

from core.release.disputed import Disputed
from core.release.people import ReleasedPeople
from core.release.study import ReleaseStudy

__all__ = ["dispute", "settled_as_most", "unpredicted"]


def unpredicted(study: ReleaseStudy) -> str:
    """Say why the measured bits can differ from the predicted ones; empty where their interval holds the prediction.

    Typed numbers that the table contradicts need no such reason, and without a posterior nothing was measured.
    """
    if study.disputed or study.status != "converged" or not study.unpredicted:
        return ""
    if study.unpredicted > 0:
        return (
            "More was gained than predicted: the meter takes the attacker's guess before the release for right; where "
            "that guess was worse than it thought, the numbers also repair it, and more than predicted is gained."
        )
    noise = " or this draw of the noise misleads" if study.settings.epsilon is not None else ""
    return (
        "Less was gained than predicted: the meter says what is gained on average; where the numbers come out much as "
        f"the attacker expected{noise}, less is gained."
    )


def dispute(found: Disputed, study: ReleaseStudy) -> str:
    """Say what was typed and what the table gives instead, as the end of a sentence that has named the number."""
    number = found.number
    if math.isnan(found.table):
        gives = "which these people do not have: one of the groups it compares is empty"
    else:
        gives = f"but the table gives {found.table:.6g}"
    if found.rounded:
        return f"typed as {number.value:.12g}, {gives}; tell publish.decimals where numbers are rounded"
    sign = ""
    if number.statistic.endswith("_gap"):
        rule = f"a gap is the rate of {study.group} minus that of {study.other}"
        sign = f"; with the other sign it would be right, for {rule}" if found.turned else f"; {rule}"
    return f"typed as {number.value:.12g}, {gives}{sign}"


def settled_as_most(study: ReleaseStudy, people: ReleasedPeople) -> tuple[str, float] | None:
    """Return the group that everybody pinned is settled as, and its share, where most people are in it; else None."""
    said = study.pinned.said
    if not said.size or said.min() != said.max():
        return None
    share = float((people.sensitive == said[0]).mean())
    return (study.group if said[0] else study.other, share) if share > 0.5 else None
