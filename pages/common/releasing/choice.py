"""What is chosen about a release: whose numbers of which models, and what is published how precisely."""

from __future__ import annotations

from dataclasses import dataclass

from core.models import GIVEN
from core.release import ReleaseSettings

__all__ = ["COUNTS", "EPSILONS", "FIRST", "PEOPLE", "Models", "Precision"]

COUNTS = (1, 2, 5, 10, 20, 50)
"""Numbers of models the slider offers; a family is trained as a whole."""

_SWEEP = 10
"""Models of a sweep of tolerances, each of which takes seconds to train."""

PEOPLE = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000)
"""Numbers of people the slider offers, below that of all."""

FIRST = 20
"""Models trained before anybody asks for more."""

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Whose numbers of which models.

    Attributes
    ----------
    family : str
        One of `core.release.people.MODELS`.
    columns : tuple of str
        Prediction columns, for the family "given".
    people : int
        How many people, 0 for all.
    group : int
        The group that counts as 1.
    """

    family: str
    columns: tuple[str, ...]
    people: int
    group: int

    @property
    def most(self) -> int:
        """Most models there can be."""
        return {"audited": 1, "given": len(self.columns), "tolerances": _SWEEP}.get(self.family, COUNTS[-1])

    @property
    def first(self) -> int:
        """Models that are there before anybody asks for more."""
        return self.most if self.family == GIVEN else min(FIRST, self.most)

    @property
    def counts(self) -> tuple[int, ...]:
        """Positions of the slider."""
        return tuple(dict.fromkeys([*(c for c in COUNTS if c < self.most), self.most]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """What is published of each model, and how precisely.

    Attributes
    ----------
    statistics : tuple of str
    sizes : bool
    decimals : int or None
    epsilon : float or None
    """

    statistics: tuple[str, ...]
    sizes: bool
    decimals: int | None
    epsilon: float | None

    def settings(self, count: int, seed: int) -> ReleaseSettings:
        """Return the settings of a card of so many models."""
        return ReleaseSettings(
            count=count,
            statistics=self.statistics,
            sizes=self.sizes,
            decimals=self.decimals,
            epsilon=self.epsilon,
            seed=seed,
        )
