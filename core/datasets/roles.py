"""What each column is for, column by column, and from a sensitive column to groups.

Two groups come from chosen values or from one limit; the chosen people are group 1, everybody else group 0. Otherwise
groups are numbered from 0: values from the most frequent to the rarest, ranges from the lowest up.

An attribute may cross two columns: "sex × race" is a derived column with a value for each pair of values, and each pair
is a group. None is taken together with others: every cell must have enough people. Both columns are then the attribute,
and neither is a feature.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from ..base.errors import InputError
from ..base.serialize import UNSAID, Result
from ..base.settings import Param
from .columns import (
    CROSS,
    as_text,
    check_distinct,
    crossed_columns,
    is_numeric,
    quoted,
    set_aside,
    written_values,
)

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles(Result):
    """What each column is for; label and sensitive column must exist and differ, values are text.

    Attributes
    ----------
    threshold : float in [0, 1]
        From which score on a prediction counts as 1, where only scores are given.
    """

    label: Annotated[str, Param("Label", "The column the model predicts.")]
    positive: Annotated[
        str, Param("The score predicts", "The label's value that scores and predictions are about.")
    ]
    sensitive: Annotated[
        str,
        Param(
            "Sensitive attribute",
            'The column of the sensitive attribute, or two columns crossed: "sex × race".',
        ),
    ]
    favourable: Annotated[
        str,
        Param(
            "Good for the person",
            "The label's value that is good for the person: fairness is counted on it. Nothing is audited without it.",
        ),
    ] = ""
    group: Annotated[
        tuple[str, ...],
        Param(
            "First group",
            "Its values that form the first group; everybody else is the second. Or: each = true for a group each "
            "value, at_most = 30 or cuts = [30, 50] for numbers.",
        ),
    ] = ()
    at_most: Annotated[
        float | None, Param("First group up to", "Everybody up to this number is the first group.")
    ] = None
    each: Annotated[
        bool,
        Param(
            "A group each value",
            "A group each value (2 to 20; rare values are taken together).",
            written=False,
        ),
    ] = False
    cuts: Annotated[
        tuple[float, ...], Param("Cuts", "Limits between groups of a number, rising.")
    ] = ()
    excluded: Annotated[
        tuple[str, ...],
        Param("Left out", "Columns that neither model nor attacker sees.", written=True),
    ] = ()
    missing: Annotated[
        str,
        Param(
            "Missing values",
            'Records that lack a feature: "keep" or "drop".',
            options={"keep": "Keep: median for numbers, a category for text", "drop": "Drop"},
        ),
    ] = "keep"
    first_name: Annotated[
        str, Param("Name of the first group", "What sentences call the first group.")
    ] = ""
    other_name: Annotated[
        str, Param("Name of the second group", "What sentences call everybody else.")
    ] = ""
    attribute_name: Annotated[
        str,
        Param(
            "Name of the attribute",
            "What sentences call the attribute; its column's name when left out.",
        ),
    ] = ""
    prediction: Annotated[
        str,
        Param(
            "Predictions", "The column of predicted labels.", only=("model.kind", ("predictions",))
        ),
    ] = ""
    score: Annotated[
        str,
        Param("Scores", "The column of scores in [0, 1].", only=("model.kind", ("predictions",))),
    ] = ""
    sets: Annotated[
        str,
        Param(
            "Sets",
            "The column that says train, attack or test for each record; without it the sets are drawn.",
        ),
    ] = ""
    person: Annotated[
        str,
        Param(
            "Person",
            "The column that identifies people, where somebody has several rows: of each person one row is used.",
        ),
    ] = ""
    confirmed: Annotated[
        tuple[str, ...],
        Param("Confirmed", "What the input check found and you confirm as right, by its names."),
    ] = ()
    threshold: float = 0.5
    prediction_positive: Annotated[
        str,
        Param(
            "The prediction means",
            "The prediction's value that stands for data.positive, where it is not written as the label is.",
            only=("model.kind", ("predictions",)),
        ),
    ] = field(default="", metadata=UNSAID)
    training_value: Annotated[
        str,
        Param(
            "In training",
            "The value of data.sets that means train, any other meaning test, where they are not called so.",
        ),
    ] = field(default="", metadata=UNSAID)

    @property
    def auxiliary(self) -> tuple[str, ...]:
        """Columns that came with the table and are never features: predictions, scores, sets, names of people."""
        return tuple(
            column for column in (self.prediction, self.score, self.sets, self.person) if column
        )

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
        if self.each:
            return f"{self.sensitive}/each"
        if self.cuts:
            return f"{self.sensitive}/ranges"
        return self.sensitive


def as_written(frame: pandas.DataFrame, roles: Roles) -> Roles:
    """Return the roles with values of label, prediction and sets and the first group as the table writes them.

    Somebody who says "yes" means the "Yes" of the table, and by "1" its "1.0", if no value is written exactly so and
    only one is meant; other values stay, to be refused by name.
    """
    return replace(
        roles,
        positive=_written_value(frame, roles.label, roles.positive),
        favourable=_written_value(frame, roles.label, roles.favourable),
        group=written_values(frame, roles.sensitive, roles.group),
        prediction_positive=_written_value(frame, roles.prediction, roles.prediction_positive),
        training_value=_written_value(frame, roles.sets, roles.training_value),
    )


def _written_value(frame: pandas.DataFrame, column: str, value: str) -> str:
    """Return a value as its column writes it."""
    return written_values(frame, column, (value,))[0]


MINIMUM_PER_GROUP = 30
"""Fewest records of each group, and of each label value, with which an audit starts."""

MOST_GROUPS = 20

MOST_LABELS = 50
"""Most distinct values of a label, of predicted labels, and of a column of sets."""

MOST_ATTRIBUTE_VALUES = 10_000
"""Most distinct values of a sensitive attribute whose groups are made of values."""

_SHOWN_CELLS = 3
"""Cells too small that a message names."""

_COMPANY = 4
"""Fewest values among which a lone rare one is taken together with the next, so that two stay by themselves."""

Groups = tuple["pandas.Series", tuple[str, ...], str]
"""Codes (missing where the value is), names by code, and a note on values taken together ("" without one)."""


def value_problems(frame: pandas.DataFrame, roles: Roles) -> Iterator[tuple[str, str, str]]:
    """Yield role, column and a sentence for each column of more distinct values than its role can have."""
    columns = {
        "label": (roles.label,),
        "prediction": (roles.prediction,),
        "sets": (roles.sets,),
        "sensitive": crossed_columns(frame, roles.sensitive) or (roles.sensitive,),
    }
    for role, names in columns.items():
        for name in names:
            if name not in frame.columns or not frame.columns.is_unique:
                continue
            try:
                _check_role(frame[name], role, roles)
            except InputError as error:
                yield role, name, str(error)


def check_values(frame: pandas.DataFrame, roles: Roles) -> None:
    """Refuse roles of which a column has more distinct values than it can have; one that is not there has none."""
    for _, _, sentence in value_problems(frame, roles):
        raise InputError(sentence)


def _check_role(column: pandas.Series, role: str, roles: Roles) -> None:
    if role != "sensitive":
        remedy = "; choose scores as the score" * (role == "prediction" and is_numeric(column))
        title = "column of sets" if role == "sets" else role
        check_distinct(column, title, MOST_LABELS, remedy=remedy)
    elif roles.at_most is None and not roles.cuts:
        remedy = "; choose another column, or limits for numbers"
        check_distinct(column, "sensitive attribute", MOST_ATTRIBUTE_VALUES, remedy=remedy)


def groups_of(column: pandas.Series, roles: Roles) -> Groups:
    """Return the groups of a sensitive column as it was read.

    Raises
    ------
    InputError
        If the groups are formed in several ways or in none, a value or limit does not fit the column, or there
        are fewer than two groups or more than `MOST_GROUPS`.
    """
    name = quoted(roles.sensitive)
    ways = [bool(roles.group), roles.at_most is not None, roles.each, bool(roles.cuts)]
    if sum(ways) > 1:
        raise InputError(f"The groups of {name} must be formed by values or by a limit, got both.")
    _check_role(column, "sensitive", roles)
    if CROSS in roles.sensitive and not any(ways[:2] + ways[3:]):
        return _cells(column, name)
    if roles.each:
        return _each_value(column, name)
    if roles.at_most is not None or roles.cuts:
        return _ranges(column, roles, name)
    return _chosen(column, roles, name)


def _chosen(column: pandas.Series, roles: Roles, name: str) -> Groups:
    text = as_text(column)
    values = set(text.dropna().unique())
    if absent := [v for v in roles.group if v not in values]:
        raise InputError(
            f"The first group must be made of values of {name}, got {quoted(absent[0])}."
        )
    remaining = values - set(roles.group)
    if not roles.group or len(values) < 2 or not remaining:
        raise InputError(
            f"The sensitive attribute {name} must split people into two groups; "
            f"with {len(set(roles.group))} of its {len(values)} values chosen it does not."
        )
    first, second = _chosen_names(roles.group)
    if len(remaining) == 1:
        second = str(remaining.pop())
    codes = text.isin(roles.group).astype("Int8").where(text.notna())
    return codes, (roles.other_name or second, roles.first_name or first), ""


def _chosen_names(group: tuple[str, ...]) -> tuple[str, str]:
    """Return what to call the people with these values, and the others."""
    if len(group) < 4:
        first_values = group
    else:
        first_values = (*group[:2], f"{len(group) - 2} more")
    first = " or ".join(first_values)
    if len(group) < 3:
        return first, f"not {first}"
    return first, "the others"


def _each_value(column: pandas.Series, name: str) -> Groups:
    text = as_text(column)
    sizes = {str(value): int(size) for value, size in text.value_counts().items()}
    ordered = sorted(sizes, key=lambda value: (-sizes[value], value))
    rare = [v for v in ordered if sizes[v] < MINIMUM_PER_GROUP]
    if len(rare) == 1 and len(ordered) >= _COMPANY and sizes[ordered[-2]] < 2 * MINIMUM_PER_GROUP:
        rare = ordered[
            -2:
        ]  # a lone rare value joins one that is hardly less rare, where others stay by themselves
    rare_people = sum(sizes[value] for value in rare)
    together = len(rare) > 1 and rare_people >= MINIMUM_PER_GROUP
    merged = set(rare) if together else set()
    separate = [value for value in ordered if value not in merged]
    rest = "other values"
    while rest in separate:
        rest = f"all {rest}"
    names = tuple(separate + [rest] * together)
    if not 2 <= len(names) <= MOST_GROUPS:
        raise InputError(
            f"With a group for each value {name} must have 2 to {MOST_GROUPS} of them, got {len(names)}; choose a "
            "first group or limits instead."
        )
    code = {value: i for i, value in enumerate(separate)}
    if together:
        code |= dict.fromkeys(rare, len(separate))
        note = f"{len(rare)} rare values of {name} are taken together as one group, “{rest}”."
    else:
        note = ""
    return text.map(code).astype("Int8"), names, note


def _cells(column: pandas.Series, name: str) -> Groups:
    """Return a group for each pair of values of two crossed columns; every one must have enough people."""
    text = as_text(column)
    sizes = text.value_counts()
    pairs = [value.split(CROSS, 1) for value in sizes.index]
    sides = [dict.fromkeys(side) for side in zip(*pairs, strict=False)]
    n_cells = math.prod(map(len, sides)) * bool(sides)
    if not 2 <= n_cells <= MOST_GROUPS:
        raise InputError(
            f"{name} must have 2 to {MOST_GROUPS} cells, got {n_cells}; cross columns of fewer values."
        )
    people = {cell: int(sizes.get(cell, 0)) for cell in map(CROSS.join, itertools.product(*sides))}
    small = sorted(
        (cell for cell in people if people[cell] < MINIMUM_PER_GROUP), key=lambda cell: people[cell]
    )
    if small:
        listing = ", ".join(f"{people[cell]} in {quoted(cell)}" for cell in small[:_SHOWN_CELLS])
        if len(small) > _SHOWN_CELLS:
            listing += f" and fewer than {MINIMUM_PER_GROUP} in {len(small) - _SHOWN_CELLS} more"
        raise InputError(
            f"Every cell of {name} must have at least {MINIMUM_PER_GROUP} people, got {listing}."
        )
    names = tuple(sorted(people, key=lambda cell: (-people[cell], cell)))
    return text.map({cell: code for code, cell in enumerate(names)}).astype("Int8"), names, ""


def _ranges(column: pandas.Series, roles: Roles, name: str) -> Groups:
    import pandas as pd

    cuts = roles.cuts if roles.at_most is None else (roles.at_most,)
    if not is_numeric(column):
        raise InputError(f"A limit for {name} needs a column of numbers; choose values instead.")
    if wrong := [c for c in cuts if not math.isfinite(c)]:
        raise InputError(f"The limit for {name} must be a finite number, got {wrong[0]!r}.")
    if (
        any(later <= earlier for earlier, later in itertools.pairwise(cuts))
        or len(cuts) >= MOST_GROUPS
    ):
        listing = ", ".join(f"{c:.12g}" for c in cuts)
        raise InputError(
            f"The limits for {name} must rise, at most {MOST_GROUPS - 1} of them, got {listing}."
        )
    codes = pd.cut(
        column.astype("Float64"), [-math.inf, *cuts, math.inf], labels=False, include_lowest=True
    )
    if roles.at_most is None:
        integral = bool((column.dropna() % 1 == 0).all())
        return codes.astype("Int8"), _range_names(roles.sensitive, cuts, integral=integral), ""
    first, second = (
        f"{roles.sensitive} {side} {roles.at_most:.12g}" for side in ("up to", "above")
    )
    return (1 - codes).astype("Int8"), (roles.other_name or second, roles.first_name or first), ""


def _range_names(name: str, cuts: tuple[float, ...], *, integral: bool) -> tuple[str, ...]:
    def between(low: float, high: float) -> str:
        first = low + (integral and low % 1 == 0)
        if first == high:
            return f"{name} {high:.12g}"
        return f"{name} {first:.12g} to {high:.12g}"

    inner = [between(low, high) for low, high in itertools.pairwise(cuts)]
    return (f"{name} up to {cuts[0]:.12g}", *inner, f"{name} above {cuts[-1]:.12g}")


# Column by column -----------------------------------------------------------------------------------------------------

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
    chosen: dict[str, Any] = {}
    for role in COLUMN_ROLES:
        if role not in (FEATURE, LEFT_OUT):
            chosen[role] = next((name for name, has in assigned.items() if has == role), "")
    second = chosen.pop("crossed")
    if chosen["sensitive"] and second:
        chosen["sensitive"] = CROSS.join((chosen["sensitive"], second))
    excluded = tuple(name for name, role in assigned.items() if role == LEFT_OUT)
    return replace(roles, **chosen, excluded=excluded)


def usable_features(columns: Sequence[ColumnSummary], assigned: Mapping[str, str]) -> list[str]:
    """Return the columns to predict from."""
    return [
        column.name
        for column in columns
        if assigned[column.name] == FEATURE and not column.set_aside
    ]
