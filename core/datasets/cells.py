"""What text and Parquet tables have in common: rules for names and size, and the words that mean a missing cell."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from typing import Any

from core.datasets.columns import quoted
from core.errors import InputError

MISSING_WORDS = ("", "?", "-", "NA", "na", "N/A", "n/a", "#N/A", "<NA>", "nan", "NaN", "NAN", "null", "Null", "NULL")
"""Cells that count as missing, after trimming."""

MOST_CELLS = 50_000_000
"""Most cells of a table."""


def empty_file(name: str) -> InputError:
    """Return the error for a file without content."""
    return InputError(f"The file {quoted(name)} is empty; choose a file with column names and records.")


def megabytes(size: int) -> str:
    """Write a size in bytes as megabytes, rounded up to a tenth."""
    return f"{math.ceil(size / 1024**2 * 10) / 10:,g} MB"


def check_names(names: Sequence[str], *, without: Container[int] = ()) -> None:
    """Refuse columns without a name, and names that stand twice; places in `without`, from 0, are not looked at."""
    for place, name in enumerate(names, 1):
        if place - 1 in without:
            continue
        if not name:
            raise InputError(f"Every column must have a name, column {place} has none; name it or delete it.")
        if (first := names.index(name) + 1) < place:
            raise InputError(
                f"Every column must have a name of its own, columns {first} and {place} are both called {quoted(name)}."
            )


def check_rows(count: int, max_rows: int) -> None:
    """Refuse more records than the limit."""
    if count > max_rows:
        raise InputError(f"The table must not have more than {max_rows:,} records; draw a random sample of them.")


def cleaned(column: Any) -> Any:
    """Trim the cells and empty those that say that nothing is there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.is_in(column, pa.array(MISSING_WORDS)), pa.scalar(None, pa.string()), column)
