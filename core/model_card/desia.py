"""Attribute inference against a fixed card: what its numbers prove, and a classifier taught by simulated cards.

The idea is that of Mao, Stevanoski and de Montjoye (2025, DeSIA, arXiv 2504.18497): an attack on few aggregate
statistics that were published once, of a deterministic part and a learned one. Differs from the paper, of which the
idea alone is taken: both parts are derived here for the numbers of a card.

Proof. People with the same label and predictions make a cell, and a card depends on how many of each cell are of group
1, c_j of n_j. Its numbers are linear equations in these counts. For each cell an integer program asks for counts that
agree with all numbers and have c_j ≥ 1, or c_j ≤ n_j − 1. Where there are none, the attribute of everybody in the cell
is proved, whatever the prior. One solution answers for every cell that it does not empty or fill; the true counts are
the first one, so few programs are solved. Left out are gaps of groups of unknown size, which are not linear: proofs
hold without them, some are missed. So they are where a card is large: there counts need not be whole (linear programs).
Under DP noise any counts are possible, so nothing is proved.

Simulation. Everybody's attribute is drawn from the attacker's prior q, and the numbers t are computed as precisely as
they were published. Linear discriminant analysis learns from such cards to tell a person of group 1 from one of group
0. With m and Σ the mean and covariance of the simulated numbers, and Δ_j the mean change of the numbers where one
person of cell j changes group, the laws of t given s_i have the means m + (s_i − q_i) Δ_j and the covariance
Σ_i = Σ − q_i (1 − q_i) Δ_j Δ_jᵀ. So with ρ_i² = q_i (1 − q_i) Δ_jᵀ Σ⁻¹ Δ_j (Sherman and Morrison)

    logit P(s_i = 1 | t) = logit q_i + Δ_jᵀ Σ⁻¹ (t − m − (1/2 − q_i) Δ_j) / (1 − ρ_i²).

Δ_j is the mean over pairs of simulated cards that differ in one person, so it has hardly any sampling error; the
inverse of Σ from D cards with K numbers is too large by (D − 1)/(D − K − 2) on average (inverse Wishart), taken off.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Ints, Mask
from core.estimates import Estimate, accuracy, accuracy_gain
from core.model_card.equations import Equations, equations
from core.model_card.pinned_people import UNSURE, Pinned, pinned
from core.model_card.published_counts import PARTS, SIZE_PARTS, part_of, told_of, value_of
from core.model_card.release import Published
from core.seeds import child_generator
from core.serialize import Result
from core.validation import binary_array, probabilities

SIMULATED = 2_000
"""Simulated cards, at least."""

_A_NUMBER = 20
"""Simulated cards for each number of a card, at least."""

_PAIRS = 200
"""Simulated cards in which one person of each cell changes group."""

_RIDGE = 1e-6
"""Added to the correlations of the numbers, some of which follow from others."""

_LEAST_LEFT = 0.02
"""Least that is left open of a person, 1 − ρ²; sampling error would make it 0 or less."""

_MOST_PROGRAMS = 200
_MOST_LEFT = 5
_NODES = 50
"""Programs on a card, those left unsettled, and the branches of each, at most: the rest is left open."""

_LARGE = 30_000
"""Equations times cells from which on linear programs take the place of integer ones, which take too long."""

OPEN = -1
"""Of a cell: neither group is proved of its people."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Desia(Result):
    """What is inferred by proof and by simulation from the numbers that the projection reads."""

    simulated: int
    """Simulated cards behind the classifier; 0 where too few could be published, and then it has the prior alone."""
    proved: int
    """People whose attribute follows from the numbers alone, whatever the prior."""
    proved_unsure: int
    """Those of them of whom the prior was uncertain (5% to 95%)."""
    proved_right: Estimate
    """Share of these whose attribute is the proved one: below 1 only where typed numbers are not this table's."""
    programs_open: int
    """Programs that were not settled within their limits, or not begun: cells that may be proved all the same."""
    relaxed: bool
    """Whether the card is so large that linear programs stood in for integer ones, which may prove more."""
    accuracy: Estimate
    """Share of all people inferred correctly."""
    gain: Estimate
    """Over the prior, on the same people."""
    lead: Estimate
    """Over the information projection, on the same people."""
    pinned: Pinned = field(repr=False)
    """Whom it infers with near certainty."""
    probability: Floats = field(repr=False)
    """(n,): P(s_i = 1)."""

    @property
    def figures(self) -> dict[str, Any]:
        """Everything but what is said of single people, as plain data."""
        told = {name: value for name, value in self.to_dict().items() if name not in ("pinned", "probability")}
        return told | {"near certain": self.pinned.count}


def desia(
    prior: npt.ArrayLike, published: Published, projected: Floats, *, sensitive: npt.ArrayLike, seed: int = 0
) -> Desia:
    """Attack a card; `projected` are the probabilities (n,) of the information projection that it is compared with.

    `prior` is P(s_i = 1) before, `sensitive` the truth, 0 or 1, both of shape (n,).
    """
    q = probabilities(prior, published.release.n, name="prior")
    s = binary_array(np.asarray(sensitive), name="sensitive")
    found, simulated = classified(q, published, seed=seed)
    proof, left = proved_cells(published, s)
    said = proof[published.release.cells.pattern]
    known = said != OPEN
    probability = np.where(known, said, found)
    guesses = [(each > 0.5).astype(np.uint8) for each in (q, projected, probability)]
    return Desia(
        simulated=simulated,
        proved=int(known.sum()),
        proved_unsure=int((known & (q >= UNSURE[0]) & (q <= UNSURE[1])).sum()),
        proved_right=accuracy(s[known], said[known]),
        programs_open=left,
        relaxed=published.noise is None and _is_large(equations(published, None)),
        accuracy=accuracy(s, guesses[2]),
        gain=accuracy_gain(s, guesses[0], guesses[2]),
        lead=accuracy_gain(s, guesses[1], guesses[2]),
        pinned=pinned(q, probability, sensitive=s),
        probability=probability,
    )


# The proof


def proved_cells(published: Published, sensitive: Codes) -> tuple[npt.NDArray[np.int8], int]:
    """Return the group proved of each cell, (cells,), 1, 0 or `OPEN`, and how many programs were not settled.

    `sensitive` is the truth: where it agrees with the numbers, it is a first solution, and saves programs. What holds
    for all solutions is proved with and without it.
    """
    people = published.release.cells.people
    proof = np.full(people.size, OPEN, dtype=np.int8)
    if published.noise is not None:
        return proof, 0
    told, nobody, everybody = equations(published, None), np.zeros(people.size), people.astype(np.float64)
    members = published.release.cells.members(sensitive).astype(np.float64)
    first: Floats | None = members
    settled = True
    if not _agree(told.features @ members, told.low, told.high):
        first, settled = _agreeing_counts(told, nobody, everybody, nobody)
    if first is None:  # no counts agree, or it is not known whether any do
        return proof, 0 if settled else people.size
    some, others = _seen(first, people)
    programs = left = 0
    for cell in range(people.size):
        if some[cell] and others[cell]:
            continue
        if programs == _MOST_PROGRAMS or left >= _MOST_LEFT:
            left += 1
            continue
        programs += 1
        low, high = nobody.copy(), everybody.copy()
        if some[cell]:  # all solutions had it full so far
            high[cell] -= 1
        else:
            low[cell] = 1
        wanted = some.astype(np.float64) - others  # more where nobody was of group 1 yet
        counts, settled = _agreeing_counts(told, low, high, wanted)
        if counts is not None:
            more, fewer = _seen(counts, people)
            some, others = some | more, others | fewer
        elif settled:
            proof[cell] = int(some[cell])
        else:
            left += 1
    return proof, left


def _is_large(told: Equations) -> bool:
    return told.features.size > _LARGE


def _seen(counts: Floats, people: Ints) -> tuple[Mask, Mask]:
    """Return in which cells a solution has somebody of group 1, and somebody of group 0."""
    return counts >= 1.0 - _TOLERANCE, counts <= people - 1.0 + _TOLERANCE


_TOLERANCE = 1e-5
"""What counts of a solver may be off by."""


def _agreeing_counts(told: Equations, low: Floats, high: Floats, cost: Floats) -> tuple[Floats | None, bool]:
    """Return counts in [low, high] that agree with the equations, None if none is found, and whether that is settled.

    They are whole if the card is not large.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    whole = not _is_large(told)
    found = milp(
        cost,
        integrality=np.full(low.size, int(whole)),
        bounds=Bounds(low, high),
        constraints=LinearConstraint(told.features, told.low, told.high) if len(told.features) else None,
        options={"node_limit": _NODES, "mip_rel_gap": 1e6},  # the first that agrees will do
    )
    if found.x is None:
        return None, found.status == 2
    counts = np.rint(found.x) if whole else found.x
    # whatever the solver says
    agrees = _agree(told.features @ counts, told.low, told.high) and _agree(counts, low, high)
    return (np.asarray(counts), True) if agrees else (None, False)


def _agree(values: Floats, low: Floats, high: Floats) -> bool:
    return float(np.maximum(low - values, values - high).max(initial=0.0)) <= _TOLERANCE


# The simulation


class _Sums(NamedTuple):
    """People of group 1, and those each model accepts, by part, for every simulated card."""

    sizes: dict[str, Floats]  # (draws,)
    counts: dict[str, Floats]  # (draws, k)


def classified(q: Floats, published: Published, *, seed: int) -> tuple[Floats, int]:
    """Return P(s_i = 1 | numbers), (n,), by a classifier taught by simulated cards, and how many there were."""
    cells = published.release.cells
    rng = child_generator(seed, "simulated cards")
    observed, width = _observed(published)
    draws = max(SIMULATED, _A_NUMBER * observed.size)
    members = np.array([cells.members((rng.random(q.size) < q).astype(np.uint8)) for _ in range(draws)])
    sums = _summed(published, members.astype(np.float64))
    cards = _values(published, sums)
    there = np.isfinite(cards).all(axis=1)  # the others lack a group that is compared
    if published.noise is not None:
        cards += rng.laplace(scale=published.noise.scale, size=cards.shape)
    cards = cards[there] + width * (rng.random((int(there.sum()), width.size)) - 0.5)
    if len(cards) < max(SIMULATED // 4, 2 * observed.size):
        return q, 0
    first = np.flatnonzero(there)[:_PAIRS]
    shifts = np.array([_shift(published, sums, members, first, cell) for cell in range(cells.people.size)])
    scale = cards.std(axis=0)
    varies = scale > 1e-12
    scale = np.where(varies, scale, 1.0)
    standard = ((cards - cards.mean(axis=0)) / scale)[:, varies]
    shifts, seen = (shifts / scale)[:, varies], ((observed - cards.mean(axis=0)) / scale)[varies]
    n, k = standard.shape
    covariance = standard.T @ standard / (n - 1) + _RIDGE * np.eye(k)
    turned = np.linalg.solve(covariance, shifts.T).T * ((n - k - 2) / (n - 1))
    power = (turned * shifts).sum(axis=1)[cells.pattern]  # Δᵀ Σ⁻¹ Δ
    score = (turned @ seen)[cells.pattern]  # Δᵀ Σ⁻¹ (t − m)
    left = np.maximum(1.0 - q * (1.0 - q) * power, _LEAST_LEFT)
    ratio = (score - (0.5 - q) * power) / left
    with np.errstate(divide="ignore", over="ignore"):
        odds = np.log(q) - np.log1p(-q) + ratio
        return np.asarray(1.0 / (1.0 + np.exp(-odds))), n


def _observed(published: Published) -> tuple[Floats, Floats]:
    """Return the numbers as they are out, and how wide an interval each leaves."""
    if published.noise is not None:
        value = np.concatenate([published.noise.sizes, published.noise.sums.ravel()])
        return value, np.zeros(value.size)
    sizes = [number.value for number in published.numbers if number.statistic in SIZE_PARTS]
    limits = np.vstack([np.repeat(sizes, 2).reshape(-1, 2), *published.limits.values()])
    limits = limits[told_of(limits)]
    return limits.mean(axis=1), limits[:, 1] - limits[:, 0]


def _summed(published: Published, members: Floats) -> _Sums:
    """Return the sums over counts of group 1 in each cell, shape (draws, cells)."""
    cells = published.release.cells
    inside = {part: members * cells.inside(part) for part in _parts(published)}
    return _Sums(
        sizes={part: own.sum(axis=1) for part, own in inside.items()},
        counts={part: own @ cells.predictions.T.astype(np.float64) for part, own in inside.items()},
    )


def _parts(published: Published) -> list[str]:
    """Return the parts that any number of a card may look at."""
    return [part for part in PARTS.values() if part == "all" or published.release.labels is not None]


def _values(published: Published, sums: _Sums) -> Floats:
    """Return the numbers of simulated cards before rounding and noise, (draws, numbers); not finite without a group."""
    cells, noise = published.release.cells, published.noise
    if noise is not None:
        return np.column_stack([own[part] for own in (sums.sizes, sums.counts) for part in noise.parts])
    columns = [sums.sizes[part_of(each.statistic)] for each in published.numbers if each.statistic in SIZE_PARTS]
    for name, limits in published.limits.items():
        part, given = part_of(name), told_of(limits)
        size, positives = sums.sizes[part][:, np.newaxis], cells.positives(part)[given].astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = value_of(name, sums.counts[part][:, given], size, positives, float(cells.size(part)))
        columns.extend(values.T)
    return np.column_stack(columns)


def _shift(published: Published, sums: _Sums, members: Ints, cards: Ints, cell: int) -> Floats:
    """Return the mean change of the numbers of some cards where one person of a cell joins group 1."""
    cells = published.release.cells
    full = (members[cards, cell] == cells.people[cell]).astype(np.float64)  # there one person leaves it instead
    accepted = cells.predictions[:, cell].astype(np.float64)

    def with_more(more: Floats) -> Floats:
        by = {part: more * cells.inside(part)[cell] for part in sums.sizes}
        sizes = {part: own[cards] + by[part] for part, own in sums.sizes.items()}
        counts = {part: own[cards] + np.outer(by[part], accepted) for part, own in sums.counts.items()}
        return _values(published, _Sums(sizes, counts))

    changes = with_more(1.0 - full) - with_more(-full)
    finite = np.isfinite(changes).all(axis=1)
    return np.asarray(changes[finite].mean(axis=0)) if finite.any() else np.zeros(changes.shape[1])
