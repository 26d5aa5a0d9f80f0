"""Which counts of a table to withhold so that none below a threshold can be read, or worked out from the others.

A small count is withheld first (primary suppression). Where sums tell it all the same, further counts are withheld, the
smallest first (complementary suppression), until what is published leaves every small count open over a range at least
as wide as the threshold. The range is computed, not argued: the least and the largest value of the count over all
tables of numbers of at least 0 with the published counts and sums, two linear programs a count.

This is the classical protection of tables by cell suppression (Willenborg and de Waal 2001, Elements of Statistical
Disclosure Control). It says nothing about what other publications of the same people tell.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

Cell = TypeVar("Cell", bound=Hashable)

Sum = tuple[Cell, tuple[Cell, ...]]
"""A count, and the counts it is the sum of."""

_SLACK = 1e-6


def withheld_counts(
    counts: Mapping[Cell, int],
    sums: Sequence[Sum[Cell]],
    *,
    threshold: int,
    public: Collection[Cell] = (),
    unpublished: Collection[Cell] = (),
) -> frozenset[Cell]:
    """Return the counts, of at least 0 each, to withhold; every reader is taken to know what sums up to what.

    Counts below the threshold, at least 1, are withheld, 0 included: that nobody is in a cell says something of
    everybody. Never withheld and never protected are `public` ones, which every reader knows anyway, such as the grand
    totals; `unpublished` ones are told nowhere, such as differences between others: they are protected where they are
    small, and part of the result.
    """
    known = set(public)
    small = [cell for cell, count in counts.items() if count < threshold and cell not in known]
    hidden = set(small) | set(unpublished)
    open_ = list(small)
    while open_:
        cell = open_[0]
        low, high = least_and_most(cell, counts, sums, hidden)
        if high - low >= threshold - _SLACK:
            open_.pop(0)
            continue
        more = _next(cell, counts, sums, hidden, known, set(unpublished))
        if more is None:
            return frozenset(name for name in counts if name not in known)
        hidden.add(more)
    return frozenset(hidden)


def _next(
    cell: Cell,
    counts: Mapping[Cell, int],
    sums: Sequence[Sum[Cell]],
    hidden: set[Cell],
    known: set[Cell],
    unpublished: set[Cell],
) -> Cell | None:
    """Return the smallest published count in a sum with the cell; failing that, with another withheld one.

    Sums in which everything but the cell is published come first, for they tell it; then those that tell another one.
    """
    cells = [{total, *parts} for total, parts in sums]
    alone = [names for names in cells if len(names & hidden) == 1]
    for reached in (
        [names for names in alone if cell in names],
        [names for names in alone if not names & unpublished],
        [names for names in cells if cell in names],
        [names for names in cells if names & hidden],
    ):
        beside = {name for names in reached for name in names if name not in hidden and name not in known}
        if beside:
            return min(beside, key=lambda name: (counts[name], list(counts).index(name)))
    return None


def least_and_most(
    cell: Cell, counts: Mapping[Cell, int], sums: Sequence[Sum[Cell]], hidden: Collection[Cell]
) -> tuple[float, float]:
    """Return the least and the largest value a withheld count can have, given everything that is not withheld.

    Where the counts given contradict their own sums nothing can be promised: (0, 0).
    """
    from scipy.optimize import linprog

    place = {name: i for i, name in enumerate(name for name in counts if name in set(hidden))}
    rows, values = [], []
    for total, parts in sums:
        row, value = np.zeros(len(place)), 0.0
        for name, sign in ((total, -1.0), *((part, 1.0) for part in parts)):
            if name in place:
                row[place[name]] += sign
            else:
                value -= sign * counts[name]
        if row.any():
            rows.append(row)
            values.append(value)
    if not rows:
        return 0.0, float("inf")
    aim = np.zeros(len(place))
    aim[place[cell]] = 1.0
    ends = []
    for sign in (1.0, -1.0):
        found = linprog(sign * aim, A_eq=np.array(rows), b_eq=np.array(values), bounds=(0, None), method="highs")
        if found.status == 3:  # unbounded
            ends.append(float("inf"))
        elif found.status != 0:
            return 0.0, 0.0
        else:
            ends.append(sign * float(found.fun))
    return ends[0], ends[1]
