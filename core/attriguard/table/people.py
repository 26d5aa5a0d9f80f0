"""Whose records are changed and who learns from whom: the known people, and those AttriGuard protects.

Attackers and defender learn on the records whose private attribute they know, the audit's attack and validation
records; the people protected are the audit's test records. The public record is the features: neither the label nor
the private attribute is part of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.datasets.splits import split
from core.errors import InputError
from core.results import Result

MOST_VALUES = 20
"""Most values a private attribute of a table may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePeople(Result):
    """Two disjoint sets of records of one table.

    Attributes
    ----------
    title, attribute : str
        What the table and the private attribute are called.
    values : tuple of str, length m
        Names of the attribute's values.
    names : tuple of str, length d
        Names of the columns.
    categorical : ndarray of shape (d,), bool
        Which columns hold codes of categories.
    categories : tuple of tuple of str
        What the codes stand for; empty for numbers.
    known, public : ndarray of shape (n, d) and (u, d)
        Records of the known and of the protected people.
    known_truth, truth : ndarray of shape (n,) and (u,), int64
        Their values of the private attribute.
    rows : ndarray of shape (u,)
        Row numbers of the protected people in the audit's table.
    """

    title: str
    attribute: str
    values: tuple[str, ...]
    names: tuple[str, ...]
    categorical: npt.NDArray[np.bool_] = field(repr=False)
    categories: tuple[tuple[str, ...], ...] = field(repr=False)
    known: npt.NDArray[np.float64] = field(repr=False)
    known_truth: npt.NDArray[np.int64] = field(repr=False)
    public: npt.NDArray[np.float64] = field(repr=False)
    truth: npt.NDArray[np.int64] = field(repr=False)
    rows: npt.NDArray[np.intp] = field(repr=False)

    def __post_init__(self) -> None:
        if not 2 <= len(self.values) <= MOST_VALUES:
            raise InputError(
                f"The private attribute of a table must have 2 to {MOST_VALUES} values, {self.attribute} has "
                f"{len(self.values)}."
            )
        if len(self.names) < 2:
            raise InputError(
                f"AttriGuard needs records of at least two columns, those of {self.title} have {len(self.names)}."
            )
        counts = np.bincount(self.known_truth, minlength=len(self.values))
        if not counts.all():
            absent = self.values[int(counts.argmin())]
            raise InputError(f"The known people must hold every value of {self.attribute}, got nobody with {absent}.")

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """Shares of the values among the known people, (m,)."""
        return np.bincount(self.known_truth, minlength=len(self.values)) / self.known_truth.size


def people_of(dataset: AuditDataset, known: npt.NDArray[np.intp], public: npt.NDArray[np.intp]) -> TablePeople:
    """Return the people in these rows of a dataset."""
    return TablePeople(
        title=dataset.title,
        attribute=dataset.roles.attribute,
        values=dataset.group_names,
        names=dataset.feature_names,
        categorical=dataset.categorical,
        categories=dataset.categories or ((),) * len(dataset.feature_names),
        known=dataset.features[known],
        known_truth=dataset.sensitive[known].astype(np.int64),
        public=dataset.features[public],
        truth=dataset.sensitive[public].astype(np.int64),
        rows=np.asarray(public),
    )


def audit_people(config: AuditConfig, dataset: AuditDataset) -> TablePeople:
    """Return the people of an audit: known to the attacker, and in the test set."""
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    return people_of(dataset, splits.known, splits.test)
