"""What an attacker who reads the release has gained, measured with the true attribute."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from core.estimates import Estimate, accuracy, balanced_accuracy, balanced_gain, not_measured, paired_gain
from core.release.chance import Chance
from core.release.equations import posterior_array
from core.release.meter import entropy_bits
from core.release.numbers import Floats
from core.results import Result
from core.validation import binary_array


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured(Result):
    """Before and after the release, on the same people.

    Attributes
    ----------
    bits : Estimate
        Bits gained in all: Σ_i log₂ (q'_i(s_i) / q_i(s_i)). The gain itself is known; the interval is of the gain to
        be expected of such a release about as many other people like these (see `core.release.chance.Chance`), nan
        where no prediction was handed in.
    moved_bits : float
        KL(q'‖q) in bits; equal to `bits` for exact numbers.
    accuracy_gain : Estimate
        Paired.
    majority, majority_balanced : Estimate
        Control: naming the larger group for everybody.
    """

    bits: Estimate
    moved_bits: float
    accuracy_before: Estimate
    accuracy_after: Estimate
    accuracy_gain: Estimate
    balanced_before: Estimate
    balanced_after: Estimate
    balanced_gain: Estimate
    majority: Estimate
    majority_balanced: Estimate


def measured(
    posterior: npt.ArrayLike, projected: npt.ArrayLike, sensitive: npt.ArrayLike, *, chance: Chance | None = None
) -> Measured:
    """Compare the posterior (n,) and the projected one (n,) with the truth (n,); `chance` gives the bits an interval.

    Raises
    ------
    InputError
        If the arrays differ in length, or hold no probabilities or no 0 and 1.
    """
    s = binary_array(np.asarray(sensitive), name="sensitive")
    before, after = (posterior_array(p, s.size) for p in (posterior, projected))
    gain = float(gained_bits(before, after, s).sum())
    bits = replace(not_measured(), value=gain, n=s.size)
    if chance is not None:
        cost, entropy = float(-_log2_said(before, s).sum()), float(entropy_bits(before).sum())
        bits = chance.expected(gain, s.size, most=max(cost, entropy))  # what there was to know
    guess, now = (before > 0.5).astype(np.uint8), (after > 0.5).astype(np.uint8)
    was_right, is_right = guess == s, now == s
    won, lost = int(np.count_nonzero(is_right & ~was_right)), int(np.count_nonzero(was_right & ~is_right))
    larger = np.full(s.size, int(2 * s.sum() > s.size), dtype=np.uint8)
    return Measured(
        bits=bits,
        moved_bits=moved_bits(before, after),
        accuracy_before=accuracy(s, guess),
        accuracy_after=accuracy(s, now),
        accuracy_gain=paired_gain(won, lost, s.size),
        balanced_before=balanced_accuracy(s, guess),
        balanced_after=balanced_accuracy(s, now),
        balanced_gain=balanced_gain(s, guess, now),
        majority=accuracy(s, larger),
        majority_balanced=balanced_accuracy(s, larger),
    )


def moved_bits(before: Floats, after: Floats) -> float:
    """Return KL(after‖before) in bits, people independent; 0 log 0 counts as 0."""
    total = 0.0
    for to, of in ((after, before), (1.0 - after, 1.0 - before)):
        there = to > 0
        total += float((to[there] * np.log2(to[there] / of[there])).sum())
    return total


def gained_bits(before: Floats, after: Floats, s: npt.NDArray[np.uint8]) -> Floats:
    """Return what each person's log-loss falls by, in bits; all arrays of shape (n,)."""
    return _log2_said(after, s) - _log2_said(before, s)


def _log2_said(probability: Floats, s: npt.NDArray[np.uint8]) -> Floats:
    """Return the log of the probability given to the truth; never below −1000, where a certainty was wrong."""
    return np.log2(np.maximum(np.where(s == 1, probability, 1.0 - probability), 2.0**-1000))
