"""A user's own ratings: the four text files, one long table, or a zip archive of either.

Everything happens in memory: no byte of an upload is written to disk.
"""

from __future__ import annotations

import io
from pathlib import PurePath
from typing import Any

import numpy as np

from core.datasets.cells import empty_file, megabytes
from core.datasets.columns import quoted
from core.datasets.ratings import RATING_FILES, Ratings, build_ratings, ratings_of_lines
from core.datasets.ratings_text import MOST_ITEMS
from core.datasets.table import read_columns
from core.errors import InputError
from core.seeds import child_generator

_COLUMNS = ("user", "item", "rating")
_TABLES = (".csv", ".tsv")
_TEST_SHARE = 0.1
_LEAST_TESTED, _LEAST_USERS = 10, 30
_MOST_RATINGS = 5_000_000
_SHAPES = f"the four files {', '.join(RATING_FILES)}, one CSV table with columns user, item, rating and the attribute"


def ratings_from_files(files: dict[str, bytes], *, seed: int = 42, max_bytes: int = 200 * 1024 * 1024) -> Ratings:
    """Read a user's own ratings.

    Parameters
    ----------
    files : dict of str to bytes
        Names and contents: the four files of `core.datasets.ratings.RATING_FILES`; or one table with a line a rating
        and the columns user, item, rating and the private attribute (ratings of 1 to 5 stars are divided by 5; a line
        without item and rating is a user who rated nothing); or a zip archive of either.
    seed : int, default=42
        Draws the tenth of a table's users, at least 10, who keep the attribute to themselves.
    max_bytes : int
        The largest upload accepted, unpacked.

    Raises
    ------
    InputError
        If the files are something else, or are damaged; one sentence fit for the user.
    """
    files = {PurePath(name).name: content for name, content in files.items()}
    if len(files) == 1 and next(iter(files)).lower().endswith(".zip"):
        files = _unpacked(*next(iter(files.items())), max_bytes)
    total = sum(len(content) for content in files.values())
    if total > max_bytes:
        raise InputError(f"The ratings must not be larger than {megabytes(max_bytes)}, got {megabytes(total)}.")
    if set(RATING_FILES) <= set(files):
        source = "Your own ratings, read into memory and stored nowhere."
        return ratings_of_lines(
            files, title="Your ratings", source=source, attribute="attribute", item="item", uploaded=True
        )
    if len(files) == 1 and next(iter(files)).lower().endswith(_TABLES):
        return _table(*next(iter(files.items())), seed)
    raise InputError(f"Ratings must be {_SHAPES}, or a zip archive of either, got {quoted(', '.join(files), 80)}.")


def _unpacked(name: str, content: bytes, max_bytes: int) -> dict[str, bytes]:
    """Return the files in a zip archive, no more than `max_bytes` of them."""
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            inside = [entry for entry in archive.infolist() if not entry.is_dir() and "__MACOSX" not in entry.filename]
            if sum(entry.file_size for entry in inside) > max_bytes:
                raise InputError(f"The archive must not unpack to more than {megabytes(max_bytes)}, {name} does.")
            return {PurePath(entry.filename).name: archive.read(entry) for entry in inside}
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError):
        raise InputError(
            f"The file {quoted(name)} must be a whole zip archive without a password, got one that cannot be unpacked."
        ) from None


def _table(name: str, content: bytes, seed: int) -> Ratings:
    """Read one line a rating."""
    if not content.strip():
        raise empty_file(name)
    table, _ = read_columns(content, name, max_columns=50, max_rows=_MOST_RATINGS, office=False)
    names, columns = table.column_names, table.columns
    lower = [title.lower() for title in names]
    attribute = [title for title in names if title.lower() not in _COLUMNS]
    if len(names) != 4 or len(attribute) != 1 or len(set(lower)) != 4:
        raise InputError(
            f"A table of ratings must have the columns user, item, rating and one private attribute, "
            f"got {quoted(', '.join(names), 80)}."
        )
    if not len(columns[0]):
        raise InputError(f"A table of ratings must have lines under its header, {quoted(name)} has none.")
    users, items, ratings = (columns[lower.index(title)] for title in _COLUMNS)
    told = _texts(columns[names.index(attribute[0])])
    return _split(_texts(users), _texts(items), _stars(ratings, _texts(items)), told, attribute[0], name, seed)


def _texts(column: Any) -> np.ndarray:
    """Return a column's cells as text, None where there is nothing."""
    return np.array([None if cell is None else str(cell) for cell in column.to_pylist()], dtype=object)


def _stars(column: Any, items: np.ndarray) -> np.ndarray:
    """Return the ratings in [0, 1]; 0 where nothing was rated."""
    cells = column.to_pylist()
    strange = [cell for cell in cells if isinstance(cell, (str, bool))]
    if strange:
        told = next((cell for cell in strange if isinstance(cell, str) and not _is_number(cell)), strange[0])
        raise InputError(f"Ratings must be numbers, got {quoted(told)}.")
    there = np.array([item is not None for item in items])
    if any((cell is not None) != rated for cell, rated in zip(cells, there, strict=True)):
        raise InputError("Every line of a table of ratings must have both an item and a rating, or neither.")
    ratings = np.array([0.0 if cell is None else float(cell) for cell in cells])
    stars = ratings.max(initial=0.0) > 1
    low, high = (1.0, 5.0) if stars else (0.0, 1.0)
    outside = ratings[there & ~((ratings >= low) & (ratings <= high))]
    if outside.size:
        raise InputError(f"Ratings must be from 1 to 5, or all in [0, 1], got {outside[0]:g}.")
    return ratings / 5 if stars else ratings


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _split(
    users: np.ndarray, items: np.ndarray, ratings: np.ndarray, told: np.ndarray, attribute: str, name: str, seed: int
) -> Ratings:
    """Put the lines together by user, and draw who keeps the attribute to herself."""
    import pandas as pd
    from scipy import sparse

    if any(user is None for user in users):
        raise InputError("Every line of a table of ratings must have a user, got one without.")
    rows, people = pd.factorize(users)
    if len(people) < _LEAST_USERS:
        raise InputError(f"A table of ratings must have at least {_LEAST_USERS} users, got {len(people)}.")
    value = _one_each(rows, people, told, attribute)
    columns, known = pd.factorize(items)  # nothing rated is -1
    if not 1 <= len(known) <= MOST_ITEMS:
        raise InputError(f"A table of ratings must have 1 to {MOST_ITEMS} items, got {len(known)}.")
    there = columns >= 0
    twice = pd.DataFrame({"user": rows[there], "item": columns[there]}).duplicated()
    if twice.any():
        first = np.flatnonzero(there)[int(np.argmax(twice.to_numpy()))]
        raise InputError(
            f"A user must rate an item once, got user {quoted(users[first])} and item {quoted(items[first])} twice."
        )
    whole = sparse.csr_array((ratings[there], (rows[there], columns[there])), shape=(len(people), len(known)))
    order = child_generator(seed, "who keeps the attribute").permutation(len(people))
    hidden = np.sort(order[: max(_LEAST_TESTED, round(_TEST_SHARE * len(people)))])
    public = np.sort(order[hidden.size :])
    return build_ratings(
        (whole[public], whole[hidden]),
        (value[public].tolist(), value[hidden].tolist()),
        title=name,
        source=f"Your own file {quoted(name)}, read into memory and stored nowhere.",
        attribute=attribute,
        items=[str(item) for item in known],
        uploaded=True,
    )


def _one_each(rows: np.ndarray, people: np.ndarray, told: np.ndarray, attribute: str) -> np.ndarray:
    """Return each user's value of the attribute; every line must tell the same."""
    if any(cell is None for cell in told):
        line = next(i for i, cell in enumerate(told) if cell is None)
        raise InputError(f"Every line must tell {quoted(attribute)}, got none for user {quoted(people[rows[line]])}.")
    value = np.empty(len(people), dtype=object)
    value[rows] = told
    other = value[rows] != told
    if other.any():
        user = people[rows[int(np.argmax(other))]]
        raise InputError(f"Each user must have one value of {quoted(attribute)}, got several for user {quoted(user)}.")
    return value
