"""Datasets by name: the demo, Adult, two tasks of the American Community Survey, and COMPAS.

`load` reads a dataset from the folder of local files it is given, else downloads it through fairlearn or folktables
into the cache folder it is given (with none, nothing is kept); COMPAS is never downloaded. Every failure is one
`DataUnavailableError` that names the alternatives. fairlearn and folktables fetch without a time limit, print, and warn
about each retry: `fetch` runs them in a thread it stops waiting for, and keeps them quiet.

ACSIncome and ACSPublicCoverage (Texas 2018) are made from the Census's file of persons when it is there; ACSIncome is
fetched through fairlearn otherwise, ACSPublicCoverage through folktables. Codes stay text, written as in the Census's
dictionary, so that they count as categories; where a question does not apply to a person the code is 0.

COMPAS (people scored for pretrial decisions in Broward County, Florida, 2013-14, as published by ProPublica) is a table
of the fourteen columns below, or ProPublica's own file, of which nothing else is kept (it also has names, dates of
birth, case numbers and two columns twice).
"""

from __future__ import annotations

import io
import random
import shutil
import ssl
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from gzip import BadGzipFile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.error import HTTPError, URLError

from core.datasets.dataset import Table
from core.datasets.demo import demo_table
from core.datasets.roles import Roles
from core.errors import DataUnavailableError
from core.fingerprint import fingerprint_frame
from core.serialize import Result
from core.validation import choice

if TYPE_CHECKING:
    import pandas

T = TypeVar("T")

PATIENCE = 300.0
"""Seconds to wait for a download unless its caller says otherwise."""

_ONE_AT_A_TIME = threading.Lock()  # what a library prints is caught for the whole process


class _PatienceError(Exception):
    """The download took longer than its caller waits."""


def fetch(
    get: Callable[[Path], T], *, title: str, files: str, keep_in: Path | None, folder: str, patience: float = PATIENCE
) -> T:
    """Run a download and return what it returns.

    `get` takes the folder to keep the download in: `folder` in the cache `keep_in`, removed when the download fails, or
    a temporary one where that is None. `title` and `files` (local ones that could stand in) are for the message;
    waiting stops after `patience` seconds.

    Raises
    ------
    DataUnavailableError
        If anything goes wrong.
    """
    place: Any = nullcontext(keep_in) if keep_in else TemporaryDirectory(ignore_cleanup_errors=True)
    with place as cache:
        home = Path(cache) / folder
        try:
            home.mkdir(parents=True, exist_ok=True)
            with _quietly():
                return _within(patience, lambda: get(home))
        except Exception as error:
            shutil.rmtree(home, ignore_errors=True)
            reason = _in_plain_words(error, patience)
            if isinstance(error, HTTPError):
                error.close()
    raise DataUnavailableError(
        f"{title} could not be downloaded: {reason}. Use the built-in demo, upload a table of your own, or name a "
        f"folder that holds {files} in the environment variable FAIRLEAK_DATA."
    )


def read_local(read: Callable[[], T], *, title: str, files: str, fetched: bool = True) -> T:
    """Return what `read` makes of local files; DataUnavailableError if it raises whatever it likes.

    `title`, `files` and whether the dataset can be `fetched` instead are for the message.
    """
    try:
        with _quietly():
            return read()
    except Exception:
        reason = f"{title} could not be read: {files} in the given folder is damaged or not in its original form."
    if not fetched:
        raise DataUnavailableError(f"{reason} Replace it, use the built-in demo, or upload a table of your own.")
    raise DataUnavailableError(
        f"{reason} Replace it, use the built-in demo, upload a table of your own, or unset the environment variable "
        "FAIRLEAK_DATA to download the dataset."
    )


def _within(seconds: float, work: Callable[[], T]) -> T:
    """Return the result of `work`, or stop waiting for it: a thread that hangs on a network cannot be ended."""
    results: list[T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="fairleak-download", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise _PatienceError
    if errors:
        raise errors[0]
    return results[0]


@contextmanager
def _quietly() -> Iterator[None]:
    """Catch what the libraries print and warn of, and give back the random state that folktables resets."""
    state = random.getstate()
    try:
        with _ONE_AT_A_TIME, warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            # Retries and remarks of OpenML: whether data came is what counts, and fetch tells that.
            warnings.filterwarnings("ignore", module=r"sklearn\.datasets\._openml")
            # Census columns of mixed type: none of them is used.
            warnings.filterwarnings("ignore", message=r"Columns .* have mixed types")
            yield
    finally:
        random.setstate(state)


def _in_plain_words(error: Exception, patience: float) -> str:
    if isinstance(error, HTTPError):
        return f"the server answered with error {error.code}"
    if isinstance(error, _PatienceError):
        return f"no complete answer came within {patience:g} seconds"
    if isinstance(error, TimeoutError):
        return "the server did not answer in time"
    if isinstance(error, (URLError, ConnectionError, ssl.SSLError)):
        return "the server could not be reached"
    if isinstance(error, OSError) and not isinstance(error, BadGzipFile):
        return "the cache folder could not be written"
    return "what arrived was incomplete or damaged"


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
    """Return the 48,842 records of Adult, training file first, and roles: sex, race, five races, age in quarters."""
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
    race = next(roles for roles in table.roles if roles.key == "race")
    roles = replace(race, group=("Black",), first_name="Black people", other_name="White people")
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


_PERSONS = "2018/1-Year/psam_p48.csv"
_FILE = f"acs/{_PERSONS}"
_KEPT = "acs-census"  # folder of downloads in the cache
_CENSUS_NUMBERS = ("AGEP", "SCHL", "WKHP", "PINCP")  # every other column holds codes
_DIGITS = {"OCCP": 4, "POBP": 3, "RELP": 2}  # other codes have one digit
_CENSUS_SEX = Roles(
    label="",
    positive="yes",
    sensitive="SEX",
    group=("2",),
    first_name="women",
    other_name="men",
    attribute_name="sex",
)


def read_acs_income(data_folder: Path | None, cache_folder: Path | None) -> tuple[pandas.DataFrame, tuple[Roles, ...]]:
    """Return ACSIncome, label income above $50,000, and its roles: race, then sex."""
    from fairlearn.datasets import fetch_acs_income
    from folktables import ACSIncome

    title, label = "ACSIncome (Texas 2018)", "income_over_50000"

    def fetched(home: Path) -> pandas.DataFrame:
        whole = fetch_acs_income(states=["TX"], data_home=str(home)).frame.reset_index(drop=True)
        return _census_cells(whole[ACSIncome.features], whole["PINCP"] > 50_000, label)

    def local(root: Path) -> pandas.DataFrame:
        features, target, _ = ACSIncome.df_to_pandas(_read_persons(root))
        return _census_cells(features, target["PINCP"], label)

    if root := _census_folder(data_folder, cache_folder):
        frame = read_local(lambda: local(root), title=title, files=_FILE)
    else:
        frame = fetch(fetched, title=title, files=_FILE, keep_in=cache_folder, folder="acs-income-openml")
    sex = replace(_CENSUS_SEX, label=label)
    race = replace(
        sex,
        sensitive="RAC1P",
        group=tuple(sorted(set(frame["RAC1P"]) - {"1"})),
        first_name="people of other races",
        other_name="white people",
        attribute_name="race",
    )
    return frame, (race, sex)


def read_acs_public_coverage(
    data_folder: Path | None, cache_folder: Path | None
) -> tuple[pandas.DataFrame, tuple[Roles, ...]]:
    """Return ACSPublicCoverage, label public health insurance, and its roles: the younger quartile, then sex."""
    from folktables import ACSPublicCoverage

    title, label = "ACSPublicCoverage (Texas 2018)", "public_coverage"

    def made(raw: pandas.DataFrame) -> pandas.DataFrame:
        features, target, _ = ACSPublicCoverage.df_to_pandas(raw)
        return _census_cells(features.drop(columns="ST"), target["PUBCOV"], label)  # one state: ST is constant

    if root := _census_folder(data_folder, cache_folder):
        frame = read_local(lambda: made(_read_persons(root)), title=title, files=_FILE)
    else:
        frame = fetch(
            lambda home: made(_download_persons(home)), title=title, files=_FILE, keep_in=cache_folder, folder=_KEPT
        )
    limit = float(frame["AGEP"].quantile(0.25))
    sex = replace(_CENSUS_SEX, label=label)
    young = replace(
        sex,
        sensitive="AGEP",
        group=(),
        at_most=limit,
        first_name=f"people up to {limit:g}",
        other_name=f"people over {limit:g}",
        attribute_name="age group",
    )
    return frame, (young, sex)


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

    They are read from compas/compas_two_years.csv in the data folder, or from ProPublica's own
    compas/compas-scores-two-years.csv; nothing is downloaded.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry(Result):
    """What to tell about a dataset before it is loaded.

    Attributes
    ----------
    people : str
        About how many records it has, and of whom.
    attributes : dict of str to str
        Keys of the suggested roles, the default first, and what to call them.
    about, citation : str
        One sentence on its content; whom to cite.
    """

    name: str
    title: str
    people: str
    attributes: dict[str, str]
    about: str
    citation: str


_RETIRING_ADULT = (
    "Ding, F., Hardt, M., Miller, J. and Schmidt, L. (2021). Retiring Adult: New Datasets for Fair Machine Learning. "
    "NeurIPS 34. Data: U.S. Census Bureau, American Community Survey 2018, public use microdata."
)

CATALOG: dict[str, CatalogEntry] = {
    entry.name: entry
    for entry in (
        CatalogEntry(
            name="demo",
            title="Loan applicants (built-in demo)",
            people="12,000 invented applicants",
            attributes={"sex": "Sex", "origin": "Origin", "age/ranges": "Age, four groups"},
            about="Invented loan applications, decided with a bias against women and people born abroad.",
            citation="Made for FairLeak; no real person is in it.",
        ),
        CatalogEntry(
            name="adult",
            title="Adult (US census 1994)",
            people="45,222 adults with complete records",
            attributes={
                "sex": "Sex",
                "race": "Race",
                "race/each": "Race, five groups",
                "age/ranges": "Age, four groups",
            },
            about="Whether somebody earned more than $50,000 in 1994, from work, schooling and family.",
            citation="Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi:10.24432/C5XW20.",
        ),
        CatalogEntry(
            name="acs_income",
            title="ACSIncome (Texas 2018)",
            people="135,924 working adults",
            attributes={"RAC1P": "Race", "SEX": "Sex"},
            about="Whether somebody earned more than $50,000 in Texas in 2018.",
            citation=_RETIRING_ADULT,
        ),
        CatalogEntry(
            name="acs_public_coverage",
            title="ACSPublicCoverage (Texas 2018)",
            people="98,928 people under 65 with an income up to $30,000",
            attributes={"AGEP": "Age group", "SEX": "Sex"},
            about="Whether somebody with a low income had public health insurance in Texas in 2018.",
            citation=_RETIRING_ADULT,
        ),
        CatalogEntry(
            name="compas",
            title="COMPAS (Broward County 2013-14)",
            people="6,907 defendants with complete records",
            attributes={"sex": "Sex", "race": "Race", "race/each": "Race, five groups"},
            about="Whether somebody was arrested again within two years, from age, criminal record and a risk score.",
            citation=(
                "Larson, J., Mattu, S., Kirchner, L. and Angwin, J. (2016). How We Analyzed the COMPAS Recidivism "
                "Algorithm. ProPublica."
            ),
        ),
    )
}

_READERS = {
    "adult": read_adult,
    "acs_income": read_acs_income,
    "acs_public_coverage": read_acs_public_coverage,
    "compas": read_compas,
}


def default_cache_folder() -> Path:
    """Return the user's cache folder for downloads, outside the repository; for callers of `load`."""
    from platformdirs import user_cache_path

    return user_cache_path("fairleak") / "datasets"


def load(name: str, *, data_folder: Path | None = None, cache_folder: Path | None = None) -> Table:
    """Return a dataset of the catalogue, with suggested roles.

    Parameters
    ----------
    name : str
        A key of `CATALOG`.
    data_folder : Path or None
        Folder of local files, laid out as ``data/README.md`` says; looked at first.
    cache_folder : Path or None
        Where downloads are kept for the next time; nothing is kept when None.

    Raises
    ------
    InputError
        If `name` is not in the catalogue.
    DataUnavailableError
        If the dataset can be neither read nor fetched.
    """
    choice(name, CATALOG, name="dataset")
    if name == "demo":
        return demo_table()
    data, cache = (Path(folder) if folder is not None else None for folder in (data_folder, cache_folder))
    frame, roles = _READERS[name](data, cache)
    entry = CATALOG[name]
    return Table(
        name=name,
        title=entry.title,
        frame=frame,
        source=f"{entry.about} {entry.citation}",
        roles=roles,
        fingerprint=fingerprint_frame(frame),
    )
