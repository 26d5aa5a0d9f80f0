"""PANDA one step at a time, for scores that are not linear and steps shorter than 1 (Jia and Gong 2018, Algorithm 1).

Many searches are taken forward together, a step of all of them at a time. Their records are kept as the few entries
that are not 0 or were moved; every other entry is 0 and gains the gradient. An entry that has reached 0 or 1 stays
there; an entry moved several times counts once. For linear scores and steps of 1 the outcome is that of
`core.attriguard.sorted_order`, ties included.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.attriguard.changes import Bools, Changes, Floats, Ints, Report, join, spread
from core.attriguard.linear import LinearScores
from core.attriguard.network import NetworkScores
from core.attriguard.policies import changes_existing, changes_new

_GRADIENTS_AT_ONCE = 4_000_000  # gradient entries held at a time


def stepwise(
    records: Any,
    scores: LinearScores | NetworkScores,
    people: Ints,
    wanted: Ints,
    *,
    policy: str,
    margin: float,
    step: float,
    order: str,
    max_steps: int | None = None,
    report: Report | None = None,
) -> Changes:
    """Find the changes of Algorithm 1 for q tasks.

    Parameters
    ----------
    records : csr_array of shape (u, d), in [0, 1]
    people, wanted : ndarray of shape (q,)
        Whose record a task is about, and the place of the wanted class.
    policy : str
        One of `POLICIES`.
    margin : float, at least 0
        By how much the wanted class must lead.
    step : float, in (0, 1]
        How far an entry moves at a time, τ.
    order : str
        "scores": the gradient is that of the wanted class' score; "softmax": of its probability.
    max_steps : int, optional
        Most steps a task; by default as many as would move every entry all the way.
    report : callable, optional
        Told how many of the tasks are done.

    Returns
    -------
    Changes
        With at least one step for each task found; not yet shown to the classifier.
    """
    limit = max_steps or scores.n_columns * math.ceil(1.0 / step)
    rows = max(1, _GRADIENTS_AT_ONCE // scores.n_columns)
    parts = []
    for first in range(0, people.size, rows):
        some = np.arange(first, min(first + rows, people.size))
        walk = Walk(records, scores, people[some], wanted[some], policy)
        for _ in range(limit):
            if not walk.left.size:
                break
            walk.advance(step, order)
            walk.settle(margin + scores.tie)
        parts.append((some, walk.changes()))
        if report:
            report(int(some[-1]) + 1, people.size)
    return join(people.size, parts)


class Walk:
    """Searches that go on together: `left` numbers those still going, and what they know has a row for each of all."""

    def __init__(
        self, records: Any, scores: LinearScores | NetworkScores, people: Ints, wanted: Ints, policy: str
    ) -> None:
        self.scores, self.wanted, self.policy = scores, wanted, policy
        self.state = scores.enter(records[people])
        self.left = np.arange(people.size)
        self.found = np.zeros(people.size, dtype=bool)
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
        gradient = self.gradient(order)
        rows = np.arange(self.left.size)[:, None]
        column, value, free = self.column[self.left], self.value[self.left], self.free[self.left]
        own = gradient[rows, np.minimum(column, self.scores.n_columns - 1)]
        up, down = self.gains(own, value, free)
        slot, up_gain, down_gain = _first_best(up, down, column)
        gain = np.maximum(up_gain, down_gain)
        new_gain, new_column = self._best_new(gradient, rows, column)
        slot_column = column[rows[:, 0], slot]
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
        own = told[rows, wanted].copy()
        told = told.copy()
        told[rows, wanted] = -np.inf
        there = own - told.max(axis=1) > lead
        self.found[self.left[there]] = True
        self.left = self.left[~there]

    def changes(self) -> Changes:
        """Return what the searches that ended well have changed."""
        task, slot = np.nonzero((self.value != self.before) & self.found[:, None])
        return Changes(found=self.found, task=task, column=self.column[task, slot], value=self.value[task, slot])

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

    def _best_new(self, gradient: Floats, rows: Ints, column: Ints) -> tuple[Floats, Ints]:
        """Return the largest gain among entries without a slot, and its column; overwrites the gradient."""
        if not changes_new(self.policy):
            return np.full(len(rows), -np.inf), np.zeros(len(rows), dtype=np.int64)
        inside = column < self.scores.n_columns
        gradient[np.broadcast_to(rows, column.shape)[inside], column[inside]] = -np.inf
        best = gradient.argmax(axis=1)
        return gradient[rows[:, 0], best], best

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
