"""What is chosen about the noise, and the settings core makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.attriguard import Study

if TYPE_CHECKING:
    from core.attriguard import GuardSettings, TableSettings

__all__ = ["Changes", "Defence", "Pair", "first_budget", "last_budget", "ratings_settings", "table_settings"]

_ENDS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)

Pair = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What may change in the records of a table.

    Attributes
    ----------
    frozen : tuple of str
        Columns that may not.
    rules : bool
        Whether pairs of values that never occur together are kept out.
    added, removed : tuple of (column, value, column, value)
        Pairs kept out besides those found in the data, and pairs found there that are allowed.
    """

    frozen: tuple[str, ...] = ()
    rules: bool = True
    added: tuple[Pair, ...] = ()
    removed: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Defence:
    """How the noise is made, and how attackers are counted.

    Attributes
    ----------
    policy : str
        Which ratings it may change; the same for all tables.
    defender : str
        The classifier it is made against.
    target : str
        What attackers should read: "train_shares", "uniform" or "given".
    given : tuple of float
        The shares, if they are given.
    margin : float
        By how much the wanted value must lead.
    seed : int
    changes : Changes
        For tables.
    balanced : bool
        Whether each value counts alike.
    """

    policy: str
    defender: str
    target: str
    given: tuple[float, ...]
    margin: float
    seed: int
    changes: Changes = Changes()
    balanced: bool = False


def ratings_settings(defence: Defence) -> GuardSettings:
    """Return the settings of a study on ratings."""
    from core.attriguard import GuardSettings

    return GuardSettings(
        policy=defence.policy,
        defender=defence.defender,
        target=defence.target,
        given=defence.given,
        margin=defence.margin,
        seed=defence.seed,
    )


def table_settings(defence: Defence) -> TableSettings:
    """Return the settings of a study on a table."""
    from core.attriguard import TableSettings

    changes = defence.changes
    return TableSettings(
        frozen=changes.frozen,
        rules=changes.rules,
        added=changes.added,
        removed=changes.removed,
        defender=defence.defender,
        target=defence.target,
        given=defence.given,
        margin=defence.margin,
        seed=defence.seed,
    )


def last_budget(study: Study) -> float:
    """Return the right end of the budget's axis: from there on, nine of ten people need not save noise any more."""
    reach = float(np.quantile(_wanted(study), 0.9))
    return next((end for end in _ENDS if reach <= end * 1.1), 200.0)


def first_budget(study: Study) -> float:
    """Return where the slider stands at first: what people need on average, of a table half of the axis."""
    last = last_budget(study)
    return min(max(1.0, round(float(_wanted(study).mean()))), last) if study.unit == "ratings" else last / 2


def _wanted(study: Study) -> npt.NDArray[np.float64]:
    """Return what everybody would change if the budget were no limit."""
    return np.asarray(np.where(study.found, study.size, 0) @ study.target)
