"""Datasets by name: the built-in demo, Adult, two tasks of the American Community Survey (Texas, 2018), and COMPAS.

`load` reads a dataset from the folder of local files it is given, else downloads it through fairlearn or folktables
into the cache folder it is given (with none, nothing is kept); COMPAS is never downloaded. Every failure is one
`DataUnavailableError` that names the alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.datasets.adult import read_adult
from core.datasets.census import read_acs_income, read_acs_public_coverage
from core.datasets.compas import read_compas
from core.datasets.dataset import Table
from core.datasets.demo import demo_table
from core.fingerprint import fingerprint_frame
from core.results import Result
from core.validation import choice


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry(Result):
    """What to tell about a dataset before it is loaded.

    Attributes
    ----------
    name, title : str
        Identifier for `load`; what to call it on screen.
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
