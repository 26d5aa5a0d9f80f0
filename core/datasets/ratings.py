"""Who rated what, as sparse records with a private attribute each: read, checked, invented.

The people come in two parts: those who publish their attribute, from whom everybody learns, and those who keep it to
themselves. A record has one entry an item: 0 for no rating, otherwise a rating in (0, 1]. A user's own ratings come as
one CSV table with a row a rating. The Google Play ratings come in the four text files of their authors: a line a person
with entries ``item:rating``, and one label a line.

The invented ratings are of people who do not exist, in cities that do not exist. Most go to apps that are liked
everywhere, in proportion to how well known they are and to a taste (one of five) that has nothing to do with the city.
Each city has some apps of its own (its trams, its newspaper), which few people elsewhere rate: through them the city
shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..base.errors import DataUnavailableError, InputError
from ..base.files import content_of
from ..base.serialize import Result, fingerprint
from ..base.untrusted import ask_child
from ..base.validation import Floats, child_generator
from .columns import as_text, is_number, is_numeric, quoted
from .read_table import SECONDS, read_table

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from scipy import sparse

MOST_ITEMS = 100_000
"""The most items that may be rated."""


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
    def n(self) -> int:
        """Number of people."""
        return int(self.people_train.shape[0] + self.people_test.shape[0])

    @property
    def group_names(self) -> tuple[str, ...]:
        """The attribute's values, as a table calls them."""
        return self.values

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
    """Check and put together who rated what: the `people` who publish the attribute, and those who do not.

    `labels` are the attribute of each of them, and `names` what to call its values if not by their labels; the others
    are as in `Ratings`.

    Raises `InputError` if a part is empty, the attribute has fewer than 2 or more than 30 values, a value occurs only
    among the people who do not publish it, there are fewer than 2 items, or the people who publish it rated nothing.
    """
    label_values = sorted(set(labels[0]), key=_natural)
    _check_values(label_values, labels, attribute)
    positions = {label: i for i, label in enumerate(label_values)}
    numbers = [np.array([positions[label] for label in part], dtype=np.int64) for part in labels]
    parts = [_canonical(part) for part in people]
    if len(items) < 2:
        raise InputError(f"The ratings must be of at least 2 items, got {len(items)}.")
    if not (parts[0].data > 0).any():
        raise InputError(
            "The people who publish the attribute must have a rating above 0, got none."
        )
    arrays = [array for part in parts for array in (part.data, part.indices, part.indptr)]
    titles = tuple((names or {}).get(label, label) for label in label_values)
    return Ratings(
        title=title,
        source=source,
        attribute=attribute,
        people_train=parts[0],
        values_train=numbers[0],
        people_test=parts[1],
        values_test=numbers[1],
        values=titles,
        items=tuple(items),
        fingerprint=fingerprint("ratings", attribute, titles, tuple(items), *arrays, *numbers),
        synthetic=synthetic,
        uploaded=uploaded,
    )


def read_ratings(folder: Path) -> Ratings:
    """Google Play ratings: `RATING_FILES` in the folder or in its google_play_ratings; cities are numbers.

    Raises
    ------
    DataUnavailableError
        If a file is missing.
    InputError
        If a file is not as it was published.
    """
    from scipy import sparse

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
    tables = []
    labels = []
    for users, label in (RATING_FILES[:2], RATING_FILES[2:]):
        pair = {"name": users, "users": contents[users], "labels": contents[label]}
        answer, table = ask_child(
            f"The file {users}", f"{__name__}:lines_of", pair, seconds=SECONDS, modules=_MODULES
        )
        if table is None:
            raise InputError(f"The file {users} broke its reader; download it again.")
        labels.append([str(value) for value in answer["labels"]])
        tables.append([column.to_numpy() for column in table.columns])
    width = 1 + max(int(items.max(initial=-1)) for _, items, _ in tables)
    people = [
        sparse.csr_array((ratings, (rows, items)), shape=(len(values), width))
        for (rows, items, ratings), values in zip(tables, labels, strict=True)
    ]
    return build_ratings(
        (people[0], people[1]),
        (labels[0], labels[1]),
        title="Google Play ratings",
        source=_SOURCE,
        attribute="city",
        items=[f"app {i}" for i in range(width)],
        names={label: f"city {label}" for label in labels[0]},
    )


_MODULES = ("core.datasets.ratings:rehearse",)


def rehearse() -> None:
    """Read two ratings of our own, so that the libraries import what they put off: a confined child cannot."""
    _, table = lines_of(None, name="users", users=b"0:0.5\n1:1\n", labels=b"1\n2\n")
    table.columns[0].to_numpy()


def lines_of(
    report: object, *, name: str, users: bytes, labels: bytes
) -> tuple[dict[str, Any], pyarrow.Table]:
    """Label of each line, and row, item and rating of each entry, in the process that is asked."""
    import pyarrow as pa

    entries = []
    try:
        values = labels.decode().split()
        lines = users.decode().removesuffix("\n").split("\n")
        for row, line in enumerate(lines):
            for entry in line.split():
                item, _, rating = entry.partition(":")
                entries.append((row, int(item), float(rating)))
    except ValueError:
        lines = []
    rows, items, ratings = np.array(entries, dtype=np.float64).reshape(-1, 3).T
    valid = (items >= 0) & (items < MOST_ITEMS) & (ratings >= 0) & (ratings <= 1)
    if (
        not lines
        or len(lines) != len(values)
        or not valid.all()
        or len({entry[:2] for entry in entries}) < rows.size
    ):
        raise InputError(
            f"{name} and its labels must be as they were published, a line a person; download them again."
        )
    columns = {"row": rows.astype(np.int32), "item": items.astype(np.int32), "rating": ratings}
    return {"labels": values}, pa.table(columns)


def _canonical(people: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix in its one form: sorted columns, no stored zeros, 32 bit positions."""
    from scipy import sparse

    matrix = sparse.csr_array(people, dtype=np.float64, copy=True)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix


def _check_values(
    label_values: list[str], labels: tuple[Sequence[str], Sequence[str]], attribute: str
) -> None:
    if not labels[0] or not labels[1]:
        if not labels[0]:
            part = "whose attribute is known"
        else:
            part = "to protect"
        raise InputError(f"The ratings need at least one person {part}, got none.")
    if not 2 <= len(label_values) <= MOST_VALUES:
        raise InputError(
            f"The private attribute {quoted(attribute)} must have 2 to {MOST_VALUES} values among the people who "
            f"publish it, got {len(label_values)}."
        )
    published = set(label_values)
    strange = [label for label in labels[1] if label not in published]
    if strange:
        raise InputError(
            f"Every value of {quoted(attribute)} must occur among the people who publish it, got {quoted(strange[0])} "
            "only among the others."
        )


def _natural(label: str) -> tuple[int, int, str]:
    """Sort numbers by size and before words."""
    if _is_integer_label(label):
        return (0, int(label), label)
    return (1, 0, label)


def _is_integer_label(label: str) -> bool:
    """Return whether a label is a whole number short enough to be a name; a raised 2 is a digit, but no number."""
    return label.isdecimal() and len(label) <= _MOST_DIGITS


RATING_COLUMNS = ("person", "item", "rating", "attribute")
"""Columns of a table of ratings."""

_TEST_SHARE = 0.1
_LEAST_TESTED = 10
_LEAST_PEOPLE = 30
_MOST_RATINGS = 5_000_000


def ratings_from_csv(content: bytes, name: str, *, seed: int = 42) -> Ratings:
    """Ratings of a user's own CSV file, read as any table is.

    Parameters
    ----------
    content, name : bytes, str
        The file, with a row a rating and the columns person, item, rating and attribute, the private one. Ratings of 1
        to 5 stars are divided by 5. A row without item and rating is a person who rated nothing.
    seed : int, default=42
        Draws the tenth of the people, at least 10, who keep the attribute to themselves; somebody of each value does
        not.

    Raises
    ------
    InputError
        If the file is something else, or is damaged; one sentence fit for the user.
    """
    import pandas as pd

    if PurePath(name).suffix.lower() != ".csv":
        raise InputError(f"Ratings must be one CSV file with {_HEADER}, got {quoted(name)}.")
    frame = read_table(content, name, max_rows=_MOST_RATINGS).frame
    if set(frame.columns) != set(RATING_COLUMNS):
        raise InputError(
            f"A table of ratings must have {_HEADER}, got {quoted(', '.join(frame.columns), 80)}."
        )
    lines = pd.DataFrame({column: as_text(frame[column]) for column in ("person", "item")})
    lines = lines.assign(
        value=as_text(frame["attribute"]), rating=_stars(frame["rating"], lines["item"])
    )
    return _split(lines, name, seed)


_HEADER = f"the columns {', '.join(RATING_COLUMNS[:-1])} and {RATING_COLUMNS[-1]}"


def _stars(column: pandas.Series, items: pandas.Series) -> pandas.Series:
    """Return the ratings in [0, 1]; 0 where nothing was rated."""
    if not is_numeric(column) and column.notna().any():
        texts = as_text(column).dropna()
        raise InputError(
            f"Ratings must be numbers, got {quoted(next((c for c in texts if not is_number(c)), texts.iloc[0]))}."
        )
    if (column.notna() != items.notna()).any():
        raise InputError(
            "Every row of a table of ratings must have both an item and a rating, or neither."
        )
    ratings = column.astype("Float64").fillna(0).astype(float)
    stars = ratings.max() > 1
    least, most = (1, 5) if stars else (0, 1)
    outside = ratings[items.notna() & ~ratings.between(least, most)]
    if len(outside):
        raise InputError(f"Ratings must be from 1 to 5, or all in [0, 1], got {outside.iloc[0]:g}.")
    if stars:
        return ratings / 5
    return ratings


def _split(lines: pandas.DataFrame, name: str, seed: int) -> Ratings:
    """Put the lines together by person, and draw who keeps the attribute private."""
    from scipy import sparse

    if lines["person"].isna().any():
        raise InputError("Every row of a table of ratings must have a person, got one without.")
    people = lines["person"].unique()
    if len(people) < _LEAST_PEOPLE:
        raise InputError(
            f"A table of ratings must have at least {_LEAST_PEOPLE} people, got {len(people)}."
        )
    attributes = lines[["person", "value"]].drop_duplicates()
    if len(
        wrong := attributes.loc[
            attributes["value"].isna() | attributes["person"].duplicated(), "person"
        ]
    ):
        raise InputError(
            f"Every row of a person must have the same attribute, person {quoted(wrong.iloc[0])} has none or several."
        )
    rated = lines[lines["item"].notna()]
    columns, item_names = rated["item"].factorize()
    if not 1 <= len(item_names) <= MOST_ITEMS:
        raise InputError(
            f"A table of ratings must have 1 to {MOST_ITEMS} items, got {len(item_names)}."
        )
    if len(twice := rated.loc[rated.duplicated(["person", "item"]), ["person", "item"]]):
        person, item = twice.iloc[0]
        raise InputError(
            f"A person must rate an item once, got person {quoted(person)} and item {quoted(item)} twice."
        )
    rows = lines["person"].factorize()[0][lines["item"].notna()]
    matrix = sparse.csr_array(
        (rated["rating"], (rows, columns)), shape=(len(people), len(item_names))
    )
    value = attributes["value"].to_numpy(dtype=object)
    order = child_generator(seed, "who keeps the attribute").permutation(len(people))
    last = order[::-1][np.unique(value[order[::-1]], return_index=True)[1]]  # of each value
    hidden = order[~np.isin(order, last)][: max(_LEAST_TESTED, round(_TEST_SHARE * len(people)))]
    if hidden.size < _LEAST_TESTED:
        raise InputError(
            f"A table of ratings must have at least {_LEAST_TESTED} people besides one of each value of the "
            f"attribute, got {hidden.size}."
        )
    hidden, public = np.sort(hidden), np.setdiff1d(order, hidden)
    return build_ratings(
        (matrix[public], matrix[hidden]),
        (value[public].tolist(), value[hidden].tolist()),
        title=name,
        source=f"Your own file {quoted(name)}, read into memory and stored nowhere.",
        attribute="attribute",
        items=[str(item) for item in item_names],
        uploaded=True,
    )


_CITIES = ("Ardenholm", "Belcaro", "Corvale", "Dunmere", "Estrova", "Fennick", "Galdora", "Hollin")
_CITY_SHARES = (0.20, 0.17, 0.15, 0.13, 0.11, 0.10, 0.08, 0.06)
_LOCAL = (
    "trams",
    "parking",
    "news",
    "weather",
    "library",
    "football",
    "radio",
    "markets",
    "cinema",
    "museums",
)
_GENERAL = (
    "chat",
    "maps",
    "photos",
    "puzzle",
    "racing",
    "music",
    "recipes",
    "budget",
    "running",
    "languages",
)
_TASTES = 5
_PEOPLE = 3000
_ITEMS = 600
_TEST = 300
_LOCAL_APPS = 30  # of each city
_LOCAL_SHARE = (
    0.12  # of a person's ratings go to her city's own apps, and as much to those of all cities
)
_STARS = (0.2, 0.4, 0.6, 0.8, 1.0)
_STAR_SHARES = (0.04, 0.03, 0.07, 0.18, 0.68)


def demo_ratings(seed: int = 2018) -> Ratings:
    """Invent 3,000 people of 8 cities and their ratings of 600 apps; 300 of them keep their city to themselves."""
    from scipy import sparse

    rng = child_generator(seed, "demo ratings")
    city = rng.choice(len(_CITIES), size=_PEOPLE, p=_CITY_SHARES)
    taste = rng.integers(_TASTES, size=_PEOPLE)
    weights = _weights(city, taste, _appeal(rng))
    counts = np.minimum(8 + rng.geometric(1 / 9, size=_PEOPLE), 80)
    # the apps with the largest (log weight + Gumbel noise) are a draw without replacement
    keys = np.log(weights) + rng.gumbel(size=weights.shape)
    order = np.argsort(-keys, axis=1)[:, : counts.max()]
    rows = np.repeat(np.arange(_PEOPLE), counts)
    columns = np.concatenate([order[i, :count] for i, count in enumerate(counts)])
    stars = rng.choice(_STARS, size=rows.size, p=_STAR_SHARES)
    people = sparse.csr_array((stars, (rows, columns)), shape=(_PEOPLE, _ITEMS))
    labels = [_CITIES[i] for i in city]
    return build_ratings(
        (people[_TEST:], people[:_TEST]),
        (labels[_TEST:], labels[:_TEST]),
        title="Invented ratings",
        source="Synthetic: people, cities and ratings invented for demonstrations; there is no real person in it.",
        attribute="city",
        items=_item_names(),
        synthetic=True,
    )


def _appeal(rng: np.random.Generator) -> Floats:
    """Return how well known each app is among people of each taste, (tastes, items): few are, most are not."""
    popularity = 1.0 / (3.0 + rng.permutation(_ITEMS))
    group = rng.integers(_TASTES, size=_ITEMS)
    return np.asarray(popularity * np.where(group == np.arange(_TASTES)[:, None], 9.0, 0.4))


def _weights(city: npt.NDArray[np.int64], taste: npt.NDArray[np.int64], appeal: Floats) -> Floats:
    """Return how likely each person rates each app, up to scale, (people, items)."""
    local = np.arange(_ITEMS) // _LOCAL_APPS
    local[local >= len(_CITIES)] = -1
    everywhere = np.where(local < 0, appeal[taste], 0.0)
    everywhere /= everywhere.sum(axis=1, keepdims=True)
    fame = np.where(local >= 0, 1.0 / (1.0 + np.arange(_ITEMS) % _LOCAL_APPS), 0.0)
    local_fame = np.where(local == city[:, None], fame, 0.0)
    local_fame /= local_fame.sum(axis=1, keepdims=True)
    anybody = fame / fame.sum()
    return np.asarray(
        (1 - 2 * _LOCAL_SHARE) * everywhere + _LOCAL_SHARE * (local_fame + anybody) + 1e-12
    )


def _item_names() -> list[str]:
    """Return a name an app: a city's own by the city, the others by what they do."""
    names = []
    for i in range(_ITEMS):
        city, position = divmod(i, _LOCAL_APPS)
        if city < len(_CITIES):
            again, kind = divmod(position, len(_LOCAL))
            name = f"{_CITIES[city]} {_LOCAL[kind]}"
            if again:
                name += f" {again + 1}"
            names.append(name)
        else:
            again, kind = divmod(i - len(_CITIES) * _LOCAL_APPS, len(_GENERAL))
            names.append(f"{_GENERAL[kind]} {again + 1}")
    return names
