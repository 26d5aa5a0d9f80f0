"""The exact minimum of phase I: the fewest entries that make a linear classifier read a value (equation 2).

Raising x_j by a or lowering it by a moves the wanted class' lead over class k by ±a (w_ij − w_kj). With z_j = 1 where
entry j changes, an integer program a person and value:

    minimise Σ z_j      subject to      Σ (up_j − down_j) (w_ij − w_kj) ≥ lead_k  for all k ≠ i,
                                        up_j ≤ (1 − x_j) z_j,    down_j ≤ x_j z_j.

The greedy search (for scores and for the softmax) gives a solution of L entries to begin with. No program is
needed where another bound reaches L: each rival alone needs so many of the entries that move it most. Else only
solutions of at most L − 1 entries are looked for, and entries are left out that cannot be part of one. For two classes
the greedy search is exact, as one rival is left whose bound it reaches.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.classifiers import Scores, linear_scores, one_value_each, read_values, verified
from core.attriguard.panda import stepwise
from core.attriguard.records import (
    POLICIES,
    WIDEST,
    Changes,
    NoisyRecords,
    changes_existing,
    changes_new,
    join,
    read_records,
)
from core.errors import InputError
from core.solvers import empty_model, linear, run
from core.validation import at_least_zero, choice

_WHOLE = 1e-6  # how far from 0 or 1 CBC's whole numbers, and values at the border, may be

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastNoise(NoisyRecords):
    """Records with as few entries changed as there can be, as far as it was proved.

    Attributes
    ----------
    status : tuple of str, length u
        "optimal", "feasible" (found, but fewer entries may do), "infeasible" (the policy has no solution) or
        "not_solved".
    bound : ndarray of shape (u,), int64
        Number of entries it takes at least.
    """

    status: tuple[str, ...]
    bound: npt.NDArray[np.int64] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One person and value: her entries, what a unit of each adds to the lead over each rival, and what is missing."""

    x: _Floats  # (d,)
    moved: _Floats  # (rivals, d)
    missing: _Floats  # (rivals,)
    may: _Bools  # (d,)

    def most(self) -> tuple[_Floats, _Floats]:
        """Return the most that raising and that lowering each entry adds to each lead, both (rivals, d)."""
        up, down = (1.0 - self.x) * self.moved, -self.x * self.moved
        return np.where(self.may, np.maximum(up, 0.0), 0.0), np.where(self.may, np.maximum(down, 0.0), 0.0)

    def meets(self, column: _Ints, value: _Floats) -> bool:
        """Return whether these changes give every lead."""
        return bool((self.moved[:, column] @ (value - self.x[column]) > self.missing).all())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The best changes known of one task, and how good they are."""

    status: str
    bound: int
    column: _Ints
    value: _Floats


def least_noise(
    public: Any,
    classifier: Any,
    target: npt.ArrayLike,
    *,
    policy: str = WIDEST,
    margin: float = 0.0,
    seconds: float = 10.0,
) -> LeastNoise:
    """Find the fewest entries that make a linear classifier read a wanted value, set to anything in [0, 1].

    Parameters
    ----------
    public, classifier, target, policy, margin
        As for `core.attriguard.panda`; the classifier must be linear. There is no fallback to another policy.
    seconds : float, above 0
        Time for each person.

    Returns
    -------
    LeastNoise
    """
    choice(policy, POLICIES, name="policy")
    if not seconds > 0:
        raise InputError(f"seconds must be above 0, got {seconds!r}.")
    margin, scores = at_least_zero(margin, name="margin"), linear_scores(classifier)
    records = read_records(public, scores.n_columns)
    people = np.arange(records.shape[0])
    wanted, predicted = one_value_each(target, people.size), read_values(classifier, public)
    known = np.flatnonzero((wanted != predicted) & np.isin(wanted, scores.classes))
    answers = {k: _Answer(status="optimal", bound=0, column=people[:0], value=np.zeros(0)) for k in people.tolist()}
    for k in np.flatnonzero(~np.isin(wanted, scores.classes)).tolist():
        answers[k] = _none("infeasible")
    start = _start(records, scores, known, np.searchsorted(scores.classes, wanted[known]), policy, margin)
    for done, k in enumerate(known.tolist(), start=1):
        task = _task(records, scores, k, int(np.searchsorted(scores.classes, wanted[k])), policy, margin)
        own = start.task == done - 1
        answers[k] = _least(task, start.column[own], start.value[own], time.perf_counter() + seconds)
    return _told(public, records, classifier, wanted, predicted, [answers[k] for k in people.tolist()])


def _told(
    public: Any, records: Any, classifier: Any, wanted: _Ints, predicted: _Ints, answers: list[_Answer]
) -> LeastNoise:
    """Show what was found to the classifier."""
    size = np.array([answer.column.size for answer in answers], dtype=np.int64)
    changes = Changes(
        found=size > 0,
        task=np.repeat(np.arange(size.size), size),
        column=np.concatenate([answer.column for answer in answers] or [size]),
        value=np.concatenate([answer.value for answer in answers] or [np.zeros(0)]),
    )
    noisy, changes = verified(public, records, classifier, np.arange(size.size), wanted, predicted, changes)
    status = [
        answer.status if there or not answer.column.size else "not_solved"
        for answer, there in zip(answers, changes.found, strict=True)
    ]
    bound = np.array([answer.bound for answer in answers], dtype=np.int64)
    return LeastNoise(noisy=noisy, size=changes.sizes(), found=changes.found, status=tuple(status), bound=bound)


def _start(records: Any, scores: Scores, people: _Ints, wanted: _Ints, policy: str, margin: float) -> Changes:
    """Return the smaller of what the two orders find for each task."""
    first = stepwise(records, scores, people, wanted, policy=policy, margin=margin)
    second = stepwise(records, scores, people, wanted, policy=policy, margin=margin, order="softmax")
    better = second.found & (~first.found | (second.sizes() < first.sizes()))
    every = np.arange(people.size)
    return join(people.size, [(every, first.only(~better)), (every, second.only(better))])


def _task(records: Any, scores: Scores, k: int, target: int, policy: str, margin: float) -> _Task:
    x = records[[k]].toarray()[0]
    told = scores.enter(x)
    rivals = np.arange(told.size) != target
    moved = (scores.weights[0][:, [target]] - scores.weights[0][:, rivals]).T
    missing = margin + scores.tie - (told[target] - told[rivals])
    return _Task(
        x=x, moved=moved, missing=missing, may=((x > 0) & changes_existing(policy)) | ((x == 0) & changes_new(policy))
    )


def _least(task: _Task, column: _Ints, value: _Floats, deadline: float) -> _Answer:
    """Return the fewest changes, given those of a first solution; none are given where it found none."""
    up, down = task.most()
    bound = _needed_alone(np.maximum(up, down), task.missing)
    if bound is None:
        return _none("infeasible")
    first = _Answer(status="optimal", bound=bound, column=column, value=value) if column.size else None
    if first is not None and bound >= column.size:
        return first
    every = np.flatnonzero(task.may)
    if first is None and not task.meets(every, _strongest(task, every)):
        return _none("infeasible")
    return _better(task, _usable(task, up, down, column.size), first, bound, deadline)


def _needed_alone(most: _Floats, missing: _Floats) -> int | None:
    """Return how many entries some rival takes on its own; None where all are not enough."""
    total = np.cumsum(-np.sort(-most, axis=1), axis=1)
    if (total[:, -1] <= missing).any():
        return None
    return max(1, int((total <= missing[:, None]).sum(axis=1).max()) + 1)


def _usable(task: _Task, up: _Floats, down: _Floats, size: int) -> _Ints:
    """Return the entries that can be part of fewer than `size` changes (of any number, with size 0)."""
    every = task.may & ((up > 0).any(axis=0) | (down > 0).any(axis=0))
    if not size:
        return np.flatnonzero(every)
    others = -np.sort(-np.maximum(up, down), axis=1)[:, : max(size - 2, 0)].sum(axis=1)
    short = (task.missing - others)[:, None]
    return np.flatnonzero(every & ((up >= short).all(axis=0) | (down >= short).all(axis=0)))


def _better(task: _Task, columns: _Ints, first: _Answer | None, bound: int, deadline: float) -> _Answer:
    """Return what CBC finds among solutions smaller than the first.

    CBC takes a lead for given that misses it by its tolerance. So the entries it names are given the values that make
    the smallest lead the largest; where even these miss it, at least one other entry has to change, and CBC goes on.
    """
    barred: list[_Ints] = []
    while True:
        status, least, column = _program(task, columns, first, bound, barred, deadline)
        bound = max(bound, least)
        if status <= 0:
            break
        value = _strongest(task, column)
        if task.meets(column, value):
            changed = value != task.x[column]
            done = "optimal" if changed.sum() <= bound else "feasible"
            return _Answer(status=done, bound=bound, column=column[changed], value=value[changed])
        barred.append(column)
    if first is None:
        return _none("infeasible" if status == -1 else "not_solved", bound)
    bound = first.column.size if status == -1 else bound
    done = "optimal" if first.column.size <= bound else "feasible"
    return _Answer(status=done, bound=bound, column=first.column, value=first.value)


def _program(
    task: _Task, columns: _Ints, first: _Answer | None, bound: int, barred: list[_Ints], deadline: float
) -> tuple[int, int, _Ints]:
    """Let CBC look for a smaller solution: its status (see `run`), its bound, and which entries change."""
    if not columns.size:
        return -1, bound, columns
    x, moved = task.x[columns], task.moved[:, columns]
    unit = max(float(np.abs(task.missing).max()), float(np.abs(moved).max()))
    model = empty_model()
    change = [model.add_variable(f"z{j}", 0, 1, "Integer") for j in range(x.size)]
    up = {j: model.add_variable(f"u{j}", 0, 1 - x[j]) for j in np.flatnonzero(x < 1).tolist()}
    down = {j: model.add_variable(f"v{j}", 0, x[j]) for j in np.flatnonzero(x > 0).tolist()}
    for j, part in up.items():
        model += linear([(part, 1), (change[j], -(1 - x[j]))]) <= 0
    for j, part in down.items():
        model += linear([(part, 1), (change[j], -x[j])]) <= 0
    for row, missing in zip(moved / unit, task.missing / unit, strict=True):
        terms = [(part, row[j]) for j, part in up.items()] + [(part, -row[j]) for j, part in down.items()]
        model += linear(terms) >= missing
    model += linear([(part, 1) for part in change]) >= bound
    if first is not None:
        model += linear([(part, 1) for part in change]) <= first.column.size - 1
    for entries in barred:
        others = np.flatnonzero(~np.isin(columns, entries)).tolist()
        if not others:
            return -1, bound, columns[:0]
        model += linear([(change[j], 1) for j in others]) >= 1
    status, least = _run(model, linear([(part, 1) for part in change]), deadline)
    least = max(bound, int(np.ceil(least - _WHOLE)))
    if status <= 0:
        return status, least, columns[:0]
    return status, least, columns[[part.value() > 0.5 for part in change]]


def _run(model: Any, objective: Any, deadline: float) -> tuple[int, float]:
    """Let CBC minimise; once more where it came to nothing, because now and then it hangs on a small program."""
    now = time.perf_counter()
    status, least = run(model, objective, now + 0.2 * (deadline - now))
    return (status, least) if status else run(model, objective, deadline)


def _strongest(task: _Task, column: _Ints) -> _Floats:
    """Return values of these entries that exceed what is missing by the most, by a linear program."""
    from scipy.optimize import linprog

    moved, x = task.moved[:, column], task.x[column]
    unit = max(float(np.abs(moved).max(initial=0.0)), float(np.abs(task.missing).max()))
    rows = np.column_stack([-moved, np.full(len(moved), unit)]) / unit
    done = linprog(
        np.append(np.zeros(column.size), -1.0),
        A_ub=rows,
        b_ub=(-task.missing - moved @ x) / unit,
        bounds=[(0.0, 1.0)] * column.size + [(None, 1.0)],
        method="highs",
    )
    value = done.x[:-1] if done.x is not None else x
    return np.where(value < _WHOLE, 0.0, np.where(value > 1.0 - _WHOLE, 1.0, value))


def _none(status: str, bound: int = 0) -> _Answer:
    return _Answer(status=status, bound=bound, column=np.zeros(0, dtype=np.int64), value=np.zeros(0))
