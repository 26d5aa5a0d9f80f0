"""Column roles, column by column: what each column holds, which roles it can have, and the reason for its role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..base.errors import InputError
from ..base.serialize import Result
from .columns import as_text, is_numeric, set_aside
from .role_suggestion import Suggestion, names_attribute
from .roles import CROSS, MOST_GROUPS, MOST_LABELS, Roles

if TYPE_CHECKING:
    import pandas

FEATURE = "feature"
LEFT_OUT = "excluded"

COLUMN_ROLES: Mapping[str, str] = {
    FEATURE: "Feature",
    "label": "Label",
    "sensitive": "Sensitive attribute",
    "crossed": "Crossed with it",
    "prediction": "Prediction",
    "score": "Score",
    "sets": "Set",
    "person": "Person",
    LEFT_OUT: "Leave out",
}
"""Role of a column -> its title; but for features and columns left out, one column has it.

A column that is crossed with the sensitive attribute makes a group of each pair of values.
"""

_FIRST_ROWS = 1_000
_FIRST_VALUES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSummary(Result):
    """What a column holds.

    Attributes
    ----------
    kind : str
        "number", "category", "text" (a different one in most records) or "date".
    first : tuple of str
        Its first distinct values.
    missing, distinct : int
        Missing cells and distinct values.
    set_aside : str
        Why it is no feature, as a phrase; "" if it is one.
    """

    name: str
    kind: str
    first: tuple[str, ...]
    missing: int
    distinct: int
    set_aside: str

    def possible_roles(self, *, with_outputs: bool) -> tuple[str, ...]:
        """Return the roles the column can have; `with_outputs`: a model's outputs may be among the columns."""
        if with_outputs:
            impossible = set()
        else:
            impossible = {"prediction", "score", "sets"}
        if not 2 <= self.distinct <= MOST_LABELS:
            impossible.add("label")
        if self.distinct < 2:
            impossible.add("sensitive")
        if not 2 <= self.distinct <= MOST_GROUPS:
            impossible.add("crossed")
        return tuple(role for role in COLUMN_ROLES if role not in impossible)


def summarise_columns(frame: pandas.DataFrame) -> tuple[ColumnSummary, ...]:
    """Return what each column of a table holds."""
    return tuple(_summary(frame[name], str(name)) for name in frame.columns)


def _summary(column: pandas.Series, name: str) -> ColumnSummary:
    try:
        reason = set_aside(column, name)
    except InputError:
        reason = "holds numbers mixed with text, or infinite values"
    if column.dtype.kind in "mM":
        kind = "date"
    elif is_numeric(column):
        kind = "number"
    else:
        kind = "category"
    if kind == "category" and reason.startswith("has a different text"):
        kind = "text"
    text = as_text(column.head(_FIRST_ROWS)).dropna().unique()[:_FIRST_VALUES]
    return ColumnSummary(
        name=name,
        kind=kind,
        first=tuple(map(str, text)),
        missing=int(column.isna().sum()),
        distinct=int(column.nunique()),
        set_aside=reason,
    )


def role_of(name: str, roles: Roles, crossed: Sequence[str] = ()) -> str:
    """Return the role of a column; `crossed` are the two columns that the sensitive attribute crosses."""
    if name in roles.excluded:
        return LEFT_OUT
    if name in crossed:
        if name == crossed[0]:
            return "sensitive"
        return "crossed"
    unique = [role for role in COLUMN_ROLES if role not in (FEATURE, LEFT_OUT, "crossed")]
    return next((role for role in unique if getattr(roles, role) == name), FEATURE)


def assign_roles(roles: Roles, assigned: Mapping[str, str]) -> Roles:
    """Return the roles with each column's role as assigned; values and groups stay."""
    chosen: dict[str, Any] = {
        role: next((name for name, has in assigned.items() if has == role), "")
        for role in COLUMN_ROLES
        if role not in (FEATURE, LEFT_OUT)
    }
    second = chosen.pop("crossed")
    if chosen["sensitive"] and second:
        chosen["sensitive"] = CROSS.join((chosen["sensitive"], second))
    excluded = tuple(name for name, role in assigned.items() if role == LEFT_OUT)
    return replace(roles, **chosen, excluded=excluded)


def reason_of(column: ColumnSummary, role: str, guess: Suggestion | None, *, keep: bool) -> str:
    """Return why a column has this role, as a phrase; "" where there is nothing to say.

    Parameters
    ----------
    guess : Suggestion or None
        What was guessed for the table, None where its roles are known.
    keep : bool
        Whether records with a missing feature are kept.
    """
    if guess is not None and role != (guessed := role_of(column.name, guess.roles)):
        if role == FEATURE and guessed != LEFT_OUT:
            return "another column was chosen"
        return "your choice"
    if role == LEFT_OUT:
        if guess is None:
            return ""
        return guess.left_out.get(column.name, "")
    if role != FEATURE:
        reason = "" if guess is None else guess.reasons.get(role, "")
        counted = role in ("label", "sensitive") and reason and "two values" not in reason
        if counted:
            return f"{reason}; {column.distinct:,} values"
        return reason
    if column.set_aside:
        return f"not used: {column.set_aside}"
    reasons = ["may be sensitive too; this audit does not cover it"] * names_attribute(column.name)
    if column.missing and not keep:
        if column.missing == 1:
            without = "1 record without it is"
        else:
            without = f"{column.missing:,} records without it are"
        reasons.append(f"{without} dropped")
    elif column.missing:
        if column.kind == "number":
            how = "median fills"
        else:
            how = "a category of its own for"
        reasons.append(f"{how} {column.missing:,} gap{'s' * (column.missing > 1)}")
    return "; ".join(reasons)


def usable_features(columns: Sequence[ColumnSummary], assigned: Mapping[str, str]) -> list[str]:
    """Return the columns to predict from."""
    return [
        column.name
        for column in columns
        if assigned[column.name] == FEATURE and not column.set_aside
    ]
