"""The study of model cards: what an attacker infers from published fairness numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from ...base.seeds import child_generator
from ...models import GIVEN_PREDICTIONS
from ..planted import SyntheticRecords, subject_of
from ..study import Finding, Plant, ReportProgress, Row, Study
from ..subject import Subject
from . import findings as wording
from .card_people import released_people
from .result import ModelCardResult, drawn_again, measure_card
from .settings import ModelCardSettings

_SETS = (100, 600, 300)
"""Training records, people the attacker knows, people on the card."""


def _people(seed: int, planted: bool) -> tuple[Subject, ModelCardSettings]:
    """Return people whose features hint at their group, and a model that accepts one group alone, or draws lots."""
    rng, n = child_generator(seed, f"model card, planted {planted}"), sum(_SETS)
    sensitive = (rng.random(n) < 0.4).astype(np.uint8)
    people = SyntheticRecords(
        features=np.column_stack([rng.normal(0.8 * sensitive, 1.0), rng.normal(size=n)]),
        labels=(rng.random(n) < 0.5).astype(np.uint8),
        sensitive=sensitive,
    )
    lots = rng.integers(0, 2, n).astype(np.uint8)
    return subject_of(people, sensitive if planted else lots, _SETS, seed=seed), ModelCardSettings()


class ModelCard(Study[ModelCardSettings, ModelCardResult]):
    """What the fairness numbers of one or more models tell about everybody's sensitive attribute."""

    name: ClassVar[str] = "model_card"
    title: ClassVar[str] = "Model card"
    settings = ModelCardSettings
    plants = (
        Plant(
            attack="Groups inferred from a model card's numbers",
            explanation="Null: a model that draws lots. Planted: one that accepts one group alone.",
            make=_people,
            limits={},  # no policy limits a card
        ),
    )

    def unavailable(self, subject: Subject, settings: ModelCardSettings) -> str:
        """Return why there can be no card of a subject: it has one model, and no columns of predictions."""
        return (
            "Prediction columns belong to a table; an audit has one model."
            if settings.family == GIVEN_PREDICTIONS
            else ""
        )

    def steps(self, subject: Subject, settings: ModelCardSettings) -> int:
        """Return how many steps are reported: the attacker, the audited model, and the others."""
        return 2 + (0 if settings.family == "audited" else settings.count)

    def run(
        self, subject: Subject, settings: ModelCardSettings, report: ReportProgress | None = None
    ) -> Iterator[ModelCardResult]:
        """Yield the card of the audited model, or of its family."""
        audited = subject.model.predictions
        people = released_people(subject.config, subject.dataset, settings, audited=audited, report=report)
        yield drawn_again(measure_card(people, settings))

    def findings(self, result: ModelCardResult, settings: ModelCardSettings) -> tuple[Finding, ...]:
        """Return whose attribute is disclosed, then bits, averages and what the noise is worth."""
        return tuple(wording.findings(result))

    def tables(self, result: ModelCardResult, settings: ModelCardSettings) -> Mapping[str, tuple[Row, ...]]:
        """Return what the card's numbers add to imputation, and what no attacker exceeds."""
        return {wording.ATTACKS: tuple(wording.attack_rows(result))}


STUDY = ModelCard()
