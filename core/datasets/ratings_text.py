"""Ratings as lines of text, one a person: sparse entries ``item:rating`` with blanks between, and one label a line."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from core.datasets.cells import empty_file
from core.datasets.columns import quoted
from core.errors import InputError

MOST_ITEMS = 100_000
"""Item numbers run from 0 to one below this."""


def rating_lines(
    content: bytes, name: str
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the records of a file, in the three arrays of a csr matrix: row starts (n + 1,), columns, ratings.

    An empty line is a person who rated nothing.

    Raises
    ------
    InputError
        If the file is empty or not text, an entry is not ``item:rating``, an item number is not a whole number below
        100,000 or occurs twice in a line, or a rating lies outside [0, 1].
    """
    rows = [line.split() for line in _lines(content, name)]
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    pairs = [entry.partition(":") for row in rows for entry in row]
    try:
        columns = np.array([int(item) for item, _, _ in pairs], dtype=np.int64)
        ratings = np.array([float(rating) for _, _, rating in pairs], dtype=np.float64)
    except (ValueError, OverflowError):
        raise _not_an_entry(rows, name) from None
    wrong = (columns < 0) | (columns >= MOST_ITEMS)
    if wrong.any():
        told = f"Item numbers must be from 0 to {MOST_ITEMS - 1}, got {columns[wrong][0]}"
        raise InputError(f"{told} {_where(wrong, starts, name)}.")
    wrong = ~((ratings >= 0) & (ratings <= 1))
    if wrong.any():
        raise InputError(f"Ratings must be in [0, 1], got {ratings[wrong][0]:g} {_where(wrong, starts, name)}.")
    _check_once(starts, columns, name)
    return starts, columns, ratings


def label_lines(content: bytes, name: str, *, expected: int, users: str) -> list[str]:
    """Return one label a line.

    Parameters
    ----------
    content, name
        The file and what it is called.
    expected : int
        Number of people in the file of ratings.
    users : str
        What that file is called.

    Raises
    ------
    InputError
        If there are more or fewer labels than people, or a line is empty.
    """
    labels = [line.strip() for line in _lines(content, name)]
    if len(labels) != expected:
        raise InputError(f"{name} must have one label for each of the {expected} lines of {users}, got {len(labels)}.")
    if "" in labels:
        raise InputError(f"{name} must have a label in every line, got none in line {labels.index('') + 1}.")
    return labels


def _lines(content: bytes, name: str) -> list[str]:
    if not content.strip():
        raise empty_file(name)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name} must be text in UTF-8, got bytes that are none.") from None
    return text.removesuffix("\n").split("\n")


def _not_an_entry(rows: list[list[str]], name: str) -> InputError:
    """Return the error for the first entry that is no ``item:rating``."""
    for number, row in enumerate(rows, 1):
        for entry in row:
            item, _, rating = entry.partition(":")
            try:
                fine = abs(int(item)) < 2**62 and not math.isnan(float(rating))
            except ValueError:
                fine = False
            if not fine:
                return InputError(
                    f"Entries must be item:rating with a whole number and a number, got {quoted(entry)} "
                    f"in line {number} of {name}."
                )
    return InputError(f"Entries of {name} must be item:rating with a whole number and a number.")


def _where(wrong: npt.NDArray[np.bool_], starts: npt.NDArray[np.int64], name: str) -> str:
    """Return the line of the first wrong entry."""
    return f"in line {int(np.searchsorted(starts, np.flatnonzero(wrong)[0], side='right'))} of {name}"


def _check_once(starts: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], name: str) -> None:
    """Refuse an item that one person rates twice."""
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((columns, rows))
    same = (np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)
    if same.any():
        first = order[1:][same].min()
        line = int(rows[first]) + 1
        raise InputError(
            f"An item must occur once in a line, got item {columns[first]} twice in line {line} of {name}."
        )
