"""A finished map: what was read off every model and seed, and the same over seeds with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.estimates import Estimate, over_repeats, rate_over_repeats
from core.landscape.plan import MEMBER_ATTACKER, LandscapePlan
from core.results import Result

if TYPE_CHECKING:
    import pandas

Numbers = tuple[float, ...]

_RATES = ("accuracy", "unfairness_train", "unfairness_test", "difference_train", "difference_test", "members")


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings(Result):
    """What was read off the models of one tolerance and one budget; every field but these two has a number a seed.

    Attributes
    ----------
    tolerance : float or None
        Trained for; None if nothing was promised.
    told : tuple of float
        Tolerance the attacker was told: the one trained for, or the smallest that these answers can meet if that is
        larger; nan where nothing is told.
    after : tuple of float
        Share of the training people whose attribute the paper's attacker names rightly, once corrected; nan where no
        correction was found.
    unfairness_train, unfairness_test : tuple of float
        Largest deviation of a group from the overall rate.
    difference_train, difference_test : tuple of float
        Largest difference between two groups (Fairlearn's).
    accuracy : tuple of float
        Of the model, on unseen people.
    members : tuple of float
        Probability that the attacker of `core.landscape.MEMBER_ATTACKER` ranks a training person above an unseen one.
    """

    tolerance: float | None
    epsilon: float
    told: Numbers
    after: Numbers
    unfairness_train: Numbers
    unfairness_test: Numbers
    difference_train: Numbers
    difference_test: Numbers
    accuracy: Numbers
    members: Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class MapCell(Result):
    """One cell over the seeds: means with Student's t intervals, as `core.estimates.over_repeats` says.

    Attributes
    ----------
    after, gain : Estimate
        Right guesses after correction, and the change from before it, paired by seed.
    told : float
        Mean of what the attacker was told; nan where nothing.
    n_true : int
        Seeds in which the model keeps what the attacker was told.
    """

    tolerance: float | None
    epsilon: float
    after: Estimate
    gain: Estimate
    accuracy: Estimate
    unfairness_train: Estimate
    unfairness_test: Estimate
    difference_train: Estimate
    difference_test: Estimate
    members: Estimate
    told: float
    n_true: int
    n_seeds: int

    @property
    def measured(self) -> bool:
        """Whether the change by the correction exceeds the noise between seeds: its interval leaves out 0."""
        return bool(self.gain.low > 0 or self.gain.high < 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Landscape(Result):
    """A map.

    Attributes
    ----------
    title, attribute, majority_name : str
        Of the table; what is attacked; the largest group.
    majority, before, strong : tuple of float
        By seed, on the training people: the control that names the largest group for everybody, the paper's attacker
        before any correction, and the strong attacker, who is told nothing.
    majority_label : tuple of float
        By seed: the control of the models' accuracy, the more frequent label for all unseen people.
    readings : tuple of Readings
        Budget by budget, in each tolerance by tolerance.
    made_from : str
        Fingerprint of table and plan, see `core.landscape.landscape_key`.
    made_by : tuple of str
        Version, code and libraries that made it.
    """

    plan: LandscapePlan
    title: str
    attribute: str
    majority_name: str
    majority: Numbers
    before: Numbers
    strong: Numbers
    majority_label: Numbers
    readings: tuple[Readings, ...]
    made_from: str
    made_by: tuple[str, ...]

    def cell(self, tolerance: float | None, epsilon: float) -> MapCell:
        """Return one cell over the seeds."""
        return self._cell(next(r for r in self.readings if (r.tolerance, r.epsilon) == (tolerance, epsilon)))

    @property
    def cells(self) -> tuple[MapCell, ...]:
        """Return all cells, in the order of the readings."""
        return tuple(self._cell(readings) for readings in self.readings)

    def _cell(self, readings: Readings) -> MapCell:
        return MapCell(
            tolerance=readings.tolerance,
            epsilon=readings.epsilon,
            after=rate_over_repeats(_there(readings.after)),
            gain=self.change([readings]),
            **{name: rate_over_repeats(getattr(readings, name)) for name in _RATES},
            told=_mean(readings.told),
            n_true=sum(own <= told + 1e-6 for own, told in zip(readings.unfairness_train, readings.told, strict=True)),
            n_seeds=len(readings.after),
        )

    def change(self, some: Sequence[Readings]) -> Estimate:
        """Return by how much the correction changes right guesses, on average over some cells, paired by seed."""
        changes = [
            _mean([r.after[i] for r in some]) - before
            for i, before in enumerate(self.before)
            if _there([r.after[i] for r in some])
        ]
        return over_repeats(changes)

    def column(self, tolerance: float | None) -> tuple[Readings, ...]:
        """Return the readings of a tolerance, at every budget."""
        return tuple(r for r in self.readings if r.tolerance == tolerance)

    def row(self, epsilon: float) -> tuple[Readings, ...]:
        """Return the readings of a budget, at every tolerance that is promised."""
        return tuple(r for r in self.readings if r.epsilon == epsilon and r.tolerance is not None)

    def controls(self) -> dict[str, Estimate]:
        """Return what the map's numbers are to be compared with, over the seeds."""
        named = {name: getattr(self, name) for name in ("majority", "before", "strong", "majority_label")}
        return {name: rate_over_repeats(values) for name, values in named.items()}

    def to_frame(self) -> pandas.DataFrame:
        """Return one row a cell, with the controls in every row."""
        import pandas as pd

        controls = self.controls()
        rows = []
        for cell in self.cells:
            row: dict[str, object] = {
                "trained tolerance": "none" if cell.tolerance is None else f"{cell.tolerance:g}",
                "epsilon": "inf" if math.isinf(cell.epsilon) else f"{cell.epsilon:g}",
            }
            for name, found in (
                (f"{self.attribute} recovered after correction", cell.after),
                ("change by correction", cell.gain),
                ("model accuracy, unseen", cell.accuracy),
                ("unfairness, training", cell.unfairness_train),
                ("unfairness, unseen", cell.unfairness_test),
                ("difference between groups, training", cell.difference_train),
                ("difference between groups, unseen", cell.difference_test),
                (f"members told apart, AUC, {MEMBER_ATTACKER}", cell.members),
            ):
                row |= {name: found.value, f"{name}, low": found.low, f"{name}, high": found.high}
            row |= {"tolerance told, mean": cell.told, "seeds": cell.n_seeds, "seeds told the truth": cell.n_true}
            row |= {
                f"{self.attribute} recovered before correction": controls["before"].value,
                f"control: everybody called {self.majority_name}": controls["majority"].value,
                "strong attacker, told nothing": controls["strong"].value,
                "control: the more frequent label": controls["majority_label"].value,
            }
            rows.append(row)
        return pd.DataFrame(rows)


def _there(values: Sequence[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _mean(values: Sequence[float]) -> float:
    known = _there(values)
    return sum(known) / len(known) if known else math.nan
