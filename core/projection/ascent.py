"""Climbing the dual: Newton steps that keep the multipliers of inequalities at 0 or above."""

from __future__ import annotations

import numpy as np

from core.arrays import Floats, Mask
from core.projection.dual import Dual, Point

_LONGEST_STEP = 40.0
"""Largest change of a multiplier in one step; a statistic's largest feature is 1, so about that of a log-odds."""

_MOST_STEPS = 300


def climb(problem: Dual, point: Point) -> tuple[Point, int]:
    """Maximise the dual by Newton steps that keep the multipliers' signs."""
    for step in range(_MOST_STEPS):
        if problem.residual(point) <= problem.aim or point.value > 1e-6 + 1.001 * problem.ceiling:
            return point, step
        better = _step(problem, point)
        if better is None:
            return point, step
        point = better
    return point, _MOST_STEPS


def _step(problem: Dual, point: Point) -> Point | None:
    """Return a better point on the Newton direction, None where rounding hides any."""
    slope, was = problem.slope(point), point.multipliers
    curvature = problem.curvature(point) + np.diag(problem.variance)
    direction = _split_direction(slope, curvature, was, problem.equality, problem.width)
    kinks = float(problem.width @ (np.abs(was + direction) - np.abs(was)))
    promised, left = float(slope @ direction) - kinks, problem.residual(point)
    noise = 1e-14 * (problem.pattern.size + abs(point.value))
    for halving in range(1 if promised <= noise else 40):
        length = 0.5**halving
        moved = point.multipliers + length * direction
        there = problem.at(np.where(problem.equality, moved, np.maximum(moved, 0.0)))
        gained = there.value - point.value
        if gained > noise and gained >= 1e-4 * length * promised:
            return there
        if gained >= -noise and problem.residual(there) < 0.9 * left:
            return there
    return None


def _split_direction(slope: Floats, curvature: Floats, multipliers: Floats, equality: Mask, width: Floats) -> Floats:
    """Return the direction; a multiplier with a width is the difference of two that are at least 0 and cost it."""
    wide = np.flatnonzero(width > 0.0)
    if not wide.size:
        return newton_direction(slope, curvature, multipliers, equality)
    both = np.concatenate([np.arange(slope.size), wide])
    sign = np.repeat([1.0, -1.0], [slope.size, wide.size])
    held = sign * multipliers[both]
    held[wide] = np.maximum(held[wide], 0.0)
    held[slope.size :] = np.maximum(held[slope.size :], 0.0)
    split = newton_direction(
        sign * slope[both] - width[both],
        curvature[np.ix_(both, both)] * np.outer(sign, sign),
        held,
        np.where(width[both] > 0.0, False, equality[both]),
    )
    direction = split[: slope.size].copy()
    direction[wide] -= split[slope.size :]
    return direction


def newton_direction(slope: Floats, curvature: Floats, multipliers: Floats, equality: Mask) -> Floats:
    """Return the d that maximises slope·d - d·curvature·d/2 in a box that keeps signs and bounds the step.

    The curvature is scaled to a unit diagonal first, and made definite where statistics depend on each other.
    """
    size = np.sqrt(np.maximum(np.diag(curvature), 1e-24))
    scaled = curvature / np.outer(size, size)
    scaled[np.diag_indices(size.size)] = 1.0 + 1e-12
    low = np.where(equality, -_LONGEST_STEP, -np.minimum(multipliers, _LONGEST_STEP)) * size
    return _box_maximum(slope / size, scaled, low, _LONGEST_STEP * size) / size


def _box_maximum(slope: Floats, curvature: Floats, low: Floats, high: Floats) -> Floats:
    """Maximise slope·d - d·curvature·d/2 over low ≤ d ≤ high, low ≤ 0 < high, by an active set method from d = 0.

    Every round climbs: it moves to the maximum over the free entries, or to the first bound on the way, which then
    holds its entry until the slope at such a maximum points back inside.
    """
    d = np.zeros_like(slope)
    free = (low < 0.0) | (slope > 0.0)
    small = 1e-13 * np.abs(slope).max(initial=0.0)
    for _ in range(10 * slope.size):
        wanted = d.copy()
        wanted[free] = np.linalg.solve(
            curvature[np.ix_(free, free)], slope[free] - curvature[np.ix_(free, ~free)] @ d[~free]
        )
        beyond = (wanted > high) | (wanted < low)
        part = np.ones_like(d)
        part[beyond] = (np.where(wanted > d, high, low)[beyond] - d[beyond]) / (wanted - d)[beyond]
        reach = float(part.min(initial=1.0))
        if reach < 1.0:
            blocked = part <= reach
            d = np.clip(d + reach * (wanted - d), low, high)
            d[blocked] = np.where(wanted > d, high, low)[blocked]
            free &= ~blocked
            continue
        d = wanted
        pull = slope - curvature @ d
        inward = np.where(free, 0.0, np.where(d <= low, pull, -pull))
        if inward.max(initial=0.0) <= small:
            break
        free[inward.argmax()] = True
    return d
