"""What is published about the people at risk, and how they are attacked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from ...base.param import Param
from ...base.settings import Settings, params
from ...base.validation import LEAST_EPSILON
from ..bias_queries import NOISE_TITLES, BiasQueriesSettings
from ..correction import CorrectionSettings
from ..membership import MembershipSettings
from ..model_card import ModelCardSettings

_ANSWERS, _CARD = params(BiasQueriesSettings), params(ModelCardSettings)

_NOISES = {name: title for name, title in NOISE_TITLES.items() if name != "smooth_laplace"}
"""Noise that keeps its ε whatever that is."""

MOST_PEOPLE = 1_000
"""Most people who are looked at, as on a model card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSettings(Settings):
    """The same training records, and what is published about them."""

    people: Annotated[
        int,
        Param("People", "Training records that are attacked, drawn with the seed.", least=20, most=MOST_PEOPLE),
    ] = MOST_PEOPLE
    tolerance: Annotated[float | None, params(CorrectionSettings)["tolerance"].param] = None
    answers: Annotated[
        int, Param("Answers", "Answers to bias queries about these people; 0 for none.", least=0, most=1_000)
    ] = 250
    noise: Annotated[str, replace(_ANSWERS["mechanism"].param, options=_NOISES)] = "exact"
    answer_epsilon: Annotated[float, replace(_ANSWERS["epsilon"].param, flag="--answer-epsilon")] = 5.0
    models: Annotated[
        int, Param("Models on the card", "Models on the card: the audited one and variants of it.", least=1, most=50)
    ] = 20
    decimals: Annotated[int | None, _CARD["decimals"].param] = 3
    card_epsilon: Annotated[
        float | None,
        Param(
            "Privacy budget ε of the card",
            "Privacy budget of all published numbers together, with noise in place of rounding; none for no noise.",
            least=LEAST_EPSILON,
            most=1_000.0,
            flag="--publish-epsilon",
        ),
    ] = None
    shadows: Annotated[int, params(MembershipSettings)["shadows"].param] = 16

    @property
    def steps(self) -> int:
        """About how many steps are reported: each model with its shadows."""
        return 1 + 3 * (1 + self.shadows)

    def __post_init__(self) -> None:
        super(PeopleSettings, self).__post_init__()
        MembershipSettings(shadows=self.shadows)  # which has a rule of its own
