"""What the numbers of one model card reveal: the result of the study."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from ...base.arrays import Floats
from ...base.errors import InputError
from ...base.serialize import Result, plain
from ...stats.estimates import Estimate
from .card_people import ReleasedPeople
from .ceiling import Ceiling, ceiling
from .equations import DISTANCE_MEDIAN, DISTANCE_WORST, project
from .meter import Measured, Meter, Prediction, measured, meter, predict
from .pinned_people import (
    Draws,
    InCommon,
    Pinned,
    in_common,
    noise_generator,
    pinned,
    worst_of_draws,
)
from .release import Disputed, Published, Release, disputed
from .settings import ModelCardSettings

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelCardResult(Result):
    """One card: leakage estimated and measured."""

    settings: ModelCardSettings
    people: ReleasedPeople = field(repr=False)
    n: int
    n_models: int
    n_numbers: int
    """People, models, published numbers."""
    published: Published = field(repr=False)
    status: str
    reason: str
    """Of the projection: "converged", "not_converged", "infeasible", and one sentence on the latter two."""
    meter: Meter
    prediction: Prediction
    """The expected gain, without anybody's true attribute."""
    measured: Measured
    pinned: Pinned = field(repr=False)
    in_common: InCommon
    probability: Floats = field(repr=False)
    """(n,): the posterior after the release."""
    draws: Draws | None = None
    """The worst of several draws of the noise, this one among them, where `drawn_again` has looked at them."""
    ceiling: Ceiling | None = None
    """What no attacker with the prior can exceed, where that can be computed."""
    disputed: tuple[Disputed, ...] = ()
    """Typed numbers that these people contradict; everything else is then as if they were true."""

    @property
    def most_pinned(self) -> int:
        """People disclosed, in the worst of the random draws of the noise where there are several."""
        return max(self.pinned.count, 0 if self.draws is None else self.draws.pinned)

    @property
    def unpredicted(self) -> int:
        """Whether more (1) or less (−1) is measured than 95% of samples from the posterior give, or neither (0).

        The same as the interval of the measured bits lying above the predicted ones, below, or holding them.
        """
        bits, predicted = self.measured.bits, self.prediction.bits.value
        return int(predicted < bits.low) - int(predicted > bits.high)

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds; people are row numbers in the table's used records."""
        people, disclosed = self.people, self.pinned
        return {
            "title": people.title,
            "attribute": people.attribute,
            "groups": [people.group, people.other_group],
            "people": self.n,
            "on": self.settings.on,
            "family": self.settings.family,
            "models": list(people.names[: self.n_models]),
            **{name: plain(getattr(self, name)) for name in ("settings", "status", "reason")},
            "meter": plain(self.meter) | {"share": self.meter.share},
            "prediction": plain(self.prediction),
            "measured": plain(self.measured),
            "pinned": {
                "count": disclosed.count,
                "most in any draw": self.most_pinned,
                "unsure before": disclosed.n_unsure,
                "right": plain(disclosed.right),
                "rows": people.rows[disclosed.people].tolist(),
                **{name: getattr(disclosed, name).tolist() for name in ("before", "after", "said")},
            },
            "ceiling": plain(self.ceiling),
            "in common": plain(self.in_common),
            "draws": plain(self.draws),
            "disputed": plain(self.disputed),
            "left out": list(people.left_out),
            "published": [plain(number) for number in self.published.numbers],
            "distance of the projection": {"median": DISTANCE_MEDIAN, "worst": DISTANCE_WORST},
        }

    def to_frame(self) -> pandas.DataFrame:
        """Return one row a figure: quantity, value, low, high."""
        import pandas as pd

        prediction, disclosed = self.prediction, self.pinned
        rows: dict[str, float | tuple[float, float, float] | Estimate | None] = {
            **{name: getattr(self.meter, name) for name in ("df_bits", "joint_bits", "prior_bits", "person_bits")},
            "predicted_bits": prediction.bits,
            "predicted_bits_of_a_draw": (prediction.bits.value, prediction.low, prediction.high),
            "prediction_draws": prediction.draws,
            **{
                quantity.name: getattr(self.measured, quantity.name)
                for quantity in fields(Measured)
                if quantity.name != "moved_bits"
            },
            "moved_bits": self.measured.moved_bits,
            "unsure": disclosed.n_unsure,
            "pinned": disclosed.count,
            **({} if self.draws is None else {"draws": self.draws.count, "pinned_at_worst": self.most_pinned}),
            "pinned_right": disclosed.right,
        }
        table = []
        for name, figure in rows.items():
            if isinstance(figure, Estimate):
                figure = figure.value, figure.low, figure.high
            if figure is not None:
                table.append((name, *(figure if isinstance(figure, tuple) else (float(figure),) * 3)))
        return pd.DataFrame(table, columns=["quantity", "value", "low", "high"])


def measure_card(
    people: ReleasedPeople, settings: ModelCardSettings, *, published: Published | None = None
) -> ModelCardResult:
    """Meter, predict, project, measure (15,000 people and 50 models in under 2 seconds of processor time).

    `published` are numbers that are out already, about these people and models; computed from the attribute when left
    out. Raises `InputError` if a setting breaks its rule.
    """
    release = release_of(people, settings) if published is None else published.release
    metered = release if published is None else published
    contradicted = () if published is None else disputed(published, people.sensitive)
    if published is None:
        published = release.publish(people.sensitive, rng=noise_generator(settings.seed))
    projected = project(people.posterior, published)
    prediction = predict(people.posterior, metered, seed=settings.seed)
    chance = None if projected.status == "infeasible" else prediction.chance
    disclosed = pinned(people.posterior, projected.probability, sensitive=people.sensitive)
    return ModelCardResult(
        settings=settings,
        people=people,
        n=people.n,
        n_models=release.n_models,
        n_numbers=len(published.numbers),
        published=published,
        status=projected.status,
        reason=projected.reason,
        meter=meter(people.posterior, metered),
        prediction=prediction,
        measured=measured(people.posterior, projected.probability, people.sensitive, chance=chance),
        pinned=disclosed,
        in_common=in_common(disclosed, people.columns, release),
        probability=projected.probability,
        ceiling=ceiling(people.posterior, published),
        disputed=contradicted,
    )


def drawn_again(study: ModelCardResult) -> ModelCardResult:
    """Return a card that also knows the worst of several draws of its noise; without noise the same one."""
    if study.published.noise is None:
        return study
    release, people = study.published.release, study.people
    worst = worst_of_draws(people.posterior, release, sensitive=people.sensitive, seed=study.settings.seed)
    return replace(study, draws=worst)


def release_of(people: ReleasedPeople, settings: ModelCardSettings) -> Release:
    """Return the release these settings mean."""
    if not 1 <= settings.count <= len(people.predictions):
        raise InputError(f"count must be from 1 to {len(people.predictions)} models, got {settings.count!r}.")
    return Release(
        people.predictions[: settings.count],
        labels=people.labels,
        statistics=settings.statistics,
        sizes=settings.sizes,
        decimals=settings.decimals,
        epsilon=settings.epsilon,
        names=people.names[: settings.count],
    )
