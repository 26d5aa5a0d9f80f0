"""How far m gaps can move, in L1, when one person changes group: local, global and smooth sensitivity.

Neighbours are attribute vectors that differ in one person (Hamman et al. 2023, section 4); predictions and labels are
public. Only vectors in which both groups occur count, because a gap needs both. For equal opportunity the people are
those with label 1.

Flipping a member of a group of k out of n people takes the weight of H v off k people and puts 1/(n − k + 1) on one
more. Summing the positive parts of the change of v, a score row can move a gap by at most

    g(k) = 1/k + 1/(n − k + 1) = (n + 1) / (k (n − k + 1)),

and an absolute gap by at most n / (k (n − k + 1)): the row must not change the sign on the way, so the best one starts
from a gap of 0. An edge between neighbours has one k at either end: k here, n − k + 1 seen from the other group. Both
forms fall up to the middle, so the local sensitivity is m g(N) with N the smaller group, and m g(2) if that is one
person, who cannot leave. Along the way to smaller groups e^(−β d) g is quasi-convex: the smooth sensitivity is at an
end, here or at N = 2.

Where the paper differs (`as_published`): theorem 6 and the absolute smooth form leave out that a gap of 0 can be the
start (m/2 and m/N0 in place of the above); algorithm 3 does not sort the groups, and puts N0 = 1 into a formula that
holds from 2 on, which breaks the smoothness.
"""

from __future__ import annotations

import math

from core.errors import InputError
from core.queries.gaps import check_sizes


def _edge(n: int, k: int, *, absolute: bool) -> float:
    """Return how far one gap can move when somebody leaves a group of k."""
    return (n if absolute else n + 1) / (k * (n - k + 1))


def _whole(value: int, least: int, name: str) -> int:
    if isinstance(value, bool) or value != int(value) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    return int(value)


def _checked(n_advantaged: int, n_disadvantaged: int, m: int) -> tuple[int, int, int]:
    n1, n0 = check_sizes(n_advantaged, n_disadvantaged)
    return _whole(n1 + n0, 3, "The number of people"), min(n1, n0), _whole(m, 1, "m")


def local_sensitivity(n_advantaged: int, n_disadvantaged: int, m: int, *, absolute: bool = False) -> float:
    """Return how far m gaps, signed or absolute, can move from a vector with these group sizes (equation 8).

    The worst scores are assumed. The sizes are at least 1 and together at least 3.
    """
    n, small, m = _checked(n_advantaged, n_disadvantaged, m)
    return m * _edge(n, max(small, 2), absolute=absolute)


def global_sensitivity(n: int, m: int, *, absolute: bool = False, as_published: bool = False) -> float:
    """Return the largest local sensitivity among n people: m/2 + m/(n − 1) (theorem 5).

    For absolute gaps it is m n/(2(n − 1)); theorem 6 says m/2 (`as_published`).
    """
    n, m = _whole(n, 3, "The number of people"), _whole(m, 1, "m")
    if absolute and as_published:
        return m / 2
    return m * _edge(n, 2, absolute=absolute)


def smooth_sensitivity(
    n_advantaged: int,
    n_disadvantaged: int,
    m: int,
    beta: float,
    *,
    absolute: bool = False,
    as_published: bool = False,
) -> float:
    """Return the β-smooth sensitivity (definition 4.3): the largest e^(−β d) × local sensitivity at any distance d.

    Sizes, m and `absolute` are those of `local_sensitivity`. A beta of 0 gives the global sensitivity, infinity the
    local one. As published it is theorem 7's formula as algorithm 3 applies it: the disadvantaged group taken for the
    smaller one, and no care for a group of one person.
    """
    n, small, m = _checked(n_advantaged, n_disadvantaged, m)
    if not beta >= 0:
        raise InputError(f"beta must be at least 0, got {beta!r}.")
    if as_published:
        return _published(n_advantaged, n_disadvantaged, m, beta, absolute=absolute)
    small = max(small, 2)
    steps = small - 2
    shrink = math.exp(-beta * steps) if steps else 1.0
    return m * max(_edge(n, small, absolute=absolute), shrink * _edge(n, 2, absolute=absolute))


def _published(n1: int, n0: int, m: int, beta: float, *, absolute: bool) -> float:
    """Return the formula of theorem 7, or of section 4.2's last line for absolute gaps, with N0 as it comes."""
    shrink = math.exp(min(-beta * (n0 - 2), 700.0)) if n0 != 2 else 1.0
    if absolute:
        return max(m / n0, m * shrink / 2)
    return max(m / (n1 + 1) + m / n0, shrink * (m / (n1 + n0 - 1) + m / 2))
