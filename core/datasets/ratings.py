"""Who rated what: people's ratings of items as sparse records, and the private attribute of each of them.

The people come in two parts: those who publish their attribute, from whom everybody learns, and those who keep it to
themselves. A record has one entry an item: 0 for no rating, otherwise a rating in (0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.datasets.columns import quoted
from core.datasets.ratings_text import label_lines, rating_lines
from core.errors import DataUnavailableError, InputError
from core.files import content_of
from core.fingerprint import fingerprint
from core.results import Result

if TYPE_CHECKING:
    from scipy import sparse


MOST_VALUES = 30
"""The most values a private attribute may have."""

RATING_FILES = ("train_user.txt", "train_label.txt", "test_user.txt", "test_label.txt")

RATINGS_FOLDER = "google_play_ratings"
"""Their folder within a folder of datasets."""

_MOST_DIGITS = 18

_SOURCE = (
    "Ratings of apps in Google's store by people whose city is known (Gong and Liu 2016), as published with "
    "Jia and Gong (2018). AttriGuard. USENIX Security 27."
)


@dataclass(frozen=True, kw_only=True)
class Ratings(Result):
    """People, their ratings and their private attribute.

    Attributes
    ----------
    title, source : str
        What to call the data, and where they come from.
    attribute : str
        Name of the private attribute.
    people_train, people_test : csr_array of shape (n, d) and (u, d), float64 in [0, 1]
        Ratings of the people who publish the attribute, and of those who do not; no stored zeros.
    values_train, values_test : ndarray of shape (n,) and (u,), int64
        Position of each one's value in `values`.
    values : tuple of str, length m
        The attribute's values, 2 to 30.
    items : tuple of str, length d
        Names of what was rated.
    fingerprint : str
        SHA-256 of everything above.
    synthetic, uploaded : bool
        Whether nobody in it exists; whether it is a user's own.
    """

    title: str
    source: str
    attribute: str
    people_train: sparse.csr_array = field(repr=False)
    values_train: npt.NDArray[np.int64] = field(repr=False)
    people_test: sparse.csr_array = field(repr=False)
    values_test: npt.NDArray[np.int64] = field(repr=False)
    values: tuple[str, ...]
    items: tuple[str, ...] = field(repr=False)
    fingerprint: str
    synthetic: bool = False
    uploaded: bool = False

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """Shares of the values among the people who publish the attribute, (m,)."""
        counts = np.bincount(self.values_train, minlength=len(self.values))
        return np.asarray(counts / counts.sum())


def build_ratings(
    people: tuple[sparse.csr_array, sparse.csr_array],
    labels: tuple[Sequence[str], Sequence[str]],
    *,
    title: str,
    source: str,
    attribute: str,
    items: Sequence[str],
    names: dict[str, str] | None = None,
    synthetic: bool = False,
    uploaded: bool = False,
) -> Ratings:
    """Check and put together who rated what.

    Parameters
    ----------
    people : two csr_array with d columns
        Ratings in [0, 1] of the people who publish the attribute, and of those who do not.
    labels : two sequences of str
        The attribute of each of them.
    items : sequence of str, length d
    names : dict of str to str, optional
        What to call each value; the labels themselves by default.
    title, source, attribute, synthetic, uploaded
        As in `Ratings`.

    Raises
    ------
    InputError
        If a part is empty, the attribute has fewer than 2 or more than 30 values, a value occurs only among the people
        who do not publish it, there are fewer than 2 items, or the people who publish it rated nothing.
    """
    known = sorted(set(labels[0]), key=_natural)
    _check_values(known, labels, attribute)
    place = {label: i for i, label in enumerate(known)}
    numbers = [np.array([place[label] for label in part], dtype=np.int64) for part in labels]
    parts = [_canonical(part) for part in people]
    _check_ratings(parts[0])
    arrays = [array for part in parts for array in (part.data, part.indices, part.indptr)]
    called = tuple((names or {}).get(label, label) for label in known)
    return Ratings(
        title=title,
        source=source,
        attribute=attribute,
        people_train=parts[0],
        values_train=numbers[0],
        people_test=parts[1],
        values_test=numbers[1],
        values=called,
        items=tuple(items),
        fingerprint=fingerprint("ratings", attribute, called, tuple(items), *arrays, *numbers),
        synthetic=synthetic,
        uploaded=uploaded,
    )


def read_ratings(folder: Path) -> Ratings:
    """Read the Google Play ratings: four text files, a line a person, sparse entries ``item:rating``.

    Parameters
    ----------
    folder : Path
        Holds train_user.txt, train_label.txt, test_user.txt and test_label.txt, itself or in its folder
        google_play_ratings; the cities are numbers there.

    Raises
    ------
    DataUnavailableError
        If a file is missing.
    InputError
        If a file is not what it should be; the message names the file and the line.
    """
    inner = Path(folder) / RATINGS_FOLDER
    folder = inner if inner.is_dir() else Path(folder)
    contents = {}
    for name in RATING_FILES:
        try:
            contents[name] = content_of(folder / name, what=name)
        except InputError:
            raise DataUnavailableError(
                f"The Google Play ratings need the files {', '.join(RATING_FILES)} in one folder, {name} cannot be "
                "read; use the invented ratings or upload ratings of your own."
            ) from None
    return ratings_of_lines(
        contents, title="Google Play ratings", source=_SOURCE, attribute="city", item="app", uploaded=False
    )


def ratings_of_lines(
    contents: dict[str, bytes], *, title: str, source: str, attribute: str, item: str, uploaded: bool
) -> Ratings:
    """Return the ratings in the four files of `RATING_FILES`, given their contents."""
    from scipy import sparse

    parts, labels = [], []
    for users, label in (RATING_FILES[:2], RATING_FILES[2:]):
        parts.append(rating_lines(contents[users], users))
        labels.append(label_lines(contents[label], label, expected=len(parts[-1][0]) - 1, users=users))
    width = 1 + max(int(columns.max(initial=-1)) for _, columns, _ in parts)
    people = [
        sparse.csr_array((data, columns, starts), shape=(len(starts) - 1, width)) for starts, columns, data in parts
    ]
    return build_ratings(
        (people[0], people[1]),
        (labels[0], labels[1]),
        title=title,
        source=source,
        attribute=attribute,
        items=[f"{item} {i}" for i in range(width)],
        names={label: f"{attribute} {label}" for label in labels[0] if _is_number(label)},
        uploaded=uploaded,
    )


def _canonical(people: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix in its one form: sorted columns, no stored zeros, 32 bit positions."""
    from scipy import sparse

    made = sparse.csr_array(people, dtype=np.float64, copy=True)
    made.eliminate_zeros()
    made.sort_indices()
    made.indices, made.indptr = made.indices.astype(np.int32), made.indptr.astype(np.int32)
    return made


def _check_values(known: list[str], labels: tuple[Sequence[str], Sequence[str]], attribute: str) -> None:
    if not labels[0] or not labels[1]:
        part = "whose attribute is known" if not labels[0] else "to protect"
        raise InputError(f"The ratings need at least one person {part}, got none.")
    if not 2 <= len(known) <= MOST_VALUES:
        raise InputError(
            f"The private attribute {quoted(attribute)} must have 2 to {MOST_VALUES} values among the people who "
            f"publish it, got {len(known)}."
        )
    told = set(known)
    strange = [label for label in labels[1] if label not in told]
    if strange:
        raise InputError(
            f"Every value of {quoted(attribute)} must occur among the people who publish it, got {quoted(strange[0])} "
            "only among the others."
        )


def _check_ratings(known: sparse.csr_array) -> None:
    """Refuse ratings nobody can learn from: of one item, or none at all."""
    if known.shape[1] < 2:
        raise InputError(f"The ratings must be of at least 2 items, got {known.shape[1]}.")
    if not (known.data > 0).any():
        raise InputError("The people who publish the attribute must have a rating above 0, got none.")


def _natural(label: str) -> tuple[int, int, str]:
    """Sort numbers by size and before words."""
    return (0, int(label), label) if _is_number(label) else (1, 0, label)


def _is_number(label: str) -> bool:
    """Return whether a label is a whole number short enough to be a name; a raised 2 is a digit, but no number."""
    return label.isdecimal() and len(label) <= _MOST_DIGITS
