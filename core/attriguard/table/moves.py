"""Single changes of a record: every mutable column set to every value of its domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.attriguard.table.columns import Column
from core.attriguard.table.defender import Defender
from core.attriguard.table.rules import PairRules


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """All v single changes; a record can take those that change something and break no rule.

    Attributes
    ----------
    column : ndarray of shape (v,)
        The column that is set.
    value : ndarray of shape (v,)
        What it is set to.
    terms : ndarray of shape (m, v)
        What the new value adds to the defender's scores.
    place : ndarray of shape (v,)
        Where the new value stands in `forbidden`.
    forbidden : ndarray of shape (t + 1, v), bool
        Which listed values each new value must not meet.
    bound : ndarray of shape (d,), bool
        Which columns the rules speak of.
    """

    column: npt.NDArray[np.intp] = field(repr=False)
    value: npt.NDArray[np.float64] = field(repr=False)
    terms: npt.NDArray[np.float64] = field(repr=False)
    place: npt.NDArray[np.intp] = field(repr=False)
    forbidden: npt.NDArray[np.bool_] = field(repr=False)
    bound: npt.NDArray[np.bool_] = field(repr=False)

    def clashes(self, places: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
        """Return how many columns of each record forbid each change, and the last one that does, both (n, v).

        Parameters
        ----------
        places : ndarray of shape (n, d)
            Where the records' values stand in `forbidden`.
        """
        count = np.zeros((len(places), self.column.size), dtype=np.int16)
        last = np.full(count.shape, -1, dtype=np.int16)
        for j in np.flatnonzero(self.bound):
            against = self.forbidden[places[:, j]] & (self.column != j)
            count += against
            last[against] = j
        return count, last


def table_moves(columns: Sequence[Column], defender: Defender, rules: PairRules) -> Moves:
    """Return all single changes of a table's records."""
    free = [j for j, column in enumerate(columns) if not column.frozen]
    value = np.concatenate([columns[j].domain for j in free])
    column = np.repeat(free, [columns[j].domain.size for j in free])
    spare = np.zeros((value.size, len(columns)))
    spare[np.arange(value.size), column] = value
    place = rules.places(spare)[np.arange(value.size), column]
    owner = np.repeat(np.arange(len(columns)), [values.size for values in rules.listed])
    bound = np.zeros(len(columns), dtype=bool)
    bound[owner[rules.forbidden[:-1].any(axis=1)]] = True
    return Moves(
        column=column,
        value=value,
        terms=np.concatenate([defender.terms(j, columns[j].domain) for j in free], axis=1),
        place=place,
        forbidden=rules.forbidden[:, place],
        bound=bound,
    )
