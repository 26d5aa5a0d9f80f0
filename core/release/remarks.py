"""What page and command line say alike of a study: why more or less was gained than predicted, what typed is untrue."""

from __future__ import annotations

import math

from core.release.disputed import Disputed
from core.release.people import ReleasedPeople
from core.release.study import ReleaseStudy


def unpredicted(study: ReleaseStudy) -> str:
    """Say whether chance explains the difference between measured and predicted bits, or a wrong posterior adds to it.

    Compared are the measured bits, of the real attribute, and those of attributes drawn from the posterior. Typed
    numbers that the table contradicts need no such reason, and without a posterior nothing was measured.
    """
    bits, prediction = study.measured.bits, study.prediction
    if study.disputed or study.status != "converged" or math.isnan(bits.low):
        return ""
    noise = " and noise" if study.settings.epsilon is not None else ""
    draws = (
        f"with the attribute{noise} drawn anew from what the attacker believes, 95% of such cards give "
        f"{_tenth(prediction.low)} to {_tenth(prediction.high)} bits"
    )
    if not study.unpredicted:
        return f"Measured and predicted bits differ by no more than chance gives: {draws}."
    if study.unpredicted > 0:
        added, low, high = (_tenth(at - prediction.bits.value) for at in (bits.value, bits.low, bits.high))
        return (
            f"More was gained than chance gives: {draws}. So the attacker's guess before the release is wrong about "
            f"people like these, and the numbers repair it; that adds {added} bits (95% CI: {low} to {high})."
        )
    return (
        f"Less was gained than chance gives: {draws}. These numbers came out nearer to what the attacker expected than "
        "the numbers of such draws."
    )


def _tenth(bits: float) -> str:
    return f"{bits:,.1f}".replace("-", "−")


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
