"""Which counts of a report to withhold so that none below a threshold can be read, or worked out from the others.

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

from core.release_audit.result import TableTitle
from core.report.canonical import number_of, rounded_estimate
from core.report.document import Document

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


_Cell = tuple[str, str]
"""Group ("" for everybody), and which of its records."""

_BEHIND = {
    "label_rate": ("count", "labelled", "not labelled"),
    "test_rate": ("test", "accepted", "rejected"),
    "test_tpr": ("positive", "true positive", "false negative"),
    "test_fpr": ("negative", "false positive", "true negative"),
}
"""Rate -> the counts behind it: all, those that count, those that do not."""

_ELSEWHERE = {
    "elsewhere": ("count", "test"),
    "labelled elsewhere": ("labelled", "positive"),
    "not labelled elsewhere": ("not labelled", "negative"),
}
"""Records of a group outside the test: printed nowhere, and differences of what is."""

# On the test records a group's rates come from one two-by-two table, label by prediction; the groups add up to
# everybody's totals, which are taken to be known. All records with their labels are another table; what it holds beyond
# the test records is told by the difference, and protected like any other count.
_ADD_UP = (
    ("count", "labelled", "not labelled"),
    ("test", "accepted", "rejected"),
    ("test", "positive", "negative"),
    ("positive", "true positive", "false negative"),
    ("negative", "false positive", "true negative"),
    ("accepted", "true positive", "false positive"),
    ("rejected", "false negative", "true negative"),
    *((whole, tested, rest) for rest, (whole, tested) in _ELSEWHERE.items()),
    tuple(_ELSEWHERE),
)


def redacted_groups(found: Document, threshold: int, notes: list[str]) -> tuple[list[Document], frozenset[_Cell]]:
    """Return the groups' summaries for others, and the counts withheld; `notes` is told what and why."""
    groups: list[Document] = found["groups"]
    counts = _counts(groups)
    names = [str(place) for place in range(len(groups))]
    sums: list[Sum[_Cell]] = [
        ((name, total), tuple((name, part) for part in parts)) for name in ("", *names) for total, *parts in _ADD_UP
    ]
    kinds = dict.fromkeys(kind for _, kind in counts)
    sums += [(("", kind), tuple((name, kind) for name in names)) for kind in kinds]
    everybody = [("", kind) for kind in kinds]
    apart = {(name, kind) for name in names for kind in _ELSEWHERE}
    protected = withheld_counts(counts, sums, threshold=threshold, public=everybody, unpublished=apart)
    hidden = protected - apart
    small = {cell for cell in protected if counts[cell] < threshold}
    shown = [_shown(group, name, hidden) for group, name in zip(groups, names, strict=True)]
    _tell(groups, hidden, small, threshold, notes)
    return shown, hidden


def _counts(groups: Sequence[Document]) -> dict[_Cell, int]:
    counts: dict[_Cell, int] = {}
    for place, group in enumerate(groups):
        own: dict[str, int] = {}
        for rate, (all_, hits, misses) in _BEHIND.items():
            n, value = int(group[rate]["n"] or 0), number_of(group[rate]["value"])
            count = round(value * n) if n and value == value else 0
            own |= {all_: n, hits: count, misses: n - count}
        own["accepted"] = own["true positive"] + own["false positive"]
        own["rejected"] = own["false negative"] + own["true negative"]
        own["test"] = own["positive"] + own["negative"]
        own["count"] = own["labelled"] + own["not labelled"]
        own |= {rest: own[whole] - own[tested] for rest, (whole, tested) in _ELSEWHERE.items()}
        counts |= {(str(place), kind): number for kind, number in own.items()}
    for kind in dict.fromkeys(kind for _, kind in counts):
        counts["", kind] = sum(counts[str(place), kind] for place in range(len(groups)))
    return counts


def _shown(group: Document, name: str, hidden: frozenset[_Cell]) -> Document:
    gone = {rate for rate, kinds in _BEHIND.items() if any((name, kind) in hidden for kind in kinds)}
    rates = {rate: None if rate in gone else rounded_estimate(group[rate]) for rate in _BEHIND}
    return {**group, **rates, "count": None if (name, "count") in hidden else group["count"]}


def _tell(
    groups: Sequence[Document], hidden: frozenset[_Cell], small: set[_Cell], threshold: int, notes: list[str]
) -> None:
    if not hidden:
        notes.append(f"No count of a group is below {threshold}: none had to be withheld.")
        return

    def named(cells: Collection[_Cell]) -> str:
        places = sorted({int(name) for name, _ in cells if name})
        return ", ".join(str(groups[place]["group"]) for place in places)

    notes.append(
        f"Numbers of these groups are withheld because a count behind them is below {threshold}: {named(small)}. "
        "Comparisons between groups are withheld too, always, so that their absence reveals nothing."
    )
    beside = hidden - small
    if beside:
        notes.append(
            "Further counts are withheld so that sums and totals do not reveal these. They are of these groups: "
            f"{named(beside)}."
        )


_RATE = "positive predictions"


def small_in_training(tables: Sequence[Document], threshold: int) -> tuple[bool, bool]:
    """Return whether a size, and whether any count of a group on the training records is below the threshold.

    A size is how many of a group they hold, in all or with the label the metric speaks of; the counts are that, and how
    many of these are accepted or not: said to be small as well where no table tells.
    """
    rows = [
        row
        for table in tables
        if table["title"] == TableTitle.RATES and {"records", "people", _RATE} <= set(table["columns"])
        for row in (dict(zip(table["columns"], cells, strict=True)) for cells in table["rows"])
        if row["records"] == "training"
    ]
    sizes, counts = False, not rows
    for row in rows:
        n, rate = int(row["people"] or 0), number_of(row[_RATE])
        accepted = round(n * rate) if rate == rate else 0
        sizes = sizes or n < threshold
        counts = counts or min(accepted, n - accepted) < threshold
    return sizes, sizes or counts
