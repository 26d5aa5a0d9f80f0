"""A table with roles, and the arrays an audit works on.

`Table` is data as it came, with its provenance. `Roles` says which column is the label, which the sensitive
attribute, and which to leave out. `build_dataset` joins the two into an `AuditDataset`: numbers only, every rule
checked, every record or column left out counted and named.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np
import numpy.typing as npt

from core.datasets.columns import encode
from core.datasets.duplicates import kinds_of_records, repeated_note
from core.datasets.groups import MINIMUM_PER_GROUP
from core.datasets.selection import select
from core.estimates import Estimate, proportion
from core.fingerprint import fingerprint
from core.results import Result
from core.study import Param

if TYPE_CHECKING:
    import pandas

__all__ = ["MINIMUM_PER_GROUP", "AuditDataset", "GroupRow", "Roles", "Table", "build_dataset"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles(Result):
    """What each column is for; label and sensitive column must exist and differ, values are text.

    Attributes
    ----------
    threshold : float in [0, 1]
        From which score on a prediction counts as 1, where only scores are given.
    """

    label: Annotated[str, Param("Label", "The column the model predicts.")]
    positive: Annotated[str, Param("Positive value", "Its value that counts as 1.")]
    sensitive: Annotated[str, Param("Sensitive attribute", "The column of the sensitive attribute.")]
    group: Annotated[
        tuple[str, ...],
        Param(
            "First group",
            "Its values that form the first group; everybody else is the second. Or: each = true for a group each "
            "value, at_most = 30 or cuts = [30, 50] for numbers.",
        ),
    ] = ()
    at_most: Annotated[float | None, Param("First group up to", "The first group is everybody up to this number.")] = (
        None
    )
    each: Annotated[
        bool, Param("A group each value", "A group each value (2 to 20; rare values are taken together).", shown=False)
    ] = False
    cuts: Annotated[tuple[float, ...], Param("Cuts", "Limits between groups of a number, rising.")] = ()
    excluded: Annotated[
        tuple[str, ...], Param("Left out", "Columns that neither model nor attacker sees.", shown=True)
    ] = ()
    missing: Annotated[
        str,
        Param(
            "Missing values",
            'Records that lack a feature: "keep" or "drop".',
            options={"keep": "Keep: median for numbers, a category for text", "drop": "Drop"},
        ),
    ] = "keep"
    first_name: Annotated[str, Param("Name of the first group", "What sentences call the first group.")] = ""
    other_name: Annotated[str, Param("Name of the second group", "What sentences call everybody else.")] = ""
    attribute_name: Annotated[
        str, Param("Name of the attribute", "What sentences call the attribute; its column's name when left out.")
    ] = ""
    prediction: Annotated[
        str, Param("Predictions", "The column of predicted labels.", only=("model.kind", ("predictions",)))
    ] = ""
    score: Annotated[str, Param("Scores", "The column of scores in [0, 1].", only=("model.kind", ("predictions",)))] = (
        ""
    )
    sets: Annotated[
        str, Param("Sets", "The column that says train, attack or test for each record; without it the sets are drawn.")
    ] = ""
    threshold: float = 0.5

    @property
    def given(self) -> tuple[str, ...]:
        """Columns that came with the table and are never features: predictions, scores, sets."""
        return tuple(column for column in (self.prediction, self.score, self.sets) if column)

    @property
    def gives_predictions(self) -> bool:
        """Whether a model's predictions or scores came with the table."""
        return bool(self.prediction or self.score)

    @property
    def attribute(self) -> str:
        """What to call the sensitive attribute."""
        return self.attribute_name or self.sensitive

    @property
    def key(self) -> str:
        """Name under which the grouping is chosen: the column, and how it is split where that is not in two."""
        return self.sensitive + ("/each" if self.each else "/ranges" if self.cuts else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as it was read, and where it comes from.

    Attributes
    ----------
    name : str
        Short identifier; "upload" for a user's file.
    title : str
        What to call it on screen.
    frame : pandas.DataFrame
        The cells as read; treat as read-only.
    source : str
        One sentence on provenance.
    roles : tuple of Roles
        Suggested roles, the default first; empty for uploads.
    synthetic, uploaded : bool
        Whether the people in it are invented; whether it is a user's own and must stay in the session.
    fingerprint : str
        SHA-256 of the cells.
    notes : tuple of str
        One sentence for everything that was decided in reading it.
    """

    name: str
    title: str
    frame: pandas.DataFrame
    source: str
    fingerprint: str
    roles: tuple[Roles, ...] = ()
    synthetic: bool = False
    uploaded: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow(Result):
    """Size and label rate of one group."""

    group: str
    count: int
    share: float
    label_rate: Estimate


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class AuditDataset:
    """What an audit works on.

    Attributes
    ----------
    title, source : str
        From the table.
    features : ndarray of shape (n, d), float64
        Numbers as they are, categories as ordinal codes in the order of their text; no missing values.
    feature_names : tuple of str
        Names of the d columns.
    categorical : ndarray of shape (d,), bool
        Which columns are codes of categories.
    labels : ndarray of shape (n,), uint8
        1 = positive label.
    sensitive : ndarray of shape (n,), uint8
        Group of each record: 1 = first group of two; 0 to K - 1 where there are more.
    group_names : tuple of str
        Names by group.
    roles : Roles
        The roles it was built with.
    rows_read : int
        Records in the table, before any was dropped.
    notes : tuple of str
        One sentence for everything that was decided in reading, left out or filled in, and on equal records.
    fingerprint : str
        SHA-256 of the arrays.
    synthetic, uploaded : bool
        From the table.
    categories : tuple of tuple of str
        What each column's codes stand for, from 0 up (-1 is a missing value); empty for a column of numbers.
    predictions : ndarray of shape (n,), uint8, or None
        A given model's predicted labels; from its scores where only these came with the table.
    scores : ndarray of shape (n,), float64, in [0, 1], or None
        A given model's scores.
    sets : ndarray of shape (n,), str, or None
        "train", "attack" or "test" for each record, where the table says so.
    withheld : ndarray of shape (n,), bool, or None
        See `core.datasets.given.Given`.
    """

    title: str
    source: str
    features: npt.NDArray[np.float64]
    feature_names: tuple[str, ...]
    categorical: npt.NDArray[np.bool_]
    labels: npt.NDArray[np.uint8]
    sensitive: npt.NDArray[np.uint8]
    group_names: tuple[str, ...]
    roles: Roles
    rows_read: int
    notes: tuple[str, ...] = ()
    fingerprint: str = field(default="")
    synthetic: bool = False
    uploaded: bool = False
    categories: tuple[tuple[str, ...], ...] = ()
    predictions: npt.NDArray[np.uint8] | None = None
    scores: npt.NDArray[np.float64] | None = None
    sets: npt.NDArray[np.str_] | None = None
    withheld: npt.NDArray[np.bool_] | None = None

    @property
    def n(self) -> int:
        """Number of records."""
        return int(self.labels.size)

    @property
    def n_groups(self) -> int:
        """Number of groups, 2 to 20."""
        return len(self.group_names)

    @property
    def domains(self) -> tuple[int | tuple[float, float], ...]:
        """Return the domain of each feature, taken as public although the records told it: codes, or the range.

        For categories how many there are, one more where a missing value is kept as -1; for numbers the smallest and
        the largest.
        """
        missing = int(self.roles.missing == "keep")
        return tuple(
            len(self.categories[j]) + missing
            if self.categorical[j]
            else (float(self.features[:, j].min()), float(self.features[:, j].max()))
            for j in range(len(self.feature_names))
        )

    def groups(self) -> tuple[GroupRow, ...]:
        """Return size and label rate of every group: of two, the first group and the others."""
        rows = []
        for code in (1, 0) if self.n_groups == 2 else range(self.n_groups):
            member = self.sensitive == code
            count = int(member.sum())
            positives = int(self.labels[member].sum())
            rows.append(
                GroupRow(
                    group=self.group_names[code],
                    count=count,
                    share=count / self.n,
                    label_rate=proportion(positives, count),
                )
            )
        return tuple(rows)


def build_dataset(table: Table, roles: Roles) -> AuditDataset:
    """Turn a table and the roles of its columns into the arrays an audit works on.

    Columns that say nothing about people (empty, constant, dates, identifiers) are set aside with a note. Predictions,
    scores and sets are read as `core.datasets.given` says; a record without them is left out.

    Raises
    ------
    InputError
        If a role names no column, or two the same; the label or the sensitive attribute has fewer than two sides or a
        side with fewer than `MINIMUM_PER_GROUP` records; no feature is left, or a feature holds infinite values or
        numbers mixed with text; or a prediction, a score or a set is not what it must be.
    """
    chosen = select(table.frame, roles)
    notes = [*table.notes, *chosen.notes]
    matrix, names, categories, categorical = encode(table.frame.loc[chosen.known, chosen.features], notes)
    if repeated := repeated_note(kinds_of_records(matrix, chosen.labels, chosen.groups)):
        notes.append(repeated)
    return AuditDataset(
        title=table.title,
        source=table.source,
        features=matrix,
        feature_names=names,
        categorical=categorical,
        labels=chosen.labels,
        sensitive=chosen.groups,
        group_names=chosen.group_names,
        roles=roles,
        rows_read=len(table.frame),
        notes=tuple(notes),
        fingerprint=fingerprint(
            matrix,
            chosen.labels,
            chosen.groups,
            categorical,
            list(names),
            list(categories),
            roles,
            table.title,
            table.source,
            chosen.given.predictions,
            chosen.given.scores,
            chosen.given.sets,
            *(() if chosen.given.withheld is None else (chosen.given.withheld,)),
        ),
        categories=categories,
        predictions=chosen.given.predictions,
        scores=chosen.given.scores,
        sets=chosen.given.sets,
        withheld=chosen.given.withheld,
        synthetic=table.synthetic,
        uploaded=table.uploaded,
    )
