"""Bias queries: the scores that are asked about, the gaps that answer them, and how far a person can move them.

Everywhere in this package a person's attribute is 1 for the advantaged group and 0 for the disadvantaged one, and a
gap is the advantaged group's mean score minus the other's (Hamman et al. 2023, definitions 2.1 and 2.2).

Every design makes a matrix of scores, one row a model and one column a person, from the scores of a base model. It
knows nothing of anybody's attribute.

jitter
    The base scores with small uniform noise, clipped to [0, 1]: models nobody would find odd (Hamman et al. 2023,
    algorithm 2).
random_binary
    Every score 0 or 1 with probability 1/2: the most telling matrix for compressed sensing, and no useful model.
targeted
    Row 0 is the base model, row k differs from it for person k − 1 alone (example 2 and algorithm 1).
bits
    Each question takes up 50 people whose scores are the powers of two, the others' are 0: the answer's binary digits
    are their attributes.

Sensitivity. Neighbours are attribute vectors that differ in one person (Hamman et al. 2023, section 4); predictions
and labels are public. Only vectors in which both groups occur count, because a gap needs both. For equal opportunity
the people are those with label 1.

Flipping a member of a group of k out of n people takes the weight of H v off k people and puts 1/(n − k + 1) on one
more. Summing the positive parts of the change of v, a score row can move a gap by at most

    g(k) = 1/k + 1/(n − k + 1) = (n + 1) / (k (n − k + 1)),

and an absolute gap by at most n / (k (n − k + 1)): the row must not change the sign on the way, so the best one starts
from a gap of 0. An edge between neighbours has one k at either end: k here, n − k + 1 seen from the other group. Both
forms fall up to the middle, so the local sensitivity is m g(N) with N the smaller group, and m g(2) if that is one
person, who cannot leave. Along the way to smaller groups e^(−β d) g is quasi-convex: the smooth sensitivity is at an
end, here or at N = 2.

Where the paper differs: theorem 6 and the absolute smooth form leave out that a gap of 0 can be the start (m/2 and m/N0
in place of the above); algorithm 3 does not sort the groups, and puts N0 = 1 into a formula that holds from 2 on, which
breaks the smoothness.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.validation import Floats, binary_array, choice, whole_number


def score_matrix(scores: npt.ArrayLike, *, n: int | None = None) -> Floats:
    """Return scores in [0, 1] as a float array of shape (m, n), one row a question; a single row may be given flat."""
    try:
        h = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("scores must be numbers in [0, 1], one row a question.") from None
    if h.ndim == 1:
        h = h[np.newaxis]
    if h.ndim != 2 or not h.size:
        raise InputError(
            f"scores must have one row a question and one column a person, got shape {h.shape}."
        )
    if n is not None and h.shape[1] != n:
        raise InputError(f"scores must have one value for each of {n} people, got {h.shape[1]}.")
    # nan propagates into both
    low = float(h.min())
    high = float(h.max())
    if not (low >= 0.0 and high <= 1.0):
        wrong = h[~((h >= 0.0) & (h <= 1.0))][0]
        raise InputError(f"scores must be in [0, 1], got {wrong}.")
    return h


def answer_array(answers: npt.ArrayLike) -> Floats:
    """Return answers as a float array of shape (m,), all finite; a single one may be given as a number."""
    try:
        values = np.atleast_1d(np.asarray(answers, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError("answers must be numbers, one a question.") from None
    if values.ndim != 1:
        raise InputError(f"answers must be numbers, one a question, got shape {values.shape}.")
    if not np.isfinite(values).all():
        raise InputError(f"answers must be finite, got {values[~np.isfinite(values)][0]}.")
    return values


def attribute_array(sensitive: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Return the attribute as an array of 0 and 1 in which both occur."""
    a = binary_array(sensitive, name="sensitive")
    if not a.size or a.min() == a.max():
        if a.size:
            composition = f"all {a.size} are {a[0]}"
        else:
            composition = "there is nobody"
        raise InputError(
            f"A gap needs people of both groups (1 = advantaged, 0 = disadvantaged); {composition}."
        )
    return a


def people(scores: npt.ArrayLike, sensitive: npt.ArrayLike) -> tuple[Floats, npt.NDArray[np.uint8]]:
    """Return scores (m, n) and attribute (n,) of the people that questions are about."""
    a = binary_array(sensitive, name="sensitive")
    return score_matrix(scores, n=a.size), a


def check_sizes(n_advantaged: int, n_disadvantaged: int, n: int | None = None) -> tuple[int, int]:
    """Return the group sizes as whole numbers, each at least 1, together n."""
    first = whole_number(n_advantaged, name="n_advantaged", least=1)
    second = whole_number(n_disadvantaged, name="n_disadvantaged", least=1)
    if n is not None and first + second != n:
        raise InputError(
            f"n_advantaged and n_disadvantaged must sum to {n} people, got {first} and {second}."
        )
    return first, second


def counted(probability: Floats, total: int) -> Floats:
    """Return probabilities (R, n) in (0, 1) with each repeat's odds shifted, so that they add up to `total`."""
    logits = (np.log(probability) - np.log1p(-probability)).T
    low = -logits.max(axis=0) - 40.0
    high = -logits.min(axis=0) + 40.0
    shift = np.zeros(logits.shape[1])
    for _ in range(60):
        q = 0.5 * (1.0 + np.tanh(0.5 * (logits + shift)))
        excess = q.sum(axis=0) - total
        if np.abs(excess).max() < 1e-9 * total:
            break
        high = np.where(excess > 0, shift, high)
        low = np.where(excess > 0, low, shift)
        newton = shift - excess / np.maximum((q * (1 - q)).sum(axis=0), 1e-300)
        shift = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
    return q.T


def statistical_parity_gap(scores: npt.ArrayLike, sensitive: npt.ArrayLike) -> Floats:
    """Return the statistical parity gap of each model, shape (m,), in [-1, 1] (Hamman et al. 2023, equation 1).

    Of people with label 1 alone it is the equal opportunity gap (equation 2). Raises `InputError` if a score lies
    outside [0, 1], the lengths differ, or a group is empty.

    Parameters
    ----------
    scores : array-like of shape (m, n) or (n,), in [0, 1]
        Probability with which each of m models accepts each of n people; one row a question.
    sensitive : array-like of shape (n,), 0 or 1
        1 = advantaged.
    """
    a = attribute_array(sensitive)
    n_advantaged = int(a.sum())
    v = np.where(a == 1, 1.0 / n_advantaged, -1.0 / (a.size - n_advantaged))
    return score_matrix(scores, n=v.size) @ v  # SP = H v (equation 4)


def leakage(sensitive: npt.ArrayLike, recovered: npt.ArrayLike) -> float:
    """Return the leakage, in [0, 1]: the balanced accuracy of a recovered attribute (definition 5.1).

    Random guessing reaches 0.5. Raises `InputError` if a group is empty, the lengths differ or a value is not
    0 or 1.
    """
    a = attribute_array(sensitive)
    guess = binary_array(recovered, name="recovered")
    if guess.size != a.size:
        raise InputError(
            f"recovered must have one value for each of {a.size} people, got {guess.size}."
        )
    right = guess == a
    return float(right[a == 1].mean() + right[a == 0].mean()) / 2


DESIGNS = {
    "jitter": "Random perturbations",
    "random_binary": "Random binary models",
    "targeted": "Single-record flips",
    "bits": "Binary packing (50 records a query)",
}
"""The designs by name, and what to call each."""

SINGLE = {"single": "One person accepted at a time, absolute gap"}
"""The design that splits people by gaps without their sign."""

BITS_A_QUESTION = 50  # a double holds 53


WIDTH = 0.1
"""Largest change "jitter" makes to a score."""


def design_scores(
    design: str, base: npt.ArrayLike, m: int, *, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return the scores of m models, shape (m, n), in [0, 1].

    Raises `InputError` if a score lies outside [0, 1], or the design is unknown or has fewer questions than m.

    Parameters
    ----------
    design : str
        One of `DESIGNS`.
    base : array-like of shape (n,), in [0, 1]
        The base model's scores; "random_binary" and "bits" use their number only.
    m : int
        Number of questions, from 1 to `most_questions(design, n)`.
    rng : numpy.random.Generator
        Not drawn from by "targeted" and "bits".
    """
    choice(design, DESIGNS, name="design")
    row = score_matrix(base)
    if len(row) != 1:
        raise InputError(f"base must have one score a person, got {len(row)} rows.")
    n = row.shape[1]
    also = f" with {design} questions about {n} people"
    whole_number(m, name="m", least=1, most=most_questions(design, n), also=also)
    if design == "jitter":
        return np.clip(row + rng.uniform(-WIDTH, WIDTH, (m, n)), 0.0, 1.0)
    if design == "random_binary":
        return rng.integers(0, 2, (m, n)).astype(np.float64)
    if design == "targeted":  # the base scores, with person k - 1 flipped in row k
        scores = np.tile(row[0], (m, 1))
        person = np.arange(m - 1)
        scores[person + 1, person] = 1.0 - row[0, person]
        return scores
    scores = np.zeros((m, n))
    person = np.arange(min(n, m * BITS_A_QUESTION))
    scores[person // BITS_A_QUESTION, person] = np.exp2(-(person % BITS_A_QUESTION))
    return scores


def most_questions(design: str, n: int) -> int | None:
    """Return after how many questions about n people a design has none left; None if it never ends."""
    if choice(design, DESIGNS, name="design") == "targeted":
        return n + 1
    if design == "bits":
        return math.ceil(n / BITS_A_QUESTION)
    return None


def _edge(n: int, k: int, *, absolute: bool) -> float:
    """Return how far one gap can move when somebody leaves a group of k."""
    if absolute:
        return n / (k * (n - k + 1))
    return (n + 1) / (k * (n - k + 1))


def _checked(n_advantaged: int, n_disadvantaged: int, m: int) -> tuple[int, int, int]:
    n1, n0 = check_sizes(n_advantaged, n_disadvantaged)
    n = whole_number(n1 + n0, name="The number of people", least=3)
    return n, min(n1, n0), whole_number(m, name="m", least=1)


def local_sensitivity(
    n_advantaged: int, n_disadvantaged: int, m: int, *, absolute: bool = False
) -> float:
    """Return how far m gaps, signed or absolute, can move from a vector with these group sizes (equation 8).

    The worst scores are assumed. The sizes are at least 1 and together at least 3.
    """
    n, small, m = _checked(n_advantaged, n_disadvantaged, m)
    return m * _edge(n, max(small, 2), absolute=absolute)


def global_sensitivity(n: int, m: int, *, absolute: bool = False) -> float:
    """Return the largest local sensitivity among n people: m/2 + m/(n − 1) (theorem 5).

    For absolute gaps it is m n/(2(n − 1)); theorem 6 says m/2.
    """
    n = whole_number(n, name="The number of people", least=3)
    m = whole_number(m, name="m", least=1)
    return m * _edge(n, 2, absolute=absolute)


def smooth_sensitivity(
    n_advantaged: int,
    n_disadvantaged: int,
    m: int,
    beta: float,
    *,
    absolute: bool = False,
) -> float:
    """Return the β-smooth sensitivity (definition 4.3): the largest e^(−β d) × local sensitivity at any distance d.

    Sizes, m and `absolute` are those of `local_sensitivity`. A beta of 0 gives the global sensitivity, infinity the
    local one.
    """
    n, small, m = _checked(n_advantaged, n_disadvantaged, m)
    if not beta >= 0:
        raise InputError(f"beta must be at least 0, got {beta!r}.")
    small = max(small, 2)
    steps = small - 2
    shrink = math.exp(-beta * steps) if steps else 1.0
    return m * max(_edge(n, small, absolute=absolute), shrink * _edge(n, 2, absolute=absolute))
