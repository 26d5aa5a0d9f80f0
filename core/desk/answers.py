"""One question at the desk: planned from the past, priced, released and answered.

Every release is a known linear functional of the same unknown, the indicator of the disadvantaged, plus noise of a
known law. A new sum that is a linear combination of released ones needs no new look at the data; among the
combinations the one with the least variance is taken, so a question asked twice at a price counts twice. Whether one
exists is first decided without the scales of the noise, which may lie ten powers of ten apart and then hide it.

Plans look at questions, prices and what was released, which all who ask may know; never at anybody's attribute. The
ledger's transactions are the caller's.
"""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.datasets.columns import quoted
from core.desk.budget import Account, Books, Released
from core.desk.noise import (
    GRID,
    LEVEL,
    Amount,
    Ints,
    Noise,
    RandBelow,
    amount_text,
    centred,
    combined_bound,
    epsilon_of,
    gap_interval,
    millionths,
    on_grid,
    release,
    standard_error,
)
from core.desk.record import METRICS, Damaged, LedgerAnswer, LoggedAnswer, Quote
from core.desk.registration import TestSet
from core.errors import InputError
from core.queries.gaps import score_matrix
from core.validation import choice

_SAME = 1e-6  # two scores this close count as the same
_TRIFLE = 1e-11
_LEAST = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Combination:
    """A functional as a combination of released ones, up to `constant` times the free direction.

    `slack` is the most by which the combination's sum can differ from the new one: Σ |difference of the scores|.
    """

    coefficients: Floats
    constant: float
    slack: float


def combine(rows: Floats, scales: Floats, target: Floats, free: Floats | None) -> Combination | None:
    """Return the combination of rows (k, n) with the least variance that equals the target (n,), or None.

    Of `free`, a direction such as all ones, any multiple may be left over because a gap does not depend on it.
    """
    b = _without(target, free)
    if np.abs(b).max() <= _SAME:
        return _held(np.zeros(len(rows)), rows, target, free)
    if not len(rows):
        return None
    a = _without(rows, free)
    lengths = np.linalg.norm(a, axis=1)
    nothing = lengths <= 1e-12 * np.linalg.norm(rows, axis=1)  # the free direction itself, but for rounding
    a[nothing], lengths[nothing] = 0.0, 1.0
    found = _held(_solved(a / lengths[:, None], b) / lengths, rows, target, free)
    if found is None:
        return _single(a, scales, b, rows=rows, target=target, free=free)
    # With d = c scale the variance is |d|², and the solution of the least norm has the least variance.
    found = _better(found, _held(_solved(a / scales[:, None], b) / scales, rows, target, free), scales)
    return _better(_single(a, scales, b, rows=rows, target=target, free=free), found, scales)


def _solved(a: Floats, b: Floats) -> Floats:
    """Return the x of the least norm among those that bring x @ a nearest to b."""
    return np.asarray(np.linalg.lstsq(a.T, b, rcond=None)[0])


def _single(
    a: Floats, scales: Floats, b: Floats, *, rows: Floats, target: Floats, free: Floats | None
) -> Combination | None:
    """Return the best multiple of one row that equals the target; no scale of any other row can hide it."""
    multiples = a @ b / np.maximum(np.square(a).sum(axis=1), _LEAST)
    holds = np.abs(multiples[:, None] * a - b).max(axis=1) <= _SAME / 2
    if not holds.any():
        return None
    best = int(np.argmin(np.where(holds, np.abs(multiples * scales), np.inf)))
    coefficients = np.zeros(len(rows))
    coefficients[best] = multiples[best]
    return _held(coefficients, rows, target, free)


def _held(coefficients: Floats, rows: Floats, target: Floats, free: Floats | None) -> Combination | None:
    """Return a combination if it does equal the target; what changes no score by more than a trifle is left out."""
    reaches = np.abs(rows).max(axis=1, initial=0.0)
    kept = np.round(np.where(np.abs(coefficients) * reaches > _TRIFLE, coefficients, 0.0), 12).astype(np.float64)
    rest = target - kept @ rows
    constant = float(rest @ free / (free @ free)) if free is not None else 0.0
    difference = rest - constant * free if free is not None else rest
    if not np.abs(difference).max() <= _SAME:
        return None
    return Combination(coefficients=kept, constant=constant, slack=float(np.abs(difference).sum()))


def _better(one: Combination | None, other: Combination | None, scales: Floats) -> Combination | None:
    """Return the combination with less variance, the first where there is nothing in it."""
    if one is None or other is None:
        return one if other is None else other
    first, second = (float(np.linalg.norm(each.coefficients * scales)) for each in (one, other))
    return other if second < first * (1 - 1e-6) else one


def _without(vectors: Floats, free: Floats | None) -> Floats:
    """Return vectors without their part along a direction."""
    if free is None:
        return vectors.copy()
    along = vectors @ free / (free @ free)
    return np.asarray(vectors - np.multiply.outer(along, free))


_ENOUGH = (1 + LEVEL) / 2  # sum and count each may miss in half of the remaining cases
Load = Callable[[set[str]], Mapping[str, bytes]]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """Predictions on the public grid, in the ledger's order of people, and which people the metric is about, (n,)."""

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

    `rows` (k, n) are the functionals of what is known, released before; `target` (n,) is the new one, `everybody` (n,)
    counts the metric's people. `new_sum` and `new_count` must be released, and charged, for it; `part` and `size` are
    sum and count as combinations of what is known, None while they must be released.
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
    """Return how a question would be answered at a price in millionths; `positive` (n,) are those with label 1.

    `again` releases a new sum although the past answers the question, to know it better. `load` returns the stored
    questions with these digests.
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


def numbers(plan: Plan, question: Question) -> dict[str, Any]:
    """Return the answer, and how it follows from what was released."""
    part, size = plan.part, plan.size
    assert part is not None, "the sum was released or followed from the past"
    scores = plan.target[question.people] - part.constant
    value, (deviation, reach) = plan.value(part), plan.spread(part)
    count, count_deviation, count_reach, size_from = 0.0, 0.0, float(scores.size), []
    if size is not None:  # a constant question needs none
        count, (count_deviation, count_reach), size_from = plan.value(size), plan.spread(size), plan.used(size)
    gap = gap_interval(scores, part=value, reach=reach, count=count, count_reach=count_reach)
    n, total = scores.size, float(scores.sum())
    error = standard_error(
        n, total=total, part=value, deviation=deviation, count=count, count_deviation=count_deviation
    )
    return {
        "n": n,
        "total": total,
        "part": value,
        "part_from": plan.used(part),
        "size": count,
        "size_from": size_from,
        "gap": gap.value,
        "low": gap.low,
        "high": gap.high,
        "standard_error": min(error, (gap.high - gap.low) / 2),
    }


def expected_error(account: Account, question: Question, plan: Plan) -> float:
    """Return the standard error a question would have if its gap were zero."""
    n = int(question.people.sum())
    first = account.registration().n_disadvantaged
    size = plan.value(plan.size) if plan.size is not None else first.value / first.n * n
    scores = plan.target[question.people]
    deviation = plan.spread(plan.part)[0] if plan.part is not None else np.inf
    if plan.new_sum is not None:  # independent looks at one sum combine by their precision
        deviation = 1 / np.hypot(1 / deviation if deviation else np.inf, 1 / _deviation(plan.new_sum))
    count_deviation = plan.spread(plan.size)[0] if plan.size is not None else 0.0
    if plan.new_count is not None:
        count_deviation = _deviation(plan.new_count)
    total = float(scores.sum())
    return standard_error(
        n, total=total, part=total * size / n, deviation=deviation, count=size, count_deviation=count_deviation
    )


def _deviation(noise: Noise) -> float:
    return float(np.sqrt(2.0)) * noise.scale


def account_of(books: Books, name: str) -> Account:
    """Return a registration, or say which there are."""
    if name not in books.accounts:
        there = ", ".join(list(books.accounts)[:10]) or "nothing yet"
        raise InputError(f"There is no registration {quoted(name)} in the ledger; registered: {there}.")
    return books.accounts[name]


def planned(
    account: Account,
    test_set: TestSet,
    scores: npt.ArrayLike,
    *,
    epsilon: Amount,
    metric: str,
    again: bool,
    load: Load,
) -> tuple[Question, Plan, int]:
    """Check a question about the registered people and return it with its plan and its price in millionths."""
    price = millionths(epsilon, name="epsilon")
    if price < account.least:
        raise InputError(
            f"epsilon must be at least {amount_text(account.least)}, a thousandth of the budget of "
            f"{quoted(account.name)}, got {amount_text(price)}."
        )
    flat = np.asarray(scores)
    if flat.ndim != 1:
        raise InputError(f"scores must be one value a person, got {flat.ndim} dimensions.")
    order = test_set.order(account.form)
    steps = on_grid(score_matrix(flat, n=test_set.n)[0])[order]
    positive = None if test_set.labels is None else test_set.labels[order] == 1
    people = np.ones(test_set.n, dtype=bool)
    if choice(metric, METRICS, name="metric") == "equal_opportunity":
        if positive is None or positive.sum() < 2:
            raise InputError(
                f"Equal opportunity needs two people with label 1 at least, {quoted(account.name)} has "
                f"{'no labels' if positive is None else positive.sum()}."
            )
        people = positive
    question = Question(metric, steps, people)
    return question, plan_for(question, account, positive, price, again=again, load=load), price


def over_budget(account: Account, plan: Plan) -> str | None:
    """Return why a plan is refused: a matter of prices only."""
    if plan.charged <= account.remaining:
        return None
    return (
        f"The question costs epsilon {amount_text(plan.charged)}, and {amount_text(account.remaining)} of "
        f"{amount_text(account.budget)} is left for {quoted(account.name)}."
    )


def quoted_price(account: Account, question: Question, plan: Plan, price: int) -> Quote:
    """Return what a plan would cost and how precise it would be, and a fresh look where the past has an answer."""
    reason, reach, fresh = over_budget(account, plan), question.values[1], None
    if plan.charged == 0 and reach:
        paid = replace(plan, new_sum=Noise(reach, price, 0.5 / GRID))
        fresh = expected_error(account, question, paid)
    return Quote(
        refused=reason is not None,
        reason=reason,
        charged=epsilon_of(plan.charged),
        remaining=epsilon_of(account.remaining),
        from_past=plan.charged == 0,
        standard_error=expected_error(account, question, plan),
        fresh_error=fresh,
    )


def answered(
    number: int, account: Account, question: Question, plan: Plan, test_set: TestSet, randbelow: RandBelow
) -> dict[str, Any]:
    """Release what the plan needs and return the entry's body, but for who asked and when."""
    secret = (test_set.attribute[test_set.order(account.form)] == 0) & question.people
    digest, _ = packed(question.steps)
    new = []
    for part, noise in (("sum", plan.new_sum), ("count", plan.new_count)):
        if noise is not None:
            values = question.values[0] if part == "sum" else question.people.astype(np.int64)
            units = release(values, secret, noise, randbelow)
            new.append(Released(number, part, question.metric, digest if part == "sum" else None, units, noise))
    parts = {one.part: {"units": one.units, "reach": one.noise.reach, "epsilon": one.noise.epsilon} for one in new}
    return {
        "kind": "answered",
        "metric": question.metric,
        "question": digest,
        "sum": parts.get("sum"),
        "count": parts.get("count"),
        "charged": plan.charged,
        "spent": account.spent + plan.charged,
        **numbers(plan.with_new(new) if new else plan, question),
    }


def same_answer(account: Account, body: dict[str, Any]) -> LoggedAnswer | None:
    """Return the latest answer to the same question if a free one would only say it once more."""
    mine = (body["metric"], body["question"][:12])
    last = next((one for one in reversed(account.answers) if (one.metric, one.question) == mine), None)
    if last is None or body["charged"]:
        return None
    before = (last.gap.value, last.gap.low, last.gap.high, last.standard_error)
    now = (body["gap"], body["low"], body["high"], body["standard_error"])
    return last if all(math.isclose(x, y, abs_tol=1e-9) for x, y in zip(before, now, strict=True)) else None


def told(books: Books, account: Account, answer: LoggedAnswer, *, asker: str, repeated: bool) -> LedgerAnswer:
    """Return an answer as the ledger holds it; one that is repeated costs nothing now."""
    return LedgerAnswer(
        name=account.name,
        metric=answer.metric,
        asker=asker,
        refused=False,
        gap=answer.gap,
        standard_error=answer.standard_error,
        charged=0.0 if repeated else answer.charged,
        remaining=epsilon_of(account.remaining),
        from_past=repeated or answer.from_past,
        number=answer.number,
        seal=books.hash,
    )
