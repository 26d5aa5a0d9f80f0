"""Projections of a few uneven records, the steps they are found by, and what nobody can meet are as they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.stats.projection import (
    Constraints,
    Dual,
    _box_maximum,
    _posterior,
    _split_direction,
    _step,
    _tilted_probability,
    _verdict,
    climb,
    newton_direction,
    project,
)
from tests.golden.numbers import NamedValues, compare_numbers, refused

TWO = np.array([0.9, 0.2, 0.35, 0.5, 1.0, 0.0, 0.62, 0.07, 0.81, 0.44])
THREE = np.array(
    [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.0, 0.25, 0.75], [1.0, 0.0, 0.0], [0.15, 0.05, 0.8], [0.4, 0.4, 0.2]]
)
LARGE = np.random.default_rng(7).beta(0.8, 1.3, 700).round(3)


def constraints(pattern: Any, *rows: tuple[Any, Any, float, bool], **more: Any) -> Constraints:
    """Return rows of weights, groups, bound, and whether it is an equality."""
    weights, groups, bound, equality = (np.array(column, float) for column in zip(*rows, strict=True))
    return Constraints(
        pattern=np.array(pattern), weights=weights, groups=groups, bound=bound, equality=equality.astype(bool), **more
    )


MIXED = [2, 0, 1, 0, 2, 1, 1, 0, 3, 2]
PROBLEMS: dict[str, tuple[Any, Constraints]] = {
    "share": (TWO, constraints([0] * 10, ([1], [0, 1], 6.0, True))),
    "at most": (TWO, constraints([0] * 10, ([2], [0, 1], 7.5, False))),
    "two bounds": (TWO, constraints(MIXED, ([1, -1, 0.5, 0], [0, 1], -1.2, False), ([1, 1, 1, 1], [1, 0], 4.0, False))),
    "equal and at most": (
        TWO,
        constraints(MIXED, ([0, 3, 1, 1], [1, 0], 5.5, True), ([1, 0, 0, -2], [0, 1], 0.1, False)),
    ),
    "a row of nothing": (TWO, constraints(MIXED, ([0] * 4, [0, 1], 0.0, True), ([1, 2, 0, 1], [0, 1], 3.0, True))),
    "a pattern nobody has": (TWO, constraints([4] * 3 + [1] * 7, ([9, 1, 9, 9, -0.5], [0, 1], 2.0, True))),
    "up to a rounding": (
        TWO,
        constraints(MIXED, ([1] * 4, [0, 1], 6, True), ([1, 0, 1, 0], [0, 1], 3.3, True), width=np.array([0.5, 0])),
    ),
    "below a rounding": (TWO, constraints(MIXED, ([2] * 4, [0, 1], 5, True), width=np.array([1.0]))),
    "up to noise": (TWO, constraints(MIXED, ([2] * 4, [0, 1], 5, True), variance=np.array([3.0]))),
    "impossible at most": (TWO, constraints(MIXED, ([1, 0, 1, 1], [0, -1], -7.5, False))),
    "impossible up to a rounding": (TWO, constraints(MIXED, ([1, 0, 1, 1], [0, 1], 9, True), width=np.array([0.75]))),
    "only certainty": (TWO, constraints([0] * 10, ([1], [0, 1], 9.0, True))),
    "three, two bite": (
        THREE,
        constraints([0, 1, 1, 0, 1, 0], ([1, 2], [1, 0, -1], -2.5, False), ([2, -1], [0, 1, 0], 0.4, False)),
    ),
    "thousands of patterns": (
        np.tile(LARGE, 7),
        constraints(np.arange(4900), (np.linspace(-1, 2, 4900), [0, 1], 1200, True), ([1] * 4900, [1, 0], 2600, False)),
    ),
}
"""Name -> (posterior, constraints)."""


def _projected() -> NamedValues:
    for name, (posterior, limits) in PROBLEMS.items():
        yield name, project(posterior, limits)


def _duals() -> NamedValues:
    for name, (posterior, limits) in PROBLEMS.items():
        problem = Dual(posterior, limits)
        yield f"{name}: ceiling and least miss", (problem.ceiling, problem.least_miss())
        rest, some = np.zeros(limits.bound.size), 0.3 * np.arange(1, limits.bound.size + 1)
        for at in (rest, some, np.where(limits.equality, -some, 0.0)):
            point = problem.at(at)
            yield f"{name} at {at}", (point.value, problem.residual(point), point.expected, problem.slope(point))
            yield f"{name} at {at}: curvature", problem.curvature(point)
            yield f"{name} at {at}: posterior", problem.posterior(point)
            better = _step(problem, point)
            yield f"{name} at {at}: step", None if better is None else (better.value, better.multipliers)
        yield f"{name}: verdict at rest", _verdict(problem, problem.at(rest), len(posterior))
        yield f"{name}: climbed", climb(problem, problem.at(rest)).value


def _directions() -> NamedValues:
    curvature = np.array([[4.0, 1.0, -0.5], [1.0, 2.0, 0.3], [-0.5, 0.3, 1.5]])
    diagonal = np.diag([1e-3, 2.0, 0.0])
    flags = [np.array(mask, bool) for mask in ([0, 0, 0], [1, 0, 0], [1, 1, 1])]
    for slope in ([1.0, -2.0, 0.5], [-1.0, -0.2, -0.1], [300.0, 3.0, -90.0], [0.0, 0.0, 0.0]):
        for at in ([0.0, 0.0, 0.0], [0.2, 50.0, 0.01]):
            for matrix in (curvature, diagonal):
                for equality in flags:
                    arguments = np.array(slope), matrix, np.array(at), equality
                    yield f"newton {slope} at {at}", newton_direction(*arguments)
                    width = np.array([0.4, 0.0, 0.0]) * equality
                    yield f"split {slope} at {at}", _split_direction(*arguments, width)
                    opposite = np.where(equality, -arguments[2], arguments[2])
                    yield (
                        f"split {slope} at the other {at}",
                        _split_direction(*arguments[:2], opposite, equality, width * 3),
                    )
    rng = np.random.default_rng(3)
    for size in (2, 3, 4, 5, 6, 6, 6, 6):
        mixed = rng.normal(size=(size, size))
        down, up = -rng.choice([0.0, 0.3, 2.0], size), rng.choice([0.2, 1.0], size)
        maximum = _box_maximum(3.0 * rng.normal(size=size), mixed @ mixed.T + 0.2 * np.eye(size), down, up)
        yield f"box of {size}", maximum
    low, high = np.array([-1.0, 0.0, -0.2]), np.array([0.5, 2.0, 0.1])
    for slope in ([1.0, 1.0, 1.0], [-9.0, -9.0, 9.0], [5.0, 1.0, -2.0], [0.1, 0.0, 0.0], [-1.0, 4.0, -0.3]):
        yield f"box {slope}", _box_maximum(np.array(slope), curvature, low, high)


def _edges() -> NamedValues:
    numbers = np.array([0.0, 1e-320, 0.3, 0.5, 0.500001, 1 - 1e-16, 1.0, 1.0, 0.25])
    zero = np.array([1.0, 1.0, 0.7, 0.5, 0.499999, 1e-16, 1e-17, 0.0, 0.75])
    yield "one number", _tilted_probability(np.full(9, 0.5), zero, numbers)
    yield "its place below 1", (1.0 - _tilted_probability(np.full(9, 0.5), zero, numbers)) * 1e16
    rest = np.linspace(0.01, 0.49, 49)
    tilted = _tilted_probability(np.full(49, 0.5), rest, 1.0 - rest)
    yield "a truth of 0 loses by rounding", bool((1.0 - tilted < rest).any())
    yield "and no more than it must", float(np.abs(1.0 - tilted - rest).max() <= 2.3e-16)
    yield "of the certain", _tilted_probability(np.array([0.0, 1.0] * 4 + [0.9]), zero, numbers)
    limits, three = PROBLEMS["share"][1], PROBLEMS["three, two bite"][1]
    for name, posterior in (
        ("as given", TWO),
        ("ends", np.array([0.0, 1.0] * 5)),
        ("below", TWO - 1e-9),
        ("above", TWO + 1e-9),
        ("nan", np.where(TWO > 0.8, np.nan, TWO)),
        ("fewer", TWO[:9]),
        ("rows", np.column_stack([1 - TWO, TWO])),
        ("rows that miss 1 by little", np.column_stack([1 - TWO, TWO * (1 - 9e-7)])),
        ("rows that miss 1", np.column_stack([1 - TWO, np.minimum(1, TWO * 0.99)])),
        ("three", THREE),
        ("cube", np.zeros((10, 2, 2))),
    ):
        yield f"posterior, {name}", refused(_posterior, posterior, limits)
    yield "posterior of nobody", refused(_posterior, np.zeros(0), replace(limits, pattern=np.zeros(0, int)))
    yield "one number for three groups", refused(_posterior, TWO[:6], three)


CASES: dict[str, Callable[[], NamedValues]] = {
    "projected": _projected,
    "duals": _duals,
    "directions": _directions,
    "edges": _edges,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str) -> None:
    compare_numbers(f"projection_{case}", CASES[case]())
