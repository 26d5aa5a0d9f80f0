"""Adult: the 1994 US census extract of the UCI repository, from its original files or through fairlearn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.datasets.dataset import Table
from core.datasets.downloads import fetch, read_local
from core.datasets.roles import Roles
from core.fingerprint import fingerprint_frame

if TYPE_CHECKING:
    import pandas


ADULT_PATIENCE = 90.0
_ADULT_FILES = ("adult/adult.data", "adult/adult.test")
ADULT_COLUMNS = {
    "age": "number",
    "workclass": "text",
    "fnlwgt": "number",
    "education": "text",
    "education-num": "number",
    "marital-status": "text",
    "occupation": "text",
    "relationship": "text",
    "race": "text",
    "sex": "text",
    "capital-gain": "number",
    "capital-loss": "number",
    "hours-per-week": "number",
    "native-country": "text",
    "income": "text",
}


def read_adult(data_folder: Path | None, cache_folder: Path | None) -> tuple[pandas.DataFrame, tuple[Roles, ...]]:
    """Return the 48,842 records of Adult, training file first, and its roles: sex, race, five races, age in quarters.

    Raises
    ------
    DataUnavailableError
        If it can be neither read nor fetched.
    """
    from fairlearn.datasets import fetch_adult

    title, files = "Adult", " and ".join(_ADULT_FILES)
    paths = [data_folder / name for name in _ADULT_FILES] if data_folder else []
    if paths and all(path.is_file() for path in paths):
        frame = read_local(lambda: _tidy_adult(_read_uci(paths)), title=title, files=files)
    else:
        frame = fetch(
            lambda home: _tidy_adult(fetch_adult(data_home=str(home)).frame),
            title=title,
            files=files,
            keep_in=cache_folder,
            folder="adult-openml",
            patience=ADULT_PATIENCE,
        )
    sex = Roles(
        label="income",
        positive=">50K",
        sensitive="sex",
        group=("Female",),
        missing="drop",
        first_name="women",
        other_name="men",
    )
    race = replace(
        sex,
        sensitive="race",
        group=tuple(sorted(set(frame["race"].dropna()) - {"White"})),
        first_name="people of other races",
        other_name="white people",
    )
    each_race = replace(race, group=(), each=True, first_name="", other_name="")
    quartiles = (28.0, 37.0, 47.0)  # of the complete records
    age = replace(each_race, sensitive="age", each=False, cuts=quartiles, attribute_name="age group")
    return frame, (sex, race, each_race, age)


def black_and_white(table: Table) -> tuple[Table, Roles]:
    """Return Adult's Black and White people alone, with race as the attribute, as Hamman et al. (2023) use it."""
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


def _read_uci(paths: list[Path]) -> pandas.DataFrame:
    """Read the UCI files as they are: no header, "?" for missing, perhaps a first line that begins with "|"."""
    import pandas as pd

    parts = [
        pd.read_csv(
            path, names=list(ADULT_COLUMNS), skipinitialspace=True, comment="|", na_values="?", keep_default_na=False
        )
        for path in paths
    ]
    return pd.concat(parts, ignore_index=True)


def _tidy_adult(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Bring both origins to one form: UCI's names and order, whole numbers, text without blanks or full stops."""
    import pandas as pd

    frame = frame.rename(columns={"class": "income"})
    cells = {}
    for name, kind in ADULT_COLUMNS.items():
        if kind == "number":
            cells[name] = frame[name].astype("int64")
        else:
            text = frame[name].astype(object).str.strip()
            cells[name] = text.mask(text == "?")
    cells["income"] = cells["income"].str.rstrip(".")
    if set(cells["income"].unique()) != {"<=50K", ">50K"}:
        raise ValueError("income takes other values than <=50K and >50K")
    return pd.DataFrame(cells)
