"""What the release meter found in a report's own numbers, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.release import DISTANCE_MEDIAN, DISTANCE_WORST, Measured
from core.wording import count, interval, percent

if TYPE_CHECKING:
    from core.report.metered import MeteredForm

__all__ = ["CONTROL_UNKNOWN", "FORM_TITLES", "METER_WITHHELD", "control_of", "distance_told", "edition_told", "told_of"]

FORM_TITLES = {
    "every_digit": "This report, every digit (files)",
    "page": "This report, as the page prints it",
    "disclosure": "Disclosure edition",
}
"""Form -> what to call it."""

CONTROL_UNKNOWN = "Without it there is no control."

METER_WITHHELD = (
    "What the release meter read in this edition before it was written is told in the internal edition alone: counts "
    "of a group are withheld here, and bits and pinned people may tell them."
)

_MOST = "Each of the groups was metered against all others; told is the one with the most bits."

_ALIKE = (
    "With every digit, as the page prints them, and in the disclosure edition alike, the fairness numbers of this "
    "report tell"
)
_BEFORE = {
    "every_digit": "With every digit, as in its files, the fairness numbers of this report tell",
    "page": "As the page prints them, they tell",
    "disclosure": "Those of the disclosure edition tell",
}


def told_of(rows: Sequence[MeteredForm], groups: int) -> str:
    """Say what every form gives away; forms that read alike together."""
    if len({_figures(row) for row in rows}) == 1 and len(rows) == len(_BEFORE):
        sentences = [f"{_ALIKE} {_gives(rows[0], groups)}"]
    else:
        sentences = [f"{_BEFORE[row.form]} {_gives(row, groups)}" for row in rows]
    if groups > 2:
        sentences.append(_MOST)
    return " ".join(sentences)


def _figures(row: MeteredForm) -> tuple[str | float, ...]:
    return (row.group, row.numbers, row.df_bits, row.bits.value, row.pinned)


def edition_told(row: MeteredForm, groups: int) -> str:
    """Say what the disclosure edition gives away, in that edition."""
    if not row.numbers:
        return "No size or rate of a group on the test records stands in this edition: there was nothing to meter."
    several = f" {_MOST}" if groups > 2 else ""
    return f"The fairness numbers of this edition tell {_gives(row, groups)}{several}"


def _gives(row: MeteredForm, groups: int) -> str:
    if not row.numbers:
        return "nothing: no size or rate of a group on the test records stands in them."
    reach = "" if row.joint_bits < row.prior_bits else " Together they are worth as many bits as there were to know."
    unsolved = (
        "" if row.status == "converged" else " The projection did not converge, so none of this is to be relied on."
    )
    about = f" about {row.group} against all others" if groups > 2 else ""
    return (
        f"{_bits(row.bits.value)} beyond features and label{about} (the meter predicted {row.df_bits:,.1f}), of "
        f"{_bits(row.prior_bits)} there were to know, and pin down {_pinned(row)}.{reach}{unsolved}"
    )


def _pinned(row: MeteredForm) -> str:
    if not row.pinned:
        return f"nobody of {count(row.unsure)} people the attacker was unsure about"
    unsure = f"{count(row.unsure)} people the attacker was unsure about"
    return f"{count(row.pinned)} of {unsure}, {count(row.pinned_right)} rightly"


def _bits(bits: float) -> str:
    return f"{bits:,.1f} bits".replace("-", "−")


def control_of(found: Measured, rows: Sequence[MeteredForm]) -> str:
    """Say what is known without the numbers."""
    first = rows[0]
    reading = "every digit" if first.form == "every_digit" else "this edition"
    return (
        f"Control: naming the larger side for everybody is right for {percent(found.majority)} "
        f"({interval(found.majority)}), the attacker before reading for {percent(found.accuracy_before)} "
        f"({interval(found.accuracy_before)}), after reading {reading} for {percent(first.accuracy)} "
        f"({interval(first.accuracy)})."
    )


def distance_told() -> str:
    """Say how far the projection is from the exact posterior."""
    return (
        "Probabilities after reading are those of the information projection. In releases about 6 to 12 people, where "
        f"the exact ones can be counted out, a person's is off by {100 * DISTANCE_MEDIAN:.0f} points on average in the "
        f"median release and by {100 * DISTANCE_WORST:.0f} in the worst; the more people share a number, the nearer it "
        "is."
    )
