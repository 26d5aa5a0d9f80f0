"""Records on their way to another value: what they hold by now, and what that means to the defender's classifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.attriguard.changes import Floats
from core.attriguard.table.moves import Moves

Places = npt.NDArray[np.intp]


@dataclass(slots=True)
class Walk:
    """n records and their changes so far.

    Attributes
    ----------
    records : ndarray of shape (n, d)
    places : ndarray of shape (n, d)
        Where the cells stand among the listed values (`PairRules.places`).
    terms : ndarray of shape (m, n, d)
        What each cell adds to the scores.
    scores : ndarray of shape (m, n)
    fixed : ndarray of shape (n, d), bool
        Cells changed already.
    reached : ndarray of shape (n,), bool
        Which records read as the wanted value by the lead asked for.
    """

    records: Floats
    places: Places
    terms: Floats
    scores: Floats
    fixed: npt.NDArray[np.bool_]
    reached: npt.NDArray[np.bool_]

    def of(self, rows: Places) -> Walk:
        """Return a copy of some of the records."""
        return Walk(
            records=self.records[rows],
            places=self.places[rows],
            terms=self.terms[:, rows],
            scores=self.scores[:, rows],
            fixed=self.fixed[rows],
            reached=self.reached[rows],
        )

    def open(self, moves: Moves) -> npt.NDArray[np.bool_]:
        """Return which changes each record could take but for the rules, (n, v)."""
        return ~self.fixed[:, moves.column] & (self.records[:, moves.column] != moves.value)

    def after(self, moves: Moves) -> Floats:
        """Return the scores after each change, (m, n, v)."""
        without = self.scores[:, :, None] - np.take(self.terms, moves.column, axis=2)
        return without + moves.terms[:, None]

    def make(self, moves: Moves, rows: Places, chosen: Places) -> None:
        """Make one change a row."""
        column = moves.column[chosen]
        self.records[rows, column] = moves.value[chosen]
        self.places[rows, column] = moves.place[chosen]
        self.scores[:, rows] += moves.terms[:, chosen] - self.terms[:, rows, column]
        self.terms[:, rows, column] = moves.terms[:, chosen]
        self.fixed[rows, column] = True
