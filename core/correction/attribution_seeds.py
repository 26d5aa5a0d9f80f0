"""The attribution over seeds, and what may be said of it in a sentence.

Each seed draws its own splits, model and attackers; a step's figure is the mean over seeds with Student's t interval,
and so is its change, which is paired within each seed. With a single seed the interval is the one over people, and
the result says so. A sentence claims a change only where its interval excludes zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from core.correction.attribution import BUILDS_ON, MEASURES, Attribution, StepMeasures
from core.errors import InputError
from core.estimates import Estimate, not_measured, over_repeats
from core.results import Result
from core.validation import choice
from core.wording import gap

if TYPE_CHECKING:
    import pandas

_ADDED = {
    "features": "Learning from features and labels instead of naming the larger group",
    "predictions": "Seeing the model's predictions as well",
    "shares": "Knowing the groups' shares as well",
    "constraint": "Being told the fairness bound on top of the groups' shares",
    "constraint_without_shares": "Being told the fairness bound, without the groups' shares,",
    "permuted_predictions": "Seeing permuted predictions (the control)",
}

_SAID = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "log_loss": "log-loss"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedMeasure(Result):
    """One measure over seeds.

    Attributes
    ----------
    estimate : Estimate
        Mean and interval; `n` counts seeds where `over` is "seeds", people where it is "people".
    deviation : float
        Standard deviation over seeds; nan with fewer than two.
    over : str
        What the interval is over: "seeds", or "people" where there is only one seed.
    """

    estimate: Estimate
    deviation: float
    over: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedStep(Result):
    """One step over seeds.

    Attributes
    ----------
    values, changes : dict
        Measure -> RepeatedMeasure; `changes` is empty for the majority guess.
    n_seeds : int
        Seeds in which the step could be measured.
    reasons : tuple of str
        Why it could not be, in the others.
    """

    step: str
    builds_on: str | None
    values: dict[str, RepeatedMeasure]
    changes: dict[str, RepeatedMeasure]
    n_seeds: int
    reasons: tuple[str, ...]


class Effect(StrEnum):
    """What a step did to a measure."""

    RAISES = "raises"
    LOWERS = "lowers"
    NONE = "no significant effect"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakChange(Result):
    """What one step changed, fit for a sentence.

    Attributes
    ----------
    over : str
        "seeds" or "people".
    verdict : str
        An `Effect`; none also where nothing was measured.
    more_leak : bool or None
        Whether the attacker knows more by it: True, False, or None where the effect is not significant.
    """

    attacker: str
    step: str
    measure: str
    change: Estimate
    over: str
    verdict: str
    more_leak: bool | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakAttribution(Result):
    """One attacker's leak over seeds.

    Of `n_seeds` seeds in all, the model really satisfied the disclosed bound in `n_true`.
    """

    attacker: str
    metric: str
    tolerance: float
    n_seeds: int
    n_true: int
    steps: tuple[RepeatedStep, ...]

    def step(self, name: str) -> RepeatedStep:
        """Return a step by name."""
        found = {step.step: step for step in self.steps}
        return found[choice(name, found, name="step")]

    def change(self, step: str = "constraint", *, measure: str = "accuracy") -> LeakChange:
        """Return what a step changed, with its verdict and sentence; the majority guess changes nothing."""
        choice(step, BUILDS_ON, name="step")
        choice(measure, MEASURES, name="measure")
        found = self.step(step).changes[measure]
        low, high = found.estimate.low, found.estimate.high
        verdict = Effect.RAISES if low > 0 else Effect.LOWERS if high < 0 else Effect.NONE
        return LeakChange(
            attacker=self.attacker,
            step=step,
            measure=measure,
            change=found.estimate,
            over=found.over,
            verdict=verdict,
            more_leak=None if verdict == Effect.NONE else (verdict == Effect.LOWERS) == (measure == "log_loss"),
            sentence=_sentence(self.attacker, step, measure, found, verdict) + self._caution(step),
        )

    def _caution(self, step: str) -> str:
        """Return a second sentence where a step rests on a disclosure that was not always true."""
        if not step.startswith("constraint") or self.n_true == self.n_seeds:
            return ""
        if self.n_seeds == 1:
            return " The disclosed bound was not true of this model."
        return (
            f" The disclosed bound was not true of the model in {self.n_seeds - self.n_true} of {self.n_seeds} seeds."
        )

    def to_frame(self) -> pandas.DataFrame:
        """Return one row a step: attacker, step, and mean, limits and deviation of each measure and change."""
        import pandas as pd

        return pd.DataFrame([{"attacker": self.attacker} | _columns(step) for step in self.steps])


def attribute_over_seeds(seeds: Sequence[Attribution], *, level: float = 0.95) -> LeakAttribution:
    """Put together one attacker's attributions, one a seed.

    Raises `InputError` if there is no seed, or they are not of one attacker, metric, tolerance and set of steps.

    Parameters
    ----------
    seeds : sequence of Attribution
        Of one attacker, metric and tolerance, with the same steps.
    level : float in (0, 1)
        Coverage the intervals over seeds aim at; a single seed keeps the intervals it came with.
    """
    if not seeds:
        raise InputError("An attribution needs at least one seed, got none.")
    first = seeds[0]
    for name in ("attacker", "metric", "tolerance"):
        values = {getattr(seed, name) for seed in seeds}
        if len(values) > 1:
            raise InputError(f"All seeds must have one {name}, got {sorted(values)}.")
    names = [step.step for step in first.steps]
    if any([step.step for step in seed.steps] != names for seed in seeds):
        raise InputError("All seeds must have the same steps.")
    steps = zip(*(seed.steps for seed in seeds), strict=True)
    return LeakAttribution(
        attacker=first.attacker,
        metric=first.metric,
        tolerance=first.tolerance,
        n_seeds=len(seeds),
        n_true=sum(seed.is_true for seed in seeds),
        steps=tuple(_repeated(list(same), level) for same in steps),
    )


def _repeated(same: list[StepMeasures], level: float) -> RepeatedStep:
    """Put together one step's measures, leaving out the seeds in which it could not be measured."""
    measured = [step for step in same if not step.reason]
    return RepeatedStep(
        step=same[0].step,
        builds_on=same[0].builds_on,
        values={name: _over([getattr(step, name) for step in measured], level) for name in MEASURES},
        changes={
            name: _over([getattr(step, f"{name}_change") for step in measured], level)
            for name in MEASURES
            if same[0].builds_on
        },
        n_seeds=len(measured),
        reasons=tuple(sorted({step.reason for step in same if step.reason})),
    )


def _over(estimates: Sequence[Estimate | None], level: float) -> RepeatedMeasure:
    there = [estimate for estimate in estimates if estimate is not None]
    if len(there) < 2:
        return RepeatedMeasure(
            estimate=there[0] if there else not_measured(level=level), deviation=math.nan, over="people"
        )
    values = [estimate.value for estimate in there]
    return RepeatedMeasure(
        estimate=over_repeats(values, level=level), deviation=float(np.std(values, ddof=1)), over="seeds"
    )


def _columns(step: RepeatedStep) -> dict[str, Any]:
    row: dict[str, Any] = {"step": step.step, "builds_on": step.builds_on, "seeds": step.n_seeds}
    for kind, measures in (("", step.values), ("_change", step.changes)):
        for measure in MEASURES:
            found = measures.get(measure)
            estimate = found.estimate if found else not_measured()
            name = f"{measure}{kind}"
            row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
            row[f"{name}_sd"] = found.deviation if found else math.nan
    over = {found.over for found in step.values.values()}
    return row | {"interval_over": over.pop(), "reason": " ".join(step.reasons)}


def _sentence(attacker: str, step: str, measure: str, found: RepeatedMeasure, verdict: Effect) -> str:
    """Say what a step changed, and no more than its interval supports."""
    change, said = found.estimate, _SAID[measure]
    if change.n == 0:
        return f"{_ADDED[step]} could not be measured for the {attacker} attacker."
    unit = "nats" if measure == "log_loss" else "points"
    value, low, high = _written([change.value, change.low, change.high], nats=unit == "nats")
    based = f"{change.n} seeds" if found.over == "seeds" else f"{change.n:,} people, one seed"
    limits = f"{100 * change.level:.0f}% interval over {based}: {low} to {high}"
    if verdict == Effect.NONE:
        none = f"{_ADDED[step]} has no statistically significant effect on the {attacker} attacker's {said}"
        return f"{none}: {value} {unit} ({limits})."
    return f"{_ADDED[step]} {verdict} the {attacker} attacker's {said} by {value.lstrip('+−')} {unit} ({limits})."


def _written(values: list[float], *, nats: bool) -> list[str]:
    """Write changes with the digits that keep the smallest of them from looking like zero, four at most."""
    scaled = values if nats else [100 * value for value in values]
    smallest = min((abs(value) for value in scaled if value), default=1.0)
    places = min(max(1 if not nats else 4, math.ceil(-math.log10(2 * smallest))), 6 if nats else 3)
    return [gap(value, decimals=places) for value in scaled]
