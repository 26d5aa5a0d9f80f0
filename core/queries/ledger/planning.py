"""What a question would take: an answer from the past, a new sum, a new count, or nothing at all.

Plans look at questions, prices and what was released, which all who ask may know; never at the attribute.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.queries.checks import Floats
from core.queries.ledger.accounts import Account, Released
from core.queries.ledger.chain import Damaged
from core.queries.ledger.gap_interval import LEVEL
from core.queries.ledger.noise import GRID, Noise, centred, combined_bound
from core.queries.ledger.spans import Combination, combine

_ENOUGH = (1 + LEVEL) / 2  # sum and count each may miss in half of the remaining cases
Ints = npt.NDArray[np.int64]
Load = Callable[[set[str]], Mapping[str, bytes]]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """Predictions on the public grid, in the ledger's order of people.

    Attributes
    ----------
    steps : ndarray of shape (n,)
    people : ndarray of shape (n,), bool
        Whom the metric is about.
    """

    metric: str
    steps: Ints
    people: npt.NDArray[np.bool_]

    @property
    def values(self) -> tuple[Ints, int]:
        """Return the question centred, in half steps, and its reach."""
        return centred(self.steps, self.people)


@dataclass(slots=True, eq=False)
class Plan:
    """How a question can be answered.

    Attributes
    ----------
    known : list of Released
        What was released before.
    rows : ndarray of shape (k, n)
        The functionals these are of.
    target, everybody : ndarray of shape (n,)
        The new functional, and the one that counts the metric's people.
    new_sum, new_count : Noise or None
        What must be released, and charged, for it.
    part, size : Combination or None
        Sum and count as combinations of what is known; None while they must be released.
    """

    known: list[Released]
    rows: Floats
    target: Floats
    everybody: Floats
    new_sum: Noise | None = None
    new_count: Noise | None = None
    part: Combination | None = None
    size: Combination | None = None

    @property
    def charged(self) -> int:
        """Return the price in millionths."""
        return sum(noise.epsilon for noise in (self.new_sum, self.new_count) if noise)

    @property
    def noises(self) -> list[Noise]:
        """Return the laws of the noise in what is known."""
        return [one.noise for one in self.known]

    def with_new(self, released: list[Released]) -> Plan:
        """Return the plan that also knows what was released for it, by which it is answered."""
        rows = [self.target if one.part == "sum" else self.everybody for one in released]
        stacked: Floats = np.vstack([self.rows, *rows])
        made = Plan([*self.known, *released], stacked, self.target, self.everybody)
        made.settle()
        return made

    def settle(self) -> None:
        """Look for the best combinations of what is known."""
        scales = np.array([noise.scale for noise in self.noises])
        self.part = combine(self.rows, scales, self.target, self.everybody)
        self.size = combine(self.rows, scales, self.everybody, None)

    def spread(self, combination: Combination) -> tuple[float, float]:
        """Return a combination's standard deviation and the error it keeps with the level wanted."""
        scales = np.array([noise.scale for noise in self.noises])
        deviation = float(np.sqrt(2 * np.square(combination.coefficients * scales).sum()))
        return deviation, combined_bound(combination.coefficients, self.noises, _ENOUGH) + combination.slack

    def value(self, combination: Combination) -> float:
        """Return a combination's noisy value."""
        return float(combination.coefficients @ np.array([one.value for one in self.known]))

    def used(self, combination: Combination) -> list[tuple[int, str, float]]:
        """Return entry, part and coefficient of everything a combination uses."""
        pairs = zip(self.known, combination.coefficients, strict=True)
        return [(one.entry, one.part, float(c)) for one, c in pairs if c]


def plan_for(
    question: Question,
    account: Account,
    positive: npt.NDArray[np.bool_] | None,
    epsilon: int,
    *,
    again: bool,
    load: Load,
) -> Plan:
    """Return how a question would be answered at a price (in millionths).

    Parameters
    ----------
    positive : ndarray of shape (n,), bool, or None
        Who has label 1.
    again : bool
        Release a new sum although the past answers the question, to know it better.
    load : callable
        Returns the stored questions with these digests.
    """
    values, reach = question.values
    everybody = question.people.astype(np.float64)
    rows = _rows(account.released, question.people.size, positive, load)
    target: Floats = values.astype(np.float64) * (0.5 / GRID)
    plan = Plan(list(account.released), rows, target, everybody)
    plan.settle()
    if reach and (again or plan.part is None):
        plan.new_sum = Noise(reach, epsilon, 0.5 / GRID)
    if reach and plan.size is None:
        plan.new_count = Noise(1, account.count_epsilon, 1.0)
    return plan


def _rows(released: list[Released], n: int, positive: npt.NDArray[np.bool_] | None, load: Load) -> Floats:
    """Return the functional of each release as a row."""
    stored = load({one.question for one in released if one.question is not None})
    rows = np.empty((len(released), n))
    for k, one in enumerate(released):
        people = np.ones(n, dtype=bool) if one.metric == "statistical_parity" or positive is None else positive
        if one.question is None:
            rows[k] = people
        else:
            rows[k] = centred(unpacked(one.question, stored[one.question]), people)[0] * (0.5 / GRID)
    return rows


def packed(steps: Ints) -> tuple[str, bytes]:
    """Return a question's digest (64 hex digits) and the bytes that are stored."""
    raw = steps.astype("<i4").tobytes()
    return hashlib.sha256(raw).hexdigest(), zlib.compress(raw, 6)


def unpacked(digest: str, content: bytes) -> Ints:
    """Return a stored question, checked against its digest."""
    try:
        raw = zlib.decompress(content)
    except zlib.error:
        raw = b""
    if hashlib.sha256(raw).hexdigest() != digest:
        raise Damaged(f"the question {digest[:12]} is not what was asked")
    return np.frombuffer(raw, dtype="<i4").astype(np.int64)
