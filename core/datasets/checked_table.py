"""A table with the roles of its columns, what several facts need of it, and the facts.

A fact bears on a verdict; its severity says how much, its repairs what can be done about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..base.arrays import Floats, Ints, Mask
from ..base.errors import InputError
from ..base.serialize import Result
from .columns import is_numeric, label_codes
from .name_patterns import ColumnContent, contents_of
from .roles import Roles, as_written, groups_of
from .score_evidence import SAMPLE, AreaUnderCurve, area_under_curve, sample_rows, text_codes

if TYPE_CHECKING:
    import pandas

MOST_REPAIRS = 10
"""Repairs of a fact that are offered."""


class Severity(StrEnum):
    """What a fact asks of the user."""

    BLOCKING = "blocking"
    """Nothing is audited until it is repaired, or confirmed as right."""
    QUESTION = "question"
    """It has a default, which is said, and an answer of the user's changes it."""
    NOTE = "note"
    """It is said, and nothing is asked."""


Changes = Mapping[str, str | tuple[str, ...]]
"""Fields of `core.datasets.Roles` with their new values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair(Result):
    """A change of the roles that removes a fact.

    `title` is what a button says. A fact whose repairs change nothing but `confirmed` says that the user takes the data
    to be right as they are.
    """

    title: str
    changes: Changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Result):
    """Something measured in a table that bears on the verdict.

    Attributes
    ----------
    kind : str
        Its name, such as "reversed_score"; the word by which a plan confirms it.
    severity : Severity
    text : str
        One or two sentences with the evidence: what was measured, in how many records.
    key : str
        The plan's key that answers it, such as "data.favourable".
    columns : tuple of str
        The columns it is about.
    repairs : tuple of Repair
        What can be done, the likeliest first.
    """

    kind: str
    severity: Severity
    text: str
    key: str = ""
    columns: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = field(default=())


@dataclass(frozen=True, kw_only=True)
class CheckedTable:
    """A table with its roles, and what several facts need of it; each is read once.

    `crossed` are the two columns that the sensitive attribute crosses, empty where it does not; `guesses` the roles
    that nobody has answered yet.
    """

    frame: pandas.DataFrame
    input_roles: Roles
    crossed: tuple[str, ...]
    guesses: tuple[str, ...]

    @cached_property
    def roles(self) -> Roles:
        """The roles, values as the table writes them."""
        return as_written(self.frame, self.input_roles)

    def has(self, column: str) -> bool:
        """Whether a role names a column of the table."""
        return bool(column) and column in self.frame.columns

    @cached_property
    def label(self) -> tuple[Ints, tuple[str, ...]]:
        """Codes and texts of the label; no texts without one."""
        if not self.has(self.roles.label):
            return np.full(len(self.frame), -1), ()
        return text_codes(self.frame[self.roles.label])

    @cached_property
    def positive(self) -> Mask:
        """Who has the positive label."""
        codes, texts = self.label
        if self.roles.positive in texts:
            return codes == texts.index(self.roles.positive)
        return np.zeros(codes.size, bool)

    @cached_property
    def grouping(self) -> tuple[Ints, tuple[str, ...]]:
        """Groups of the attribute, -1 where it is missing, and their names; all 0, nameless, if they break a rule."""
        try:
            codes, names, _ = groups_of(self.frame[self.roles.sensitive], self.roles)
        except (InputError, TypeError, ValueError, KeyError):
            return np.zeros(len(self.frame), dtype=np.int64), ()
        return codes.to_numpy(dtype=np.float64, na_value=-1.0).astype(np.int64), names

    @property
    def groups(self) -> Ints:
        """Groups of the attribute."""
        return self.grouping[0]

    @cached_property
    def audited(self) -> Mask:
        """Records with a label and a group, which are those of an audit."""
        return (self.label[0] >= 0) & (self.groups >= 0)

    @cached_property
    def rows(self) -> Ints:
        """The records that correlations are computed on, in random order."""
        audited = np.flatnonzero(self.audited)
        return audited[sample_rows(audited.size)]

    @property
    def sampled(self) -> str:
        """What says that not every record was looked at."""
        if int(self.audited.sum()) > SAMPLE:
            return f" (of {SAMPLE:,} records drawn)"
        return ""

    @cached_property
    def scores(self) -> Floats | None:
        """Scores, nan where there is none; None without a column of numbers."""
        if not self.has(self.roles.score) or not is_numeric(self.frame[self.roles.score]):
            return None
        scores = self.frame[self.roles.score].to_numpy(dtype=np.float64, na_value=np.nan)
        return np.where(np.isfinite(scores), scores, np.nan)

    @cached_property
    def predictions(self) -> Ints | None:
        """Predicted labels, 1 for the positive value, -1 where there is none; None without readable ones."""
        if self.roles.prediction:
            if not self.has(self.roles.prediction):
                return None
            codes, texts = text_codes(self.frame[self.roles.prediction])
            meanings = label_codes(texts, self.label[1], self.roles.positive)
            values = [meanings[text] for text in texts]
            if not values or None in values:
                return None
            return np.array([*values, -1], dtype=np.int64)[codes]
        if self.scores is None:
            return None
        answered = ~np.isnan(self.scores)
        return np.where(answered, self.scores >= self.roles.threshold, -1).astype(np.int64)

    @cached_property
    def area(self) -> AreaUnderCurve | None:
        """Area under the ROC curve of the scores for the positive label; None without scores or two labels."""
        if self.scores is None:
            return None
        rows = self.rows[~np.isnan(self.scores[self.rows])]
        return area_under_curve(self.positive[rows], self.scores[rows])

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Columns that would be features, but for those that are set aside by themselves."""
        roles = self.roles
        taken = {roles.label, roles.sensitive, *self.crossed, *roles.excluded, *roles.auxiliary}
        return tuple(name for name in self.frame.columns if name not in taken)

    @cached_property
    def contents(self) -> dict[str, ColumnContent]:
        """What columns without a role of their own hold by name and values."""
        roles = self.roles
        without = (roles.sensitive, *self.crossed)
        return contents_of(
            self.frame, label=roles.label if self.has(roles.label) else "", without=without
        )

    @property
    def answers(self) -> tuple[str, ...]:
        """The columns of a model's answers."""
        return tuple(column for column in (self.roles.prediction, self.roles.score) if column)

    def confirms(self, name: str) -> bool:
        """Whether the user has confirmed a fact by its name."""
        return name in self.input_roles.confirmed

    def fact(
        self,
        kind: str,
        severity: Severity,
        text: str,
        *,
        key: str,
        columns: tuple[str, ...] = (),
        repairs: Iterable[Repair] = (),
        confirm: str = "It is right so",
        by_column: bool = False,
    ) -> Fact:
        """Return a fact, a note where it is confirmed; `confirm` is the title of that repair, "" where none can."""
        if by_column:
            names = [f"{kind}:{column}" for column in columns]
        else:
            names = [kind]
        if confirm and severity is not Severity.NOTE:
            if all(map(self.confirms, names)):
                text = f"{text} This is confirmed."
                return Fact(kind=kind, severity=Severity.NOTE, text=text, key=key, columns=columns)
            changes = {"confirmed": (*self.input_roles.confirmed, *names)}
            repairs = (*repairs, Repair(title=confirm, changes=changes))
        return Fact(
            kind=kind,
            severity=severity,
            text=text,
            key=key,
            columns=columns,
            repairs=tuple(repairs),
        )
