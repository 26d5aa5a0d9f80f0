"""PANDA, the policy-aware search for noise of phase I (Jia and Gong 2018, Algorithm 1), on records of ratings.

For a person's record x and a wanted value i, entries are moved one at a time, each time the one that seems to bring x
nearest to i, until the classifier reads i. The paper's text lost the ≠ in the loop's condition, C(x) ≠ i, and in the
mask of Modify_Exist, x_j ≠ 0. "Existing" entries are those that are not 0 in the original record, "new" ones are 0
there (section 3.2). An entry that has reached 0 or 1 stays there; one moved several times counts once.

Modify_Exist and Add_New may have no solution; Modify_Add starts again there from the clean record. It need not have one
either, whatever the paper says: every noisy record is shown to the classifier, and where that does not read i the
record stays clean and counts as not found. Values are set, never added, as x + (v − x) is not always v.

A search moves one entry at a time, so it keeps a state of the classifier and adds to that; records are never multiplied
again, and may be sparse. A softmax does not notice what all scores share, and neither may the search.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.validation import Floats, Ints, Mask
from ..study import ReportProgress
from .allocation import RepresentativeNoise

POLICIES = {
    "modify_exist": "Change ratings that are there",
    "add_new": "Add new ratings only",
    "modify_add": "Change ratings and add new ones",
}
"""Noise-type policies, and what to call them."""

WIDEST = "modify_add"
"""The policy to fall back to where another leaves no solution."""


def representatives(
    public: Any,
    classifier: Any,
    *,
    policy: str = WIDEST,
    step: float = 1.0,
    margin: float = 0.0,
    n_values: int | None = None,
    report: ReportProgress | None = None,
) -> RepresentativeNoise:
    """Find the representative noise of every person for every value (Algorithm 1).

    Parameters
    ----------
    public : array or sparse array of shape (u, d), in [0, 1]
    classifier : fitted scikit-learn classifier
        The defender's: linear, or an MLPClassifier with one hidden layer of rectified units. It names private values
        by their numbers, 0 and up.
    policy : str
        "modify_exist", "add_new" or "modify_add": which entries may change.
    step : float, in (0, 1]
        How far an entry moves at a time, τ.
    margin : float, at least 0
        By how much the wanted value's score must lead, κ. Records that read as the wanted value anyway stay clean
        whatever their lead.
    n_values : int
        Number m of private values, by default one more than the largest the classifier names; there is no noise for a
        value it does not know.
    report : callable
        Gets how many of the searches are done, and of how many.
    """
    search = _PandaSearch(public, classifier, policy=policy, step=step, margin=margin)
    u = search.predicted.size
    m = n_values or int(search.scores.classes.max()) + 1
    noisy, size, reached = search.run(np.repeat(np.arange(u), m), np.tile(np.arange(m), u), report)
    return RepresentativeNoise(
        noisy=noisy,
        size=size.reshape(u, m),
        reached=reached.reshape(u, m),
        predicted=search.predicted,
    )


_Moves = tuple[Ints, Ints, Floats]
"""Moves of some tasks, (c,): whose, which entry, and what it is set to."""


class _PandaSearch:
    """PANDA on some people's records: against which classifier, and how. A task is a person and a wanted value."""

    def __init__(
        self, public: Any, classifier: Any, *, policy: str, step: float, margin: float
    ) -> None:
        self.policy = policy
        self.step = step
        self.scores = read_scores(classifier)
        self.read = classifier.predict
        self.lead = margin + self.scores.tie
        self.public, self.records = _rows_of(public)
        self.predicted = in_batches(self.read, self.public)
        # Where a class's gradient is the same everywhere: its columns, those that gain most first, (k, d).
        # For line 4 with a linear C_i: the largest entries of the constant gradient w_i.
        self.ranked = (
            np.argsort(-self.scores.weights.T, kind="stable") if self.scores.linear else None
        )

    def run(
        self, people: Ints, targets: Ints, report: ReportProgress | None
    ) -> tuple[Any, Ints, Mask]:
        """Return the records of q tasks, their sizes, and where noise was found."""
        # C(x) = i already: r_i = 0.
        reached = targets == self.predicted[people]
        tasks = np.flatnonzero(~reached & np.isin(targets, self.scores.classes))
        parts: list[_Moves] = [(people[:0], people[:0], np.zeros(0))]
        # Modify_Exist and Add_New without a solution are extended to Modify_Add (section 4.2).
        for policy in dict.fromkeys((self.policy, WIDEST)):
            class_index = np.searchsorted(self.scores.classes, targets[tasks])
            solved, moves = self._solved(people[tasks], class_index, policy, report)
            parts += [(tasks[task], column, value) for task, column, value in moves]
            reached[tasks[solved]] = True
            tasks = tasks[~solved]
            report = None
        task, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
        noisy = self._changed(people, task, column, value)
        # C(x + r_i) = i is tested by the classifier itself, in the record's own numbers.
        misled = reached & (in_batches(self.read, noisy) != targets)
        if misled.any():
            retained = ~misled[task]
            task = task[retained]
            column = column[retained]
            value = value[retained]
            noisy = self._changed(people, task, column, value)
            reached = reached & ~misled
        return noisy, np.bincount(task, minlength=people.size), reached

    def _solved(
        self, people: Ints, class_index: Ints, policy: str, report: ReportProgress | None
    ) -> tuple[Mask, list[_Moves]]:
        """Return which of q tasks are solved, (q,), and by which moves; tasks with records of like length together."""
        moves: list[_Moves] = []
        solved = np.zeros(people.size, dtype=bool)
        done = 0
        length = np.diff(self.records.indptr)[people]
        first = _REACH if self.scores.linear else self.scores.n_columns
        if people.size:
            waiting = [(np.argsort(length, kind="stable"), first)]
        else:
            waiting = []
        while waiting:
            some, reach = waiting.pop()
            if some.size > 1 and some.size * (int(length[some].max()) + reach) > _CELLS:
                waiting += [(half, reach) for half in np.array_split(some, 2)]
                continue
            solved[some], undecided, (task, column, value) = self._walked(
                people[some], class_index[some], policy, reach
            )
            moves.append((some[task], column, value))
            again = some[undecided]
            if again.size:
                waiting.append((again, 8 * reach))
            if reach == first:  # few are looked at again, and soon done
                done += some.size
                if report:
                    report(done, people.size)
        return solved, moves

    def _walked(
        self, people: Ints, class_index: Ints, policy: str, reach: int
    ) -> tuple[Mask, Mask, _Moves]:
        """Move one entry of every task's record at a time; return which are solved, which are still open, and how.

        The gradient of a network is another one after every step. That of a linear C_i(x) = w_i x + b_i is w_i
        everywhere, so that of all new entries only those of the largest weights need be looked at, `reach` of them; a
        task whose next entry may be another one is open.
        """
        clean = self.records[people]
        weights = self.scores.weights
        adds = policy == "add_new"
        column, before, valid, rest = self._entries(clean, class_index, reach)
        # Of the new entries that are not looked at, the best gain: (1 - 0) ∂C_i/∂x_j where they may rise.
        if not adds:
            rest = np.where((rest > 0) & (policy != "modify_exist"), rest, -np.inf)
        least = rest if adds else np.maximum(rest, 0.0)
        # The masks of lines 4, 7 and 8: x_j = 0 for Add_New, x_j ≠ 0 for Modify_Exist, of the original x.
        free = valid & np.where(before != 0, not adds, policy != "modify_exist")
        x = before.copy()
        state = self.scores.enter(clean)
        left = np.arange(people.size)
        solved = np.zeros(people.size, dtype=bool)
        if self.scores.linear:
            gradients = weights[column, class_index[:, None]]
        else:
            gradients = None
        # maxiter: an entry takes at most ⌈1/τ⌉ steps and is never taken up again at 0 or 1.
        for _ in range(self.scores.n_columns * (math.ceil(1.0 / self.step) + 1)):
            if not left.size:
                break
            # Lines 3 to 13: the entry to be modified, of equal ones the first.
            gain = gradient = (
                self.scores.gradient(state[left], class_index[left])
                if gradients is None
                else gradients[left]
            )
            if not adds:
                # v_inc = (1 - x_j) ∂C_i/∂x_j and v_dec = -x_j ∂C_i/∂x_j (lines 11, 12, 15, 16):
                # their maximum has the sign of the gradient. Add_New (line 4) takes ∂C_i/∂x_j itself.
                gain = np.where(gradient > 0, 1.0 - x[left], -x[left]) * gradient
            gain = np.where(free[left], gain, -np.inf)
            rows = np.arange(left.size)
            slot = gain.argmax(axis=1)
            # On while an entry brings x nearer to i and none that is not looked at would do better.
            useful = gain[rows, slot] > least[left]
            rises = (gradient[rows, slot] > 0) | adds
            left = left[useful]
            slot = slot[useful]
            rises = rises[useful]
            # Lines 14 to 21: modify it.
            old = x[left, slot]
            # x_e = clip(x_e ± τ), lines 18 and 20.
            new = np.clip(old + np.where(rises, self.step, -self.step), 0.0, 1.0)
            x[left, slot] = new
            free[left, slot] = (new > 0.0) & (new < 1.0)
            # z = W x + b after one entry: z += (x_e' - x_e) W_e.
            state[left] += (new - old)[:, None] * weights[column[left, slot]]
            # Line 1, C(x) ≠ i, with the margin κ: i must lead by more than κ.
            leads = self.scores.leading(state[left], class_index[left], self.lead)
            solved[left[leads]] = True
            left = left[~leads]
        task, slot = np.nonzero((x != before) & solved[:, None])
        # Open: entries beyond `reach` might have helped.
        return solved, ~solved & (rest > -np.inf), (task, column[task, slot], x[task, slot])

    def _entries(
        self, clean: Any, class_index: Ints, reach: int
    ) -> tuple[Ints, Floats, Mask, Floats]:
        """Return the p entries of each record to be looked at, and the gain of the best new one that is not, (q,).

        All (q, p): columns, values, and which are entries; of a linear classifier those there are and `reach` new ones,
        first what raises its score by rising, and of these and the others the leftmost column.
        """
        q, d = clean.shape
        if self.ranked is None:
            return (
                np.tile(np.arange(d), (q, 1)),
                clean.toarray(),
                np.ones((q, d), bool),
                np.full(q, -np.inf),
            )
        rows = np.arange(q)
        length = np.diff(clean.indptr)
        owner = np.repeat(rows, length)
        slot = np.arange(owner.size) - np.repeat(clean.indptr[:-1], length)
        new = self.ranked[class_index, :reach]
        longest = int(length.max(initial=0))
        weights = self.scores.weights
        shape = q, longest + new.shape[1]
        column = np.zeros(shape, np.int64)
        value = np.zeros(shape)
        valid = np.zeros(shape, bool)
        column[owner, slot] = clean.indices
        value[owner, slot] = clean.data
        valid[owner, slot] = True
        column[:, longest:] = new
        # Entries among the ranked ones that the record has already are not new.
        valid[:, longest:] = ~np.isin(new + rows[:, None] * d, clean.indices + owner * d)
        order = np.lexsort((column, weights[column, class_index[:, None]] < 0))
        column, value, valid = (
            np.take_along_axis(part, order, axis=1) for part in (column, value, valid)
        )
        if reach < d:
            rest = weights[self.ranked[class_index, reach], class_index]
        else:
            rest = np.full(q, -np.inf)
        return column, value, valid, rest

    def _changed(self, people: Ints, task: Ints, column: Ints, value: Floats) -> Any:
        """Return every task's record (q, d) with its moves, sparse if the public records are."""
        from scipy import sparse

        if not sparse.issparse(self.public):
            rows = self.public[people].astype(
                np.result_type(self.public.dtype, np.float32), copy=False
            )
            rows[task, column] = value
            return rows
        clean = self.records[people].tocoo()
        d = self.scores.n_columns
        retained = ~np.isin(clean.row.astype(np.int64) * d + clean.col, task * d + column)
        data = np.concatenate([clean.data[retained], value])
        row, columns = np.hstack([(clean.row[retained], clean.col[retained]), (task, column)])
        # liblinear takes no positions of 64 bits
        matrix = sparse.csr_array(
            (data, (row.astype(np.int32), columns.astype(np.int32))), shape=clean.shape
        )
        matrix.eliminate_zeros()
        return matrix


_CELLS = 1_000_000  # numbers held at a time
_REACH = 16  # new entries looked at first


def _rows_of(public: Any) -> tuple[Any, Any]:
    """Return public records (u, d) as they are to be read, and as a sparse array in rows, sorted, without zeros."""
    from scipy import sparse

    if sparse.issparse(public):
        rows = public.tocsr()
    else:
        rows = np.asarray(public)
    records = sparse.csr_array(rows, dtype=np.float64, copy=True)
    records.sum_duplicates()
    records.eliminate_zeros()
    return rows, records


TIE = 1e-9
"""Leads of less than this share of the largest weight are ties: they may be rounding."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    """Scores of k classes on d columns: of a linear classifier, C(x) = W x + b, or of a network with one hidden layer.

    The state is z = W x + b: the scores, or what the hidden layer's rectified units get. Two classes have one decision
    value f, split into −f/2 and f/2, so that a value's lead over the other is f for them as it is for more classes. The
    weights of multinomial linear models are centred over the classes. One-versus-rest scores mean something one by one
    and are never centred.
    """

    classes: Ints  # the private value each class stands for, (k,)
    weights: Floats  # W transposed, (d, h)
    offsets: Floats  # b, (h,)
    # of a network: what its scores are made of, (h, k) and (k,)
    outputs: tuple[Floats, Floats] | None = None

    @property
    def tie(self) -> float:
        """Largest lead that counts as none."""
        last = self.weights if self.outputs is None else self.outputs[0]
        return TIE * float(np.abs(last).max(initial=0.0))

    @property
    def linear(self) -> bool:
        """Whether the scores are linear in the columns."""
        return self.outputs is None

    @property
    def n_columns(self) -> int:
        """Number of columns d."""
        return int(self.weights.shape[0])

    def enter(self, records: Any) -> Floats:
        """Return the state a search starts from, (u, h)."""
        return np.asarray(records @ self.weights) + self.offsets

    def scores(self, state: Floats) -> Floats:
        """Return the scores (q, k) in some states (q, h)."""
        if self.outputs is None:
            return state
        return np.maximum(state, 0.0) @ self.outputs[0] + self.outputs[1]

    def leading(self, state: Floats, class_index: Ints, lead: float) -> Mask:
        """Return in which states (q, ..., h) the wanted class (q,) leads every other by more than `lead`, (q, ...)."""
        scores = self.scores(state).copy()
        index = class_index.reshape(-1, *[1] * (scores.ndim - 1))
        target_score = np.take_along_axis(scores, index, axis=-1)[..., 0]
        np.put_along_axis(scores, index, -np.inf, axis=-1)
        return target_score - scores.max(axis=-1) > lead

    def gradient(self, state: Floats, class_index: Ints) -> Floats:
        """Return the gradient (q, d) of the wanted class's score (q,) in some states (q, h)."""
        direction = np.eye(self.classes.size)[class_index]
        if self.outputs is not None:
            # ∂C_i/∂x = W (V_i ⊙ [z > 0]) for a hidden layer z with output weights V; W_i if linear.
            direction = (direction @ self.outputs[0].T) * (state > 0)
        return direction @ self.weights.T


def read_scores(classifier: Any) -> Scores:
    """Return the decision scores of a fitted classifier, linear or an MLPClassifier with one hidden layer."""
    outputs = None
    if hasattr(classifier, "coefs_"):
        (weights, offsets), outputs = _network(classifier)
    else:
        weights, offsets = _linear(classifier)
    return Scores(
        classes=np.asarray(classifier.classes_, dtype=np.int64),
        weights=weights,
        offsets=offsets,
        outputs=outputs,
    )


_Layer = tuple[Floats, Floats]
"""Weights, and offsets."""


def _linear(classifier: Any) -> _Layer:
    """Return the weights and offsets of a linear classifier, or of one that has a part for each class."""
    parts = getattr(classifier, "estimators_", [classifier])
    rows = np.vstack([np.atleast_2d(part.coef_) for part in parts]).astype(np.float64)
    offsets = np.broadcast_to(np.ravel([part.intercept_ for part in parts]), rows.shape[:1]).astype(
        np.float64
    )
    if len(rows) == 1:
        # C_0 = -f/2 and C_1 = f/2 of one decision value f.
        rows = np.vstack([-0.5 * rows, 0.5 * rows])
        offsets = np.append(-0.5 * offsets, 0.5 * offsets)
    elif _shares_a_softmax(classifier):
        # A softmax does not see what all classes share: w_i - mean w.
        rows = rows - rows.mean(axis=0)
    return np.ascontiguousarray(rows.T), offsets


def _shares_a_softmax(classifier: Any) -> bool:
    from sklearn.linear_model import LogisticRegression

    return isinstance(classifier, LogisticRegression) and classifier.solver != "liblinear"


def _network(classifier: Any) -> tuple[_Layer, _Layer]:
    """Return both layers of an MLPClassifier; of its one output for two classes, half to each."""
    (hidden, weights), (shift, offsets) = (
        [np.asarray(part, dtype=np.float64) for part in parts]
        for parts in (classifier.coefs_, classifier.intercepts_)
    )
    if classifier.out_activation_ == "logistic":
        weights = weights * [-0.5, 0.5]
        offsets = offsets * [-0.5, 0.5]
    return (hidden, shift), (weights, offsets)


_ROWS = 8_000


def in_batches(read: Callable[[Any], Any], rows: Any) -> Ints:
    """Return what a function reads off rows (q, d), a few thousand at a time, so that memory stays small."""
    parts = [read(rows[first : first + _ROWS]) for first in range(0, rows.shape[0], _ROWS)]
    if parts:
        return np.concatenate(parts).astype(np.int64)
    return np.zeros(0, dtype=np.int64)
