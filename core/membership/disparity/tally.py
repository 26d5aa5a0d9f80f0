"""Four rates behind the gaps of a verdict: how many of a group, and of the others, are called members.

The four strata are the two sides (0 the others, 1 the group) by membership (0 outsiders, 1 members). Whoever is judged
counts as a sample of such people; the strata are independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Ints
from core.errors import InputError
from core.validation import binary_array, one_length

FEWEST = 10
"""Members, and outsiders, that a group and the others must have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts by side and membership.

    `flagged` and `people`, of shape (2, 2), are those called members, and all, at [side, member].
    """

    flagged: Ints
    people: Ints


def tally(verdict: npt.ArrayLike, group: npt.ArrayLike, member: npt.ArrayLike) -> Tally:
    """Return the counts of a verdict; all three of shape (n,), 0 or 1.

    Raises `InputError` if an array holds anything but 0 and 1, or the lengths differ.
    """
    told = binary_array(verdict, name="verdict")
    side = binary_array(group, name="group")
    inside = binary_array(member, name="member")
    one_length(verdict=told, group=side, member=inside)
    cell = 2 * side + inside
    people = np.bincount(cell, minlength=4).reshape(2, 2)
    return Tally(flagged=np.bincount(cell[told == 1], minlength=4).reshape(2, 2), people=people)


def both_kinds(member: npt.ArrayLike) -> Codes:
    """Return `member` if it holds members and outsiders."""
    inside = binary_array(member, name="member")
    if not inside.size or inside.min() == inside.max():
        held = f"only {inside[0]}" if inside.size else "nothing"
        raise InputError(f"member must hold both 0 and 1, got {held}.")
    return inside


def enough(people: Ints, names: tuple[str, str]) -> str:
    """Return why sides of this size, people[side, member], are too small for a gap; empty if they are not."""
    for side in (1, 0):
        outsiders, members = people[side]
        if min(outsiders, members) < FEWEST:
            return (
                f"A gap needs at least {FEWEST} members and {FEWEST} outsiders of the training data among the judged "
                f"people, got {members} and {outsiders} of “{names[1 - side]}”."
            )
    return ""
