"""What the numbers of one model card reveal: the result of the study."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

from ...base.arrays import Floats
from ...base.errors import InputError
from ...base.fingerprint import fingerprint
from ...base.serialize import Result
from ...datasets.dataset import AuditDataset
from ..study import ReportProgress
from .card_people import ReleasedPeople
from .ceiling import Ceiling, ceiling
from .equations import project
from .meter import Measured, Meter, Prediction, measured, meter, predict
from .pinned_people import (
    Advice,
    Draws,
    InCommon,
    Pinned,
    advise,
    in_common,
    noise_generator,
    pinned,
    precisions_tried,
    worst_of_draws,
)
from .release import Published, Release
from .settings import ModelCardSettings, counts_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelCardResult(Result):
    """What the numbers of a model card reveal, estimated and measured."""

    settings: ModelCardSettings
    people: ReleasedPeople = field(repr=False)
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
    """The worst of several draws of the noise, this one among them, where there is noise."""
    ceiling: Ceiling | None = None
    """What no attacker with the prior can exceed, where that can be computed."""
    fewer: tuple[ModelCardResult, ...] = field(default=(), repr=False)
    """The cards of the first few of these models, at the `COUNTS` below all of them."""
    advice: Advice | None = None
    """The finest precision that discloses nobody, once it is known."""

    @property
    def n(self) -> int:
        """Number of people."""
        return self.people.n

    @property
    def n_models(self) -> int:
        """Number of models."""
        return self.published.release.n_models

    @property
    def n_numbers(self) -> int:
        """Number of published numbers."""
        return len(self.published.numbers)

    @property
    def most_pinned(self) -> int:
        """People disclosed, in the worst of the random draws of the noise where there are several."""
        return max(self.pinned.count, 0 if self.draws is None else self.draws.pinned)

    @property
    def unpredicted(self) -> int:
        """Whether more (1) or less (−1) is measured than 95% of samples from the posterior give, or neither (0).

        The same as the interval of the measured bits lying above the predicted ones, below, or holding them.
        """
        bits = self.measured.bits
        predicted = self.prediction.bits.value
        return int(predicted < bits.low) - int(predicted > bits.high)


def measure_card(people: ReleasedPeople, settings: ModelCardSettings) -> ModelCardResult:
    """Meter, predict, project, measure (15,000 people and 50 models in under 2 seconds of processor time).

    Raises `InputError` if a setting breaks its rule.
    """
    release = release_of(people, settings)
    published = release.publish(people.sensitive, rng=noise_generator(settings.seed))
    projected = project(people.posterior, published)
    prediction = predict(people.posterior, release, seed=settings.seed)
    if projected.status == "infeasible":
        chance = None
    else:
        chance = prediction.chance
    disclosed = pinned(people.posterior, projected.probability, sensitive=people.sensitive)
    return ModelCardResult(
        settings=settings,
        people=people,
        published=published,
        status=projected.status,
        reason=projected.reason,
        meter=meter(people.posterior, release),
        prediction=prediction,
        measured=measured(people.posterior, projected.probability, people.sensitive, chance=chance),
        pinned=disclosed,
        in_common=in_common(disclosed, people.columns, release),
        probability=projected.probability,
        ceiling=ceiling(people.posterior, published),
    )


def measure_cards(people: ReleasedPeople, settings: ModelCardSettings) -> ModelCardResult:
    """Card of all models, with the cards of the first few of them, and the worst of several draws of its noise."""
    *fewer, card = (
        measure_card(people, replace(settings, count=count)) for count in counts_of(settings)
    )
    draws = None
    if card.published.noise is not None:
        draws = worst_of_draws(
            people.posterior, card.published.release, sensitive=people.sensitive, seed=settings.seed
        )
    return replace(card, fewer=tuple(fewer), draws=draws)


def release_of(people: ReleasedPeople, settings: ModelCardSettings) -> Release:
    """Release that these settings mean."""
    count = settings.n_models
    if count > len(people.predictions):
        raise InputError(f"count must be at most {len(people.predictions)} models, got {count}.")
    return Release(
        people.predictions[:count],
        labels=people.labels,
        statistics=settings.statistics,
        sizes=settings.sizes,
        decimals=settings.decimals,
        epsilon=settings.epsilon,
        names=people.names[:count],
    )


def advice_on(
    card: ModelCardResult, dataset: AuditDataset, report: ReportProgress | None = None
) -> Advice:
    """Finest precision at which the numbers of a card disclose nobody; the dataset keeps it for other precisions."""
    people = card.people
    release = card.published.release
    seed = card.settings.seed
    precisions = precisions_tried(release.decimals, release.epsilon)
    about = (release.statistics, release.sizes, seed, precisions)
    key = fingerprint(
        "advice on a card",
        people.rows,
        people.posterior,
        people.sensitive,
        release.predictions,
        about,
    )
    make = partial(
        advise, people.posterior, release, sensitive=people.sensitive, seed=seed, report=report
    )
    return dataset.once(key, make)
