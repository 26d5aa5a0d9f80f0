"""The built-in demo: loan applicants who do not exist, kept in ``data/demo_loans.csv``.

``data/README.md`` tells how the table was invented and can be invented again. What was put in on purpose: sex and
origin show through other columns (sector, hours, credit history), the approval of a loan is biased against women and
against people born abroad, and a few cells are missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from core.datasets.dataset import Table
from core.datasets.roles import Roles
from core.errors import DataUnavailableError
from core.fingerprint import fingerprint_frame

if TYPE_CHECKING:
    import pandas

DEMO_FILE = Path(__file__).resolve().parents[2] / "data" / "demo_loans.csv"
"""The kept table: the only file core reads by itself."""

_QUARTILES = (28.0, 36.0, 44.0)

DEMO_ROLES = (
    Roles(
        label="approved",
        positive="yes",
        sensitive="sex",
        group=("woman",),
        first_name="women",
        other_name="men",
    ),
    Roles(
        label="approved",
        positive="yes",
        sensitive="origin",
        group=("born abroad",),
        first_name="people born abroad",
        other_name="people born here",
    ),
    Roles(label="approved", positive="yes", sensitive="age", cuts=_QUARTILES, attribute_name="age group"),
)

_SOURCE = "Synthetic: loan applicants invented for demonstrations; there is no real person in it."


def demo_table(frame: pandas.DataFrame | None = None) -> Table:
    """Return the built-in demo with its roles (sex, origin, age), of these cells or of the kept table.

    Raises
    ------
    DataUnavailableError
        If the kept table is missing.
    """
    if frame is None:
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
        title="Loan applicants (built-in demo)",
        frame=frame,
        source=_SOURCE,
        roles=DEMO_ROLES,
        synthetic=True,
        fingerprint=fingerprint_frame(frame),
    )
