"""Corrections of a few uneven records, and the counts, rows and repairs behind them, are as they were."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from core.base.solvers import empty_model, linear, rescaled, run
from core.stats.fairness import METRICS
from core.studies.correction import problem as problems
from core.studies.correction.counts import CountProblem, Rate, Rows, components, count_problem
from core.studies.correction.enumeration import _GroupPoints, _interval, cheapest_counts, is_one_row_set
from core.studies.correction.exact import (
    WIDENING,
    RowProblem,
    RowSetCounts,
    allowed_interval,
    best_repair,
    flip_cheapest,
    highest_b,
    repairs,
    smallest_fraction,
    smallest_tolerance,
    solve_rows,
    true_tolerance,
)
from core.studies.correction.integer_programs import _Programs, solve_counts_by_ilp
from core.studies.correction.problem import Bound, Claim, Disclosed, bound_of, certify
from core.studies.correction.tangents import _BestFirstSearch, relaxed_bound, solve_counts
from tests.golden.numbers import NamedValues, compare_numbers, refused

GUESS = np.array([1, 1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1], np.uint8)
ANSWERS = np.array([1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0], np.uint8)
LABELS = np.array([0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0], np.uint8)
COST = np.array([1.5, 1.0, 2.0, 1.0, 1.25, 1.0, 4.0, 1.75, 1.5, 1.0, 1.25, 3.0, 1.0])
THIRDS = np.array([0, 1, 2, 2, 1, 0, 2, 2, 0, 1, 2, 2, 0], np.uint8)
"""Guesses of two groups and of three, predictions, labels, and what a change costs."""

COUNTS = {
    name: RowSetCounts(n=n, positives=positives, a=a, b=b, slack=slack * WIDENING)
    for name, (n, positives, a, b, slack) in {
        "uneven": (13, 8, 5, 2, 13 * 0.1),
        "met exactly": (12, 4, 3, 3, 12 / 6),
        "nothing allowed": (11, 4, 3, 1, 0.0),
        "fractions": (12, 8, 6, 1, 0.0),
        "anything": (9, 5, 4, 4, 9.0),
        "group 1 is empty": (9, 3, 0, 0, 1.0),
        "group 0 is empty": (9, 3, 3, 6, 1.0),
        "all accepted": (5, 5, 2, 0, 0.5),
        "nobody accepted": (5, 0, 0, 2, 0.5),
        "rate too low": (14, 6, 1, 7, 14 * 0.05),
        "more than the negatives": (10, 7, 6, 0, 3.5),
        "hundreds": (430, 160, 70, 90, 430 * 0.04),
        "hundreds, mostly accepted": (430, 320, 170, 30, 430 * 0.01),
    }.items()
}


def _fractions() -> NamedValues:
    yield "large", [float(smallest_fraction(n, p, 2) or 0) for n, p in ((1000, 317), (997, 500), (10**9, 333_333_333))]
    for metric, k in product(METRICS, (2, 3, 7)):
        yield f"{metric}, {k}", smallest_tolerance(ANSWERS, metric=metric, labels=LABELS, n_groups=k)
    for k in (1, 20, 21, 2.5):
        yield f"{k} groups", refused(smallest_tolerance, ANSWERS, n_groups=k)
    for tolerances in ((0.02, 0.01), (0.02, 0.02), (0.02, 0.0200001), (0.02, 0.0235), (0.9995, 1.0), (0.3, 0.304)):
        yield f"true {tolerances}", true_tolerance(*tolerances)


def _counted() -> NamedValues:
    for name, counts in COUNTS.items():
        a, b = (axis.ravel() for axis in np.mgrid[: counts.positives + 1, : counts.negatives + 1])
        for measure in (counts.gap, counts.room, counts.allowed, counts.high_enough):
            yield f"{name}: {measure.__name__}", np.asarray(measure(a, b), float)
        yield f"{name}: today", (counts.room(counts.a, counts.b), bool(counts.allowed(counts.a, counts.b)))
        every = np.arange(counts.positives + 1)
        limits = highest_b(counts, every), *allowed_interval(counts, every)
        yield f"{name}: highest and interval", limits if counts.n > 20 else [str(limit.tolist()) for limit in limits]
        plan = None if counts.allowed(counts.a, counts.b) else repairs(counts)
        yield f"{name}: repairs", plan
        if plan is not None:
            costs = np.sort(np.resize(COST, plan.x_limit)), np.sort(np.resize(COST[2:], plan.y_limit))
            yield f"{name}: best repair", [np.atleast_1d(repair) for repair in best_repair(plan, *costs, 1.0)]
            both = [np.stack([cost, cost**3]) for cost in costs]
            yield f"{name}: best repairs", best_repair(plan, *both, np.array([1.0, 0.25]))


def _rows() -> NamedValues:
    problem = RowProblem(guess=GUESS, predictions=ANSWERS, cost=COST, upper=0.1 * WIDENING)
    between = ((0.0, None), (0.0, (3, 5)), (0.0, (6, 6)), (0.7, None), (0.9, (2, 9)))
    for upper, (lower, sizes) in product((0.0, 1 / 26, 0.1, 3 / 26, 0.2, 0.5), between):
        variant = replace(problem, upper=upper * WIDENING, lower=lower * upper, sizes=sizes)
        yield f"up to {upper:.3g}, from {lower * upper:.3g}, sizes {sizes}", _solved(*solve_rows(variant))
    for upper in (1 / 26, 0.05, 0.1):
        exchanged = replace(problem, guess=1 - GUESS, cost=COST[::-1], upper=upper * WIDENING)
        yield f"groups exchanged, up to {upper:.3g}", _solved(*solve_rows(exchanged))
    for n in (0, 1, 2, 3):
        few_people = replace(problem, guess=GUESS[:n], predictions=ANSWERS[4 : 4 + n], cost=COST[:n])
        yield f"of {n}", _solved(*solve_rows(few_people))
    rng, few = np.random.default_rng(2), []
    for _ in range(150):
        n = int(rng.integers(8, 15))
        guess, answers = rng.integers(0, 2, (2, n)).astype(np.uint8)
        cost = 1.0 + rng.integers(0, 9, n) / 4.0
        upper = float(rng.choice([0.01, 0.03, 0.06]))
        few.append(solve_rows(RowProblem(guess=guess, predictions=answers, cost=cost, upper=upper))[1])
    yield "of few people", np.array(few)
    for prediction, guess in product((0, 1), repeat=2):
        cell = problem.cell(prediction, guess)
        for k in (0, 1, 2):
            vector, costs = GUESS.copy(), np.sort(COST[cell])
            flip_cheapest(vector, cell, COST, k, costs[k - 1] if k else 0.0)
            yield f"cell {prediction} {guess}, {k} changed", str(np.flatnonzero(vector != GUESS).tolist())


def _solved(vector: Any, bound: float) -> str:
    changed = "none" if vector is None else np.flatnonzero(vector != GUESS[: vector.size]).tolist()
    return f"{bound:.9g} by {changed}"


def _limits(bound: Bound, number: int) -> Iterator[tuple[int, Any, float, float]]:
    for _, rows in bound.row_sets():
        yield (
            number,
            (bound.predictions + np.uint8(1)) * (np.uint8(1) if rows is None else rows),
            bound.lower,
            bound.upper,
        )


CLAIMS: dict[str, tuple[Any, int, Any, list[dict[str, Any]]]] = {
    "a tolerance": (GUESS, 2, None, [{"tolerance": 0.05}]),
    "no slack": (GUESS[:12], 2, None, [{"tolerance": 0.0}]),
    "three groups": (THIRDS, 3, None, [{"tolerance": 0.12}]),
    "three without slack": (THIRDS[:12], 3, None, [{"tolerance": 0.0}]),
    "shares": (THIRDS, 3, (0.3, (0.2, 0.4), None), [{"tolerance": 0.2}]),
    "shares alone": (THIRDS, 3, (5 / 13, 2 / 13, None), []),
    "shares between": (THIRDS, 3, ((0.4, 0.6), None, (0.05, 0.2)), []),
    "exact": (THIRDS, 3, None, [{"unfairness": 0.115384615384615}]),
    "an interval": (THIRDS, 3, None, [{"unfairness": (0.1, 0.15)}]),
    "an interval of two": (GUESS, 2, (None, (0.3, 0.5)), [{"unfairness": (0.12, 0.2)}]),
    "within labels": (THIRDS, 3, None, [{"tolerance": 0.3, "metric": "equalized_odds"}]),
    "exact within labels": (GUESS, 2, None, [{"unfairness": (0.3, 0.4), "metric": "equalized_odds"}]),
    "two metrics": (GUESS, 2, None, [{"tolerance": 0.1}, {"tolerance": 0.25, "metric": "equal_opportunity"}]),
    "two models": (GUESS, 2, None, [{"tolerance": 0.1}, {"unfairness": (0.05, 0.2), "predictions": LABELS}]),
    "apart": (
        THIRDS,
        3,
        None,
        [{"tolerance": 0.25, "metric": "predictive_equality"}, {"tolerance": 0.2, "metric": "equal_opportunity"}],
    ),
    "impossible": (GUESS, 2, None, [{"tolerance": 0.0}]),
    "impossible together": (THIRDS, 3, (0.1, 0.1, None), [{"tolerance": 0.01}]),
    "met already": (GUESS, 2, None, [{"tolerance": 0.6}]),
}
"""Name -> (guesses, groups, shares, disclosures)."""


def _claim(name: str) -> Claim:
    guess, k, shares, constraints = CLAIMS[name]
    return Claim(
        guess=guess,
        cost=COST[: guess.size],
        n_groups=k,
        bounds=tuple(bound_of(constraint) for constraint in _disclosed(constraints, guess.size)),
        sizes=problems.share_counts(shares, guess.size, k),
    )


def _disclosed(constraints: list[dict[str, Any]], n: int) -> list[Disclosed]:
    return [
        Disclosed(
            **{"predictions": ANSWERS[:n], "labels": LABELS[:n]}
            | {key: value[:n] if key == "predictions" else value for key, value in constraint.items()}
        )
        for constraint in constraints
    ]


def _problem(name: str) -> CountProblem:
    claim = _claim(name)
    limits = [limit for number, bound in enumerate(claim.bounds) for limit in _limits(bound, number)]
    return count_problem(claim.guess, claim.cost, claim.n_groups, limits, claim.sizes)


def _sorted() -> NamedValues:
    for name in CLAIMS:
        problem = _problem(name)
        yield f"{name}: old", str(problem.old.tolist())
        yield f"{name}: members", str([member_rows.tolist() for member_rows in problem.members])
        yield f"{name}: totals", str([total.tolist() for total in problem.total])
        for index, part in enumerate(components(problem)):
            title = f"{name}, part {index}"
            yield f"{title}: rates", part.rates
            yield f"{title}: what it is", [part.meets(part.old), part.surely_possible(), is_one_row_set(part)]
            ways = [[(way.rate.n, way.group, way.sign) for way in ways] for ways in part.alternatives()]
            yield f"{title}: ways", str(ways)
            for number, choice in enumerate([(), *list(part.choices())[:2]]):
                rows = Rows(part, choice, 1e-5 * number)
                numbers = rows.matrix, rows.low, rows.high, rows.multipliers, rows.impossible
                yield f"{title}, choice {number}: rows", numbers
            new = np.roll(part.old, 1, axis=1)
            vector = CLAIMS[name][0].copy()
            part.write(new, vector)
            yield f"{title}: moved", (part.cost_of(new), part.meets(new), str(vector.tolist()))
            wrong = part.old + 1, part.old - np.eye(*part.old.shape, dtype=int) * 9
            yield f"{title}: not counts", [part.meets(counts) for counts in wrong]


def _listed() -> NamedValues:
    for n, positives, upper in ((430, 160, 0.04), (430, 320, 0.01), (430, 390, 0.3)):
        none = np.zeros(1, bool)
        rate = Rate(disclosure=0, inside=none, positive=none, n=n, positives=positives, lower=0.0, upper=upper)
        yield f"interval of {n}, {positives}, {upper}", _interval(rate, np.arange(positives + 1), (9, n - 30))
    for name in ("a tolerance", "no slack", "three groups", "exact", "an interval", "an interval of two"):
        problem, multipliers = _problem(name), (0.4, -0.7)
        rate = problem.rates[0]
        for sizes in ((0, rate.n), (3, 6)):
            ends = _interval(rate, np.arange(rate.positives + 1), sizes)
            yield f"{name}: interval {sizes}", str([end.tolist() for end in ends])
        for g in range(problem.n_groups):
            group = _GroupPoints(problem, g, multipliers)
            numbers = group.u, group.w, group.turn, group.falling, group.rising, group.best, group.least
            yield f"{name}, group {g}", numbers
            for budget in (0.0, 2.0, 9.0):
                points = group.points(budget)
                outcome = group.count(budget), points.a, points.b, points.attained, points.r
                yield f"{name}, group {g} within {budget}", outcome
        for value, at in product((3.0, 30.0), (multipliers, (0.0, 0.0))):
            yield f"{name}: cheapest below {value} at {at}", cheapest_counts(problem, at, value, math.inf)


def _programs() -> NamedValues:
    for name in CLAIMS:
        for index, part in enumerate(components(_problem(name))):
            if part.meets(part.old) or any(rate.impossible(part.n_groups) for rate in part.rates):
                continue
            best, bound = solve_counts(part, seconds=math.inf)
            yield f"{name}, part {index}", (None if best is None else part.cost_of(best), bound)
            if best is None:
                continue
            yield f"{name}, part {index}: relaxed", relaxed_bound(part, best)
            search = _BestFirstSearch(part, math.inf)
            search.accept(best)
            yield f"{name}, part {index}: by programs", (search.run(), search.value)
            if len(part.alternatives()) == 1:
                search.integer = lambda choice, value=search.value: value * (0.93 - 0.02 * choice[0].group)  # type: ignore
                yield f"{name}, part {index}: relaxed by choice", [search.relax(choice) for choice in part.choices()]
                yield f"{name}, part {index}: least of the choices", search.run()
            search.nodes = 0
            spent = search.over(), search.relax(()), _BestFirstSearch.integer(search, next(part.choices()))
            yield f"{name}, part {index}: nothing left", spent
            search.tangents.clear()
            new = np.roll(part.old, 1, axis=1)
            broken = search.separate(new + 0.5, np.zeros(part.old.size))
            added = broken, search.surround(part.old), search.surround(new)
            yield f"{name}, part {index}: tangents", (added, str(sorted(search.tangents)))
            programs = _Programs(problem=part, per_record=False, deadline=math.inf, best=best, value=part.cost_of(best))
            units = [programs.costs(j) * programs.unit for j in range(part.old.size)]
            yield f"{name}, part {index}: unit", (programs.unit, units)
    for name in ("a tolerance", "shares", "an interval of two", "three without slack", "impossible together"):
        (part,) = components(_problem(name))
        for per_record in (False, True):
            best, bound = solve_counts_by_ilp(part, per_record=per_record, seconds=600)
            yield f"{name}, by CBC{', each record' * per_record}", (None if best is None else part.cost_of(best), bound)
    cases = (("solved", 1.5, 60.0), ("none", 6.0, 60.0), ("time is up", 1.5, 0.0), ("late", 1.5, -1.0))
    for name, least, seconds in cases:
        model = empty_model()
        x, y = (model.add_variable(letter, 0, 5, "Integer") for letter in "xy")
        model += x + y >= least
        model += y <= 0.5
        status = run(model, linear([(x, 3.0), (y, 1.0)]), time.perf_counter() + seconds)
        yield f"CBC, {name}", (status, x.value() if status == "optimal" else None)
    rng = np.random.default_rng(4)
    guess, answers = rng.integers(0, 3, 240).astype(np.uint8), (rng.random(240) < 0.4).astype(np.uint8)
    disclosed = problems.Disclosed(predictions=answers | (guess == 2), tolerance=0.03)
    limits = list(_limits(bound_of(disclosed), 0))
    for power in (1, 9):
        part = count_problem(guess, (1.0 + rng.random(240)) ** power, 3, limits, None)
        best, bound = solve_counts(part, seconds=math.inf)
        assert best is not None
        search = _BestFirstSearch(part, math.inf)
        search.accept(best)
        yield f"of 240 to {power}", (part.cost_of(best), bound, relaxed_bound(part, best), search.run())
    for values, bounds in (([9, 9, 2.25, 2.25], [1, 2]), ([9, 2, 2, 0.1], [1, 2]), ([math.inf], [])):
        falls, upper_bounds = iter(values), iter(bounds)
        lower = rescaled(
            lambda falls=falls: next(falls, 0.1), lambda upper_bounds=upper_bounds: next(upper_bounds, 7), lambda: False
        )
        yield f"rescaled {values}", lower
    yield "rescaled, over", rescaled(lambda: 5.0, lambda: 3.0, lambda: True)


def _disclosed_shares() -> NamedValues:
    for disclosed in ((0.0, None), (1.0, None), (None, 0.25), (None, (0.2, 0.3)), (None, (0.3, 0.3)), (None, 1.0)):
        yield f"limits {disclosed}", problems._limits(*disclosed)
    for value in (0.0, 1e-5, 2e-4, 0.3):
        _, lower, upper = problems._limits(None, value)
        yield f"a hair around {value}", ((lower - value) * 1e16, (upper - value) * 1e16)
    shares: list[Any] = [None, [None] * 3, [0.25, 0.25, 0.5], [(0.2, 0.3), 0.3, 0.5], [0.05, None, None]]
    shares += [[(0.2, 0.45), None, 0.4], [(0.11, 0.19), None, None], [1.0, None, None], [(0, 1), (0, 0.2), (0, 0.1)]]
    for n, disclosed in product((7, 10), [*shares, [0.9, 0.9, None], [(0, 0), None, None]]):
        yield f"{n} by {disclosed}", refused(problems.share_counts, disclosed, n, 3)
    met = _claim("met already")
    for bounds in ([21.25], [21.0, 0.25 + 1e-8], [20.0]):
        yield f"met, certified {bounds}", certify(met, 1 - GUESS, bounds, solver="exact", seconds=0.0).status
    for name in CLAIMS:
        yield f"sortable: {name}", problems._is_sortable(_claim(name))


CASES: dict[str, Callable[[], NamedValues]] = {
    "fractions": _fractions,
    "counted": _counted,
    "rows": _rows,
    "sorted": _sorted,
    "listed": _listed,
    "programs": _programs,
    "told": _disclosed_shares,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str) -> None:
    compare_numbers(f"correction_{case}", CASES[case]())
