r"""Phase I on raw columns: the few columns to change until the defender's classifier reads another value.

Each round weighs every allowed change of every record at once. A change that makes the classifier read the target,
with the margin asked for, ends the search; of several the one that raises the target's log odds
z_i − log Σ_{c≠i} exp z_c most (z the classifier's scores). Otherwise the change that raises them most is made, and its
column stays as it is from then on.

For two values the log odds are the difference of the scores and every column adds to it on its own, so without rules
the least number of columns is found: the largest gains first. For more values the search is greedy: the log odds of
the target are the softmax variant of Jia and Gong's (2018, Algorithm 1) order, and follow the rival values as well.

With pair rules a change may leave no forbidden pair that was not there before. Where one column alone stands in a
change's way, both may change together, which counts as two columns: preferred where it ends the search and no single
change does, else taken when it gains more per column. Rules can leave a record without a solution: it stays as it is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.attriguard.changes import Floats
from core.attriguard.noise import Noise, NoisyRecords
from core.attriguard.table.defender import Defender
from core.attriguard.table.joint import Joint, joint_moves
from core.attriguard.table.moves import Moves
from core.attriguard.table.odds import log_odds
from core.attriguard.table.rules import PairRules
from core.attriguard.table.walk import Places, Walk

_CELLS = 1_000_000  # records x changes x values weighed at once; bounds the memory
_LEAST_LEAD = 1e-9  # sums of terms and the classifier's own product differ in the last bits
_LEAST_GAIN = 1e-12


def table_representatives(
    public: Floats,
    defender: Defender,
    moves: Moves,
    rules: PairRules,
    *,
    margin: float = 0.0,
) -> Noise:
    """Return everybody's noise for every value of the private attribute.

    Parameters
    ----------
    public : ndarray of shape (u, d)
    defender, moves, rules
        Of the same columns.
    margin : float, at least 0
        Least lead of the target's score over every other's.
    """
    u, m = len(public), defender.m
    predicted = defender.predict(public)
    noisy = np.repeat(public[:, None, :], m, axis=1)
    size, found = np.zeros((u, m), dtype=np.int64), np.ones((u, m), dtype=bool)
    for target in range(m):
        others = np.flatnonzero(predicted != target)
        done = change_columns(public[others], defender, moves, rules, target, margin=margin)
        noisy[others, target], size[others, target], found[others, target] = done.noisy, done.size, done.found
    return Noise(noisy=noisy.reshape(u * m, public.shape[1]), size=size, found=found, predicted=predicted)


def change_columns(
    public: Floats, defender: Defender, moves: Moves, rules: PairRules, target: int, *, margin: float = 0.0
) -> NoisyRecords:
    """Return records (u, d) changed until the classifier reads one value with the margin, asked again to make sure.

    The parameters are those of `table_representatives`; records that read as the target anyhow should be left out.
    Those that read as it in the end but lack the margin count as not found, and stay as they were.
    """
    noisy, reached = public.copy(), np.zeros(len(public), dtype=bool)
    step = max(1, _CELLS // (moves.column.size * defender.m))
    for start in range(0, len(public), step):
        part = slice(start, start + step)
        noisy[part], reached[part] = _changed(public[part], defender, moves, rules, target, max(margin, _LEAST_LEAD))
    found = reached & (defender.predict(noisy) == target)
    noisy[~found] = public[~found]
    return NoisyRecords(noisy=noisy, size=(noisy != public).sum(axis=1), found=found)


def _changed(
    public: Floats, defender: Defender, moves: Moves, rules: PairRules, target: int, lead: float
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the changed records, and which of them reached the lead."""
    terms = defender.all_terms(public)
    walk = Walk(
        records=public.copy(),
        places=rules.places(public),
        terms=terms,
        scores=terms.sum(axis=2) + defender.offsets[:, None],
        fixed=np.zeros(public.shape, dtype=bool),
        reached=np.zeros(len(public), dtype=bool),
    )
    active = np.arange(len(public))
    while active.size:
        active = _round(walk, active, moves, target, lead)
    return walk.records, walk.reached


def _round(walk: Walk, active: Places, moves: Moves, target: int, lead: float) -> Places:
    """Make the next change of every active record; return those that still have to go on."""
    here = walk.of(active)
    open_ = here.open(moves)
    counts, blocker = moves.clashes(here.places)
    after = log_odds(here.after(moves), target, lead=lead)
    single = np.where(open_ & (counts == 0), after.odds, -np.inf)
    ends = after.reached & np.isfinite(single)
    ending = ends.any(axis=1)
    chosen = np.where(ends, single, -np.inf).argmax(axis=1)
    walk.make(moves, active[ending], chosen[ending])
    walk.reached[active[ending]] = True
    rest = np.flatnonzero(~ending)
    if not rest.size:
        return rest
    left = here.of(rest)
    joint = joint_moves(left, moves, open_[rest], (counts[rest], blocker[rest]), target, lead=lead)
    return _go_on(walk, active[rest], moves, single[rest], joint, log_odds(left.scores, target, lead=lead).odds)


def _go_on(walk: Walk, rows: Places, moves: Moves, single: Floats, joint: Joint, before: Floats) -> Places:
    """Make the best change of records that no single one ends; return those that go on."""
    everyone = np.arange(rows.size)
    one, two = single.argmax(axis=1), joint.best()
    gain_one = single[everyone, one] - before
    gain_two = joint.odds[everyone, two] - before
    ends = joint.reached[everyone, two]
    pair = ends | (gain_two / 2 > gain_one)
    useful = ends | (np.where(pair, gain_two, gain_one) > _LEAST_GAIN)
    doing = np.flatnonzero(useful & pair)
    walk.make(moves, rows[doing], two[doing])
    walk.make(moves, rows[doing], joint.partner[doing, two[doing]])
    doing = np.flatnonzero(useful & ~pair)
    walk.make(moves, rows[doing], one[doing])
    walk.reached[rows[ends]] = True
    return np.asarray(rows[useful & ~ends])
