"""Phase II: how often each noise is used, for all people at once.

For one person with noise sizes l_i and a target distribution p, minimise KL(p ‖ M) subject to Σ M_i l_i ≤ β and M on
the simplex. The conditions of Karush, Kuhn and Tucker give, with a_i = l_i − β,

    M_i = p_i / (1 + μ a_i),      μ ≥ 0 a root of f(μ) = Σ a_i p_i / (1 + μ a_i) on [0, 1 / (β − min l)).

(The paper's equation 10 lost its fraction: in its own symbols it reads μ0 = (1 − λ) / β.) Where f(0) ≤ 0 the budget is
not used up and M = p. Elsewhere the root is found in s = 1 − μ (β − min l), which takes the pole at the range's end
away and leaves no difference of nearly equal numbers. With e_i = (l_i − min l) / (β − min l), 0 for the cheapest,

    M_i = p_i / (s + (1 − s) e_i),      k(s) = Σ p_i e_i / (s + (1 − s) e_i) − 1 = 0,      0 < s < 1.

k is convex, k(0) = −(the cheapest values' share) and k(1) > 0, so there is one such root at most. Three borders:

* β = min l: all mass on the values that cost the least, in the proportions of p.
* The cheapest values have no share in p and k does not fall at 0: s = 0, and the mass left over goes to the cheapest
  value, which costs the goal nothing.
* A value for which no noise was found cannot be used: its share goes to the others in their proportions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...base.arrays import Floats, Ints, Mask
from ...base.errors import InputError
from ...base.validation import at_least_zero, choice

TARGETS = {"uniform": "All values alike", "train_shares": "Shares of the known", "given": "Shares of my own"}
"""Target distributions, and what to call them."""

_ROUNDED = 1e-6
"""How far from 1 shares may add up, as numbers typed with a few decimals do."""


def target_distribution(kind: str, shares: npt.ArrayLike, chosen_shares: npt.ArrayLike | None = None) -> Floats:
    """Return the target distribution over the m values of the private attribute.

    By its kind it is uniform; the `shares` (m,) among the people everybody trains on, so that an attacker does no
    better than one who knows nothing about a person; or `given`. InputError if the kind is none of `TARGETS`, or shares
    are negative or do not add up to 1.
    """
    choice(kind, TARGETS, name="target")
    training_shares = checked_shares(shares, name="shares")
    if kind == "uniform":
        return np.full(training_shares.size, 1.0 / training_shares.size)
    if kind == "train_shares":
        return training_shares
    if chosen_shares is None or not np.size(chosen_shares):
        raise InputError(f"A given target must have one share a value, {training_shares.size}, got none.")
    target = checked_shares(chosen_shares, name="The given target")
    if target.size != training_shares.size:
        raise InputError(f"The given target must have one share a value, {training_shares.size}, got {target.size}.")
    return target


def checked_shares(shares: npt.ArrayLike, *, name: str) -> Floats:
    """Return shares as an array that adds up to 1, the rounding of its numbers taken out."""
    try:
        values = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or not values.size:
        raise InputError(f"{name} must be a row of numbers, one share a value, got {shares!r:.60}.")
    wrong = values[~((values >= 0) & np.isfinite(values))]
    if wrong.size:
        raise InputError(f"{name} must hold shares of at least 0, got {wrong[0]:g}.")
    total = float(values.sum())
    if abs(total - 1.0) > _ROUNDED:
        raise InputError(f"{name} must add up to 1, got {total:.6g}.")
    return values / total


_TIGHT = 1e-50
"""Shares of the largest noise below which what the budget has above the least noise is nothing."""


def allocate(
    noise_size: npt.ArrayLike,
    target_distribution: npt.ArrayLike,
    budget: float,
    *,
    available: npt.ArrayLike | None = None,
) -> Floats:
    """Return the mechanism of every person (u, m), rows on the simplex: how likely each noise is used.

    `noise_size` (u, m) are the entries each noise changes; the target distribution (m,) is what an attacker's
    inferences should look like; the budget β the most entries changed per person, on average over random draws;
    `available` (u, m) says which noise there is, all by default. InputError if an argument is out of range, or
    somebody's least noise is above the budget.
    """
    size, p, cheapest = checked_arguments(noise_size, target_distribution, budget, available)
    least = np.where(cheapest, size, 0.0).max(axis=1)
    result = p.copy()
    binding = np.flatnonzero(expected_size(p, size) > budget)
    if binding.size:
        result[binding] = _binding(size[binding], p[binding], cheapest[binding], least[binding], budget)
    return result


def expected_size(mechanism: npt.ArrayLike, noise_size: npt.ArrayLike) -> Floats:
    """Return the number of entries changed per person on average over random draws, (u,): Σ M_i l_i."""
    return np.einsum("ki,ki->k", np.asarray(mechanism, float), np.asarray(noise_size, float))


def _binding(size: Floats, p: Floats, cheapest: Mask, least: Floats, budget: float) -> Floats:
    """Return the mechanism of people whose budget is used up."""
    share = np.where(cheapest, p, 0.0)
    cheapest_mass = share.sum(axis=1, keepdims=True)
    left_to = np.where(cheapest_mass > 0, share / np.where(cheapest_mass > 0, cheapest_mass, 1.0), _evenly(cheapest))
    result = left_to.copy()  # all on the cheapest
    room = budget - least
    loose = np.flatnonzero(room > _TIGHT * size.max(axis=1))
    excess = np.where(p > 0, size - least[:, None], room[:, None])[loose] / room[loose, None]
    p, cheapest_mass = p[loose], cheapest_mass[loose, 0]
    s = _roots(excess, p, cheapest_mass)
    scale = s[:, None] + (1.0 - s[:, None]) * excess
    mass = np.divide(p, scale, out=np.zeros_like(p), where=scale > 0)
    mass += np.where(cheapest_mass > 0, 0.0, np.maximum(1.0 - mass.sum(axis=1), 0.0))[:, None] * left_to[loose]
    result[loose] = mass / mass.sum(axis=1, keepdims=True)
    return result


def _evenly(cheapest: Mask) -> Floats:
    return cheapest / cheapest.sum(axis=1, keepdims=True)


def _roots(excess: Floats, p: Floats, cheapest_mass: Floats) -> Floats:
    """Return the root s of k for every person: 0 where the cheapest have no share and k does not fall at 0.

    `excess` is e, 1 where p is 0; `cheapest_mass` (n,) is the share of the cheapest values in p (n, m). k is
    computed as s Σ p_i (e_i − 1) / (s + (1 − s) e_i) − cheapest_mass over the other values, which is exact near 0.
    """
    from scipy.optimize import elementwise

    rest = np.where(excess > 0, p, 0.0)

    def k(s: Floats, row: Ints) -> Floats:
        scale = s[:, None] + (1.0 - s[:, None]) * excess[row]
        total = np.divide(excess[row] - 1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        total = np.einsum("ki,ki->k", rest[row], total)
        return np.where(cheapest_mass[row] > 0, s * total - cheapest_mass[row], total)

    every, root = np.arange(cheapest_mass.size), np.zeros(cheapest_mass.size)
    left = every[k(root, every) < 0]
    if left.size:
        solution = elementwise.find_root(k, (np.zeros(left.size), np.ones(left.size)), args=(left,)).x
        root[left] = np.where(np.isnan(solution), 1.0, solution)  # k(1) is 0 but for rounding
    return root


def checked_arguments(
    noise_size: npt.ArrayLike, target_distribution: npt.ArrayLike, budget: float, available: npt.ArrayLike | None
) -> tuple[Floats, Floats, Mask]:
    """Return sizes, everybody's own goal and cheapest values, all (u, m); the arguments are those of `allocate`."""
    goal = checked_shares(target_distribution, name="The target")
    try:
        size = np.asarray(noise_size, dtype=np.float64)
    except (TypeError, ValueError):
        size = np.empty(0)
    if size.ndim != 2 or size.shape[1] != goal.size:
        raise InputError(
            f"noise_size must hold numbers, one row a person and one column a share, {goal.size}, got "
            f"{noise_size!r:.60}."
        )
    usable = np.ones(size.shape, dtype=bool) if available is None else np.asarray(available, dtype=bool)
    if usable.shape != size.shape:
        raise InputError(f"available must have the shape of noise_size, {size.shape}, got {usable.shape}.")
    wrong = size[~((size >= 0) & np.isfinite(size))]
    if wrong.size:
        raise InputError(f"noise_size must be finite and at least 0, got {wrong[0]:g}.")
    budget = at_least_zero(budget, name="budget")
    least = np.where(usable, size, np.inf).min(axis=1, initial=np.inf)
    if without := int(np.isinf(least).sum()):
        raise InputError(f"Everybody needs a noise that was found, {without} of {least.size} people have none.")
    if (least > budget).any():
        raise InputError(f"budget must be at least everybody's smallest noise, {least.max():g}, got {budget:g}.")
    cheapest = usable & (size == least[:, None])
    return size, _own_goal(goal, usable, cheapest), cheapest


def _own_goal(goal: Floats, usable: Mask, cheapest: Mask) -> Floats:
    """Return the goal over the values each person has noise for; over the cheapest ones where nothing of it is left."""
    p = np.where(usable, goal, 0.0)
    total = p.sum(axis=1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1.0), _evenly(cheapest))
