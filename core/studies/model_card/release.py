"""A release of fairness statistics: what is published of which models and people, how precisely, and the numbers.

Rounded or exact numbers come from the group sizes and counts. Privacy noise is added to counts: the people fall into
strata, by label where any statistic looks within a label, else all in one. For each stratum are published, with
independent Laplace noise, the number of people of group 1 and for each model how many of them it accepts, Σ_i s_i h_i;
every gap and rate follows from these. One person's attribute changes the size of one stratum by 1 and each of k counts
by at most 1; so a scale of (1 + k)/ε keeps ε for the whole release (Dwork et al. 2006). Strata cost nothing extra: each
person is in one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.serialize import Result
from ...base.settings import Param, Settings
from ...base.validation import (
    LEAST_EPSILON,
    Codes,
    Floats,
    Ints,
    Mask,
    binary_array,
    choice,
    privacy_budget,
    whole_number,
)
from ..subject import AuditConfig
from .published_counts import (
    PARTS,
    SIZE_PARTS,
    STATISTIC_TITLES,
    STATISTICS,
    Cells,
    check_both_groups,
    count_intervals,
    each_number,
    implied_sizes,
    known_sizes,
    part_name,
    part_of,
    value_of,
)

MOST_MODELS = 200
"""Models a release may hold: what many more tell is worked out too slowly, and about few people they tell all."""

MOST_DECIMALS = 12

HALF_STEP_ROUNDING = 1e-12
"""What a rounded number may be off by in floats."""


@dataclass(frozen=True, slots=True, eq=False)
class Release(Result):
    """A plan to publish statistics of k models over the same n people.

    Raises `InputError` if predictions have different lengths or are not 0 and 1, there are no or more than 200 models,
    a statistic is unknown, labels are missing where they are needed, a statistic has nobody to look at, or both
    decimals and epsilon are given.
    """

    predictions: Any
    """(k, n) or (n,), 0 or 1: one row a model."""
    _: KW_ONLY
    labels: Any = None
    """(n,), 0 or 1: true labels; needed by the statistics within a label (tpr, fpr)."""
    statistics: tuple[str, ...] = ("sp_gap", "tpr_gap", "fpr_gap")
    """From `STATISTICS`; the same for every model."""
    sizes: bool = True
    """Whether the group sizes are published too: of everybody and of the people behind each statistic, as whole
    numbers."""
    decimals: int | None = None
    """Decimals the numbers are rounded to; exact when left out."""
    epsilon: float | None = None
    """Privacy budget of the whole release, all models and sizes together; see `Release.publish`."""
    names: Any = None
    """What to call the models; "model 1", "model 2" ... when left out."""
    cells: Cells = field(init=False, repr=False)

    def __post_init__(self) -> None:
        predictions = _prediction_matrix(self.predictions)
        k, n = predictions.shape
        if self.labels is None:
            labels = None
        else:
            labels = binary_array(self.labels, name="labels")
        if labels is not None and labels.size != n:
            raise InputError(
                f"labels must have one value for each of {n} people, got {labels.size}."
            )
        for name, value in (
            ("predictions", predictions),
            ("labels", labels),
            ("statistics", _statistics(self.statistics, labels)),
            ("names", _model_names(self.names, k)),
            ("cells", Cells.of(predictions, labels)),
        ):
            object.__setattr__(self, name, value)
        check_precision(self.decimals, self.epsilon, self.sizes)
        for part in self.parts:
            if not self.cells.size(part):
                statistic = next(name for name in self.statistics if part_of(name) == part)
                raise InputError(f"{statistic} needs people{part_name(part)}, got none among {n}.")

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.predictions.shape[1])

    @property
    def n_models(self) -> int:
        """Number of models."""
        return int(self.predictions.shape[0])

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of people the statistics look at: "all", "label 1", "label 0"."""
        used = {part_of(name) for name in self.statistics}
        return tuple(part for part in PARTS.values() if part in used)

    @property
    def size_parts(self) -> dict[str, str]:
        """Name of each published group size -> the part it counts in; empty when sizes are not published."""
        parts = ("all", *self.parts) if self.sizes else ()
        return {name: part for name, part in SIZE_PARTS.items() if part in parts}

    @property
    def strata(self) -> tuple[str, ...]:
        """The strata of the privacy noise."""
        if self.parts == ("all",):
            return ("all",)
        return tuple(
            p for p in PARTS.values() if p != "all" and ("all" in self.parts or p in self.parts)
        )

    def strata_of(self, part: str) -> list[int]:
        """Return which strata make up a part, which may be all of them together."""
        return [i for i, name in enumerate(self.strata) if part in ("all", name)]

    @property
    def noise_scale(self) -> float:
        """Scale of the Laplace noise; 0 without."""
        if self.epsilon is None:
            return 0.0
        return (1.0 + self.n_models) / self.epsilon

    @property
    def noise_variance(self) -> float:
        """Variance of the noise of each size and sum."""
        return 2.0 * self.noise_scale**2

    def publish(
        self, sensitive: npt.ArrayLike, *, rng: np.random.Generator | None = None
    ) -> Published:
        """Return the numbers as they would be published.

        `sensitive`, shape (n,), 0 or 1, is the true attribute; the generator, needed with `epsilon`, draws the noise.
        Raises `InputError` if a statistic lacks one of the groups, or there is an epsilon and no generator.
        """
        s = binary_array(sensitive, name="sensitive")
        if s.size != self.n:
            raise InputError(
                f"sensitive must have one value for each of {self.n} people, got {s.size}."
            )
        members = self.cells.members(s)
        for name in each_number(self.statistics):
            part = part_of(name)
            check_both_groups(
                name, int(members[self.cells.inside(part)].sum()), self.cells.size(part)
            )
        if self.epsilon is None:
            return Published(release=self, numbers=_without_noise(self, members))
        if rng is None:
            raise InputError("A release with privacy noise needs a random generator, got none.")
        noise = noisy_sums(self, members, rng)
        return Published(release=self, numbers=_with_noise(self, noise), noise=noise)


def _prediction_matrix(predictions: Any) -> Codes:
    """Return the predictions as a matrix of 0 and 1, one row a model."""
    try:
        rows = np.atleast_2d(predictions)
    except ValueError:  # rows of different lengths
        raise InputError(
            "All models must predict for the same people, got rows of different lengths."
        ) from None
    if rows.ndim != 2 or not 1 <= len(rows) <= MOST_MODELS or not rows.shape[1]:
        raise InputError(
            f"A release needs 1 to {MOST_MODELS} models and at least one person, got {rows.shape}."
        )
    return np.stack([binary_array(row, name="predictions") for row in rows])


def _statistics(statistics: Sequence[str], labels: Codes | None) -> tuple[str, ...]:
    unique = tuple(
        dict.fromkeys(choice(name, STATISTICS, name="statistics") for name in statistics)
    )
    if not unique:
        raise InputError(
            f"A release needs at least one of the statistics {', '.join(STATISTICS)}, got none."
        )
    if labels is None and (within := [name for name in unique if part_of(name) != "all"]):
        raise InputError(
            f"labels must be given for {within[0]}, which compares groups within a label."
        )
    return unique


def _model_names(names: Sequence[str] | None, k: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"model {i + 1}" for i in range(k))
    model_names = tuple(str(name) for name in names)
    if len(set(model_names)) != k:
        raise InputError(
            f"names must have a name of its own for each of {k} models, got {len(set(model_names))}."
        )
    return model_names


def check_precision(decimals: int | None, epsilon: float | None, sizes: bool) -> None:
    """Refuse a precision that is none, or rounding beside noise."""
    if decimals is not None:
        whole_number(decimals, name="decimals", least=0, most=MOST_DECIMALS)
    if epsilon is None:
        return
    privacy_budget(epsilon)
    if decimals is not None:
        raise InputError(
            f"A release is rounded or has privacy noise, got decimals {decimals} and epsilon {epsilon:g}."
        )
    if not np.isfinite(epsilon):
        raise InputError("epsilon must be finite; leave it out for numbers without noise.")
    if not sizes:
        raise InputError(
            "A release with privacy noise publishes noisy group sizes too; sizes must be true, got false."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedNumber(Result):
    """One number as published, of a model or, with model "", a group size.

    The statistic is "sp_gap", "tpr_gap", "fpr_gap"; "sp_rate_1", "sp_rate_0" and likewise for tpr and fpr (rate of
    group 1, rate of group 0); "size", "size_label_1", "size_label_0" (people of group 1 among everybody, with label 1,
    with label 0). The true number lies in [low, high]: the value itself when exact, the values that round to it, or at
    least the middle 95% of the privacy noise (to first order).
    """

    model: str
    statistic: str
    value: float
    low: float
    high: float


NoisySizesAndSums = tuple[Floats, Floats]
"""What the mechanism lets out: noisy sizes of group 1 (strata,), and noisy Σ s h (strata, k)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Published(Result):
    """The numbers of a release, group sizes first."""

    release: Release
    numbers: tuple[PublishedNumber, ...]
    noise: NoisySizesAndSums | None = field(default=None, repr=False)
    """The noisy sizes and sums behind the numbers, where there is privacy noise."""
    limits: dict[str, Floats] = field(init=False, repr=False)
    """Name of a number -> its low and high for every model, shape (k, 2), nan where it was not published."""
    sizes: dict[str, int] = field(init=False, repr=False)
    """Part -> people of group 1 in it, where known: published, following from what is, or the only size that fits the
    numbers; empty with privacy noise."""
    counts: dict[str, Ints] = field(init=False, repr=False)
    """Part of known size -> the least and most accepted people of group 1 of every model, shape (k, 2)."""
    counted: dict[str, Mask] = field(init=False, repr=False)
    """Part of known size -> of which models any number was published, shape (k,)."""

    def __post_init__(self) -> None:
        row = {name: i for i, name in enumerate(self.release.names)}
        limits: dict[str, Floats] = {}
        sizes: dict[str, int] = {}
        for number in self.numbers:
            if number.statistic in SIZE_PARTS:
                sizes[SIZE_PARTS[number.statistic]] = round(number.value)
                continue
            table = limits.setdefault(number.statistic, np.full((len(row), 2), np.nan))
            table[row[number.model]] = number.low, number.high
        cells = self.release.cells
        if self.noise is None:
            all_sizes = implied_sizes(cells, limits, known_sizes(cells, sizes))
            sizes = known_sizes(cells, all_sizes)
        else:
            sizes = {}
        counts, counted = count_intervals(cells, limits, sizes)
        for name, value in (
            ("limits", limits),
            ("sizes", sizes),
            ("counts", counts),
            ("counted", counted),
        ):
            object.__setattr__(self, name, value)


def _without_noise(release: Release, members: Ints) -> tuple[PublishedNumber, ...]:
    if release.decimals is None:
        half = 0.0
    else:
        half = 0.5 * 10.0**-release.decimals + HALF_STEP_ROUNDING
    numbers: list[PublishedNumber] = []
    for name, part in release.size_parts.items():
        numbers += _numbers([""], name, members[release.cells.inside(part)].sum(keepdims=True), 0.0)
    for name in each_number(release.statistics):
        values = _values(release, members, name)
        if release.decimals is not None:
            values = np.round(values, release.decimals) + 0.0
        numbers += _numbers(release.names, name, values, half)
    return tuple(numbers)


def _numbers(
    models: Sequence[str], name: str, values: npt.NDArray[Any], reach: Floats | float
) -> list[PublishedNumber]:
    """Return a number of each model, which is known up to its reach to either side."""
    rows = zip(
        models,
        values.astype(np.float64).tolist(),
        np.broadcast_to(reach, values.shape).tolist(),
        strict=True,
    )
    return [
        PublishedNumber(model=m, statistic=name, value=v, low=v - half_width, high=v + half_width)
        for m, v, half_width in rows
    ]


def _values(release: Release, members: Ints, name: str) -> Floats:
    """Return one number of every model, exactly; nan where a group it compares has nobody."""
    cells = release.cells
    part = part_of(name)
    part_members = members * cells.inside(part)
    size = float(part_members.sum())
    people = cells.size(part)
    if size in (0.0, people):
        return np.full(release.n_models, np.nan)
    counts = (cells.predictions @ part_members).astype(np.float64)
    positives = cells.positives(part).astype(np.float64)
    return value_of(name, counts, size, positives, people)


def noisy_sums(release: Release, members: Ints, rng: np.random.Generator) -> NoisySizesAndSums:
    """Return what the mechanism lets out once; `members` are those of group 1 in each cell, see `Cells.members`."""
    cells = release.cells
    scale = release.noise_scale
    inside = np.stack([cells.inside(part) for part in release.strata]) * members
    sizes = inside.sum(axis=1)
    sums = inside @ cells.predictions.T.astype(np.float64)
    noisy_sizes = sizes + rng.laplace(scale=scale, size=sizes.shape)
    return noisy_sizes, sums + rng.laplace(scale=scale, size=sums.shape)


_REACH = math.log(20.0) / math.sqrt(2.0)
"""Deviations that hold the middle 95% of a Laplace law, 2.12; of a sum of several a little more."""


def _with_noise(release: Release, noise: NoisySizesAndSums) -> tuple[PublishedNumber, ...]:
    """Return the numbers the noisy sums add up to."""
    numbers: list[PublishedNumber] = []
    for name, part in release.size_parts.items():
        if part not in ("all", *release.strata) or (part == "all" and "all" not in release.parts):
            continue
        strata = release.strata_of(part)
        deviation = math.sqrt(release.noise_variance * len(strata))
        numbers += _numbers([""], name, noise[0][strata].sum(keepdims=True), _REACH * deviation)
    for name in each_number(release.statistics):
        values, deviations = _from_sums(release, noise, name)
        numbers += _numbers(release.names, name, values, _REACH * deviations)
    return tuple(numbers)


def _from_sums(release: Release, noise: NoisySizesAndSums, name: str) -> tuple[Floats, Floats]:
    """Return a number of every model and the standard deviation of its noise.

    The error of a gap or rate is that of a function of the noisy size and the noisy count; its standard deviation is
    taken to first order.
    """
    part = part_of(name)
    strata = release.strata_of(part)
    noisy_sizes, sums = noise
    people = release.cells.size(part)
    positives = release.cells.positives(part).astype(np.float64)
    counts = sums[strata].sum(axis=0)
    size = float(np.clip(noisy_sizes[strata].sum(), 1.0, people - 1.0))

    def at(more: float, larger: float) -> Floats:
        return value_of(name, counts + more, size + larger, positives, people)

    by_count = at(0.5, 0.0) - at(-0.5, 0.0)
    by_size = 2 * (at(0.0, 0.25) - at(0.0, -0.25))
    variance = release.noise_variance * len(strata)
    return at(0.0, 0.0), np.sqrt(variance * (by_count**2 + by_size**2))


FAMILIES = {
    "audited": "Audited model alone",
    "mixed": "Model variants (mixed)",
    "seeds": "Variants: resampled records",
    "depths": "Variants: depths of the tree",
    "features": "Variants: feature subsets",
    "tolerances": "Variants: fairness tolerances",
}
"""Whose numbers are published: the audited model alone; or the audited one, then natural variants of it."""

NATURAL = ("mixed", "seeds", "depths", "features", "tolerances")
"""Families that are trained: resampled training records; tree depths; feature subsets; fair models over a sweep of
tolerances; the first three in turn ("mixed")."""

COUNTS = (1, 2, 5, 10, 20, 50, 100, MOST_MODELS)
"""Numbers of models at which a card of variants is measured on its way to all of them."""

SETS = ("test", "train")
"""Whose numbers are published: the test records' (usual in a model card), or the training records'."""

_VARIANTS = ("family", NATURAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCardSettings(Settings):
    """What is published of which models."""

    family: Annotated[
        str, Param("Models", "Models that have numbers: {options}.", options=FAMILIES)
    ] = "audited"
    count: Annotated[
        int,
        Param(
            "Models on the card",
            "Number of models on the card.",
            least=1,
            most=MOST_MODELS,
            only=_VARIANTS,
        ),
    ] = 20
    """The audited model is the first of them."""
    without: Annotated[
        tuple[str, ...], Param("Without", "Features that no model uses.", only=_VARIANTS)
    ] = ()
    on: Annotated[
        str, Param("On", "Records the numbers are computed on: {options}.", options=SETS)
    ] = "test"
    people: Annotated[
        int,
        Param(
            "People covered",
            "Number of people, drawn with the seed; 0 for all.",
            least=0,
            most=10_000_000,
            written=False,
        ),
    ] = 0
    group: Annotated[
        str, Param("Group, against all others", "Group that is compared with everybody else.")
    ] = ""
    """The second one where it is empty."""
    statistics: Annotated[
        tuple[str, ...],
        Param(
            "Published statistics",
            "Numbers that are published of each model: {options}.",
            options=STATISTIC_TITLES,
            some=True,
        ),
    ] = ("sp_gap", "tpr_gap", "fpr_gap")
    sizes: Annotated[bool, Param("Group sizes", "Group sizes are published too.")] = True
    decimals: Annotated[
        int | None, Param("Decimals", "Decimals of the published numbers.", least=0, most=12)
    ] = None
    """Exact where there is no budget either."""
    epsilon: Annotated[
        float | None,
        Param(
            "Privacy budget ε",
            "Privacy budget of all published numbers together.",
            least=LEAST_EPSILON,
            most=1_000.0,
            flag="--publish-epsilon",
        ),
    ] = None
    seed: Annotated[
        int,
        Param(
            "Seed",
            "Seed of the noise and of the simulated cards.",
            least=0,
            most=2**32 - 1,
        ),
    ] = AuditConfig().seed

    def __post_init__(self) -> None:
        super(ModelCardSettings, self).__post_init__()
        check_precision(self.decimals, self.epsilon, self.sizes)

    @property
    def n_models(self) -> int:
        """Number of models on the card."""
        if self.family == "audited":
            return 1
        return self.count

    @property
    def precision(self) -> str:
        """How precise the numbers are: "exact", "2 decimals", "noise, ε = 10"."""
        return precision_text(self.decimals, self.epsilon)


def counts_of(settings: ModelCardSettings) -> tuple[int, ...]:
    """Numbers of models at which a card is measured, the settings' own last."""
    return (*(count for count in COUNTS if count < settings.n_models), settings.n_models)


def precision_text(decimals: int | None, epsilon: float | None) -> str:
    """Name a precision."""
    if epsilon is not None:
        return f"noise, ε = {epsilon:g}"
    if decimals is None:
        return "exact"
    if decimals == 1:
        return "1 decimal"
    return f"{decimals} decimals"
