"""What the noise costs somebody who wants recommendations: precision of a factorisation, before and after.

Five ratings of every person are set aside. From the others, clean or with noise, a truncated singular value
decomposition of the known people's ratings recommends ten items she has not rated; precision is the share of them among
the five. The control recommends everybody the most popular items.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.allocation import allocate, expected_size
from core.attriguard.changes import Floats
from core.attriguard.ratings_study import Guarded
from core.errors import InputError
from core.estimates import Estimate, mean
from core.results import Result
from core.seeds import child_generator, child_seed

_SET_ASIDE = 5
_ROWS = 500  # records whose scores for all items are held at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation(Result):
    """Precision of the recommendations for u people, with each of their m noises.

    Attributes
    ----------
    clean, popular : ndarray of shape (u,), in [0, 1]
        Share of the recommended items that were set aside, from the clean ratings, and for the most popular items.
    noisy : ndarray of shape (u, m), in [0, 1]
        The same from the ratings with the noise for each value.
    size, found : ndarray of shape (u, m)
        Ratings changed by each noise, and whether there is one.
    target : ndarray of shape (m,)
        Target distribution p.
    recommended : int
        Number of items recommended.
    """

    clean: Floats = field(repr=False)
    popular: Floats = field(repr=False)
    noisy: Floats = field(repr=False)
    size: npt.NDArray[np.int64] = field(repr=False)
    found: npt.NDArray[np.bool_] = field(repr=False)
    target: Floats = field(repr=False)
    recommended: int

    def at(self, budget: float) -> Estimate:
        """Return the precision at a budget, over people and draws."""
        used = allocate(self.size, self.target, budget, found=self.found)
        return mean(np.einsum("ki,ki->k", used, self.noisy))

    def spent(self, budget: float) -> Estimate:
        """Return the ratings changed per person at a budget."""
        return mean(expected_size(allocate(self.size, self.target, budget, found=self.found), self.size))

    @property
    def before(self) -> Estimate:
        """Precision without noise."""
        return mean(self.clean)

    @property
    def control(self) -> Estimate:
        """Precision of recommending the most popular items."""
        return mean(self.popular)


def recommendation(guarded: Guarded, *, people: int = 400, recommended: int = 10, rank: int = 15) -> Recommendation:
    """Measure recommendations before and after the noise.

    Parameters
    ----------
    guarded : Guarded
        The defender and her ratings.
    people : int
        Most people measured; drawn among those to protect who rated at least six items.
    recommended : int
        Number of items recommended to each.
    rank : int
        Number of directions of the factorisation.

    Raises
    ------
    InputError
        If nobody rated six items, or a number is below 1.
    """
    from sklearn.decomposition import TruncatedSVD

    for name, number in (("people", people), ("recommended", recommended), ("rank", rank)):
        if number < 1:
            raise InputError(f"{name} must be at least 1, got {number!r}.")
    ratings, seed = guarded.ratings, guarded.settings.seed
    rng = child_generator(seed, "guard recommendation")
    rich = np.flatnonzero(np.diff(ratings.people_test.indptr) > _SET_ASIDE)
    if not rich.size:
        raise InputError(f"Recommendations need somebody with more than {_SET_ASIDE} ratings, got nobody.")
    chosen = np.sort(rng.permutation(rich)[:people])
    kept, aside = _set_aside(ratings.people_test[chosen], rng)
    noise = guarded.noise_of(kept)
    rank = max(1, min(rank, ratings.people_train.shape[1] - 1, ratings.people_train.shape[0] - 1))
    model = TruncatedSVD(rank, random_state=child_seed(seed, "guard factorisation")).fit(ratings.people_train)
    fame = np.asarray((ratings.people_train > 0).sum(axis=0), dtype=np.float64).ravel()
    owner = np.repeat(np.arange(chosen.size), noise.size.shape[1])
    clean = _precision(kept, aside, lambda rows: model.transform(rows) @ model.components_, recommended)
    noisy = clean[owner]
    changed = np.flatnonzero(noise.size.ravel())
    noisy[changed] = _precision(
        noise.noisy[changed],
        aside[owner[changed]],
        lambda rows: model.transform(rows) @ model.components_,
        recommended,
    )
    popular = _precision(kept, aside, lambda rows: np.tile(fame, (rows.shape[0], 1)), recommended)
    return Recommendation(
        clean=clean,
        popular=popular,
        noisy=noisy.reshape(noise.size.shape),
        size=noise.size,
        found=noise.found,
        target=guarded.target,
        recommended=recommended,
    )


def _set_aside(people: Any, rng: np.random.Generator) -> tuple[Any, npt.NDArray[np.int64]]:
    """Take five ratings of everybody away; return what is left and the items taken, (u, 5)."""
    left = people.copy()
    taken = np.empty((people.shape[0], _SET_ASIDE), dtype=np.int64)
    for k in range(people.shape[0]):
        place = rng.choice(np.arange(people.indptr[k], people.indptr[k + 1]), size=_SET_ASIDE, replace=False)
        taken[k] = people.indices[place]
        left.data[place] = 0.0
    left.eliminate_zeros()
    return left, taken


def _precision(records: Any, aside: npt.NDArray[np.int64], score: Any, recommended: int) -> Floats:
    """Return the share of the best scored items not yet rated that are among those set aside, one a record."""
    found = np.empty(records.shape[0])
    for start in range(0, records.shape[0], _ROWS):
        rows = records[start : start + _ROWS]
        scores = score(rows)
        scores[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices] = -np.inf
        best = np.argpartition(-scores, min(recommended, scores.shape[1] - 1), axis=1)[:, :recommended]
        hits = (best[:, :, None] == aside[start : start + _ROWS, None, :]).any(axis=2)
        found[start : start + _ROWS] = hits.mean(axis=1)
    return found
