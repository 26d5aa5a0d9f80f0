"""The questions an asker may put: which models' scores are sent to be judged.

Every design makes a matrix of scores, one row a model and one column a person, from the scores of a base model. It
knows nothing of anybody's attribute.

jitter
    The base scores with small uniform noise, clipped to [0, 1]: models nobody would find odd (Hamman et al. 2023,
    algorithm 2).
random_binary
    Every score 0 or 1 by a coin: the most telling matrix for compressed sensing, and no useful model.
targeted
    Row 0 is the base model, row k differs from it for person k − 1 alone (example 2 and algorithm 1).
bits
    Each question takes up 50 people whose scores are the powers of two, the others' are 0: the answer's binary digits
    are their attributes.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.queries.gaps import Floats, score_matrix
from core.validation import choice, unit_interval

DESIGNS = {
    "jitter": "Audited model, slightly jittered",
    "random_binary": "Random yes and no",
    "targeted": "One person changed at a time",
    "bits": "Fifty people packed in one score",
}
"""The designs by name, and what to call each."""

BITS_A_QUESTION = 50  # a double holds 53


def design_scores(
    design: str, base: npt.ArrayLike, m: int, *, rng: np.random.Generator, width: float = 0.1
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
    width : float, in [0, 1]
        Largest change "jitter" makes to a score.
    """
    choice(design, DESIGNS, name="design")
    row = score_matrix(base)
    if len(row) != 1:
        raise InputError(f"base must have one score a person, got {len(row)} rows.")
    n = row.shape[1]
    whole = isinstance(m, (int, np.integer)) and not isinstance(m, bool)
    most = most_questions(design, n)
    if not whole or m < 1 or (most is not None and m > most):
        told = "of at least 1" if most is None else f"from 1 to {most}"
        raise InputError(f"m must be a whole number {told} with {design} questions about {n} people, got {m!r}.")
    if design == "jitter":
        spread = unit_interval(width, name="width")
        return np.clip(row + rng.uniform(-spread, spread, (m, n)), 0.0, 1.0)
    if design == "random_binary":
        return rng.integers(0, 2, (m, n)).astype(np.float64)
    return _targeted(row[0], m) if design == "targeted" else _bits(n, m)


def most_questions(design: str, n: int) -> int | None:
    """Return after how many questions about n people a design has none left; None if it never ends."""
    if choice(design, DESIGNS, name="design") == "targeted":
        return n + 1
    return math.ceil(n / BITS_A_QUESTION) if design == "bits" else None


def _targeted(base: Floats, m: int) -> Floats:
    """Repeat the base scores and flip person k - 1 in row k."""
    scores = np.tile(base, (m, 1))
    person = np.arange(m - 1)
    scores[person + 1, person] = 1.0 - base[person]
    return scores


def _bits(n: int, m: int) -> Floats:
    """Give person j the score 2^-(j mod 50) in the question of its fifty."""
    scores = np.zeros((m, n))
    person = np.arange(min(n, m * BITS_A_QUESTION))
    scores[person // BITS_A_QUESTION, person] = np.exp2(-(person % BITS_A_QUESTION))
    return scores
