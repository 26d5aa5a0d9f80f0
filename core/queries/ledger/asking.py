"""One question at the desk: checked, planned, released and told; the ledger's transactions are the caller's."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.datasets.columns import quoted
from core.errors import InputError
from core.queries.checks import score_matrix
from core.queries.ledger.accounts import Account, Books, Released
from core.queries.ledger.amounts import Amount, amount_text, epsilon_of, millionths
from core.queries.ledger.answering import expected_error, numbers
from core.queries.ledger.answers import METRICS, LedgerAnswer, LoggedAnswer, Quote
from core.queries.ledger.noise import GRID, Noise, RandBelow, on_grid, release
from core.queries.ledger.people import TestSet
from core.queries.ledger.planning import Load, Plan, Question, packed, plan_for
from core.validation import choice


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
    price = _price(account, epsilon)
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


def _price(account: Account, epsilon: Amount) -> int:
    price = millionths(epsilon, name="epsilon")
    if price < account.least:
        raise InputError(
            f"epsilon must be at least {amount_text(account.least)}, a thousandth of the budget of "
            f"{quoted(account.name)}, got {amount_text(price)}."
        )
    return price


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
