"""What a model card publishes: which models, of which people, which numbers, how precisely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ...base.param import Param
from ...base.settings import Settings
from ...base.validation import LEAST_EPSILON
from .published_counts import STATISTIC_TITLES
from .release import MOST_MODELS, check_precision

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
    seed: Annotated[int, Param("Seed", "Seed of the answer noise.", least=0, most=2**32 - 1)] = 0

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
    return f"{decimals} decimal{'' if decimals == 1 else 's'}"
