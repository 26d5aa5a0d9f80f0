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

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.validation import Floats, Ints, Mask, choice
from .allocation import RepresentativeNoise
from .table import Column, Encoder, Pair, fit_encoder, forbidden_values, places_of

TABLE_DEFENDERS = {"logistic": "Logistic regression", "ranges": "Logistic regression on ranges"}
"""What the defender finds noise against on a table, and what to call it."""

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Defender:
    """A fitted linear classifier of the private attribute, with k inputs for m values."""

    encoder: Encoder
    classifier: Any  # scikit-learn's, on the encoder's inputs
    # of every input for every value, (m, k); of two values half the difference each
    weights: Floats
    offsets: Floats  # (m,)
    starts: Places  # where each column's inputs begin, (d + 1,)

    def terms(self, column: int, values: Floats) -> Floats:
        """Return what values (n,) of a column add to every score, (m, n)."""
        weights = self.weights[:, self.starts[column] : self.starts[column + 1]]
        return np.ascontiguousarray((self.encoder.block(column, values) @ weights.T).T)

    def all_terms(self, records: Floats) -> Floats:
        """Return what each cell adds to every score, (m, n, d)."""
        return np.stack([self.terms(j, records[:, j]) for j in range(records.shape[1])], axis=2)

    def predict(self, records: Floats) -> Ints:
        """Return what the classifier reads off records (n, d)."""
        if not len(records):
            return np.zeros(0, dtype=np.int64)
        return np.asarray(self.classifier.predict(self.encoder.transform(records)), dtype=np.int64)


def fit_defender(
    records: Floats, truth: Ints, columns: tuple[Column, ...], *, kind: str = "logistic"
) -> Defender:
    """Fit the defender's classifier on the known people (n, d), whose values 0 to m - 1 must all be there.

    Numbers are taken as they are, standardised ("logistic"), or in ten ranges with an indicator each ("ranges").
    """
    from sklearn.linear_model import LogisticRegression

    encoder = fit_encoder(
        records, columns, ranges=choice(kind, TABLE_DEFENDERS, name="defender") == "ranges"
    )
    classifier = LogisticRegression(max_iter=2000).fit(encoder.transform(records), truth)
    weights = classifier.coef_
    offsets = classifier.intercept_
    if len(offsets) == 1:
        weights = np.vstack([-weights, weights]) / 2
        offsets = np.array([-offsets[0], offsets[0]]) / 2
    widths = [encoder.block(j, np.zeros(1)).shape[1] for j in range(len(columns))]
    starts = np.cumsum([0, *widths])
    return Defender(
        encoder=encoder, classifier=classifier, weights=weights, offsets=offsets, starts=starts
    )


def log_odds(scores: Floats, target: int, *, lead: float) -> tuple[Floats, Mask]:
    """Return z_i − log Σ_{c≠i} exp z_c of scores z (m, ...), and whether z_i − max_{c≠i} z_c is at least `lead`."""
    rival_scores = [score for value, score in enumerate(scores) if value != target]
    top = reduce(np.maximum, rival_scores)
    rivals = top
    if len(rival_scores) > 1:
        # log Σ_{c≠i} exp z_c with the largest taken out; of two values it is the other's score.
        rivals = top + np.log(sum(np.exp(score - top) for score in rival_scores))
    return scores[target] - rivals, scores[target] - top >= lead


@dataclass(slots=True)
class _Walk:
    """n records and their changes so far."""

    records: Floats  # (n, d)
    places: Places  # where the cells stand among the listed values (`places_of`), (n, d)
    terms: Floats  # what each cell adds to the scores, (m, n, d)
    scores: Floats  # (m, n)
    fixed: Mask  # cells changed already, (n, d)
    reached: Mask  # which records read as the target by the lead asked for, (n,)

    def of(self, rows: Places) -> _Walk:
        """Return a copy of some of the records."""
        scores = self.scores[:, rows]
        terms = self.terms[:, rows]
        return _Walk(
            self.records[rows],
            self.places[rows],
            terms,
            scores,
            self.fixed[rows],
            self.reached[rows],
        )


_CELLS = 1_000_000  # records x changes x values weighed at once; bounds the memory
_LEAST_LEAD = 1e-9  # sums of terms and the classifier's own product differ in the last bits
_LEAST_GAIN = 1e-12


class TableSearch:
    """The search among all v single changes of a table's records, against one defender and by its rules.

    The target's score must lead every other's by the margin. Columns, defender and rules are of the same table.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        defender: Defender,
        rules: Collection[Pair],
        *,
        margin: float = 0.0,
    ) -> None:
        self.defender = defender
        self.listed = [column.listed for column in columns]
        forbidden = forbidden_values(columns, rules)
        self.lead = max(margin, _LEAST_LEAD)
        free = [j for j, column in enumerate(columns) if not column.frozen]
        self.column = np.repeat(
            free, [columns[j].domain.size for j in free]
        )  # the column that is set, (v,)
        self.value = np.concatenate([columns[j].domain for j in free])  # what it is set to, (v,)
        # what the new value adds to the scores, (m, v), and where it stands among the listed values, (v,)
        self.terms = np.concatenate([defender.terms(j, columns[j].domain) for j in free], axis=1)
        every = np.arange(self.value.size)
        spare = np.zeros((every.size, len(columns)))
        spare[every, self.column] = self.value
        self.position = places_of(self.listed, spare)[every, self.column]
        # which of t listed values each new value must not meet, (t + 1, v), and which columns the rules speak of
        self.forbidden = forbidden[:, self.position]
        owner = np.repeat(np.arange(len(columns)), [values.size for values in self.listed])
        self.bound = np.unique(owner[forbidden[:-1].any(axis=1)])

    def noise(self, public: Floats) -> RepresentativeNoise:
        """Return everybody's noise for every value, of records (u, d).

        The classifier is asked again to make sure; records that read as the value in the end but lack the margin count
        as not found, and stay as they were.
        """
        u = len(public)
        m = self.defender.offsets.size
        predicted = self.defender.predict(public)
        noisy = np.repeat(public[:, None, :], m, axis=1)
        reached = np.ones((u, m), dtype=bool)
        step = max(1, _CELLS // (self.column.size * m))
        for target in range(m):
            people = np.flatnonzero(predicted != target)
            for start in range(0, people.size, step):
                rows = people[start : start + step]
                noisy[rows, target], reached[rows, target] = self._changed(public[rows], target)
            # C(x + r_i) = i, asked of the classifier itself (equation 2).
            lost = people[
                ~reached[people, target] | (self.defender.predict(noisy[people, target]) != target)
            ]
            noisy[lost, target] = public[lost]
            reached[lost, target] = False
        # ‖r_i‖₀ in raw columns, whatever the encoder makes of them.
        size = (noisy != public[:, None, :]).sum(axis=2)
        return RepresentativeNoise(
            noisy=noisy.reshape(u * m, public.shape[1]),
            size=size,
            reached=reached,
            predicted=predicted,
        )

    def _changed(self, public: Floats, target: int) -> tuple[Floats, Mask]:
        """Return the changed records, and which of them reached the lead."""
        terms = self.defender.all_terms(public)
        walk = _Walk(
            records=public.copy(),
            places=places_of(self.listed, public),
            terms=terms,
            scores=terms.sum(axis=2) + self.defender.offsets[:, None],
            fixed=np.zeros(public.shape, dtype=bool),
            reached=np.zeros(len(public), dtype=bool),
        )
        active = np.arange(len(public))
        while active.size:
            active = self._round(walk, active, target)
        return walk.records, walk.reached

    def _round(self, walk: _Walk, active: Places, target: int) -> Places:
        """Make the next change of every active record; return those that still have to go on."""
        current = walk.of(active)
        # Changes that are left: a column not fixed yet, and another value than today's.
        open_ = ~current.fixed[:, self.column] & (current.records[:, self.column] != self.value)
        clashes, blocker = self._clashes(current.places)
        # z(x with the change) = z(x) - terms of the old value + terms of the new one.
        without = current.scores[:, :, None] - np.take(current.terms, self.column, axis=2)
        odds, reached = log_odds(without + self.terms[:, None], target, lead=self.lead)
        single = np.where(open_ & (clashes == 0), odds, -np.inf)
        # Changes after which i leads by κ; of these the one with the largest log odds.
        ends = reached & np.isfinite(single)
        ending = ends.any(axis=1)
        self._make(walk, active[ending], np.where(ends, single, -np.inf).argmax(axis=1)[ending])
        walk.reached[active[ending]] = True
        rest = np.flatnonzero(~ending)
        if not rest.size:
            return rest
        # No single change ends these: the best one is made, or the best two that go together.
        left = current.of(rest)
        rows = active[rest]
        everyone = np.arange(rest.size)
        joint, reached, partner = self._joint(
            left, open_[rest], clashes[rest], blocker[rest], target
        )
        before, _ = log_odds(left.scores, target, lead=self.lead)
        some = reached.any(axis=1, keepdims=True)
        best_single = single[rest].argmax(axis=1)
        best_joint = np.where(reached | ~some, joint, -np.inf).argmax(axis=1)
        gain_single = single[rest, best_single] - before
        gain_joint = joint[everyone, best_joint] - before
        done = reached[everyone, best_joint]
        # A pair counts two columns: it ends the search, or gains more a column than the best single.
        pair = done | (gain_joint / 2 > gain_single)
        # Nothing raises the log odds: the record has no (further) solution and is left.
        useful = done | (np.where(pair, gain_joint, gain_single) > _LEAST_GAIN)
        doing = useful & pair
        self._make(walk, rows[doing], best_joint[doing])
        self._make(walk, rows[doing], partner[everyone, best_joint][doing])
        doing = useful & ~pair
        self._make(walk, rows[doing], best_single[doing])
        walk.reached[rows[done]] = True
        return rows[useful & ~done]

    def _make(self, walk: _Walk, rows: Places, chosen: Places) -> None:
        """Make one change a row."""
        column = self.column[chosen]
        walk.records[rows, column] = self.value[chosen]
        walk.places[rows, column] = self.position[chosen]
        walk.scores[:, rows] += self.terms[:, chosen] - walk.terms[:, rows, column]
        walk.terms[:, rows, column] = self.terms[:, chosen]
        walk.fixed[rows, column] = True

    def _clashes(self, places: Places) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
        """Return how many columns of each record forbid each change, and the last one that does, both (n, v)."""
        count = np.zeros((len(places), self.column.size), dtype=np.int16)
        last = np.full(count.shape, -1, dtype=np.int16)
        for j in self.bound:
            # Column j as it stands and the new value form a forbidden pair.
            against = self.forbidden[places[:, j]] & (self.column != j)
            count += against
            last[against] = j
        return count, last

    def _joint(
        self,
        walk: _Walk,
        open_: Mask,
        clashes: npt.NDArray[np.int16],
        blocker: npt.NDArray[np.int16],
        target: int,
    ) -> tuple[Floats, Mask, Places]:
        """Weigh all pairs of changes in which the second clears the first's way.

        Returns, all of shape (n, v): the odds after a change and the best one of the column in its way (minus infinity
        where there is no such pair), whether both together reach the lead, and the other change.
        """
        odds = np.full(clashes.shape, -np.inf)
        reached = np.zeros(clashes.shape, dtype=bool)
        partner = np.zeros(clashes.shape, dtype=np.intp)
        # First changes that one column alone forbids; that column is changed too.
        blocked = open_ & (clashes == 1)
        for first in np.flatnonzero(blocked.any(axis=0)):
            for column in np.unique(blocker[blocked[:, first], first]):
                rows = np.flatnonzero(blocked[:, first] & (blocker[:, first] == column))
                seconds = np.flatnonzero(
                    (self.column == column) & ~self.forbidden[self.position[first]]
                )
                if not seconds.size:
                    continue
                first_column = self.column[first]
                cells = np.ix_(rows, seconds)
                # what forbids the second, but for the value the first takes away
                # 0 left: the second is allowed once the first has changed its column.
                left = clashes[cells] - self.forbidden[walk.places[rows, first_column]][:, seconds]
                rest = (
                    walk.scores[:, rows]
                    - walk.terms[:, rows, column]
                    - walk.terms[:, rows, first_column]
                )
                both = self.terms[:, seconds] + self.terms[:, [first]]
                after, leads = log_odds(rest[:, :, None] + both[:, None], target, lead=self.lead)
                weighed = np.where(open_[cells] & (left == 0), after, -np.inf)
                best = weighed.argmax(axis=1)
                picked = np.arange(rows.size), best
                odds[rows, first] = weighed[picked]
                reached[rows, first] = leads[picked] & np.isfinite(weighed[picked])
                partner[rows, first] = seconds[best]
        return odds, reached, partner
