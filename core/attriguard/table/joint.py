"""Changes of two columns at once: for a new value that only one other column of the record forbids."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.attriguard.changes import Floats
from core.attriguard.table.moves import Moves
from core.attriguard.table.odds import log_odds
from core.attriguard.table.walk import Places, Walk


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """For each of n records and v changes the best change of the column in its way.

    Attributes
    ----------
    odds : ndarray of shape (n, v)
        Log odds of the target after both; minus infinity where there is no such pair.
    reached : ndarray of shape (n, v), bool
        Whether both together make the target lead.
    partner : ndarray of shape (n, v), int
        The other change.
    """

    odds: Floats = field(repr=False)
    reached: npt.NDArray[np.bool_] = field(repr=False)
    partner: Places = field(repr=False)

    def best(self) -> Places:
        """Return the best change of every record: of those that reach the target, if any do."""
        ending = self.reached.any(axis=1, keepdims=True)
        return np.where(self.reached | ~ending, self.odds, -np.inf).argmax(axis=1)


def joint_moves(
    walk: Walk,
    moves: Moves,
    open_: npt.NDArray[np.bool_],
    clashes: tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]],
    target: int,
    *,
    lead: float,
) -> Joint:
    """Weigh all pairs of changes in which the second clears the first's way.

    Parameters
    ----------
    walk : Walk
        The n records.
    moves : Moves
        All v changes.
    open_ : ndarray of shape (n, v), bool
        See `Walk.open`.
    clashes : tuple of two ndarrays of shape (n, v)
        See `Moves.clashes`.
    target, lead
        See `core.attriguard.table.odds.log_odds`.
    """
    counts, blocker = clashes
    n, v = counts.shape
    joint = Joint(odds=np.full((n, v), -np.inf), reached=np.zeros((n, v), bool), partner=np.zeros((n, v), np.intp))
    blocked = open_ & (counts == 1)
    for first in np.flatnonzero(blocked.any(axis=0)):
        for column in np.unique(blocker[blocked[:, first], first]):
            rows = np.flatnonzero(blocked[:, first] & (blocker[:, first] == column))
            seconds = np.flatnonzero((moves.column == column) & ~moves.forbidden[moves.place[first]])
            if not seconds.size:
                continue
            other = moves.column[first]
            # what forbids the second, but for the value the first takes away
            left = counts[np.ix_(rows, seconds)] - moves.forbidden[walk.places[rows, other]][:, seconds]
            allowed = open_[np.ix_(rows, seconds)] & (left == 0)
            rest = walk.scores[:, rows] - walk.terms[:, rows, column] - walk.terms[:, rows, other]
            both = moves.terms[:, seconds] + moves.terms[:, [first]]
            after = log_odds(rest[:, :, None] + both[:, None], target, lead=lead)
            _keep_best(joint, rows, first, seconds, np.where(allowed, after.odds, -np.inf), after.reached)
    return joint


def _keep_best(
    joint: Joint, rows: Places, first: np.intp, seconds: Places, odds: Floats, reached: npt.NDArray[np.bool_]
) -> None:
    """Note the best second change of these rows, from the odds and reach of all of them, (rows, seconds)."""
    best = odds.argmax(axis=1)
    picked = np.arange(rows.size), best
    joint.odds[rows, first] = odds[picked]
    joint.reached[rows, first] = reached[picked] & np.isfinite(odds[picked])
    joint.partner[rows, first] = seconds[best]
