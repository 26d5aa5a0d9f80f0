"""PANDA for linear scores and steps of 1, without a loop over people (Jia and Gong 2018, Algorithm 1).

With C_i(x) = w_i x + b_i the gradient is the same everywhere, and a step of 1 takes an entry to 0 or 1 at once. So what
changing entry j gains,

    (1 − x_j) w_ij  to 1,        −x_j w_ij  to 0,

does not depend on the other entries, each changes at most once, and Algorithm 1 takes them in the order of their gain
(of equal ones, those to be raised first, then the leftmost). Adding up what they do to the scores of all classes shows
the first place in that order where class i leads. Entries that are new to a record gain w_ij for everybody, so one
order of the columns serves all people, and each one's own few entries are put in their places; since mostly a few
changes are enough, only the head of the order is looked at, and a longer one for those who need it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.attriguard.changes import Changes, Floats, Ints, Report, join, spread
from core.attriguard.linear import LinearScores
from core.attriguard.policies import changes_existing, changes_new

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
    """Find the changes of Algorithm 1 with steps of 1 for q tasks.

    Parameters
    ----------
    records : csr_array of shape (u, d), in [0, 1]
    people, wanted : ndarray of shape (q,)
        Whose record a task is about, and the place of the wanted class.
    policy : str
        One of `POLICIES`.
    margin : float, at least 0
        By how much the wanted class must lead.
    report : callable, optional
        Told how many of the tasks are done.

    Returns
    -------
    Changes
        With at least one change for each task found; not yet shown to the classifier.
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
