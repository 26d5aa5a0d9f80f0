"""PANDA, the policy-aware search for noise of phase I (Jia and Gong 2018, Algorithm 1).

For a person's record x and a wanted value i, entries are changed one at a time, each time the one that seems to move x
most towards i, until the classifier reads i. The paper's text lost the ≠ in the loop's condition, C(x) ≠ i, and in the
mask of Modify_Exist, x_j ≠ 0. Modify_Exist and Add_New may have no solution; Modify_Add starts again there from the
clean record. It need not have one either, whatever the paper says: every noisy record is shown to the classifier, and
where that does not read i the record stays clean and counts as not found.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.classifiers import Scores, one_value_each, read_scores, read_values, verified
from core.attriguard.records import (
    POLICIES,
    WIDEST,
    Bools,
    Changes,
    Floats,
    Ints,
    Noise,
    NoisyRecords,
    Report,
    changes_existing,
    changes_new,
    join,
    read_records,
    spread,
)
from core.errors import InputError
from core.validation import at_least_zero, choice

_CELLS = 1_000_000  # numbers held at a time


def stepwise(
    records: Any,
    scores: Scores,
    people: Ints,
    wanted: Ints,
    *,
    policy: str,
    margin: float,
    step: float = 1.0,
    order: str = "scores",
    report: Report | None = None,
) -> Changes:
    """Find the changes of Algorithm 1 for q tasks, not yet shown to the classifier.

    Many searches are taken forward together, a step of all of them at a time. Their records are kept as the few entries
    that are not 0 or were moved; every other entry is 0 and gains the gradient. An entry that has reached 0 or 1 stays
    there; an entry moved several times counts once. The gradient of a linear class's score C_i(x) = w_i x + b_i is w_i
    everywhere: the best of the entries that are 0 is then looked up in the order of the columns by w_i, never computed.

    `people` and `wanted` (q,) are whose record (u, d) a task is about, and the place of the wanted class, which must
    lead by more than `margin`; `report` is told how many of the tasks are done; `step` τ and `order` are those of
    `panda`.
    """
    limit = scores.n_columns * math.ceil(1.0 / step)
    ranked = np.argsort(-scores.weights[0].T, kind="stable") if scores.linear and order == "scores" else None
    length = np.diff(records.indptr)[people]
    width = scores.n_columns if ranked is None else max(scores.classes.size, int(length.max(initial=0)))
    parts, done = [], 0
    for some in np.array_split(np.argsort(length, kind="stable"), 1 + people.size * width // _CELLS):
        walk = Walk(records, scores, people[some], wanted[some], policy, ranked)
        for _ in range(limit):
            if not walk.left.size:
                break
            walk.advance(step, order)
            walk.settle(margin + scores.tie)
        parts.append((some, walk.changes()))
        done += some.size
        if report:
            report(done, people.size)
    return join(people.size, parts)


class Walk:
    """Searches that go on together: `left` numbers those still going, and what they know has a row for each of all.

    Where the gradient of a class is the same everywhere, `ranked` (k, d) are its columns, those that gain most first.
    """

    def __init__(
        self, records: Any, scores: Scores, people: Ints, wanted: Ints, policy: str, ranked: Ints | None = None
    ) -> None:
        self.scores, self.wanted, self.policy, self.ranked = scores, wanted, policy, ranked
        self.state = scores.enter(records[people])
        self.left = np.arange(people.size)
        self.found = np.zeros(people.size, dtype=bool)
        self.rank = np.zeros(people.size, dtype=np.int64)  # before it every ranked column has a slot
        owner, place = spread(records, people)
        self.used = np.bincount(owner, minlength=people.size)  # slots in use
        slot = np.arange(owner.size) - np.repeat(np.cumsum(self.used) - self.used, self.used)
        shape = people.size, int(self.used.max(initial=0)) + 8
        self.column = np.full(shape, scores.n_columns)  # a column there is none of, in slots not in use
        self.value, self.free = np.zeros(shape), np.zeros(shape, dtype=bool)
        self.column[owner, slot] = records.indices[place]
        self.value[owner, slot] = records.data[place]
        self.free[owner, slot] = changes_existing(policy)
        self.before = self.value.copy()

    def advance(self, step: float, order: str) -> None:
        """Take one step in every search; those without an entry to move end."""
        column, value, free = self.column[self.left], self.value[self.left], self.free[self.left]
        own, new_gain, new_column = self._gradients(column, order)
        up, down = self.gains(own, value, free)
        slot, up_gain, down_gain = _first_best(up, down, column)
        gain = np.maximum(up_gain, down_gain)
        slot_column = column[np.arange(slot.size), slot]
        is_new = (new_gain > gain) | ((new_gain == gain) & ((down_gain > up_gain) | (new_column < slot_column)))
        is_new &= new_gain > -np.inf
        gain = np.where(is_new, new_gain, gain)
        moves = gain > (-np.inf if self.policy == "add_new" else 0.0)
        falls = ~is_new & (down_gain > up_gain)
        slot = np.where(is_new, self.used[self.left], slot)
        self._open_slots(self.left[moves & is_new], new_column[moves & is_new])
        self.left = self.left[moves]
        self._move(slot[moves], np.where(falls, -step, step)[moves])

    def settle(self, lead: float) -> None:
        """End the searches whose class leads by more than `lead`."""
        told = self.scores.scores(self.state[self.left])
        rows, wanted = np.arange(self.left.size), self.wanted[self.left]
        own = told[rows, wanted]
        told[rows, wanted] = -np.inf
        there = own - told.max(axis=1) > lead
        self.found[self.left[there]] = True
        self.left = self.left[~there]

    def changes(self) -> Changes:
        """Return what the searches that ended well have changed."""
        task, slot = np.nonzero((self.value != self.before) & self.found[:, None])
        return Changes(found=self.found, task=task, column=self.column[task, slot], value=self.value[task, slot])

    def _gradients(self, column: Ints, order: str) -> tuple[Floats, Floats, Ints]:
        """Return the gradient in the slots, the largest one elsewhere, and its column."""
        rows, inside = np.arange(self.left.size), np.minimum(column, self.scores.n_columns - 1)
        nothing = np.full(rows.size, -np.inf), np.zeros(rows.size, dtype=np.int64)
        if self.ranked is not None:
            own = self.scores.weights[0][inside, self.wanted[self.left][:, None]]
            return own, *(self._next_ranked(column) if changes_new(self.policy) else nothing)
        gradient = self.gradient(order)
        own = gradient[rows[:, None], inside]
        if not changes_new(self.policy):
            return own, *nothing
        owner, slot = np.nonzero(column < self.scores.n_columns)
        gradient[owner, column[owner, slot]] = -np.inf
        best = gradient.argmax(axis=1)
        return own, gradient[rows, best], best

    def _next_ranked(self, column: Ints) -> tuple[Floats, Ints]:
        """Return the largest gain among entries without a slot, and its column, from the ranking."""
        assert self.ranked is not None
        wanted, rank, last = self.wanted[self.left], self.rank[self.left], self.scores.n_columns - 1
        there = np.arange(rank.size)
        while there.size:
            best = self.ranked[wanted[there], np.minimum(rank[there], last)]
            there = there[(column[there] == best[:, None]).any(axis=1) & (rank[there] <= last)]
            rank[there] += 1
        self.rank[self.left] = rank
        best = self.ranked[wanted, np.minimum(rank, last)]
        return np.where(rank <= last, self.scores.weights[0][best, wanted], -np.inf), best

    def gradient(self, order: str) -> Floats:
        """Return what one unit of every entry adds to what is followed, for the searches still going.

        The factor p_i that all entries share in the gradient of the softmax p_i changes no order and is left out.
        """
        told = self.scores.scores(self.state[self.left])
        direction = np.zeros_like(told)
        if order == "softmax":
            direction = -np.exp(told - told.max(axis=1, keepdims=True))
            direction /= -direction.sum(axis=1, keepdims=True)
        direction[np.arange(self.left.size), self.wanted[self.left]] += 1.0
        return self.scores.gradient(self.state[self.left], direction)

    def gains(self, gradient: Floats, value: Floats, free: Bools) -> tuple[Floats, Floats]:
        """Return what raising and lowering an entry in a slot gains (Algorithm 1, lines 3 to 13)."""
        if self.policy == "add_new":
            return np.where(free, gradient, -np.inf), np.full(gradient.shape, -np.inf)
        up = np.where(free & (value < 1), (1.0 - value) * gradient, -np.inf)
        return up, np.where(free & (value > 0), -value * gradient, -np.inf)

    def _open_slots(self, task: Ints, column: Ints) -> None:
        """Give entries that were 0 and are now moved a slot."""
        if task.size and self.used[task].max() >= self.column.shape[1]:
            more = ((0, 0), (0, self.column.shape[1]))
            self.column = np.pad(self.column, more, constant_values=self.scores.n_columns)
            self.value, self.before, self.free = (np.pad(part, more) for part in (self.value, self.before, self.free))
        self.column[task, self.used[task]] = column
        self.free[task, self.used[task]] = True
        self.used[task] += 1

    def _move(self, slot: Ints, by: Floats) -> None:
        """Move one entry of every search still going (lines 14 to 21), and its state with it."""
        old = self.value[self.left, slot]
        new = np.clip(old + by, 0.0, 1.0)
        self.value[self.left, slot] = new
        self.free[self.left, slot] = (new > 0.0) & (new < 1.0)
        self.state[self.left] += (new - old)[:, None] * self.scores.entering(self.column[self.left, slot])


def _first_best(up: Floats, down: Floats, column: Ints) -> tuple[Ints, Floats, Floats]:
    """Return the slot of the largest gain, raising before lowering and then the leftmost column, and both gains."""
    up_gain, down_gain = up.max(axis=1), down.max(axis=1)
    better = np.where((up_gain >= down_gain)[:, None], up, down)
    equal = better == np.maximum(up_gain, down_gain)[:, None]
    return np.where(equal, column, np.iinfo(np.int64).max).argmin(axis=1), up_gain, down_gain


ORDERS = ("scores", "softmax")
"""What is followed: the wanted value's decision score, or its probability after the softmax."""


class _Search:
    """PANDA on some people's records: against which classifier, and how."""

    def __init__(
        self,
        public: Any,
        classifier: Any,
        *,
        policy: str,
        step: float,
        margin: float,
        order: str,
    ) -> None:
        choice(policy, POLICIES, name="policy")
        choice(order, ORDERS, name="order")
        if not 0.0 < step <= 1.0:
            raise InputError(f"step must be above 0 and at most 1, got {step!r}.")
        self.policy, self.public, self.classifier = policy, public, classifier
        self.how: dict[str, Any] = {
            "margin": at_least_zero(margin, name="margin"),
            "step": step,
            "order": order,
        }
        self.scores = read_scores(classifier)
        self.records = read_records(public, self.scores.n_columns)
        self.predicted = read_values(classifier, public)

    def run(self, people: Ints, wanted: Ints, report: Report | None = None) -> tuple[Any, Changes, Bools]:
        """Return the records of q tasks, what is changed in them, and where any entry was allowed to."""
        predicted, fallback = self.predicted[people], np.zeros(people.size, dtype=bool)
        tasks = np.flatnonzero((wanted != predicted) & np.isin(wanted, self.scores.classes))
        parts = [(tasks, self._followed(people[tasks], wanted[tasks], self.policy, report))]
        if self.policy != WIDEST:
            tasks = tasks[~parts[0][1].found]
            parts.append((tasks, self._followed(people[tasks], wanted[tasks], WIDEST, None)))
            fallback[tasks] = parts[1][1].found
        changes = join(people.size, parts)
        noisy, changes = verified(self.public, self.records, self.classifier, people, wanted, predicted, changes)
        return noisy, changes, fallback & changes.found

    def _followed(self, people: Ints, wanted: Ints, policy: str, report: Report | None) -> Changes:
        place = np.searchsorted(self.scores.classes, wanted)
        return stepwise(self.records, self.scores, people, place, policy=policy, report=report, **self.how)


def panda(
    public: Any,
    classifier: Any,
    target: npt.ArrayLike,
    *,
    policy: str = WIDEST,
    step: float = 1.0,
    margin: float = 0.0,
    order: str = "scores",
) -> NoisyRecords:
    """Change few entries of each record so that the classifier reads a wanted value (Algorithm 1).

    Parameters
    ----------
    public : array or sparse matrix of shape (u, d), in [0, 1]
    classifier : fitted scikit-learn classifier
        The defender's: linear, or an MLPClassifier. It names private values by their numbers, 0 and up.
    target : int or array-like of shape (u,)
        The wanted value, or one for each person.
    policy : str
        "modify_exist", "add_new" or "modify_add": which entries may change (`core.attriguard.records`).
    step : float, in (0, 1]
        How far an entry moves at a time, τ.
    margin : float, at least 0
        By how much the wanted value's score must lead, κ. Records that read as the wanted value anyway stay clean
        whatever their lead.
    order : str
        "scores" follows the decision score, as the paper does; "softmax" the probability, which takes fewer changes
        with many values and more time.
    """
    search = _Search(public, classifier, policy=policy, step=step, margin=margin, order=order)
    people = np.arange(search.predicted.size)
    noisy, changes, fallback = search.run(people, one_value_each(target, people.size))
    return NoisyRecords(noisy=noisy, size=changes.sizes(), found=changes.found, fallback=fallback)


def representatives(
    public: Any,
    classifier: Any,
    *,
    policy: str = WIDEST,
    step: float = 1.0,
    margin: float = 0.0,
    order: str = "scores",
    n_values: int | None = None,
    report: Report | None = None,
) -> Noise:
    """Find the representative noise of every person for every value; the arguments are those of `panda`.

    `n_values` is the number m of private values, by default one more than the largest the classifier names; there is no
    noise for a value it does not know. The report is told how many of the searches are done, and of how many.
    """
    search = _Search(public, classifier, policy=policy, step=step, margin=margin, order=order)
    least, u = int(search.scores.classes.max()) + 1, search.predicted.size
    m = least if n_values is None else n_values
    if m < least:
        raise InputError(f"n_values must be at least {least}, the number of values the classifier names, got {m}.")
    noisy, changes, fallback = search.run(np.repeat(np.arange(u), m), np.tile(np.arange(m), u), report)
    return Noise(
        noisy=noisy,
        size=changes.sizes().reshape(u, m),
        found=changes.found.reshape(u, m),
        predicted=search.predicted,
        fallback=fallback.reshape(u, m),
    )
