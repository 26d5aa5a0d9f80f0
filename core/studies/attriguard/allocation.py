"""The noise of people's records, how often each is used, and the entries it sits in.

How often, phase II, is worked out for all people at once. For one person with noise sizes l_i and a target
distribution p, minimise KL(p ‖ M) subject to Σ M_i l_i ≤ β and M on
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

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.serialize import Result
from ...base.validation import Floats, Ints, Mask

TARGETS = {"uniform": "All values alike", "train_shares": "Shares of the known"}
"""Target distributions, and what to call them."""


def target_distribution(kind: str, shares: Floats) -> Floats:
    """Return the target distribution over the m values of the private attribute.

    By its kind it is uniform, or the `shares` (m,) among the people everybody trains on, so that an attacker does no
    better than one who knows nothing about a person.
    """
    if kind == "uniform":
        return np.full(shares.size, 1.0 / shares.size)
    return shares / shares.sum()


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
    `available` (u, m) says which noise there is, all by default. InputError if somebody has no noise, or none
    within the budget.
    """
    size, p, cheapest = checked_arguments(noise_size, target_distribution, budget, available)
    least = np.where(cheapest, size, 0.0).max(axis=1)
    result = p.copy()
    # Σ p_i ‖r_i‖₀ <= β: the budget is slack, μ0 = 0 (equation 6) and M = p. Else equation 9 holds.
    binding = np.flatnonzero(expected_size(p, size) > budget)
    if binding.size:
        result[binding] = _binding(
            size[binding], p[binding], cheapest[binding], least[binding], budget
        )
    return result


def expected_size(mechanism: npt.ArrayLike, noise_size: npt.ArrayLike) -> Floats:
    """Return the number of entries changed per person on average over random draws, (u,): Σ M_i l_i."""
    return np.einsum("ki,ki->k", np.asarray(mechanism, float), np.asarray(noise_size, float))


def _binding(size: Floats, p: Floats, cheapest: Mask, least: Floats, budget: float) -> Floats:
    """Return the mechanism of people whose budget is used up."""
    share = np.where(cheapest, p, 0.0)
    cheapest_mass = share.sum(axis=1, keepdims=True)
    # Border β = min l: only the cheapest, in the proportions of p; evenly where p has none of them.
    left_to = np.where(
        cheapest_mass > 0,
        share / np.where(cheapest_mass > 0, cheapest_mass, 1.0),
        _evenly(cheapest),
    )
    result = left_to.copy()  # all on the cheapest
    room = budget - least
    loose = np.flatnonzero(room > _TIGHT * size.max(axis=1))
    # e_i = (l_i - min l) / (β - min l); 1 where p_i = 0, which weighs nothing.
    excess = np.where(p > 0, size - least[:, None], room[:, None])[loose] / room[loose, None]
    p = p[loose]
    cheapest_mass = cheapest_mass[loose, 0]
    # Equation 8, M_i = p_i / (μ0 ‖r_i‖₀ + λ), in s: M_i = p_i / (s + (1 - s) e_i).
    s = _roots(excess, p, cheapest_mass)
    scale = s[:, None] + (1.0 - s[:, None]) * excess
    mass = np.divide(p, scale, out=np.zeros_like(p), where=scale > 0)
    # p has none of the cheapest and k does not fall at 0: what is left goes to them.
    mass += (
        np.where(cheapest_mass > 0, 0.0, np.maximum(1.0 - mass.sum(axis=1), 0.0))[:, None]
        * left_to[loose]
    )
    # Σ M_i = 1 (equation 3), but for rounding of the root.
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

    # The cheapest have e = 0: their term of k is p_i (0 - 1), so -cheapest_mass in all.
    rest = np.where(excess > 0, p, 0.0)

    def k(s: Floats, row: Ints) -> Floats:
        scale = s[:, None] + (1.0 - s[:, None]) * excess[row]
        total = np.divide(excess[row] - 1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        total = np.einsum("ki,ki->k", rest[row], total)
        # Without a share of the cheapest k has the root s = 0 as well, which k / s has not.
        return np.where(cheapest_mass[row] > 0, s * total - cheapest_mass[row], total)

    every = np.arange(cheapest_mass.size)
    root = np.zeros(cheapest_mass.size)
    # Where k / s is not negative at 0, k does not fall there: s = 0.
    left = every[k(root, every) < 0]
    if left.size:
        solution = elementwise.find_root(
            k, (np.zeros(left.size), np.ones(left.size)), args=(left,)
        ).x
        root[left] = np.where(np.isnan(solution), 1.0, solution)  # k(1) is 0 but for rounding
    return root


def checked_arguments(
    noise_size: npt.ArrayLike,
    target_distribution: npt.ArrayLike,
    budget: float,
    available: npt.ArrayLike | None,
) -> tuple[Floats, Floats, Mask]:
    """Return sizes, everybody's own goal and cheapest values, all (u, m); the arguments are those of `allocate`."""
    goal = np.asarray(target_distribution, dtype=np.float64)
    goal = goal / goal.sum()
    size = np.asarray(noise_size, dtype=np.float64)
    if available is None:
        usable = np.ones(size.shape, dtype=bool)
    else:
        usable = np.asarray(available, dtype=bool)
    # β < min l: no mechanism is within the budget.
    least = np.where(usable, size, np.inf).min(axis=1, initial=np.inf)
    if without := int(np.isinf(least).sum()):
        raise InputError(
            f"Everybody needs a noise that was found, {without} of {least.size} people have none."
        )
    if (least > budget).any():
        raise InputError(
            f"budget must be at least everybody's smallest noise, {least.max():g}, got {budget:g}."
        )
    cheapest = usable & (size == least[:, None])
    return size, _own_goal(goal, usable, cheapest), cheapest


def _own_goal(goal: Floats, usable: Mask, cheapest: Mask) -> Floats:
    """Return the goal over the values each person has noise for; over the cheapest ones where nothing of it is left."""
    p = np.where(usable, goal, 0.0)
    total = p.sum(axis=1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1.0), _evenly(cheapest))


# Noise and where it sits


@dataclass(frozen=True, slots=True, kw_only=True)
class RepresentativeNoise(Result):
    """The representative noise of u people for each of m values (Jia and Gong 2018, section 4.2).

    Row k * m + i of `noisy`, (u * m, d), is person k's record with the noise for value i: the clean record where i is
    what the classifier reads anyway (`predicted`, (u,)), and where no noise for i was found. `size`, (u, m), are the
    entries changed; `reached`, (u, m), says whether the classifier, asked again, reads the value.
    """

    noisy: Any
    size: Ints
    reached: Mask
    predicted: Ints

    def mechanism(self, target: Floats, budget: float) -> Floats:
        """Return how often each noise is used at a budget, towards a target distribution (m,); (u, m)."""
        return allocate(self.size, target, budget, available=self.reached)

    def chosen(self, value: Ints) -> Any:
        """Return each person's record with the noise for their value in `value` (u,), as a matrix (u, d)."""
        people, values = self.size.shape
        return self.noisy[np.arange(people) * values + value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Concentration(Result):
    """How few entries carry how much of the expected noise.

    Minimum noise goes where the classifier looks: to the entries that tell the values apart best. An attacker who
    leaves those out loses most of the noise with them (see `core.studies.attriguard.attackers`). `entries` are the
    places of those that carry noise, the most used first; `share` the share of all expected changes each carries; a
    record has `n_entries`.
    """

    entries: npt.NDArray[np.intp] = field(repr=False)
    share: Floats = field(repr=False)
    n_entries: int

    def without(self, share: float) -> npt.NDArray[np.intp]:
        """Return the entries left without the fewest that carry at least this share of all changes; one at least."""
        fewest = int(np.searchsorted(np.cumsum(self.share), share - 1e-12)) + 1
        carrying = self.entries[: min(fewest, self.n_entries - 1)]
        return np.setdiff1d(np.arange(self.n_entries), carrying)


def concentration(records: Any, noise: RepresentativeNoise, mechanism: Floats) -> Concentration:
    """Return how much of the expected noise of clean records (u, d) each entry carries under a mechanism (u, m)."""
    changes = changes_per_entry(records, noise, mechanism)
    order = np.argsort(-changes, kind="stable")
    order = order[changes[order] > 0]
    return Concentration(
        entries=order, share=changes[order] / changes[order].sum(), n_entries=changes.size
    )


def changes_per_entry(records: Any, noise: RepresentativeNoise, mechanism: Floats) -> Floats:
    """Return the expected number of changes of each entry, over people and draws, (d,)."""
    people, values = noise.size.shape
    total = np.zeros(records.shape[1])
    step = 50_000 // values  # people at a time, so that memory stays small
    for start in range(0, people, step):
        stop = min(start + step, people)
        rows = np.repeat(np.arange(start, stop), values)
        changed = noise.noisy[start * values : stop * values] != records[rows]
        total += np.asarray(changed.T.astype(np.float64) @ mechanism[start:stop].ravel()).ravel()
    return total
