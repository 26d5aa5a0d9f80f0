"""One release looked at from all sides: everything the page, the command and the report show."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

from core.errors import InputError
from core.estimates import Estimate
from core.release.common import InCommon, in_common
from core.release.disputed import Disputed, disputed
from core.release.draws import Draws, noise_generator, worst_of_draws
from core.release.measured import Measured, measured
from core.release.meter import Meter, meter
from core.release.numbers import STATISTIC_TITLES, Floats
from core.release.people import ReleasedPeople
from core.release.pinned import Pinned, pinned
from core.release.prediction import Prediction, predict
from core.release.projection import project
from core.release.statistics import MOST_MODELS, Published, Release
from core.results import Result, plain
from core.study import Param
from core.validation import LEAST_EPSILON

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseSettings(Result):
    """What is published, how precisely.

    Attributes
    ----------
    count : int
        The first so many models of the people's.
    """

    count: Annotated[
        int,
        Param(
            "Models",
            "How many models are compared.",
            least=1,
            most=MOST_MODELS,
            only=("family", ("mixed", "seeds", "depths", "features", "tolerances")),
        ),
    ] = 1
    statistics: Annotated[
        tuple[str, ...],
        Param("Statistics", "What is published of each model: {options}.", options=STATISTIC_TITLES, some=True),
    ] = ("sp_gap", "tpr_gap", "fpr_gap")
    sizes: Annotated[bool, Param("Group sizes", "Whether sizes are published too.")] = True
    decimals: Annotated[int | None, Param("Decimals", "Decimals the numbers are rounded to.", least=0, most=12)] = 3
    epsilon: Annotated[
        float | None,
        Param("Privacy budget", "Privacy budget of all numbers together.", least=LEAST_EPSILON, most=1_000.0),
    ] = None
    seed: Annotated[int, Param("Seed", "Draws the privacy noise.", least=0, most=2**32 - 1)] = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReleaseStudy(Result):
    """A release, metered and measured.

    Attributes
    ----------
    title, attribute, group, other : str
        From `ReleasedPeople`.
    n, n_models, n_numbers : int
        People, models, published numbers.
    status, reason : str
        Of the projection: "converged", "not_converged", "infeasible", and one sentence on the latter two.
    prediction : Prediction
        The expected gain, without anybody's true attribute.
    probability : ndarray of shape (n,)
        The posterior after the release.
    draws : Draws or None
        The worst of several draws of the noise, this one among them, where `drawn_again` has looked at them.
    disputed : tuple of Disputed
        Typed numbers that these people contradict; everything else is then as if they were true.
    """

    settings: ReleaseSettings
    title: str
    attribute: str
    group: str
    other: str
    n: int
    n_models: int
    n_numbers: int
    published: Published = field(repr=False)
    status: str
    reason: str
    meter: Meter
    prediction: Prediction
    measured: Measured
    pinned: Pinned = field(repr=False)
    in_common: InCommon
    probability: Floats = field(repr=False)
    draws: Draws | None = None
    disputed: tuple[Disputed, ...] = ()

    @property
    def most_pinned(self) -> int:
        """People pinned down, in the worst of the draws of the noise where there are several."""
        return max(self.pinned.count, 0 if self.draws is None else self.draws.pinned)

    @property
    def unpredicted(self) -> int:
        """Whether more (1) or less (−1) is measured than 95% of draws from the posterior give, or neither (0).

        The same as the interval of the measured bits lying above the predicted ones, below, or holding them.
        """
        bits, predicted = self.measured.bits, self.prediction.bits.value
        return int(predicted < bits.low) - int(predicted > bits.high)

    def to_dict(self) -> dict[str, Any]:
        """Return plan, numbers and figures; nothing about single people."""
        named = self.pinned
        told = [field.name for field in fields(self) if field.name not in ("published", "pinned", "probability")]
        return {
            **{name: plain(getattr(self, name)) for name in told},
            "published": self.published.to_dict(),
            "pinned": plain({"count": named.count, "n_unsure": named.n_unsure, "n": named.n, "right": named.right}),
        }

    def to_frame(self) -> pandas.DataFrame:
        """Return one row a figure: quantity, value, low, high."""
        import pandas as pd

        prediction = self.prediction
        figures = {field.name: getattr(self.measured, field.name) for field in fields(Measured)}
        moved = figures.pop("moved_bits")
        rows: dict[str, float | tuple[float, float, float] | Estimate] = {
            **{name: getattr(self.meter, name) for name in ("df_bits", "joint_bits", "prior_bits", "person_bits")},
            "predicted_bits": prediction.bits,
            "predicted_bits_of_a_draw": (prediction.bits.value, prediction.low, prediction.high),
            "prediction_draws": float(prediction.draws),
            **figures,
            "moved_bits": moved,
            "unsure": float(self.pinned.n_unsure),
            "pinned": float(self.pinned.count),
        }
        if self.draws is not None:
            rows |= {"draws": float(self.draws.count), "pinned_at_worst": float(self.most_pinned)}
        if self.pinned.right is not None:
            rows["pinned_right"] = self.pinned.right
        table = []
        for name, found in rows.items():
            if isinstance(found, Estimate):
                found = found.value, found.low, found.high
            table.append((name, *(found if isinstance(found, tuple) else (found,) * 3)))
        return pd.DataFrame(table, columns=["quantity", "value", "low", "high"])


def study(people: ReleasedPeople, settings: ReleaseSettings, *, published: Published | None = None) -> ReleaseStudy:
    """Meter, predict, project, measure (15,000 people and 50 models in under 2 seconds of processor time).

    Parameters
    ----------
    published : Published, optional
        Numbers that are out already, about these people and models; computed from the attribute when left out.

    Raises
    ------
    InputError
        If a setting breaks its rule.
    """
    release = release_of(people, settings) if published is None else published.release
    metered = release if published is None else published
    contradicted = () if published is None else disputed(published, people.sensitive)
    if published is None:
        published = release.publish(people.sensitive, rng=noise_generator(settings.seed))
    projected = project(people.posterior, published)
    read = meter(people.posterior, metered)
    prediction = predict(people.posterior, metered, seed=settings.seed, metered=read)
    chance = None if projected.status == "infeasible" else prediction.chance
    found = pinned(people.posterior, projected.probability, sensitive=people.sensitive)
    return ReleaseStudy(
        settings=settings,
        title=people.title,
        attribute=people.attribute,
        group=people.group,
        other=people.other,
        n=people.n,
        n_models=release.n_models,
        n_numbers=len(published.numbers),
        published=published,
        status=projected.status,
        reason=projected.reason,
        meter=read,
        prediction=prediction,
        measured=measured(people.posterior, projected.probability, people.sensitive, chance=chance),
        pinned=found,
        in_common=in_common(found, people.columns, release),
        probability=projected.probability,
        disputed=contradicted,
    )


def drawn_again(found: ReleaseStudy, people: ReleasedPeople) -> ReleaseStudy:
    """Return a study that also knows the worst of several draws of its noise; without noise the same one."""
    if found.published.noise is None:
        return found
    release, seed = found.published.release, found.settings.seed
    return replace(found, draws=worst_of_draws(people.posterior, release, sensitive=people.sensitive, seed=seed))


def release_of(people: ReleasedPeople, settings: ReleaseSettings) -> Release:
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
