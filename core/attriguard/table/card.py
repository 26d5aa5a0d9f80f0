"""One person's record, without noise and with the noise for each value of the private attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.results import Result

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class Version(Result):
    """The record with the noise for one value.

    Attributes
    ----------
    value : str
        What the defender's classifier reads off it.
    target, share : float in [0, 1]
        The value's share in the target distribution (p), and how often this noise is used (M).
    found : bool
        Whether there is noise for this value; if not, the record is as it was and never used for it.
    size : int
        Number of columns changed.
    after : tuple of str, length d
        The cells.
    changed : tuple of bool, length d
    """

    value: str
    target: float
    share: float
    found: bool
    size: int
    after: tuple[str, ...]
    changed: tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(Result):
    """One protected person.

    Attributes
    ----------
    row : int
        Her row in the audit's table.
    truth, predicted : str
        Her value, and what the defender's classifier reads off her record without noise.
    budget : float
        β the shares are for.
    columns, before : tuple of str, length d
        The columns' names and her cells.
    versions : tuple of Version
        One a value, in their order.
    """

    row: int
    truth: str
    predicted: str
    budget: float
    columns: tuple[str, ...]
    before: tuple[str, ...]
    versions: tuple[Version, ...]

    def to_frame(self) -> pandas.DataFrame:
        """Return one row a column: her cell, and the cell with each value's noise."""
        import pandas as pd

        cells = {"column": self.columns, "without noise": self.before}
        return pd.DataFrame(cells | {f"to be read as {version.value}": version.after for version in self.versions})
