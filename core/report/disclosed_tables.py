"""Tables of an audit for others: none about single records, small counts withheld, decimals cut.

What a table's columns hold is told by their names, so everything unknown is treated as the more delicate kind: a column
of whole numbers counts people unless its name is among those known not to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from core.report.document import Document
from core.report.numbers import rounded
from core.report.suppression import Sum, withheld_counts

__all__ = ["disclosed_tables"]

_SINGLE = re.compile(r"\b(id|record|person|row|line|index|identifier|name of person)\b", re.IGNORECASE)
"""A column with such a name makes a table one of single records."""

_SETTING = re.compile(
    r"\b(seed|exponent|depth|shadows?|repeats?|draws?|questions|answers|decimals|steps?|epsilon|ε|budget|tolerance|"
    r"share|rate|accuracy|gain|gap|points|low|high|value|leakage|unfairness|columns changed|θ|theta|level|limit)\b",
    re.IGNORECASE,
)
"""A column with such a name holds a setting or a rate, not a count of people."""


def disclosed_tables(
    tables: Sequence[Document], groups: Collection[str], threshold: int, notes: list[str]
) -> list[Document]:
    """Return the tables for others; `notes` is told what is left out and where counts are withheld.

    Rows that name a group are left out: what is told of single groups stands in their summaries, where small counts
    are withheld together and the attack on the edition reads it.
    """
    shown = []
    for whole in tables:
        table, left_out = _without_groups(whole, groups)
        if left_out:
            notes.append(f"From the table {whole['title']!r} {left_out} rows about single groups are left out.")
        if not table["rows"]:
            continue
        if any(_SINGLE.search(column) for column in table["columns"]):
            notes.append(f"The table {table['title']!r} is left out: its rows are about single records.")
            continue
        rows, withheld = _rows(table, threshold)
        if withheld:
            notes.append(f"In the table {table['title']!r} {withheld} numbers are withheld.")
        shown.append({**table, "rows": rows})
    return shown


def _without_groups(table: Document, groups: Collection[str]) -> tuple[Document, int]:
    kept = [row for row in table["rows"] if not any(isinstance(cell, str) and cell in groups for cell in row)]
    return {**table, "rows": kept}, len(table["rows"]) - len(kept)


def _rows(table: Document, threshold: int) -> tuple[list[list[Any]], int]:
    rows = [list(row) for row in table["rows"]]
    withheld = 0
    for place, column in enumerate(table["columns"]):
        values = [row[place] for row in rows]
        if not _counts_people(column, values):
            continue
        counts = {i: int(value) for i, value in enumerate(values) if value is not None}
        total: Sum[int] = (-1, tuple(counts))
        hidden = withheld_counts(
            {**counts, -1: sum(counts.values())}, [total] if len(counts) > 1 else [], threshold=threshold, public=(-1,)
        )
        for i in hidden:
            for j, value in enumerate(table["rows"][i]):
                rate = isinstance(value, (int, float)) and not isinstance(value, bool)
                if (j == place or (rate and not _SETTING_ONLY.search(table["columns"][j]))) and rows[i][j] is not None:
                    rows[i][j] = None
                    withheld += 1
    return [[rounded(value) for value in row] for row in rows], withheld


_SETTING_ONLY = re.compile(
    r"\b(seed|exponent|depth|shadows?|repeats?|draws?|questions|answers|decimals|epsilon|ε|budget|tolerance|θ|theta)\b",
    re.IGNORECASE,
)
"""A column with such a name holds a setting: it stays where a row's counts are withheld."""


def _counts_people(column: str, values: Sequence[Any]) -> bool:
    if _SETTING.search(column):
        return False
    numbers = [value for value in values if value is not None]
    return bool(numbers) and all(isinstance(v, int) and not isinstance(v, bool) and v >= 0 for v in numbers)
