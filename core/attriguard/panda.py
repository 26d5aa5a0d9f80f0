"""PANDA, the policy-aware search for noise of phase I (Jia and Gong 2018, Algorithm 1).

For a person's record x and a wanted value i, entries are changed one at a time, each time the one that seems to move x
most towards i, until the classifier reads i. The paper's text lost the ≠ in the loop's condition, C(x) ≠ i, and in the
mask of Modify_Exist, x_j ≠ 0. Modify_Exist and Add_New may have no solution; Modify_Add starts again there from the
clean record. It need not have one either, whatever the paper says: every noisy record is shown to the classifier, and
where that does not read i the record stays clean and counts as not found. Linear scores with steps of 1 are searched
without a loop over people (`sorted_order`), all others one step at a time (`stepwise`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.classifiers import LinearScores, NetworkScores, one_value_each, read_scores, read_values, verified
from core.attriguard.records import (
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
    known_policy,
    no_changes,
    read_records,
    spread,
)
from core.errors import InputError
from core.validation import at_least_zero, choice

_HEAD = 8  # how much of the order is looked at first
_GROWTH = 4
_SCORES_AT_ONCE = 2_000_000  # scores held at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """The heads of n people's orders, one after the other: entries, what they become, and where each head begins."""

    start: Ints  # (n + 1,)
    column: Ints
    value: Floats
    change: Floats
    complete: bool  # no entries follow


def sorted_order(
    records: Any,
    scores: LinearScores,
    people: Ints,
    wanted: Ints,
    *,
    policy: str,
    margin: float,
    report: Report | None = None,
) -> Changes:
    """Find the changes of Algorithm 1 for q tasks, for linear scores and steps of 1.

    With C_i(x) = w_i x + b_i the gradient is the same everywhere, and a step of 1 takes an entry to 0 or 1 at once. So
    what changing entry j gains,

        (1 − x_j) w_ij  to 1,        −x_j w_ij  to 0,

    does not depend on the other entries, each changes at most once, and Algorithm 1 takes them in the order of their
    gain (of equal ones, those to be raised first, then the leftmost). Adding up what they do to the scores of all
    classes shows the first place in that order where class i leads. Entries that are new to a record gain w_ij for
    everybody, so one order of the columns serves all people, and each one's own few entries are put in their places;
    since mostly a few changes are enough, only the head of the order is looked at, and a longer one for those who need
    it.

    `people` and `wanted` (q,) are whose record (u, d) a task is about, and the place of the wanted class, which must
    lead by more than `margin`; `report` is told how many of the tasks are done. The changes are not yet shown to the
    classifier.
    """
    clean = scores.enter(records)
    parts, done = [], 0
    for target in np.unique(wanted):
        tasks = np.flatnonzero(wanted == target)
        for some in np.array_split(tasks, -(-tasks.size // 4096)):
            parts.append((some, _one_class(records, scores, clean, people[some], int(target), policy, margin)))
            done += some.size
            if report:
                report(done, people.size)
    return join(people.size, parts)


def _one_class(
    records: Any, scores: LinearScores, clean: Floats, people: Ints, target: int, policy: str, margin: float
) -> Changes:
    """Find the changes towards one class: from longer and longer heads of the order, for those who are not there."""
    gain = scores.weights[:, target]
    columns = _new_columns(gain, policy)
    parts, left, length = [], np.arange(people.size), _HEAD
    while left.size:
        order = _heads(records, gain, columns[:length], columns[length : length + 1], people[left], policy)
        needed = _needed(order, scores, clean[people[left]], target, margin + scores.tie)
        parts.append((left, _taken(order, needed)))
        left = left[needed == 0] if not order.complete else left[:0]
        length *= _GROWTH
    return join(people.size, parts)


def _new_columns(gain: Floats, policy: str) -> Ints:
    """Return the columns by what they gain when new, largest first; Add_New alone goes on to those that lose."""
    if not changes_new(policy):
        return np.zeros(0, dtype=np.int64)
    columns = np.argsort(-gain, kind="stable")
    return columns if policy == "add_new" else columns[: int(np.count_nonzero(gain > 0))]


def _heads(records: Any, gain: Floats, columns: Ints, following: Ints, people: Ints, policy: str) -> _Order:
    """Return all entries of these people that gain more than the first column left out."""
    least = gain[following[0]] if following.size else -np.inf
    columns = columns[gain[columns] > least]
    n, d = people.size, records.shape[1]
    owner, place = spread(records, people)
    column, x = records.indices[place].astype(np.int64), records.data[place]
    taken = np.isin(np.arange(n)[:, None] * d + columns, owner * d + column)
    new_owner, new_place = np.nonzero(~taken)
    raise_gain, lower_gain = (1.0 - x) * gain[column], -x * gain[column]
    own = np.maximum(raise_gain, lower_gain)
    kept = (own > max(least, 0.0)) & changes_existing(policy)
    lowered = np.concatenate([np.zeros(new_owner.size, bool), (lower_gain > raise_gain)[kept]])
    owners = np.concatenate([new_owner, owner[kept]])
    column = np.concatenate([columns[new_place], column[kept]])
    before = np.concatenate([np.zeros(new_owner.size), x[kept]])
    order = np.lexsort((column, lowered, -np.concatenate([gain[columns[new_place]], own[kept]]), owners))
    value = np.where(lowered, 0.0, 1.0)[order]
    return _Order(
        start=np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))]),
        column=column[order],
        value=value,
        change=value - before[order],
        complete=not following.size,
    )


def _needed(order: _Order, scores: LinearScores, clean: Floats, target: int, lead: float) -> Ints:
    """Return how many entries of each head it takes for the class to lead by more than `lead`; 0 where all do not."""
    n, k = clean.shape
    needed, at = np.zeros(n, dtype=np.int64), clean.copy()
    left, first, width = np.flatnonzero(np.diff(order.start) > 0), 0, _HEAD
    while left.size:
        some = np.arange(first, first + width)
        inside = some < (order.start[left + 1] - order.start[left])[:, None]
        place = np.where(inside, order.start[left][:, None] + some, 0)
        path = (order.change[place] * inside)[:, :, None] * scores.weights[order.column[place]]
        path[:, 0] += at[left]
        np.cumsum(path, axis=1, out=path)
        at[left] = path[:, -1]
        own = path[:, :, target].copy()
        path[:, :, target] = -np.inf
        leads = inside & (own - path.max(axis=2) > lead)
        there = leads.any(axis=1)
        needed[left[there]] = first + 1 + leads[there].argmax(axis=1)
        left = left[~there & inside[:, -1]]
        first += width
        width = max(_HEAD, min(2 * width, _SCORES_AT_ONCE // (k * max(left.size, 1))))
    return needed


def _taken(order: _Order, needed: Ints) -> Changes:
    """Return the first `needed` entries of each head as changes."""
    task = np.repeat(np.arange(needed.size), needed)
    place = np.repeat(order.start[:-1] - np.cumsum(needed) + needed, needed) + np.arange(task.size)
    return Changes(found=needed > 0, task=task, column=order.column[place], value=order.value[place])


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
    """Find the changes of Algorithm 1 for q tasks one step at a time, for any scores and steps.

    Many searches are taken forward together, a step of all of them at a time. Their records are kept as the few entries
    that are not 0 or were moved; every other entry is 0 and gains the gradient. An entry that has reached 0 or 1 stays
    there; an entry moved several times counts once. For linear scores and steps of 1 the outcome is that of
    `sorted_order`, ties included, whose arguments these are; `step` τ, `order` and `max_steps` are those of `panda`.
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


ORDERS = ("scores", "softmax")
"""What is followed: the wanted value's decision score, or its probability after the softmax."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """How to search."""

    policy: str
    step: float
    margin: float
    order: str
    max_steps: int | None


def panda(
    public: Any,
    classifier: Any,
    target: npt.ArrayLike,
    *,
    policy: str = WIDEST,
    step: float = 1.0,
    margin: float = 0.0,
    order: str = "scores",
    max_steps: int | None = None,
) -> NoisyRecords:
    """Change few entries of each record so that the classifier reads a wanted value.

    Parameters
    ----------
    public : array or sparse matrix of shape (u, d), in [0, 1]
        The clean records.
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
    max_steps : int, optional
        Most steps a record; by default as many as there are entries to move.

    Returns
    -------
    NoisyRecords

    Raises
    ------
    InputError
        If an argument is out of range, or the classifier is of another kind.
    """
    rules = _checked(policy, step, margin, order, max_steps)
    scores = read_scores(classifier)
    records = read_records(public, scores.n_columns)
    people = np.arange(records.shape[0])
    wanted, predicted = one_value_each(target, people.size), read_values(classifier, public)
    changes, fallback = _search(records, scores, rules, people, wanted, predicted)
    noisy, changes = verified(public, records, classifier, people, wanted, predicted, changes)
    return NoisyRecords(noisy=noisy, size=changes.sizes(), found=changes.found, fallback=fallback & changes.found)


def representatives(
    public: Any,
    classifier: Any,
    *,
    policy: str = WIDEST,
    step: float = 1.0,
    margin: float = 0.0,
    order: str = "scores",
    max_steps: int | None = None,
    n_values: int | None = None,
    report: Report | None = None,
) -> Noise:
    """Find the representative noise of every person for every value; the arguments are those of `panda`.

    Parameters
    ----------
    n_values : int, optional
        Number m of private values; by default one more than the largest the classifier names. There is no noise for a
        value the classifier does not know.
    report : callable, optional
        Told how many of the searches are done, and of how many.

    Returns
    -------
    Noise
    """
    rules = _checked(policy, step, margin, order, max_steps)
    scores = read_scores(classifier)
    records = read_records(public, scores.n_columns)
    least, u = int(scores.classes.max()) + 1, records.shape[0]
    m = least if n_values is None else n_values
    if m < least:
        raise InputError(f"n_values must be at least {least}, the number of values the classifier names, got {m}.")
    predicted = read_values(classifier, public)
    people, wanted = np.repeat(np.arange(u), m), np.tile(np.arange(m), u)
    read = predicted[people]
    changes, fallback = _search(records, scores, rules, people, wanted, read, report)
    noisy, changes = verified(public, records, classifier, people, wanted, read, changes)
    return Noise(
        noisy=noisy,
        size=changes.sizes().reshape(u, m),
        found=changes.found.reshape(u, m),
        predicted=predicted,
        fallback=(fallback & changes.found).reshape(u, m),
    )


def _search(
    records: Any,
    scores: LinearScores | NetworkScores,
    rules: _Rules,
    people: Ints,
    wanted: Ints,
    predicted: Ints,
    report: Report | None = None,
) -> tuple[Changes, npt.NDArray[np.bool_]]:
    """Return what is changed in q tasks, and where any entry was allowed to."""
    known = np.flatnonzero((wanted != predicted) & np.isin(wanted, scores.classes))
    changes = _followed(records, scores, rules, rules.policy, people, wanted, known, report)
    if rules.policy == WIDEST:
        return changes, np.zeros(people.size, dtype=bool)
    again = known[~changes.found[known]]
    second = _followed(records, scores, rules, WIDEST, people, wanted, again, None)
    every = np.arange(people.size)
    return join(people.size, [(every, changes), (every, second)]), second.found


def _followed(
    records: Any,
    scores: LinearScores | NetworkScores,
    rules: _Rules,
    policy: str,
    people: Ints,
    wanted: Ints,
    tasks: Ints,
    report: Report | None,
) -> Changes:
    """Search some of the tasks under one policy."""
    if not tasks.size:
        return no_changes(people.size)
    place = np.searchsorted(scores.classes, wanted[tasks])
    if isinstance(scores, LinearScores) and rules.step == 1.0 and rules.order == "scores":
        part = sorted_order(records, scores, people[tasks], place, policy=policy, margin=rules.margin, report=report)
        if rules.max_steps is not None:
            part = part.only(part.sizes() <= rules.max_steps)
    else:
        part = stepwise(
            records,
            scores,
            people[tasks],
            place,
            policy=policy,
            margin=rules.margin,
            step=rules.step,
            order=rules.order,
            max_steps=rules.max_steps,
            report=report,
        )
    return join(people.size, [(tasks, part)])


def _checked(policy: str, step: float, margin: float, order: str, max_steps: int | None) -> _Rules:
    known_policy(policy)
    choice(order, ORDERS, name="order")
    if not 0.0 < step <= 1.0:
        raise InputError(f"step must be above 0 and at most 1, got {step!r}.")
    if max_steps is not None and max_steps < 1:
        raise InputError(f"max_steps must be at least 1, got {max_steps!r}.")
    return _Rules(
        policy=policy, step=step, margin=at_least_zero(margin, name="margin"), order=order, max_steps=max_steps
    )
