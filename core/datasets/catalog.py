"""Datasets by name: the invented demo, Adult, two tasks of the American Community Survey, and COMPAS.

`load` reads a dataset from the folder of local files it is given, else downloads it through fairlearn or folktables
into the cache folder it is given (with none, nothing is kept); COMPAS is never downloaded. Every failure is one
`DataUnavailableError` that names the own_tables. fairlearn and folktables fetch without a time limit, print, and warn
about each retry: `_made` runs them in a thread it stops waiting for, and keeps them quiet.

The demo is kept in ``data/demo_loans.csv``: loan applicants who do not exist. What was put in on purpose: sex and
origin show through other columns (sector, hours, credit history), the approval of a loan is biased against women and
against people born abroad, and a few cells are missing.

ACSIncome and ACSPublicCoverage (Texas 2018) are both made by folktables from the Census's file of persons, local or
downloaded. Codes stay text, written as in the Census's
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
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from gzip import BadGzipFile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError

from ..base.errors import DataUnavailableError
from ..base.serialize import Result
from ..base.validation import choice
from .columns import CROSS
from .dataset import Table
from .roles import Roles

if TYPE_CHECKING:
    import pandas


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

    title: str
    people: str
    attributes: dict[str, str]
    about: str
    citation: str

    def offers(self, attribute: str) -> bool:
        """Whether an attribute is one of the groupings suggested, or crosses two columns."""
        return attribute in self.attributes or CROSS in attribute


_RETIRING_ADULT = (
    "Ding, F., Hardt, M., Miller, J. and Schmidt, L. (2021). Retiring Adult: New Datasets for Fair Machine Learning. "
    "NeurIPS 34. Data: U.S. Census Bureau, American Community Survey 2018, public use microdata."
)

CATALOG = {
    "demo": CatalogEntry(
        title="Loan applicants (built-in demo)",
        people="12,000 synthetic applicants",
        attributes={"sex": "Sex", "origin": "Origin", "age/ranges": "Age, four groups"},
        about="Synthetic loan applications, decided with a bias against women and people born abroad.",
        citation="Made for FairLeak; no real person is in it.",
    ),
    "adult": CatalogEntry(
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
    "acs_income": CatalogEntry(
        title="ACSIncome (Texas 2018)",
        people="135,924 working adults",
        attributes={"RAC1P": "Race", "SEX": "Sex"},
        about="Whether somebody earned more than $50,000 in Texas in 2018.",
        citation=_RETIRING_ADULT,
    ),
    "acs_public_coverage": CatalogEntry(
        title="ACSPublicCoverage (Texas 2018)",
        people="98,928 people under 65 with an income up to $30,000",
        attributes={"AGEP": "Age group", "SEX": "Sex"},
        about="Whether somebody with a low income had public health insurance in Texas in 2018.",
        citation=_RETIRING_ADULT,
    ),
    "compas": CatalogEntry(
        title="COMPAS (Broward County 2013-14)",
        people="6,907 defendants with complete records",
        attributes={"sex": "Sex", "race": "Race", "race/each": "Race, five groups"},
        about="Whether somebody was arrested again within two years, from age, criminal record and a risk score.",
        citation=(
            "Larson, J., Mattu, S., Kirchner, L. and Angwin, J. (2016). How We Analyzed the COMPAS Recidivism "
            "Algorithm. ProPublica."
        ),
    ),
}


DEMO_FILE = Path(__file__).resolve().parents[2] / "data" / "demo_loans.csv"
"""The kept table: the only file core reads by itself."""


def _halves(
    base: Roles, column: str, group: tuple[str, ...], first: str, second: str, **more: Any
) -> Roles:
    """Return roles with two groups: these values of a column, called `first`, and everybody else."""
    return replace(base, sensitive=column, group=group, first_name=first, other_name=second, **more)


_APPROVED = Roles(label="approved", positive="yes", favourable="yes", sensitive="")
_DEMO_ROLES = (
    _halves(_APPROVED, "sex", ("woman",), "women", "men"),
    _halves(_APPROVED, "origin", ("born abroad",), "people born abroad", "people born here"),
    replace(_APPROVED, sensitive="age", cuts=(28.0, 36.0, 44.0), attribute_name="age group"),
)


def demo_table() -> Table:
    """Return the built-in demo with its roles: sex, origin, age.

    Raises
    ------
    DataUnavailableError
        If the kept table is missing.
    """
    import pandas as pd

    try:
        frame = pd.read_csv(DEMO_FILE)
    except FileNotFoundError:
        raise DataUnavailableError(
            "The built-in demo table data/demo_loans.csv is missing from this copy of FairLeak; put it back or "
            "upload a table of your own."
        ) from None
    return Table(
        name="demo",
        title=CATALOG["demo"].title,
        frame=frame,
        source="Synthetic: loan applicants invented for demonstrations; there is no real person in it.",
        roles=_DEMO_ROLES,
        synthetic=True,
    )


PATIENCE = 300.0
"""Seconds to wait for a download."""

_ONE_AT_A_TIME = threading.Lock()  # what a library prints is caught for the whole process


def _load_frame(
    title: str,
    files: str,
    path: Path | None,
    read: Callable[[Any], pandas.DataFrame],
    fetch: Callable[[Path], pandas.DataFrame] | None = None,
    keep_in: Path | None = None,
) -> pandas.DataFrame:
    """Return a dataset's table, read from a local path, or else fetched.

    `fetch` takes the folder to keep the download in, `keep_in` or a temporary one; it is removed when the download
    fails. `title` and `files` (the local ones, which could stand in) are for messages.

    Raises
    ------
    DataUnavailableError
        If anything goes wrong.
    """
    own_table = "upload a table of your own"
    if path is not None or fetch is None:
        try:
            with _quietly():
                return read(path)
        except Exception:
            problem = (
                f"{files} in the given folder is damaged or not in its original form. Replace it"
            )
        more = f"or {own_table}"
        if fetch is not None:
            more = f"{own_table}, or unset the environment variable FAIRLEAK_DATA to download the dataset"
        raise DataUnavailableError(
            f"{title} could not be read: {problem}, use the built-in demo, {more}."
        )
    folder_context: Any = (
        nullcontext(keep_in) if keep_in else TemporaryDirectory(ignore_cleanup_errors=True)
    )
    with folder_context as folder:
        home = Path(folder)
        try:
            home.mkdir(parents=True, exist_ok=True)
            with _quietly():
                return _within(PATIENCE, lambda: fetch(home))
        except Exception as error:
            shutil.rmtree(home, ignore_errors=True)
            reason = _failure_reason(error)
            if isinstance(error, HTTPError):
                error.close()
    raise DataUnavailableError(
        f"{title} could not be downloaded: {reason}. Use the built-in demo, {own_table}, or name a folder that holds "
        f"{files} in the environment variable FAIRLEAK_DATA."
    )


def _within(seconds: float, work: Callable[[], pandas.DataFrame]) -> pandas.DataFrame:
    """Return the result of `work`, or stop waiting for it: a thread that hangs on a network cannot be ended."""
    result: Future[pandas.DataFrame] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except Exception as error:
            result.set_exception(error)

    threading.Thread(target=run, name="fairleak-download", daemon=True).start()
    return result.result(seconds)


@contextmanager
def _quietly() -> Iterator[None]:
    """Catch what the libraries print and warn of, and give back the random state that folktables resets."""
    state = random.getstate()
    try:
        with _ONE_AT_A_TIME, warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            # Retries and remarks of OpenML: whether data came is what counts, and that is told.
            warnings.filterwarnings("ignore", module=r"sklearn\.datasets\._openml")
            # Census columns of mixed type: none of them is used.
            warnings.filterwarnings("ignore", message=r"Columns .* have mixed types")
            yield
    finally:
        random.setstate(state)


def _failure_reason(error: Exception) -> str:
    if isinstance(error, HTTPError):
        return f"the server answered with error {error.code}"
    reasons: tuple[tuple[Any, str], ...] = (
        (TimeoutError, "the server did not answer in time"),
        ((URLError, ConnectionError, ssl.SSLError), "the server could not be reached"),
        (BadGzipFile, "what arrived was incomplete or damaged"),
        (OSError, "the cache folder could not be written"),
        (Exception, "what arrived was incomplete or damaged"),
    )
    return next(reason for kind, reason in reasons if isinstance(error, kind))


_ADULT_FILES = ("adult/adult.data", "adult/adult.test")
_ADULT_NUMBERS = (
    "age",
    "fnlwgt",
    "education-num",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
)
ADULT_COLUMNS = (
    *(
        "age",
        "workclass",
        "fnlwgt",
        "education",
        "education-num",
        "marital-status",
        "occupation",
        "relationship",
    ),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)


def _adult(
    data_folder: Path | None, cache_folder: Path | None
) -> tuple[pandas.DataFrame, tuple[Roles, ...]]:
    """Return the 48,842 records of Adult, training file first, and roles: sex, race, five races, age in quarters."""
    from fairlearn.datasets import fetch_adult

    folder = data_folder
    if folder and not all((folder / name).is_file() for name in _ADULT_FILES):
        folder = None
    cache = cache_folder / "adult-openml" if cache_folder else None
    frame = _load_frame(
        "Adult",
        " and ".join(_ADULT_FILES),
        folder,
        lambda folder: _tidy_adult(_read_uci(folder)),
        lambda home: _tidy_adult(fetch_adult(data_home=str(home)).frame),
        cache,
    )
    income = Roles(
        label="income", positive=">50K", favourable=">50K", sensitive="race", missing="drop"
    )
    other_races = tuple(sorted(set(frame["race"].dropna()) - {"White"}))
    quartiles = (28.0, 37.0, 47.0)  # of the complete records
    return frame, (
        _halves(income, "sex", ("Female",), "women", "men"),
        _halves(income, "race", other_races, "people of other races", "white people"),
        replace(income, each=True),
        replace(income, sensitive="age", cuts=quartiles, attribute_name="age group"),
    )


def _read_uci(folder: Path) -> pandas.DataFrame:
    """Read the UCI files as they are: no header, "?" for missing, perhaps a first line that begins with "|"."""
    import pandas as pd

    form: dict[str, Any] = {"names": ADULT_COLUMNS, "skipinitialspace": True, "comment": "|"}
    parts = [
        pd.read_csv(folder / name, **form, na_values="?", keep_default_na=False)
        for name in _ADULT_FILES
    ]
    return pd.concat(parts, ignore_index=True)


def _tidy_adult(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Bring both origins to one form: UCI's names and order, whole numbers, text without blanks or full stops."""
    import pandas as pd

    frame = frame.rename(columns={"class": "income"})
    cells = {}
    for name in ADULT_COLUMNS:
        if name in _ADULT_NUMBERS:
            cells[name] = frame[name].astype("int64")
        else:
            text = frame[name].astype(object).str.strip()
            cells[name] = text.mask(text == "?")
    cells["income"] = cells["income"].str.rstrip(".")
    if set(cells["income"].unique()) != {"<=50K", ">50K"}:
        raise ValueError("income takes other values than <=50K and >50K")
    return pd.DataFrame(cells)


_PERSONS = "2018/1-Year/psam_p48.csv"
_CENSUS_NUMBERS = ("AGEP", "SCHL", "WKHP", "PINCP")  # every other column holds codes
_DIGITS = {"OCCP": 4, "POBP": 3, "RELP": 2}  # other codes have one digit


def _acs_income(
    data_folder: Path | None, cache_folder: Path | None
) -> tuple[pandas.DataFrame, tuple[Roles, ...]]:
    """Return ACSIncome, label income above $50,000, and its roles: race, then sex."""
    from folktables import ACSIncome

    earner = Roles(label="income_over_50000", positive="yes", favourable="yes", sensitive="")
    frame = _census("acs_income", ACSIncome, earner.label, data_folder, cache_folder)
    other_races = tuple(sorted(set(frame["RAC1P"]) - {"1"}))
    race = _halves(
        earner, "RAC1P", other_races, "people of other races", "white people", attribute_name="race"
    )
    return frame, (race, _halves(earner, "SEX", ("2",), "women", "men", attribute_name="sex"))


def _acs_public_coverage(
    data_folder: Path | None, cache_folder: Path | None
) -> tuple[pandas.DataFrame, tuple[Roles, ...]]:
    """Return ACSPublicCoverage, label public health insurance, and its roles: the younger quartile, then sex."""
    from folktables import ACSPublicCoverage

    insured = Roles(label="public_coverage", positive="yes", favourable="yes", sensitive="")
    frame = _census(
        "acs_public_coverage", ACSPublicCoverage, insured.label, data_folder, cache_folder
    )
    limit = float(frame["AGEP"].quantile(0.25))
    names = (f"people up to {limit:g}", f"people over {limit:g}")
    young = _halves(insured, "AGEP", (), *names, at_most=limit, attribute_name="age group")
    return frame, (young, _halves(insured, "SEX", ("2",), "women", "men", attribute_name="sex"))


def _census(
    name: str, task: Any, label: str, data_folder: Path | None, cache_folder: Path | None
) -> pandas.DataFrame:
    """Return one of folktables' tasks: whole numbers, codes as text, and the label as yes and no."""

    def tidy(raw: pandas.DataFrame) -> pandas.DataFrame:
        import pandas as pd

        features, target, _ = task.df_to_pandas(raw)
        integers = (
            features.drop(columns="ST", errors="ignore").apply(pd.to_numeric).astype("int64")
        )  # one state
        codes = [column for column in integers.columns if column not in _CENSUS_NUMBERS]
        texts = {
            code: integers[code].astype(str).str.zfill(_DIGITS.get(code, 1)).astype(object)
            for code in codes
        }
        answer = target[task.target].map({True: "yes", False: "no"}).astype(object)
        return integers.assign(**texts, **{label: answer})

    cache = cache_folder / "acs-census" if cache_folder else None
    roots = [cache] if cache else []
    if data_folder:
        roots.insert(0, data_folder / "acs")
    return _load_frame(
        CATALOG[name].title,
        f"acs/{_PERSONS}",
        next((root for root in roots if (root / _PERSONS).is_file()), None),
        lambda root: tidy(_read_persons(root)),
        lambda home: tidy(_download_persons(home)),
        cache,
    )


def _read_persons(root: Path, *, download: bool = False) -> pandas.DataFrame:
    from folktables import ACSDataSource

    source = ACSDataSource(
        survey_year="2018", horizon="1-Year", survey="person", root_dir=str(root)
    )
    return source.get_data(states=["TX"], download=download)


def _download_persons(home: Path) -> pandas.DataFrame:
    """Let folktables download aside, and keep the file only if its archive was unpacked to the end.

    folktables hides what went wrong and takes any file it finds for a complete one. It removes the archive only after
    unpacking it: an archive that is still there tells of damage, and no archive of a server out of reach.
    """
    target = home / _PERSONS
    with TemporaryDirectory(dir=home, ignore_cleanup_errors=True) as aside:
        download = Path(aside) / _PERSONS
        try:
            frame = _read_persons(Path(aside), download=True)
        finally:
            if any(download.parent.glob("*.zip")):
                raise ValueError("the archive was damaged")
            if not download.is_file():
                raise ConnectionError("nothing arrived")
        target.parent.mkdir(parents=True, exist_ok=True)
        download.replace(target)
    return frame


_COMPAS_FILES = ("compas/compas_two_years.csv", "compas/compas-scores-two-years.csv")
_COMPAS_TEXTS = ("sex", "age_cat", "race", "c_charge_degree", "score_text")
COMPAS_COLUMNS = (
    *(
        "sex",
        "age",
        "age_cat",
        "race",
        "juv_fel_count",
        "juv_misd_count",
        "juv_other_count",
        "priors_count",
    ),
    *(
        "c_charge_degree",
        "days_b_screening_arrest",
        "decile_score",
        "score_text",
        "is_recid",
        "two_year_recid",
    ),
)


def _compas(
    data_folder: Path | None, cache_folder: Path | None
) -> tuple[pandas.DataFrame, tuple[Roles, ...]]:
    """Return the 7,214 records of COMPAS, label arrested again within two years, and its roles: sex, race, each race.

    They are read from compas/compas_two_years.csv in the data folder, or from ProPublica's own
    compas/compas-scores-two-years.csv; nothing is downloaded.
    """
    paths = {
        name: data_folder / name
        for name in _COMPAS_FILES
        if data_folder and (data_folder / name).is_file()
    }
    if not paths:
        raise DataUnavailableError(
            "COMPAS is read from a file of yours, never downloaded: put compas-scores-two-years.csv, which ProPublica "
            f"publishes in its GitHub repository propublica/compas-analysis, at {_COMPAS_FILES[1]} in a folder named "
            "in the environment variable FAIRLEAK_DATA, or use the built-in demo or upload a table of your own."
        )
    name, path = next(iter(paths.items()))
    frame = _load_frame("COMPAS", name, path, _read_compas)
    hidden = ("decile_score", "is_recid")  # the score in ten steps; nearly the label itself
    arrested = Roles(
        label="two_year_recid",
        positive="1",
        favourable="0",  # not arrested again
        sensitive="race",
        excluded=hidden,
        missing="drop",
    )
    return frame, (
        _halves(arrested, "sex", ("Female",), "women", "men"),
        _halves(
            arrested,
            "race",
            ("African-American",),
            "African-American people",
            "people of other races",
        ),
        replace(arrested, each=True),
    )


def _read_compas(path: Path) -> pandas.DataFrame:
    """Return the fourteen columns, the first of two with one name; an empty cell is a missing value."""
    import pandas as pd

    raw = pd.read_csv(path, usecols=list(COMPAS_COLUMNS), keep_default_na=False, na_values=[""])
    cells = {}
    for name in COMPAS_COLUMNS:
        if name in _COMPAS_TEXTS:
            cells[name] = raw[name].astype(object).str.strip()
        else:
            kind = "float64" if name == "days_b_screening_arrest" else "int64"
            cells[name] = raw[name].astype(kind)
    if not set(cells["two_year_recid"].unique()) <= {0, 1} or "African-American" not in set(
        cells["race"]
    ):
        raise ValueError("two_year_recid or race takes other values than ProPublica's")
    return pd.DataFrame(cells)


_LOADERS = {
    "adult": _adult,
    "acs_income": _acs_income,
    "acs_public_coverage": _acs_public_coverage,
    "compas": _compas,
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
    data = None if data_folder is None else Path(data_folder)
    cache = None if cache_folder is None else Path(cache_folder)
    frame, roles = _LOADERS[name](data, cache)
    entry = CATALOG[name]
    return Table(
        name=name,
        title=entry.title,
        frame=frame,
        source=f"{entry.about} {entry.citation}",
        roles=roles,
    )
