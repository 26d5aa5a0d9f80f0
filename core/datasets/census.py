"""Two tasks of the American Community Survey, Texas 2018: ACSIncome and ACSPublicCoverage.

Both are made from the Census's file of persons when it is there; ACSIncome is fetched through fairlearn otherwise,
ACSPublicCoverage through folktables. Codes stay text, written as in the Census's dictionary, so that they count as
categories; where a question does not apply to a person the code is 0.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from core.datasets.downloads import fetch, read_local
from core.datasets.roles import Roles

if TYPE_CHECKING:
    import pandas


_PERSONS = "2018/1-Year/psam_p48.csv"
_FILE = f"acs/{_PERSONS}"
_KEPT = "acs-census"  # folder of downloads in the cache
_CENSUS_NUMBERS = ("AGEP", "SCHL", "WKHP", "PINCP")  # every other column holds codes
_DIGITS = {"OCCP": 4, "POBP": 3, "RELP": 2}  # other codes have one digit


def read_acs_income(data_folder: Path | None, cache_folder: Path | None) -> tuple[pandas.DataFrame, tuple[Roles, ...]]:
    """Return ACSIncome, label income above $50,000, and its roles: race, then sex.

    Raises
    ------
    DataUnavailableError
        If it can be neither read nor fetched.
    """
    from fairlearn.datasets import fetch_acs_income
    from folktables import ACSIncome

    def fetched(home: Path) -> pandas.DataFrame:
        whole = fetch_acs_income(states=["TX"], data_home=str(home)).frame.reset_index(drop=True)
        return _census_cells(whole[ACSIncome.features], whole["PINCP"] > 50_000, "income_over_50000")

    def local(root: Path) -> pandas.DataFrame:
        features, target, _ = ACSIncome.df_to_pandas(_read_persons(root))
        return _census_cells(features, target["PINCP"], "income_over_50000")

    title = "ACSIncome (Texas 2018)"
    if root := _census_folder(data_folder, cache_folder):
        frame = read_local(lambda: local(root), title=title, files=_FILE)
    else:
        frame = fetch(fetched, title=title, files=_FILE, keep_in=cache_folder, folder="acs-income-openml")
    others = tuple(sorted(set(frame["RAC1P"]) - {"1"}))
    race = Roles(
        label="income_over_50000",
        positive="yes",
        sensitive="RAC1P",
        group=others,
        first_name="people of other races",
        other_name="white people",
        attribute_name="race",
    )
    return frame, (race, _census_sex("income_over_50000"))


def read_acs_public_coverage(
    data_folder: Path | None, cache_folder: Path | None
) -> tuple[pandas.DataFrame, tuple[Roles, ...]]:
    """Return ACSPublicCoverage, label public health insurance, and its roles: the younger quartile, then sex.

    Raises
    ------
    DataUnavailableError
        If it can be neither read nor fetched.
    """
    from folktables import ACSPublicCoverage

    def made(raw: pandas.DataFrame) -> pandas.DataFrame:
        features, target, _ = ACSPublicCoverage.df_to_pandas(raw)
        return _census_cells(
            features.drop(columns="ST"), target["PUBCOV"], "public_coverage"
        )  # one state: ST is constant

    title = "ACSPublicCoverage (Texas 2018)"
    if root := _census_folder(data_folder, cache_folder):
        frame = read_local(lambda: made(_read_persons(root)), title=title, files=_FILE)
    else:
        frame = fetch(
            lambda home: made(_download_persons(home)), title=title, files=_FILE, keep_in=cache_folder, folder=_KEPT
        )
    limit = float(frame["AGEP"].quantile(0.25))
    young = Roles(
        label="public_coverage",
        positive="yes",
        sensitive="AGEP",
        at_most=limit,
        first_name=f"people up to {limit:g}",
        other_name=f"people over {limit:g}",
        attribute_name="age group",
    )
    return frame, (young, _census_sex("public_coverage"))


def _census_sex(label: str) -> Roles:
    return Roles(
        label=label,
        positive="yes",
        sensitive="SEX",
        group=("2",),
        first_name="women",
        other_name="men",
        attribute_name="sex",
    )


def _census_cells(features: pandas.DataFrame, label: pandas.Series, name: str) -> pandas.DataFrame:
    """Return numbers as whole numbers, codes as text, and the label as yes and no."""
    import pandas as pd

    whole = features.apply(pd.to_numeric).astype("int64")
    codes = [column for column in whole.columns if column not in _CENSUS_NUMBERS]
    texts = {column: whole[column].astype(str).str.zfill(_DIGITS.get(column, 1)).astype(object) for column in codes}
    return whole.assign(**texts, **{name: label.map({True: "yes", False: "no"}).astype(object)})


def _census_folder(data_folder: Path | None, cache_folder: Path | None) -> Path | None:
    """Return the folder folktables can read from, where the Census's file is at hand."""
    roots = [folder / name for folder, name in ((data_folder, "acs"), (cache_folder, _KEPT)) if folder]
    return next((root for root in roots if (root / _PERSONS).is_file()), None)


def _read_persons(root: Path, *, download: bool = False) -> pandas.DataFrame:
    from folktables import ACSDataSource

    source = ACSDataSource(survey_year="2018", horizon="1-Year", survey="person", root_dir=str(root))
    return source.get_data(states=["TX"], download=download)


def _download_persons(home: Path) -> pandas.DataFrame:
    """Let folktables download aside, and keep the file only if its archive was unpacked to the end.

    folktables hides what went wrong and takes any file it finds for a complete one. It removes the archive only after
    unpacking it: an archive that is still there tells of damage, and no archive of a server out of reach.
    """
    kept = home / _PERSONS
    with TemporaryDirectory(dir=home, ignore_cleanup_errors=True) as aside:
        made = Path(aside) / _PERSONS
        try:
            frame = _read_persons(Path(aside), download=True)
        except Exception:
            _check_complete(made)
            raise
        _check_complete(made)
        kept.parent.mkdir(parents=True, exist_ok=True)
        made.replace(kept)
    return frame


def _check_complete(file: Path) -> None:
    if any(file.parent.glob("*.zip")):
        raise ValueError("the archive was damaged")
    if not file.is_file():
        raise ConnectionError("nothing arrived")
