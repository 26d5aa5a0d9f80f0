"""The answers themselves: signed gaps between the advantaged and the disadvantaged group, and what leaked of them.

Everywhere in this package a person's attribute is 1 for the advantaged group and 0 for the disadvantaged one, and a
gap is the advantaged group's mean score minus the other's (Hamman et al. 2023, definitions 2.1 and 2.2).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.queries.checks import Floats, attribute_array, score_matrix
from core.validation import binary_array, one_length


def gap_weights(sensitive: npt.ArrayLike) -> Floats:
    """Return v, shape (n,): 1/N1 for the advantaged, −1/N0 for the disadvantaged, so that SP = H v (equation 4).

    Raises
    ------
    InputError
        If one of the groups is empty.
    """
    a = attribute_array(sensitive)
    n_advantaged = int(a.sum())
    return np.where(a == 1, 1.0 / n_advantaged, -1.0 / (a.size - n_advantaged))


def statistical_parity_gap(scores: npt.ArrayLike, sensitive: npt.ArrayLike) -> Floats:
    """Return the statistical parity gap of each model (Hamman et al. 2023, equation 1).

    Parameters
    ----------
    scores : array-like of shape (m, n) or (n,), in [0, 1]
        Probability with which each of m models accepts each of n people; one row a question.
    sensitive : array-like of shape (n,), 0 or 1
        1 = advantaged.

    Returns
    -------
    ndarray of shape (m,), in [-1, 1]

    Raises
    ------
    InputError
        If a score lies outside [0, 1], the lengths differ, or a group is empty.
    """
    v = gap_weights(sensitive)
    return np.asarray(score_matrix(scores, n=v.size) @ v)


def equal_opportunity_gap(scores: npt.ArrayLike, sensitive: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
    """Return the equal opportunity gap of each model: the same among people with label 1 (equation 2).

    Parameters
    ----------
    scores : array-like of shape (m, n) or (n,), in [0, 1]
    sensitive, labels : array-like of shape (n,), 0 or 1

    Raises
    ------
    InputError
        As `statistical_parity_gap`, and if a group has nobody with label 1.
    """
    a, y = binary_array(sensitive, name="sensitive"), binary_array(labels, name="labels")
    one_length(sensitive=a, labels=y)
    h = score_matrix(scores, n=a.size)
    positive = y == 1
    return statistical_parity_gap(h[:, positive], a[positive])


def leakage(sensitive: npt.ArrayLike, recovered: npt.ArrayLike) -> float:
    """Return the leakage, in [0, 1]: the balanced accuracy of a recovered attribute (definition 5.1).

    A coin toss gets 0.5 of either group.

    Raises
    ------
    InputError
        If a group is empty, the lengths differ or a value is not 0 or 1.
    """
    a, found = attribute_array(sensitive), binary_array(recovered, name="recovered")
    if found.size != a.size:
        raise InputError(f"recovered must have one value for each of {a.size} people, got {found.size}.")
    right = found == a
    return float(right[a == 1].mean() + right[a == 0].mean()) / 2
