"""One spelling for one value: "Yes", "YES" and "yes " in a column of categories are the same answer.

Taken as one are spellings that differ only in capitals, in blanks inside, or in how an accent is coded (one character
or two). Capitals count where a value is one or two letters long and no usual answer, as they may carry meaning there
(genotypes, grades). Only columns of few values are touched, never names or identifiers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.datasets.columns import as_text, listed

if TYPE_CHECKING:
    import pandas

    from core.datasets.roles import Roles


_MOST_VALUES = 50
_SHORT_ANSWERS = {"y", "n", "t", "f", "m", "w", "d", "x", "no", "ja", "si", "sì", "sí", "on"}


def spelling_key(value: str) -> str:
    """Return what all spellings of a value have in common."""
    text = " ".join(unicodedata.normalize("NFC", value).split())
    folded = unicodedata.normalize("NFC", text.casefold())
    return folded if len(folded) > 2 or folded in _SHORT_ANSWERS else text


def as_written(frame: pandas.DataFrame, roles: Roles) -> Roles:
    """Return the roles with the positive label and the first group as the table writes them.

    Somebody who says "yes" means the "Yes" of the table, and by "1" its "1.0", if no value is written exactly so and
    only one is meant; other values stay, to be refused by name.
    """
    return replace(
        roles,
        positive=_meant(frame, roles.label, (roles.positive,))[0],
        group=_meant(frame, roles.sensitive, roles.group),
    )


def _meant(frame: pandas.DataFrame, column: str, said: tuple[str, ...]) -> tuple[str, ...]:
    if column not in frame.columns or not frame.columns.is_unique:
        return said
    there = [str(value) for value in as_text(frame[column]).dropna().unique()]
    if len(there) > 2 * _MOST_VALUES or set(said) <= set(there):
        return said
    same = [[one for one in there if _loosely(one) == _loosely(value)] for value in said]
    return tuple(
        found[0] if value not in there and len(found) == 1 else value for value, found in zip(said, same, strict=True)
    )


def _loosely(value: str) -> str:
    try:
        return repr(float(value))
    except ValueError:
        return spelling_key(value)


def one_spelling(names: Sequence[str], columns: Sequence[Any], notes: list[str]) -> list[Any]:
    """Return the columns with the most frequent spelling of each value; adds to `notes` where there were several."""
    changed, result = [], []
    for name, column in zip(names, columns, strict=True):
        spelled = _spelled(column)
        if spelled is not None:
            changed.append(name)
        result.append(column if spelled is None else spelled)
    if changed:
        notes.append(
            "Spellings of a value that differ only in capitals, blanks or the coding of accents are taken as one in: "
            f"{listed(changed)}."
        )
    return result


def _spelled(column: Any) -> Any:
    """Return the column with one spelling a value, or None if it has that already."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return None
    few = pc.unique(column[:10_000])
    if len(few) > 2 * _MOST_VALUES:
        return None
    counts = {entry["values"]: entry["counts"] for entry in pc.value_counts(column.drop_null()).to_pylist()}
    best: dict[str, str] = {}
    for value in sorted(counts, key=lambda value: (-counts[value], len(value), value)):
        best.setdefault(spelling_key(value), value)
    if len(best) == len(counts) or len(best) > _MOST_VALUES:
        return None
    values = pa.array(list(counts), pa.string())
    written = pa.array([best[spelling_key(value)] for value in counts], pa.string())
    return written.take(pc.index_in(column, values).combine_chunks())
