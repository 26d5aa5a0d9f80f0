"""Group sizes from one answer, and the partition of everybody by absolute gaps (remark 4 and theorem 4).

An absolute gap does not say which group is ahead: people can be parted in two, not named. With n questions that is
possible whatever the sizes. The first asks about a model accepting person 1 alone; the answer is 1/N_α, α her group.
With unequal sizes everybody else is asked about alone. With equal sizes, where 1/N_α = 1/N_β, everybody else is asked
about together with person 1: 2/N_α for those of her group, 0 for the others. (With unequal sizes that test would
compare |1/N_α − 1/N_β| with 2/N_α, which are the same when 3 N_β = N_α.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.queries.checks import Floats, answer_array

WHOLE = 1e-6  # how far 1/answer may lie from a whole number, relative to it


def sizes_from_answer(answer: float, n: int) -> tuple[int, int]:
    """Return (n_advantaged, n_disadvantaged) from the gap of a model that accepts one person (remark 4).

    Raises
    ------
    InputError
        If the answer is neither 1/N1 nor -1/N0 with sizes from 1 to n - 1, as a noisy or rounded one is.
    """
    size = _size(abs(float(answer)), n, told=answer)
    return (size, n - size) if answer > 0 else (n - size, size)


def partition_absolute(ask: Callable[[Floats], npt.ArrayLike], n: int) -> npt.NDArray[np.uint8]:
    """Part everybody by group with n absolute gaps.

    Parameters
    ----------
    ask : callable
        Takes scores of shape (k, n) and returns the k absolute gaps; called twice, for n rows in all.
    n : int
        Number of people, at least 2.

    Returns
    -------
    ndarray of shape (n,), uint8
        1 for the larger group; with equal sizes, for the first person's.

    Raises
    ------
    InputError
        If n is below 2 or an answer cannot be an exact absolute gap.
    """
    if n < 2:
        raise InputError(f"n must be at least 2, got {n}.")
    alone = np.eye(n)
    first = float(_answers(ask(alone[:1]), 1)[0])
    size = _size(first, n, told=first)
    rest = alone[1:]
    if 2 * size == n:
        rest[:, 0] = 1.0
    answers = _answers(ask(rest), n - 1)
    same, other = (2 / size, 0.0) if 2 * size == n else (1 / size, 1 / (n - size))
    like_first = np.append(True, np.abs(answers - same) < np.abs(answers - other))
    return (like_first == (2 * size >= n)).astype(np.uint8)


def _size(answer: float, n: int, *, told: float) -> int:
    """Return the whole number `answer` is one over."""
    size = round(1.0 / answer) if 0.0 < answer <= 1.0 + WHOLE else 0
    if not 1 <= size < n or abs(answer * size - 1.0) > WHOLE:
        raise InputError(
            f"The answer to a model that accepts one of {n} people must be one over a group's size, got {told!r}."
        )
    return size


def _answers(answers: npt.ArrayLike, k: int) -> Floats:
    gaps = answer_array(answers)
    if gaps.size != k:
        raise InputError(f"ask must return one answer for each of {k} questions, got {gaps.size}.")
    return gaps
