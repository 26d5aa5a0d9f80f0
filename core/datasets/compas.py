"""COMPAS: people scored for pretrial decisions in Broward County, Florida, 2013-14, as published by ProPublica.

Read from a local file only, never downloaded: a table of the fourteen columns below, or ProPublica's own file, of which
nothing else is kept (it also has names, dates of birth, case numbers and two columns twice).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from core.datasets.downloads import read_local
from core.datasets.roles import Roles
from core.errors import DataUnavailableError

if TYPE_CHECKING:
    import pandas


_TABLE, _PUBLISHED = "compas/compas_two_years.csv", "compas/compas-scores-two-years.csv"
COMPAS_COLUMNS = {
    "sex": "text",
    "age": "int64",
    "age_cat": "text",
    "race": "text",
    "juv_fel_count": "int64",
    "juv_misd_count": "int64",
    "juv_other_count": "int64",
    "priors_count": "int64",
    "c_charge_degree": "text",
    "days_b_screening_arrest": "float64",
    "decile_score": "int64",
    "score_text": "text",
    "is_recid": "int64",
    "two_year_recid": "int64",
}


def read_compas(data_folder: Path | None, cache_folder: Path | None) -> tuple[pandas.DataFrame, tuple[Roles, ...]]:
    """Return the 7,214 records of COMPAS, label arrested again within two years, and its roles: sex, race, each race.

    Parameters
    ----------
    data_folder : Path or None
        Holds compas/compas_two_years.csv, or ProPublica's compas/compas-scores-two-years.csv.
    cache_folder : Path or None
        Not used: nothing is downloaded.

    Raises
    ------
    DataUnavailableError
        If neither file is there, or the file is not what its name says.
    """
    for name in (_TABLE, _PUBLISHED):
        path = data_folder / name if data_folder else None
        if path and path.is_file():
            return read_local(partial(_read_scores, path), title="COMPAS", files=name, fetched=False), _compas_roles()
    raise DataUnavailableError(
        "COMPAS is read from a file of yours, never downloaded: put compas-scores-two-years.csv, which ProPublica "
        f"publishes in its GitHub repository propublica/compas-analysis, at {_PUBLISHED} in a folder named in the "
        "environment variable FAIRLEAK_DATA, or use the built-in demo or upload a table of your own."
    )


def _read_scores(path: Path) -> pandas.DataFrame:
    """Return the fourteen columns, the first of two with one name; an empty cell is a missing value."""
    import pandas as pd

    whole = pd.read_csv(path, usecols=list(COMPAS_COLUMNS), keep_default_na=False, na_values=[""])
    cells = {
        name: whole[name].astype(object).str.strip() if kind == "text" else whole[name].astype(kind)
        for name, kind in COMPAS_COLUMNS.items()
    }
    if not set(cells["two_year_recid"].unique()) <= {0, 1} or "African-American" not in set(cells["race"]):
        raise ValueError("two_year_recid or race takes other values than ProPublica's")
    return pd.DataFrame(cells)


def _compas_roles() -> tuple[Roles, ...]:
    sex = Roles(
        label="two_year_recid",
        positive="1",
        sensitive="sex",
        group=("Female",),
        excluded=("decile_score", "is_recid"),  # the score in ten steps; nearly the label itself
        missing="drop",
        first_name="women",
        other_name="men",
    )
    race = replace(
        sex,
        sensitive="race",
        group=("African-American",),
        first_name="African-American people",
        other_name="people of other races",
    )
    return sex, race, replace(race, group=(), each=True, first_name="", other_name="")
