"""PANDA, the policy-aware search for noise of phase I (Jia and Gong 2018, Algorithm 1).

For a person's record x and a wanted value i, entries are changed one at a time, each time the one that seems to move x
most towards i, until the classifier reads i. The paper's text lost the ≠ in the loop's condition, C(x) ≠ i, and in the
mask of Modify_Exist, x_j ≠ 0. Modify_Exist and Add_New may have no solution; Modify_Add starts again there from the
clean record. It need not have one either, whatever the paper says: every noisy record is shown to the classifier, and
where that does not read i the record stays clean and counts as not found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.changes import Changes, Ints, Report, join, no_changes, read_records
from core.attriguard.classifiers import one_value_each, read_scores, read_values, verified
from core.attriguard.linear import LinearScores
from core.attriguard.network import NetworkScores
from core.attriguard.noise import Noise, NoisyRecords
from core.attriguard.policies import WIDEST, known_policy
from core.attriguard.sorted_order import sorted_order
from core.attriguard.stepwise import stepwise
from core.errors import InputError
from core.validation import at_least_zero, choice

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
        "modify_exist", "add_new" or "modify_add": which entries may change (`core.attriguard.policies`).
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
