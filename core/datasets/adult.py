"""Adult: the 1994 US census extract of the UCI repository, from its original files or through fairlearn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from core.datasets.dataset import Table
from core.datasets.downloads import fetch, read_local
from core.datasets.roles import Roles

if TYPE_CHECKING:
    import pandas


_TITLE = "Adult"
_FILES = ("adult/adult.data", "adult/adult.test")
_PATIENCE = 90.0
_COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]
_AGES = (28.0, 37.0, 47.0)  # quartiles of the complete records
_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


def read_adult(data_folder: Path | None, cache_folder: Path | None) -> tuple[pandas.DataFrame, tuple[Roles, ...]]:
    """Return the 48,842 records of Adult, training file first, and its roles: sex, race, five races, age in quarters.

    Raises
    ------
    DataUnavailableError
        If it can be neither read nor fetched.
    """
    from fairlearn.datasets import fetch_adult

    files = " and ".join(_FILES)
    paths = [data_folder / name for name in _FILES] if data_folder else []
    if paths and all(path.is_file() for path in paths):
        frame = read_local(lambda: _tidy(_read_uci(paths)), title=_TITLE, files=files)
    else:
        frame = fetch(
            lambda home: _tidy(fetch_adult(data_home=str(home)).frame),
            title=_TITLE,
            files=files,
            keep_in=cache_folder,
            folder="adult-openml",
            patience=_PATIENCE,
        )
    return frame, _roles(frame)


def black_and_white(table: Table) -> tuple[Table, Roles]:
    """Return Adult's Black and White people alone, with race as the attribute, as Hamman et al. (2023) use it."""
    from dataclasses import replace

    from core.fingerprint import fingerprint_frame

    frame = table.frame[table.frame["race"].isin(["White", "Black"])].reset_index(drop=True)
    roles = Roles(
        label="income",
        positive=">50K",
        sensitive="race",
        group=("Black",),
        missing="drop",
        first_name="Black people",
        other_name="White people",
    )
    return replace(table, frame=frame, roles=(roles,), fingerprint=fingerprint_frame(frame)), roles


def _roles(frame: pandas.DataFrame) -> tuple[Roles, ...]:
    others = tuple(sorted(set(frame["race"].dropna()) - {"White"}))
    return (
        Roles(
            label="income",
            positive=">50K",
            sensitive="sex",
            group=("Female",),
            missing="drop",
            first_name="women",
            other_name="men",
        ),
        Roles(
            label="income",
            positive=">50K",
            sensitive="race",
            group=others,
            missing="drop",
            first_name="people of other races",
            other_name="white people",
        ),
        Roles(label="income", positive=">50K", sensitive="race", each=True, missing="drop"),
        Roles(
            label="income",
            positive=">50K",
            sensitive="age",
            cuts=_AGES,
            missing="drop",
            attribute_name="age group",
        ),
    )


def _read_uci(paths: list[Path]) -> pandas.DataFrame:
    """Read the UCI files as they are: no header, "?" for missing, perhaps a first line that begins with "|"."""
    import pandas as pd

    parts = [
        pd.read_csv(path, names=_COLUMNS, skipinitialspace=True, comment="|", na_values="?", keep_default_na=False)
        for path in paths
    ]
    return pd.concat(parts, ignore_index=True)


def _tidy(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Bring both origins to one form: UCI's names and order, whole numbers, text without blanks or full stops."""
    import pandas as pd

    frame = frame.rename(columns={"class": "income"})
    cells = {}
    for name in _COLUMNS:
        if name in _NUMBERS:
            cells[name] = frame[name].astype("int64")
        else:
            text = frame[name].astype(object).str.strip()
            cells[name] = text.mask(text == "?")
    cells["income"] = cells["income"].str.rstrip(".")
    if set(cells["income"].unique()) != {"<=50K", ">50K"}:
        raise ValueError("income takes other values than <=50K and >50K")
    return pd.DataFrame(cells)
