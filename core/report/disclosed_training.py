"""Whether counts of a group's training records are small; no summary has them, but a table of the audit does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.decision.result import TableTitle
from core.report.document import Document
from core.report.numbers import number_of

_RATE = "positive predictions"


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallInTraining:
    """What is small on the training records.

    Attributes
    ----------
    sizes : bool
        How many of a group they hold, in all or with the label the metric speaks of.
    counts : bool
        That, or how many of these are accepted or not; true as well where no table tells.
    """

    sizes: bool
    counts: bool


def small_in_training(tables: Sequence[Document], threshold: int) -> SmallInTraining:
    """Return what is below the threshold."""
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
    return SmallInTraining(sizes=sizes, counts=sizes or counts)
