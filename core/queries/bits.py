"""Fifty people a question: their scores are powers of two, so the answer spells out their attributes.

Nothing here is in Hamman et al. (2023). For k people with scores 2^−i and everybody else's 0, the answer is

    SP = (T − K) / (2^(k−1) N1) − K / (2^(k−1) N0),     T = 2^k − 1,     K = Σ 2^(k−1−i) [person i is disadvantaged],

so K = (T/N1 − 2^(k−1) SP) / (1/N1 + 1/N0), whose binary digits are the attributes. Everything is computed in exact
fractions of the doubles 1/N1 and 1/N0; what remains is the rounding of the sums inside whoever answers, at times a
unit of K's last place. Hence the last step: among the neighbours of K, the one whose own answer comes nearest.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.queries.checks import Floats, answer_array, check_sizes
from core.queries.designs import BITS_A_QUESTION, design_scores, most_questions

NEIGHBOURS = sorted(range(-16, 17), key=abs)


def reveal_bits(answers: npt.ArrayLike, n: int, *, n_advantaged: int, n_disadvantaged: int) -> npt.NDArray[np.uint8]:
    """Recover the attribute from the gaps of the "bits" design.

    Parameters
    ----------
    answers : array-like of shape (m,)
        At most one for every 50 people; exact, or the last people of each fifty drown.
    n : int
        Number of people.
    n_advantaged, n_disadvantaged : int
        Group sizes, summing to n (`sizes_from_answer`).

    Returns
    -------
    ndarray of shape (n,), uint8
        1 = advantaged; people nobody asked about are given the larger group.

    Raises
    ------
    InputError
        If there are more answers than questions, an answer is not finite, or the sizes do not sum to n.
    """
    sizes = check_sizes(n_advantaged, n_disadvantaged, n)
    sp = answer_array(answers)
    most = most_questions("bits", n) or 1
    if not 1 <= sp.size <= most:
        raise InputError(f"answers must be 1 to {most} for {n} people, got {sp.size}.")
    guesses = [_number(float(answer), _people(question, n), sizes) for question, answer in enumerate(sp)]
    tried = np.array([_attributes(guesses, step, n, sizes) for step in NEIGHBOURS])
    return _nearest(tried, sp, sizes)


def _people(question: int, n: int) -> int:
    """Return how many people a question is about."""
    return min(BITS_A_QUESTION, n - question * BITS_A_QUESTION)


def _number(answer: float, people: int, sizes: tuple[int, int]) -> int:
    """Return K of the module's docstring, to the nearest."""
    r, q = (Fraction(1.0 / size) for size in sizes)
    return round((((1 << people) - 1) * r - (1 << (people - 1)) * Fraction(answer)) / (r + q))


def _attributes(guesses: list[int], step: int, n: int, sizes: tuple[int, int]) -> npt.NDArray[np.uint8]:
    """Return everybody's attribute if every K is `step` above its guess."""
    attribute = np.full(n, sizes[0] >= sizes[1], dtype=np.uint8)
    for question, guess in enumerate(guesses):
        people = _people(question, n)
        k = min(max(guess + step, 0), (1 << people) - 1)
        start = question * BITS_A_QUESTION
        attribute[start : start + people] = [1 - (k >> place & 1) for place in reversed(range(people))]
    return attribute


def _nearest(tried: npt.NDArray[np.uint8], sp: Floats, sizes: tuple[int, int]) -> npt.NDArray[np.uint8]:
    """Choose, for each question, the attributes whose answer is nearest to the one given."""
    n = tried.shape[1]
    scores = design_scores("bits", np.zeros(n), sp.size, rng=np.random.default_rng(0))
    weights = np.where(tried == 1, 1.0 / sizes[0], -1.0 / sizes[1])
    away = np.array([np.abs(scores @ v - sp) for v in weights])  # a product at a time, as `statistical_parity_gap`
    chosen = away.argmin(axis=0)
    found = tried[0].copy()
    for question, row in enumerate(chosen):
        start = question * BITS_A_QUESTION
        found[start : start + BITS_A_QUESTION] = tried[row, start : start + BITS_A_QUESTION]
    return found
