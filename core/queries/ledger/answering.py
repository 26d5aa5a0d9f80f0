"""An answer's numbers, from what was released; nothing here knows the attribute."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.queries.ledger.accounts import Account
from core.queries.ledger.gap_interval import gap_interval, standard_error
from core.queries.ledger.noise import Noise
from core.queries.ledger.planning import Plan, Question


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
