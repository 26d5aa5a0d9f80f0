"""What the release meter found in a report's own numbers, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from core.decision.result import MeteredForm
from core.release import DISTANCE_MEDIAN, DISTANCE_WORST, Measured
from core.wording import count, interval, percent

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

BITS_OF_THE_METER = (
    "They count what the groups' numbers tell about all test people together. Bits of an attribute check are another "
    "quantity: what the model's answers tell about the people whom that check attacks."
)
"""What the meter's bits count, where those of a check may stand in the same report."""

BITS_OF_THE_EDITION = (
    "Its bits differ from the release meter's above where the two attackers' probabilities before reading differ: the "
    "meter's attacker is cross-fitted. Numbers that also repair worse probabilities count more bits; with the same "
    "probabilities both count the same."
)
"""Why the attack on the disclosure edition and the meter print different bits; a test holds both to one another."""

_MOST = "Each of the groups was metered against all others; told is the one with the most bits."

_READ = {
    "every_digit": "with every digit, as in the files",
    "page": "as the page prints them",
    "disclosure": "in the disclosure edition",
}

_NOTHING = "nothing, for no size or rate of a group on the test records stands there"


def told_of(rows: Sequence[MeteredForm], groups: int) -> str:
    """Say what every form gives away: first what holds for all, then each form's figures."""
    there = [row for row in rows if row.numbers]
    if not there:
        return f"The fairness numbers of this report tell {_NOTHING}."
    several = f" {_MOST}" if groups > 2 else ""
    apart = len({row.group for row in there}) > 1
    alike: dict[tuple[str | float, ...], list[MeteredForm]] = {}
    for row in rows:
        alike.setdefault(_figures(row), []).append(row)
    told = "; ".join(f"{_place(same)}{_about(same[0], apart)}, {_figure(same[0], apart)}" for same in alike.values())
    first = "The" if apart else f"{_left_open(there[0], groups)} Of this the"
    return f"{first} fairness numbers of this report tell: {told}.{several}"


def _place(rows: Sequence[MeteredForm]) -> str:
    """Return where numbers stand, forms that read alike together."""
    *most, last = [_READ[row.form] for row in rows]
    return f"{', '.join(most)} and {last} alike" if most else last


def _figures(row: MeteredForm) -> tuple[str | float, ...]:
    pinned = (row.pinned, row.pinned_right, row.status, row.joint_bits < row.prior_bits)
    return (row.group, row.numbers, row.df_bits, row.bits.value, row.bits.low, row.bits.high, *pinned)


def edition_told(row: MeteredForm, groups: int) -> str:
    """Say what the disclosure edition gives away, in that edition."""
    if not row.numbers:
        return "No size or rate of a group on the test records stands in this edition: there was nothing to meter."
    several = f" {_MOST}" if groups > 2 else ""
    return f"{_left_open(row, groups)} Of this the fairness numbers of this edition tell {_figure(row)}.{several}"


def _left_open(row: MeteredForm, groups: int) -> str:
    """Say how much there is to tell."""
    unsure = {0: "nobody", 1: "one person"}.get(row.unsure, f"{count(row.unsure)} people")
    who = f"who is in {row.group} and who is not" if groups > 2 else "who is in which group"
    return f"Features and label leave open {_bits(row.prior_bits)} of {who}, and the attacker unsure about {unsure}."


def _about(row: MeteredForm, apart: bool) -> str:
    return f", about {row.group} against all others" if apart and row.numbers else ""


def _figure(row: MeteredForm, apart: bool = False) -> str:
    """Return what a form tells: bits as measured and predicted, who is pinned down; where forms differ, of how much."""
    if not row.numbers:
        return _NOTHING
    out_of = f" of {_bits(row.prior_bits)} left open" if apart else ""
    people = f" of {count(row.unsure)} people unsure before" if apart or row.pinned else ""
    pinned = f"{count(row.pinned)}{people} pinned down, {count(row.pinned_right)} rightly"
    nobody = f"nobody{people} pinned down"
    reach = "" if row.joint_bits < row.prior_bits else ", together worth as many bits as there were to know"
    unsolved = "" if row.status == "converged" else ", but the projection did not converge: rely on none of this"
    return f"{_measured(row)}{out_of}, {pinned if row.pinned else nobody}{reach}{unsolved}"


def _measured(row: MeteredForm) -> str:
    """Write bits with their interval and, as a prediction may miss it, on which side of it the meter's lies."""
    bits, predicted = row.bits, f"the meter predicted {row.df_bits:,.1f}"
    if not bits.low < bits.high:
        return f"{_bits(bits.value)} ({predicted})"
    low, high = (_bits(end).removesuffix(" bits") for end in (bits.low, bits.high))
    side = ", below that" if row.df_bits < bits.low else ", above that" if row.df_bits > bits.high else ""
    return f"{_bits(bits.value)} ({100 * bits.level:.4g}%: {low} to {high}; {predicted}{side})"


def _bits(bits: float) -> str:
    return f"{bits:,.1f} bits".replace("-", "−")


def control_of(found: Measured, rows: Sequence[MeteredForm]) -> str:
    """Say what is known without the numbers."""
    first = rows[0]
    reading = "every digit" if first.form == "every_digit" else "this edition"
    return (
        f"Baseline: naming the larger side for everybody is right for {percent(found.majority)} "
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
