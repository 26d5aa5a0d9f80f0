"""One release looked at from all sides: what page, command and report show of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

from core.errors import InputError
from core.estimates import Estimate
from core.model_card.card_people import ReleasedPeople
from core.model_card.equations import project
from core.model_card.meter import Measured, Meter, Prediction, measured, meter, predict
from core.model_card.pinned_people import Draws, InCommon, Pinned, in_common, noise_generator, pinned, worst_of_draws
from core.model_card.published_counts import STATISTIC_TITLES, Floats
from core.model_card.release import MOST_MODELS, Disputed, Published, Release, disputed
from core.param import Param
from core.serialize import Result, plain
from core.validation import LEAST_EPSILON

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseSettings(Result):
    """What is published, how precisely."""

    count: Annotated[
        int,
        Param(
            "Models on the card",
            "How many models are compared.",
            least=1,
            most=MOST_MODELS,
            only=("family", ("mixed", "seeds", "depths", "features", "tolerances")),
        ),
    ] = 1
    """The first so many models of the people's."""
    statistics: Annotated[
        tuple[str, ...],
        Param("What is published", "What is published of each model: {options}.", options=STATISTIC_TITLES, some=True),
    ] = ("sp_gap", "tpr_gap", "fpr_gap")
    sizes: Annotated[bool, Param("Group sizes", "Whether sizes are published too.")] = True
    decimals: Annotated[int | None, Param("Decimals", "Decimals the numbers are rounded to.", least=0, most=12)] = 3
    epsilon: Annotated[
        float | None,
        Param("Privacy budget ε", "Privacy budget of all numbers together.", least=LEAST_EPSILON, most=1_000.0),
    ] = None
    seed: Annotated[int, Param("Seed", "Draws the privacy noise.", least=0, most=2**32 - 1)] = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReleaseStudy(Result):
    """A release, metered and measured."""

    settings: ReleaseSettings
    title: str
    attribute: str
    group: str
    other: str
    """From `ReleasedPeople`."""
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
    disputed: tuple[Disputed, ...] = ()
    """Typed numbers that these people contradict; everything else is then as if they were true."""

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

    `published` are numbers that are out already, about these people and models; computed from the attribute when left
    out. Raises `InputError` if a setting breaks its rule.
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


def unpredicted(study: ReleaseStudy) -> str:
    """Say whether chance explains the difference between measured and predicted bits, or a wrong posterior adds to it.

    Compared are the measured bits, of the real attribute, and those of attributes drawn from the posterior. Typed
    numbers that the table contradicts need no such reason, and without a posterior nothing was measured.
    """
    bits, prediction = study.measured.bits, study.prediction
    if study.disputed or study.status != "converged" or math.isnan(bits.low):
        return ""
    noise = " and noise" if study.settings.epsilon is not None else ""
    draws = (
        f"with the attribute{noise} drawn anew from what the attacker believes, 95% of such cards give "
        f"{_tenth(prediction.low)} to {_tenth(prediction.high)} bits"
    )
    if not study.unpredicted:
        return f"Measured and predicted bits differ by no more than chance gives: {draws}."
    if study.unpredicted > 0:
        added, low, high = (_tenth(at - prediction.bits.value) for at in (bits.value, bits.low, bits.high))
        return (
            f"More was gained than chance gives: {draws}. So the attacker's guess before the release is wrong about "
            f"people like these, and the numbers repair it; that adds {added} bits (95% CI: {low} to {high})."
        )
    return (
        f"Less was gained than chance gives: {draws}. These numbers came out nearer to what the attacker expected than "
        "the numbers of such draws."
    )


def _tenth(bits: float) -> str:
    return f"{bits:,.1f}".replace("-", "−")


def dispute(found: Disputed, study: ReleaseStudy) -> str:
    """Say what was typed and what the table gives instead, as the end of a sentence that has named the number."""
    number = found.number
    if math.isnan(found.table):
        gives = "which these people do not have: one of the groups it compares is empty"
    else:
        gives = f"but the table gives {found.table:.6g}"
    if found.rounded:
        return f"typed as {number.value:.12g}, {gives}; tell publish.decimals where numbers are rounded"
    sign = ""
    if number.statistic.endswith("_gap"):
        rule = f"a gap is the rate of {study.group} minus that of {study.other}"
        sign = f"; with the other sign it would be right, for {rule}" if found.turned else f"; {rule}"
    return f"typed as {number.value:.12g}, {gives}{sign}"


def settled_as_most(study: ReleaseStudy, people: ReleasedPeople) -> tuple[str, float] | None:
    """Return the group that everybody pinned is settled as, and its share, where most people are in it; else None."""
    said = study.pinned.said
    if not said.size or said.min() != said.max():
        return None
    share = float((people.sensitive == said[0]).mean())
    return (study.group if said[0] else study.other, share) if share > 0.5 else None
