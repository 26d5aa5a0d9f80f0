"""What an attack says of the people it judges, and the checks all attacks share."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Ints
from core.errors import InputError
from core.estimates import Estimate, proportion
from core.validation import binary_array, one_length


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberGuess:
    """Scores, and verdicts where the attack gives some.

    Attributes
    ----------
    name : str
        One of `core.membership.ATTACKS`.
    rows : ndarray of shape (m,), int
        Who is judged.
    score : ndarray of shape (m,)
        Finite; a higher one speaks for a member.
    verdict : ndarray of shape (m,), uint8, or None
        1 = called a member.
    """

    name: str
    rows: Ints = field(repr=False)
    score: Floats = field(repr=False)
    verdict: Codes | None = field(repr=False)


def checked(probability: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[Floats, Codes]:
    """Return P(label = 1) and the label of everybody as arrays.

    Raises `InputError` if their lengths differ, a probability is outside [0, 1] or a label is not 0 or 1.
    """
    p, y = np.asarray(probability, dtype=np.float64), binary_array(labels, name="labels")
    one_length(probability=p, labels=y)
    if (odd := p[~((p >= 0.0) & (p <= 1.0))]).size:
        raise InputError(f"A probability must be in [0, 1], got {odd[0]}.")
    return p, y


def true_label_probability(probability: Floats, labels: Codes) -> Floats:
    """Return the probability the model gave to each person's own label."""
    return np.where(labels == 1, probability, 1.0 - probability)


def precision_recall(
    verdict: npt.ArrayLike, member: npt.ArrayLike, *, level: float = 0.95
) -> tuple[Estimate, Estimate]:
    """Return members among those called members, and those called members among members.

    With nobody called a member there is no precision: it is nan with n = 0.
    """
    called, truth = binary_array(verdict, name="verdict"), binary_array(member, name="member")
    one_length(verdict=called, member=truth)
    right = int(np.count_nonzero(called & truth))
    precision = proportion(right, int(called.sum()), level=level)
    return precision, proportion(right, int(truth.sum()), level=level)
