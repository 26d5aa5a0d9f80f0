"""From a sensitive column to groups: two, one for each value, or one for each range of a number.

Two groups come from chosen values or from one limit; the chosen people are group 1, everybody else group 0. Otherwise
groups are numbered from 0: values from the most frequent to the rarest, ranges from the lowest up.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from core.datasets.columns import as_text, is_numeric, quoted
from core.errors import InputError

if TYPE_CHECKING:
    import pandas

    from core.datasets.roles import Roles


MINIMUM_PER_GROUP = 30
"""Fewest records of each group, and of each label value, with which an audit starts."""

MOST_GROUPS = 20

_COMPANY = 4
"""Fewest values among which a lone rare one is taken together with the next, so that two stay by themselves."""

Groups = tuple["pandas.Series", tuple[str, ...], str]
"""Codes (missing where the value is), names by code, and a note on values taken together ("" without one)."""


def groups_of(column: pandas.Series, roles: Roles) -> Groups:
    """Return the groups of a sensitive column.

    Parameters
    ----------
    column : Series of shape (n,)
        The sensitive column as it was read.
    roles : Roles
        Says how the groups are told apart.

    Raises
    ------
    InputError
        If the groups are told apart in several ways or in none, a value or limit does not fit the column, or there
        are fewer than two groups or more than `MOST_GROUPS`.
    """
    name = quoted(roles.sensitive)
    ways = [bool(roles.group), roles.at_most is not None, roles.each, bool(roles.cuts)]
    if sum(ways) > 1:
        raise InputError(f"The groups of {name} must be told apart by values or by a limit, got both.")
    if roles.each:
        return _each_value(column, name)
    if roles.at_most is not None or roles.cuts:
        return _ranges(column, roles, name)
    return _chosen(column, roles, name)


def _chosen(column: pandas.Series, roles: Roles, name: str) -> Groups:
    text = as_text(column)
    values = set(text.dropna().unique())
    if absent := [v for v in roles.group if v not in values]:
        raise InputError(f"The first group must be made of values of {name}, got {quoted(absent[0])}.")
    others = values - set(roles.group)
    if not roles.group or len(values) < 2 or not others:
        raise InputError(
            f"The sensitive attribute {name} must split people into two groups; "
            f"with {len(set(roles.group))} of its {len(values)} values chosen it does not."
        )
    first, other = _chosen_names(roles.group)
    if len(others) == 1:
        other = str(others.pop())
    codes = text.isin(roles.group).astype("Int8").where(text.notna())
    return codes, (roles.other_name or other, roles.first_name or first), ""


def _chosen_names(group: tuple[str, ...]) -> tuple[str, str]:
    """Return what to call the people with these values, and the others."""
    named = group if len(group) < 4 else (*group[:2], f"{len(group) - 2} more")
    first = " or ".join(named)
    return first, f"not {first}" if len(group) < 3 else "the others"


def _each_value(column: pandas.Series, name: str) -> Groups:
    text = as_text(column)
    sizes = text.value_counts()
    ordered = sorted(sizes.index, key=lambda value: (-int(sizes[value]), str(value)))
    rare = [v for v in ordered if sizes[v] < MINIMUM_PER_GROUP]
    if len(rare) == 1 and len(ordered) >= _COMPANY and sizes[ordered[-2]] < 2 * MINIMUM_PER_GROUP:
        rare = ordered[-2:]  # a lone rare value joins one that is hardly less rare, where others stay by themselves
    together = len(rare) > 1 and sum(int(sizes[v]) for v in rare) >= MINIMUM_PER_GROUP
    kept = [v for v in ordered if not (together and v in rare)]
    names = tuple([str(v) for v in kept] + (["other values"] if together else []))
    if not 2 <= len(names) <= MOST_GROUPS:
        raise InputError(
            f"With a group for each value {name} must have 2 to {MOST_GROUPS} of them, got {len(names)}; choose a "
            "first group or limits instead."
        )
    code = {value: i for i, value in enumerate(kept)} | (dict.fromkeys(rare, len(kept)) if together else {})
    note = f"{len(rare)} rare values of {name} are taken together as one group, “other values”." if together else ""
    return text.map(code).astype("Int8"), names, note


def _ranges(column: pandas.Series, roles: Roles, name: str) -> Groups:
    cuts = roles.cuts if roles.at_most is None else (roles.at_most,)
    if not is_numeric(column):
        raise InputError(f"A limit for {name} needs a column of numbers; choose values instead.")
    if wrong := [c for c in cuts if not math.isfinite(c)]:
        raise InputError(f"The limit for {name} must be a finite number, got {wrong[0]!r}.")
    if any(later <= earlier for earlier, later in itertools.pairwise(cuts)) or len(cuts) >= MOST_GROUPS:
        told = ", ".join(f"{c:.12g}" for c in cuts)
        raise InputError(f"The limits for {name} must rise, at most {MOST_GROUPS - 1} of them, got {told}.")
    codes = np.searchsorted(cuts, column.to_numpy(dtype=float, na_value=np.inf), side="left")
    if roles.at_most is not None:
        first, other = f"{roles.sensitive} up to {roles.at_most:.12g}", f"{roles.sensitive} above {roles.at_most:.12g}"
        names: tuple[str, ...] = (roles.other_name or other, roles.first_name or first)
        codes = 1 - codes
    else:
        names = _range_names(roles.sensitive, cuts, whole=bool((column.dropna() % 1 == 0).all()))
    import pandas as pd

    return pd.Series(codes, index=column.index).astype("Int8").where(column.notna()), names, ""


def _range_names(name: str, cuts: tuple[float, ...], *, whole: bool) -> tuple[str, ...]:
    def between(low: float, high: float) -> str:
        return f"{name} {low + (whole and low % 1 == 0):.12g} to {high:.12g}"

    inner = [between(low, high) for low, high in itertools.pairwise(cuts)]
    return (f"{name} up to {cuts[0]:.12g}", *inner, f"{name} above {cuts[-1]:.12g}")
