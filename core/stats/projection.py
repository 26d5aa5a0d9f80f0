"""Information projection: the distribution closest to a posterior that meets statistics.

A posterior gives record i the probabilities q_i(g) over groups g = 0..K-1, independently of the others. A statistic k
is a sum over records, F_k(s) = Σ_i f_k(i, s_i), known to be at most b_k (or equal to b_k). Among all distributions
with E[F_k] ≤ b_k the one closest in Kullback-Leibler divergence is a tilt (Csiszár 1975), one multiplier a statistic:

    q'_i(g) = q_i(g) exp(-Σ_k λ_k f_k(i, g)) / Z_i(λ),    λ_k ≥ 0 for inequalities, free for equalities,

for two groups a logit shift. The multipliers maximise the concave dual D(λ) = -Σ_i log Z_i(λ) - Σ_k λ_k b_k.

What holds, and why: let s be a truth that meets the statistics. By the tilt's definition

    Σ_i log q'_i(s_i) - Σ_i log q_i(s_i) = D(λ) + Σ_k λ_k (b_k - F_k(s)) ≥ D(λ)

for *every* λ of the right sign. So the log-loss of the truth falls by at least the dual value, converged or not; the
search starts at D(0) = 0, only climbs, and returns λ = 0 should rounding leave it below. At the maximum D is the
divergence KL(q'‖q), and this is the Pythagorean inequality. Probabilities of 0 and 1 stay as they are.

An equality may be known up to a rounding, |F_k − b_k| ≤ w_k: its multiplier is free and D(λ) loses w_k |λ_k|, and the
same holds. Or up to noise of variance v_k: D(λ) loses v_k λ_k²/2, the mode of a normal noise; then D is no guarantee
for one truth, because the noise may say what it likes.

Computed so. Rows are scaled to a largest feature of 1 and records sorted by pattern, so that everything about a pattern
is one slice; a million records with a few patterns cost a handful of passes. In logarithms throughout: probabilities of
1e-300 keep their digits, those of 0 and 1 stay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..base.serialize import Result
from ..base.validation import Floats, Mask


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Constraints:
    """Statistics in compact form: records with the same features share a pattern.

    Statistic k says  Σ_i weights[k, pattern[i]] · Σ_g groups[k, g] · [s_i = g]  ≤ bound[k],  or = bound[k].
    """

    pattern: npt.NDArray[np.intp]
    """Shape (n,), int. Pattern of each record, from 0 to patterns - 1."""
    weights: Floats
    """Shape (rows, patterns). The part of the features that depends on the record."""
    groups: Floats
    """Shape (rows, K). The part that depends on the group; a unit vector for a statistic about one group."""
    bound: Floats
    """Shape (rows,)."""
    equality: Mask
    """Shape (rows,), bool. Which rows hold with equality."""
    width: Floats | None = None
    """Shape (rows,), optional. A row that holds with equality up to a rounding, bound ± width. 0 where left out."""
    variance: Floats | None = None
    """Shape (rows,), optional. A row that holds with equality up to noise of this variance. 0 where left out."""


_LARGE_PATTERNS = 128
"""Records a pattern, on average, from which on patterns are visited one by one, with sums that round well: numpy adds
up in pairs from 128 terms on. Smaller ones are added up all at once."""

_AIM = 1e-10
"""Residual at which a point is good enough, in records (a statistic's largest feature counts as one)."""

_SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DualPoint:
    """The dual at one λ: its value, the expectations E[F_k], and the tilted probabilities (K, n) behind them."""

    multipliers: Floats
    value: float
    expected: Floats
    tilted: Floats


class Dual:
    """The dual of one projection; rows are scaled to a largest feature of 1, records sorted by pattern."""

    def __init__(self, prior: Floats, constraints: Constraints) -> None:
        self.prior = prior
        self.equality = constraints.equality
        # Rows f_k / scale, so b, w by the scale and v by its square; λ is divided by it at the end.
        largest = np.abs(constraints.weights).max(axis=1, initial=0.0) * np.abs(
            constraints.groups
        ).max(axis=1)
        self.scale = np.where(largest > 0, largest, 1.0)
        self.weights = constraints.weights / self.scale[:, None]
        self.groups = constraints.groups
        self.bound = constraints.bound / self.scale
        none = np.zeros_like(self.bound)
        if constraints.width is None:
            self.width = none
        else:
            self.width = constraints.width / self.scale
        if constraints.variance is None:
            self.variance = none
        else:
            self.variance = constraints.variance / self.scale**2
        # Records by pattern; patterns without a record have no column.
        self.order = np.argsort(constraints.pattern, kind="stable")
        self.pattern = constraints.pattern[self.order]
        present, starts = np.unique(self.pattern, return_index=True)
        self.pattern = np.searchsorted(present, self.pattern)
        self.weights = self.weights[:, present]
        self.starts = np.append(starts, self.pattern.size)
        self.by_slices = self.pattern.size >= _LARGE_PATTERNS * starts.size
        self.aim = max(_AIM, 1e-15 * len(prior))

    @cached_property
    def log_prior(self) -> Floats:
        """Log-probabilities (K, n), records sorted by pattern."""
        q = self.prior[self.order]
        with np.errstate(divide="ignore"):
            if q.ndim == 1:
                return np.stack([np.log1p(-q), np.log(q)])
            # Rows may add up to 1 but for rounding: log q_i(g) - log Σ_h q_i(h).
            return np.ascontiguousarray((np.log(q) - np.log(q.sum(axis=1, keepdims=True))).T)

    @cached_property
    def ceiling(self) -> float:
        """The largest divergence any distribution can have from the given one; a larger dual value is infeasible.

        No value is too large where a statistic may miss its bound at a price.
        """
        if self.variance.any():
            return math.inf
        # Σ_i max_g -log q_i(g) over possible groups: KL of the least likely certain assignment.
        logs = np.where(np.isfinite(self.log_prior), self.log_prior, 0.0)
        return -float(logs.min(axis=0).sum())

    def shift(self, multipliers: Floats) -> Floats:
        """Return what each group's log-probability gains in each pattern, (K, patterns)."""
        # -Σ_k λ_k f_k(i, g), with f_k(i, g) = weights[k, pattern] groups[k, g].
        return np.asarray(-(self.groups.T @ (multipliers[:, None] * self.weights)))

    def at(self, multipliers: Floats) -> DualPoint:
        """Evaluate the dual."""
        # log q_i(g) - Σ_k λ_k f_k(i, g); with the largest taken out, Z_i cannot overflow.
        logs = self.shift(multipliers)[:, self.pattern]
        logs += self.log_prior
        top = logs.max(axis=0)
        logs -= top
        tilted = np.exp(logs, out=logs)
        total = tilted.sum(axis=0)
        tilted /= total
        # D(λ) = -Σ_i log Z_i - Σ_k λ_k b_k ...
        value = -float(top.sum() + np.log(total).sum()) - float(multipliers @ self.bound)
        # ... less w_k |λ_k| for a rounding and v_k λ_k² / 2 for a noise.
        value -= float(self.width @ np.abs(multipliers)) + float(self.variance @ multipliers**2) / 2
        if not multipliers.any():
            value = 0.0
        # E[F_k] = Σ_patterns weights[k, p] Σ_g groups[k, g] Σ_{i in p} q'_i(g).
        expected = ((self.weights @ self._by_pattern(tilted).T) * self.groups).sum(axis=1)
        return DualPoint(multipliers=multipliers, value=value, expected=expected, tilted=tilted)

    def _by_pattern(self, rows: Floats) -> Floats:
        """Add up each row's entries of each pattern: (r, n) to (r, patterns)."""
        if not self.by_slices:
            return np.add.reduceat(rows, self.starts[:-1], axis=1)
        spans = zip(self.starts[:-1], self.starts[1:], strict=True)
        return np.stack([rows[:, a:b].sum(axis=1) for a, b in spans], axis=1)

    def curvature(self, point: DualPoint) -> Floats:
        """Return minus the Hessian of D, the covariance of the statistics, (rows, rows).

        With m_gh = Σ_i q'_i(g) q'_i(h) over a pattern, the covariance is the sum over patterns and pairs g < h of
        m_gh v vᵀ, where v_k is by how much statistic k differs between g and h. No term cancels another, so nearly
        certain records keep their digits.
        """
        first, second = np.triu_indices(self.groups.shape[1], k=1)
        # m_gh of each pattern, and v = (groups[k, g] - groups[k, h]) weights[k, p].
        together = self._products(point.tilted, first, second)
        differs = self.groups[:, first] - self.groups[:, second]
        covariance = np.zeros((self.bound.size, self.bound.size))
        for start in range(0, together.shape[1], 4096):
            part = slice(start, start + 4096)
            v = (differs[:, :, None] * self.weights[:, None, part]).reshape(self.bound.size, -1)
            # Σ m_gh v vᵀ, a few thousand patterns at a time.
            covariance += (v * together[:, part].ravel()) @ v.T
        return covariance

    def _products(
        self, tilted: Floats, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]
    ) -> Floats:
        """Return m_gh of each pair and pattern, (pairs, patterns)."""
        if not self.by_slices:
            return np.stack(
                [
                    self._by_pattern(tilted[g : g + 1] * tilted[h])[0]
                    for g, h in zip(first, second, strict=True)
                ]
            )
        spans = zip(self.starts[:-1], self.starts[1:], strict=True)
        return np.stack(
            [(tilted[:, a:b] @ tilted[:, a:b].T)[first, second] for a, b in spans], axis=1
        )

    def slope(self, point: DualPoint) -> Floats:
        """Return the slope of the dual, but for the part of the widths, which has a kink at 0."""
        # ∂D/∂λ_k = E[F_k] - b_k - v_k λ_k.
        return point.expected - self.bound - self.variance * point.multipliers

    def residual(self, point: DualPoint) -> float:
        """Return the largest violation of the optimality conditions, bounds and slackness alike."""
        # Inequalities: E[F_k] <= b_k, λ_k >= 0, and one of both with equality: min(-slope, λ) = 0.
        over = self.slope(point)
        at = point.multipliers
        # A bound not reached is right where its multiplier is 0; both terms are 0 exactly when both are in order.
        # Equalities up to w_k: λ_k is the soft threshold of λ_k + slope at w_k (slope 0 if w = 0).
        beyond = at + over
        within = at - np.sign(beyond) * np.maximum(np.abs(beyond) - self.width, 0.0)
        loose = np.abs(np.where(self.equality, within, np.minimum(-over, at)))
        return float(loose.max(initial=0.0))

    def posterior(self, point: DualPoint) -> Floats:
        """Return the tilted posterior in the given form; untouched records keep the given numbers to the bit."""
        result = self.prior.copy()
        shift = self.shift(point.multipliers)
        moved = (np.ptp(shift, axis=0) > 0)[self.pattern]
        rows = self.order[moved]
        values = point.tilted[:, moved]
        if result.ndim == 2:
            result[rows] = np.where(result[rows] > 0, np.maximum(values.T, _SMALLEST), 0.0)
        else:
            result[rows] = _tilted_probability(result[rows], values[0], values[1])
        return result

    def least_miss(self) -> float:
        """Return how far, in records, even the best probabilities with the given certainties miss a bound (an LP).

        Records of one pattern with the same possible groups are interchangeable, so one mass a group stands for all.
        """
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        possible = self.log_prior > -math.inf
        kinds = np.vstack([self.pattern, possible])
        cells, counts = np.unique(kinds, axis=1, return_counts=True)
        cell, group = np.nonzero(cells[1:].T)
        hard = self.variance == 0.0
        hard_equalities = hard & self.equality
        features = self.weights[:, cells[0, cell]] * self.groups[:, group]
        # minimise h subject to E[F_k] - b_k - w_k <= h, and for equalities b_k - w_k - E[F_k] <= h.
        signed = np.vstack([features[hard], -features[hard_equalities]])
        limits = np.concatenate(
            [(self.bound + self.width)[hard], (self.width - self.bound)[hard_equalities]]
        )
        # The masses of a cell's possible groups add up to its records.
        totals = csr_array(
            (np.ones(cell.size), (cell, np.arange(cell.size))), shape=(counts.size, cell.size + 1)
        )
        solution = linprog(
            np.append(np.zeros(cell.size), 1.0),
            A_ub=csr_array(np.hstack([signed, -np.ones((limits.size, 1))])),
            b_ub=limits,
            A_eq=totals,
            b_eq=counts,
            method="highs",
        )
        if solution.success:
            return float(solution.fun)
        return math.nan


def _tilted_probability(prior: Floats, p0: Floats, p1: Floats) -> Floats:
    """Return P(s = 1) of tilted records, in numbers whose rounding never costs a truth more than 1e-15 nats.

    Near 1 a float knows its complement badly, and the complement is what a truth of 0 is judged by; so it is rounded
    up, to the next float below 1 at least. Near 0 nothing underflows.
    """
    p = np.where(p1 > 0.5, 1.0 - p0, np.maximum(p1, _SMALLEST))
    p = np.where((p1 > 0.5) & (1.0 - p < p0), np.nextafter(p, 0.0), p)
    p = np.where((p1 > 0.5) & (p == 1.0), np.nextafter(1.0, 0.0), p)
    return np.where((prior == 0.0) | (prior == 1.0), prior, p)


_LONGEST_STEP = 40.0
"""Largest change of a multiplier in one step; a statistic's largest feature is 1, so about that of a log-odds."""

_MOST_STEPS = 300


def climb(problem: Dual, point: DualPoint) -> DualPoint:
    """Maximise the dual by Newton steps that keep the multipliers' signs."""
    for _ in range(_MOST_STEPS):
        # Optimal; or D above every possible divergence, which only impossible statistics reach.
        if problem.residual(point) <= problem.aim or point.value > 1e-6 + 1.001 * problem.ceiling:
            break
        better = _step(problem, point)
        if better is None:
            break
        point = better
    return point


def _step(problem: Dual, point: DualPoint) -> DualPoint | None:
    """Return a better point on the Newton direction, None where rounding hides any."""
    slope = problem.slope(point)
    current = point.multipliers
    curvature = problem.curvature(point) + np.diag(problem.variance)
    direction = _split_direction(slope, curvature, current, problem.equality, problem.width)
    # The kinks w_k |λ_k| are no part of the slope: what they change along the step.
    kinks = float(problem.width @ (np.abs(current + direction) - np.abs(current)))
    promised = float(slope @ direction) - kinks
    residual = problem.residual(point)
    noise = 1e-14 * (problem.pattern.size + abs(point.value))
    # Backtracking (Armijo): a ten-thousandth of what the slope promises is enough.
    halvings = 1 if promised <= noise else 40
    for halving in range(halvings):
        length = 0.5**halving
        trial_multipliers = point.multipliers + length * direction
        # λ_k >= 0 for inequalities.
        trial = problem.at(
            np.where(problem.equality, trial_multipliers, np.maximum(trial_multipliers, 0.0))
        )
        gained = trial.value - point.value
        if gained > noise and gained >= 1e-4 * length * promised:
            return trial
        # Where rounding hides what D gains, the optimality conditions decide.
        if gained >= -noise and problem.residual(trial) < 0.9 * residual:
            return trial
    return None


def _split_direction(
    slope: Floats, curvature: Floats, multipliers: Floats, equality: Mask, width: Floats
) -> Floats:
    """Return the direction; a multiplier with a width is the difference of two that are at least 0 and cost it."""
    wide = np.flatnonzero(width > 0.0)
    if not wide.size:
        return newton_direction(slope, curvature, multipliers, equality)
    # λ = λ⁺ - λ⁻ with λ± >= 0 at slopes ±(E[F_k] - b_k) - w_k: |λ| = λ⁺ + λ⁻ is linear then.
    split_rows = np.concatenate([np.arange(slope.size), wide])
    sign = np.repeat([1.0, -1.0], [slope.size, wide.size])
    held = sign * multipliers[split_rows]
    held[wide] = np.maximum(held[wide], 0.0)
    held[slope.size :] = np.maximum(held[slope.size :], 0.0)
    split = newton_direction(
        sign * slope[split_rows] - width[split_rows],
        curvature[np.ix_(split_rows, split_rows)] * np.outer(sign, sign),
        held,
        np.where(width[split_rows] > 0.0, False, equality[split_rows]),
    )
    direction = split[: slope.size].copy()
    direction[wide] -= split[slope.size :]
    return direction


def newton_direction(
    slope: Floats, curvature: Floats, multipliers: Floats, equality: Mask
) -> Floats:
    """Return the d that maximises slope·d - d·curvature·d/2 in a box that keeps signs and bounds the step.

    The curvature is scaled to a unit diagonal first, and made definite where statistics depend on each other.
    """
    # Variables size_k d_k: unit diagonal, so that no statistic's unit matters to the solver.
    size = np.sqrt(np.maximum(np.diag(curvature), 1e-24))
    scaled = curvature / np.outer(size, size)
    scaled[np.diag_indices(size.size)] = 1.0 + 1e-12
    # λ + d >= 0 for inequalities; no entry moves farther than the longest step.
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
        target = d.copy()
        # Stationary over the free entries, the rest fixed: C_ff d_f = s_f - C_fr d_r.
        target[free] = np.linalg.solve(
            curvature[np.ix_(free, free)], slope[free] - curvature[np.ix_(free, ~free)] @ d[~free]
        )
        beyond = (target > high) | (target < low)
        part = np.ones_like(d)
        # Share of the way at which each entry meets its bound; the first one stops the step.
        part[beyond] = (np.where(target > d, high, low)[beyond] - d[beyond]) / (target - d)[beyond]
        reach = float(part.min(initial=1.0))
        if reach < 1.0:
            blocked = part <= reach
            d = np.clip(d + reach * (target - d), low, high)
            d[blocked] = np.where(target > d, high, low)[blocked]
            free &= ~blocked
            continue
        d = target
        # Gradient at the maximum: a bound holds on while it pulls outwards (Karush, Kuhn and Tucker).
        pull = slope - curvature @ d
        inward = np.where(free, 0.0, np.where(d <= low, pull, -pull))
        if inward.max(initial=0.0) <= small:
            break
        free[inward.argmax()] = True
    return d


_ACCEPTED = 1e-8
"""Residual up to which a projection counts as converged, in records (a statistic's largest feature counts as one)."""

_IMPOSSIBLE = 1e-6
"""Distance from the bounds, in records, from which on they count as impossible to meet."""


class ProjectionStatus(StrEnum):
    """How far a projection came; where it did not converge the log-loss guarantee still holds."""

    CONVERGED = "converged"
    NOT_CONVERGED = "not_converged"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Projection(Result):
    """A projected posterior and how far it can be trusted."""

    probability: Floats
    """Shape (n,) or (n, K). The projected posterior, in the shape of the given one; the given one itself where nothing
    had to move or nothing can meet the statistics."""
    status: str
    """A `ProjectionStatus`."""
    reason: str
    """One sentence on a status other than "converged"; empty otherwise."""
    multipliers: Floats
    """Shape (rows,). λ, in the units of the statistics; at least 0 for inequalities."""
    value: float
    """Dual value in nats, at least 0: the log-loss of a truth that meets the statistics falls by at least this, in all.
    The divergence KL(q'‖q) once converged."""

    @property
    def converged(self) -> bool:
        """Whether the statistics are met in expectation."""
        return self.status == ProjectionStatus.CONVERGED


def project(posterior: npt.ArrayLike, constraints: Constraints) -> Projection:
    """Project a posterior on statistics.

    The posterior, in [0, 1], is P(s = 1) of each record, or one row of probabilities over K groups a record, adding up
    to 1; constraints are over the same records and groups. Raises `InputError` if the posterior holds no probabilities
    or does not fit the constraints.
    """
    prior = _posterior(posterior, constraints)
    problem = Dual(prior, constraints)
    rest = problem.at(np.zeros(problem.bound.size))
    # D(0) = 0 and D only climbs, so whatever is reached keeps the guarantee.
    best = climb(problem, rest)
    status, reason = _verdict(problem, best, len(prior))
    if best.value <= 0.0 or status == ProjectionStatus.INFEASIBLE:
        best = rest
    return Projection(
        probability=problem.posterior(best),
        status=status,
        reason=reason,
        multipliers=best.multipliers / problem.scale,
        value=best.value,
    )


def _verdict(problem: Dual, best: DualPoint, n: int) -> tuple[ProjectionStatus, str]:
    """Return the status and, unless converged, its reason."""
    residual = problem.residual(best)
    if residual <= max(_ACCEPTED, 1e-14 * n):
        return ProjectionStatus.CONVERGED, ""
    miss = problem.least_miss()
    if miss > _IMPOSSIBLE:
        return (
            ProjectionStatus.INFEASIBLE,
            f"No probabilities meet the constraints: the closest miss one by {miss:.3g} records.",
        )
    return (
        ProjectionStatus.NOT_CONVERGED,
        f"The search stopped {residual:.3g} records short of the constraints.",
    )


def _posterior(posterior: npt.ArrayLike, constraints: Constraints) -> Floats:
    q = np.asarray(posterior, dtype=np.float64)
    k = constraints.groups.shape[1]
    if q.ndim not in (1, 2) or (q.ndim == 1 and k != 2) or (q.ndim == 2 and q.shape[1] != k):
        raise InputError(
            f"probability must have shape (n,) for two groups or (n, {k}), got {q.shape}."
        )
    if len(q) != constraints.pattern.size:
        raise InputError(
            f"All arrays must have the same length: probability has {len(q)}, the constraints have "
            f"{constraints.pattern.size}."
        )
    if not len(q):
        raise InputError("probability must hold at least one record, got none.")
    wrong = ~((q >= 0.0) & (q <= 1.0))
    if wrong.any():
        raise InputError(f"probability must be in [0, 1], got {q[wrong][0]}.")
    if q.ndim == 2:
        sum_errors = np.abs(q.sum(axis=1) - 1.0)
        if sum_errors.max() > 1e-6:
            raise InputError(
                f"Each row of probability must add up to 1, got a sum of {q[sum_errors.argmax()].sum():.6g}."
            )
    return q
