"""PANDA, the policy-aware search for noise of phase I (Jia and Gong 2018, Algorithm 1), on records of ratings.

For a person's record x and a wanted value i, entries are moved one at a time, each time the one that seems to bring x
nearest to i, until the classifier reads i. The paper's text lost the ≠ in the loop's condition, C(x) ≠ i, and in the
mask of Modify_Exist, x_j ≠ 0. "Existing" entries are those that are not 0 in the original record, "new" ones are 0
there (section 3.2). An entry that has reached 0 or 1 stays there; one moved several times counts once.

Modify_Exist and Add_New may have no solution; Modify_Add starts again there from the clean record. It need not have one
either, whatever the paper says: every noisy record is shown to the classifier, and where that does not read i the
record stays clean and counts as not found. Values are set, never added, as x + (v − x) is not always v.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.arrays import Floats, Ints, Mask
from core.attriguard.classifiers import in_batches, read_scores
from core.attriguard.noisy_records import Noise, NoisyRecords
from core.errors import InputError
from core.study import Report
from core.validation import at_least_zero, choice

POLICIES = {
    "modify_exist": "Change ratings that are there",
    "add_new": "Add new ratings only",
    "modify_add": "Change ratings and add new ones",
}
"""Noise-type policies, and what to call them."""

WIDEST = "modify_add"
"""The policy to fall back to where another leaves no solution."""


def panda(
    public: Any,
    classifier: Any,
    target: npt.ArrayLike,
    *,
    policy: str = WIDEST,
    step: float = 1.0,
    margin: float = 0.0,
) -> NoisyRecords:
    """Change few entries of each record so that the classifier reads a wanted value (Algorithm 1).

    Parameters
    ----------
    public : array or sparse array of shape (u, d), in [0, 1]
    classifier : fitted scikit-learn classifier
        The defender's: linear, or an MLPClassifier. It names private values by their numbers, 0 and up.
    target : int or array-like of shape (u,)
        The wanted value, or one for each person.
    policy : str
        "modify_exist", "add_new" or "modify_add": which entries may change.
    step : float, in (0, 1]
        How far an entry moves at a time, τ.
    margin : float, at least 0
        By how much the wanted value's score must lead, κ. Records that read as the wanted value anyway stay clean
        whatever their lead.
    """
    search = _Search(public, classifier, policy=policy, step=step, margin=margin)
    wanted, u = np.asarray(target), search.predicted.size
    if wanted.dtype.kind not in "iu" or wanted.shape not in ((), (u,)):
        raise InputError(f"target must be the number of a value, or one for each of {u} people, got {target!r}.")
    noisy, size, found, fallback = search.run(np.arange(u), np.broadcast_to(wanted, (u,)).astype(np.int64))
    return NoisyRecords(noisy=noisy, size=size, found=found, fallback=fallback)


def representatives(
    public: Any,
    classifier: Any,
    *,
    policy: str = WIDEST,
    step: float = 1.0,
    margin: float = 0.0,
    n_values: int | None = None,
    report: Report | None = None,
) -> Noise:
    """Find the representative noise of every person for every value; the arguments are those of `panda`.

    `n_values` is the number m of private values, by default one more than the largest the classifier names; there is no
    noise for a value it does not know. The report gets how many of the searches are done, and of how many.
    """
    search = _Search(public, classifier, policy=policy, step=step, margin=margin)
    least, u = int(search.scores.classes.max()) + 1, search.predicted.size
    m = least if n_values is None else n_values
    if m < least:
        raise InputError(f"n_values must be at least {least}, the number of values the classifier names, got {m}.")
    noisy, size, found, fallback = search.run(np.repeat(np.arange(u), m), np.tile(np.arange(m), u), report)
    return Noise(
        noisy=noisy,
        size=size.reshape(u, m),
        found=found.reshape(u, m),
        fallback=fallback.reshape(u, m),
        predicted=search.predicted,
    )


class _Moves(NamedTuple):
    """Which of q tasks are solved, (q,), and the c moves that do it: whose, which entry, and what it is set to."""

    found: Mask
    task: Ints
    column: Ints
    value: Floats


class _Search:
    """PANDA on some people's records: against which classifier, and how. A task is a person and a wanted value."""

    def __init__(self, public: Any, classifier: Any, *, policy: str, step: float, margin: float) -> None:
        self.policy = choice(policy, POLICIES, name="policy")
        if not 0.0 < step <= 1.0:
            raise InputError(f"step must be above 0 and at most 1, got {step!r}.")
        self.step, margin = step, at_least_zero(margin, name="margin")
        self.scores, self.read = read_scores(classifier), classifier.predict
        self.lead = margin + self.scores.tie
        self.public, self.records = _checked(public, self.scores.n_columns)
        self.predicted = in_batches(self.read, self.public)
        # Where a class's gradient is the same everywhere: its columns, those that gain most first, (k, d).
        self.ranked = np.argsort(-self.scores.weights[0].T, kind="stable") if self.scores.linear else None

    def run(self, people: Ints, wanted: Ints, report: Report | None = None) -> tuple[Any, Ints, Mask, Mask]:
        """Return the records of q tasks, their sizes, where noise was found, and where any entry was allowed to."""
        found = wanted == self.predicted[people]
        fallback = np.zeros(people.size, dtype=bool)
        tasks = np.flatnonzero(~found & np.isin(wanted, self.scores.classes))
        parts = []
        for policy in dict.fromkeys((self.policy, WIDEST)):
            place = np.searchsorted(self.scores.classes, wanted[tasks])
            done = self._solved(people[tasks], place, policy, report)
            parts.append((tasks[done.task], done.column, done.value))
            solved, tasks, report = tasks[done.found], tasks[~done.found], None
            found[solved] = True
            fallback[solved] = policy != self.policy
        task, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
        noisy = self._changed(people, task, column, value)
        misled = found & (in_batches(self.read, noisy) != wanted)
        if misled.any():
            kept = ~misled[task]
            task, column, value = task[kept], column[kept], value[kept]
            noisy, found = self._changed(people, task, column, value), found & ~misled
        return noisy, np.bincount(task, minlength=people.size), found, fallback & found

    def _solved(self, people: Ints, wanted: Ints, policy: str, report: Report | None) -> _Moves:
        """Solve tasks, those with records of like length together: by sorted moves, or by walking."""
        found = np.zeros(people.size, dtype=bool)
        length = np.diff(self.records.indptr)[people]
        k, longest = self.scores.classes.size, int(length.max(initial=0))
        width = self.scores.n_columns if self.ranked is None else max(k, longest)
        parts, done = [(people[:0], people[:0], np.zeros(0))], 0
        for some in np.array_split(np.argsort(length, kind="stable"), 1 + people.size * width // _CELLS):
            waiting = [(some, _REACH)]
            while waiting:
                left, reach = waiting.pop()
                cells = left.size * (longest + reach) * k
                if self.ranked is not None and cells > 8 * _CELLS and left.size > 1:
                    waiting += [(half, reach) for half in np.array_split(left, 2)]
                    continue
                if self.ranked is None:
                    moves, undecided = self._walked(people[left], wanted[left], policy), left[:0]
                else:
                    moves, again = self._sorted(people[left], wanted[left], policy, reach)
                    undecided = left[again]
                found[left] = moves.found
                parts.append((left[moves.task], moves.column, moves.value))
                waiting += [(undecided, 8 * reach)] if undecided.size else []
            done += some.size
            if report:
                report(done, people.size)
        return _Moves(found, *(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _sorted(self, people: Ints, wanted: Ints, policy: str, reach: int) -> tuple[_Moves, Mask]:
        """Solve tasks against a linear classifier, looking at `reach` new entries each; say which are still open.

        The gradient of C_i(x) = w_i x + b_i is w_i everywhere, and an entry's moves gain less and less. So the order of
        Algorithm 1 is that of all moves sorted by their gains (equal ones: raising first, then the leftmost column),
        and the search ends at the first move after which class i leads.
        """
        assert self.ranked is not None
        weights, rows = self.scores.weights[0], np.arange(people.size)
        clean, d = self.records[people], self.scores.n_columns
        length = np.diff(clean.indptr)
        owner = np.repeat(rows, length)
        slot = np.arange(owner.size) - np.repeat(clean.indptr[:-1], length)
        shape, reach = (people.size, int(length.max(initial=0))), min(reach, d)
        column, value, free = np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape, bool)
        column[owner, slot], value[owner, slot], free[owner, slot] = clean.indices, clean.data, policy != "add_new"
        rest = np.full(people.size, -np.inf)  # gain of the best entry not looked at
        if policy != "modify_exist":
            new = self.ranked[wanted, :reach]
            known = np.isin(new + rows[:, None] * d, clean.indices + owner * d)
            column, free = np.hstack([column, new]), np.hstack([free, ~known])
            value = np.hstack([value, np.zeros(new.shape)])
            if reach < d:
                rest = weights[self.ranked[wanted, reach], wanted]
        gain, falls, column, value, change = self._gains(column, value, free, wanted, policy)
        if policy != "add_new":
            rest = np.where(rest > 0, rest, -np.inf)
        most = int((gain > rest[:, None]).sum(axis=1).max(initial=0))
        first = rows[:, None], np.lexsort((column, falls, -gain))[:, :most]
        gain, column, value, change = gain[first], column[first], value[first], change[first]
        start = self.scores.enter(clean)[:, None]
        state = np.concatenate([start, change[:, :, None] * weights[column]], axis=1).cumsum(axis=1)[:, 1:]
        there = self.scores.leading(state, wanted, self.lead) & (gain > rest[:, None])
        found = np.asarray(there.any(axis=1))
        ahead = there.cumsum(axis=1) - there == 0  # up to the first that leads
        task, place = np.nonzero(found[:, None] & ahead)
        # Of an entry that is moved several times the last value counts.
        _, last = np.unique((task * d + column[task, place])[::-1], return_index=True)
        task, place = task[task.size - 1 - last], place[place.size - 1 - last]
        return _Moves(found, task, column[task, place], value[task, place]), ~found & (rest > -np.inf)

    def _gains(
        self, column: Ints, value: Floats, free: Mask, wanted: Ints, policy: str
    ) -> tuple[Floats, Mask, Ints, Floats, Floats]:
        """Return of every step of every entry the gain (lines 3 to 13), whether it falls, column, value and change."""
        weight = self.scores.weights[0][column, wanted[:, None]]
        falls = (weight < 0) & (policy != "add_new")
        toward, steps = np.where(falls, -self.step, self.step), []
        for _ in range(math.ceil(1.0 / self.step) + 1):
            gain = weight if policy == "add_new" else np.where(falls, -value, 1.0 - value) * weight
            useful = free if policy == "add_new" else free & (gain > 0)
            new = np.clip(value + toward, 0.0, 1.0)
            steps.append((np.where(useful, gain, -np.inf), falls, column, new, new - value))
            value, free = new, free & (new > 0.0) & (new < 1.0)
            if not free.any():
                break
        gains, fall, columns, values, changes = (np.hstack(part) for part in zip(*steps, strict=True))
        return gains, fall, columns, values, changes

    def _walked(self, people: Ints, wanted: Ints, policy: str) -> _Moves:
        """Solve tasks against a network, whose gradient is another one after every step, a step of all at a time."""
        clean, start = self.records[people], self.scores.enter(self.records[people])
        x, state, left = clean.toarray(), start, np.arange(people.size)
        free = np.where(x != 0, policy != "add_new", policy != "modify_exist")
        found, before = np.zeros(people.size, dtype=bool), x.copy()
        for _ in range(self.scores.n_columns * math.ceil(1.0 / self.step)):
            if not left.size:
                break
            # Lines 3 to 13: the entry to be modified, of equal ones the leftmost.
            gain = gradient = self.scores.gradient(state[left], wanted[left])
            if policy != "add_new":
                gain = np.where(gradient > 0, 1.0 - x[left], -x[left]) * gradient
            gain = np.where(free[left], gain, -np.inf)
            rows, column = np.arange(left.size), gain.argmax(axis=1)
            useful = gain[rows, column] > (-np.inf if policy == "add_new" else 0.0)
            rises = (gradient[rows, column] > 0) | (policy == "add_new")
            left, column, rises = left[useful], column[useful], rises[useful]
            # Lines 14 to 21: modify it.
            old = x[left, column]
            new = np.clip(old + np.where(rises, self.step, -self.step), 0.0, 1.0)
            x[left, column], free[left, column] = new, (new > 0.0) & (new < 1.0)
            state[left] += (new - old)[:, None] * self.scores.weights[0][column]
            there = self.scores.leading(state[left], wanted[left], self.lead)
            found[left[there]] = True
            left = left[~there]
        task, column = np.nonzero((x != before) & found[:, None])
        return _Moves(found, task, column, x[task, column])

    def _changed(self, people: Ints, task: Ints, column: Ints, value: Floats) -> Any:
        """Return every task's record (q, d) with its moves, sparse if the public records are."""
        from scipy import sparse

        if not sparse.issparse(self.public):
            rows = self.public[people].astype(np.result_type(self.public.dtype, np.float32), copy=False)
            rows[task, column] = value
            return rows
        clean, d = self.records[people].tocoo(), self.scores.n_columns
        kept = ~np.isin(clean.row.astype(np.int64) * d + clean.col, task * d + column)
        data = np.concatenate([clean.data[kept], value])
        row, place = np.hstack([(clean.row[kept], clean.col[kept]), (task, column)])
        # liblinear takes no positions of 64 bits
        made = sparse.csr_array((data, (row.astype(np.int32), place.astype(np.int32))), shape=clean.shape)
        made.eliminate_zeros()
        return made


_CELLS = 1_000_000  # numbers held at a time
_REACH = 16  # new entries looked at first


def _checked(public: Any, n_columns: int) -> tuple[Any, Any]:
    """Return public records (u, d) as they are to be read, and as a sparse array in rows, sorted, without zeros."""
    from scipy import sparse

    rows = public.tocsr() if sparse.issparse(public) else np.asarray(public)
    if rows.ndim != 2 or rows.shape[1] != n_columns:
        raise InputError(f"public must have one row a person and {n_columns} columns, got shape {rows.shape}.")
    if rows.dtype.kind not in "biuf":
        raise InputError(f"public must hold numbers, got values of type {rows.dtype}.")
    records = sparse.csr_array(rows, dtype=np.float64, copy=True)
    records.sum_duplicates()
    wrong = records.data[~((records.data >= 0) & (records.data <= 1))]  # nan is wrong too
    if wrong.size:
        raise InputError(f"public must hold values in [0, 1], got {wrong[0]:g}.")
    records.eliminate_zeros()
    return rows, records
