"""The groups' summaries with small counts withheld.

A rate on some rows is three counts: the rows of the group, those that count (hits) and those that do not. On the test
records the rates of a group come from one two-by-two table, label by prediction, whose sums every reader knows; the
groups add up to everybody's totals, which are taken to be known. The table of all records, with its labels, is another;
what it holds beyond the test records is told by the difference, and protected like any other count.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from core.report.document import Document
from core.report.numbers import number_of, rounded_estimate
from core.report.suppression import Sum, withheld_counts

_Cell = tuple[str, str]
"""Group ("" for everybody), and which of its records."""

_BEHIND = {
    "label_rate": ("count", "labelled", "not labelled"),
    "test_rate": ("test", "accepted", "rejected"),
    "test_tpr": ("positive", "true positive", "false negative"),
    "test_fpr": ("negative", "false positive", "true negative"),
}
"""Rate -> the counts behind it: all, those that count, those that do not."""

_ADD_UP = (
    ("count", "labelled", "not labelled"),
    ("test", "accepted", "rejected"),
    ("test", "positive", "negative"),
    ("positive", "true positive", "false negative"),
    ("negative", "false positive", "true negative"),
    ("accepted", "true positive", "false positive"),
    ("rejected", "false negative", "true negative"),
    ("count", "test", "elsewhere"),
    ("labelled", "positive", "labelled elsewhere"),
    ("not labelled", "negative", "not labelled elsewhere"),
    ("elsewhere", "labelled elsewhere", "not labelled elsewhere"),
)

_ELSEWHERE = ("elsewhere", "labelled elsewhere", "not labelled elsewhere")
"""Records of a group outside the test: printed nowhere, and differences of what is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """What of the groups is withheld.

    Attributes
    ----------
    cells : frozenset of (str, str)
        Place of the group, and which of its records are counted.
    any_size : bool
        Whether the size of a group, in all, in the test or by label there, is printed nowhere; that follows from what
        is printed, and so tells nothing of the counts that are not.
    """

    cells: frozenset[tuple[str, str]]
    any_size: bool

    @property
    def any_count(self) -> bool:
        """Whether anything is."""
        return bool(self.cells)


def disclosed_groups(found: Document, threshold: int, notes: list[str]) -> tuple[list[Document], Hidden]:
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
    printed = ("count", *_BEHIND)
    return shown, Hidden(cells=hidden, any_size=any(group[name] is None for group in shown for name in printed))


def _counts(groups: Sequence[Document]) -> dict[_Cell, int]:
    counts: dict[_Cell, int] = {}
    for place, group in enumerate(groups):
        for rate, (all_, hits, misses) in _BEHIND.items():
            n, value = int(group[rate]["n"] or 0), number_of(group[rate]["value"])
            count = round(value * n) if n and value == value else 0
            counts |= {(str(place), all_): n, (str(place), hits): count, (str(place), misses): n - count}
        own = {kind: counts[str(place), kind] for _, kind in tuple(counts) if (str(place), kind) in counts}
        counts[str(place), "accepted"] = own["true positive"] + own["false positive"]
        counts[str(place), "rejected"] = own["false negative"] + own["true negative"]
        counts[str(place), "test"] = own["positive"] + own["negative"]
        counts[str(place), "count"] = own["labelled"] + own["not labelled"]
        counts[str(place), "elsewhere"] = counts[str(place), "count"] - counts[str(place), "test"]
        counts[str(place), "labelled elsewhere"] = own["labelled"] - own["positive"]
        counts[str(place), "not labelled elsewhere"] = own["not labelled"] - own["negative"]
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
        "Every number that compares groups is withheld with them, also where the rates it compares are printed: it is "
        "one rule for all, so that which of them stand tells nothing more."
    )
    beside = hidden - small
    if beside:
        notes.append(
            "So that these cannot be worked out from sums and totals, further counts are withheld, of these groups: "
            f"{named(beside)}."
        )
