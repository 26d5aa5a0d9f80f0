"""Phase I on raw columns: the few columns to change until another value is read.

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

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.attriguard.records import Floats, Noise
from core.attriguard.table_people import Column, Encoder, PairRules, fit_encoder
from core.validation import choice

TABLE_DEFENDERS = {"logistic": "Logistic regression", "ranges": "Logistic regression on ranges"}
"""What the defender finds noise against on a table, and what to call it."""

_ROUNDS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Defender:
    """A fitted linear classifier of the private attribute, with k inputs for m values."""

    encoder: Encoder
    classifier: Any = field(repr=False)  # scikit-learn's, on the encoder's inputs
    # of every input for every value, (m, k); of two values half the difference each
    weights: Floats = field(repr=False)
    offsets: Floats = field(repr=False)  # (m,)
    starts: npt.NDArray[np.intp] = field(repr=False)  # where each column's inputs begin, (d + 1,)

    @property
    def m(self) -> int:
        """Number of values of the private attribute."""
        return int(self.offsets.size)

    def terms(self, column: int, values: Floats) -> Floats:
        """Return what values (n,) of a column add to every score, (m, n)."""
        own = self.weights[:, self.starts[column] : self.starts[column + 1]]
        return np.ascontiguousarray((self.encoder.block(column, values) @ own.T).T)

    def all_terms(self, records: Floats) -> Floats:
        """Return what each cell adds to every score, (m, n, d)."""
        return np.stack([self.terms(j, records[:, j]) for j in range(records.shape[1])], axis=2)

    def predict(self, records: Floats) -> npt.NDArray[np.int64]:
        """Return what the classifier reads off records (n, d)."""
        if not len(records):
            return np.zeros(0, dtype=np.int64)
        return np.asarray(self.classifier.predict(self.encoder.transform(records)), dtype=np.int64)


def fit_defender(
    known: Floats, truth: npt.NDArray[np.int64], columns: tuple[Column, ...], *, kind: str = "logistic"
) -> Defender:
    """Fit the defender's classifier on the known people (n, d), whose values 0 to m - 1 must all be there.

    Numbers are taken as they are, standardised ("logistic"), or in ten ranges with an indicator each ("ranges").
    """
    from sklearn.linear_model import LogisticRegression

    encoder = fit_encoder(known, columns, ranges=choice(kind, TABLE_DEFENDERS, name="defender") == "ranges")
    classifier = LogisticRegression(max_iter=_ROUNDS).fit(encoder.transform(known), truth)
    weights, offsets = classifier.coef_, classifier.intercept_
    if len(offsets) == 1:
        weights, offsets = np.vstack([-weights, weights]) / 2, np.array([-offsets[0], offsets[0]]) / 2
    return Defender(
        encoder=encoder,
        classifier=classifier,
        weights=np.asarray(weights, dtype=np.float64),
        offsets=np.asarray(offsets, dtype=np.float64),
        starts=np.cumsum([0, *encoder.widths()]),
    )


class Odds(NamedTuple):
    """Log odds of the target, and whether its score leads every other by the lead asked for; both of shape (...)."""

    odds: npt.NDArray[np.float64]
    reached: npt.NDArray[np.bool_]


def log_odds(scores: npt.NDArray[np.float64], target: int, *, lead: float) -> Odds:
    """Return z_i − log Σ_{c≠i} exp z_c of scores z (m, ...), and whether z_i − max_{c≠i} z_c is at least `lead`."""
    others = [own for value, own in enumerate(scores) if value != target]
    top = reduce(np.maximum, others)
    rivals = top
    if len(others) > 1:
        rivals = top + np.log(sum(np.exp(own - top) for own in others))
    return Odds(scores[target] - rivals, scores[target] - top >= lead)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """All v single changes; a record can take those that change something and break no rule."""

    column: npt.NDArray[np.intp] = field(repr=False)  # the column that is set, (v,)
    value: npt.NDArray[np.float64] = field(repr=False)  # what it is set to, (v,)
    terms: npt.NDArray[np.float64] = field(repr=False)  # what the new value adds to the defender's scores, (m, v)
    place: npt.NDArray[np.intp] = field(repr=False)  # where the new value stands in `forbidden`, (v,)
    # which of t listed values each new value must not meet, (t + 1, v)
    forbidden: npt.NDArray[np.bool_] = field(repr=False)
    bound: npt.NDArray[np.bool_] = field(repr=False)  # which columns the rules speak of, (d,)

    def clashes(self, places: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
        """Return how many columns of each record forbid each change, and the last one that does, both (n, v).

        `places` (n, d) is where the records' values stand in `forbidden`.
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


Places = npt.NDArray[np.intp]


@dataclass(slots=True)
class Walk:
    """n records and their changes so far."""

    records: Floats  # (n, d)
    places: Places  # where the cells stand among the listed values (`PairRules.places`), (n, d)
    terms: Floats  # what each cell adds to the scores, (m, n, d)
    scores: Floats  # (m, n)
    fixed: npt.NDArray[np.bool_]  # cells changed already, (n, d)
    reached: npt.NDArray[np.bool_]  # which records read as the wanted value by the lead asked for, (n,)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """For each of n records and v changes the best change of the column in its way."""

    odds: Floats = field(repr=False)  # log odds of the target after both, (n, v); minus infinity where there is no pair
    reached: npt.NDArray[np.bool_] = field(repr=False)  # whether both together make the target lead, (n, v)
    partner: Places = field(repr=False)  # the other change, (n, v)

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

    `open_` (n, v) is that of `Walk.open`, `clashes` that of `Moves.clashes`, target and lead those of `log_odds`.
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
            odds = np.where(allowed, after.odds, -np.inf)
            best = odds.argmax(axis=1)
            picked = np.arange(rows.size), best
            joint.odds[rows, first] = odds[picked]
            joint.reached[rows, first] = after.reached[picked] & np.isfinite(odds[picked])
            joint.partner[rows, first] = seconds[best]
    return joint


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
    """Return everybody's noise for every value, whose score must lead every other's by the margin.

    Defender, moves and rules must be of the same columns as the public records (u, d). The classifier is asked again to
    make sure; records that read as the value in the end but lack the margin count as not found, and stay as they were.
    """
    u, m = len(public), defender.m
    predicted = defender.predict(public)
    noisy, found = np.repeat(public[:, None, :], m, axis=1), np.ones((u, m), dtype=bool)
    step, lead = max(1, _CELLS // (moves.column.size * m)), max(margin, _LEAST_LEAD)
    for target in range(m):
        others = np.flatnonzero(predicted != target)
        for start in range(0, others.size, step):
            rows = others[start : start + step]
            noisy[rows, target], found[rows, target] = _changed(public[rows], defender, moves, rules, target, lead)
        lost = others[~found[others, target] | (defender.predict(noisy[others, target]) != target)]
        noisy[lost, target], found[lost, target] = public[lost], False
    size = (noisy != public[:, None, :]).sum(axis=2)
    return Noise(noisy=noisy.reshape(u * m, public.shape[1]), size=size, found=found, predicted=predicted)


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
